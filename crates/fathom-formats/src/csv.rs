//! CSV by RFC 4180: commas, quotes doubled, lines end with CR LF. Every row stands alone: it names
//! system, case, options, metric and unit, so that a spreadsheet or data frame needs nothing else.

#[cfg(test)]
mod tests;

use fathom_model::{
    Case, Direction, Entry, EntryDetails, Figure, ResultFile, ResultRecord, System, Trial,
};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One a trial; an entry without known trials (an imported mean) is one row.
    Trials,
    /// One an entry, with the headline number.
    Entries,
}

/// The columns, in order.
pub const COLUMNS: [&str; 34] = [
    "file",
    "system",
    "hardware",
    "software",
    "test",
    "test_version",
    "implementation",
    "implementation_name",
    "implementation_version",
    "case",
    "label",
    "options",
    "title",
    "version",
    "description",
    "metric",
    "metric_title",
    "unit",
    "direction",
    "primary",
    "row",
    "trial",
    "trial_number",
    "started_unix_ms",
    "value",
    "samples",
    "standard_error",
    "verdict",
    "reasons",
    "uncertain",
    "error",
    "pts_identifier",
    "pts_arguments",
    "pts_hash",
];

/// Writes all results; the same file gives the same bytes.
///
/// Numbers have the text they were printed with; a cell that does not apply is empty. A cell that
/// a spreadsheet would take for a formula (`=`, `+`, `-` or `@` at its start, and no number) gets
/// an apostrophe in front.
pub fn write(file: &ResultFile, rows: Rows) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let mut put = |cells: &[String]| {
        assert_eq!(cells.len(), COLUMNS.len(), "every row has every column");
        let written = writer.write_record(cells.iter().map(|cell| harmless(cell).into_owned()));
        assert!(written.is_ok(), "writing to memory cannot fail");
    };
    put(&COLUMNS.map(str::to_owned));
    for record in &file.results {
        for entry in &record.entries {
            for row in rows_of(file, record, entry, rows) {
                put(&row);
            }
        }
    }
    // The buffer is a vector: there is nothing to flush that could fail.
    writer.into_inner().unwrap_or_default()
}

fn harmless(cell: &str) -> std::borrow::Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula && Figure::parse(cell).is_none() {
        true => format!("'{cell}").into(),
        false => cell.into(),
    }
}

fn rows_of(
    file: &ResultFile,
    record: &ResultRecord,
    entry: &Entry,
    rows: Rows,
) -> Vec<Vec<String>> {
    let identity = identity(file, record, entry);
    let row = |kind: &str, own: [String; 9]| {
        let [
            trial,
            number,
            started,
            value,
            samples,
            error,
            verdict,
            reasons,
            reason,
        ] = own;
        let mut cells = identity.clone();
        cells.extend([
            kind.to_owned(),
            trial,
            number,
            started,
            value,
            samples,
            error,
            verdict,
            reasons,
        ]);
        cells.push(details(entry).uncertain.clone().unwrap_or_default());
        cells.push(reason);
        cells.extend(pts(record));
        cells
    };
    let trials: Vec<&Trial> = file
        .runs
        .iter()
        .filter(|run| run.case == record.case && run.system == entry.system)
        .flat_map(|run| &run.trials)
        .collect();
    match (rows, trials.is_empty(), entry.samples.is_empty()) {
        (Rows::Trials, false, _) => trials
            .iter()
            .map(|trial| row("trial", trial_cells(record, trial)))
            .collect(),
        (Rows::Trials, true, false) => entry
            .samples
            .iter()
            .enumerate()
            .map(|(at, sample)| row("trial", sample_cells(entry, at + 1, sample)))
            .collect(),
        _ => vec![row("entry", entry_cells(entry))],
    }
}

fn details(entry: &Entry) -> &EntryDetails {
    static NONE: std::sync::OnceLock<EntryDetails> = std::sync::OnceLock::new();
    match &entry.details {
        Some(details) => details,
        None => NONE.get_or_init(EntryDetails::default),
    }
}

/// The columns up to and with `primary`.
fn identity(file: &ResultFile, record: &ResultRecord, entry: &Entry) -> Vec<String> {
    let case = file.case(&record.case);
    let of_case = |of: fn(&Case) -> String| case.map(of).unwrap_or_default();
    let system = file.system(&entry.system);
    let fields = |of: fn(&System) -> &Vec<fathom_model::Field>| {
        let fields = system.map(of).into_iter().flatten();
        let texts: Vec<String> = fields.map(|f| format!("{}: {}", f.name, f.text)).collect();
        texts.join(", ")
    };
    vec![
        file.title.clone(),
        entry.system.clone(),
        fields(|system| &system.hardware),
        fields(|system| &system.software),
        of_case(|case| case.test.clone()),
        of_case(|case| case.test_version.clone()),
        of_case(|case| case.implementation.kind.name().to_owned()),
        of_case(|case| case.implementation.name.clone()),
        of_case(|case| case.implementation.version.clone()),
        record.case.to_string(),
        of_case(|case| case.label.clone()),
        of_case(|case| {
            let pairs: Vec<String> = case
                .options
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            pairs.join(" ")
        }),
        record.title.clone(),
        record.version.clone(),
        record.description.clone(),
        record.metric.id.clone(),
        record.metric.title.clone(),
        record.metric.unit.clone(),
        match record.metric.direction {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
            Direction::Neutral => "",
        }
        .to_owned(),
        yes(record.metric.is_primary),
    ]
}

fn yes(flag: bool) -> String {
    if flag { "yes" } else { "no" }.to_owned()
}

fn pts(record: &ResultRecord) -> [String; 3] {
    match &record.pts {
        Some(pts) => [
            pts.identifier.clone(),
            pts.arguments.clone(),
            pts.hash.clone(),
        ],
        None => Default::default(),
    }
}

fn reasons(verdict: &fathom_model::Verdict) -> String {
    let shorts: Vec<&str> = verdict
        .reasons
        .iter()
        .map(|reason| reason.short.as_str())
        .collect();
    shorts.join("; ")
}

fn trial_cells(record: &ResultRecord, trial: &Trial) -> [String; 9] {
    let value = trial.values.get(&record.metric.id);
    [
        trial.id.clone(),
        trial.number.to_string(),
        match trial.started.unix_ms() {
            0 => String::new(),
            ms => ms.to_string(),
        },
        value.map(ToString::to_string).unwrap_or_default(),
        String::new(),
        String::new(),
        trial.verdict.level.name().to_owned(),
        reasons(&trial.verdict),
        trial.error.clone().unwrap_or_default(),
    ]
}

fn sample_cells(entry: &Entry, number: usize, sample: &Figure) -> [String; 9] {
    let mut cells = entry_cells(entry);
    cells[1] = number.to_string();
    cells[3] = sample.to_string();
    cells[4] = String::new();
    cells[5] = String::new();
    cells
}

fn entry_cells(entry: &Entry) -> [String; 9] {
    let details = details(entry);
    let value = match (&details.text, details.line.is_empty()) {
        (Some(text), _) => text.clone(),
        (None, false) => {
            let points: Vec<String> = details.line.iter().map(ToString::to_string).collect();
            points.join(" ")
        }
        (None, true) => entry
            .value
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
    };
    let count = match (&entry.spread, entry.samples.len()) {
        (_, n) if n > 0 => n.to_string(),
        (Some(spread), _) => spread.count.to_string(),
        (None, _) => String::new(),
    };
    [
        String::new(),
        String::new(),
        String::new(),
        value,
        count,
        entry
            .spread
            .as_ref()
            .map(|spread| spread.standard_error.to_string())
            .unwrap_or_default(),
        entry.verdict.level.name().to_owned(),
        reasons(&entry.verdict),
        entry.error.as_deref().unwrap_or_default().to_owned(),
    ]
}
