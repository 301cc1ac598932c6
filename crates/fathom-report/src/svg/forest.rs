//! Ratios with their intervals around 1.

use super::canvas::{About, Anchor, Canvas, Medium, WIDTH, fitted};
use crate::number::rounded;

const TOP: f64 = 22.0;
const EACH: f64 = 32.0;

/// A ratio to be drawn; above 1 is better.
pub(crate) struct Ratio {
    /// What it is of.
    pub name: String,
    /// Stands at the right: the numbers and the answer.
    pub side: String,
    /// The ratio; absent when there is none.
    pub value: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// `hb` better, `hw` worse, `u` neither.
    pub class: &'static str,
}

/// Draws ratios on a logarithmic axis around 1 with their intervals, and the margin within which
/// differences do not matter.
pub(crate) fn push_forest(
    out: &mut String,
    ratios: &[Ratio],
    margin: f64,
    about: (&str, &str, &str),
    medium: Medium,
) {
    let (id, title, description) = about;
    let reach = reach_of(ratios);
    let place = |ratio: f64| match ratio > 0.0 {
        true => (0.5 + ratio.ln() / (2.0 * reach)).clamp(0.0, 1.0),
        false => 0.0,
    };
    let bottom = TOP + EACH * ratios.len() as f64;
    let about = About {
        id,
        class: "forest",
        title,
        description,
        heading: title,
        subtitle: "right of 1 is better; the line is the 95 % interval",
        height: bottom + 20.0,
    };
    let mut canvas = Canvas::begin(out, medium, &about);
    canvas.text("m unit", 0.0, 12.0, Anchor::Start, "worse");
    canvas.text("m unit", 1.0, 12.0, Anchor::End, "better");
    canvas.bar(
        "z",
        place(1.0 / (1.0 + margin)),
        place(1.0 + margin),
        TOP - 2.0,
        bottom - TOP + 2.0,
    );
    for mark in marks_of(reach) {
        let at = place(mark);
        canvas.line("g", at, at, TOP - 2.0, bottom);
        let anchor = match at {
            at if at < 0.03 => Anchor::Start,
            at if at > 0.97 => Anchor::End,
            _ => Anchor::Middle,
        };
        let text = rounded(mark, 3);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        canvas.text("k", at, bottom + 14.0, anchor, text);
    }
    for (row, ratio) in ratios.iter().enumerate() {
        push_row(&mut canvas, ratio, TOP + EACH * row as f64, &place);
    }
    canvas.end();
}

fn push_row(canvas: &mut Canvas<'_>, ratio: &Ratio, y: f64, place: &dyn Fn(f64) -> f64) {
    let middle = y + 23.0;
    canvas.text(
        "n",
        0.0,
        y + 12.0,
        Anchor::Start,
        &fitted(&ratio.name, WIDTH * 0.55, 7.0),
    );
    canvas.text("m", 1.0, y + 12.0, Anchor::End, &ratio.side);
    let class = ratio.class;
    if let Some((low, high)) = ratio.interval {
        // At least visible, however sure.
        canvas.bar(
            class,
            place(low),
            place(high).max(place(low) + 0.002),
            middle - 1.5,
            3.0,
        );
    }
    if let Some(value) = ratio.value {
        canvas.dot(class, place(value), middle, 4.5);
    }
}

/// The largest distance from 1 on the logarithm that is drawn, 5 % to a factor of 8.
fn reach_of(ratios: &[Ratio]) -> f64 {
    let ends = ratios.iter().flat_map(|ratio| {
        let (low, high) = ratio.interval.unwrap_or((1.0, 1.0));
        [low, high, ratio.value.unwrap_or(1.0)]
    });
    let reach = ends
        .filter(|end| *end > 0.0)
        .map(|end| end.ln().abs())
        .fold(0.0, f64::max);
    (reach * 1.08).clamp(0.05, 8_f64.ln())
}

/// Round ratios within the reach, the same on both sides of 1.
fn marks_of(reach: f64) -> Vec<f64> {
    let steps: &[f64] = match reach {
        reach if reach < 0.07 => &[1.02, 1.04],
        reach if reach < 0.16 => &[1.05, 1.1],
        reach if reach < 0.4 => &[1.1, 1.25],
        reach if reach < 1.0 => &[1.25, 1.5, 2.0],
        _ => &[1.5, 2.0, 4.0],
    };
    let mut marks: Vec<f64> = steps.iter().rev().map(|step| 1.0 / step).collect();
    marks.push(1.0);
    marks.extend(steps);
    marks.retain(|mark| mark.ln().abs() <= reach);
    marks
}
