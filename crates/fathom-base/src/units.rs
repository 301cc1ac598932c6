use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// A text that is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a {what}; expected {expected}")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// `size`, `duration`, ...
    pub what: &'static str,
    /// The accepted form with an example.
    pub expected: &'static str,
}

/// A number of bytes.
///
/// Read from `4096`, `4096B`, `4KiB`, `4k` (binary, as fio's job files write it), `4KB` (decimal);
/// also `Mi`/`M`, `Gi`/`G`, `Ti`/`T`. Printed exactly: in the largest binary unit that divides it,
/// else the largest decimal one, else in `B`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bytes(u64);

impl Bytes {
    /// 2^10 bytes.
    pub const KIB: Self = Self(1 << 10);
    /// 2^20 bytes.
    pub const MIB: Self = Self(1 << 20);
    /// 2^30 bytes.
    pub const GIB: Self = Self(1 << 30);

    /// A number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// For people: three significant digits in decimal units, `9.5 GB`.
    pub fn rough(self) -> String {
        rough_decimal(self.0 as f64, &["B", "kB", "MB", "GB", "TB", "PB"])
    }
}

const BYTE_UNITS: [(&str, u64); 20] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("kB", 1_000),
    ("B", 1),
    ("", 1),
    ("T", 1 << 40),
    ("t", 1 << 40),
    ("G", 1 << 30),
    ("g", 1 << 30),
    ("M", 1 << 20),
    ("m", 1 << 20),
    ("K", 1 << 10),
    ("k", 1 << 10),
    ("b", 1),
];

/// How many of [`BYTE_UNITS`], from the front, are used for printing.
const PRINTED_BYTE_UNITS: usize = 8;

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.to_owned(),
            what: "size",
            expected: "a number with B, KiB, MiB, GiB, KB, MB, GB (4KiB; 4k also means 4KiB)",
        };
        let (number, unit) = split_unit(text).ok_or_else(error)?;
        let (_, factor) = *BYTE_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(error)?;
        scaled(number, factor).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = BYTE_UNITS[..PRINTED_BYTE_UNITS]
            .iter()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
        match unit {
            Some((name, factor)) => f.pad(&format!("{}{name}", self.0 / factor)),
            None => f.pad(&format!("{}B", self.0)),
        }
    }
}

/// A duration in nanoseconds.
///
/// Read from `1500ms`, `1.5s`, `2m`, `1h`, `250us`, `100ns`, or a bare number of seconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nanos(u64);

impl Nanos {
    /// A number of nanoseconds.
    pub const fn new(ns: u64) -> Self {
        Self(ns)
    }

    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// From seconds; negative and NaN become zero, too large becomes the maximum.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9) as u64)
    }

    /// The number of nanoseconds.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As a standard duration.
    pub const fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }

    /// The time since `earlier`, zero when that lies ahead.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The sum, limited to the largest duration.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// For people: three significant digits, `71 us`, `1.21 ms`, `4.00 s`, `2 min 5 s`.
    pub fn rough(self) -> String {
        const MINUTE: f64 = 60e9;
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => format!("{} us", three_digits(ns / 1e3)),
            999_500..999_500_000 => format!("{} ms", three_digits(ns / 1e6)),
            999_500_000..60_000_000_000 => format!("{} s", three_digits(ns / 1e9)),
            60_000_000_000..3_600_000_000_000 => {
                let seconds = (ns / 1e9).round() as u64;
                format!("{} min {} s", seconds / 60, seconds % 60)
            }
            _ => {
                let minutes = (ns / MINUTE).round() as u64;
                format!("{} h {} min", minutes / 60, minutes % 60)
            }
        }
    }
}

const TIME_UNITS: [(&str, u64); 8] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("", 1_000_000_000),
];

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.to_owned(),
            what: "duration",
            expected: "a number with ns, us, ms, s, m or h (30s); without a unit it is seconds",
        };
        let (number, unit) = split_unit(text).ok_or_else(error)?;
        let (_, factor) = *TIME_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(error)?;
        scaled(number, factor).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Nanos {
    /// Exact, in the largest unit that divides the duration: `90s`, `1500ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            ("h", 0),
            ("m", 2),
            ("s", 3),
            ("ms", 4),
            ("us", 5),
            ("ns", 6),
        ];
        for (name, row) in names {
            let factor = TIME_UNITS[row].1;
            if self.0 >= factor && self.0.is_multiple_of(factor) {
                return f.pad(&format!("{}{name}", self.0 / factor));
            }
        }
        f.pad("0s")
    }
}

/// A part of a hundred, as typed: `70`, `70%`, `12.5%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percent(f64);

impl Percent {
    /// From a number of per cent; must be finite.
    pub fn new(percent: f64) -> Option<Self> {
        percent.is_finite().then_some(Self(percent))
    }

    /// In per cent: 70 for 70 %.
    pub fn value(self) -> f64 {
        self.0
    }

    /// As a fraction: 0.7 for 70 %.
    pub fn fraction(self) -> f64 {
        self.0 / 100.0
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = text.trim().trim_end_matches('%').trim_end();
        number
            .parse()
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| UnitError {
                text: text.to_owned(),
                what: "percentage",
                expected: "a number, with or without % (70%)",
            })
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", self.0))
    }
}

/// A rate limit: `1000/s` or `1000iops` operations, `50MB/s` or `50MiB/s` bytes, per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Operations a second.
    Operations(f64),
    /// Bytes a second.
    Bytes(u64),
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.to_owned(),
            what: "rate",
            expected: "operations (1000/s, 1000iops) or bytes a second (50MB/s, 50MiB/s)",
        };
        let trimmed = text.trim();
        let lower = trimmed.to_ascii_lowercase();
        let number = lower
            .strip_suffix("iops")
            .or_else(|| lower.strip_suffix("/s"));
        if let Some(number) = number.map(str::trim)
            && let Ok(operations) = number.parse::<f64>()
        {
            let valid = operations.is_finite() && operations > 0.0;
            return valid
                .then_some(Self::Operations(operations))
                .ok_or_else(error);
        }
        let bytes = trimmed.strip_suffix("/s").ok_or_else(error)?;
        match bytes.trim().parse::<Bytes>() {
            Ok(bytes) if bytes.as_u64() > 0 => Ok(Self::Bytes(bytes.as_u64())),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(per_second) => f.pad(&format!("{per_second}/s")),
            Self::Bytes(per_second) => f.pad(&format!("{}/s", Bytes(*per_second))),
        }
    }
}

/// A transfer rate for people, in decimal units: `3431 MB/s`, `54.2 MB/s`, `12.4 GB/s`.
pub fn format_rate_bytes(bytes_per_second: f64) -> String {
    let text = rough_decimal(bytes_per_second, &["B", "kB", "MB", "GB", "TB"]);
    format!("{text}/s")
}

/// Splits `1.5s` into the number and the unit; `None` when there is no number.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    number
        .bytes()
        .any(|b| b.is_ascii_digit())
        .then_some((number, unit.trim()))
}

/// `number * factor` as a whole number; exact for integers and for fractions that come out whole.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let value = number.parse::<f64>().ok()? * factor as f64;
    let whole = value.round();
    let is_whole = (value - whole).abs() <= 1e-6 * value.abs().max(1.0);
    (is_whole && (0.0..1.8e19).contains(&whole)).then_some(whole as u64)
}

/// Three significant digits, never an exponent, never digits that were rounded away.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

fn rough_decimal(value: f64, units: &[&str]) -> String {
    let mut scaled = value;
    let mut row = 0;
    while scaled >= 9999.5 && row + 1 < units.len() || scaled >= 999.5 && row == 0 {
        scaled /= 1000.0;
        row += 1;
    }
    if row == 0 {
        return format!("{scaled:.0} {}", units[0]);
    }
    format!("{} {}", three_digits(scaled), units[row])
}
