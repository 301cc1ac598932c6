//! Bars with their certainty.

use fathom_model::{Direction, Display, Level};

use super::ShowOptions;
use super::columns::{fit, push_left, push_repeated, push_right, push_wrapped, width};
use super::pts::bar_length;
use super::style::{Style, Tone};
use crate::clean;
use crate::number::{push_percent, push_value, significant};
use crate::view::{Block, Row, View, extent};

/// Fewest columns a bar gets.
const LEAST_BAR: usize = 8;
/// Columns names get before bars grow, when they need them.
const LEAST_NAME: usize = 8;

/// Widths of the columns; 0 where nothing is known to fill one.
#[derive(Default)]
struct Layout {
    name: usize,
    value: usize,
    bar: usize,
    interval: usize,
    trials: usize,
    verdict: usize,
}

/// Title and description of a block.
pub(super) fn push_title(out: &mut String, block: &Block<'_>, options: ShowOptions) {
    let columns = options.columns();
    let title = clean::line(&block.heading());
    options.style().push(out, Tone::Strong, |out| {
        push_wrapped(out, &title, 0, 0, columns)
    });
    out.push('\n');
    let description = clean::line(&block.record.description);
    if !description.trim().is_empty() {
        push_wrapped(out, &description, 0, 2, columns);
        out.push('\n');
    }
}

/// Unit line and rows of a block.
pub(super) fn push_rows(
    out: &mut String,
    view: &View<'_>,
    block: &Block<'_>,
    options: ShowOptions,
) {
    let style = options.style();
    let names: Vec<String> = block
        .rows
        .iter()
        .map(|row| clean::line(&view.row_name(row)))
        .collect();
    let layout = Layout::of(block, &names, options.columns());
    push_unit_line(out, block, &layout, options);
    let mut value = String::new();
    for (row, name) in block.rows.iter().zip(&names) {
        push_name(out, name, layout.name);
        if let Some(number) = row.value {
            value.clear();
            push_value(&mut value, number, block.decimals);
            push_bar(out, &value, number, block, &layout);
            push_certainty(out, row, number, &layout, style);
            out.push('\n');
        } else {
            push_other(out, row, block, &layout, options);
        }
        push_reasons(out, row, options);
    }
    push_missing(out, view, block, options);
}

/// The metrics of a single system as a list: name, value, certainty.
pub(super) fn push_facts(out: &mut String, blocks: &[Block<'_>], options: ShowOptions) {
    let style = options.style();
    let name_of = |block: &Block<'_>| clean::line(block.metric_name());
    let names = blocks
        .iter()
        .map(|block| width(&name_of(block)))
        .max()
        .unwrap_or(0);
    let names = names.min(options.columns() / 3);
    for block in blocks {
        for row in &block.rows {
            out.push_str("  ");
            push_left(out, &fit(&name_of(block), names), names);
            out.push_str("  ");
            let Some(value) = row.value else {
                let layout = Layout {
                    name: names + 1,
                    ..Layout::default()
                };
                push_other(out, row, block, &layout, options);
                continue;
            };
            let number = significant(value, 4);
            let unit = clean::line(&block.record.metric.unit);
            push_left(out, &format!("{number} {unit}"), 16);
            push_left(out, &interval_text(row, value).unwrap_or_default(), 9);
            if row.certainty.trials > 0 {
                push_left(out, &format!("{}x", row.certainty.trials), 6);
            }
            let level = row.entry.verdict.level;
            if level > Level::Unjudged {
                style.push_str(out, Tone::of(level), level.name());
            }
            out.push('\n');
        }
    }
    if let Some(row) = blocks.first().and_then(|block| block.rows.first()) {
        push_reasons(out, row, options);
    }
}

impl Layout {
    fn of(block: &Block<'_>, names: &[String], columns: usize) -> Self {
        let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let mut text = String::new();
        let values = block.rows.iter().filter_map(|row| row.value);
        let value = values
            .map(|value| {
                text.clear();
                push_value(&mut text, value, block.decimals);
                text.len()
            })
            .max()
            .unwrap_or(0);
        let has = |known: fn(&Row<'_>) -> bool| block.rows.iter().any(known);
        let interval = if has(|row| row.certainty.half_width.is_some()) {
            9
        } else {
            0
        };
        let trials = if has(|row| row.certainty.trials > 0) {
            8
        } else {
            0
        };
        let verdict = if has(|row| row.entry.verdict.level > Level::Unjudged) {
            9
        } else {
            0
        };
        let mut layout = Self {
            name: 0,
            value,
            bar: 0,
            interval,
            trials,
            verdict,
        };
        let room = |layout: &Self| {
            // Name, blank, dot, blank, value, blank, bar stroke.
            let certainty = layout.interval + layout.trials + layout.verdict;
            columns.saturating_sub(value + certainty + 5)
        };
        // On narrow terminals the bars come first, then the interval.
        if room(&layout) < LEAST_NAME + LEAST_BAR {
            layout.trials = 0;
        }
        if room(&layout) < LEAST_NAME + LEAST_BAR {
            layout.verdict = 0;
        }
        let rest = room(&layout);
        layout.name = longest.min(rest.saturating_sub(LEAST_BAR).max(LEAST_NAME.min(rest)));
        layout.bar = rest.saturating_sub(layout.name);
        layout
    }

    fn certainty_start(&self) -> usize {
        self.name + 3 + self.value + 2 + self.bar
    }
}

fn push_unit_line(out: &mut String, block: &Block<'_>, layout: &Layout, options: ShowOptions) {
    let arrow = match block.record.metric.direction {
        Direction::HigherIsBetter => " > Higher Is Better",
        Direction::LowerIsBetter => " < Lower Is Better",
        Direction::Neutral => "",
    };
    let metric = &block.record.metric;
    let title = if metric.title.is_empty() { "" } else { ", " };
    let unit = clean::line(&format!("{}{title}{}{arrow}", metric.title, metric.unit));
    let unit = unit.trim_start_matches(", ");
    let heads = layout.interval + layout.trials + layout.verdict;
    if heads == 0 {
        if !unit.is_empty() {
            out.push_str(&fit(unit, options.columns()));
            out.push('\n');
        }
        return;
    }
    push_left(
        out,
        &fit(unit, layout.certainty_start()),
        layout.certainty_start(),
    );
    options.style().push(out, Tone::Faint, |out| {
        for (columns, head) in [(layout.interval, "95 %"), (layout.trials, "trials")] {
            if columns > 0 {
                push_right(out, head, columns);
            }
        }
        if layout.verdict > 0 {
            out.push_str("  verdict");
        }
    });
    out.push('\n');
}

/// `Disk A ........... `, in the columns a name has.
fn push_name(out: &mut String, name: &str, columns: usize) {
    let name = fit(name, columns);
    out.push_str(&name);
    out.push(' ');
    push_repeated(out, '.', (columns + 1).saturating_sub(width(&name)));
    out.push(' ');
}

fn push_bar(out: &mut String, text: &str, value: f64, block: &Block<'_>, layout: &Layout) {
    push_left(out, text, layout.value + 1);
    out.push('|');
    let length = bar_length(value, block.largest, layout.bar);
    push_repeated(out, '=', length);
    if layout.interval + layout.trials + layout.verdict > 0 {
        push_repeated(out, ' ', layout.bar - length);
    }
}

fn push_certainty(out: &mut String, row: &Row<'_>, value: f64, layout: &Layout, style: Style) {
    if layout.interval > 0 {
        let text = interval_text(row, value).unwrap_or_default();
        push_right(out, &text, layout.interval);
    }
    if layout.trials > 0 {
        let text = match row.certainty.trials {
            0 => String::new(),
            trials => format!("{trials}x"),
        };
        push_right(out, &text, layout.trials);
    }
    if layout.verdict > 0 {
        let level = row.entry.verdict.level;
        out.push_str("  ");
        style.push_str(out, Tone::of(level), level.name());
    }
}

/// `+-0.4 %`.
pub(super) fn interval_text(row: &Row<'_>, value: f64) -> Option<String> {
    let percent = row.certainty.half_width_percent(value)?;
    let mut text = "+-".to_owned();
    push_percent(&mut text, percent);
    text.push_str(" %");
    Some(text)
}

/// What is no bar: a word, the extent of a line, or the reason why there is nothing.
fn push_other(
    out: &mut String,
    row: &Row<'_>,
    block: &Block<'_>,
    layout: &Layout,
    options: ShowOptions,
) {
    let start = layout.name + 3;
    let columns = options.columns();
    if let Some(reason) = row.failure() {
        let has_verdict = row.run.is_some_and(|run| run.unavailable.is_some());
        let what = if has_verdict {
            "not available: "
        } else {
            "failed: "
        };
        options.style().push(out, Tone::Bad, |out| {
            push_wrapped(
                out,
                &format!("{what}{}", clean::line(reason)),
                start,
                start,
                columns,
            );
        });
        out.push('\n');
        return;
    }
    let text = other_text(row, block);
    push_wrapped(out, &text, start, start, columns);
    out.push('\n');
}

/// The text of an entry that is no single number.
pub(crate) fn other_text(row: &Row<'_>, block: &Block<'_>) -> String {
    let Some(details) = row.entry.details.as_deref() else {
        return String::new();
    };
    if let Some((low, high)) = extent(details.line.iter().map(|figure| figure.value())) {
        let count = details.line.len();
        let mean = details
            .line
            .iter()
            .map(|figure| figure.value())
            .sum::<f64>()
            / count as f64;
        let decimals = crate::number::decimals_for(high.abs().max(low.abs()), 3);
        let [low, mean, high] =
            [low, mean, high].map(|value| crate::number::rounded(value, decimals));
        return format!("min {low}  avg {mean}  max {high}  ({count} points)");
    }
    let text = details.text.as_deref().unwrap_or_default();
    match block.record.display {
        Display::Image => format!("a picture of {} bytes, base64", text.len()),
        _ => clean::line(text),
    }
}

/// Why a number is suspect or invalid, on lines below it.
fn push_reasons(out: &mut String, row: &Row<'_>, options: ShowOptions) {
    let level = row.entry.verdict.level;
    let columns = options.columns();
    if row.value.is_some() {
        for reason in row.reasons() {
            out.push_str("  ^ ");
            options.style().push(out, Tone::of(level), |out| {
                push_wrapped(out, &clean::line(&reason.short), 4, 4, columns);
            });
            out.push('\n');
        }
    }
    let failed = row.failed_trials();
    let error = row.entry.error.as_deref().filter(|_| row.value.is_some());
    if failed.is_none() && error.is_none() {
        return;
    }
    let counts = failed.map(|(failed, all)| format!("{failed} of {all} trials failed"));
    let parts: Vec<String> = counts.into_iter().chain(error.map(clean::line)).collect();
    out.push_str("  ^ ");
    options.style().push(out, Tone::Warning, |out| {
        push_wrapped(out, &parts.join(": "), 4, 4, columns);
    });
    out.push('\n');
}

fn push_missing(out: &mut String, view: &View<'_>, block: &Block<'_>, options: ShowOptions) {
    if block.missing.is_empty() {
        return;
    }
    let names: Vec<&str> = block
        .missing
        .iter()
        .map(|place| view.systems[*place as usize].name)
        .collect();
    let text = clean::line(&names.join(", "));
    options.style().push(out, Tone::Faint, |out| {
        push_wrapped(
            out,
            &format!("not measured: {text}"),
            0,
            2,
            options.columns(),
        );
    });
    out.push('\n');
}
