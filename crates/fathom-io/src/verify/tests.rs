use fathom_base::SplitMix64;

use super::*;
use crate::spec::{Contents, Cursor, Stop};
use crate::testing::null_spec;

const GRID: u64 = 4096;
const BLOCKS: u64 = 2048;
const SEED: u64 = 77;

fn job() -> JobSpec {
    let mut job = null_spec();
    job.mode = Mode::RandWrite;
    job.engine = EngineKind::Psync;
    job.contents = Contents::Random;
    job.cursor = Cursor::Partitioned;
    job.block_sizes = BlockSizes::one(Bytes::new(GRID));
    job.size = Bytes::new(BLOCKS * GRID);
    job.stop = Stop {
        runtime: None,
        bytes: None,
        passes: Some(1),
    };
    job.verify = Verify::Ledger {
        contents_seed: SEED,
        laid_out: true,
    };
    job
}

/// A target in memory with the layout that a ledger expects.
struct Disk {
    data: Vec<u8>,
    filler: Filler,
    ledger: Ledger,
}

impl Disk {
    fn laid_out() -> Self {
        let filler = Filler::new(Contents::Random, SEED);
        let mut data = vec![0; (BLOCKS * GRID) as usize];
        for (index, piece) in data.chunks_mut(1 << 20).enumerate() {
            filler.fill(piece, (index << 20) as u64, 1 + index as u64);
        }
        let ledger = Ledger::new(&job(), (0, BLOCKS * GRID), 4, 5).unwrap();
        Self {
            data,
            filler,
            ledger,
        }
    }

    fn step(kind: Kind, block: u64) -> Step {
        Step {
            kind,
            offset: block * GRID,
            length: GRID as u32,
        }
    }

    fn range(block: u64) -> std::ops::Range<usize> {
        let start = (block * GRID) as usize;
        start..start + GRID as usize
    }

    /// Writes a block; `store` says what becomes of the new data beside the old.
    fn write(&mut self, block: u64, store: impl FnOnce(&mut [u8], &[u8])) {
        let step = Self::step(Kind::Write, block);
        assert!(self.ledger.admits(step));
        let generation = self.ledger.begin_write(0);
        let mut new = vec![0; GRID as usize];
        self.filler.fill(&mut new, step.offset, generation);
        store(&mut self.data[Self::range(block)], &new);
        self.ledger.complete(0, step, &[]);
    }

    fn read(&mut self, block: u64) {
        let step = Self::step(Kind::Read, block);
        assert!(self.ledger.admits(step));
        let data = self.data[Self::range(block)].to_vec();
        self.ledger.complete(0, step, &data);
    }

    fn read_all(&mut self) -> VerifyReport {
        (0..BLOCKS).for_each(|block| self.read(block));
        self.ledger.report.clone()
    }
}

fn store(old: &mut [u8], new: &[u8]) {
    old.copy_from_slice(new);
}

#[test]
fn sound_data_give_no_alarm() {
    let mut disk = Disk::laid_out();
    let mut random = SplitMix64::new(3);
    for _ in 0..20_000 {
        let block = random.next_u64() % BLOCKS;
        match random.next_u64() % 2 {
            0 => disk.read(block),
            _ => disk.write(block, store),
        }
    }
    let report = disk.read_all();
    assert!(report.faults.is_empty(), "{:?}", report.first);
    assert!(report.checked_bytes > 10_000 * GRID);
}

/// A thousand faults of all kinds, among sound reads and writes: each is found, as what it is.
#[test]
fn a_thousand_mixed_faults_are_found_and_told_apart() {
    let mut disk = Disk::laid_out();
    let mut random = SplitMix64::new(9);
    let mut injected = std::collections::BTreeMap::new();
    for block in 0..BLOCKS / 2 {
        disk.write(block, store);
    }
    let mut faulty = 0..BLOCKS / 2;
    for number in 0..1000_u64 {
        let block = faulty.next().unwrap();
        let bits = random.next_u64();
        let kind = match number % 7 {
            0 => {
                disk.write(block, |_, _| {});
                "stale"
            }
            1 => {
                let cut = 512 * (1 + bits as usize % 7);
                disk.write(block, |old, new| old[..cut].copy_from_slice(&new[..cut]));
                "torn"
            }
            2 => {
                // The second half arrives, the first does not.
                disk.write(block, |old, new| old[2048..].copy_from_slice(&new[2048..]));
                "torn"
            }
            3 => {
                let other = Disk::range(BLOCKS / 2 + bits % (BLOCKS / 2));
                let from = disk.data[other].to_vec();
                disk.write(block, |old, _| old.copy_from_slice(&from));
                "misdirected"
            }
            4 => {
                // Any bit: of the filling, or of the stamp.
                let at = bits as usize % 4096;
                disk.write(block, |old, new| {
                    old.copy_from_slice(new);
                    old[at] ^= 1 << (bits >> 32 & 7);
                });
                "flipped"
            }
            5 => {
                disk.write(block, |old, _| old.fill(0));
                "zeros"
            }
            _ => {
                disk.write(block, |old, new| {
                    old.copy_from_slice(new);
                    old[512..1024].fill(0x5A);
                });
                "garbled"
            }
        };
        *injected.entry(kind).or_insert(0) += 1;
    }
    let report = disk.read_all();
    assert_eq!(report.faults, injected);
    assert_eq!(report.first.len(), NAMED);
    let offsets: Vec<u64> = report.first.iter().map(|fault| fault.offset).collect();
    assert!(offsets.is_sorted() && offsets[0] == 0, "{offsets:?}");
    // Each is counted once, until the block is written again.
    let again = disk.read_all();
    assert_eq!(again.faults, injected);
    disk.write(0, store);
    disk.read(0);
    disk.write(0, |_, _| {});
    disk.read(0);
    assert_eq!(disk.ledger.report.faults["stale"], injected["stale"] + 1);
}

#[test]
fn flips_of_blocks_that_were_never_written_here_are_flips_too() {
    for at in [3, 9, 16, 300, 511, 1000] {
        let mut disk = Disk::laid_out();
        disk.data[at] ^= 0x10;
        disk.read(0);
        let found = disk.ledger.report.first[0];
        assert_eq!(
            (found.offset, found.kind.name()),
            (0, "flipped"),
            "byte {at}"
        );
    }
}

#[test]
fn operations_do_not_meet_on_a_block() {
    let mut ledger = Disk::laid_out().ledger;
    let wide = Step {
        kind: Kind::Read,
        offset: 0,
        length: 3 * GRID as u32,
    };
    assert!(ledger.admits(wide));
    assert!(!ledger.admits(Disk::step(Kind::Write, 2)));
    assert!(ledger.admits(Disk::step(Kind::Write, 3)));
    ledger.fail(wide);
    assert!(ledger.admits(Disk::step(Kind::Write, 2)));
    // What a failed write left is not known, and not objected to.
    ledger.fail(Disk::step(Kind::Write, 2));
    ledger.check(&[7; GRID as usize], 2 * GRID);
    assert!(ledger.report.faults.is_empty());
}

#[test]
fn blocks_that_were_never_laid_out_are_not_checked_before_they_are_written() {
    let mut job = job();
    job.verify = Verify::Ledger {
        contents_seed: SEED,
        laid_out: false,
    };
    let mut ledger = Ledger::new(&job, (0, BLOCKS * GRID), 1, 5).unwrap();
    ledger.check(&[7; GRID as usize], 0);
    assert!(ledger.report.faults.is_empty());
    assert!(ledger.admits(Disk::step(Kind::Write, 0)));
    ledger.begin_write(0);
    ledger.complete(0, Disk::step(Kind::Write, 0), &[]);
    ledger.check(&[7; GRID as usize], 0);
    assert_eq!(ledger.report.faults["garbled"], 1);
}
