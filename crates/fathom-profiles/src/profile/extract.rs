use std::collections::BTreeMap;

use fathom_base::Nanos;
use fathom_base::process::Finished;
use fathom_model::Figure;
use regex_lite::{Captures, Regex};
use serde_json::Value as Json;

use super::Expression;

/// Where the number of a metric is.
#[derive(Clone, Debug)]
pub enum Extraction {
    /// In the group of a regular expression.
    Pattern(Pattern),
    /// In a JSON document.
    Json {
        /// The stream; the document may begin and end in the middle of it.
        stream: Stream,
        /// A JSON pointer: `/jobs/0/read/iops`.
        pointer: String,
        /// The number is multiplied with this.
        multiply: f64,
    },
    /// In a column of a table.
    Csv(Csv),
    /// What the operating system says of the process.
    Process(ProcessFigure),
    /// What a built-in driver says.
    Driver(String),
    /// Computed from other metrics and the values of the case.
    Compute(Expression),
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, then standard error.
    Output,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file in the case's directory.
    File(String),
}

/// A regular expression with a group.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Where.
    pub stream: Stream,
    /// With a group `value` or one group, and perhaps a group `unit`.
    pub regex: Regex,
    /// Which of several matches.
    pub pick: Pick,
    /// Factors of the words that group `unit` may match.
    pub units: BTreeMap<String, f64>,
    /// The number is multiplied with this.
    pub multiply: f64,
    /// How numbers are written.
    pub numbers: Numbers,
}

/// A table with separators.
#[derive(Clone, Debug)]
pub struct Csv {
    /// Where.
    pub stream: Stream,
    /// The name in the first line, or a number from 1.
    pub column: String,
    /// Only lines that match.
    pub rows_with: Option<Regex>,
    /// Between the fields.
    pub separator: char,
    /// Which of several rows.
    pub pick: Pick,
    /// The number is multiplied with this.
    pub multiply: f64,
    /// How numbers are written.
    pub numbers: Numbers,
}

/// Which of several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The last; what comes before may be progress.
    Last,
    /// The first.
    First,
    /// All added.
    Sum,
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Digits and a point: a comma is an error.
    Plain,
    /// Commas between thousands: `1,234.5`.
    Grouped,
    /// A comma before the decimals, points between thousands: `1.234,5`.
    Comma,
}

/// What the operating system says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessFigure {
    /// Seconds from start to end.
    Wall,
    /// Seconds of CPU in user mode.
    User,
    /// Seconds of CPU in the kernel.
    System,
    /// Both.
    Cpu,
    /// Largest resident set, in bytes.
    MaxResident,
}

/// What a run gave, for extractions.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Files by name, as far as they could be read.
    pub files: BTreeMap<String, String>,
    /// Wall time.
    pub wall: Option<Nanos>,
    /// CPU in user mode.
    pub user: Option<Nanos>,
    /// CPU in the kernel.
    pub system: Option<Nanos>,
    /// Largest resident set.
    pub max_resident_bytes: Option<u64>,
}

impl Outputs {
    /// What a child that ended gave; its texts as lines without escapes.
    pub fn of(finished: &Finished) -> Self {
        Self {
            stdout: plain(&finished.stdout_text()),
            stderr: plain(&finished.stderr_text()),
            files: BTreeMap::new(),
            wall: Some(finished.elapsed),
            user: Some(finished.user),
            system: Some(finished.system),
            max_resident_bytes: Some(finished.max_resident_bytes),
        }
    }

    /// A saved log in place of a run.
    pub fn of_log(text: &str) -> Self {
        Self {
            stdout: plain(text),
            ..Self::default()
        }
    }

    /// With the standard output as whatever a metric is looked for in.
    pub(crate) fn for_stream(&self, spec: &super::MetricSpec) -> Self {
        let stream = match &spec.extraction {
            Extraction::Pattern(pattern) => &pattern.stream,
            Extraction::Csv(csv) => &csv.stream,
            Extraction::Json { stream, .. } => stream,
            _ => return self.clone(),
        };
        let mut other = self.clone();
        match stream {
            Stream::File(name) => {
                other.files.insert(name.clone(), self.stdout.clone());
            }
            Stream::Stderr => other.stderr.clone_from(&self.stdout),
            Stream::Output | Stream::Stdout => {}
        }
        other
    }

    pub(crate) fn text(&self, stream: &Stream) -> Result<String, String> {
        match stream {
            Stream::Output => Ok(format!("{}\n{}", self.stdout, self.stderr)),
            Stream::Stdout => Ok(self.stdout.clone()),
            Stream::Stderr => Ok(self.stderr.clone()),
            Stream::File(name) => {
                let text = self.files.get(name).cloned();
                text.ok_or_else(|| format!("there is no file {name}"))
            }
        }
    }
}

/// A terminal's text as lines: what a carriage return would overwrite is a line of its own, and
/// escape sequences are left out.
pub(crate) fn plain(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                if rest.peek() != Some(&'\n') {
                    clean.push('\n');
                }
            }
            '\u{1b}' => {
                if rest.next_if_eq(&'[').is_some() {
                    while rest
                        .next()
                        .is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c))
                    {}
                }
            }
            c => clean.push(c),
        }
    }
    clean
}

impl Extraction {
    /// The number, for everything but drivers and computed values.
    ///
    /// # Errors
    /// In words: what was looked for and what was found instead. Nothing found is an error, never
    /// a zero.
    pub fn figure(&self, outputs: &Outputs) -> Result<Figure, String> {
        match self {
            Self::Pattern(pattern) => pattern.figure(&outputs.text(&pattern.stream)?),
            Self::Json {
                stream,
                pointer,
                multiply,
            } => scaled(json(&outputs.text(stream)?, pointer)?, *multiply),
            Self::Csv(csv) => csv.figure(&outputs.text(&csv.stream)?),
            Self::Process(figure) => figure.of(outputs),
            Self::Driver(name) => Err(format!("{name} comes from a driver, not from an output")),
            Self::Compute(expression) => Err(format!("{expression} is computed")),
        }
    }
}

impl Pattern {
    fn figure(&self, text: &str) -> Result<Figure, String> {
        let mut found = Vec::new();
        for captures in self.regex.captures_iter(text) {
            found.push(self.number(&captures)?);
        }
        let one = self.pick.of(found);
        let one = one.ok_or_else(|| format!("nothing matches /{}/", self.regex.as_str()))?;
        scaled(one, self.multiply)
    }

    fn number(&self, captures: &Captures<'_>) -> Result<Figure, String> {
        let value = captures.name("value").or_else(|| captures.get(1));
        let value = value.ok_or_else(|| format!("/{}/ has no value", self.regex.as_str()))?;
        let figure = self.numbers.read(value.as_str())?;
        let Some(unit) = captures.name("unit") else {
            return Ok(figure);
        };
        match self.units.get(unit.as_str()) {
            Some(factor) => scaled(figure, *factor),
            None => Err(format!(
                "{} {} has a unit that the profile does not know",
                value.as_str(),
                unit.as_str()
            )),
        }
    }
}

impl Csv {
    fn figure(&self, text: &str) -> Result<Figure, String> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let index = match self.column.parse::<usize>() {
            Ok(number) => number.checked_sub(1).ok_or("columns count from 1")?,
            Err(_) => self.index(&mut lines)?,
        };
        let wanted = |line: &&str| match &self.rows_with {
            Some(regex) => regex.is_match(line),
            None => true,
        };
        let mut found = Vec::new();
        for line in lines.filter(wanted) {
            let fields = fields(line, self.separator)?;
            let field = fields.get(index).ok_or_else(|| {
                format!(
                    "column {} is missing in a row of {} columns",
                    self.column,
                    fields.len()
                )
            })?;
            found.push(self.numbers.read(field)?);
        }
        let one = self.pick.of(found);
        scaled(one.ok_or("the table has no such row")?, self.multiply)
    }

    /// The column of that name; the line of names may stand behind others.
    fn index<'a>(&self, lines: &mut impl Iterator<Item = &'a str>) -> Result<usize, String> {
        for line in lines {
            let names = fields(line, self.separator)?;
            if let Some(at) = names.iter().position(|name| name.trim() == self.column) {
                return Ok(at);
            }
        }
        Err(format!("no line names a column {}", self.column))
    }
}

/// The fields of one line, quotes undone.
fn fields(line: &str, separator: char) -> Result<Vec<String>, String> {
    let delimiter = u8::try_from(separator).map_err(|_| "the separator is not ASCII")?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(line.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => Ok(record.iter().map(str::to_owned).collect()),
        Some(Err(error)) => Err(format!("a row cannot be read: {error}")),
        None => Ok(Vec::new()),
    }
}

impl Pick {
    fn of(self, found: Vec<Figure>) -> Option<Figure> {
        let values = || found.iter().map(Figure::value);
        match self {
            Self::Last => found.last().cloned(),
            Self::First => found.first().cloned(),
            _ if found.is_empty() => None,
            Self::Sum => Figure::new(values().sum()),
            Self::Mean => Figure::new(values().sum::<f64>() / found.len() as f64),
            Self::Min => Figure::new(values().fold(f64::INFINITY, f64::min)),
            Self::Max => Figure::new(values().fold(f64::NEG_INFINITY, f64::max)),
        }
    }
}

impl Numbers {
    /// A number as it is printed.
    fn read(self, text: &str) -> Result<Figure, String> {
        let text = text.trim();
        let plain = match self {
            Self::Plain => text.to_owned(),
            Self::Grouped => ungrouped(text, ',', '.'),
            Self::Comma => ungrouped(text, '.', ',').replace(',', "."),
        };
        Figure::parse(&plain).ok_or_else(|| match self {
            Self::Plain if text.contains(',') => format!(
                "\"{text}\" is not a plain number; numbers = \"grouped\" or \"comma\" says how it \
                 is meant"
            ),
            _ => format!("\"{text}\" is not a number"),
        })
    }
}

/// Without the marks between groups of three digits; a mark anywhere else stays, and is an error.
fn ungrouped(text: &str, group: char, decimal: char) -> String {
    let (whole, rest) = match text.find(decimal) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut groups = whole.split(group);
    let first = groups.next().unwrap_or_default();
    let is_grouped = !first.is_empty() && groups.clone().all(|group| group.len() == 3);
    match is_grouped {
        true => format!("{}{rest}", whole.replace(group, "")),
        false => text.to_owned(),
    }
}

impl ProcessFigure {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "wall" => Self::Wall,
            "user" => Self::User,
            "system" => Self::System,
            "cpu" => Self::Cpu,
            "max-resident" => Self::MaxResident,
            _ => return None,
        })
    }

    fn of(self, outputs: &Outputs) -> Result<Figure, String> {
        let seconds = |time: Option<Nanos>| time.map(|time| time.as_secs_f64());
        let value = match self {
            Self::Wall => seconds(outputs.wall),
            Self::User => seconds(outputs.user),
            Self::System => seconds(outputs.system),
            Self::Cpu => seconds(outputs.user)
                .zip(seconds(outputs.system))
                .map(|(user, system)| user + system),
            Self::MaxResident => outputs.max_resident_bytes.map(|bytes| bytes as f64),
        };
        let value = value.ok_or("no process was watched")?;
        Figure::new(value).ok_or_else(|| "the time is no number".to_owned())
    }
}

/// A number times a factor; with 1 the text it was printed with stays.
fn scaled(figure: Figure, factor: f64) -> Result<Figure, String> {
    if factor == 1.0 {
        return Ok(figure);
    }
    let product = Figure::new(figure.value() * factor);
    product.ok_or_else(|| format!("{figure} times {factor} is no finite number"))
}

/// The number at a pointer in the first JSON document of a text: programs print warnings before it,
/// and who is ended early leaves it torn.
fn json(text: &str, pointer: &str) -> Result<Figure, String> {
    let mut last = "there is no JSON document in the output".to_owned();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        if !line.trim_start().starts_with(['{', '[']) {
            continue;
        }
        let mut documents = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
        match documents.next() {
            Some(Ok(document)) => return at_pointer(&document, pointer),
            Some(Err(error)) if error.is_eof() => {
                return Err(format!("the JSON document is cut off: {error}"));
            }
            Some(Err(error)) => last = format!("the JSON document cannot be read: {error}"),
            None => {}
        }
    }
    Err(last)
}

fn at_pointer(document: &Json, pointer: &str) -> Result<Figure, String> {
    match document.pointer(pointer) {
        Some(Json::Number(number)) => Figure::parse(&number.to_string())
            .ok_or_else(|| format!("{pointer} is {number}, no finite number")),
        Some(Json::String(text)) => Numbers::Plain.read(text),
        Some(_) => Err(format!("{pointer} is not a number")),
        None => Err(format!("the JSON document has no {pointer}")),
    }
}
