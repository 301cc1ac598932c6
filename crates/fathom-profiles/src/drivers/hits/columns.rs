//! The columns of the table. Names, order and types are those of the public `hits` data set, so
//! that a file of it can be loaded and queries written for it run; the contents are our own.

/// What a column holds, as text in ClickHouse's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I64,
    I32,
    I16,
    Text,
    Time,
    Date,
    Letter,
}

impl Kind {
    pub(super) const fn sql(self) -> &'static str {
        match self {
            Self::I64 => "Int64",
            Self::I32 => "Int32",
            Self::I16 => "Int16",
            Self::Text | Self::Letter => "String",
            Self::Time => "DateTime('UTC')",
            Self::Date => "Date",
        }
    }
}

/// How a column is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// 1 in so many per cent of the rows, else 0.
    Flag(u64),
    /// Evenly from 0 to below.
    Below(u64),
    /// From 1 to below, a few of them in most rows.
    Skewed(u64),
    /// Like `Skewed` in so many per cent of the rows, else 0.
    Rare(u64, u64),
    /// Different in every row.
    Unique,
    /// A user, some of whom come often.
    User,
    /// Moment of the hit, its day, or a moment soon after it.
    Moment,
    Day,
    SoonAfter,
    /// Page of the hit: address, title, hash of the address.
    PageUrl,
    PageTitle,
    PageHash,
    /// Page it came from; often none.
    FromUrl,
    FromHash,
    /// Words searched for, in so many per cent of the rows.
    Phrase(u64),
    /// One word in so many per cent of the rows.
    Word(u64),
    /// One of two letters.
    Letter,
}

use Fill::*;
use Kind::*;

/// Name, type and content, in the order of the file.
pub(super) const COLUMNS: [(&str, Kind, Fill); 105] = [
    ("WatchID", I64, Unique),
    ("JavaEnable", I16, Flag(60)),
    ("Title", Text, PageTitle),
    ("GoodEvent", I16, Flag(100)),
    ("EventTime", Time, Moment),
    ("EventDate", Date, Day),
    ("CounterID", I32, Skewed(10_000)),
    ("ClientIP", I32, Skewed(1 << 22)),
    ("RegionID", I32, Skewed(5_000)),
    ("UserID", I64, User),
    ("CounterClass", I16, Flag(50)),
    ("OS", I16, Skewed(100)),
    ("UserAgent", I16, Skewed(80)),
    ("URL", Text, PageUrl),
    ("Referer", Text, FromUrl),
    ("IsRefresh", I16, Flag(12)),
    ("RefererCategoryID", I16, Rare(30, 1 << 12)),
    ("RefererRegionID", I32, Rare(30, 1 << 9)),
    ("URLCategoryID", I16, Skewed(1 << 12)),
    ("URLRegionID", I32, Skewed(1 << 9)),
    ("ResolutionWidth", I16, Below(2560)),
    ("ResolutionHeight", I16, Below(1600)),
    ("ResolutionDepth", I16, Below(33)),
    ("FlashMajor", I16, Below(12)),
    ("FlashMinor", I16, Below(4)),
    ("FlashMinor2", Text, Word(30)),
    ("NetMajor", I16, Flag(10)),
    ("NetMinor", I16, Flag(5)),
    ("UserAgentMajor", I16, Below(40)),
    ("UserAgentMinor", Text, Word(50)),
    ("CookieEnable", I16, Flag(97)),
    ("JavascriptEnable", I16, Flag(98)),
    ("IsMobile", I16, Flag(10)),
    ("MobilePhone", I16, Rare(10, 128)),
    ("MobilePhoneModel", Text, Word(8)),
    ("Params", Text, Word(2)),
    ("IPNetworkID", I32, Skewed(1 << 20)),
    ("TraficSourceID", I16, Below(9)),
    ("SearchEngineID", I16, Rare(20, 100)),
    ("SearchPhrase", Text, Phrase(15)),
    ("AdvEngineID", I16, Rare(3, 64)),
    ("IsArtifical", I16, Flag(2)),
    ("WindowClientWidth", I16, Below(1920)),
    ("WindowClientHeight", I16, Below(1200)),
    ("ClientTimeZone", I16, Below(24)),
    ("ClientEventTime", Time, SoonAfter),
    ("SilverlightVersion1", I16, Below(6)),
    ("SilverlightVersion2", I16, Flag(20)),
    ("SilverlightVersion3", I32, Below(60_000)),
    ("SilverlightVersion4", I16, Flag(5)),
    ("PageCharset", Text, Word(60)),
    ("CodeVersion", I32, Below(2_000)),
    ("IsLink", I16, Flag(6)),
    ("IsDownload", I16, Flag(1)),
    ("IsNotBounce", I16, Flag(40)),
    ("FUniqID", I64, Unique),
    ("OriginalURL", Text, PageUrl),
    ("HID", I32, Below(1 << 30)),
    ("IsOldCounter", I16, Flag(1)),
    ("IsEvent", I16, Flag(3)),
    ("IsParameter", I16, Flag(4)),
    ("DontCountHits", I16, Flag(10)),
    ("WithHash", I16, Flag(2)),
    ("HitColor", Kind::Letter, Fill::Letter),
    ("LocalEventTime", Time, SoonAfter),
    ("Age", I16, Below(60)),
    ("Sex", I16, Below(3)),
    ("Income", I16, Below(5)),
    ("Interests", I16, Below(1 << 14)),
    ("Robotness", I16, Below(5)),
    ("RemoteIP", I32, Skewed(1 << 22)),
    ("WindowName", I32, Rare(5, 1 << 16)),
    ("OpenerName", I32, Rare(5, 1 << 16)),
    ("HistoryLength", I16, Below(50)),
    ("BrowserLanguage", Text, Word(90)),
    ("BrowserCountry", Text, Word(90)),
    ("SocialNetwork", Text, Word(2)),
    ("SocialAction", Text, Word(1)),
    ("HTTPError", I16, Rare(1, 600)),
    ("SendTiming", I32, Below(1_000)),
    ("DNSTiming", I32, Below(500)),
    ("ConnectTiming", I32, Below(500)),
    ("ResponseStartTiming", I32, Below(5_000)),
    ("ResponseEndTiming", I32, Below(5_000)),
    ("FetchTiming", I32, Below(5_000)),
    ("SocialSourceNetworkID", I16, Rare(3, 32)),
    ("SocialSourcePage", Text, Word(2)),
    ("ParamPrice", I64, Rare(2, 1 << 20)),
    ("ParamOrderID", Text, Word(2)),
    ("ParamCurrency", Text, Word(2)),
    ("ParamCurrencyID", I16, Rare(2, 8)),
    ("OpenstatServiceName", Text, Word(3)),
    ("OpenstatCampaignID", Text, Word(3)),
    ("OpenstatAdID", Text, Word(3)),
    ("OpenstatSourceID", Text, Word(3)),
    ("UTMSource", Text, Word(6)),
    ("UTMMedium", Text, Word(6)),
    ("UTMCampaign", Text, Word(6)),
    ("UTMContent", Text, Word(3)),
    ("UTMTerm", Text, Word(3)),
    ("FromTag", Text, Word(3)),
    ("HasGCLID", I16, Flag(2)),
    ("RefererHash", I64, FromHash),
    ("URLHash", I64, PageHash),
    ("CLID", I32, Rare(10, 1 << 16)),
];

/// The statement that makes the table.
pub(super) fn create_table(table: &str) -> String {
    let column = |(name, kind, _): &(&str, Kind, Fill)| format!("{name} {}", kind.sql());
    let columns: Vec<String> = COLUMNS.iter().map(column).collect();
    format!(
        "CREATE TABLE {table} ({}) ENGINE = MergeTree() PARTITION BY toYYYYMM(EventDate) \
         ORDER BY (CounterID, EventDate, UserID, EventTime, WatchID) \
         SETTINGS index_granularity = 1024",
        columns.join(", ")
    )
}

/// Place of a column; the names that queries use are all there, which a test checks.
pub(super) fn place(name: &str) -> usize {
    let found = COLUMNS.iter().position(|(column, ..)| *column == name);
    assert!(found.is_some(), "queries name columns of the table");
    found.unwrap_or(0)
}
