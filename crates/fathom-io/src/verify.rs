//! Knowing what must be read back, while operations are in flight.
//!
//! A job that verifies keeps a ledger of its part of the span: which writing each block holds. A
//! block that was not written by the job itself may hold any writing of its own place, and is known
//! once it was read. No two operations in flight touch the same block, so that there is never a
//! doubt which of two a read should see.

use std::fs::File;

use fathom_base::{Bytes, Cancel};

use crate::buffer::Buffers;
use crate::contents::{Filler, GENERATIONS, SECTOR_BYTES, Sector, mix};
use crate::error::IoError;
use crate::report::{Fault, FaultKind, VerifyReport};
use crate::source::{Kind, Step};
use crate::spec::{BlockSizes, EngineKind, JobSpec, Mode, Verify};

#[cfg(test)]
mod tests;

/// Faults that are named; all are counted.
const NAMED: usize = 16;
/// Bits that may differ for a sector to count as flipped rather than overwritten.
const FLIPPED_BITS: u32 = 64;
/// Bytes read back at a time.
const READ_BACK_BYTES: u64 = 1 << 20;

/// What a block of the grid holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holds(u32);

impl Holds {
    /// Some writing of its own place.
    const ANY: Self = Self(u32::MAX);
    /// Not known, and not to be checked: never written, or found wrong and counted.
    const NOTHING: Self = Self(u32::MAX - 1);

    const fn generation(self) -> Option<u32> {
        if self.0 < GENERATIONS {
            Some(self.0)
        } else {
            None
        }
    }
}

/// What one job knows of the contents of its part.
#[derive(Debug)]
pub(crate) struct Ledger {
    filler: Filler,
    start: u64,
    end: u64,
    grid: u64,
    holds: Vec<Holds>,
    busy: Vec<u64>,
    /// Generations of the writes in flight, by slot.
    writing: Vec<u32>,
    next_generation: u32,
    report: VerifyReport,
}

impl Ledger {
    /// For a part (first byte, and one past the last) of a checked specification; `None` when it
    /// does not verify with one. By `salt` generations differ from those that earlier jobs left
    /// there, but for one chance in 2^24 a block.
    pub(crate) fn new(spec: &JobSpec, part: (u64, u64), depth: u32, salt: u64) -> Option<Self> {
        let (start, end) = part;
        let Verify::Ledger {
            contents_seed,
            laid_out,
        } = spec.verify
        else {
            return None;
        };
        let grid = spec.block_sizes.smallest().as_u64();
        let blocks = (end - start).div_ceil(grid) as usize;
        let unknown = if laid_out { Holds::ANY } else { Holds::NOTHING };
        Some(Self {
            filler: Filler::new(spec.contents, contents_seed),
            start,
            end,
            grid,
            holds: vec![unknown; blocks],
            busy: vec![0; blocks.div_ceil(64)],
            writing: vec![0; depth as usize],
            next_generation: mix(salt ^ start) as u32 % GENERATIONS,
            report: VerifyReport::default(),
        })
    }

    fn blocks(&self, offset: u64, length: u64) -> std::ops::Range<usize> {
        let first = (offset - self.start) / self.grid;
        let last = (offset + length - self.start).div_ceil(self.grid);
        first as usize..last as usize
    }

    /// Whether none of the blocks has an operation in flight; they have one from then on.
    pub(crate) fn admits(&mut self, step: Step) -> bool {
        let blocks = self.blocks(step.offset, u64::from(step.length));
        let is_busy = |block: usize| self.busy[block / 64] >> (block % 64) & 1 == 1;
        if blocks.clone().any(is_busy) {
            return false;
        }
        for block in blocks {
            self.busy[block / 64] |= 1 << (block % 64);
        }
        true
    }

    fn release(&mut self, step: Step) {
        for block in self.blocks(step.offset, u64::from(step.length)) {
            self.busy[block / 64] &= !(1 << (block % 64));
        }
    }

    /// The generation that a write starting in `slot` has.
    pub(crate) fn begin_write(&mut self, slot: u32) -> u64 {
        let generation = self.next_generation;
        self.next_generation = (generation + 1) % GENERATIONS;
        self.writing[slot as usize] = generation;
        u64::from(generation)
    }

    /// An operation is over; `data` is what a read brought.
    pub(crate) fn complete(&mut self, slot: u32, step: Step, data: &[u8]) {
        self.release(step);
        match step.kind {
            Kind::Read => self.check(data, step.offset),
            Kind::Write => {
                let generation = Holds(self.writing[slot as usize]);
                let blocks = self.blocks(step.offset, u64::from(step.length));
                self.holds[blocks].fill(generation);
            }
            Kind::Trim | Kind::Sync => {}
        }
    }

    /// An operation failed: what its blocks hold is anybody's guess.
    pub(crate) fn fail(&mut self, step: Step) {
        self.release(step);
        if step.kind == Kind::Write {
            let blocks = self.blocks(step.offset, u64::from(step.length));
            self.holds[blocks].fill(Holds::NOTHING);
        }
    }

    /// Checks blocks that were read; each fault is counted once until the block is written again.
    fn check(&mut self, data: &[u8], offset: u64) {
        self.report.checked_bytes += data.len() as u64;
        let grid = self.grid as usize;
        for (index, bytes) in data.chunks(grid).enumerate() {
            let at = offset + (index * grid) as u64;
            let block = ((at - self.start) / self.grid) as usize;
            let held = self.holds[block];
            if held == Holds::NOTHING {
                continue;
            }
            match self.check_block(bytes, at, held.generation()) {
                Ok(generation) => self.holds[block] = Holds(generation),
                Err(kind) => {
                    self.holds[block] = Holds::NOTHING;
                    self.note(at, bytes.len() as u64, kind);
                }
            }
        }
    }

    fn note(&mut self, offset: u64, length: u64, kind: FaultKind) {
        *self.report.faults.entry(kind.name()).or_default() += 1;
        if self.report.first.len() < NAMED {
            self.report.first.push(Fault {
                offset,
                length: Bytes::new(length),
                kind,
            });
        }
    }

    /// The generation that a sound block has, or what is wrong with it.
    fn check_block(&self, bytes: &[u8], at: u64, held: Option<u32>) -> Result<u32, FaultKind> {
        let first = at / SECTOR_BYTES as u64;
        let mut generation = held;
        let (mut sound, mut other) = (0_u64, 0_u64);
        for (sector, bytes) in (first..).zip(bytes.chunks(SECTOR_BYTES)) {
            match self.filler.inspect(bytes) {
                Sector::Whole { number, .. } if number != sector => {
                    let from = number * SECTOR_BYTES as u64;
                    return Err(FaultKind::Misdirected { from });
                }
                Sector::Whole {
                    generation: found, ..
                } => match *generation.get_or_insert(found) == found {
                    true => sound += 1,
                    false => other += 1,
                },
                Sector::Zeros => return Err(FaultKind::Zeros),
                Sector::Broken => return Err(self.broken(bytes, sector, held)),
            }
        }
        match (sound, other) {
            (_, 0) => Ok(generation.unwrap_or(0)),
            (0, _) => Err(FaultKind::Stale),
            (_, _) => Err(FaultKind::Torn),
        }
    }

    fn broken(&self, bytes: &[u8], sector: u64, held: Option<u32>) -> FaultKind {
        match self.filler.flipped_bits(bytes, sector, held) {
            // The words around the stamp are whole, and without a generation the first is believed.
            Some(bits) if bits <= FLIPPED_BITS => FaultKind::Flipped { bits: bits.max(1) },
            _ => FaultKind::Garbled,
        }
    }

    /// Reads the whole part and checks it.
    fn read_back(
        &mut self,
        spec: &JobSpec,
        file: &File,
        buffers: &mut Buffers,
        cancel: &Cancel,
    ) -> Result<(), IoError> {
        let piece = buffers.stride() as u64 / self.grid * self.grid;
        let mut at = self.start;
        while at < self.end {
            if cancel.is_cancelled() {
                return Err(IoError::Cancelled {
                    path: spec.target.path.clone(),
                    abandoned: 0,
                });
            }
            let length = piece.min(self.end - at);
            // SAFETY: no operation is in flight in these buffers.
            let data = unsafe { buffers.slice_mut(0, length as usize) };
            match read_at(file, data, at) {
                Ok(()) => self.check(data, at),
                Err(_) if length > self.grid => self.read_back_blocks(file, data, at),
                Err(_) => self.note_unreadable(at),
            }
            at += length;
        }
        Ok(())
    }

    /// Block by block, where a larger read failed.
    fn read_back_blocks(&mut self, file: &File, data: &mut [u8], offset: u64) {
        let grid = self.grid as usize;
        for (index, block) in data.chunks_mut(grid).enumerate() {
            let at = offset + (index * grid) as u64;
            match read_at(file, block, at) {
                Ok(()) => self.check(block, at),
                Err(_) => self.note_unreadable(at),
            }
        }
    }

    fn note_unreadable(&mut self, at: u64) {
        let block = ((at - self.start) / self.grid) as usize;
        if self.holds[block] != Holds::NOTHING {
            self.holds[block] = Holds::NOTHING;
            self.note(at, self.grid, FaultKind::Unreadable);
        }
    }
}

/// Reads everything back that the jobs know of, past the page cache or after emptying it, and puts
/// together what all of them found.
///
/// # Errors
/// What keeps the target from being opened, and a cancel.
pub(crate) fn read_back(
    spec: &JobSpec,
    ledgers: Vec<Ledger>,
    cancel: &Cancel,
) -> Result<VerifyReport, IoError> {
    let mut reading = spec.clone();
    reading.mode = Mode::Read;
    reading.engine = EngineKind::Psync;
    let largest = spec.block_sizes.largest().as_u64();
    reading.block_sizes = BlockSizes::one(Bytes::new(largest));
    crate::probe::evict(&spec.target.path)?;
    let file = crate::target::open(&reading)?;
    let mut buffers = Buffers::new(1, READ_BACK_BYTES.max(largest) as usize)?;
    let mut all = VerifyReport::default();
    for mut ledger in ledgers {
        let before = ledger.report.checked_bytes;
        ledger.read_back(&reading, &file, &mut buffers, cancel)?;
        all.checked_bytes += before;
        all.read_back_bytes += ledger.report.checked_bytes - before;
        for (kind, count) in ledger.report.faults {
            *all.faults.entry(kind).or_default() += count;
        }
        all.first.extend(ledger.report.first);
    }
    all.first.truncate(NAMED);
    Ok(all)
}

/// Fills `data` from `offset`.
fn read_at(file: &File, data: &mut [u8], offset: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.read_exact_at(data, offset)
}
