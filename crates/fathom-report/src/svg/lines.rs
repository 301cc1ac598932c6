//! Curves: latency over percentiles, series over time, sensors.

use fathom_base::Nanos;
use fathom_model::{Figure, Series};

use super::axis::Mark;
use super::canvas::{About, Anchor, Canvas, Medium, WIDTH, fitted, push_line_class};
use super::{Scale, ScaleKind};
use crate::clean;
use crate::grouping::Paint;
use crate::number::{rounded, significant};
use crate::view::{Block, View, extent};

const TOP: f64 = 24.0;
const HEIGHT: f64 = 200.0;
/// Most points of a curve; more would not be seen.
const MOST_POINTS: usize = 400;
/// Most curves of one system: trials drawn over each other.
const MOST_TRIALS: usize = 8;

/// One curve.
pub(crate) struct Line {
    /// Index of the system.
    pub system: u32,
    /// How it is drawn.
    pub paint: Paint,
    /// Its name in the legend; empty for further trials of the same system.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Curves over common axes.
pub(crate) struct Curves {
    /// What they are: `read latency`, `bandwidth over time`.
    pub title: String,
    /// Unit of the values, above the axis.
    pub unit: String,
    /// Marks across.
    pub marks: Vec<Mark>,
    /// What the axis across is.
    pub across: String,
    /// Scale of the values.
    pub scale: Scale,
    /// The curves; x from 0 to 1, y in the unit.
    pub lines: Vec<Line>,
    /// How a value is written.
    pub value_text: fn(f64) -> String,
}

/// Latency percentiles of a block, one set of curves for each kind of operation. Across are the
/// nines: each step to the right is a tenth of the operations.
pub(crate) fn curves_of_latency(view: &View<'_>, block: &Block<'_>) -> Vec<Curves> {
    let mut sets: Vec<(String, Vec<Line>, f64)> = Vec::new();
    for row in &block.rows {
        for (name, histogram) in row.histograms() {
            let percentiles = histogram.percentile_curve(24);
            let points: Vec<(f64, f64)> = percentiles
                .iter()
                .filter(|point| point.percent < 100.0 && point.ns > 0)
                .map(|point| (-(1.0 - point.percent / 100.0).log10(), point.ns as f64))
                .collect();
            let nines = points.last().map_or(1.0, |last| last.0).max(1.0);
            let line = Line {
                system: row.system,
                paint: view.paint(row),
                name: view.row_name(row).into_owned(),
                points: thinned(points),
            };
            match sets.iter_mut().find(|(known, _, _)| known == name) {
                Some((_, lines, most)) => {
                    lines.push(line);
                    *most = most.max(nines);
                }
                None => sets.push((name.to_owned(), vec![line], nines)),
            }
        }
    }
    sets.into_iter()
        .map(|(name, lines, nines)| latency_curves(&name, lines, nines))
        .collect()
}

fn latency_curves(name: &str, mut lines: Vec<Line>, nines: f64) -> Curves {
    for line in &mut lines {
        for point in &mut line.points {
            point.0 /= nines;
        }
    }
    let values = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.1));
    let (low, high) = extent(values).unwrap_or((1.0, 10.0));
    let scale = match high / low > 10.0 {
        true => Scale::logarithmic(low.max(1.0), high),
        false => Scale::linear_between(0.0, high),
    };
    let texts = [
        "0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999",
    ];
    let marks = texts
        .iter()
        .enumerate()
        .filter(|(place, _)| *place as f64 <= nines + 1e-9);
    Curves {
        title: format!("{name} latency by percentile"),
        unit: "latency, Fewer Is Better".to_owned(),
        marks: marks
            .map(|(place, text)| Mark {
                place: place as f64 / nines,
                value: place as f64,
                text: format!("{text} %"),
            })
            .collect(),
        across: "percentile".to_owned(),
        scale: with_time_marks(scale),
        lines,
        value_text: |ns| Nanos::new(ns.max(0.0) as u64).rough(),
    }
}

/// Marks in nanoseconds as times.
pub(crate) fn with_time_marks(mut scale: Scale) -> Scale {
    for mark in &mut scale.marks {
        mark.text = time_text(mark.value);
    }
    scale
}

/// `100 us`, `1 ms`: a round time.
fn time_text(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "us"),
        ns => (ns, "ns"),
    };
    let digits = significant(value, 3);
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{digits} {unit}")
}

/// Curves of one name that are being gathered.
struct Gathered {
    name: String,
    unit: String,
    lines: Vec<Line>,
    /// Where the longest ends.
    end: f64,
}

/// A sensor that was read a few times, or that said the same all the time: no curve.
fn is_dull(name: &str, series: &Series) -> bool {
    const FEW: usize = 7;
    let first = series.values.first();
    name.starts_with("sensor/")
        && (series.values.len() < FEW || series.values.iter().all(|value| Some(value) == first))
}

/// The series of all trials of a block, one set of curves for each name.
pub(crate) fn curves_of_series(view: &View<'_>, block: &Block<'_>) -> Vec<Curves> {
    let mut sets: Vec<Gathered> = Vec::new();
    for row in &block.rows {
        let trials = row.run.iter().flat_map(|run| &run.trials).take(MOST_TRIALS);
        for (trial_place, trial) in trials.enumerate() {
            for (name, series) in &trial.series {
                if is_dull(name, series) {
                    continue;
                }
                let legend = match trial_place {
                    0 => view.row_name(row).into_owned(),
                    _ => String::new(),
                };
                let line = Line {
                    system: row.system,
                    paint: view.paint(row),
                    name: legend,
                    points: Vec::new(),
                };
                let lines = lines_of(series, line);
                let place = match sets.iter().position(|set| set.name == *name) {
                    Some(place) => place,
                    None => {
                        let (name, unit) = (name.clone(), series.unit.clone());
                        sets.push(Gathered {
                            name,
                            unit,
                            lines: Vec::new(),
                            end: 0.0,
                        });
                        sets.len() - 1
                    }
                };
                let end = (series.start_ns as f64
                    + series.step_ns as f64 * series.values.len() as f64)
                    / 1e9;
                sets[place].end = sets[place].end.max(end);
                sets[place].lines.extend(lines);
            }
        }
    }
    sets.retain(|set| !set.lines.is_empty());
    sets.into_iter()
        .map(|set| {
            let title = format!("{} over time", set.name);
            over_time(
                title,
                set.unit,
                set.lines,
                set.end,
                "seconds",
                TimeMarks::Even,
            )
        })
        .collect()
}

/// The pieces of a series between steps without a value; only the first has a name.
fn lines_of(series: &Series, like: Line) -> Vec<Line> {
    let step = series.step_ns as f64 / 1e9;
    let start = series.start_ns as f64 / 1e9;
    let points = series.values.iter().enumerate();
    let points: Vec<(f64, f64)> = points
        .map(|(place, value)| (start + (place as f64 + 0.5) * step, *value))
        .collect();
    let pieces = points
        .split(|point| !point.1.is_finite())
        .filter(|piece| !piece.is_empty());
    pieces
        .enumerate()
        .map(|(place, piece)| Line {
            name: if place == 0 {
                like.name.clone()
            } else {
                String::new()
            },
            points: thinned(piece.to_vec()),
            ..like
        })
        .collect()
}

/// The points of a line graph.
pub(crate) fn curves_of_lines(view: &View<'_>, block: &Block<'_>) -> Option<Curves> {
    let mut longest = 0;
    let lines: Vec<Line> = block
        .rows
        .iter()
        .filter_map(|row| {
            let line = row
                .entry
                .details
                .as_ref()
                .map(|details| details.line.as_slice())?;
            longest = longest.max(line.len());
            let figures = line.iter().map(Figure::value).enumerate();
            let points: Vec<(f64, f64)> = figures
                .map(|(place, value)| (place as f64, value))
                .collect();
            let name = view.row_name(row).into_owned();
            (points.len() >= 2).then(|| Line {
                system: row.system,
                paint: view.paint(row),
                name,
                points: thinned(points),
            })
        })
        .collect();
    let end = longest.saturating_sub(1).max(1) as f64;
    let title = block.heading();
    let unit = block.record.metric.unit.clone();
    (!lines.is_empty()).then(|| over_time(title, unit, lines, end, "samples", TimeMarks::Whole))
}

/// How the axis of time is marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeMarks {
    /// Any round number.
    Even,
    /// Whole numbers only.
    Whole,
}

fn over_time(
    title: String,
    unit: String,
    mut lines: Vec<Line>,
    end: f64,
    across: &str,
    time_marks: TimeMarks,
) -> Curves {
    let axis = Scale::linear_between(0.0, end);
    let is_whole = |mark: &&Mark| mark.value.fract() == 0.0;
    let marks: Vec<Mark> = axis
        .marks
        .iter()
        .filter(|mark| time_marks == TimeMarks::Even || is_whole(mark))
        .cloned()
        .collect();
    for line in &mut lines {
        for point in &mut line.points {
            point.0 = axis.place(point.0);
        }
    }
    let values = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.1));
    let (low, high) = extent(values).unwrap_or((0.0, 1.0));
    // Throughput starts at 0; temperatures far from it do not.
    let is_near_zero = low >= 0.0 && low < 0.5 * high;
    let scale = Scale::linear_between(if is_near_zero { 0.0 } else { low }, high);
    Curves {
        title,
        unit,
        marks,
        across: across.to_owned(),
        scale,
        lines,
        value_text: |value| significant(value, 4),
    }
}

/// Every k-th point with the extremes between kept, so that a short dip stays visible.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let group = points.len().div_ceil(MOST_POINTS / 2);
    let mut kept = Vec::with_capacity(MOST_POINTS + 2);
    for part in points.chunks(group) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (part.iter().min_by(by_value), part.iter().max_by(by_value))
        else {
            continue;
        };
        if low.0 <= high.0 {
            kept.extend([*low, *high]);
        } else {
            kept.extend([*high, *low]);
        }
    }
    kept
}

/// Draws curves with their axes and, on pictures, a legend.
pub(crate) fn push_lines(
    out: &mut String,
    curves: &Curves,
    id: &str,
    heading: &str,
    subtitle: &str,
    medium: Medium,
) {
    let named: Vec<&Line> = curves
        .lines
        .iter()
        .filter(|line| !line.name.is_empty())
        .collect();
    let legend_rows = if medium == Medium::Page {
        0
    } else {
        named.len().div_ceil(2)
    };
    let bottom = TOP + HEIGHT;
    let description = describe(curves, &named);
    let title = format!("{heading}: {}", curves.title);
    let about = About {
        id,
        class: "lines",
        title: &title,
        description: &description,
        heading,
        subtitle,
        height: bottom + 34.0 + 16.0 * legend_rows as f64,
    };
    let mut canvas = Canvas::begin(out, medium, &about);
    let unit = match curves.scale.kind {
        ScaleKind::Logarithmic => format!("{}, {} (logarithmic axis)", curves.title, curves.unit),
        ScaleKind::Linear => format!("{}, {}", curves.title, curves.unit),
    };
    canvas.text(
        "m unit",
        0.0,
        12.0,
        Anchor::Start,
        unit.trim_end_matches(", "),
    );
    push_grid(&mut canvas, curves, bottom);
    canvas.begin_stretched(TOP, HEIGHT);
    let is_crowded = curves.lines.len() > 3;
    for line in &curves.lines {
        push_line(&mut canvas, line, &curves.scale, is_crowded);
    }
    canvas.end_stretched();
    push_mark_texts(&mut canvas, curves, bottom);
    for (place, line) in named.iter().enumerate().filter(|_| legend_rows > 0) {
        let y = bottom + 44.0 + 16.0 * (place / 2) as f64;
        push_legend(&mut canvas, line, (place % 2) as f64 * 0.5, y);
    }
    canvas.end();
}

fn push_grid(canvas: &mut Canvas<'_>, curves: &Curves, bottom: f64) {
    for mark in &curves.marks {
        canvas.line("g", mark.place, mark.place, TOP, bottom);
    }
    for mark in &curves.scale.marks {
        let y = bottom - mark.place * HEIGHT;
        canvas.line("g", 0.0, 1.0, y, y);
    }
}

/// The texts of the marks; after the curves, so that these do not cross them out.
fn push_mark_texts(canvas: &mut Canvas<'_>, curves: &Curves, bottom: f64) {
    for mark in &curves.marks {
        let anchor = match mark.place {
            place if place < 0.03 => Anchor::Start,
            place if place > 0.95 => Anchor::End,
            _ => Anchor::Middle,
        };
        canvas.text("k", mark.place, bottom + 13.0, anchor, &mark.text);
    }
    for mark in &curves.scale.marks {
        let y = bottom - mark.place * HEIGHT;
        canvas.text(
            "k q",
            0.0,
            (y - 3.0).max(TOP + 9.0),
            Anchor::Start,
            &mark.text,
        );
    }
    canvas.text("k", 1.0, bottom + 27.0, Anchor::End, &curves.across);
}

fn push_line(canvas: &mut Canvas<'_>, line: &Line, scale: &Scale, is_crowded: bool) {
    canvas.raw("<polyline data-s=\"");
    crate::number::push_integer(canvas.out, u64::from(line.system));
    canvas.raw("\" vector-effect=\"non-scaling-stroke\" class=\"l ");
    push_line_class(canvas.out, line.paint);
    if is_crowded && line.name.is_empty() {
        canvas.raw(" th");
    }
    canvas.raw("\" points=\"");
    for (place, (x, y)) in line.points.iter().enumerate() {
        if place > 0 {
            canvas.raw(" ");
        }
        canvas.number(x.clamp(0.0, 1.0) * 1000.0);
        canvas.raw(",");
        canvas.number(HEIGHT - scale.place(*y) * HEIGHT);
    }
    canvas.raw("\"/>");
}

fn push_legend(canvas: &mut Canvas<'_>, line: &Line, share: f64, y: f64) {
    let mut class = "l ".to_owned();
    push_line_class(&mut class, line.paint);
    canvas.line(&class, share, share + 0.035, y - 4.0, y - 4.0);
    let name = fitted(&line.name, WIDTH * 0.44, 7.0);
    canvas.text("n", share + 0.045, y, Anchor::Start, &name);
}

fn describe(curves: &Curves, named: &[&Line]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for line in named.iter().take(6) {
        let values = line.points.iter().map(|point| point.1);
        if let Some((low, high)) = extent(values) {
            let text = curves.value_text;
            parts.push(format!("{}: {} to {}", line.name, text(low), text(high)));
        }
    }
    if named.len() > 6 {
        parts.push(format!("and {} more", named.len() - 6));
    }
    clean::line(&format!("{}.", parts.join("; ")))
}

/// Smallest, mean and largest of the points of a line, two decimals at most, as the Phoronix Test
/// Suite writes them: `52`, `62.51`, `80`.
pub(crate) fn extent_texts(values: &[f64]) -> Option<[String; 3]> {
    let (low, high) = extent(values.iter().copied())?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some([low, mean, high].map(|value| {
        let text = rounded(value, 2);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let (system, paint, points) = (0, Paint::default(), Vec::new());
        Line {
            system,
            paint,
            name: "A".to_owned(),
            points,
        }
    }

    #[test]
    fn a_step_without_a_value_breaks_the_curve() {
        let series = Series {
            unit: "MB/s".to_owned(),
            start_ns: 1_000_000_000,
            step_ns: 500_000_000,
            values: vec![1.0, 2.0, f64::NAN, 4.0, f64::NAN, f64::NAN, 7.0],
        };
        let lines = lines_of(&series, line());
        let pieces: Vec<&[(f64, f64)]> = lines.iter().map(|line| line.points.as_slice()).collect();
        let expected: [&[(f64, f64)]; 3] =
            [&[(1.25, 1.0), (1.75, 2.0)], &[(2.75, 4.0)], &[(4.25, 7.0)]];
        assert_eq!(pieces, expected);
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["A", "", ""]);
        assert!(lines_of(&Series::default(), line()).is_empty());
    }

    #[test]
    fn a_short_dip_survives_thinning() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|place| (f64::from(place), if place == 54_321 { 1.0 } else { 100.0 }))
            .collect();
        let thin = thinned(points);
        assert!(thin.len() <= MOST_POINTS + 2, "{}", thin.len());
        assert!(thin.contains(&(54_321.0, 1.0)));
        assert!(thin.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn extents_are_written_as_in_the_original() {
        let texts = extent_texts(&[52.0, 62.0, 73.53, 80.0]).unwrap();
        assert_eq!(texts, ["52", "66.88", "80"]);
        assert!(extent_texts(&[]).is_none());
    }
}
