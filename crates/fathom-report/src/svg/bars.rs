//! Bars with 95 % intervals.

use std::ops::Range;

use fathom_model::Level;

use super::canvas::{About, Anchor, Canvas, Medium, WIDTH, fitted, push_bar_class};
use super::{Scale, ScaleKind};
use crate::clean;
use crate::grouping::Paint;
use crate::number::{push_percent, push_rounded, push_value};
use crate::view::{Block, Row, View};

/// Share of the width that the axis takes; values stand right of it.
const PLOT: f64 = 0.86;
/// Room above the bars for the unit.
const TOP: f64 = 22.0;
/// Room below the bars for the marks.
const BOTTOM: f64 = 20.0;

/// Room for names left of the standard error.
const NAME_WIDTH: f64 = WIDTH - 150.0;

/// Room between groups.
const GROUP_GAP: f64 = 12.0;

/// Heights by number of bars, as the original has three sizes.
struct Rows {
    each: f64,
    bar: f64,
}

impl Rows {
    fn of(count: usize) -> Self {
        match count {
            0..10 => Self {
                each: 38.0,
                bar: 16.0,
            },
            10..20 => Self {
                each: 34.0,
                bar: 13.0,
            },
            _ => Self {
                each: 29.0,
                bar: 10.0,
            },
        }
    }
}

/// Height of a chart of so many bars, without margins and heading.
#[cfg(feature = "export")]
pub(crate) fn bars_height(rows: usize) -> f64 {
    TOP + Rows::of(rows).each * rows as f64 + BOTTOM
}

/// Draws the bars of a block: each system's name, its bar from 0 with the 95 % interval as a
/// frame around its end, value, standard error and number of trials, and the verdict where it is
/// not valid; only the rows `shown`, which must be rows of the block. Failed systems keep their row with the reason. On a logarithmic axis a dot marks
/// the value, because a length would mean nothing.
pub(crate) fn push_bars(
    out: &mut String,
    view: &View<'_>,
    block: &Block<'_>,
    id: &str,
    shown: Range<usize>,
    medium: Medium,
) {
    let description = describe_bars(view, block);
    let rows = Rows::of(shown.len());
    let scale = Scale::for_bars(smallest_above_zero(block), block.largest);
    let unit = block.unit_line();
    let unit = match scale.kind {
        ScaleKind::Logarithmic => format!("{unit} (logarithmic axis)"),
        ScaleKind::Linear => unit,
    };
    let heading = block.heading();
    let title = match block.record.description.as_str() {
        "" => format!("{heading}: {unit}"),
        description => format!("{heading}, {description}: {unit}"),
    };
    let places = places_of(view, &block.rows[shown.clone()], rows.each);
    let bottom = places.last().map_or(TOP, |last| last + rows.each);
    let about = About {
        id,
        class: "bars",
        title: &title,
        description: &description,
        heading: &heading,
        subtitle: &block.record.description,
        height: bottom + BOTTOM,
    };
    let mut canvas = Canvas::begin(out, medium, &about);
    canvas.text("m unit", 0.0, 12.0, Anchor::Start, &clean::line(&unit));
    push_marks(&mut canvas, &scale, PLOT, TOP - 2.0, bottom);
    for (row, y) in block.rows[shown.clone()].iter().zip(places) {
        push_row(&mut canvas, view, block, row, &scale, &rows, y);
    }
    canvas.end();
}

/// Where each row begins: one below the other, with room between groups.
fn places_of(view: &View<'_>, shown: &[Row<'_>], each: f64) -> Vec<f64> {
    let mut y = TOP;
    let mut last_group = None;
    let group_of = |row: &Row<'_>| view.systems[row.system as usize].group;
    shown
        .iter()
        .map(|row| {
            let group = group_of(row);
            if last_group.is_some_and(|last| last != group) {
                y += GROUP_GAP;
            }
            last_group = Some(group);
            let place = y;
            y += each;
            place
        })
        .collect()
}

/// Lines and texts of the marks of an axis across, which takes the share `plot` of the width.
pub(super) fn push_marks(canvas: &mut Canvas<'_>, scale: &Scale, plot: f64, top: f64, bottom: f64) {
    canvas.raw("<g class=\"axis\">");
    for mark in &scale.marks {
        let place = mark.place * plot;
        canvas.line("g", place, place, top, bottom);
        let anchor = match place {
            place if place > 0.97 => Anchor::End,
            place if place < 0.03 => Anchor::Start,
            _ => Anchor::Middle,
        };
        canvas.text("k", place, bottom + 14.0, anchor, &mark.text);
    }
    canvas.raw("</g>");
}

fn smallest_above_zero(block: &Block<'_>) -> f64 {
    // A value of 0 or less has no place on a logarithmic axis.
    if block.smallest > 0.0 {
        block.smallest
    } else {
        0.0
    }
}

fn push_row(
    canvas: &mut Canvas<'_>,
    view: &View<'_>,
    block: &Block<'_>,
    row: &Row<'_>,
    scale: &Scale,
    rows: &Rows,
    y: f64,
) {
    canvas.raw("<g class=\"row\" data-s=\"");
    crate::number::push_integer(canvas.out, u64::from(row.system));
    if let Some(value) = row.value {
        canvas.raw("\" data-v=\"");
        push_datum(canvas.out, value);
        if let Some(half) = row.certainty.half_width {
            canvas.raw("\" data-e=\"");
            push_datum(canvas.out, half);
        }
    }
    canvas.raw("\" transform=\"translate(0 ");
    canvas.number(y);
    canvas.raw(")\">");
    let side = side_text(block, row);
    let name = view.row_name(row);
    canvas.text(
        "n",
        0.0,
        12.0,
        Anchor::Start,
        &fitted(&name, NAME_WIDTH, 7.0),
    );
    if !side.is_empty() {
        let class = match row.entry.verdict.level {
            Level::Suspect => "m v2t",
            Level::Invalid => "m v3t",
            _ => "m",
        };
        canvas.text(class, 1.0, 12.0, Anchor::End, &side);
    }
    match row.value {
        Some(value) => push_bar(canvas, block, row, (value, view.paint(row)), scale, rows),
        None => push_failure(canvas, block, row, rows),
    }
    canvas.raw("</g>");
}

/// A number for the script, in few digits.
fn push_datum(out: &mut String, value: f64) {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-3..1e9).contains(&magnitude) {
        let start = out.len();
        push_rounded(out, value, crate::number::decimals_for(value, 6));
        if out[start..].contains('.') {
            let kept = out[start..]
                .trim_end_matches('0')
                .trim_end_matches('.')
                .len();
            out.truncate(start + kept);
        }
    } else {
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(out, format_args!("{value:.6e}"));
    }
}

fn push_bar(
    canvas: &mut Canvas<'_>,
    block: &Block<'_>,
    row: &Row<'_>,
    (value, paint): (f64, Paint),
    scale: &Scale,
    rows: &Rows,
) {
    let (top, middle) = (17.0, 17.0 + rows.bar / 2.0);
    let end = scale.place(value) * PLOT;
    let mut class = String::with_capacity(16);
    class.push_str("b ");
    push_bar_class(&mut class, paint);
    if row.entry.verdict.level == Level::Invalid {
        class.push_str(" v3");
    }
    match scale.kind {
        ScaleKind::Linear => canvas.bar(&class, 0.0, end, top, rows.bar),
        ScaleKind::Logarithmic => {
            canvas.bar(&class, 0.0, end, middle - 1.0, 2.0);
            canvas.dot(&class, end, middle, (rows.bar / 2.0 - 1.0).min(6.0));
        }
    }
    let mut text_at = end;
    if let Some((low, high)) = row.certainty.interval(value) {
        let (from, to) = (scale.place(low) * PLOT, scale.place(high) * PLOT);
        canvas.bar("w", from, to, middle - rows.bar / 4.0, rows.bar / 2.0);
        text_at = end.max(to);
    }
    let mut text = String::with_capacity(12);
    push_value(&mut text, value, block.decimals);
    // A dot is wider than the end of a bar.
    let beside = match scale.kind {
        ScaleKind::Linear => 6.0,
        ScaleKind::Logarithmic => 10.0,
    };
    canvas.text_beside("n val", text_at, beside, middle + 4.0, Anchor::Start, &text);
}

fn push_failure(canvas: &mut Canvas<'_>, block: &Block<'_>, row: &Row<'_>, rows: &Rows) {
    let text = match row.failure() {
        Some(reason) => format!("failed: {reason}"),
        None => crate::text::other_text(row, block),
    };
    let y = 17.0 + rows.bar / 2.0 + 4.0;
    canvas.text("f", 0.0, y, Anchor::Start, &fitted(&text, WIDTH, 7.0));
}

/// `SE +/- 0.94, N = 3`, with the verdict where it is not valid.
fn side_text(block: &Block<'_>, row: &Row<'_>) -> String {
    let mut text = String::new();
    if row.value.is_none() {
        return text;
    }
    if let Some(error) = row.certainty.standard_error {
        text.push_str("SE +/- ");
        push_value(&mut text, error, block.decimals.max(2));
        text.push_str(", N = ");
        crate::number::push_integer(&mut text, u64::from(row.certainty.trials));
    } else if row.certainty.trials > 0 {
        text.push_str("N = ");
        crate::number::push_integer(&mut text, u64::from(row.certainty.trials));
    }
    let level = row.entry.verdict.level;
    if level >= Level::Suspect {
        if !text.is_empty() {
            text.push_str(" · ");
        }
        text.push_str(level.name());
    }
    text
}

/// What a chart of bars says in a sentence: who leads, outside the uncertainty or not.
fn describe_bars(view: &View<'_>, block: &Block<'_>) -> String {
    let mut text = String::new();
    let count = block.rows.iter().filter(|row| row.value.is_some()).count();
    let failed = block.rows.len() - count;
    match block.leaders().as_slice() {
        [] if count == 1 => text.push_str("One value"),
        [] => text.push_str("No order is stated"),
        [only] => {
            text.push_str(&view.row_name(&block.rows[*only]));
            text.push_str(" is best, outside the uncertainty");
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .take(4)
                .map(|place| view.row_name(&block.rows[*place]).into_owned())
                .collect();
            text.push_str(&names.join(", "));
            if several.len() > 4 {
                text.push_str(" and others");
            }
            text.push_str(" cannot be told apart at the top");
        }
    }
    let values = block.rows.iter().filter_map(|row| row.value);
    if let Some((low, high)) = crate::view::extent(values) {
        text.push_str("; values from ");
        push_value(&mut text, low, block.decimals);
        text.push_str(" to ");
        push_value(&mut text, high, block.decimals);
        text.push(' ');
        text.push_str(&block.record.metric.unit);
    }
    let widest = block
        .rows
        .iter()
        .filter_map(|row| row.certainty.half_width_percent(row.value?))
        .fold(None, |most: Option<f64>, percent| {
            Some(most.map_or(percent, |m| m.max(percent)))
        });
    if let Some(widest) = widest {
        text.push_str("; 95 % intervals up to +-");
        push_percent(&mut text, widest);
        text.push_str(" %");
    }
    if failed > 0 {
        text.push_str(&format!("; {failed} failed"));
    }
    text.push('.');
    clean::line(&text)
}
