//! The generated statements.

use std::fmt::Write as _;

use fathom_stats::random::Xoshiro256;

/// Rows put into the table before the clients come: the original counts its CREATE as one of 100
/// statements.
pub(super) const PRELOADED: u32 = 99;
const INT_COLUMNS: usize = 4;
const TEXT_COLUMNS: usize = 4;
/// Different INSERTs of the preload, used in turn.
const PRELOAD_STATEMENTS: usize = 10;
/// Statements of the list that clients go through: INSERT and SELECT in turn.
const LIST: usize = 11;
const TEXT_LENGTH: usize = 126;
const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTWXYZabcdefghijklmnopqrstuvwxyz";

/// A statement of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// The whole text.
    Insert(String),
    /// The text up to the id.
    Select(String),
}

impl Query {
    /// Writes the statement; a select asks for one of the ids at random.
    pub(super) fn write(&self, ids: &[String], random: &mut Xoshiro256, text: &mut String) {
        text.clear();
        match self {
            Self::Insert(whole) => text.push_str(whole),
            Self::Select(begin) => {
                let id = match ids.len() {
                    0 => "",
                    count => &ids[random.below(count as u64) as usize],
                };
                // Writing to a string cannot fail.
                let _ = write!(text, "{begin}'{id}'");
            }
        }
    }
}

/// What is drawn once and used in every iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryList {
    preload: Vec<String>,
    queries: Vec<Query>,
}

impl QueryList {
    pub(super) fn draw(random: &mut Xoshiro256) -> Self {
        let preload = (0..PRELOAD_STATEMENTS).map(|_| insert(random)).collect();
        let queries = (0..LIST)
            .map(|number| match number % 2 {
                0 => Query::Insert(insert(random)),
                _ => Query::Select(select()),
            })
            .collect();
        Self { preload, queries }
    }

    /// Statement of a preloaded row.
    pub(super) fn preload(&self, row: u32) -> &str {
        &self.preload[row as usize % self.preload.len()]
    }

    /// The query of a number from 0.
    pub(super) fn query(&self, number: u64) -> &Query {
        &self.queries[(number % self.queries.len() as u64) as usize]
    }
}

/// The table's definition.
pub(super) fn create_table(engine: &str) -> String {
    let ints = (1..=INT_COLUMNS).map(|n| format!(",intcol{n} INT(32)"));
    let texts = (1..=TEXT_COLUMNS).map(|n| format!(",charcol{n} VARCHAR(128)"));
    let columns: String = ints.chain(texts).collect();
    format!("CREATE TABLE `t1` (id serial{columns}) ENGINE={engine}")
}

fn insert(random: &mut Xoshiro256) -> String {
    let mut text = "INSERT INTO t1 VALUES (NULL".to_owned();
    for _ in 0..INT_COLUMNS {
        let _ = write!(text, ",{}", random.below(1 << 31));
    }
    for _ in 0..TEXT_COLUMNS {
        let letter = |_| LETTERS[random.below(LETTERS.len() as u64) as usize];
        let word: String = (0..TEXT_LENGTH).map(letter).map(char::from).collect();
        let _ = write!(text, ",'{word}'");
    }
    text.push(')');
    text
}

fn select() -> String {
    let ints = (1..=INT_COLUMNS).map(|n| format!("intcol{n}"));
    let texts = (1..=TEXT_COLUMNS).map(|n| format!("charcol{n}"));
    let columns: Vec<String> = ints.chain(texts).collect();
    format!("SELECT {} FROM t1 WHERE id = ", columns.join(","))
}
