//! The 43 queries: the shapes that analytics of web hits are known for, from counting all rows to
//! sums of ninety terms. Wording and constants are our own.

use super::generate::page_hash;
use super::query::Expr::{self, Col, Host, Length, Minute, One, Plus, Source, ToMinute};
use super::query::Fold::{self, Avg, Count, Distinct, Max, Min, Sum};
use super::query::Order::{self, Any, By, Keys, Largest};
use super::query::Query;
use super::query::Test::{self, Days, Filled, Has, HasNot, Is, IsNot, OneOf};

/// Pages that many hits go to.
const POPULAR: i64 = page_hash(1);
const ALSO_POPULAR: i64 = page_hash(2);
const WATCH: Expr = Col("WatchID");
const PHRASE: Expr = Col("SearchPhrase");
const USER: Expr = Col("UserID");
const URL: Expr = Col("URL");
const IP: Expr = Col("ClientIP");
/// Views of one counter's pages over the month.
const MONTH: [Test; 4] = [
    Is("CounterID", 1),
    Days(1, 30),
    Is("DontCountHits", 0),
    Is("IsRefresh", 0),
];

/// One row of folds.
const fn whole(folds: &'static [Fold], tests: &'static [Test]) -> Query {
    groups(&[], folds, tests, Any)
}

/// The first ten groups.
const fn groups(
    keys: &'static [Expr],
    folds: &'static [Fold],
    tests: &'static [Test],
    order: Order,
) -> Query {
    Query {
        keys,
        folds,
        wide: 0,
        tests,
        at_least: 1,
        order,
        offset: 0,
        limit: 10,
    }
}

/// The largest ten groups.
const fn top(keys: &'static [Expr], folds: &'static [Fold], tests: &'static [Test]) -> Query {
    groups(keys, folds, tests, Largest(0))
}

/// Ten rows.
const fn rows(keys: &'static [Expr], tests: &'static [Test], order: Order) -> Query {
    groups(keys, &[], tests, order)
}

/// Further down in the largest groups.
const fn page_of(query: Query, offset: usize) -> Query {
    Query { offset, ..query }
}

const fn large(query: Query, at_least: u64, limit: usize) -> Query {
    Query {
        at_least,
        limit,
        ..query
    }
}

/// In the order they are run.
pub(super) const QUERIES: [Query; 43] = [
    whole(&[Count], &[]),
    whole(&[Count], &[IsNot("AdvEngineID", 0)]),
    whole(
        &[Sum(Col("AdvEngineID")), Count, Avg(Col("ResolutionWidth"))],
        &[],
    ),
    whole(&[Avg(USER)], &[]),
    whole(&[Distinct(USER)], &[]),
    whole(&[Distinct(PHRASE)], &[]),
    whole(&[Min(Col("EventDate")), Max(Col("EventDate"))], &[]),
    top(&[Col("AdvEngineID")], &[Count], &[IsNot("AdvEngineID", 0)]),
    top(&[Col("RegionID")], &[Distinct(USER)], &[]),
    top(
        &[Col("RegionID")],
        &[
            Count,
            Sum(Col("AdvEngineID")),
            Avg(Col("ResolutionWidth")),
            Distinct(USER),
        ],
        &[],
    ),
    top(
        &[Col("MobilePhoneModel")],
        &[Distinct(USER)],
        &[Filled("MobilePhoneModel")],
    ),
    top(
        &[Col("MobilePhone"), Col("MobilePhoneModel")],
        &[Distinct(USER)],
        &[Filled("MobilePhoneModel")],
    ),
    top(&[PHRASE], &[Count], &[Filled("SearchPhrase")]),
    top(&[PHRASE], &[Distinct(USER)], &[Filled("SearchPhrase")]),
    top(
        &[Col("SearchEngineID"), PHRASE],
        &[Count],
        &[Filled("SearchPhrase")],
    ),
    top(&[USER], &[Count], &[]),
    top(&[USER, PHRASE], &[Count], &[]),
    groups(&[USER, PHRASE], &[Count], &[], Keys),
    top(&[USER, Minute("EventTime"), PHRASE], &[Count], &[]),
    rows(
        &[USER, WATCH],
        &[Is("URLHash", POPULAR), Is("CounterID", 2)],
        By(&[WATCH]),
    ),
    whole(&[Count], &[Has("URL", "market")]),
    top(
        &[PHRASE],
        &[Count, Min(URL)],
        &[Has("URL", "market"), Filled("SearchPhrase")],
    ),
    top(
        &[PHRASE],
        &[Count, Min(URL), Min(Col("Title")), Distinct(USER)],
        &[
            Has("Title", "garden"),
            HasNot("URL", ".test/"),
            Filled("SearchPhrase"),
        ],
    ),
    rows(
        &[
            WATCH,
            Col("EventTime"),
            USER,
            URL,
            Col("Title"),
            Col("Referer"),
            Col("HID"),
        ],
        &[Has("URL", "ticket")],
        By(&[Col("EventTime"), WATCH]),
    ),
    rows(
        &[PHRASE],
        &[Filled("SearchPhrase")],
        By(&[Col("EventTime"), WATCH]),
    ),
    rows(&[PHRASE], &[Filled("SearchPhrase")], By(&[PHRASE, WATCH])),
    rows(
        &[PHRASE],
        &[Filled("SearchPhrase")],
        By(&[Col("EventTime"), PHRASE, WATCH]),
    ),
    large(
        groups(
            &[Col("CounterID")],
            &[Avg(Length("URL")), Count],
            &[Filled("URL")],
            Largest(0),
        ),
        100,
        25,
    ),
    large(
        groups(
            &[Host("Referer")],
            &[Avg(Length("Referer")), Count, Min(Col("Referer"))],
            &[Filled("Referer")],
            Largest(0),
        ),
        20,
        25,
    ),
    Query {
        wide: 90,
        ..whole(&[Count], &[])
    },
    top(
        &[Col("SearchEngineID"), IP],
        &[Count, Sum(Col("IsRefresh")), Avg(Col("ResolutionWidth"))],
        &[Filled("SearchPhrase")],
    ),
    top(
        &[WATCH, IP],
        &[Count, Sum(Col("IsRefresh")), Avg(Col("ResolutionWidth"))],
        &[Filled("SearchPhrase")],
    ),
    top(
        &[WATCH, IP],
        &[Count, Sum(Col("IsRefresh")), Avg(Col("ResolutionWidth"))],
        &[],
    ),
    top(&[URL], &[Count], &[]),
    top(&[One, URL], &[Count], &[]),
    top(
        &[
            IP,
            Plus("ClientIP", -1),
            Plus("ClientIP", -2),
            Plus("ClientIP", -3),
        ],
        &[Count],
        &[],
    ),
    top(
        &[URL],
        &[Count],
        &[MONTH[0], MONTH[1], MONTH[2], MONTH[3], Filled("URL")],
    ),
    top(
        &[Col("Title")],
        &[Count],
        &[MONTH[0], MONTH[1], MONTH[2], MONTH[3], Filled("Title")],
    ),
    page_of(
        top(
            &[URL],
            &[Count],
            &[
                MONTH[0],
                MONTH[1],
                MONTH[3],
                IsNot("IsLink", 0),
                Is("IsDownload", 0),
            ],
        ),
        10,
    ),
    page_of(
        top(
            &[
                Col("TraficSourceID"),
                Col("SearchEngineID"),
                Col("AdvEngineID"),
                Source,
                URL,
            ],
            &[Count],
            &[MONTH[0], MONTH[1], MONTH[3]],
        ),
        100,
    ),
    page_of(
        top(
            &[Col("URLHash"), Col("EventDate")],
            &[Count],
            &[
                Days(1, 30),
                Is("IsRefresh", 0),
                OneOf("TraficSourceID", &[1, 6]),
                Is("RefererHash", ALSO_POPULAR),
            ],
        ),
        5,
    ),
    page_of(
        top(
            &[Col("WindowClientWidth"), Col("WindowClientHeight")],
            &[Count],
            &[Days(1, 30), MONTH[2], MONTH[3], Is("URLHash", POPULAR)],
        ),
        20,
    ),
    page_of(
        groups(
            &[ToMinute("EventTime")],
            &[Count],
            &[Is("CounterID", 1), Days(14, 15), MONTH[2], MONTH[3]],
            Keys,
        ),
        20,
    ),
];
