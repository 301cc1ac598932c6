use fathom_base::{Bytes, Nanos};

use crate::machine::TargetInfo;

#[cfg(test)]
mod tests;

/// What a target of this kind is expected to do, for plans only: never part of a result.
///
/// The rates are upper ends for the kind, so that estimates of bytes are not exceeded; the times of
/// a flush are typical ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Bytes a second at most.
    pub bytes_per_second: u64,
    /// Small writes a second at most.
    pub writes_per_second: u64,
    /// The shortest time a small write takes.
    pub write_ns: u64,
    /// Time of a flush.
    pub flush_ns: u64,
}

impl Guess {
    /// By what the target is made of.
    pub fn of(target: &TargetInfo) -> Self {
        let guess = |mb: u64, kilo_writes: u64, write_us: u64, flush_us: u64| Self {
            bytes_per_second: mb * 1_000_000,
            writes_per_second: kilo_writes * 1000,
            write_ns: write_us * 1000,
            flush_ns: flush_us * 1000,
        };
        if target.memory.is_some() {
            return guess(8000, 3000, 1, 2);
        }
        if target.is_network {
            return guess(1200, 100, 200, 5000);
        }
        let drives = target.drives.len().max(1) as u64;
        let kind = |transport: &str| {
            target
                .drives
                .iter()
                .any(|drive| drive.transport.as_deref() == Some(transport))
        };
        let rotates = target.drives.iter().any(|d| d.rotational == Some(true));
        let mut one = match () {
            () if kind("nvme") => guess(3500, 700, 10, 1000),
            () if kind("sata") && rotates => guess(260, 2, 100, 25_000),
            () if kind("sata") => guess(550, 100, 30, 3000),
            () if kind("usb") => guess(1000, 60, 100, 10_000),
            () if kind("mmc") => guess(300, 10, 200, 10_000),
            () => guess(2000, 200, 20, 3000),
        };
        let link: u64 = target
            .drives
            .iter()
            .filter_map(|drive| drive.link.as_ref())
            .map(|link| link.bytes_per_second)
            .sum();
        one.writes_per_second = one.writes_per_second.saturating_mul(drives);
        one.bytes_per_second = match link {
            0 => one.bytes_per_second.saturating_mul(drives),
            link => one.bytes_per_second.saturating_mul(drives).min(link),
        };
        one
    }

    /// Bytes written in `time` with `in_flight` operations of `block` at a time, each followed by a
    /// flush or not.
    pub fn written(&self, time: Nanos, block: Bytes, in_flight: u64, is_flushed: bool) -> Bytes {
        let each_ns = match is_flushed {
            true => self.write_ns + self.flush_ns / 4,
            false => self.write_ns,
        };
        let by_latency = block.as_u64() as f64 * in_flight as f64 * 1e9 / each_ns.max(1) as f64;
        let by_count = block.as_u64() as f64 * self.writes_per_second as f64;
        let rate = by_latency.min(by_count).min(self.bytes_per_second as f64);
        Bytes::new((rate * time.as_secs_f64()) as u64)
    }

    /// Time to write so many bytes in order, on the slow side.
    pub fn time_to_write(&self, bytes: Bytes) -> Nanos {
        let slow = self.bytes_per_second as f64 / 4.0;
        Nanos::from_secs_f64(bytes.as_u64() as f64 / slow.max(1.0))
    }
}
