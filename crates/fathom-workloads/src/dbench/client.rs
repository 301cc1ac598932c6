use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use fathom_base::Nanos;
use fathom_model::TestError;
use fathom_model::definition::dbench::{
    DbenchSettings, LineReader, LoadFile, LoadLine, LoadOp, MAX_HANDLES,
};
use rustix::fs::{Mode, OFlags, RawDir, Timespec, Timestamps};
use rustix::io::Errno;

use super::shared::{ClientCell, Shared};
use crate::classic::{Meter, Places, RangeLock, Root, Seat, Watch, lock_range};

/// Bytes of directory entries the C library asks for at a time.
const ENTRIES_BYTES: usize = 32 << 10;
/// Directories inside one another that are gone through at most.
const DEPTH_LIMIT: u32 = 64;
/// Longest rest without a look at whether to stop.
const NAP: Nanos = Nanos::from_millis(100);

/// One client: what a process of the original does.
pub(super) struct Client<'a> {
    settings: &'a DbenchSettings,
    root: &'a Root,
    load: &'a LoadFile,
    watch: Watch<'a>,
    shared: &'a Shared,
    cell: &'a ClientCell,
    seat: &'a Seat<'a>,
    places: Places<'a>,
    handles: Vec<Handle>,
    buffer: Vec<u8>,
    entries: Box<[MaybeUninit<u8>]>,
    parent: Vec<u8>,
    tally: Tally,
    measures: bool,
}

#[derive(Debug)]
struct Handle {
    number: i64,
    file: OwnedFd,
    path: Box<CStr>,
}

/// What a client did in the measured window.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) meter: Meter,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Calls that read or wrote.
    pub(super) calls: u64,
    /// The same, counted by lines of the load file.
    pub(super) data_lines: u64,
    pub(super) syncs: u64,
    /// Operations that ended otherwise than the load file says, where that is no failure.
    pub(super) unexpected: u64,
    /// The first of them.
    pub(super) first_unexpected: Option<String>,
    /// Times the load file was begun.
    pub(super) passes: u64,
}

impl Tally {
    fn new() -> Self {
        Self {
            meter: Meter::new(LoadOp::NAMES),
            read_bytes: 0,
            written_bytes: 0,
            calls: 0,
            data_lines: 0,
            syncs: 0,
            unexpected: 0,
            first_unexpected: None,
            passes: 0,
        }
    }

    /// Adds another client's.
    pub(super) fn absorb(&mut self, other: Self) {
        self.meter.merge(&other.meter);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.calls += other.calls;
        self.data_lines += other.data_lines;
        self.syncs += other.syncs;
        self.unexpected += other.unexpected;
        self.first_unexpected = self.first_unexpected.take().or(other.first_unexpected);
        self.passes += other.passes;
    }
}

/// Why an operation is not over and done with.
type Outcome = Result<(), TestError>;

impl<'a> Client<'a> {
    pub(super) fn new(
        settings: &'a DbenchSettings,
        root: &'a Root,
        load: &'a LoadFile,
        watch: Watch<'a>,
        shared: &'a Shared,
        seat: &'a Seat<'a>,
    ) -> Self {
        Self {
            settings,
            root,
            load,
            watch,
            shared,
            cell: shared.client(seat.index),
            seat,
            places: Places::new(root),
            handles: Vec::with_capacity(32),
            buffer: vec![0; load.facts().largest_transfer as usize],
            entries: vec![MaybeUninit::uninit(); ENTRIES_BYTES].into_boxed_slice(),
            parent: Vec::new(),
            tally: Tally::new(),
            measures: false,
        }
    }

    /// Replays the load file again and again until the time is over.
    pub(super) fn run(mut self) -> Result<Tally, TestError> {
        let mut reader = LineReader::new(self.seat.index);
        let mut pace = Pace::default();
        let load = self.load;
        self.seat.start()?;
        loop {
            self.tally.passes += 1;
            let pass_start = self.watch.now();
            for (number, text) in (1_u64..).zip(load.lines()) {
                if self.shared.is_done() {
                    self.seat.stop_clock();
                    return Ok(self.tally);
                }
                let line = match reader.read(text) {
                    Ok(Some(line)) => line,
                    Ok(None) => continue,
                    Err(problem) => return Err(failed(number, &problem.found)),
                };
                self.wait_for_turn(&line, pass_start, &mut pace)?;
                self.operate(number, &line)?;
            }
        }
    }

    /// One line: looks at the clock and whether to stop, does it, counts it.
    fn operate(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let before = self.watch.now();
        self.watch.check(before)?;
        if self.seat.is_halted() {
            return Err(TestError::Cancelled);
        }
        if self.shared.measures() != self.measures {
            self.measures = true;
            self.tally = Tally {
                passes: 1,
                ..Tally::new()
            };
            self.seat.restart_cpu_time();
        }
        self.cell.start(before);
        self.tally.data_lines += u64::from(line.op.moves_data());
        self.perform(number, line)?;
        let took = self.watch.now().since(before);
        self.tally.meter.record(line.op.index(), took);
        Ok(())
    }

    fn perform(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        match line.op {
            LoadOp::NTCreateX => self.create(number, line),
            LoadOp::Close => self.close(number, line),
            LoadOp::Rename => self.rename(number, line),
            LoadOp::Unlink => self.remove(number, line, Places::unlink),
            LoadOp::Rmdir => self.remove(number, line, Places::remove_directory),
            LoadOp::Mkdir => self.mkdir(line),
            LoadOp::Deltree => self.delete_tree(line.path, 0),
            LoadOp::QueryPath => {
                self.resolve(line.path);
                Ok(())
            }
            LoadOp::QueryFile => self.look(number, line).map(|_| ()),
            LoadOp::QueryFs => self.query_file_system(),
            LoadOp::SetFile => self.set_times(number, line),
            LoadOp::FindFirst => {
                self.find_first(line);
                Ok(())
            }
            LoadOp::WriteX => self.write(number, line),
            LoadOp::ReadX => self.read(number, line),
            LoadOp::LockX => self.lock(number, line, RangeLock::Exclusive),
            LoadOp::UnlockX => self.lock(number, line, RangeLock::Free),
            LoadOp::Flush => self.flush(number, line),
            LoadOp::Sleep => self.rest(Nanos::new(line.numbers[0].unsigned_abs() * 1000)),
        }
    }

    // --- names ---

    /// Looks a name up, and when it is not there, looks through its directory for one that differs
    /// by case only; what is found is not used.
    fn resolve(&mut self, path: &CStr) {
        if !self.settings.resolve {
            return;
        }
        if self.places.stat(path).is_ok() {
            return;
        }
        let name = self.split(path);
        let Some(directory) = self.open_parent() else {
            return;
        };
        let mut entries = RawDir::new(&directory, &mut self.entries);
        while let Some(Ok(entry)) = entries.next() {
            if entry.file_name().to_bytes().eq_ignore_ascii_case(name) {
                return;
            }
        }
    }

    /// Sets `parent` to the directory part of a path; gives the rest.
    fn split<'p>(&mut self, path: &'p CStr) -> &'p [u8] {
        let bytes = path.to_bytes();
        self.parent.clear();
        let name = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => {
                self.parent.extend_from_slice(&bytes[..slash]);
                &bytes[slash + 1..]
            }
            None => {
                self.parent.push(b'.');
                bytes
            }
        };
        self.parent.push(0);
        name
    }

    /// Opens the directory in `parent` for reading its entries, as the C library does.
    fn open_parent(&self) -> Option<OwnedFd> {
        let parent = CStr::from_bytes_with_nul(&self.parent).ok()?;
        self.open_directory(parent).ok()
    }

    fn open_directory(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::DIRECTORY;
        let directory = self.root.open_at(path, flags, Mode::empty())?;
        rustix::fs::fstat(&directory)?;
        Ok(directory)
    }

    fn find_first(&mut self, line: &LoadLine<'_>) {
        self.resolve(line.path);
        let is_pattern = |byte: &u8| b"<>*?\"".contains(byte);
        if !line.path.to_bytes().iter().any(is_pattern) {
            return;
        }
        self.split(line.path);
        let Some(directory) = self.open_parent() else {
            return;
        };
        let mut left = line.numbers[1];
        let mut entries = RawDir::new(&directory, &mut self.entries);
        while left != 0 {
            match entries.next() {
                Some(Ok(_)) => left -= 1,
                _ => return,
            }
        }
    }

    fn rename(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        self.resolve(line.path);
        self.resolve(line.second);
        let answer = self.places.rename(line.path, line.second);
        self.judge(number, line, answer)?;
        self.sync_parent(line.second)
    }

    fn remove(
        &mut self,
        number: u64,
        line: &LoadLine<'_>,
        remove: fn(&mut Places<'a>, &CStr) -> Result<(), Errno>,
    ) -> Outcome {
        self.resolve(line.path);
        let answer = remove(&mut self.places, line.path);
        self.judge(number, line, answer)?;
        self.sync_parent(line.path)
    }

    fn mkdir(&mut self, line: &LoadLine<'_>) -> Outcome {
        self.resolve(line.path);
        self.make_directory(line.path, 0o777)
    }

    /// Makes a directory if it can be made; only a full disk is a failure.
    fn make_directory(&mut self, path: &CStr, mode: u32) -> Outcome {
        let mode = Mode::from_raw_mode(mode);
        match self.places.make_directory(path, mode) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => {
                Err(self.root.error("creating", path, errno))
            }
            _ => Ok(()),
        }
    }

    /// Removes the files of a tree; its directories stay, as with the original.
    fn delete_tree(&mut self, path: &CStr, depth: u32) -> Outcome {
        let Ok(directory) = self.open_directory(path) else {
            return Ok(());
        };
        if depth == DEPTH_LIMIT {
            return Ok(());
        }
        // Directories of a tree are read one inside the other, each into its own buffer.
        let mut entries = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
        let mut entries = RawDir::new(&directory, &mut entries);
        let mut inside = Vec::new();
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            inside.clear();
            inside.extend_from_slice(path.to_bytes());
            inside.push(b'/');
            inside.extend_from_slice(name);
            inside.push(0);
            let Ok(inside) = CStr::from_bytes_with_nul(&inside) else {
                continue;
            };
            let Ok(stat) = self.places.stat(inside) else {
                continue;
            };
            match rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
                true => self.delete_tree(inside, depth + 1)?,
                // What cannot be removed stays, as with the original.
                false => drop(self.places.unlink(inside)),
            }
        }
        Ok(())
    }

    fn sync_parent(&mut self, path: &CStr) -> Outcome {
        if !self.settings.sync_directories {
            return Ok(());
        }
        self.split(path);
        let parent = CStr::from_bytes_with_nul(&self.parent).unwrap_or(c".");
        let directory = self.root.open_file(parent, OFlags::RDONLY, Mode::empty())?;
        self.tally.syncs += 1;
        rustix::fs::fdatasync(&directory).map_err(|errno| self.root.error("syncing", parent, errno))
    }

    // --- handles ---

    fn create(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        const DIRECTORY: i64 = 1;
        self.resolve(line.path);
        let [options, disposition, ..] = line.numbers;
        let directory = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut flags = OFlags::RDWR;
        if self.settings.sync_open {
            flags |= OFlags::SYNC;
        }
        match disposition {
            2 => flags |= OFlags::CREATE,
            4 | 5 => flags |= OFlags::CREATE | OFlags::TRUNC,
            _ => {}
        }
        if options & DIRECTORY != 0 {
            self.make_directory(line.path, 0o700)?;
            flags = directory;
        }
        let mut answer = self.open(line.path, flags);
        if answer.as_ref().err() == Some(&Errno::ISDIR) {
            answer = self.open(line.path, directory);
        }
        match (answer, line.succeeds) {
            (Ok(file), true) => self.keep(number, line, file),
            (Err(_), false) => Ok(()),
            (Ok(_), false) => {
                self.differs(number, line, "succeeded");
                Ok(())
            }
            (Err(errno), true) => Err(self.failure(number, line, errno)),
        }
    }

    fn open(&self, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.root.open_at(path, flags, Mode::from_raw_mode(0o600))
    }

    fn keep(&mut self, number: u64, line: &LoadLine<'_>, file: OwnedFd) -> Outcome {
        if self.handles.len() == MAX_HANDLES {
            return Err(failed(number, "the table of handles is full"));
        }
        rustix::fs::fstat(&file).map_err(|errno| self.failure(number, line, errno))?;
        self.handles.push(Handle {
            number: line.handle(),
            file,
            path: line.path.into(),
        });
        Ok(())
    }

    fn close(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let at = self.find(number, line)?;
        drop(self.handles.swap_remove(at));
        Ok(())
    }

    /// The place of a handle; the load file was read through, so it is there.
    fn find(&self, number: u64, line: &LoadLine<'_>) -> Result<usize, TestError> {
        let wanted = line.handle();
        self.handles
            .iter()
            .position(|handle| handle.number == wanted)
            .ok_or_else(|| failed(number, &format!("handle {wanted} is not open")))
    }

    fn look(&self, number: u64, line: &LoadLine<'_>) -> Result<rustix::fs::Stat, TestError> {
        let at = self.find(number, line)?;
        rustix::fs::fstat(&self.handles[at].file).map_err(|errno| self.failure(number, line, errno))
    }

    /// Sets the times of a file back, by its name.
    fn set_times(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let stat = self.look(number, line)?;
        let at = self.find(number, line)?;
        let seconds = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
        let times = Timestamps {
            last_access: seconds(stat.st_atime - 10),
            last_modification: seconds(stat.st_mtime - 12),
        };
        let path = &self.handles[at].path;
        // A file that was renamed while it is open is not found; the original does not mind.
        match self.places.set_times(path, &times) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => Err(self.failure(number, line, errno)),
            _ => Ok(()),
        }
    }

    fn query_file_system(&self) -> Outcome {
        rustix::fs::fstatfs(self.root.fd())
            .map(|_| ())
            .map_err(|errno| self.root.error("asking for the space of", c".", errno))
    }

    // --- data ---

    fn write(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let at = self.find(number, line)?;
        let [_, offset, length, _] = line.numbers;
        // Zeroed anew each time: the original takes fresh memory.
        let data = &mut self.buffer[..length as usize];
        data.fill(0);
        let mut done = 0;
        while done < data.len() {
            let place = offset.unsigned_abs() + done as u64;
            match rustix::io::pwrite(&self.handles[at].file, &data[done..], place) {
                Ok(0) => return Err(self.failure(number, line, Errno::IO)),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failure(number, line, errno)),
            }
        }
        if self.settings.fsync {
            self.sync_file(number, line, at)?;
        }
        self.tally.calls += 1;
        self.tally.written_bytes += length.unsigned_abs();
        self.cell.add_bytes(length.unsigned_abs());
        Ok(())
    }

    fn read(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let at = self.find(number, line)?;
        let [_, offset, length, expected] = line.numbers;
        let data = &mut self.buffer[..length as usize];
        let place = offset.unsigned_abs();
        let count = loop {
            match rustix::io::pread(&self.handles[at].file, &mut *data, place) {
                Ok(count) => break count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failure(number, line, errno)),
            }
        };
        if count as i64 != expected {
            self.differs(number, line, &format!("read {count} of {expected} bytes"));
        }
        self.tally.calls += 1;
        self.tally.read_bytes += length.unsigned_abs();
        self.cell.add_bytes(length.unsigned_abs());
        Ok(())
    }

    fn flush(&mut self, number: u64, line: &LoadLine<'_>) -> Outcome {
        let at = self.find(number, line)?;
        self.sync_file(number, line, at)
    }

    fn sync_file(&mut self, number: u64, line: &LoadLine<'_>, at: usize) -> Outcome {
        self.tally.syncs += 1;
        rustix::fs::fsync(&self.handles[at].file).map_err(|errno| self.failure(number, line, errno))
    }

    fn lock(&mut self, number: u64, line: &LoadLine<'_>, lock: RangeLock) -> Outcome {
        let at = self.find(number, line)?;
        let [_, offset, length, _] = line.numbers;
        let file = self.handles[at].file.as_fd();
        let own = self.seat.has_own_files;
        if let Err(error) = lock_range(file, lock, offset, length, own) {
            // The original does not look.
            self.differs(number, line, &format!("failed: {error}"));
        }
        Ok(())
    }

    // --- time ---

    /// Waits until a paced line is due, or the rate allows it.
    fn wait_for_turn(&self, line: &LoadLine<'_>, pass_start: Nanos, pace: &mut Pace) -> Outcome {
        let now = self.watch.now();
        if let Some(rate) = self.settings.target_rate {
            let bytes = self.cell.bytes();
            let due = match pace.last {
                Some((time, before)) => {
                    let seconds = (bytes - before) as f64 / (rate * 1e6);
                    time.plus(Nanos::from_secs_f64(seconds))
                }
                None => now,
            };
            self.rest(due.since(now))?;
            pace.last = Some((self.watch.now(), bytes));
        } else if line.due > Nanos::default() {
            self.rest(pass_start.plus(line.due).since(now))?;
        }
        Ok(())
    }

    /// Does nothing for so long, or until it is time to stop.
    fn rest(&self, time: Nanos) -> Outcome {
        let until = self.watch.now().plus(time);
        loop {
            let now = self.watch.now();
            let left = until.since(now);
            if left == Nanos::default() || self.shared.is_done() {
                return Ok(());
            }
            self.watch.check(now)?;
            if self.seat.is_halted() {
                return Err(TestError::Cancelled);
            }
            std::thread::sleep(Duration::from_nanos(left.min(NAP).as_u64()));
        }
    }

    // --- what went wrong ---

    /// Holds an answer against what the load file says: a difference ends the run, as with the
    /// original.
    fn judge(&self, number: u64, line: &LoadLine<'_>, answer: Result<(), Errno>) -> Outcome {
        match (answer, line.succeeds) {
            (Ok(()), true) => Ok(()),
            (Err(errno), true) => Err(self.failure(number, line, errno)),
            (Err(errno @ (Errno::NOSPC | Errno::DQUOT)), false) => {
                Err(self.failure(number, line, errno))
            }
            (Err(_), false) => Ok(()),
            (Ok(()), false) => Err(failed(
                number,
                &format!(
                    "{} of {} succeeded, which the load file does not expect",
                    line.op.name(),
                    self.root.path_of(line.path).display()
                ),
            )),
        }
    }

    /// A call that failed and should not have.
    #[cold]
    fn failure(&self, number: u64, line: &LoadLine<'_>, errno: Errno) -> TestError {
        let name = self
            .handles
            .iter()
            .find(|handle| handle.number == line.handle());
        let path = match (line.path.is_empty(), name) {
            (false, _) => line.path,
            (true, Some(handle)) => &handle.path,
            (true, None) => c".",
        };
        match errno {
            Errno::NOSPC | Errno::DQUOT => self.root.error("writing", path, errno),
            _ => TestError::Io {
                doing: format!("{} of line {number} of the load file on", line.op.name()),
                path: self.root.path_of(path),
                source: errno.into(),
            },
        }
    }

    /// Counts something the load file does not expect and the original carries on after.
    #[cold]
    fn differs(&mut self, number: u64, line: &LoadLine<'_>, what: &str) {
        self.tally.unexpected += 1;
        self.tally.first_unexpected.get_or_insert_with(|| {
            format!("line {number} of the load file: {} {what}", line.op.name())
        });
    }
}

/// When a client that keeps to a rate did its last operation, and its bytes then.
#[derive(Debug, Default)]
struct Pace {
    last: Option<(Nanos, u64)>,
}

fn failed(line: u64, found: &str) -> TestError {
    TestError::Check {
        check: "replaying the load file",
        found: format!("line {line}: {found}"),
    }
}
