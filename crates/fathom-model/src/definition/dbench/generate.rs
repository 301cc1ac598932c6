//! A load file of our own, made from the statistics of the one dbench ships: as many operations of
//! each kind a round and directory, the same sizes and idioms, other names and another order.

use std::fmt::Write;

use fathom_base::SplitMix64;

mod folders;

use folders::{BULK, FOLDERS, Folder, ROOT};

/// Rounds of the shipped load file.
pub const ROUNDS: u32 = 129;
/// Seed of everything that is drawn.
const SEED: u64 = 0x0066_6174_686f_6d31;
/// Directory all others lie in.
const WORK: &str = "\\clients\\client1\\~work";
/// Fillers beside it, of 1 MiB.
const FILLERS: u32 = 5;
/// Size of a folder's files.
const BASE_BYTES: u32 = 260_096;
const MISSING: &str = "NT_STATUS_OBJECT_NAME_NOT_FOUND";
const OK: &str = "NT_STATUS_OK";

/// Makes the load file with so many rounds ([`ROUNDS`] is the shipped file's length); the same bytes
/// every time.
pub fn generate(rounds: u32) -> String {
    let mut generator = Generator {
        text: String::with_capacity(rounds as usize * 210_000 + 40_000),
        random: SplitMix64::new(SEED),
        next_handle: 1000,
        next_name: 0,
        root_step: 0,
    };
    generator.set_up();
    for _ in 0..rounds {
        generator.round();
    }
    generator.line(format_args!("Deltree \"\\clients\\client1\" {OK}"));
    generator.text
}

/// How many of `total` things belong to step `step` of `steps`, so that all steps together have
/// exactly `total`.
fn share(total: u32, steps: u32, step: u32) -> u32 {
    let until = |step: u32| u64::from(total) * u64::from(step) / u64::from(steps.max(1));
    (until(step + 1) - until(step)) as u32
}

struct Generator {
    text: String,
    random: SplitMix64,
    next_handle: u32,
    next_name: u32,
    /// Step of the round, for what happens in the root.
    root_step: u32,
}

/// A folder while its part of a round is written.
struct Section<'a> {
    folder: &'a Folder,
    /// Steps: creations and openings of the folder's own files.
    steps: u32,
    /// Sizes still to be read and to be written in place.
    reads: Vec<u32>,
    writes: Vec<u32>,
    /// Sizes of the odd writes to new files.
    odd: Vec<u32>,
    /// New files that are there, oldest first.
    live: Vec<String>,
    /// Handles of the folder's own files that are left open, oldest first.
    held: Vec<u32>,
    created: u32,
    opened: u32,
}

impl Generator {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // A string takes every byte.
        let _ = writeln!(self.text, "{line}");
    }

    fn open(&mut self, path: &str, disposition: u32) -> u32 {
        self.next_handle += 1;
        let handle = self.next_handle;
        self.line(format_args!(
            "NTCreateX \"{path}\" 0x40 {disposition:#x} {handle} {OK}"
        ));
        handle
    }

    fn close(&mut self, handle: u32) {
        self.line(format_args!("Close {handle} {OK}"));
    }

    fn directory(&mut self, path: &str) {
        self.next_handle += 1;
        let handle = self.next_handle;
        self.line(format_args!("NTCreateX \"{path}\" 0x1 0x2 {handle} {OK}"));
        self.close(handle);
    }

    fn write(&mut self, handle: u32, offset: u32, size: u32) {
        self.line(format_args!("WriteX {handle} {offset} {size} {size} {OK}"));
    }

    fn read(&mut self, handle: u32, offset: u32, size: u32) {
        self.line(format_args!("ReadX {handle} {offset} {size} {size} {OK}"));
    }

    fn file_information(&mut self, handle: u32) {
        self.line(format_args!("QUERY_FILE_INFORMATION {handle} 258 {OK}"));
    }

    fn path_information(&mut self, path: &str, status: &str) {
        self.line(format_args!(
            "QUERY_PATH_INFORMATION \"{path}\" 1004 {status}"
        ));
    }

    fn find(&mut self, pattern: &str, found: u32, status: &str) {
        self.line(format_args!(
            "FIND_FIRST \"{pattern}\" 260 1366 {found} {status}"
        ));
    }

    fn open_missing(&mut self, path: &str) {
        self.next_handle += 1;
        let handle = self.next_handle;
        self.line(format_args!(
            "NTCreateX \"{path}\" 0x40 0x1 {handle} {MISSING}"
        ));
    }

    /// A name that is given once.
    fn new_name(&mut self, folder: &Folder) -> String {
        self.next_name += 1;
        let number = self.next_name % 100_000;
        format!("{WORK}\\{}\\N{number:05}.{}", folder.name, folder.extension)
    }

    /// A new file of a size: first its last byte, a look at it, then the data in order.
    fn laid_out_file(&mut self, path: &str, size: u32) {
        let handle = self.open(path, 2);
        self.write(handle, size - 1, 1);
        self.file_information(handle);
        let mut offset = 0;
        while offset < size {
            let piece = (size - offset).min(65_536);
            self.write(handle, offset, piece);
            offset += piece;
        }
        self.close(handle);
    }

    fn set_up(&mut self) {
        self.line(format_args!("Deltree \"\\clients\\client1\" {OK}"));
        self.line(format_args!("Mkdir \"\\clients\" {OK}"));
        self.directory("\\clients\\client1");
        self.open_missing("\\clients\\client1\\trial");
        self.path_information(WORK, MISSING);
        let pattern = "\\clients\\client1\\FILL.*";
        self.find(pattern, 0, "NT_STATUS_NO_SUCH_FILE");
        self.directory(WORK);
        for number in 0..FILLERS {
            self.laid_out_file(&format!("\\clients\\client1\\fill.{number:03}"), 1 << 20);
        }
        for folder in &FOLDERS {
            self.directory(&format!("{WORK}\\{}", folder.name));
            for number in 0..folder.files {
                self.laid_out_file(&base(folder, number), BASE_BYTES);
            }
        }
        self.directory(&format!("{WORK}\\{}", BULK.name));
        for (name, size) in BULK.files {
            self.laid_out_file(&bulk(name), size);
        }
    }

    /// One round: each folder's work in turn, the large files in between, the root throughout.
    fn round(&mut self) {
        self.root_step = 0;
        let gaps = FOLDERS.len() as u32 + 1;
        for (number, folder) in (0..).zip(&FOLDERS) {
            self.bulk_sessions(number, gaps);
            self.section(folder);
        }
        self.bulk_sessions(gaps - 1, gaps);
    }

    /// Steps of a round that the root's operations are spread over.
    fn root_steps() -> u32 {
        let folders = FOLDERS.iter().map(Folder::steps).sum::<u32>();
        folders + BULK.sessions.len() as u32
    }

    /// What happens in the root with each step.
    fn root_work(&mut self) {
        let (steps, step) = (Self::root_steps(), self.root_step);
        self.root_step += 1;
        let part = |total: u32| share(total, steps, step);
        for _ in 0..part(ROOT.file_system_queries) {
            self.line(format_args!("QUERY_FS_INFORMATION 259 {OK}"));
        }
        for _ in 0..part(ROOT.fruitless_searches) {
            let pattern = format!("{WORK}\\<.OLD");
            self.find(&pattern, 0, "NT_STATUS_NO_SUCH_FILE");
        }
        for _ in 0..part(ROOT.listings) {
            self.find(&format!("{WORK}\\*"), FOLDERS.len() as u32 + 3, OK);
        }
        for _ in 0..part(ROOT.open_misses) {
            self.open_missing(&format!("{WORK}\\S"));
        }
        for _ in 0..part(ROOT.stats) {
            let at = self.random.below(FOLDERS.len() as u64) as usize;
            self.path_information(&format!("{WORK}\\{}", FOLDERS[at].name), OK);
        }
        for _ in 0..part(ROOT.stat_misses) {
            self.path_information(&format!("{WORK}\\Styles"), MISSING);
        }
    }

    /// The sessions on the large files that belong to a gap between folders.
    fn bulk_sessions(&mut self, gap: u32, gaps: u32) {
        if gap == 0 {
            self.find(&format!("{WORK}\\{}\\*", BULK.name), 5, OK);
        }
        let total = BULK.sessions.len() as u32;
        let first: u32 = (0..gap).map(|before| share(total, gaps, before)).sum();
        let count = share(total, gaps, gap);
        for session in BULK
            .sessions
            .iter()
            .skip(first as usize)
            .take(count as usize)
        {
            self.root_work();
            let handle = self.open(&bulk(session.file), 1);
            for number in 0..session.reads {
                self.read(handle, number * session.size, session.size);
            }
            for number in 0..session.writes {
                self.write(handle, number * session.size, session.size);
            }
            self.close(handle);
        }
    }

    fn section(&mut self, folder: &Folder) {
        let mut section = Section {
            folder,
            steps: folder.steps(),
            reads: self.sizes(folder.reads, folder.odd_reads),
            writes: self.sizes(folder.writes, (0, 0)),
            odd: self.sizes(&[], folder.odd_writes),
            live: Vec::new(),
            held: Vec::new(),
            created: 0,
            opened: 0,
        };
        let listed = folder.files + 2;
        self.find(&format!("{WORK}\\{}\\*", folder.name), listed, OK);
        for step in 0..section.steps {
            self.root_work();
            self.misses(&section, step);
            match share(folder.creates, section.steps, step) {
                0 => self.work_on_base(&mut section, step),
                _ => self.new_file(&mut section, step),
            }
            self.stats(&section, step);
        }
        for handle in std::mem::take(&mut section.held) {
            self.close(handle);
        }
        for path in std::mem::take(&mut section.live) {
            self.unlink(&path);
        }
    }

    /// All sizes of a table, each as often as it says, and `odd.0` sizes that add up to `odd.1`.
    fn sizes(&mut self, table: &[(u32, u32)], odd: (u32, u32)) -> Vec<u32> {
        let repeated = |(size, count): &(u32, u32)| std::iter::repeat_n(*size, *count as usize);
        let mut all: Vec<u32> = table.iter().flat_map(repeated).collect();
        let weights: Vec<u64> = (0..odd.0).map(|_| 64 + self.random.below(192)).collect();
        let sum: u64 = weights.iter().sum::<u64>().max(1);
        let mut left = odd.1;
        for (number, weight) in (1..).zip(&weights) {
            let size = match number == odd.0 {
                true => left,
                false => (u64::from(odd.1) * weight / sum) as u32,
            };
            left -= size;
            all.push(size.max(1));
        }
        all
    }

    /// Looks for files that are not there.
    fn misses(&mut self, section: &Section<'_>, step: u32) {
        let folder = section.folder;
        for _ in 0..share(folder.stat_misses, section.steps, step) {
            let path = self.new_name(folder);
            self.path_information(&path, MISSING);
        }
        for _ in 0..share(folder.open_misses, section.steps, step) {
            let path = self.new_name(folder);
            self.open_missing(&path);
        }
    }

    /// Looks for files that are there.
    fn stats(&mut self, section: &Section<'_>, step: u32) {
        let folder = section.folder;
        for number in 0..share(folder.stats, section.steps, step) {
            let path = match section.live.last() {
                Some(newest) if number % 2 == 0 => newest.clone(),
                _ => {
                    let number = self.random.below(u64::from(folder.files)) as u32;
                    base(folder, number)
                }
            };
            self.path_information(&path, OK);
        }
    }

    /// What is done with a handle, as often as this step's share says.
    fn handle_work(&mut self, section: &Section<'_>, step: u32, handle: u32) {
        let folder = section.folder;
        let part = |total: u32| share(total, section.steps, step);
        for _ in 0..part(folder.locks) {
            self.line(format_args!("LockX {handle} 2147483539 1 {OK}"));
            self.line(format_args!("UnlockX {handle} 2147483539 1 {OK}"));
        }
        for _ in 0..part(folder.flushes) {
            self.line(format_args!("Flush {handle} {OK}"));
        }
        for _ in 0..part(folder.sets) {
            self.line(format_args!("SET_FILE_INFORMATION {handle} 1004 {OK}"));
        }
    }

    /// The life of a new file: created, written, flushed, closed, perhaps renamed and opened again;
    /// removed when there are too many.
    fn new_file(&mut self, section: &mut Section<'_>, step: u32) {
        let folder = section.folder;
        let number = section.created;
        section.created += 1;
        let mut path = self.new_name(folder);
        let handle = self.open(&path, 2);
        if share(folder.marks, folder.creates, number) > 0 {
            let data = self.data_of(section, number);
            // A file without data yet is sized to half a page.
            let size = data.iter().sum::<u32>().max(2048);
            self.write(handle, size - 1, 1);
            self.file_information(handle);
            let mut offset = 0;
            for piece in data {
                self.write(handle, offset, piece);
                offset += piece;
            }
        }
        self.handle_work(section, step, handle);
        self.close(handle);
        if share(folder.renames, folder.creates, number) > 0 {
            let to = self.new_name(folder);
            self.line(format_args!("Rename \"{path}\" \"{to}\" {OK}"));
            path = to;
        }
        if share(folder.reopenings(), folder.creates, number) > 0 {
            let handle = self.open(&path, 1);
            self.close(handle);
        }
        section.live.push(path);
        if section.live.len() > folder.live as usize {
            let oldest = section.live.remove(0);
            self.unlink(&oldest);
        }
    }

    fn unlink(&mut self, path: &str) {
        self.line(format_args!("Unlink \"{path}\" 0x6 {OK}"));
    }

    /// Sizes of the writes that fill a new file: whole pieces of 64 KiB, then odd ones.
    fn data_of(&mut self, section: &mut Section<'_>, number: u32) -> Vec<u32> {
        let folder = section.folder;
        // Of the files with data this is so many-th.
        let marked: u32 = (0..number)
            .map(|n| share(folder.marks, folder.creates, n))
            .sum();
        let whole = share(folder.whole_writes, folder.marks, marked);
        let odd = share(folder.odd_writes.0, folder.marks, marked);
        let mut data = vec![65_536; whole as usize];
        for _ in 0..odd {
            data.extend(section.odd.pop());
        }
        data
    }

    /// Opens one of the folder's own files, reads and writes in it, and closes an older one.
    fn work_on_base(&mut self, section: &mut Section<'_>, step: u32) {
        let folder = section.folder;
        let session = section.opened;
        section.opened += 1;
        let number = self.random.below(u64::from(folder.files)) as u32;
        let handle = self.open(&base(folder, number), 1);
        let sessions = folder.sessions();
        // New files have had a look each.
        for _ in 0..share(folder.fstats - folder.marks, sessions, session) {
            self.file_information(handle);
        }
        let reads = skewed_share(section.folder.read_count(), sessions, session);
        self.transfer(
            folder,
            &mut section.reads,
            reads,
            |generator, offset, size| {
                generator.read(handle, offset, size);
            },
        );
        let writes = skewed_share(section.folder.write_count(), sessions, session);
        self.transfer(
            folder,
            &mut section.writes,
            writes,
            |generator, offset, size| {
                generator.write(handle, offset, size);
            },
        );
        self.handle_work(section, step, handle);
        section.held.push(handle);
        if section.held.len() > folder.held as usize {
            let oldest = section.held.remove(0);
            self.close(oldest);
        }
    }

    /// So many transfers within a file: one after another, or anywhere.
    fn transfer(
        &mut self,
        folder: &Folder,
        sizes: &mut Vec<u32>,
        count: u32,
        mut emit: impl FnMut(&mut Self, u32, u32),
    ) {
        let mut next = 0;
        for _ in 0..count {
            let Some(size) = sizes.pop() else { return };
            let room = BASE_BYTES - size;
            let is_random = self.random.below(100) < u64::from(folder.random_percent);
            let offset = match is_random {
                true => self.random.below(u64::from(room / 512 + 1)) as u32 * 512,
                false if next > room => 0,
                false => next,
            };
            emit(self, offset, size);
            next = offset + size;
        }
    }
}

/// As [`share`], but unevenly: applications read a file through, then look at the beginning of
/// several others.
fn skewed_share(total: u32, steps: u32, step: u32) -> u32 {
    const WEIGHTS: [u64; 5] = [1, 12, 0, 2, 1];
    let before = |step: u32| {
        let whole = u64::from(step / 5) * WEIGHTS.iter().sum::<u64>();
        whole + WEIGHTS.iter().take(step as usize % 5).sum::<u64>()
    };
    let all = before(steps).max(1);
    let until = |step: u32| u64::from(total) * before(step) / all;
    (until(step + 1) - until(step)) as u32
}

fn base(folder: &Folder, number: u32) -> String {
    format!(
        "{WORK}\\{}\\BASE{number:02}.{}",
        folder.name, folder.extension
    )
}

fn bulk(name: &str) -> String {
    format!("{WORK}\\{}\\{name}", BULK.name)
}
