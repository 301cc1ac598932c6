//! Contenders against a baseline. The ratio is of geometric means where trials are known.

use fathom_model::compare::{Cell, Comparison, Contender, Row, Summary};
use fathom_model::{Direction, Level};
use fathom_stats::compare::Answer;

use super::ShowOptions;
use super::columns::{fit, push_left, push_right, push_wrapped, width};
use super::show::trim_line_ends;
use super::style::Tone;
use crate::clean;
use crate::number::{push_percent, push_rounded, significant};

/// Widest column of case names.
const MOST_LABEL: usize = 30;
/// Widest name of an arm.
const MOST_ARM: usize = 24;
/// Unmatched results that are named; of more the number is said.
const MOST_UNMATCHED: usize = 12;

/// Conditions that differ, then for each contender one line a result with the ratio, its 95 %
/// interval and the answer, then the geometric mean over all cases.
pub fn comparison(comparison: &Comparison, options: ShowOptions) -> String {
    let mut out = String::with_capacity(1024 + comparison.rows.len() * 128);
    push_conditions(&mut out, comparison, options);
    for index in 0..comparison.summaries.len() {
        out.push('\n');
        push_table(&mut out, comparison, index, options);
    }
    push_unmatched(&mut out, comparison, options);
    trim_line_ends(&mut out);
    out
}

fn push_conditions(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let columns = options.columns();
    let equal = comparison.equal_conditions;
    if comparison.conditions.is_empty() {
        out.push_str(&match equal {
            0 => "conditions   none are known\n".to_owned(),
            1 => "conditions   the one that is known is equal\n".to_owned(),
            _ => format!("conditions   all {equal} that are known are equal\n"),
        });
        return;
    }
    options
        .style()
        .push_str(out, Tone::Strong, "conditions that differ");
    out.push_str(&format!(" ({equal} are equal)\n"));
    let two = comparison.arms.len() == 2;
    for row in &comparison.conditions {
        let value = |value: &Option<String>| match value {
            Some(text) => clean::line(text),
            None => "not known".to_owned(),
        };
        let text = match two {
            true => format!(
                "{}: {} -> {}",
                row.name,
                value(&row.values[0]),
                value(&row.values[1])
            ),
            false => {
                let named = comparison.arms.iter().zip(&row.values);
                let parts: Vec<String> = named
                    .map(|(arm, text)| format!("{arm} {}", value(text)))
                    .collect();
                format!("{}: {}", row.name, parts.join("; "))
            }
        };
        out.push_str("  ");
        push_wrapped(out, &text, 2, 4, columns);
        out.push('\n');
    }
}

/// The texts of one line.
struct Line {
    label: String,
    baseline: String,
    contender: String,
    ratio: String,
    interval: String,
    answer: String,
    tone: Tone,
    remark: Option<String>,
}

fn push_table(out: &mut String, comparison: &Comparison, index: usize, options: ShowOptions) {
    let (base, arm) = (&comparison.arms[0], &comparison.arms[index + 1]);
    let lines: Vec<Line> = comparison
        .rows
        .iter()
        .map(|row| Line::of(row, index))
        .collect();
    if lines.is_empty() {
        out.push_str(&format!("{base} and {arm} have no result in common\n"));
        return;
    }
    let head = Line {
        label: "case".into(),
        baseline: fit(&clean::line(base), MOST_ARM).into_owned(),
        contender: fit(&clean::line(arm), MOST_ARM).into_owned(),
        ratio: "ratio".into(),
        interval: "95 %".into(),
        answer: "answer".into(),
        tone: Tone::Strong,
        remark: None,
    };
    let widest = |of: fn(&Line) -> &str| {
        lines
            .iter()
            .chain([&head])
            .map(|line| width(of(line)))
            .max()
            .unwrap_or(0)
    };
    let widths = [
        widest(|line| &line.label).min(MOST_LABEL),
        widest(|line| &line.baseline),
        widest(|line| &line.contender),
        widest(|line| &line.ratio),
        widest(|line| &line.interval),
    ];
    for line in [&head].into_iter().chain(&lines) {
        push_line(out, line, widths, options);
    }
    push_summary(out, &comparison.summaries[index], options);
}

fn push_line(out: &mut String, line: &Line, widths: [usize; 5], options: ShowOptions) {
    push_left(out, &fit(&line.label, widths[0]), widths[0]);
    for (text, width) in [
        (&line.baseline, widths[1]),
        (&line.contender, widths[2]),
        (&line.ratio, widths[3]),
        (&line.interval, widths[4]),
    ] {
        out.push_str("  ");
        push_right(out, text, width);
    }
    out.push_str("  ");
    options.style().push_str(out, line.tone, &line.answer);
    out.push('\n');
    if let Some(remark) = &line.remark {
        out.push_str("  ^ ");
        push_wrapped(out, remark, 4, 4, options.columns());
        out.push('\n');
    }
}

impl Line {
    fn of(row: &Row, index: usize) -> Self {
        let contender = &row.contenders[index];
        let (answer, tone) = answer(row, contender);
        let compared = contender.comparison.as_ref();
        let interval = compared.and_then(|c| c.interval.as_ref());
        let mut label = clean::line(&row.label);
        if !row.metric.is_primary {
            let metric = if row.metric.title.is_empty() {
                &row.metric.id
            } else {
                &row.metric.title
            };
            label.push_str(&format!(", {}", clean::line(metric)));
        }
        Self {
            label,
            baseline: cell(Some(&row.baseline), &row.metric.unit),
            contender: cell(contender.cell.as_ref(), &row.metric.unit),
            ratio: compared.map_or_else(|| "-".to_owned(), |c| rounded(c.ratio)),
            interval: interval.map_or_else(
                || "-".to_owned(),
                |test| {
                    let (low, high) = (test.estimate.low, test.estimate.high);
                    format!("{}-{}", rounded(low), rounded(high))
                },
            ),
            answer,
            tone,
            remark: remark(&row.baseline, contender),
        }
    }
}

fn rounded(ratio: f64) -> String {
    let mut text = String::new();
    push_rounded(&mut text, ratio, if ratio < 100.0 { 3 } else { 0 });
    text
}

fn cell(cell: Option<&Cell>, unit: &str) -> String {
    match cell.map(|cell| cell.value) {
        Some(Some(value)) => format!("{} {}", significant(value, 3), clean::line(unit)),
        Some(None) => "failed".to_owned(),
        None => "-".to_owned(),
    }
}

/// The answer in words; where it cannot be told, what could have been seen or would be needed.
fn answer(row: &Row, contender: &Contender) -> (String, Tone) {
    let Some(comparison) = &contender.comparison else {
        let why = contender.refused.as_deref().unwrap_or("no answer");
        return (format!("no answer: {}", clean::line(why)), Tone::Warning);
    };
    // "Faster" of seconds is what a reader expects; of a rate, too.
    debug_assert!(
        row.metric.direction != Direction::Neutral,
        "a neutral metric has no answer"
    );
    match comparison.answer {
        Answer::Faster => ("faster".to_owned(), Tone::Good),
        Answer::Slower => ("slower".to_owned(), Tone::Bad),
        Answer::Same => ("same".to_owned(), Tone::Plain),
        Answer::CannotTell { more_trials } => {
            let mut text = "cannot tell".to_owned();
            let mut parts = Vec::new();
            if let Some(more) = more_trials {
                parts.push(format!("{more} more"));
            }
            if let Some(least) = comparison.minimum_detectable {
                let mut percent = String::new();
                push_percent(&mut percent, least * 100.0);
                parts.push(format!("sees {percent} %"));
            } else {
                parts.push("no spread known".to_owned());
            }
            text.push_str(&format!(" ({})", parts.join(", ")));
            (text, Tone::Plain)
        }
    }
}

/// What a side's verdict says, when it is not valid and the answer does not say it.
fn remark(baseline: &Cell, contender: &Contender) -> Option<String> {
    if contender.refused.is_some() {
        return None;
    }
    let doubtful = |cell: &Cell| cell.level >= Level::Suspect && !cell.reason.is_empty();
    let sides = [
        ("baseline", Some(baseline)),
        ("contender", contender.cell.as_ref()),
    ];
    let parts: Vec<String> = sides
        .into_iter()
        .filter_map(|(side, cell)| cell.filter(|cell| doubtful(cell)).map(|cell| (side, cell)))
        .map(|(side, cell)| {
            format!(
                "{side} is {}: {}",
                cell.level.name(),
                clean::line(&cell.reason)
            )
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn push_summary(out: &mut String, summary: &Summary, options: ShowOptions) {
    let mut text = match (&summary.improvement, summary.improvement_of_all) {
        (Some(mean), _) if summary.cases_with_interval == summary.cases => {
            let (low, high) = (mean.low, mean.high);
            let said = match (low > 1.0, high < 1.0) {
                (true, _) => "better overall",
                (_, true) => "worse overall",
                _ => "no overall difference shown",
            };
            format!(
                "all {} cases: geometric mean {} ({}-{}): {said}",
                summary.cases,
                rounded(mean.value),
                rounded(low),
                rounded(high)
            )
        }
        (mean, Some(all)) => {
            let mut text = format!(
                "all {} cases: geometric mean {}, without an interval, since {} have no spread",
                summary.cases,
                rounded(all),
                summary.cases - summary.cases_with_interval
            );
            if let Some(mean) = mean {
                text.push_str(&format!(
                    "; the other {}: {} ({}-{})",
                    summary.cases_with_interval,
                    rounded(mean.value),
                    rounded(mean.low),
                    rounded(mean.high)
                ));
            }
            text
        }
        _ => "no case has a ratio".to_owned(),
    };
    let counts = [
        (summary.faster, "faster"),
        (summary.slower, "slower"),
        (summary.same, "same"),
        (summary.cannot_tell, "cannot tell"),
        (summary.refused, "without answer"),
    ];
    let counted: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    text.push_str(&format!(" ({})", counted.join(", ")));
    push_wrapped(out, &text, 0, 2, options.columns());
    out.push('\n');
    if summary.cannot_tell > 0 {
        let legend = "cannot tell: \"N more\" are the trials a side after which it probably could \
                      be told; \"sees\" is the smallest difference these trials would show";
        push_wrapped(out, legend, 0, 2, options.columns());
        out.push('\n');
    }
}

fn push_unmatched(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    if comparison.unmatched.is_empty() {
        return;
    }
    out.push('\n');
    options.style().push_str(out, Tone::Strong, "not compared");
    out.push_str(" (no other side has this workload)\n");
    for row in comparison.unmatched.iter().take(MOST_UNMATCHED) {
        let arms: Vec<String> = row.arms.iter().map(|arm| clean::line(arm)).collect();
        out.push_str("  ");
        let text = format!("{}: {}", clean::line(&row.label), arms.join(", "));
        push_wrapped(out, &text, 2, 4, options.columns());
        out.push('\n');
    }
    if let Some(more) = comparison
        .unmatched
        .len()
        .checked_sub(MOST_UNMATCHED)
        .filter(|n| *n > 0)
    {
        out.push_str(&format!("  and {more} more\n"));
    }
}

#[cfg(test)]
mod tests;
