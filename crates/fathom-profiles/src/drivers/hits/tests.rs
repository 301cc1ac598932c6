use super::answer::{answer, compare};
use super::columns::COLUMNS;
use super::generate::{Cell, row, write_row};
use super::query::{Order, Query};
use super::*;

#[test]
fn rows_are_the_same_everywhere() {
    let mut text = Vec::new();
    write_row(&row(DATA_SEED, 0), &mut text);
    write_row(&row(DATA_SEED, 999_999), &mut text);
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        assert_eq!(line.split('\t').count(), COLUMNS.len());
    }
    assert_eq!(row(DATA_SEED, 7), row(DATA_SEED, 7));
    assert_ne!(row(DATA_SEED, 7), row(DATA_SEED + 1, 7));
}

#[test]
fn queries_name_columns_and_are_ordered_to_the_last() {
    for query in &QUERIES {
        assert!(query.names_known_columns(), "{}", query.sql("hits"));
        let is_single = query.keys.is_empty();
        assert_eq!(
            is_single,
            query.order == Order::Any,
            "{}",
            query.sql("hits")
        );
    }
}

/// On a small table nearly every query must still find something, or its answer proves nothing.
#[test]
fn answers_are_not_empty() {
    let rows: Vec<_> = (0..CHECK_ROWS).map(|n| row(DATA_SEED, n)).collect();
    let is_empty = |query: &&Query| answer(query, &rows).is_empty();
    let empty: Vec<_> = QUERIES
        .iter()
        .filter(is_empty)
        .map(|q| q.sql("hits"))
        .collect();
    assert!(empty.is_empty(), "{empty:#?}");
}

#[test]
fn statements_are_clickhouse_ones() {
    let found = QUERIES[42].sql("hits");
    let expected = "SELECT toStartOfMinute(EventTime), count() FROM hits WHERE CounterID = 1 AND \
                    EventDate >= toDate('2013-07-14') AND EventDate <= toDate('2013-07-15') AND \
                    DontCountHits = 0 AND IsRefresh = 0 GROUP BY toStartOfMinute(EventTime) \
                    ORDER BY toStartOfMinute(EventTime) LIMIT 20, 10";
    assert_eq!(found, expected);
    assert_eq!(QUERIES[29].sql("hits").matches("sum(").count(), 90);
}

#[test]
fn a_wrong_answer_is_shown() {
    let expected = vec![
        vec!["a".to_owned(), "0.1".to_owned()],
        vec!["b".to_owned(), "2".to_owned()],
    ];
    assert!(compare(&expected, "a\t0.10000000000000001\nb\t2\n").is_ok());
    let check = |found: &str, part: &str| {
        let text = compare(&expected, found).unwrap_err();
        assert!(text.contains(part), "{text}");
    };
    check("a\t0.1\nb\t3\n", "row 2: computed b, 2; answered b, 3");
    check("a\t0.1\n", "row 2");
    check("a\t0.1\nb\t2\nc\t1\n", "3 rows instead of 2");
    check("a\t0.11\nb\t2\n", "row 1");
}

#[test]
fn the_figure_is_sixty_by_the_geometric_mean() {
    assert!((queries_per_minute(&[0.1, 10.0]) - 60.0).abs() < 1e-9);
    assert!((queries_per_minute(&[0.182, 0.182]) - 329.67).abs() < 0.01);
}

#[test]
fn times_are_written_as_days_of_july() {
    assert_eq!(Cell::Time(86_399).to_string(), "2013-07-01 23:59:59");
    assert_eq!(Cell::Time(29 * 86_400).to_string(), "2013-07-30 00:00:00");
    assert_eq!(Cell::Date(9).to_string(), "2013-07-09");
}
