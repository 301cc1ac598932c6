//! The labels of a value axis follow from the largest value; that makes them a check on it.

/// Divisions of the axis.
const MARKS: f64 = 6.0;

/// What is drawn along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bars,
    Boxes,
}

/// The five labels of an axis, strung together: `60K120K180K240K300K`.
pub(super) fn labels(max: f64, kind: Kind) -> String {
    let step = step(max, kind);
    (1..=5)
        .map(|mark| label(f64::from(mark) * step, step))
        .collect()
}

fn step(max: f64, kind: Kind) -> f64 {
    if max < MARKS && kind == Kind::Bars {
        let axis = 1.35 * max;
        let decimals = if axis < 10.0 { 4 } else { 2 };
        return round_to(axis / MARKS, decimals);
    }
    let axis = match kind {
        Kind::Bars => (((1.285 * max).round() / MARKS).floor() + 1.0) * MARKS,
        Kind::Boxes => (((1.04 * max).round() / MARKS).ceil() + 1.0) * MARKS,
    };
    let digits = (axis.max(1.0).log10().floor() as i32) + 1;
    round_to((axis / MARKS).ceil(), 2 - digits)
}

/// Rounds half away from zero; negative decimals round to tens and hundreds.
fn round_to(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals.abs());
    match decimals < 0 {
        true => (value / scale).round() * scale,
        false => (value * scale).round() / scale,
    }
}

fn label(value: f64, step: f64) -> String {
    let thousands = |unit: f64| step > unit && (step / unit).fract() == 0.0;
    if thousands(1e6) {
        return format!("{}M", value / 1e6);
    }
    match thousands(1e3) {
        true => format!("{}K", value / 1e3),
        false => round_to(value, 4).to_string(),
    }
}
