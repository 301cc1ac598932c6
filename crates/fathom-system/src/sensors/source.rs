//! How one sensor is read.

use std::fs::File;
use std::os::unix::fs::FileExt;

use fathom_base::Nanos;

/// A file of `/proc` or `/sys` that stays open; what is read is the state at the moment of reading.
#[derive(Debug)]
pub(super) struct Text {
    file: File,
    buffer: Vec<u8>,
}

impl Text {
    /// Reads at most `limit` bytes each time.
    pub fn open(path: &std::path::Path, limit: usize) -> Option<Self> {
        Some(Self {
            file: File::open(path).ok()?,
            buffer: vec![0; limit],
        })
    }

    fn read(&mut self) -> Option<&str> {
        let length = self.file.read_at(&mut self.buffer, 0).ok()?;
        let bytes = self.buffer.get(..length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            // Cut within a character.
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        }
    }

    fn number(&mut self) -> Option<f64> {
        self.read()?.trim().parse().ok()
    }
}

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A number, times a factor.
    Gauge(f64),
    /// Kilobytes in use of `/proc/meminfo`, in MB.
    MemoryUsed,
    /// Kilobytes behind a key of `/proc/meminfo`, in MB.
    MemoryOf(&'static str),
    /// Bytes over all interfaces of `/proc/net/dev` but the loop, in MB/s.
    Network,
    /// Per cent of the time something waited: the line `some` of a pressure file.
    Pressure,
    /// Per cent of all processors' time that was busy: `/proc/stat`.
    CpuUsage,
    /// A counter of microjoules that begins again after this many, in W.
    Energy(f64),
    /// A column of `/sys/block/NAME/stat` that counts, times a factor, a second.
    Column(usize, f64),
}

/// A sensor's files.
#[derive(Debug)]
pub(super) struct Source {
    texts: Vec<Text>,
    meaning: Meaning,
    last: Option<(f64, f64)>,
}

impl Source {
    /// A sensor of one file; of several, the mean is given.
    pub fn new(texts: Vec<Text>, meaning: Meaning) -> Self {
        Self {
            texts,
            meaning,
            last: None,
        }
    }

    /// Whether its files say what they should.
    pub fn works(&mut self) -> bool {
        let is_there = self.read(None).is_some();
        self.last.take().is_some() || is_there
    }

    /// Its value; `elapsed` is the time since the last look.
    pub fn read(&mut self, elapsed: Option<Nanos>) -> Option<f64> {
        match self.meaning {
            Meaning::Gauge(factor) => {
                let values: Vec<f64> = self.texts.iter_mut().filter_map(Text::number).collect();
                let sum: f64 = values.iter().sum();
                (!values.is_empty()).then(|| sum / values.len() as f64 * factor)
            }
            Meaning::MemoryUsed => {
                let text = self.texts.first_mut()?.read()?;
                let total = keyed(text, "MemTotal:")?;
                Some((total - keyed(text, "MemAvailable:")?) * 1024.0 / 1e6)
            }
            Meaning::MemoryOf(key) => {
                Some(keyed(self.texts.first_mut()?.read()?, key)? * 1024.0 / 1e6)
            }
            _ => self.rate(elapsed),
        }
    }

    fn rate(&mut self, elapsed: Option<Nanos>) -> Option<f64> {
        let meaning = self.meaning;
        let text = self.texts.first_mut().and_then(Text::read);
        let Some(now) = text.and_then(|text| counted(meaning, text)) else {
            // A counter that comes back has begun anew.
            self.last = None;
            return None;
        };
        let before = self.last.replace(now)?;
        let seconds = elapsed?.as_secs_f64();
        let mut gone = now.0 - before.0;
        match meaning {
            Meaning::CpuUsage => {
                let all = now.1 - before.1;
                return (all > 0.0).then(|| (gone / all * 100.0).clamp(0.0, 100.0));
            }
            Meaning::Energy(range) if gone < 0.0 => gone += range,
            _ => {}
        }
        // What went backwards was reset, or is another device of the same name.
        (seconds > 0.0 && gone >= 0.0).then(|| match meaning {
            Meaning::Energy(_) => gone / 1e6 / seconds,
            Meaning::Pressure => (gone / 1e6 / seconds * 100.0).min(100.0),
            Meaning::Column(_, factor) => gone * factor / seconds,
            _ => gone / 1e6 / seconds,
        })
    }
}

/// What has been counted so far, and for shares what it is a share of.
fn counted(meaning: Meaning, text: &str) -> Option<(f64, f64)> {
    match meaning {
        Meaning::CpuUsage => {
            let line = text.lines().next()?.strip_prefix("cpu ")?;
            let ticks: Vec<f64> = line
                .split_whitespace()
                .take(8)
                .map_while(|t| t.parse().ok())
                .collect();
            let all: f64 = ticks.iter().sum();
            let idle = ticks.get(3)? + ticks.get(4).unwrap_or(&0.0);
            Some((all - idle, all))
        }
        Meaning::Pressure => {
            let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
            let total = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix("total="))?;
            Some((total.parse().ok()?, 0.0))
        }
        Meaning::Energy(_) => Some((text.trim().parse().ok()?, 0.0)),
        Meaning::Column(column, _) => {
            Some((text.split_whitespace().nth(column)?.parse().ok()?, 0.0))
        }
        Meaning::Network => {
            let mut bytes = 0.0;
            for line in text.lines().skip(2) {
                let (name, rest) = line.split_once(':')?;
                let columns: Vec<f64> = rest
                    .split_whitespace()
                    .map_while(|t| t.parse().ok())
                    .collect();
                if name.trim() != "lo" {
                    bytes += columns.first()? + columns.get(8)?;
                }
            }
            Some((bytes, 0.0))
        }
        _ => None,
    }
}

fn keyed(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}
