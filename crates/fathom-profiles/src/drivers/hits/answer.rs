//! The answer to a query, computed of the rows without any database.

use std::collections::{BTreeMap, HashSet};

use super::columns::place;
use super::generate::{Cell, Row};
use super::query::{Expr, Fold, Order, Query, Test, WIDE};

/// The lines that a server must answer with: fields, in order.
pub(super) fn answer(query: &Query, rows: &[Row]) -> Vec<Vec<String>> {
    let passing: Vec<&Row> = rows.iter().filter(|row| passes(query, row)).collect();
    let is_plain = query.folds.is_empty() && query.wide == 0;
    let mut lines = match is_plain {
        true => shown_rows(query, &passing),
        false => groups(query, &passing),
    };
    // The order holds no equal ones, so it does not matter that this sort is stable.
    lines.sort_by(|(a, _), (b, _)| a.cmp(b));
    let limit = match query.order {
        Order::Any => usize::MAX,
        _ => query.limit,
    };
    let wanted = lines.into_iter().skip(query.offset).take(limit);
    wanted.map(|(_, line)| line).collect()
}

/// Something to sort by.
#[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord)]
enum Rank {
    Up(Cell),
    /// Largest first; a total order of numbers.
    Down(std::cmp::Reverse<Number>),
}

/// A number of a fold, whole or not.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i128),
    Part(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Part(number) => number,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Part(number) => number.to_string(),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            _ => self.value().total_cmp(&other.value()),
        }
    }
}

type Line = (Vec<Rank>, Vec<String>);

fn shown_rows(query: &Query, rows: &[&Row]) -> Vec<Line> {
    let line = |row: &&Row| {
        let rank = match query.order {
            Order::By(values) => values
                .iter()
                .map(|value| Rank::Up(value_of(*value, row)))
                .collect(),
            _ => query
                .keys
                .iter()
                .map(|key| Rank::Up(value_of(*key, row)))
                .collect(),
        };
        let fields = query.keys.iter().map(|key| value_of(*key, row).to_string());
        (rank, fields.collect())
    };
    rows.iter().map(line).collect()
}

fn groups(query: &Query, rows: &[&Row]) -> Vec<Line> {
    let mut members: BTreeMap<Vec<Cell>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = query.keys.iter().map(|key| value_of(*key, row)).collect();
        members.entry(key).or_default().push(row);
    }
    let is_large = |rows: &Vec<&Row>| rows.len() as u64 >= query.at_least;
    let large = members.into_iter().filter(|(_, rows)| is_large(rows));
    large.map(|(key, rows)| group(query, key, &rows)).collect()
}

fn group(query: &Query, key: Vec<Cell>, rows: &[&Row]) -> Line {
    let mut fields: Vec<String> = key.iter().map(Cell::to_string).collect();
    let folded: Vec<Folded> = query
        .folds
        .iter()
        .map(|fold| fold_of(*fold, rows))
        .collect();
    fields.extend(folded.iter().map(Folded::text));
    let column = place(WIDE);
    let wide = |term: u32| {
        let of = |row: &&Row| i128::from(int_of(&row[column])) + i128::from(term);
        rows.iter().map(of).sum::<i128>().to_string()
    };
    fields.extend((0..query.wide).map(wide));
    let up = key.into_iter().map(Rank::Up);
    let rank = match query.order {
        Order::Largest(number) => {
            let first = folded[number].number();
            std::iter::once(Rank::Down(std::cmp::Reverse(first)))
                .chain(up)
                .collect()
        }
        _ => up.collect(),
    };
    (rank, fields)
}

/// What a fold comes to.
enum Folded {
    Number(Number),
    Cell(Cell),
}

impl Folded {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.text(),
            Self::Cell(cell) => cell.to_string(),
        }
    }

    fn number(&self) -> Number {
        match self {
            Self::Number(number) => *number,
            Self::Cell(cell) => Number::Whole(int_of(cell).into()),
        }
    }
}

fn fold_of(fold: Fold, rows: &[&Row]) -> Folded {
    let values = |of: Expr| rows.iter().map(move |row| value_of(of, row));
    let sum = |of: Expr| {
        values(of)
            .map(|cell| i128::from(int_of(&cell)))
            .sum::<i128>()
    };
    let whole = |number: usize| Folded::Number(Number::Whole(number as i128));
    let nothing = || Folded::Cell(Cell::Text(String::new()));
    match fold {
        Fold::Count => whole(rows.len()),
        Fold::Sum(of) => Folded::Number(Number::Whole(sum(of))),
        Fold::Avg(of) => Folded::Number(Number::Part(sum(of) as f64 / rows.len() as f64)),
        Fold::Min(of) => values(of).min().map_or_else(nothing, Folded::Cell),
        Fold::Max(of) => values(of).max().map_or_else(nothing, Folded::Cell),
        Fold::Distinct(of) => whole(values(of).collect::<HashSet<_>>().len()),
    }
}

fn passes(query: &Query, row: &Row) -> bool {
    query.tests.iter().all(|test| match *test {
        Test::Is(name, number) => int_of(&row[place(name)]) == number,
        Test::IsNot(name, number) => int_of(&row[place(name)]) != number,
        Test::OneOf(name, numbers) => numbers.contains(&int_of(&row[place(name)])),
        Test::Filled(name) => !text_of(&row[place(name)]).is_empty(),
        Test::Has(name, part) => text_of(&row[place(name)]).contains(part),
        Test::HasNot(name, part) => !text_of(&row[place(name)]).contains(part),
        Test::Days(first, last) => match &row[place("EventDate")] {
            Cell::Date(day) => (first..=last).contains(day),
            _ => false,
        },
    })
}

fn value_of(expr: Expr, row: &Row) -> Cell {
    let cell = |name: &str| &row[place(name)];
    let seconds = |name: &str| match cell(name) {
        Cell::Time(seconds) => *seconds,
        _ => 0,
    };
    match expr {
        Expr::Col(name) => cell(name).clone(),
        Expr::Plus(name, number) => Cell::Int(int_of(cell(name)) + number),
        Expr::Minute(name) => Cell::Int(i64::from(seconds(name) / 60 % 60)),
        Expr::ToMinute(name) => Cell::Time(seconds(name) / 60 * 60),
        Expr::Length(name) => Cell::Int(text_of(cell(name)).len() as i64),
        Expr::Host(name) => Cell::Text(host_of(text_of(cell(name))).to_owned()),
        Expr::One => Cell::Int(1),
        Expr::Source => {
            let is_sent = |name: &str| int_of(cell(name)) != 0;
            match is_sent("SearchEngineID") || is_sent("AdvEngineID") {
                true => Cell::Text(String::new()),
                false => cell("Referer").clone(),
            }
        }
    }
}

fn host_of(url: &str) -> &str {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| Some(rest.split_once('/')?.0));
    match host {
        Some(host) if !host.is_empty() => host.strip_prefix("www.").unwrap_or(host),
        _ => url,
    }
}

fn int_of(cell: &Cell) -> i64 {
    match cell {
        Cell::Int(number) => *number,
        Cell::Time(seconds) => i64::from(*seconds),
        Cell::Date(day) => i64::from(*day),
        Cell::Text(_) => 0,
    }
}

fn text_of(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        _ => "",
    }
}

/// Whether a server's answer is the one computed; else the first line where they differ.
pub(super) fn compare(expected: &[Vec<String>], found: &str) -> Result<(), String> {
    let lines: Vec<Vec<&str>> = found
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    for (number, line) in expected.iter().enumerate() {
        let there = lines.get(number).map_or(&[][..], Vec::as_slice);
        let is_equal =
            line.len() == there.len() && line.iter().zip(there).all(|(a, b)| is_same(a, b));
        if !is_equal {
            let (computed, answered) = (line.join(", "), there.join(", "));
            return Err(format!(
                "row {}: computed {computed}; answered {answered}",
                number + 1
            ));
        }
    }
    match lines.len() == expected.len() {
        true => Ok(()),
        false => Err(format!(
            "{} rows instead of {}",
            lines.len(),
            expected.len()
        )),
    }
}

/// Equal text, or numbers that differ only in how they were rounded.
fn is_same(computed: &str, answered: &str) -> bool {
    if computed == answered {
        return true;
    }
    match (computed.parse::<f64>(), answered.parse::<f64>()) {
        (Ok(a), Ok(b)) if computed.contains('.') || answered.contains('.') => {
            (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
        }
        _ => false,
    }
}
