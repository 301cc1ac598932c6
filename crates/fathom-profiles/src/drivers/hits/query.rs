//! What a query asks, and how ClickHouse is asked it.

#[cfg(test)]
use super::columns::COLUMNS;

/// A value computed of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    Col(&'static str),
    /// A number column plus something.
    Plus(&'static str, i64),
    /// Minute of the hour.
    Minute(&'static str),
    /// Beginning of the minute.
    ToMinute(&'static str),
    Length(&'static str),
    /// The host of an address, without `www.`; all of what is no address.
    Host(&'static str),
    One,
    /// Where a hit came from, unless a search engine or an advertisement sent it.
    Source,
}

/// What rows are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Is(&'static str, i64),
    IsNot(&'static str, i64),
    OneOf(&'static str, &'static [i64]),
    Filled(&'static str),
    Has(&'static str, &'static str),
    HasNot(&'static str, &'static str),
    /// Days of July 2013, both included.
    Days(u32, u32),
}

/// What is computed of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Count,
    Sum(Expr),
    Avg(Expr),
    Min(Expr),
    Max(Expr),
    Distinct(Expr),
}

/// In what order rows come; so that there is only one right answer, groups of the same size are
/// ordered by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The only row.
    Any,
    /// Largest first, by the fold of that number.
    Largest(usize),
    /// By the keys.
    Keys,
    /// By other values, the last of which is unique.
    By(&'static [Expr]),
}

/// A query: without folds it shows rows, with them groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) keys: &'static [Expr],
    pub(super) folds: &'static [Fold],
    /// Terms `sum(ResolutionWidth + i)`, i from 0.
    pub(super) wide: u32,
    pub(super) tests: &'static [Test],
    /// Rows a group must have at least.
    pub(super) at_least: u64,
    pub(super) order: Order,
    pub(super) offset: usize,
    pub(super) limit: usize,
}

/// The column that wide sums are of.
pub(super) const WIDE: &str = "ResolutionWidth";

impl Expr {
    fn sql(self) -> String {
        match self {
            Self::Col(name) => name.to_owned(),
            Self::Plus(name, number) if number < 0 => format!("({name} - {})", -number),
            Self::Plus(name, number) => format!("({name} + {number})"),
            Self::Minute(name) => format!("toMinute({name})"),
            Self::ToMinute(name) => format!("toStartOfMinute({name})"),
            Self::Length(name) => format!("length({name})"),
            Self::Host(name) => {
                format!(r"replaceRegexpOne({name}, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1')")
            }
            Self::One => "1".to_owned(),
            Self::Source => "if(SearchEngineID = 0 AND AdvEngineID = 0, Referer, '')".to_owned(),
        }
    }
}

impl Test {
    fn sql(self) -> String {
        match self {
            Self::Is(name, number) => format!("{name} = {number}"),
            Self::IsNot(name, number) => format!("{name} <> {number}"),
            Self::OneOf(name, numbers) => {
                let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
                format!("{name} IN ({})", words.join(", "))
            }
            Self::Filled(name) => format!("{name} <> ''"),
            Self::Has(name, part) => format!("{name} LIKE '%{part}%'"),
            Self::HasNot(name, part) => format!("{name} NOT LIKE '%{part}%'"),
            Self::Days(first, last) => format!(
                "EventDate >= toDate('2013-07-{first:02}') AND EventDate <= \
                 toDate('2013-07-{last:02}')"
            ),
        }
    }
}

impl Fold {
    fn sql(self) -> String {
        match self {
            Self::Count => "count()".to_owned(),
            Self::Sum(of) => format!("sum({})", of.sql()),
            Self::Avg(of) => format!("avg({})", of.sql()),
            Self::Min(of) => format!("min({})", of.sql()),
            Self::Max(of) => format!("max({})", of.sql()),
            Self::Distinct(of) => format!("uniqExact({})", of.sql()),
        }
    }
}

impl Query {
    /// As ClickHouse of any age reads it.
    pub(super) fn sql(&self, table: &str) -> String {
        let keys = self.keys.iter().map(|key| key.sql());
        let folds = self.folds.iter().map(|fold| fold.sql());
        let wide = (0..self.wide).map(|term| format!("sum({WIDE} + {term})"));
        let shown: Vec<String> = keys.clone().chain(folds).chain(wide).collect();
        let mut sql = format!("SELECT {} FROM {table}", shown.join(", "));
        if !self.tests.is_empty() {
            let tests: Vec<String> = self.tests.iter().map(|test| test.sql()).collect();
            sql += &format!(" WHERE {}", tests.join(" AND "));
        }
        let is_grouped = !self.folds.is_empty() && !self.keys.is_empty();
        let keys: Vec<String> = keys.collect();
        if is_grouped {
            sql += &format!(" GROUP BY {}", keys.join(", "));
        }
        if self.at_least > 1 {
            sql += &format!(" HAVING count() >= {}", self.at_least);
        }
        let order = match self.order {
            Order::Any => Vec::new(),
            Order::Keys => keys,
            Order::Largest(number) => {
                let first = format!("{} DESC", self.folds[number].sql());
                std::iter::once(first).chain(keys).collect()
            }
            Order::By(values) => values.iter().map(|value| value.sql()).collect(),
        };
        if !order.is_empty() {
            sql += &format!(" ORDER BY {}", order.join(", "));
            sql += &format!(" LIMIT {}, {}", self.offset, self.limit);
        }
        sql
    }

    /// Columns it names.
    #[cfg(test)]
    pub(super) fn names_known_columns(&self) -> bool {
        let sql = self.sql("hits");
        let word = |c: char| !c.is_ascii_alphanumeric();
        let is_name = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.contains(|c: char| c.is_ascii_lowercase())
        };
        sql.split('\'')
            .step_by(2)
            .flat_map(|part| part.split(word))
            .filter(is_name)
            .all(|name| COLUMNS.iter().any(|(column, ..)| *column == name))
    }
}
