//! What is said before anything is written: target, plan, notes.

use std::path::Path;

use fathom_base::Bytes;
use fathom_model::{Machine, TargetInfo};
use fathom_runner::Plan;
use fathom_system::{Severity, doctor, target_line};
use serde::Serialize;

use crate::describe::{about, wrapped};

/// Columns of `target`, `plan`, `notes`.
const NAME: usize = 9;
/// Cases that are listed as not available; the rest is counted.
const UNAVAILABLE_LIMIT: usize = 12;

/// The plan as `--dry-run --json` prints it.
#[derive(Serialize)]
pub struct Printed<'a> {
    target: &'a TargetInfo,
    cases: &'a [fathom_model::PlannedCase],
    totals: &'a fathom_runner::Totals,
    min_trials: u32,
    max_trials: u32,
    goal_percent: f64,
    run_budget: Option<fathom_base::Nanos>,
    write_limit: Option<Bytes>,
    seed: u64,
    scratch: &'a str,
    notes: &'a [String],
}

/// The plan for a script.
pub fn printed<'a>(plan: &'a Plan, target: &'a TargetInfo) -> Printed<'a> {
    let header = &plan.header;
    Printed {
        target,
        cases: &header.cases,
        totals: &plan.totals,
        min_trials: header.min_trials,
        max_trials: header.max_trials,
        goal_percent: header.goal_percent,
        run_budget: header.run_budget,
        write_limit: header.write_limit,
        seed: header.seed,
        scratch: &header.scratch,
        notes: &plan.notes,
    }
}

/// The plan for a person.
pub fn text(
    plan: &Plan,
    what: &str,
    machine: &Machine,
    target: &TargetInfo,
    columns: usize,
) -> String {
    let mut lines = Lines {
        text: String::new(),
        columns,
    };
    lines.push("target", &target_line(target));
    lines.push("plan", &plan_line(plan, what));
    let warnings = doctor(machine, target)
        .into_iter()
        .filter(|finding| finding.severity == Severity::Warning);
    let mut notes: Vec<String> = warnings.map(|finding| finding.text).collect();
    if !notes.is_empty() {
        notes.push("fathom doctor says what to do about these".to_owned());
    }
    notes.splice(0..0, plan.notes.iter().cloned());
    for (row, note) in notes.iter().enumerate() {
        lines.push(if row == 0 { "notes" } else { "" }, note);
    }
    let unavailable = unavailable(plan);
    for (row, line) in unavailable.iter().take(UNAVAILABLE_LIMIT).enumerate() {
        lines.push(if row == 0 { "not here" } else { "" }, line);
    }
    if let Some(rest) = unavailable.len().checked_sub(UNAVAILABLE_LIMIT)
        && rest > 0
    {
        lines.push(
            "",
            &format!("and {rest} more (fathom run --dry-run --json lists all)"),
        );
    }
    lines.text
}

struct Lines {
    text: String,
    columns: usize,
}

impl Lines {
    fn push(&mut self, name: &str, words: &str) {
        let body = wrapped(words, NAME, self.columns);
        self.text
            .push_str(&format!("{name:NAME$}{}", body.trim_start()));
    }
}

/// `quick: 10 cases x 5 trials or more, about 60 s, writes at most 9.5 GB, 1.07 GB in ./.fathom-4f1c
/// (removed at the end)`
fn plan_line(plan: &Plan, what: &str) -> String {
    let (header, totals) = (&plan.header, &plan.totals);
    let trials = match (header.min_trials, header.max_trials) {
        (least, most) if least == most => trials(least),
        (least, _) => format!("{} or more", trials(least)),
    };
    let cases = match totals.cases {
        1 => "1 case".to_owned(),
        count => format!("{count} cases"),
    };
    let mut parts = vec![format!("{what}: {cases} x {trials}"), time(plan)];
    parts.push(match totals.bytes_most.as_u64() {
        0 => "writes nothing".to_owned(),
        _ => format!("writes at most {}", bytes_most(plan).rough()),
    });
    if totals.space.as_u64() > 0 {
        let scratch = Path::new(&header.scratch);
        let name = scratch.file_name().unwrap_or_default().to_string_lossy();
        parts.push(format!(
            "{} in {name} (removed at the end)",
            totals.space.rough()
        ));
    }
    parts.join(", ")
}

fn trials(count: u32) -> String {
    match count {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    }
}

/// The least time and, where cases may need more trials, the most.
fn time(plan: &Plan) -> String {
    let totals = &plan.totals;
    let most = match plan.header.run_budget {
        Some(budget) => totals.time_most.min(budget.max(totals.time_least)),
        None => totals.time_most,
    };
    let (least, most) = (about(totals.time_least), about(most));
    match least == most {
        true => format!("about {least}"),
        false => format!("about {least}, at most {most}"),
    }
}

fn bytes_most(plan: &Plan) -> Bytes {
    let most = plan.totals.bytes_most;
    plan.header
        .write_limit
        .map_or(most, |limit| limit.min(most))
}

/// `pgbench: not built yet`, cases of one reason on one line.
pub fn unavailable(plan: &Plan) -> Vec<String> {
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for planned in &plan.header.cases {
        let Some(reason) = &planned.unavailable else {
            continue;
        };
        match rows.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) => labels.push(&planned.case.label),
            None => rows.push((reason.clone(), vec![&planned.case.label])),
        }
    }
    let row = |(reason, labels): (String, Vec<&str>)| {
        let shown: Vec<&str> = labels.iter().take(4).copied().collect();
        let more = match labels.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}: {reason}", shown.join(", "))
    };
    rows.into_iter().map(row).collect()
}
