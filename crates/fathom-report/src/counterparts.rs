//! The same work by other implementations, grouped for drawing.

use fathom_model::compare::{Comparison, Counted, Counterpart};

use crate::clean;
use crate::number::significant;
use crate::text::ratio_text;

/// What stands above every rendering of them.
pub(crate) const HEADING: &str = "the same work by another implementation";
/// Why they are not judged.
pub(crate) const REASON: &str = "Side by side and without a verdict: implementations differ, and so \
does what their figures hold.";

/// One piece of work: the baseline, then those that did the same.
pub(crate) struct Group {
    /// Work and unit: `RND4K read, MB/s`.
    pub title: String,
    /// The baseline first.
    pub lines: Vec<Line>,
    /// What else is not equal: `runtime 3s and 20s`.
    pub differences: Vec<String>,
}

/// A system's number.
pub(crate) struct Line {
    /// The arm.
    pub name: String,
    /// The number without its unit.
    pub value: String,
    /// To the baseline, `x 0.672`; empty for the baseline itself.
    pub ratio: String,
    /// Who measured, and what was converted.
    pub by: String,
}

/// The rows of a comparison, those together that share work and baseline.
pub(crate) fn groups(comparison: &Comparison) -> Vec<Group> {
    let rows = &comparison.counterparts;
    let belongs = |a: &Counterpart, b: &Counterpart| {
        (&a.label, &a.unit, &a.baseline, &a.differences)
            == (&b.label, &b.unit, &b.baseline, &b.differences)
    };
    rows.chunk_by(belongs)
        .map(|rows| group(comparison, rows))
        .collect()
}

fn group(comparison: &Comparison, rows: &[Counterpart]) -> Group {
    let name = |place: usize| {
        let arm = comparison.arms.get(place).map_or("", String::as_str);
        clean::line(arm)
    };
    let (title, differences) = rows.first().map_or_else(Default::default, |row| {
        let title = clean::line(&format!("{}, {}", row.label, row.unit));
        (title, row.differences.clone())
    });
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len() + 1);
    let baseline = rows.first().map(|row| line(name(0), &row.baseline, None));
    lines.extend(baseline);
    lines.extend(rows.iter().map(|row| {
        let place = row.contender_index + 1;
        line(name(place), &row.contender, row.ratio)
    }));
    Group {
        title,
        lines,
        differences,
    }
}

fn line(name: String, counted: &Counted, ratio: Option<f64>) -> Line {
    let by = match &counted.converted {
        None => counted.implementation.clone(),
        Some(how) => format!("{} ({how})", counted.implementation),
    };
    Line {
        name,
        value: match counted.cell.value {
            Some(value) => significant(value, 4),
            None if counted.cell.reason.is_empty() => "none".to_owned(),
            None => "failed".to_owned(),
        },
        ratio: ratio.map_or_else(String::new, |ratio| format!("x {}", ratio_text(ratio))),
        by: clean::line(&by),
    }
}
