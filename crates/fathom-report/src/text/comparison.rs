//! A comparison as text: conditions first, then one answer a case, then all cases together.

use std::fmt::Write;

use fathom_model::Level;
use fathom_model::compare::{Cell, Comparison, Contender, Row, Summary};
use fathom_stats::compare::Answer;

use super::ShowOptions;
use super::columns::{fit, push_left, push_right, push_wrapped, width};
use super::style::Tone;
use crate::clean;
use crate::counterparts::{self, Line as CounterpartLine};
use crate::number::{push_percent, rounded, significant};

/// Widest column of case names; longer ones stand on a line of their own.
const MOST_LABEL: usize = 28;
/// Width of an answer.
const ANSWER: usize = 11;

/// A comparison for a terminal.
///
/// Conditions that differ come first. Then for every contender: its value beside the baseline's,
/// their ratio with its interval, and one of the four answers; below a "cannot tell" what could
/// have been seen and how many trials would tell. Last, all cases together with one weight each.
pub fn comparison(comparison: &Comparison, options: ShowOptions) -> String {
    let mut out = String::with_capacity(1024 + comparison.rows.len() * 256);
    push_conditions(&mut out, comparison, options);
    for place in judged_arms(comparison) {
        out.push('\n');
        push_contender(&mut out, comparison, place, options);
    }
    push_unjudged(&mut out, comparison, options);
    push_counterparts(&mut out, comparison, options);
    push_unmatched(&mut out, comparison, options);
    super::show::trim_line_ends(&mut out);
    out
}

/// Places of the contenders that have a result of the baseline's.
pub(crate) fn judged_arms(comparison: &Comparison) -> Vec<usize> {
    let has_cell = |place: &usize| {
        let mut contenders = comparison.rows.iter().map(|row| &row.contenders[*place]);
        contenders.any(|contender| contender.cell.is_some())
    };
    (0..comparison.summaries.len()).filter(has_cell).collect()
}

/// Says of which contenders no result is the baseline's; `None` when that is true of none.
pub(crate) fn unjudged_text(comparison: &Comparison) -> Option<String> {
    let judged = judged_arms(comparison);
    let others: Vec<&str> = (0..comparison.summaries.len())
        .filter(|place| !judged.contains(place))
        .map(|place| comparison.arms[place + 1].as_str())
        .collect();
    let baseline = &comparison.arms[0];
    let text = match (judged.is_empty(), others.is_empty()) {
        (_, true) => return None,
        (true, _) if comparison.counterparts.is_empty() => {
            format!("there is nothing to compare: no other has a result of {baseline}")
        }
        (true, _) => {
            format!("there is nothing to judge: no other has a result of {baseline} as it is")
        }
        (false, _) => format!("without any result of {baseline}: {}", others.join(", ")),
    };
    Some(clean::line(&text))
}

fn push_unjudged(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    if let Some(text) = unjudged_text(comparison) {
        out.push('\n');
        push_wrapped(out, &text, 0, 2, options.columns());
        out.push('\n');
    }
}

fn push_counterparts(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let groups = counterparts::groups(comparison);
    if groups.is_empty() {
        return;
    }
    out.push('\n');
    options
        .style()
        .push_str(out, Tone::Strong, counterparts::HEADING);
    out.push('\n');
    push_wrapped(out, counterparts::REASON, 0, 0, options.columns());
    out.push('\n');
    let lines = || groups.iter().flat_map(|group| &group.lines);
    let most =
        |of: fn(&CounterpartLine) -> &str| lines().map(|line| width(of(line))).max().unwrap_or(0);
    let name_width = most(|line| &line.name).min(MOST_LABEL);
    let (value_width, ratio_width) = (most(|line| &line.value), most(|line| &line.ratio));
    for group in &groups {
        push_wrapped(out, &group.title, 0, 2, options.columns());
        out.push('\n');
        for line in &group.lines {
            out.push_str("  ");
            push_left(out, &fit(&line.name, name_width), name_width);
            push_right(out, &line.value, value_width + 2);
            push_right(out, &line.ratio, ratio_width + 2);
            out.push_str("  ");
            let start = name_width + value_width + ratio_width + 8;
            push_wrapped(out, &line.by, start, start, options.columns());
            out.push('\n');
        }
        if !group.differences.is_empty() {
            let text = format!("not equal: {}", group.differences.join(", "));
            out.push_str("  ^ ");
            push_wrapped(out, &clean::line(&text), 4, 4, options.columns());
            out.push('\n');
        }
    }
}

/// From so many arms on conditions name them by number.
const MANY_ARMS: usize = 5;

fn push_conditions(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let columns = options.columns();
    if comparison.arms.len() >= MANY_ARMS {
        push_numbered_arms(out, comparison, options);
    }
    let names: Vec<String> = comparison
        .conditions
        .iter()
        .map(|row| clean::line(&row.name))
        .collect();
    let name_width = names
        .iter()
        .map(|name| width(name))
        .max()
        .unwrap_or(0)
        .min(24);
    options.style().push_str(out, Tone::Strong, "conditions");
    out.push('\n');
    for (row, name) in comparison.conditions.iter().zip(&names) {
        let values: Vec<String> = row
            .values
            .iter()
            .map(|value| {
                value
                    .as_deref()
                    .map_or_else(|| "not known".to_owned(), clean::line)
            })
            .collect();
        out.push_str("  ");
        push_left(out, &fit(name, name_width), name_width);
        out.push_str("  ");
        let text = match comparison.arms.len() {
            2 => values.join(" -> "),
            _ => grouped(&values, &comparison.arms),
        };
        push_wrapped(out, &text, name_width + 4, name_width + 4, columns);
        out.push('\n');
    }
    push_equal_conditions(out, comparison, options);
}

fn push_equal_conditions(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let equal = comparison.equal_conditions;
    let text = match (comparison.conditions.is_empty(), equal) {
        (true, 0) => "none is known".to_owned(),
        (true, 1) => "the one that is known is equal".to_owned(),
        (true, _) => format!("all {equal} that are known are equal"),
        (false, 0) => return,
        (false, _) => format!("({equal} more are equal)"),
    };
    out.push_str("  ");
    options.style().push_str(out, Tone::Faint, &text);
    out.push('\n');
}

fn push_numbered_arms(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let arms = &comparison.arms;
    let number_width = arms.len().to_string().len();
    options.style().push_str(out, Tone::Strong, "systems");
    out.push('\n');
    for (place, arm) in arms.iter().enumerate() {
        let role = if place == 0 { " (baseline)" } else { "" };
        let name = clean::line(&format!("{arm}{role}"));
        out.push_str("  ");
        push_right(out, &(place + 1).to_string(), number_width);
        out.push_str("  ");
        push_wrapped(
            out,
            &name,
            number_width + 4,
            number_width + 4,
            options.columns(),
        );
        out.push('\n');
    }
    out.push('\n');
}

/// `none: A, B; mq-deadline: C`, or by number: `1-2: none; 3: mq-deadline`.
fn grouped(values: &[String], arms: &[String]) -> String {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (place, value) in values.iter().enumerate() {
        match groups.iter_mut().find(|(known, _)| known == value) {
            Some((_, places)) => places.push(place),
            None => groups.push((value, vec![place])),
        }
    }
    let text = |(value, places): &(&str, Vec<usize>)| match arms.len() >= MANY_ARMS {
        true => format!("{}: {value}", ranges(places)),
        false => {
            let names: Vec<&str> = places.iter().map(|place| arms[*place].as_str()).collect();
            format!("{value}: {}", names.join(", "))
        }
    };
    let texts: Vec<String> = groups.iter().map(text).collect();
    clean::line(&texts.join("; "))
}

/// `1-3, 5` of ascending places 0, 1, 2, 4.
fn ranges(places: &[usize]) -> String {
    let runs = places.chunk_by(|a, b| a + 1 == *b);
    let texts: Vec<String> = runs
        .filter_map(|run| match run {
            [] => None,
            [only] => Some((only + 1).to_string()),
            [first, .., last] => Some(format!("{}-{}", first + 1, last + 1)),
        })
        .collect();
    texts.join(", ")
}

/// Widths of the columns of a contender's table.
struct Widths {
    label: usize,
    value: usize,
    ratio: usize,
    interval: usize,
}

/// What stands in a line.
struct Line {
    label: String,
    baseline: String,
    value: String,
    ratio: String,
    interval: String,
}

fn push_contender(out: &mut String, comparison: &Comparison, place: usize, options: ShowOptions) {
    let (baseline, arm) = (&comparison.arms[0], &comparison.arms[place + 1]);
    let lines: Vec<Line> = comparison
        .rows
        .iter()
        .map(|row| Line::of(row, place))
        .collect();
    let widths = Widths::of(&lines, baseline, arm, options.columns());
    options.style().push(out, Tone::Faint, |out| {
        push_left(out, "case", widths.label);
        push_right(
            out,
            &fit(&clean::line(baseline), widths.value),
            widths.value + 2,
        );
        push_right(out, &fit(&clean::line(arm), widths.value), widths.value + 2);
        push_right(out, "ratio", widths.ratio + 2);
        push_right(out, "95 %", widths.interval + 2);
        out.push_str("  answer");
    });
    out.push('\n');
    for (row, line) in comparison.rows.iter().zip(&lines) {
        push_row(out, comparison, row, line, place, &widths, options);
    }
    push_summary(
        out,
        comparison,
        &comparison.summaries[place],
        &widths,
        options,
    );
}

impl Line {
    fn of(row: &Row, place: usize) -> Self {
        let contender = &row.contenders[place];
        let unit = &row.metric.unit;
        let compared = contender.comparison.as_ref();
        let interval = compared.and_then(|compared| compared.interval.as_ref());
        Self {
            label: label_of(row),
            baseline: cell_text(Some(&row.baseline), unit),
            value: cell_text(contender.cell.as_ref(), unit),
            ratio: compared.map_or_else(String::new, |compared| ratio_text(compared.ratio)),
            interval: interval.map_or_else(String::new, |test| {
                format!(
                    "{}-{}",
                    ratio_text(test.estimate.low),
                    ratio_text(test.estimate.high)
                )
            }),
        }
    }
}

/// The case, and the metric where it does not stand for its case.
pub(crate) fn label_of(row: &Row) -> String {
    let metric = match row.metric.title.as_str() {
        "" => &row.metric.unit,
        title => title,
    };
    match row.metric.is_primary {
        true => clean::line(&row.label),
        false => clean::line(&format!("{}, {metric}", row.label)),
    }
}

/// Three decimals near 1, fewer digits far from it.
pub(crate) fn ratio_text(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => significant(ratio, 3),
        ratio if ratio >= 10.0 => rounded(ratio, 1),
        ratio => rounded(ratio, 3),
    }
}

fn cell_text(cell: Option<&Cell>, unit: &str) -> String {
    let Some(cell) = cell else {
        return "none".to_owned();
    };
    let Some(value) = cell.value else {
        return "failed".to_owned();
    };
    let mark = if cell.level >= Level::Suspect {
        "!"
    } else {
        ""
    };
    clean::line(&format!("{} {unit}{mark}", significant(value, 4)))
}

impl Widths {
    fn of(lines: &[Line], baseline: &str, arm: &str, columns: usize) -> Self {
        let most = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let ratio = most(&mut lines.iter().map(|line| line.ratio.len())).max(5);
        let interval = most(&mut lines.iter().map(|line| line.interval.len())).max(4);
        let values = lines
            .iter()
            .flat_map(|line| [width(&line.baseline), width(&line.value)]);
        let heads = [width(baseline).min(14), width(arm).min(14)];
        let value = most(&mut values.chain(heads)).min(20);
        let label = most(&mut lines.iter().map(|line| width(&line.label))).max("case".len());
        let fixed = 2 * (value + 2) + ratio + interval + 4 + 2 + ANSWER;
        let room = columns.saturating_sub(fixed).min(MOST_LABEL);
        // On narrow terminals names and values both give way.
        let value = match columns < fixed + 10 {
            true => value
                .saturating_sub((fixed + 10 - columns).div_ceil(2))
                .max(6),
            false => value,
        };
        Self {
            label: label.min(room.max(10)),
            value,
            ratio,
            interval,
        }
    }
}

fn push_row(
    out: &mut String,
    comparison: &Comparison,
    row: &Row,
    line: &Line,
    place: usize,
    widths: &Widths,
    options: ShowOptions,
) {
    let columns = options.columns();
    let contender = &row.contenders[place];
    if width(&line.label) > widths.label {
        push_wrapped(out, &line.label, 0, 2, columns);
        out.push('\n');
        push_left(out, "", widths.label);
    } else {
        push_left(out, &line.label, widths.label);
    }
    push_right(out, &fit(&line.baseline, widths.value), widths.value + 2);
    push_right(out, &fit(&line.value, widths.value), widths.value + 2);
    push_right(out, &line.ratio, widths.ratio + 2);
    push_right(out, &line.interval, widths.interval + 2);
    out.push_str("  ");
    let (answer, tone) = answer_of(contender);
    options.style().push_str(out, tone, answer);
    out.push('\n');
    for text in remarks_of(comparison, row, place) {
        out.push_str("  ^ ");
        options.style().push(out, Tone::Faint, |out| {
            push_wrapped(out, &text, 4, 4, columns)
        });
        out.push('\n');
    }
}

fn answer_of(contender: &Contender) -> (&'static str, Tone) {
    match contender
        .comparison
        .as_ref()
        .map(|compared| compared.answer)
    {
        Some(Answer::Faster) => ("faster", Tone::Good),
        Some(Answer::Slower) => ("slower", Tone::Bad),
        Some(Answer::Same) => ("same", Tone::Plain),
        Some(Answer::CannotTell { .. }) => ("cannot tell", Tone::Warning),
        None => ("no answer", Tone::Faint),
    }
}

/// What a reader wants to know after an answer: why there is none, what could have been seen, and
/// what is doubtful of the numbers.
pub(crate) fn remarks_of(comparison: &Comparison, row: &Row, place: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let contender = &row.contenders[place];
    if let Some(refused) = &contender.refused {
        remarks.push(clean::line(refused).trim_end_matches([':', ' ']).to_owned());
    }
    if let Some(compared) = &contender.comparison
        && let Answer::CannotTell { more_trials } = compared.answer
    {
        remarks.push(match one_of_many_text(comparison, contender) {
            Some(text) => text,
            None => cannot_tell_text(compared.minimum_detectable, more_trials),
        });
    }
    let cells = [
        Some((0, &row.baseline)),
        contender.cell.as_ref().map(|cell| (place + 1, cell)),
    ];
    for (arm, cell) in cells.into_iter().flatten() {
        let is_said = contender.refused.as_ref().is_some_and(|refused| {
            refused.starts_with(cell.level.name()) && refused.ends_with(cell.reason.as_str())
        });
        if cell.level >= Level::Suspect && cell.value.is_some() {
            // A refusal says why, not of whom.
            if is_said {
                remarks.clear();
            }
            let name = clean::line(&comparison.arms[arm]);
            let reason = clean::line(&cell.reason);
            let remark = match reason.is_empty() {
                true => format!("{name}: {}", cell.level.name()),
                false => format!("{name}: {}, {reason}", cell.level.name()),
            };
            remarks.push(remark);
        }
    }
    remarks
}

/// A ratio whose interval alone would tell, beside so many others that one like it is no surprise.
fn one_of_many_text(comparison: &Comparison, contender: &Contender) -> Option<String> {
    let estimate = contender.comparison.as_ref()?.interval.as_ref()?.estimate;
    let margin = 1.0 + comparison.rule.margin;
    let is_beyond = estimate.low > margin || estimate.high < 1.0 / margin;
    let p = contender.p_adjusted.filter(|_| is_beyond)?;
    Some(format!(
        "its interval alone would tell, but among {} comparisons one such may be chance (adjusted p \
         {})",
        comparison.rows.len(),
        rounded(p, 3)
    ))
}

fn cannot_tell_text(detectable: Option<f64>, more_trials: Option<u32>) -> String {
    let mut text = String::new();
    match detectable {
        Some(share) => {
            text.push_str("would have seen a difference of ");
            push_percent(&mut text, share * 100.0);
            text.push_str(" % or more");
        }
        None => text.push_str("the spread of one side is not known"),
    }
    match more_trials {
        Some(1) => text.push_str("; 1 more trial a side would tell"),
        Some(more) => {
            let _ = write!(text, "; {more} more trials a side would tell");
        }
        None => {}
    }
    text
}

fn push_summary(
    out: &mut String,
    comparison: &Comparison,
    summary: &Summary,
    widths: &Widths,
    options: ShowOptions,
) {
    let label = match summary.cases {
        1 => "the one case".to_owned(),
        cases => format!("all {cases} cases"),
    };
    let text = format!(
        "{}; {}",
        overall_text(comparison, summary),
        counts_text(summary)
    );
    push_left(out, &label, widths.label);
    out.push_str("  ");
    let start = widths.label.max(width(&label)) + 2;
    options.style().push(out, Tone::Strong, |out| {
        push_wrapped(out, &text, start, widths.label + 2, options.columns());
    });
    out.push('\n');
}

/// `geometric mean 1.012 (0.998-1.027): no overall difference shown`.
pub(crate) fn overall_text(comparison: &Comparison, summary: &Summary) -> String {
    let all_have_one = summary.cases_with_interval == summary.cases;
    if let Some(estimate) = summary.improvement.filter(|_| all_have_one) {
        let margin = 1.0 + comparison.rule.margin;
        let answer = match estimate {
            of if of.low > margin => "faster overall",
            of if of.high < 1.0 / margin => "slower overall",
            of if of.low >= 1.0 / margin && of.high <= margin => "the same overall",
            _ => "no overall difference shown",
        };
        return format!(
            "geometric mean {} ({}-{}): {answer}",
            ratio_text(estimate.value),
            ratio_text(estimate.low),
            ratio_text(estimate.high)
        );
    }
    match summary.improvement_of_all {
        Some(mean) => {
            let missing = summary.cases - summary.cases_with_interval;
            let mut text = format!(
                "geometric mean {}, without an interval: the spread is not known for {missing}",
                ratio_text(mean)
            );
            if let Some(estimate) = summary.improvement {
                let _ = write!(
                    text,
                    "; the other {}: {} ({}-{})",
                    summary.cases_with_interval,
                    ratio_text(estimate.value),
                    ratio_text(estimate.low),
                    ratio_text(estimate.high)
                );
            }
            text
        }
        None => "no ratio could be formed".to_owned(),
    }
}

/// `3 faster, 1 cannot tell`.
pub(crate) fn counts_text(summary: &Summary) -> String {
    let counts = [
        (summary.faster, "faster"),
        (summary.slower, "slower"),
        (summary.same, "same"),
        (summary.cannot_tell, "cannot tell"),
        (summary.refused, "without answer"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match parts.is_empty() {
        true => "nothing to judge".to_owned(),
        false => parts.join(", "),
    }
}

/// Most results without partner that are named.
const MOST_UNMATCHED: usize = 20;

fn push_unmatched(out: &mut String, comparison: &Comparison, options: ShowOptions) {
    let unmatched = &comparison.unmatched;
    if unmatched.is_empty() {
        return;
    }
    out.push('\n');
    options.style().push_str(out, Tone::Strong, "only in some");
    out.push('\n');
    for result in unmatched.iter().take(MOST_UNMATCHED) {
        let text = format!("{}: {}", result.label, result.arms.join(", "));
        out.push_str("  ");
        push_wrapped(out, &clean::line(&text), 2, 4, options.columns());
        out.push('\n');
    }
    if unmatched.len() > MOST_UNMATCHED {
        let _ = writeln!(out, "  and {} more", unmatched.len() - MOST_UNMATCHED);
    }
}
