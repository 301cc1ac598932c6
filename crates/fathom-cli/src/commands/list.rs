//! `fathom list`.

use fathom_base::WallTime;
use fathom_model::TestInfo;
use fathom_runner::suite::Suites;
use fathom_store::{ResultSummary, RunInfo, Store};
use serde::Serialize;

use crate::args::{ListArgs, Listing};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::registry;
use crate::settings::Settings;

/// Everything that can be listed, as `--json` prints it; what was not asked for is absent.
#[derive(Default, Serialize)]
struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<Vec<TestInfo>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suites: Option<Vec<SuiteRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultSummary>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<Vec<RunRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<Vec<ReferenceRow>>,
}

#[derive(Serialize)]
struct ReferenceRow {
    name: &'static str,
    title: String,
    systems: usize,
    results: usize,
}

#[derive(Serialize)]
struct SuiteRow {
    name: String,
    title: String,
    cases: usize,
    file: String,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct RunRow {
    name: String,
    run_id: String,
    title: String,
    target: String,
    started: WallTime,
    cases: usize,
    trials: usize,
    is_live: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Lists tests, suites, results or references.
pub fn list(args: &ListArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let wants = |what| args.what.is_none_or(|wanted| wanted == what);
    let mut lists = Lists::default();
    if wants(Listing::Tests) {
        lists.tests = Some(registry::tests(settings, &[])?.registry.infos());
    }
    if wants(Listing::Suites) {
        lists.suites = Some(suites(&registry::suites(settings.suites.as_deref())?));
    }
    if wants(Listing::Results) {
        let store = Store::new(settings.data()?);
        lists.results = Some(store.list()?);
        lists.unfinished = Some(store.runs()?.into_iter().map(run_row).collect());
    }
    if wants(Listing::References) {
        lists.references = Some(references()?);
    }
    match args.json {
        true => printer.json(&lists)?,
        false => printer.data(&text(&lists, settings))?,
    }
    Ok(Exit::Good)
}

fn references() -> Result<Vec<ReferenceRow>, Failure> {
    let row = |(name, bytes): &(&'static str, &[u8])| {
        // They are part of the binary.
        let file = fathom_formats::native::read(bytes)
            .map_err(|error| Failure::new(Exit::Bug, format!("reference {name}: {error}")))?;
        Ok(ReferenceRow {
            name,
            title: file.title,
            systems: file.systems.len(),
            results: file.results.len(),
        })
    };
    fathom_formats::references().iter().map(row).collect()
}

fn suites(suites: &Suites) -> Vec<SuiteRow> {
    let good = suites.iter().map(|suite| SuiteRow {
        name: suite.name.clone(),
        title: suite.title.clone(),
        cases: suite.cases.len(),
        file: suite.file.clone(),
        error: None,
    });
    let broken = suites.broken().map(|(name, error)| SuiteRow {
        name: name.to_owned(),
        title: String::new(),
        cases: 0,
        file: String::new(),
        error: Some(error.to_string()),
    });
    let mut rows: Vec<SuiteRow> = good.chain(broken).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn run_row(run: RunInfo) -> RunRow {
    RunRow {
        name: run.name,
        run_id: run.run_id,
        title: run.title,
        target: run.target,
        started: run.started,
        cases: run.cases,
        trials: run.trials,
        is_live: run.is_live,
        error: run.error,
    }
}

fn text(lists: &Lists, settings: &Settings) -> String {
    let mut sections: Vec<(&str, Vec<Vec<String>>)> = Vec::new();
    if let Some(tests) = &lists.tests {
        sections.push(("tests", test_rows(tests)));
    }
    if let Some(suites) = &lists.suites {
        sections.push(("suites", suites.iter().map(suite_cells).collect()));
    }
    if let Some(results) = &lists.results {
        let rows = results.iter();
        let rows = rows.map(|result| result_cells(result, settings)).collect();
        sections.push(("results", rows));
    }
    let unfinished = lists.unfinished.as_deref().unwrap_or_default();
    if !unfinished.is_empty() {
        let rows = unfinished.iter().map(unfinished_cells).collect();
        sections.push(("unfinished", rows));
    }
    if let Some(references) = &lists.references {
        let rows = references.iter().map(|of| {
            let (systems, results) = (counted(of.systems, "system"), counted(of.results, "result"));
            vec![
                of.name.to_owned(),
                of.title.clone(),
                format!("{systems}, {results}"),
            ]
        });
        sections.push(("references", rows.collect()));
    }
    if let [(_, rows)] = sections.as_slice() {
        // One list needs no heading, which a script would have to cut off.
        return table(rows, "");
    }
    let shown = |(title, rows): &(&str, Vec<Vec<String>>)| match rows.is_empty() {
        true => format!("{title}\n  none yet\n"),
        false => format!("{title}\n{}", table(rows, "  ")),
    };
    let sections: Vec<String> = sections.iter().map(shown).collect();
    sections.join("\n")
}

/// `1 case`, `2 cases`.
fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Rows in columns.
fn table(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(&format!("{indent}{}\n", cells.join("  ").trim_end()));
    }
    text
}

fn test_rows(tests: &[TestInfo]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for test in tests {
        let implementation = test.implementation.to_string();
        match rows.iter_mut().find(|row| row[0] == test.id) {
            Some(row) => row[2] = format!("{}, {implementation}", row[2]),
            None => rows.push(vec![
                test.id.to_owned(),
                test.title.to_owned(),
                implementation,
            ]),
        }
    }
    rows
}

fn suite_cells(suite: &SuiteRow) -> Vec<String> {
    match &suite.error {
        Some(error) => vec![suite.name.clone(), format!("cannot be used: {error}")],
        None => vec![
            suite.name.clone(),
            suite.title.clone(),
            counted(suite.cases, "row"),
        ],
    }
}

fn result_cells(result: &ResultSummary, settings: &Settings) -> Vec<String> {
    if let Some(error) = &result.error {
        return vec![result.name.clone(), format!("cannot be read: {error}")];
    }
    let time = result.measured.or(result.modified);
    let mut remarks = vec![counted(result.cases, "case")];
    if !result.status.is_complete() {
        remarks.push("partial".to_owned());
    }
    if result.failed > 0 {
        remarks.push(format!(
            "{} of {} trials failed",
            result.failed, result.trials
        ));
    }
    vec![
        result.name.clone(),
        time.map_or_else(String::new, |time| settings.minute(time)),
        remarks.join(", "),
        result.systems.join(", "),
    ]
}

fn unfinished_cells(run: &RunRow) -> Vec<String> {
    let state = match (&run.error, run.is_live) {
        (Some(error), _) => format!("cannot go on: {error}"),
        (None, true) => "running now".to_owned(),
        (None, false) => format!("fathom resume {}", run.name),
    };
    let (trials, cases) = (counted(run.trials, "trial"), counted(run.cases, "case"));
    let done = format!("{trials} of {cases}");
    vec![run.name.clone(), done, state]
}
