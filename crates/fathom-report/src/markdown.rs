//! Markdown for issues, wikis and pull requests (GitHub's dialect).

use std::fmt::Write;

use fathom_model::compare::Comparison;
use fathom_model::{Direction, Level, ResultFile};

use crate::clean;
use crate::counterparts;
use crate::number::{count, push_percent, push_value, significant};
use crate::sayings::Said;
use crate::text::{
    PERCENTILES, counts_text, judged_arms, label_of, other_text, overall_text, percentile_text,
    ratio_text, remarks_of, target_text, unjudged_text,
};
use crate::view::{Block, Row, View};

/// A result file as Markdown: what was measured, one table a result with interval, trials and
/// verdict, latency percentiles, and everything that failed with its reason.
pub fn markdown(file: &ResultFile) -> String {
    let view = View::of(file);
    let mut out = String::with_capacity(2048 + view.blocks.len() * 400);
    let title = match file.title.trim() {
        "" => "Untitled result",
        title => title,
    };
    push_heading(&mut out, 1, title);
    push_paragraph(&mut out, &file.description);
    push_systems(&mut out, &view);
    for case in view.blocks.chunk_by(|_, next| next.continues) {
        let mut said = Said::default();
        for block in case {
            push_block(&mut out, &view, block, &mut said);
        }
    }
    if view.blocks.is_empty() {
        push_paragraph(&mut out, "There are no results in this file.");
    }
    if !view.absent.is_empty() {
        push_heading(&mut out, 2, "Not measured");
        for absent in &view.absent {
            push_item(
                &mut out,
                &format!("{} on {}: {}", absent.label, absent.system, absent.reason),
            );
        }
        out.push('\n');
    }
    out
}

/// A comparison as Markdown: conditions that differ, then a table for every contender.
pub fn markdown_comparison(comparison: &Comparison) -> String {
    let mut out = String::with_capacity(1024 + comparison.rows.len() * 200);
    push_heading(&mut out, 2, "Conditions that differ");
    if comparison.conditions.is_empty() {
        push_paragraph(&mut out, "None that is known.");
    } else {
        let mut head = vec!["Condition".to_owned()];
        head.extend(comparison.arms.iter().cloned());
        push_head(&mut out, &head, &[]);
        for row in &comparison.conditions {
            let mut cells = vec![row.name.clone()];
            cells.extend(
                row.values
                    .iter()
                    .map(|value| value.clone().unwrap_or_else(|| "not known".to_owned())),
            );
            push_row(&mut out, &cells);
        }
        out.push('\n');
    }
    for place in judged_arms(comparison) {
        let summary = &comparison.summaries[place];
        let (arm, baseline) = (&comparison.arms[place + 1], &comparison.arms[0]);
        push_heading(&mut out, 2, &format!("{arm} against {baseline}"));
        let text = format!(
            "{}; {}.",
            overall_text(comparison, summary),
            counts_text(summary)
        );
        push_paragraph(&mut out, &text);
        push_comparison_table(&mut out, comparison, place);
    }
    if let Some(text) = unjudged_text(comparison) {
        push_paragraph(&mut out, &text);
    }
    push_counterparts(&mut out, comparison);
    if !comparison.unmatched.is_empty() {
        push_heading(&mut out, 2, "Only in some");
        for result in &comparison.unmatched {
            let text = format!("{}: {}", result.label, result.arms.join(", "));
            push_item(&mut out, &text);
        }
        out.push('\n');
    }
    out
}

fn push_counterparts(out: &mut String, comparison: &Comparison) {
    let groups = counterparts::groups(comparison);
    if groups.is_empty() {
        return;
    }
    push_heading(out, 2, counterparts::HEADING);
    push_paragraph(out, counterparts::REASON);
    for group in &groups {
        push_heading(out, 3, &group.title);
        let head = ["System", "Value", "To the baseline", "Measured by"].map(str::to_owned);
        push_head(out, &head, &[1, 2]);
        for line in &group.lines {
            let cells = [&line.name, &line.value, &line.ratio, &line.by];
            push_row(out, &cells.map(String::clone));
        }
        out.push('\n');
        if !group.differences.is_empty() {
            push_item(out, &format!("not equal: {}", group.differences.join(", ")));
            out.push('\n');
        }
    }
}

fn push_comparison_table(out: &mut String, comparison: &Comparison, place: usize) {
    let head = [
        "Case",
        &comparison.arms[0],
        &comparison.arms[place + 1],
        "Ratio",
        "95 %",
        "Answer",
    ]
    .map(str::to_owned);
    push_head(out, &head, &[1, 2, 3, 4]);
    let mut remarks: Vec<String> = Vec::new();
    for row in &comparison.rows {
        let contender = &row.contenders[place];
        let value = |cell: Option<&fathom_model::compare::Cell>| match cell.map(|cell| cell.value) {
            Some(Some(value)) => format!("{} {}", significant(value, 4), row.metric.unit),
            Some(None) => "failed".to_owned(),
            None => String::new(),
        };
        let compared = contender.comparison.as_ref();
        let interval = compared.and_then(|compared| compared.interval.as_ref());
        push_row(
            out,
            &[
                label_of(row),
                value(Some(&row.baseline)),
                value(contender.cell.as_ref()),
                compared.map_or_else(String::new, |compared| ratio_text(compared.ratio)),
                interval.map_or_else(String::new, |test| {
                    let (low, high) = (test.estimate.low, test.estimate.high);
                    format!("{} to {}", ratio_text(low), ratio_text(high))
                }),
                answer_word(contender).to_owned(),
            ],
        );
        let said = remarks_of(comparison, row, place);
        remarks.extend(
            said.iter()
                .map(|remark| format!("{}: {remark}", label_of(row))),
        );
    }
    out.push('\n');
    for remark in &remarks {
        push_item(out, remark);
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
}

fn answer_word(contender: &fathom_model::compare::Contender) -> &'static str {
    use fathom_stats::compare::Answer;
    match contender
        .comparison
        .as_ref()
        .map(|compared| compared.answer)
    {
        Some(Answer::Faster) => "**faster**",
        Some(Answer::Slower) => "**slower**",
        Some(Answer::Same) => "same",
        Some(Answer::CannotTell { .. }) => "cannot tell",
        None => "no answer",
    }
}

fn push_systems(out: &mut String, view: &View<'_>) {
    if view.file.systems.is_empty() {
        return;
    }
    push_heading(out, 2, "Systems");
    for system in &view.file.systems {
        let mut text = system.identifier.clone();
        if let Some(target) = &system.target {
            let _ = write!(text, ": {}", target_text(target));
        }
        push_item(out, &text);
    }
    out.push('\n');
    if view.file.systems.len() > 1 && !view.conditions.differing.is_empty() {
        let mut head = vec!["Conditions that differ".to_owned()];
        head.extend(
            view.file
                .systems
                .iter()
                .map(|system| system.identifier.clone()),
        );
        push_head(out, &head, &[]);
        for row in &view.conditions.differing {
            let mut cells = vec![row.name.clone()];
            cells.extend(
                row.values
                    .iter()
                    .map(|value| value.clone().unwrap_or_else(|| "not known".to_owned())),
            );
            push_row(out, &cells);
        }
        out.push('\n');
    }
    let common: Vec<String> = view
        .conditions
        .common
        .iter()
        .map(|condition| format!("{}: {}", condition.name, condition.value))
        .collect();
    if !common.is_empty() {
        push_paragraph(out, &format!("{}.", common.join("; ")));
    }
}

fn push_block(out: &mut String, view: &View<'_>, block: &Block<'_>, said: &mut Said) {
    if !block.continues {
        push_heading(out, 2, &block.heading());
        push_paragraph(out, &block.record.description);
    }
    let direction = match block.record.metric.direction {
        Direction::HigherIsBetter => ", more is better",
        Direction::LowerIsBetter => ", fewer is better",
        Direction::Neutral => "",
    };
    let unit = format!("{}{direction}", block.record.metric.unit);
    let value = match block.record.metric.title.as_str() {
        "" => unit,
        title => format!("{title}, {unit}"),
    };
    let is_judged = block
        .rows
        .iter()
        .any(|row| row.entry.verdict.level > Level::Unjudged);
    let mut head = vec![
        "System".to_owned(),
        value,
        "95 %".to_owned(),
        "Trials".to_owned(),
    ];
    if is_judged {
        head.push("Verdict".to_owned());
    }
    push_head(out, &head, &[1, 2, 3]);
    for row in &block.rows {
        let mut cells = cells_of(view, block, row);
        if is_judged {
            cells.push(match row.entry.verdict.level {
                Level::Unjudged => String::new(),
                level => level.name().to_owned(),
            });
        }
        push_row(out, &cells);
    }
    out.push('\n');
    if block.stands {
        push_latency(out, view, block);
    }
    let sayings = said.news_of(view, block);
    for saying in &sayings {
        let text = match saying.kind.word() {
            "" => format!("{}: {}", saying.names, saying.text),
            word => format!("{}: {word}, {}", saying.names, saying.text),
        };
        push_item(out, &text);
    }
    if !sayings.is_empty() {
        out.push('\n');
    }
}

fn cells_of(view: &View<'_>, block: &Block<'_>, row: &Row<'_>) -> Vec<String> {
    let mut value = String::new();
    match row.value {
        Some(number) => push_value(&mut value, number, block.decimals),
        None if row.failure().is_some() => value.push_str("failed"),
        None => value = other_text(row, block),
    }
    let mut interval = String::new();
    if let Some(percent) = row
        .value
        .and_then(|value| row.certainty.half_width_percent(value))
    {
        interval.push_str("± ");
        push_percent(&mut interval, percent);
        interval.push_str(" %");
    }
    let trials = match row.certainty.trials {
        0 => String::new(),
        trials => trials.to_string(),
    };
    vec![view.row_name(row).into_owned(), value, interval, trials]
}

fn push_latency(out: &mut String, view: &View<'_>, block: &Block<'_>) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &block.rows {
        for (name, histogram) in row.histograms() {
            let mut cells = vec![format!("{} {name}", view.row_name(row))];
            cells.extend(
                PERCENTILES
                    .iter()
                    .map(|(_, percent)| percentile_text(&histogram, *percent)),
            );
            cells.push(count(histogram.count()));
            rows.push(cells);
        }
    }
    if rows.is_empty() {
        return;
    }
    let mut head = vec!["Latency".to_owned()];
    head.extend(PERCENTILES.iter().map(|(name, _)| (*name).to_owned()));
    head.push("operations".to_owned());
    push_head(out, &head, &[1, 2, 3, 4, 5, 6]);
    for cells in &rows {
        push_row(out, cells);
    }
    out.push('\n');
}

fn push_heading(out: &mut String, level: usize, text: &str) {
    out.extend(std::iter::repeat_n('#', level));
    out.push(' ');
    push_escaped(out, text);
    out.push_str("\n\n");
}

fn push_paragraph(out: &mut String, text: &str) {
    if !text.trim().is_empty() {
        push_escaped(out, text.trim());
        out.push_str("\n\n");
    }
}

fn push_item(out: &mut String, text: &str) {
    out.push_str("- ");
    push_escaped(out, text);
    out.push('\n');
}

/// The head of a table and the line below it; the named columns are numbers.
fn push_head(out: &mut String, cells: &[String], numbers: &[usize]) {
    push_row(out, cells);
    out.push('|');
    for place in 0..cells.len() {
        out.push_str(if numbers.contains(&place) {
            "---:|"
        } else {
            "---|"
        });
    }
    out.push('\n');
}

fn push_row(out: &mut String, cells: &[String]) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        // Answers are written here; everything else is somebody's text.
        match cell.as_str() {
            "**faster**" | "**slower**" => out.push_str(cell),
            text => push_escaped(out, text),
        }
        out.push_str(" |");
    }
    out.push('\n');
}

/// One line on which nothing is markup, not even HTML.
fn push_escaped(out: &mut String, text: &str) {
    for c in clean::line(text).chars() {
        if "\\`*_{}[]<>|#~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_others_is_markup() {
        let mut out = String::new();
        push_escaped(&mut out, "a|b *c* <img src=x> [x](y) `z`\n# d");
        assert_eq!(
            out,
            "a\\|b \\*c\\* \\<img src=x\\> \\[x\\](y) \\`z\\` \\# d"
        );
    }
}
