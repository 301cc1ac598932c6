//! Axes of values: linear as the Phoronix Test Suite chooses them, and logarithmic.

use crate::number::{decimals_for, php_round, push_rounded};

/// Beyond this ratio of largest to smallest value an axis is logarithmic.
const LINEAR_RANGE: f64 = 100.0;
/// Parts of a linear axis; the last mark is not labelled.
const MARKS: f64 = 6.0;

/// A linear axis: six steps from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PtsAxis {
    /// The value where the axis ends.
    pub end: f64,
    /// The distance of marks.
    pub step: f64,
}

impl PtsAxis {
    /// The texts of marks 1 to 5: `600`, `60K`, `1.5M`.
    pub fn labels(&self) -> [String; 5] {
        std::array::from_fn(|mark| mark_text((mark + 1) as f64 * self.step, self.step))
    }
}

/// The axis of a bar graph whose largest value is `max`, as the Phoronix Test Suite draws it.
///
/// ```
/// let axis = fathom_report::svg::pts_axis(296_256.0);
/// assert_eq!(axis.labels(), ["60K", "120K", "180K", "240K", "300K"]);
/// ```
pub fn pts_axis(max: f64) -> PtsAxis {
    if !(max > 0.0 && max.is_finite()) {
        return PtsAxis {
            end: MARKS,
            step: 1.0,
        };
    }
    if max < 6.0 {
        let step = 1.35 * max / MARKS;
        // The original's four decimals lose values below about a thousandth.
        let step = match step < 1e-3 {
            true => format!("{step:.2e}").parse().unwrap_or(step),
            false => php_round(step, 4),
        };
        return PtsAxis {
            end: step * MARKS,
            step,
        };
    }
    let rough = (php_round(1.285 * max, 0) / MARKS).floor() + 1.0;
    of_rough_end(rough * MARKS)
}

/// The axis of a box plot whose largest value is `max`.
pub fn pts_box_axis(max: f64) -> PtsAxis {
    if !(max >= 6.0 && max.is_finite()) {
        return pts_axis(max);
    }
    let rough = (php_round(1.04 * max, 0) / MARKS).ceil() + 1.0;
    of_rough_end(rough * MARKS)
}

/// Rounds the step to its two leading digits.
fn of_rough_end(end: f64) -> PtsAxis {
    let digits = 2 - (end.log10().floor() as i32 + 1);
    let step = php_round((end / MARKS).ceil(), digits);
    PtsAxis {
        end: step * MARKS,
        step,
    }
}

fn mark_text(value: f64, step: f64) -> String {
    let mut text = String::new();
    let is_whole = |unit: f64| step > unit && (step / unit).fract() == 0.0;
    if is_whole(1e3) && value >= 1e6 {
        push_trimmed(&mut text, value / 1e6);
        text.push('M');
    } else if is_whole(1e3) {
        push_trimmed(&mut text, value / 1e3);
        text.push('K');
    } else {
        push_trimmed(&mut text, value);
    }
    text
}

/// A number without needless zeros.
fn push_trimmed(out: &mut String, value: f64) {
    if value >= 1e12 || (value != 0.0 && value < 1e-4) {
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(out, format_args!("{value:.2e}"));
        return;
    }
    let start = out.len();
    push_rounded(out, value, decimals_for(value, 4).max(4));
    let digits = out[start..]
        .trim_end_matches('0')
        .trim_end_matches('.')
        .len();
    out.truncate(start + digits.max(1));
}

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaleKind {
    /// Lengths are proportional.
    Linear,
    /// Equal ratios are equal lengths.
    Logarithmic,
}

/// A scale of values over 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Linear or logarithmic.
    pub kind: ScaleKind,
    low: f64,
    high: f64,
    /// The marks.
    pub marks: Vec<Mark>,
}

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// 0 to 1.
    pub place: f64,
    /// The value there.
    pub value: f64,
    /// As written.
    pub text: String,
}

impl Scale {
    /// For bars: logarithmic when the values span more than a factor of 100.
    pub fn for_bars(smallest: f64, largest: f64) -> Self {
        match smallest > 0.0 && largest / smallest > LINEAR_RANGE {
            true => Self::logarithmic(smallest, largest),
            false => Self::linear(pts_axis(largest)),
        }
    }

    /// A linear scale.
    pub fn linear(axis: PtsAxis) -> Self {
        let labels = axis.labels().into_iter().enumerate();
        Self {
            kind: ScaleKind::Linear,
            low: 0.0,
            high: axis.end,
            marks: labels
                .map(|(mark, text)| Mark {
                    place: (mark + 1) as f64 / MARKS,
                    value: (mark + 1) as f64 * axis.step,
                    text,
                })
                .collect(),
        }
    }

    /// From a value below `low` to one above `high` that read well, linear, with few marks.
    pub fn linear_between(low: f64, high: f64) -> Self {
        let span = (high - low).max(high.abs() * 1e-3).max(1e-9);
        let power = 10_f64.powf((span / 4.0).log10().floor());
        let wanted = span / 4.0 / power;
        let step = power
            * if wanted > 5.0 {
                10.0
            } else if wanted > 2.0 {
                5.0
            } else {
                2.0
            };
        let first = (low / step).floor();
        let count = ((high / step).ceil() - first).clamp(1.0, 12.0);
        let (start, end) = (first * step, (first + count) * step);
        let marks = (0..=count as u32).map(|mark| {
            let value = (first + f64::from(mark)) * step;
            let place = f64::from(mark) / count;
            Mark {
                place,
                value,
                text: mark_text_between(value, step),
            }
        });
        Self {
            kind: ScaleKind::Linear,
            low: start,
            high: end,
            marks: marks.collect(),
        }
    }

    /// From the power of ten below `low` to the one above `high`; both are above 0.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let (first, last) = (low.log10().floor(), high.log10().ceil());
        let last = if last > first { last } else { first + 1.0 };
        let decades = (last - first) as i32;
        let every = (decades + 7) / 8;
        let marks = (1..=decades)
            .filter(|mark| mark % every == 0 || decades <= 8)
            .map(|mark| {
                let value = 10_f64.powi(first as i32 + mark);
                let place = f64::from(mark) / f64::from(decades);
                Mark {
                    place,
                    value,
                    text: power_text(value),
                }
            });
        Self {
            kind: ScaleKind::Logarithmic,
            low: first,
            high: last,
            marks: marks.collect(),
        }
    }

    /// Where a value lies, 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let at = match self.kind {
            ScaleKind::Linear => value,
            ScaleKind::Logarithmic if value > 0.0 => value.log10(),
            ScaleKind::Logarithmic => self.low,
        };
        let place = (at - self.low) / (self.high - self.low);
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

fn mark_text_between(value: f64, step: f64) -> String {
    let mut text = String::new();
    let (unit, suffix) = match step {
        step if step >= 1e6 => (1e6, "M"),
        step if step >= 1e3 => (1e3, "K"),
        _ => (1.0, ""),
    };
    push_trimmed_signed(&mut text, value / unit);
    if value != 0.0 {
        text.push_str(suffix);
    }
    text
}

fn push_trimmed_signed(out: &mut String, value: f64) {
    if value < 0.0 {
        out.push('-');
    }
    push_trimmed(out, value.abs());
}

/// `10`, `10K`, `0.01`, `1e15`.
fn power_text(value: f64) -> String {
    let mut text = String::new();
    match value {
        v if !(1e-4..1e12).contains(&v) => return format!("{v:.0e}"),
        v if v >= 1e9 => (push_trimmed(&mut text, v / 1e9), text.push('G')),
        v if v >= 1e6 => (push_trimmed(&mut text, v / 1e6), text.push('M')),
        v if v >= 1e3 => (push_trimmed(&mut text, v / 1e3), text.push('K')),
        v => (push_trimmed(&mut text, v), ()),
    };
    text
}

#[cfg(test)]
mod tests;
