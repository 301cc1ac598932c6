//! Latency percentiles.

use fathom_base::Nanos;
use fathom_stats::{Histogram, percentile_needs_samples};

use super::ShowOptions;
use super::columns::{fit, push_left, push_right, width};
use super::style::Tone;
use crate::clean;
use crate::number;
use crate::view::{Block, View};

/// The percentiles shown in tables.
pub(crate) const PERCENTILES: [(&str, f64); 5] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("p99.99", 99.99),
];

/// A percentile for people, `n/a` when there were too few operations for it.
pub(crate) fn percentile_text(histogram: &Histogram, percent: f64) -> String {
    let enough = percentile_needs_samples(percent).is_some_and(|n| histogram.count() >= n);
    let value = histogram.percentile(percent).filter(|_| enough);
    value.map_or_else(|| "n/a".to_owned(), |ns| Nanos::new(ns).rough())
}

/// `p50 71.2 us  p99 98.0 us  p99.9 310 us`, for the end of a line.
pub(super) fn push_short(out: &mut String, histogram: &Histogram, columns: usize) {
    let mut used = 0;
    for (name, percent) in [PERCENTILES[0], PERCENTILES[2], PERCENTILES[3]] {
        let text = percentile_text(histogram, percent);
        let needed = width(name) + 1 + width(&text) + if used > 0 { 2 } else { 0 };
        if text == "n/a" || used + needed > columns {
            return;
        }
        if used > 0 {
            out.push_str("  ");
        }
        out.push_str(name);
        out.push(' ');
        out.push_str(&text);
        used += needed;
    }
}

/// A table of percentiles of all rows of a block that have histograms.
pub(super) fn push_table(
    out: &mut String,
    view: &View<'_>,
    block: &Block<'_>,
    options: ShowOptions,
) {
    let mut lines: Vec<(String, Histogram)> = Vec::new();
    for row in &block.rows {
        for (name, histogram) in row.histograms() {
            let label = match view.systems.len() {
                1 => name.to_owned(),
                _ => format!("{} {name}", view.row_name(row)),
            };
            lines.push((clean::line(&label), histogram));
        }
    }
    if lines.is_empty() {
        return;
    }
    let heads: Vec<&str> = PERCENTILES
        .iter()
        .map(|(name, _)| *name)
        .chain(["max", "ops"])
        .collect();
    let cells: Vec<Vec<String>> = lines
        .iter()
        .map(|(_, histogram)| cells_of(histogram))
        .collect();
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            let most = cells
                .iter()
                .map(|cells| width(&cells[column]))
                .max()
                .unwrap_or(0);
            most.max(width(heads[column])) + 2
        })
        .collect();
    let shown = columns_that_fit(&widths, options.columns());
    let taken: usize = shown.iter().map(|column| widths[*column]).sum();
    let label_width = lines
        .iter()
        .map(|(label, _)| width(label))
        .max()
        .unwrap_or(0);
    let label_width = label_width
        .max("latency".len())
        .min(options.columns() - taken);
    options.style().push(out, Tone::Faint, |out| {
        push_left(out, "latency", label_width);
        for column in &shown {
            push_right(out, heads[*column], widths[*column]);
        }
    });
    out.push('\n');
    for ((label, _), cells) in lines.iter().zip(&cells) {
        push_left(out, &fit(label, label_width), label_width);
        for column in &shown {
            push_right(out, &cells[*column], widths[*column]);
        }
        out.push('\n');
    }
}

fn cells_of(histogram: &Histogram) -> Vec<String> {
    let max = Nanos::new(histogram.max().unwrap_or(0)).rough();
    let percentiles = PERCENTILES
        .iter()
        .map(|(_, percent)| percentile_text(histogram, *percent));
    percentiles
        .chain([max, number::count(histogram.count())])
        .collect()
}

/// Which columns of figures leave 16 columns for names: all, else without the ones that say least.
fn columns_that_fit(widths: &[usize], columns: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..widths.len()).collect();
    for dropped in [1, 4, 6, 3] {
        let taken: usize = shown.iter().map(|column| widths[*column]).sum();
        if taken + 16 <= columns {
            break;
        }
        shown.retain(|column| *column != dropped);
    }
    shown
}
