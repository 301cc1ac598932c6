//! The compact table of a run.

use fathom_model::{Level, ResultFile};
use fathom_stats::Histogram;

use super::ShowOptions;
use super::columns::{fit, push_left, push_repeated, push_right, push_wrapped, width};
use super::pts::bar_length;
use super::show::{push_absent, trim_line_ends};
use super::style::Tone;
use super::{bars, latency};
use crate::clean;
use crate::number::{push_significant, significant};
use crate::view::{Block, Row, View};

/// Widest column of case names.
const MOST_LABEL: usize = 32;
/// Width of a verdict.
const VERDICT: usize = 8;

/// One line a case: value, 95 % interval, bar, verdict, latency percentiles where they fit.
///
/// Each unit has its own scale, named below the table. Files with several systems get a table for
/// each.
pub fn summary(file: &ResultFile, options: ShowOptions) -> String {
    let view = View::of(file);
    let mut out = String::with_capacity(1024 + view.blocks.len() * 128);
    for (place, system) in view.systems.iter().enumerate() {
        if view.systems.len() > 1 {
            if place > 0 {
                out.push('\n');
            }
            let name = clean::line(system.name);
            options
                .style()
                .push_str(&mut out, Tone::Strong, &fit(&name, options.columns()));
            out.push('\n');
        }
        push_table(&mut out, &view, place as u32, options);
    }
    push_absent(&mut out, &view, options);
    trim_line_ends(&mut out);
    out
}

/// A line of the table.
struct Line<'v, 'a> {
    block: &'v Block<'a>,
    row: &'v Row<'a>,
    label: String,
    value: String,
    interval: String,
}

/// The table of one system.
pub(super) fn push_table(out: &mut String, view: &View<'_>, system: u32, options: ShowOptions) {
    let lines: Vec<Line<'_, '_>> = view
        .blocks
        .iter()
        .filter(|block| block.stands)
        .flat_map(|block| {
            let rows = block.rows.iter().filter(move |row| row.system == system);
            rows.map(move |row| Line::of(block, row))
        })
        .collect();
    if lines.is_empty() && view.absent.is_empty() {
        out.push_str("no results\n");
        return;
    }
    let widths = Widths::of(&lines, options.columns());
    for line in &lines {
        push_line(out, line, &lines, &widths, options);
    }
    push_scales(out, &lines, options);
}

impl<'v, 'a> Line<'v, 'a> {
    fn of(block: &'v Block<'a>, row: &'v Row<'a>) -> Self {
        let label = match (block.label(), row.repeat) {
            (Some(label), 0) => label.to_owned(),
            (Some(label), repeat) => format!("{label} #{}", repeat + 1),
            (None, _) => format!("{} {}", block.title(), block.record.description),
        };
        let mut value = String::new();
        if let Some(number) = row.value {
            push_significant(&mut value, number, 3);
            value.push(' ');
            value.push_str(&clean::line(&block.record.metric.unit));
        }
        let interval = row.value.and_then(|value| bars::interval_text(row, value));
        Self {
            block,
            row,
            label: clean::line(label.trim()),
            value,
            interval: interval.unwrap_or_default(),
        }
    }

    /// What bars it shares a scale with: same unit, same direction.
    fn shares_scale(&self, other: &Self) -> bool {
        let (mine, other) = (&self.block.record.metric, &other.block.record.metric);
        mine.unit == other.unit && mine.direction == other.direction
    }
}

struct Widths {
    label: usize,
    value: usize,
    interval: usize,
    bar: usize,
    verdict: usize,
    /// Left for percentiles or a reason.
    rest: usize,
}

impl Widths {
    fn of(lines: &[Line<'_, '_>], columns: usize) -> Self {
        let most = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let label = most(&mut lines.iter().map(|line| width(&line.label)));
        let label = label.min(MOST_LABEL.min(columns / 3));
        let value = most(&mut lines.iter().map(|line| width(&line.value))).min(columns / 4);
        let interval = most(&mut lines.iter().map(|line| width(&line.interval)));
        let is_judged = lines
            .iter()
            .any(|line| line.row.entry.verdict.level > Level::Unjudged);
        let verdict = if is_judged { VERDICT } else { 0 };
        let has_latency = lines.iter().any(|line| {
            line.row
                .run
                .is_some_and(|run| run.trials.iter().any(|trial| !trial.histograms.is_empty()))
        });
        // Two blanks after label and value, bar strokes with a blank before, a blank after.
        let fixed = label + value + interval + 7 + if verdict > 0 { verdict + 1 } else { 0 };
        let free = columns.saturating_sub(fixed);
        // Two or three percentiles, by room.
        let wanted = match (has_latency, columns) {
            (false, _) => 0,
            (true, ..100) => 25,
            (true, _) => 41,
        };
        let bar = free.saturating_sub(wanted).clamp(6, 34).min(free);
        let rest = free - bar;
        Self {
            label,
            value,
            interval,
            bar,
            verdict,
            rest,
        }
    }
}

fn push_line(
    out: &mut String,
    line: &Line<'_, '_>,
    lines: &[Line<'_, '_>],
    widths: &Widths,
    options: ShowOptions,
) {
    let style = options.style();
    push_left(out, &fit(&line.label, widths.label), widths.label);
    out.push_str("  ");
    let Some(value) = line.row.value else {
        let text = match line.row.failure() {
            Some(reason) => format!("failed: {}", clean::line(reason)),
            None => bars::other_text(line.row, line.block),
        };
        let start = widths.label + 2;
        style.push(out, Tone::Bad, |out| {
            push_wrapped(out, &text, start, start, options.columns());
        });
        out.push('\n');
        return;
    };
    push_right(out, &fit(&line.value, widths.value), widths.value);
    out.push_str("  ");
    push_left(out, &line.interval, widths.interval);
    out.push_str(" |");
    let peers = lines.iter().filter(|other| other.shares_scale(line));
    let largest = peers
        .filter_map(|other| other.row.value)
        .fold(0.0, f64::max);
    let length = bar_length(value, largest, widths.bar);
    push_repeated(out, '=', length);
    push_repeated(out, ' ', widths.bar - length);
    out.push('|');
    push_judgement(out, line, widths, options);
    out.push('\n');
}

/// Verdict, then percentiles or the reason; the reason on lines of its own when both are there.
fn push_judgement(out: &mut String, line: &Line<'_, '_>, widths: &Widths, options: ShowOptions) {
    let style = options.style();
    let level = line.row.entry.verdict.level;
    if widths.verdict > 0 {
        out.push(' ');
        style.push(out, Tone::of(level), |out| {
            push_left(out, level.name(), widths.verdict)
        });
    }
    let start = out.len();
    if let Some((name, histogram)) = telling_histogram(line.row) {
        out.push(' ');
        if let Some(name) = name {
            out.push_str(&clean::line(name));
            out.push(' ');
        }
        let used = name.map_or(0, |name| width(name) + 1);
        latency::push_short(out, &histogram, widths.rest.saturating_sub(1 + used));
    }
    let has_percentiles = out[start..].trim() != "";
    for (place, reason) in line.row.reasons().iter().enumerate() {
        let text = clean::line(&reason.short);
        if place == 0 && !has_percentiles && width(&text) < widths.rest {
            out.push(' ');
            style.push_str(out, Tone::of(level), &text);
        } else {
            out.push('\n');
            push_repeated(out, ' ', 2);
            out.push_str("^ ");
            style.push(out, Tone::of(level), |out| {
                push_wrapped(out, &text, 4, 4, options.columns());
            });
        }
    }
    if let Some((failed, all)) = line.row.failed_trials() {
        out.push_str("\n  ^ ");
        style.push_str(
            out,
            Tone::Warning,
            &format!("{failed} of {all} trials failed"),
        );
    }
}

/// The latency that says most of a case: the only one; else that of syncs, which the others wait
/// for; else the one of most operations. With its name when there are several. Service times, which
/// an open loop has beside its latency, do not speak for it.
fn telling_histogram<'a>(row: &Row<'a>) -> Option<(Option<&'a str>, Histogram)> {
    let mut histograms = row.histograms();
    if histograms.iter().any(|(name, _)| !is_service(name)) {
        histograms.retain(|(name, _)| !is_service(name));
    }
    if histograms.len() == 1 {
        return histograms.pop().map(|(_, histogram)| (None, histogram));
    }
    let weight = |(name, histogram): &(&str, Histogram)| (*name == "sync", histogram.count());
    let (name, histogram) = histograms.into_iter().max_by_key(weight)?;
    Some((Some(name), histogram))
}

fn is_service(name: &str) -> bool {
    name.ends_with("-service")
}

/// `full bars: 3431 MB/s, 398 IOPS`.
fn push_scales(out: &mut String, lines: &[Line<'_, '_>], options: ShowOptions) {
    let mut scales: Vec<(&Line<'_, '_>, f64)> = Vec::new();
    for line in lines {
        let Some(value) = line.row.value else {
            continue;
        };
        match scales
            .iter_mut()
            .find(|(first, _)| first.shares_scale(line))
        {
            Some((_, largest)) => *largest = largest.max(value),
            None => scales.push((line, value)),
        }
    }
    if scales.is_empty() {
        return;
    }
    let texts: Vec<String> = scales
        .iter()
        .map(|(line, value)| {
            let unit = clean::line(&line.block.record.metric.unit);
            format!("{} {unit}", significant(*value, 3))
                .trim()
                .to_owned()
        })
        .collect();
    let text = match texts.as_slice() {
        [one] => format!("a full bar is {one}"),
        several => format!(
            "full bars are {}; each unit has its own scale",
            several.join(", ")
        ),
    };
    options.style().push(out, Tone::Faint, |out| {
        push_wrapped(out, &text, 0, 2, options.columns());
    });
    out.push('\n');
}
