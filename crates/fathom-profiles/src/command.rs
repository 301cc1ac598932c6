//! Test `command`: any command of one's own, measured like everything else.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use fathom_model::{
    Case, Context, Estimate, Host, Implementation, ImplementationKind, Metric, OptionError,
    OptionInfo, OptionKind, Prepared, TargetKind, Test, TestError, TestInfo, Unmet,
};
use toml::Value as Toml;

use crate::locate::locate;
use crate::profile::{Profile, sha256};
use crate::test::ProfileTest;

/// The name of the test.
pub const OWN_COMMAND: &str = "command";
/// Programs that a search path finds are the caller's, so the name stands for itself.
const VERSION: &str = "1.0";
/// Characters of a label.
const LABEL_LIMIT: usize = 60;

/// Test `command`; see the module's description. Its options say what is run, so that a saved result
/// can be run again and resumed.
#[derive(Debug)]
pub struct OwnCommand {
    search_path: OsString,
}

impl OwnCommand {
    /// The test; programs are looked up in `search_path`.
    pub fn new(search_path: &OsStr) -> Self {
        Self {
            search_path: search_path.to_owned(),
        }
    }

    fn test(&self, case: &Case) -> Result<ProfileTest, OptionError> {
        let profile = Arc::new(profile_of(case)?);
        let mut tests = ProfileTest::of(&profile, &self.search_path);
        let test = tests.pop();
        test.ok_or_else(|| wrong(case, "command", "a command"))
    }
}

impl Test for OwnCommand {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: OWN_COMMAND,
            title: "Own command",
            summary: "Any command: fathom run --command 'tar xf big.tar' --metric wall. It runs \
                      without a shell, in a fresh directory on the target each time; what it takes \
                      or prints is measured. A command of a saved result asks for --trust.",
            version: VERSION.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Program,
                name: OWN_COMMAND.to_owned(),
                version: VERSION.to_owned(),
            },
            options: options(),
        }
    }

    fn complete(&self, mut case: Case) -> Result<Case, OptionError> {
        profile_of(&case)?;
        // A label made of the options would hold them all.
        let is_made = case.label == OWN_COMMAND || case.label.starts_with("command ");
        if is_made {
            case.label = label(&case)?;
        }
        Ok(case)
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        self.test(case)
            .map_or_else(|_| Vec::new(), |test| test.metrics(case))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let need = |what: String, hint: &str| Unmet {
            what,
            hint: hint.to_owned(),
        };
        let words = match first_word(case) {
            Ok(word) => word,
            Err(error) => return vec![need(error.to_string(), "")],
        };
        let mut unmet = Vec::new();
        if let Some(program) = words
            && locate(&program, &[], &host.search_path).is_none()
        {
            unmet.push(need(format!("{program} is not installed"), ""));
        }
        if host.target.kind != TargetKind::Directory {
            let what = format!("{} is not a directory", host.target.path);
            unmet.push(need(what, "name a directory on the file system to test"));
        }
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        self.test(case)?.estimate(host, case)
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        self.test(case)?.prepare(case, cx)
    }
}

fn options() -> Vec<OptionInfo> {
    let text = |name, default: &str, help| OptionInfo::new(name, OptionKind::Text, default, help);
    vec![
        text("command", "true", "The command line (--command)."),
        OptionInfo::new(
            "shell",
            OptionKind::Flag,
            "no",
            "Whether /bin/sh reads it; else it is split into words as a shell does (--shell).",
        ),
        text(
            "before",
            "none",
            "What runs before each trial, not timed (--before).",
        )
        .or_none(),
        text(
            "metrics",
            "wall",
            "What is measured; several as a JSON list (--metric).",
        ),
    ]
}

/// Several metrics as one option.
///
/// # Errors
/// In words, when one cannot be read.
pub fn joined_metrics(metrics: &[String]) -> Result<String, String> {
    for metric in metrics {
        metric_table(metric)?;
    }
    match metrics {
        [one] if !one.starts_with('[') => Ok(one.clone()),
        several => serde_json::to_string(several).map_err(|error| error.to_string()),
    }
}

/// A command line in which words that name files in `here` have their full path: the command runs
/// elsewhere. Words that begin with a dash, and the program's name, stay.
///
/// # Errors
/// In words, when a quote is open.
pub fn with_full_paths(command: &str, here: &Path) -> Result<String, String> {
    let words = split(command)?;
    let full = |(at, word): (usize, String)| {
        let is_path = (at > 0 || word.contains('/')) && !word.starts_with(['-', '/']);
        match is_path && !word.is_empty() && here.join(&word).exists() {
            true => here.join(&word).display().to_string(),
            false => word,
        }
    };
    let words: Vec<String> = words.into_iter().enumerate().map(full).collect();
    Ok(shell_words::join(words))
}

/// Everything that a case of the test would run, a line each.
pub fn command_lines(case: &Case) -> Vec<String> {
    let option = |name: &str| case.options.get(name).unwrap_or_default().to_owned();
    let shell = if option("shell") == "yes" {
        "/bin/sh -c "
    } else {
        ""
    };
    let mut lines = vec![format!("run: {shell}{}", option("command"))];
    let before = option("before");
    if before != "none" && !before.is_empty() {
        lines.insert(0, format!("before: {shell}{before}"));
    }
    lines
}

/// What is trusted of a case of the test.
pub fn command_hash(case: &Case) -> String {
    sha256(command_lines(case).join("\n").as_bytes())
}

fn split(command: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(command);
    words.map_err(|_| format!("the command \"{command}\" has an open quote"))
}

fn wrong(case: &Case, option: &str, expected: impl Into<String>) -> OptionError {
    OptionError::Value {
        test: case.test.clone(),
        option: option.to_owned(),
        value: case.options.get(option).unwrap_or_default().to_owned(),
        expected: expected.into(),
        nearest: None,
    }
}

/// The program, unless a shell is to find it.
fn first_word(case: &Case) -> Result<Option<String>, OptionError> {
    let words = words(case, "command")?;
    let is_shell = case.flag("shell")?;
    Ok(words.into_iter().next().filter(|_| !is_shell))
}

/// The command with the last parts of its paths.
fn label(case: &Case) -> Result<String, OptionError> {
    let words = words(case, "command")?;
    let short = |word: &String| {
        let name = Path::new(word).file_name();
        let name = name.filter(|_| !word.contains(' '));
        name.map_or_else(|| word.clone(), |name| name.to_string_lossy().into_owned())
    };
    let text = words.iter().map(short).collect::<Vec<_>>().join(" ");
    Ok(text.chars().take(LABEL_LIMIT).collect())
}

/// The words of a command line, or the one text for the shell.
fn words(case: &Case, option: &str) -> Result<Vec<String>, OptionError> {
    let text = case.text(option)?;
    let words = match case.flag("shell")? {
        true => vec![text.to_owned()],
        false => split(text).map_err(|_| wrong(case, option, "closed quotes"))?,
    };
    match words.is_empty() {
        true => Err(wrong(case, option, "a command")),
        false => Ok(words),
    }
}

/// The profile that a case amounts to. It is written as TOML and read back, so that one code checks
/// both.
fn profile_of(case: &Case) -> Result<Profile, OptionError> {
    let mut table = toml::Table::new();
    let text = |text: &str| Toml::String(text.to_owned());
    table.insert("format".to_owned(), Toml::Integer(1));
    for (name, value) in [
        ("id", OWN_COMMAND),
        ("title", "Own command"),
        ("version", VERSION),
        ("summary", "A command of one's own."),
    ] {
        table.insert(name.to_owned(), text(value));
    }
    let is_shell = Toml::Boolean(case.flag("shell")?);
    let step = |option: &str| -> Result<toml::Table, OptionError> {
        let words = words(case, option)?;
        let words = words.iter().map(|word| Toml::String(plain_braces(word)));
        let mut step = toml::Table::new();
        step.insert("command".to_owned(), Toml::Array(words.collect()));
        step.insert("shell".to_owned(), is_shell.clone());
        Ok(step)
    };
    let mut run = step("command")?;
    run.insert("fresh".to_owned(), Toml::Boolean(true));
    table.insert("run".to_owned(), Toml::Table(run));
    if case.text("before")? != "none" {
        let before = Toml::Array(vec![Toml::Table(step("before")?)]);
        table.insert("before".to_owned(), before);
    }
    let metrics = metrics(case.text("metrics")?);
    let metrics = metrics.map_err(|what| wrong(case, "metrics", what))?;
    table.insert("metric".to_owned(), Toml::Array(metrics));
    let source =
        toml::to_string(&table).map_err(|error| wrong(case, "command", error.to_string()))?;
    Profile::parse("of the command line", &source)
        .map_err(|error| wrong(case, "metrics", error.to_string()))
}

/// Braces stand for values in profiles, for themselves here.
fn plain_braces(word: &str) -> String {
    word.replace('{', "{{").replace('}', "}}")
}

fn metrics(text: &str) -> Result<Vec<Toml>, String> {
    let list: Vec<String> = match text.starts_with('[') {
        true => serde_json::from_str(text).map_err(|error| format!("a JSON list ({error})"))?,
        false => vec![text.to_owned()],
    };
    let tables: Result<Vec<toml::Table>, String> =
        list.iter().map(|one| metric_table(one)).collect();
    Ok(tables?.into_iter().map(Toml::Table).collect())
}

/// Reads `[NAME[,UNIT[,higher|lower]]=]SOURCE`, SOURCE being `wall`, `user`, `system`, `cpu`,
/// `max-resident`, `regex:PATTERN`, `json:/POINTER` or `csv:COLUMN`.
fn metric_table(text: &str) -> Result<toml::Table, String> {
    const EXPECTED: &str = "wall, user, system, cpu, max-resident, regex:PATTERN, json:/POINTER or \
                            csv:COLUMN, perhaps with NAME,UNIT,higher= before it";
    const PROCESS: [(&str, &str); 5] = [
        ("wall", "Seconds"),
        ("user", "Seconds"),
        ("system", "Seconds"),
        ("cpu", "Seconds"),
        ("max-resident", "B"),
    ];
    let is_source = |text: &str| {
        PROCESS.iter().any(|(name, _)| *name == text)
            || ["regex:", "json:", "csv:"]
                .iter()
                .any(|kind| text.starts_with(kind))
    };
    let (head, source) = match text.split_once('=') {
        Some((head, source)) if !is_source(text) => (Some(head), source),
        _ => (None, text),
    };
    if !is_source(source) {
        return Err(format!(
            "metric \"{text}\" is not accepted; expected {EXPECTED}"
        ));
    }
    let process = PROCESS.iter().find(|(name, _)| *name == source);
    let (kind, value) = match process {
        Some(_) => ("process", source),
        None => source.split_once(':').ok_or(EXPECTED)?,
    };
    let mut head = head.unwrap_or_default().split(',').map(str::trim);
    let name = head.next().filter(|name| !name.is_empty());
    let unit = head.next();
    let better = head.next();
    let default_name = process.map_or("figure", |(name, _)| name);
    let default_unit = process.map_or("", |(_, unit)| unit);
    let default_better = if process.is_some() { "lower" } else { "higher" };
    let mut table = toml::Table::new();
    for (key, value) in [
        ("id", name.unwrap_or(default_name)),
        ("unit", unit.unwrap_or(default_unit)),
        ("better", better.unwrap_or(default_better)),
        (kind, value),
    ] {
        table.insert(key.to_owned(), Toml::String(value.to_owned()));
    }
    Ok(table)
}
