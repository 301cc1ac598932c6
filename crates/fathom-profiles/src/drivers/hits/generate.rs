//! Makes up rows: the same seed and number give the same row, on any machine.

use std::fmt;

use fathom_stats::random::Xoshiro256;

use super::columns::{COLUMNS, Fill};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cell {
    Int(i64),
    Text(String),
    /// Seconds since the beginning of July 2013.
    Time(u32),
    /// Day of July 2013.
    Date(u32),
}

/// As ClickHouse writes and reads it in tab-separated text; texts hold nothing to be escaped.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Date(day) => write!(f, "2013-07-{day:02}"),
            Self::Time(seconds) => {
                let (day, rest) = (seconds / DAY + 1, seconds % DAY);
                let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
                write!(f, "2013-07-{day:02} {hour:02}:{minute:02}:{second:02}")
            }
        }
    }
}

/// Seconds of a day.
pub(super) const DAY: u32 = 24 * 3600;
/// All hits are of these days, the last one kept free for moments soon after a hit.
const DAYS: u32 = 30;
const PAGES: u64 = 1 << 18;
const USERS: u64 = 1 << 17;

const WORDS: [&str; 48] = [
    "amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "harbor", "indigo", "jasper",
    "kelp", "lagoon", "maple", "nectar", "olive", "pebble", "quartz", "raven", "saffron", "timber",
    "umber", "velvet", "willow", "xenon", "yarrow", "zephyr", "anchor", "bridge", "candle",
    "dinner", "engine", "flight", "garden", "hotel", "island", "journal", "kitchen", "ladder",
    "market", "number", "orange", "pocket", "quiet", "recipe", "shop", "ticket", "video", "winter",
];

/// A row.
pub(super) type Row = Vec<Cell>;

/// The row of a number.
pub(super) fn row(seed: u64, number: u64) -> Row {
    let mut random = Xoshiro256::new(mix(seed ^ mix(number)));
    let hit = Hit {
        number,
        moment: random.below(u64::from(DAYS * DAY)) as u32,
        page: skewed(&mut random, PAGES),
        from: match random.below(100) {
            0..60 => skewed(&mut random, PAGES),
            _ => 0,
        },
    };
    COLUMNS
        .iter()
        .map(|(.., fill)| hit.cell(*fill, &mut random))
        .collect()
}

/// Rows as lines of tab-separated text.
pub(super) fn write_row(row: &Row, text: &mut Vec<u8>) {
    use std::io::Write as _;
    for (number, cell) in row.iter().enumerate() {
        let end = if number + 1 < row.len() { '\t' } else { '\n' };
        // Writing to memory cannot fail.
        let _ = write!(text, "{cell}{end}");
    }
}

/// What several columns of a row tell of.
struct Hit {
    number: u64,
    moment: u32,
    page: u64,
    /// 0 is none.
    from: u64,
}

impl Hit {
    fn cell(&self, fill: Fill, random: &mut Xoshiro256) -> Cell {
        let int = |number: u64| Cell::Int(i64::try_from(number).unwrap_or(i64::MAX));
        match fill {
            Fill::Flag(percent) => int(u64::from(random.below(100) < percent)),
            Fill::Below(limit) => int(random.below(limit)),
            Fill::Skewed(limit) => int(skewed(random, limit)),
            Fill::Rare(percent, limit) => match random.below(100) < percent {
                true => int(skewed(random, limit)),
                false => int(0),
            },
            Fill::Unique => int((self.number << 20) | (random.next_u64() >> 44)),
            // Small enough that sums over any table fit into 64 bits.
            Fill::User => int(mix(skewed(random, USERS)) >> 26),
            Fill::Moment => Cell::Time(self.moment),
            Fill::SoonAfter => Cell::Time(self.moment + random.below(600) as u32),
            Fill::Day => Cell::Date(self.moment / DAY + 1),
            Fill::PageUrl => Cell::Text(url(self.page)),
            Fill::PageTitle => Cell::Text(title(self.page)),
            Fill::PageHash => Cell::Int(page_hash(self.page)),
            Fill::FromUrl => Cell::Text(if self.from == 0 {
                String::new()
            } else {
                url(self.from)
            }),
            Fill::FromHash => Cell::Int(page_hash(self.from)),
            Fill::Phrase(percent) => Cell::Text(phrase(percent, random)),
            Fill::Word(percent) => match random.below(100) < percent {
                true => Cell::Text(word(skewed(random, 1 << 12))),
                false => Cell::Text(String::new()),
            },
            Fill::Letter => Cell::Text(["T", "5"][random.below(2) as usize].to_owned()),
        }
    }
}

/// From 1 to below `limit`; each doubling is as likely as the last one, which is near to the law
/// that many counts of the web follow.
fn skewed(random: &mut Xoshiro256, limit: u64) -> u64 {
    let octaves = u64::from(limit.max(2).ilog2());
    let low = 1 << random.below(octaves);
    (low + random.below(low)).min(limit - 1)
}

/// Hash of a page's address.
pub(super) const fn page_hash(page: u64) -> i64 {
    (mix(page) >> 1) as i64
}

/// The finalizer of SplitMix64.
const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn pick(number: u64) -> &'static str {
    WORDS[(number % WORDS.len() as u64) as usize]
}

fn url(page: u64) -> String {
    let bits = mix(page);
    let (host, section, name) = (pick(bits), pick(bits >> 8), pick(bits >> 16));
    let www = if bits & (1 << 40) == 0 { "" } else { "www." };
    let end = ["example", "test", "invalid"][(bits >> 48) as usize % 3];
    format!(
        "http://{www}{host}{}.{end}/{section}/{name}-{page}",
        bits >> 24 & 0xf
    )
}

fn title(page: u64) -> String {
    let bits = mix(page ^ 0x5449);
    format!("{} {} - {}", pick(bits), pick(bits >> 8), pick(mix(page)))
}

fn phrase(percent: u64, random: &mut Xoshiro256) -> String {
    if random.below(100) >= percent {
        return String::new();
    }
    let words = 1 + random.below(3);
    let one = |_| word(skewed(random, 1 << 10));
    (0..words).map(one).collect::<Vec<_>>().join(" ")
}

/// A word; beyond the list with a number behind it.
fn word(number: u64) -> String {
    let count = WORDS.len() as u64;
    match number / count {
        0 => pick(number).to_owned(),
        beyond => format!("{}{beyond}", pick(number)),
    }
}
