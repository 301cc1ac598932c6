//! Tells numbers apart that follow each other without a mark.

use std::collections::BTreeSet;

use super::axis;
use super::chart::Chart;
use super::overview::Rows;
use crate::warnings::Warnings;

/// Longest number.
const MAX_NUMBER: usize = 14;
/// Longest string of axis labels.
const MAX_AXIS: usize = 48;
/// Divisions of one chart that are compared.
const MAX_DIVISIONS: usize = 2000;
/// Steps taken to find them.
const MAX_STEPS: usize = 200_000;
/// How far IOPS times block size may be from the bandwidth: MB or MiB, and trials that only one
/// of the two metrics has.
const SIBLING_RATIO: std::ops::RangeInclusive<f64> = 0.9..=1.15;

/// What one piece of a string can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// The labels of the axis, where no standard error separates them from the values.
    Axis,
    /// The number of trials of the last standard error.
    Count,
    /// The value at a place of the chart.
    Value(usize),
}

/// What is known of the numbers of a chart.
struct Known {
    pieces: Vec<Piece>,
    /// Decimals of every value; `None` where they differ.
    decimals: Option<usize>,
    /// The texts each piece may still be; `None` is any number.
    allowed: Vec<Option<BTreeSet<String>>>,
}

/// Finds the values of all charts and whose standard errors are.
pub(super) fn solve(charts: &mut [Chart], rows: Option<&Rows>, warnings: &mut Warnings) {
    let mut known: Vec<Known> = charts.iter().map(Known::of).collect();
    let mut overview = rows;
    loop {
        let before = open_texts(&known);
        for (chart, known) in charts.iter().zip(&mut known) {
            known.narrow(chart);
        }
        narrow_siblings(charts, &mut known);
        if let Some(rows) = overview
            && !narrow_by_overview(charts, &mut known, rows)
        {
            warnings.add(
                "overview table",
                "its numbers do not fit those of the charts",
            );
            overview = None;
        }
        for (chart, known) in charts.iter().zip(&mut known) {
            known.narrow_by_axis(chart);
        }
        if open_texts(&known) == before {
            break;
        }
    }
    for (chart, known) in charts.iter_mut().zip(&known) {
        known.choose(chart, warnings);
    }
    assign_errors(charts, warnings);
}

/// How many texts are still open; it only falls.
fn open_texts(known: &[Known]) -> usize {
    let of = |allowed: &Option<BTreeSet<String>>| allowed.as_ref().map_or(1 << 20, BTreeSet::len);
    known
        .iter()
        .flat_map(|known| known.allowed.iter().map(of))
        .sum()
}

impl Known {
    fn of(chart: &Chart) -> Self {
        let count = chart.systems.len();
        let first = match (chart.kind, chart.errors.is_empty()) {
            (axis::Kind::Boxes, _) => None,
            (_, true) => Some(Piece::Axis),
            (_, false) => Some(Piece::Count),
        };
        let values = match chart.kind {
            axis::Kind::Boxes => 0,
            axis::Kind::Bars => count,
        };
        let pieces: Vec<Piece> = first
            .into_iter()
            .chain((0..values).map(Piece::Value))
            .collect();
        let points = chart.numbers.matches('.').count();
        let last = chart
            .numbers
            .rsplit_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let decimals = match points {
            0 => Some(0),
            points if points == values => Some(last),
            points if points > values && chart.errors.is_empty() => Some(last),
            _ => None,
        };
        Self {
            allowed: vec![None; pieces.len()],
            pieces,
            decimals,
        }
    }

    /// Whether a piece may be this text.
    fn accepts(&self, index: usize, text: &str, chart: &Chart) -> bool {
        if self.allowed[index]
            .as_ref()
            .is_some_and(|allowed| !allowed.contains(text))
        {
            return false;
        }
        match self.pieces[index] {
            Piece::Axis => !text.is_empty(),
            Piece::Count => is_integer(text) && text.len() <= 3 && text != "0" && text != "1",
            Piece::Value(_) => is_value(text, self.decimals) && within_axis(text, chart),
        }
    }

    fn longest(&self, index: usize) -> usize {
        match self.pieces[index] {
            Piece::Axis => MAX_AXIS,
            Piece::Count => 3,
            Piece::Value(_) => MAX_NUMBER,
        }
    }

    /// Keeps the texts that are part of a division of the chart's numbers.
    fn narrow(&mut self, chart: &Chart) {
        let accepts = |index: usize, text: &str| self.accepts(index, text, chart);
        let longest = |index: usize| self.longest(index);
        let count = self.pieces.len();
        if let Some(possible) = possible_texts(&chart.numbers, count, accepts, longest) {
            self.allowed = possible.into_iter().map(Some).collect();
        }
    }

    /// Keeps the texts of divisions whose largest value gives the axis that is drawn.
    fn narrow_by_axis(&mut self, chart: &Chart) {
        let (divisions, is_complete) = self.divisions(chart);
        if divisions.is_empty() || !is_complete {
            return;
        }
        let fitting: Vec<&Vec<&str>> = divisions
            .iter()
            .filter(|division| self.fits_axis(division, chart))
            .collect();
        if fitting.is_empty() {
            return;
        }
        for index in 0..self.pieces.len() {
            let texts = fitting.iter().map(|division| division[index].to_owned());
            self.allowed[index] = Some(texts.collect());
        }
    }

    /// The divisions of the chart's numbers, at most [`MAX_DIVISIONS`], and whether these are all.
    fn divisions<'t>(&self, chart: &'t Chart) -> (Vec<Vec<&'t str>>, bool) {
        let mut found = Vec::new();
        let mut steps = 0;
        self.divide(chart, 0, &mut Vec::new(), &mut found, &mut steps);
        let is_complete = found.len() < MAX_DIVISIONS && steps <= MAX_STEPS;
        (found, is_complete)
    }

    fn divide<'t>(
        &self,
        chart: &'t Chart,
        start: usize,
        so_far: &mut Vec<&'t str>,
        found: &mut Vec<Vec<&'t str>>,
        steps: &mut usize,
    ) {
        *steps += 1;
        let index = so_far.len();
        if index == self.pieces.len() {
            if start == chart.numbers.len() {
                found.push(so_far.clone());
            }
            return;
        }
        for length in 1..=self.longest(index).min(chart.numbers.len() - start) {
            if found.len() == MAX_DIVISIONS || *steps > MAX_STEPS {
                return;
            }
            let text = &chart.numbers[start..start + length];
            if self.accepts(index, text, chart) {
                so_far.push(text);
                self.divide(chart, start + length, so_far, found, steps);
                so_far.pop();
            }
        }
    }

    fn fits_axis(&self, division: &[&str], chart: &Chart) -> bool {
        let values = self.pieces.iter().zip(division);
        let max = values
            .filter(|(piece, _)| matches!(piece, Piece::Value(_)))
            .filter_map(|(_, text)| text.parse::<f64>().ok())
            .fold(0.0, f64::max);
        let drawn = match self.pieces.first() {
            Some(Piece::Axis) => division[0],
            _ => chart.axis.as_str(),
        };
        axis::labels(max, chart.kind) == drawn
    }

    /// Takes the likeliest division and says where another one is possible.
    fn choose(&self, chart: &mut Chart, warnings: &mut Warnings) {
        let place = format!("{} {}", chart.title, chart.description);
        if chart.kind == axis::Kind::Boxes {
            return check_boxes(chart, &place, warnings);
        }
        let (divisions, is_complete) = self.divisions(chart);
        let divisions: Vec<Vec<String>> = divisions
            .into_iter()
            .map(|division| division.into_iter().map(str::to_owned).collect())
            .collect();
        let seen: Vec<&str> = chart
            .errors
            .iter()
            .map(|(_, n)| n.as_str())
            .filter(|n| !n.is_empty())
            .collect();
        let likely = |division: &&Vec<String>| match self.pieces.first() {
            Some(Piece::Count) if seen.contains(&division[0].as_str()) => 2,
            Some(Piece::Count) if division[0].len() == 1 => 1,
            _ => 0,
        };
        let Some(best) = divisions.iter().rev().max_by_key(likely) else {
            warnings.add(
                place,
                format!("its numbers cannot be told apart: {}", chart.numbers),
            );
            let doubt = "the number is missing: it cannot be told from its neighbours";
            chart.values = vec![(String::new(), Some(doubt.to_owned())); chart.systems.len()];
            return;
        };
        let borrowed: Vec<&str> = best.iter().map(String::as_str).collect();
        if !self.fits_axis(&borrowed, chart) {
            warnings.add(place.clone(), "the axis is not that of its largest value");
        }
        let mut values = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            let possible: BTreeSet<&String> = match (is_complete, &self.allowed[index]) {
                (false, Some(allowed)) => allowed.iter().collect(),
                _ => divisions.iter().map(|division| &division[index]).collect(),
            };
            let others = possible
                .into_iter()
                .filter(|text| **text != best[index])
                .collect();
            match piece {
                Piece::Count => {
                    if let Some(last) = chart.errors.last_mut() {
                        last.1.clone_from(&best[index]);
                    }
                }
                Piece::Axis => chart.axis.clone_from(&best[index]),
                Piece::Value(_) => values.push((best[index].clone(), doubt(&others))),
            }
        }
        let doubts = values.iter().filter(|(_, doubt)| doubt.is_some()).count();
        if doubts > 0 {
            let text = format!(
                "{doubts} of its {} values are the likeliest reading",
                values.len()
            );
            warnings.add(place, text);
        }
        chart.values = values;
    }
}

/// How far a page could be read, in numbers.
pub(super) fn proof(charts: &[Chart]) -> serde_json::Value {
    let values = |chart: &Chart| match chart.kind {
        axis::Kind::Boxes => chart.boxes.len(),
        axis::Kind::Bars => chart
            .values
            .iter()
            .filter(|(text, _)| !text.is_empty())
            .count(),
    };
    let doubts = |chart: &Chart| {
        chart
            .values
            .iter()
            .filter(|(_, doubt)| doubt.is_some())
            .count()
    };
    let axes = charts.iter().filter(|chart| axis_follows(chart)).count();
    serde_json::json!({
        "values": charts.iter().map(values).sum::<usize>(),
        "uncertain_values": charts.iter().map(doubts).sum::<usize>(),
        "charts": charts.len(),
        "axes_that_follow": axes,
    })
}

/// Whether the labels along an axis are those its largest value asks for.
fn axis_follows(chart: &Chart) -> bool {
    let numbers = chart.values.iter().map(|(text, _)| text);
    let numbers = numbers.chain(chart.boxes.iter().map(|[_, _, max]| max));
    let max = numbers
        .filter_map(|text| text.parse::<f64>().ok())
        .fold(0.0, f64::max);
    axis::labels(max, chart.kind) == chart.axis
}

fn doubt(others: &BTreeSet<&String>) -> Option<String> {
    let listed: Vec<&str> = others.iter().take(5).map(|text| text.as_str()).collect();
    (!listed.is_empty()).then(|| {
        format!(
            "numbers stand together without a mark; could also be {}",
            listed.join(", ")
        )
    })
}

fn check_boxes(chart: &Chart, place: &str, warnings: &mut Warnings) {
    if !axis_follows(chart) {
        warnings.add(place, "the axis is not that of its largest value");
    }
}

fn is_integer(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
        && !text.is_empty()
        && (text == "0" || !text.starts_with('0'))
}

fn is_value(text: &str, decimals: Option<usize>) -> bool {
    match (text.split_once('.'), decimals) {
        (None, Some(0) | None) => is_integer(text),
        (Some((whole, part)), decimals) => {
            is_integer(whole)
                && !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_digit())
                && decimals.is_none_or(|decimals| decimals == part.len())
        }
        (None, Some(_)) => false,
    }
}

/// No bar is longer than the axis.
fn within_axis(text: &str, chart: &Chart) -> bool {
    let first_digits = chart
        .axis
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    if first_digits == 0 {
        return true;
    }
    // Five labels of the same step: the string's length says where the first ends.
    let Some(step) = (1..=first_digits).find_map(|length| first_step(&chart.axis, length)) else {
        return true;
    };
    text.parse::<f64>().is_ok_and(|value| value <= step * 6.0)
}

/// The step of an axis whose first label has so many digits.
fn first_step(labels: &str, length: usize) -> Option<f64> {
    let first: f64 = labels[..length].parse().ok()?;
    let (unit, scale) = match labels.as_bytes().get(length) {
        Some(b'K') => ("K", 1e3),
        Some(b'M') => ("M", 1e6),
        _ => ("", 1.0),
    };
    let strung: String = (1..=5)
        .map(|mark| {
            let value = (f64::from(mark) * first * 1e4).round() / 1e4;
            format!("{value}{unit}")
        })
        .collect();
    (strung == labels).then_some(first * scale)
}

/// Divides a text into `count` pieces; gives for each piece every text it has in some division, or
/// `None` when there is no division.
fn possible_texts(
    text: &str,
    count: usize,
    accepts: impl Fn(usize, &str) -> bool,
    longest: impl Fn(usize) -> usize,
) -> Option<Vec<BTreeSet<String>>> {
    let length = text.len();
    if !text.is_ascii() {
        return None;
    }
    // before[i]: where piece i can begin, coming from the front.
    let mut before = vec![vec![false; length + 1]; count + 1];
    before[0][0] = true;
    let ends = |start: usize, index: usize| start + 1..=length.min(start + longest(index));
    for index in 0..count {
        for start in 0..length {
            if before[index][start] {
                for end in ends(start, index) {
                    if !before[index + 1][end] && accepts(index, &text[start..end]) {
                        before[index + 1][end] = true;
                    }
                }
            }
        }
    }
    if !before[count][length] {
        return None;
    }
    // From the back, only what also leads to the end counts.
    let mut texts = vec![BTreeSet::new(); count];
    let mut reaches = vec![false; length + 1];
    reaches[length] = true;
    for index in (0..count).rev() {
        let mut starts = vec![false; length + 1];
        for start in (0..length).filter(|&start| before[index][start]) {
            for end in ends(start, index).filter(|&end| reaches[end]) {
                let piece = &text[start..end];
                if accepts(index, piece) {
                    starts[start] = true;
                    texts[index].insert(piece.to_owned());
                }
            }
        }
        reaches = starts;
    }
    Some(texts)
}

/// The overview lists the same values by system; false when it cannot be divided into them.
fn narrow_by_overview(charts: &[Chart], known: &mut [Known], rows: &Rows) -> bool {
    let cells = rows.cells(charts);
    let place_of = |&(system, chart): &(usize, usize)| {
        let place = charts[chart].systems.iter().position(|s| *s == system)?;
        known[chart]
            .pieces
            .iter()
            .position(|piece| *piece == Piece::Value(place))
    };
    let places: Option<Vec<usize>> = cells.iter().map(place_of).collect();
    let Some(places) = places else { return false };
    let accepts = |index: usize, text: &str| {
        let chart = cells[index].1;
        known[chart].accepts(places[index], text, &charts[chart])
    };
    let Some(possible) = possible_texts(&rows.values, cells.len(), accepts, |_| MAX_NUMBER) else {
        return false;
    };
    for ((cell, place), texts) in cells.iter().zip(places).zip(possible) {
        known[cell.1].allowed[place] = Some(texts);
    }
    true
}

/// IOPS times block size is the bandwidth of the same run.
fn narrow_siblings(charts: &[Chart], known: &mut [Known]) {
    for (at, chart) in charts.iter().enumerate() {
        let Some(factor) = iops_per_mb(chart).filter(|_| chart.unit == "IOPS") else {
            continue;
        };
        let sibling = charts
            .iter()
            .position(|c| c.unit == "MB/s" && c.is_sibling(chart));
        let Some(sibling) = sibling else { continue };
        for (place, system) in chart.systems.iter().enumerate() {
            let bandwidth = charts[sibling].systems.iter().position(|s| s == system);
            let Some(bandwidths) = bandwidth.and_then(|place| known[sibling].texts_at(place))
            else {
                continue;
            };
            let is_near = |text: &String| {
                let iops: f64 = text.parse().unwrap_or(f64::NAN);
                bandwidths.iter().any(|mb| near(iops, mb * factor, chart))
            };
            let index = known[at]
                .pieces
                .iter()
                .position(|p| *p == Piece::Value(place));
            if let Some(allowed) = index.and_then(|index| known[at].allowed[index].as_mut())
                && allowed.iter().any(is_near)
            {
                allowed.retain(is_near);
            }
        }
    }
}

/// Rounding of small numbers must not exclude them.
fn near(iops: f64, expected: f64, _: &Chart) -> bool {
    SIBLING_RATIO.contains(&(iops / expected)) || (iops - expected).abs() <= 3.0
}

impl Known {
    /// The numbers a place may still be.
    fn texts_at(&self, place: usize) -> Option<Vec<f64>> {
        let index = self
            .pieces
            .iter()
            .position(|piece| *piece == Piece::Value(place))?;
        let texts = self.allowed[index].as_ref()?;
        texts.iter().map(|text| text.parse().ok()).collect()
    }
}

/// IOPS for each MB/s (1000 KiB/s, as old fio profiles have it), from the block size among the
/// options.
fn iops_per_mb(chart: &Chart) -> Option<f64> {
    let size = chart
        .description
        .split(" - ")
        .find_map(|part| part.strip_prefix("Block Size: "))?;
    let digits = size.bytes().take_while(u8::is_ascii_digit).count();
    let number: f64 = size[..digits].parse().ok()?;
    match &size[digits..] {
        "KB" if number > 0.0 => Some(1000.0 / number),
        "MB" if number > 0.0 => Some(1.0 / number),
        _ => None,
    }
}

/// Gives each system its standard error where that is certain.
fn assign_errors(charts: &mut [Chart], warnings: &mut Warnings) {
    let complete: Vec<bool> = charts
        .iter()
        .map(|chart| chart.errors.len() == chart.systems.len())
        .collect();
    for at in 0..charts.len() {
        if complete[at] {
            charts[at].spreads = charts[at].errors.iter().cloned().map(Some).collect();
            continue;
        }
        if charts[at].errors.is_empty() {
            continue;
        }
        let sibling = (0..charts.len())
            .find(|&other| complete[other] && charts[other].is_sibling(&charts[at]));
        let place = format!("{} {}", charts[at].title, charts[at].description);
        let counts = (charts[at].errors.len(), charts[at].systems.len());
        match sibling.and_then(|other| align(&charts[at], &charts[other])) {
            Some(spreads) => {
                charts[at].spreads = spreads;
                warnings.add(
                    place,
                    format!(
                        "{} standard errors for {} systems; whose they are follows from the other \
                         metric of the run",
                        counts.0, counts.1
                    ),
                );
            }
            None => warnings.add(
                place,
                format!(
                    "{} standard errors for {} systems; whose they are is not told, so they are \
                     kept with the result: {}",
                    counts.0,
                    counts.1,
                    listed(&charts[at].errors)
                ),
            ),
        }
    }
}

fn listed(errors: &[(String, String)]) -> String {
    let texts: Vec<String> = errors
        .iter()
        .map(|(e, n)| format!("{e} (N = {n})"))
        .collect();
    texts.join(", ")
}

/// Which systems the errors of a chart belong to: the errors of both metrics stand in the ratio of
/// the metrics. Taken only when every other assignment is far worse.
fn align(chart: &Chart, full: &Chart) -> Option<Vec<Option<(String, String)>>> {
    let number = |text: &str| text.parse::<f64>().ok();
    let value = |chart: &Chart, at: usize| number(&chart.values.get(at)?.0);
    let (errors, count) = (&chart.errors, chart.systems.len());
    // Cost of giving error `e` to the system at `place`, in factors of e.
    let cost = |e: usize, place: usize| -> Option<f64> {
        let other = full
            .systems
            .iter()
            .position(|s| *s == chart.systems[place])?;
        let scale = value(chart, place)? / value(full, other)?;
        let expected = number(&full.errors[other].0)? * scale;
        let found = number(&errors[e].0)?;
        Some(((found + 0.005) / (expected + 0.005)).ln().abs())
    };
    if errors.len() > count || errors.len() + 3 < count {
        return None;
    }
    let mut best: Vec<(f64, Vec<usize>)> = Vec::new();
    choose_places(errors.len(), count, &mut Vec::new(), &mut |places| {
        let costs = places.iter().enumerate().map(|(e, place)| cost(e, *place));
        if let Some(total) = costs.sum::<Option<f64>>() {
            best.push((total, places.to_vec()));
        }
    });
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, places) = best.first()?;
    let is_clear = best.get(1).is_none_or(|(second, _)| *second > first + 1.0);
    if *first > 0.3 * errors.len() as f64 || !is_clear {
        return None;
    }
    let mut spreads = vec![None; count];
    for (error, place) in errors.iter().zip(places) {
        spreads[*place] = Some(error.clone());
    }
    Some(spreads)
}

/// Calls back with every rising choice of `left` places out of `count`.
fn choose_places(
    left: usize,
    count: usize,
    so_far: &mut Vec<usize>,
    found: &mut impl FnMut(&[usize]),
) {
    if left == so_far.len() {
        found(so_far);
        return;
    }
    let from = so_far.last().map_or(0, |last| last + 1);
    for place in from..count {
        if count - place < left - so_far.len() {
            break;
        }
        so_far.push(place);
        choose_places(left, count, so_far, found);
        so_far.pop();
    }
}
