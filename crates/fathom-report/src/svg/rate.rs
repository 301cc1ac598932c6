//! Latency over the rate of an open loop.

use super::axis::Mark;
use super::lines::{Curves, Line, push_lines, with_time_marks};
use super::{Look, Scale};
use crate::grouping::Paint;
use crate::number::significant;
use fathom_base::Nanos;

/// Latencies at rates.
#[derive(Clone, Debug, PartialEq)]
pub struct RateCurve {
    /// `p99`, `median`.
    pub name: String,
    /// Rates with latencies in nanoseconds, by rate.
    pub points: Vec<(f64, f64)>,
}

/// Draws latency over rate as a file of its own; `mark` is a rate to point out, such as the knee.
pub fn rate_chart(
    curves: &[RateCurve],
    (heading, subtitle): (&str, &str),
    mark: Option<(f64, &str)>,
    look: Look,
) -> String {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let most = all().map(|point| point.0).fold(1.0, f64::max);
    let low = all().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = all().map(|point| point.1).fold(1.0, f64::max);
    let across = Scale::linear_between(0.0, most);
    let scale = with_time_marks(Scale::logarithmic(low.clamp(1.0, high), high.max(2.0)));
    let mut marks: Vec<Mark> = across.marks.clone();
    if let Some((rate, text)) = mark {
        let place = across.place(rate);
        marks.retain(|other| (other.place - place).abs() > 0.08);
        marks.push(Mark {
            place,
            value: rate,
            text: format!("{text} {}", significant(rate, 3)),
        });
    }
    let lines = curves.iter().enumerate().map(|(number, curve)| Line {
        system: 0,
        paint: Paint {
            colour: number as u8 % 8,
            ..Paint::default()
        },
        name: curve.name.clone(),
        points: curve
            .points
            .iter()
            .map(|(rate, ns)| (across.place(*rate), *ns))
            .collect(),
    });
    let curves = Curves {
        title: "latency by rate".to_owned(),
        unit: "latency, Fewer Is Better".to_owned(),
        marks,
        across: "operations due a second".to_owned(),
        scale,
        lines: lines.collect(),
        value_text: |ns| Nanos::new(ns.max(0.0) as u64).rough(),
    };
    let mut svg = String::new();
    push_lines(&mut svg, &curves, "knee", heading, subtitle, look.medium());
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_curves_and_the_mark() {
        let curve = |name: &str, times: f64| RateCurve {
            name: name.to_owned(),
            points: (1..8)
                .map(|n| (f64::from(n) * 100.0, times * f64::from(n * n)))
                .collect(),
        };
        let curves = [curve("median", 1e5), curve("p99", 1e6)];
        let svg = rate_chart(
            &curves,
            ("randread", "4 KiB"),
            Some((330.0, "knee")),
            Look::Print,
        );
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("<polyline").count(), 2);
        for text in ["knee 330", "p99", "operations due a second", "100 ms"] {
            assert!(svg.contains(text), "{text}");
        }
        // Nothing at all is a chart without curves.
        assert!(rate_chart(&[], ("", ""), None, Look::Screen).contains("</svg>"));
    }
}
