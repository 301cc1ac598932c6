//! Box plots of trials and of series.

use fathom_model::Display;

use super::canvas::{About, Anchor, Canvas, Medium, WIDTH, fitted, push_bar_class};
use super::lines::extent_texts;
use super::{Scale, ScaleKind, pts_box_axis};
use crate::number::push_value;
use crate::view::{Block, Row, View, extent};

const TOP: f64 = 22.0;
const EACH: f64 = 34.0;
/// Below this many values a box says nothing the dots don't.
const LEAST_FOR_BOX: usize = 5;
/// Most dots of a row.
const MOST_DOTS: usize = 200;

/// Whether any entry has enough trials for their spread to be worth a chart: five, or two that
/// Fathom itself measured. Fewer stand in the table.
pub(crate) fn has_boxes(block: &Block<'_>) -> bool {
    block.rows.iter().any(|row| {
        let least = if row.run.is_some() { 2 } else { LEAST_FOR_BOX };
        row.entry.samples.len() >= least
    })
}

/// The numbers behind a row: its trials, or the points of its line.
fn values_of(row: &Row<'_>) -> Vec<f64> {
    let line = row
        .entry
        .details
        .as_ref()
        .map(|details| details.line.as_slice())
        .unwrap_or_default();
    let figures = if line.is_empty() {
        row.entry.samples.as_slice()
    } else {
        line
    };
    figures.iter().map(fathom_model::Figure::value).collect()
}

/// Draws every trial as a dot, and from five on the quartiles as a box with the median and
/// whiskers to the outermost values; series points get the box only.
pub(crate) fn push_boxes(
    out: &mut String,
    view: &View<'_>,
    block: &Block<'_>,
    id: &str,
    medium: Medium,
) {
    let rows: Vec<(&Row<'_>, Vec<f64>)> = block
        .rows
        .iter()
        .map(|row| (row, values_of(row)))
        .filter(|(_, values)| values.len() >= 2)
        .collect();
    let all = extent(rows.iter().flat_map(|(_, values)| values.iter().copied()));
    let (low, high) = all.unwrap_or((0.0, 0.0));
    let scale = scale_of(low, high);
    let heading = block.heading();
    let title = format!("Every trial of {heading}, {}", block.unit_line());
    let mut description = format!("{} systems, values from ", rows.len());
    push_value(&mut description, low, block.decimals);
    description.push_str(" to ");
    push_value(&mut description, high, block.decimals);
    let bottom = TOP + EACH * rows.len() as f64;
    let about = About {
        id,
        class: "boxes",
        title: &title,
        description: &description,
        heading: &heading,
        subtitle: &block.record.description,
        height: bottom + 20.0,
    };
    let mut canvas = Canvas::begin(out, medium, &about);
    let unit = match scale.kind {
        ScaleKind::Logarithmic => format!("{}, every trial (logarithmic axis)", block.unit_line()),
        ScaleKind::Linear => format!("{}, every trial", block.unit_line()),
    };
    canvas.text("m unit", 0.0, 12.0, Anchor::Start, &unit);
    super::bars::push_marks(&mut canvas, &scale, 1.0, TOP - 2.0, bottom);
    for (place, (row, values)) in rows.iter().enumerate() {
        let y = TOP + EACH * place as f64;
        push_row(&mut canvas, view, block, row, values, &scale, y);
    }
    canvas.end();
}

/// From 0, as the original draws box plots, unless all values lie far from it or far apart.
fn scale_of(low: f64, high: f64) -> Scale {
    let linear_from_zero = Scale::linear(pts_box_axis(high));
    match (low, high) {
        (low, high) if low > 0.0 && high / low > 100.0 => Scale::logarithmic(low, high),
        (low, high) if low < 0.0 || (low > 0.0 && high / low < 1.5) => {
            Scale::linear_between(low, high)
        }
        _ => linear_from_zero,
    }
}

fn push_row(
    canvas: &mut Canvas<'_>,
    view: &View<'_>,
    block: &Block<'_>,
    row: &Row<'_>,
    values: &[f64],
    scale: &Scale,
    y: f64,
) {
    canvas.raw("<g class=\"row\" data-s=\"");
    crate::number::push_integer(canvas.out, u64::from(row.system));
    canvas.raw("\" transform=\"translate(0 ");
    canvas.number(y);
    canvas.raw(")\">");
    let side = extent_text(block, values);
    let name = view.row_name(row);
    canvas.text(
        "n",
        0.0,
        12.0,
        Anchor::Start,
        &fitted(&name, WIDTH - 220.0, 7.0),
    );
    canvas.text("m", 1.0, 12.0, Anchor::End, &side);
    let mut class = String::new();
    push_bar_class(&mut class, view.paint(row));
    if values.len() >= LEAST_FOR_BOX {
        push_box(canvas, values, scale, &class);
    }
    if values.len() <= MOST_DOTS && row.entry.details.as_ref().is_none_or(|d| d.line.is_empty()) {
        for value in values {
            canvas.dot(&class, scale.place(*value), 24.0, 2.6);
        }
    }
    canvas.raw("</g>");
}

/// Quartiles by linear interpolation; whiskers to the outermost values, since none is dropped.
fn push_box(canvas: &mut Canvas<'_>, values: &[f64], scale: &Scale, class: &str) {
    let Ok(sample) = fathom_stats::Sample::new(values.to_vec()) else {
        return;
    };
    let at = |fraction: f64| scale.place(sample.quantile(fraction));
    let (low, first, median, third, high) = (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0));
    canvas.line("x", low, high, 24.0, 24.0);
    canvas.bar(&format!("p2 {class}"), first, third, 17.0, 14.0);
    canvas.line("x", median, median, 16.0, 32.0);
    for end in [low, high] {
        canvas.line("x", end, end, 20.0, 28.0);
    }
}

/// `Min: 52 / Avg: 62.51 / Max: 80`, in the words of the original.
fn extent_text(block: &Block<'_>, values: &[f64]) -> String {
    if block.record.display == Display::Line {
        let [low, mean, high] = extent_texts(values).unwrap_or_default();
        return format!("Min: {low} / Avg: {mean} / Max: {high}");
    }
    let (low, high) = extent(values.iter().copied()).unwrap_or((0.0, 0.0));
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let mut text = String::new();
    for (word, value) in [("Min: ", low), (" / Avg: ", mean), (" / Max: ", high)] {
        text.push_str(word);
        push_value(&mut text, value, block.decimals);
    }
    text
}
