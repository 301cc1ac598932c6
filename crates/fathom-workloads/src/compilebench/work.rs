use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Nanos, SplitMix64, seed_for};
use fathom_model::definition::compilebench::{
    BUFFER, CompilebenchEvict, CompilebenchPhase, CompilebenchSettings, DataSet, TreeFile,
    TreeMeasured,
};
use fathom_model::{HostEvidence, Observer, TestError, Witness};
use rustix::fs::OFlags;

use super::tree::{self, DIRECTORY_MODE, FILE_MODE, Removed, Step, tree_name};
use crate::classic::{CpuTime, Laps, Meter, Places, Root, Watch};
use crate::error::WorkloadError;

/// Names of the kinds.
pub(super) const KINDS: &[&str] = &[
    "open", "write", "read", "close", "mkdir", "unlink", "rmdir", "stat", "list", "truncate",
    "sync",
];
const OPEN: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const READ: usize = 2;
const CLOSE: usize = 3;
const MKDIR: usize = 4;
const UNLINK: usize = 5;
const RMDIR: usize = 6;
const STAT: usize = 7;
const LIST: usize = 8;
const TRUNCATE: usize = 9;
pub(super) const SYNC: usize = 10;

/// Fixes what the phases draw, the same in each run as in the original.
const SEED: u64 = 555;
/// One in so many patches removes the files first.
const UNLINK_ONE_IN: u64 = 4;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Calls of `read` and `write` that the sizes of the files ask for.
    pub(super) planned_calls: u64,
    pub(super) files: u64,
}

/// What a trial did.
pub(super) struct Report {
    /// Each phase's trees.
    pub(super) phases: Vec<(CompilebenchPhase, Vec<TreeMeasured>)>,
    /// The chosen phase's calls.
    pub(super) meter: Meter,
    pub(super) moved: Moved,
    pub(super) window: Nanos,
    pub(super) cpu: CpuTime,
    pub(super) host: HostEvidence,
    /// Bytes of the trees in the page cache when a phase began that begins with empty caches.
    pub(super) resident: Option<u64>,
}

/// All phases of a trial, one after another.
pub(super) struct Work<'a> {
    settings: &'a CompilebenchSettings,
    set: &'a DataSet,
    root: &'a Root,
    places: Places<'a>,
    watch: Watch<'a>,
    /// Files done, for progress.
    done: &'a AtomicU64,
    buffer: Vec<u8>,
    meter: Meter,
    moved: Moved,
    resident: Option<u64>,
    /// The trees that exist.
    trees: Vec<CString>,
    next_tree: u64,
    random: SplitMix64,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        settings: &'a CompilebenchSettings,
        set: &'a DataSet,
        root: &'a Root,
        watch: Watch<'a>,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            settings,
            set,
            root,
            places: Places::new(root),
            watch,
            done,
            buffer: vec![b'a'; BUFFER as usize],
            meter: Meter::new(KINDS),
            moved: Moved::default(),
            resident: None,
            trees: Vec::new(),
            next_tree: 0,
            random: SplitMix64::new(seed_for(SEED, "phases")),
        }
    }

    /// The whole chain, then the removal of all trees.
    pub(super) fn run(mut self, observer: &dyn Observer) -> Result<Report, TestError> {
        let mut phases = Vec::new();
        let mut watched = None;
        for phase in self.settings.phase.chain() {
            let is_chosen = *phase == self.settings.phase;
            self.get_ready(*phase)?;
            // Only what the chosen phase does is told in detail.
            self.meter = Meter::new(KINDS);
            self.moved = Moved::default();
            let begun: Option<(Box<dyn Witness>, CpuTime)> =
                is_chosen.then(|| (observer.begin(), CpuTime::of_this_thread()));
            let measured = self.phase(*phase)?;
            watched = begun.map(|(witness, before)| {
                let cpu = CpuTime::of_this_thread().since(before);
                (witness.end(), cpu)
            });
            phases.push((*phase, measured));
        }
        let Some((host, cpu)) = watched else {
            return Err(TestError::Cancelled);
        };
        let seconds: f64 = phases
            .last()
            .map(|(_, trees)| trees.iter().map(|tree| tree.seconds).sum())
            .unwrap_or_default();
        Ok(Report {
            phases,
            meter: self.meter,
            moved: self.moved,
            window: Nanos::new((seconds * 1e9) as u64),
            cpu,
            host,
            resident: self.resident,
        })
    }

    /// Syncs, and empties caches where the original does.
    fn get_ready(&mut self, phase: CompilebenchPhase) -> Result<(), TestError> {
        match phase {
            CompilebenchPhase::Create => Ok(()),
            CompilebenchPhase::Compile => self.sync(),
            _ => self.empty_caches(),
        }
    }

    fn phase(&mut self, phase: CompilebenchPhase) -> Result<Vec<TreeMeasured>, TestError> {
        let mut chosen = match phase {
            CompilebenchPhase::Create | CompilebenchPhase::CreateAged => Vec::new(),
            _ => self.trees.clone(),
        };
        // In a fixed order that is not that of their creation, each tree once.
        self.random.shuffle(&mut chosen);
        let mut measured = Vec::new();
        for index in 0..self.settings.trees_of(phase) {
            if phase.is_mixed() && index > 0 {
                self.empty_caches()?;
            }
            let name = match chosen.get(index as usize) {
                Some(name) => name.clone(),
                None => {
                    let name = tree_name(self.next_tree);
                    self.next_tree += 1;
                    self.trees.push(name.clone());
                    name
                }
            };
            measured.push(self.tree(phase, &name)?);
        }
        Ok(measured)
    }

    /// A tree in a phase.
    fn tree(&mut self, phase: CompilebenchPhase, name: &CStr) -> Result<TreeMeasured, TestError> {
        let set = self.set;
        let steps = match phase {
            CompilebenchPhase::Create | CompilebenchPhase::CreateAged => {
                tree::steps(name, &set.unpatched)
            }
            CompilebenchPhase::Compile | CompilebenchPhase::Clean => {
                tree::steps(name, &set.compiled)
            }
            CompilebenchPhase::Patch => tree::steps(name, &set.patched),
            _ => Vec::new(),
        };
        let unlinks = phase == CompilebenchPhase::Patch && self.random.below(UNLINK_ONE_IN) == 1;
        let before = self.moved;
        let mut laps = Laps::start(self.watch.now());
        let mut bytes = 0;
        match phase {
            CompilebenchPhase::Create
            | CompilebenchPhase::CreateAged
            | CompilebenchPhase::Compile => self.write_all(name, &steps, &mut laps)?,
            CompilebenchPhase::Patch => self.patch_all(&steps, unlinks, &mut laps)?,
            CompilebenchPhase::Clean => bytes = self.clean(&steps, &mut laps)?,
            CompilebenchPhase::Read | CompilebenchPhase::ReadCompiled => {
                self.read_all(name, &mut laps)?;
            }
            CompilebenchPhase::Delete | CompilebenchPhase::DeleteCompiled => {
                self.delete(name, &mut laps)?;
            }
            CompilebenchPhase::Stat | CompilebenchPhase::StatCompiled => {
                self.stat_all(name, &mut laps)?;
            }
        }
        if phase.is_mixed() {
            self.sync()?;
            self.lap(SYNC, &mut laps)?;
        }
        let moved = self.moved;
        bytes += match phase {
            CompilebenchPhase::Read | CompilebenchPhase::ReadCompiled => {
                moved.read_bytes - before.read_bytes
            }
            _ => moved.written_bytes - before.written_bytes,
        };
        Ok(TreeMeasured {
            bytes,
            seconds: laps.total().as_secs_f64(),
        })
    }

    fn lap(&mut self, kind: usize, laps: &mut Laps) -> Result<(), TestError> {
        self.meter.record(kind, laps.lap(self.watch.now()));
        self.watch.check(laps.last())
    }

    fn make_directory(&mut self, name: &CStr, laps: &mut Laps) -> Result<(), TestError> {
        self.places.need_directory(name, DIRECTORY_MODE)?;
        self.lap(MKDIR, laps)
    }

    fn write_all(&mut self, name: &CStr, steps: &[Step], laps: &mut Laps) -> Result<(), TestError> {
        self.make_directory(name, laps)?;
        for step in steps {
            for directory in &step.directories {
                self.make_directory(directory, laps)?;
            }
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND;
            let file = self.root.open_file(&step.path, flags, FILE_MODE)?;
            self.lap(OPEN, laps)?;
            self.write_file(file.as_fd(), step, laps)?;
            drop(file);
            self.lap(CLOSE, laps)?;
            self.one_more();
        }
        Ok(())
    }

    fn write_file(
        &mut self,
        file: BorrowedFd<'_>,
        step: &Step,
        laps: &mut Laps,
    ) -> Result<(), TestError> {
        let mut left = step.size;
        while left > 0 {
            let length = left.min(BUFFER);
            let bytes = &self.buffer[..length as usize];
            self.root.write(file, &step.path, bytes)?;
            self.lap(WRITE, laps)?;
            left -= length;
        }
        self.moved.written_bytes += step.size;
        self.moved.planned_calls += step.size.div_ceil(BUFFER);
        Ok(())
    }

    /// Reads each file that is there and writes it anew in its new size.
    fn patch_all(
        &mut self,
        steps: &[Step],
        unlinks: bool,
        laps: &mut Laps,
    ) -> Result<(), TestError> {
        for step in steps {
            for directory in &step.directories {
                self.make_directory(directory, laps)?;
            }
            if unlinks && self.exists(&step.path)? {
                self.places.remove_file(&step.path)?;
                self.lap(UNLINK, laps)?;
            }
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND;
            let file = self.root.open_file(&step.path, flags, FILE_MODE)?;
            self.lap(OPEN, laps)?;
            self.read_file(file.as_fd(), &step.path, laps)?;
            rustix::fs::ftruncate(&file, 0)
                .map_err(|errno| self.root.error("truncating", &step.path, errno))?;
            self.lap(TRUNCATE, laps)?;
            self.write_file(file.as_fd(), step, laps)?;
            drop(file);
            self.lap(CLOSE, laps)?;
            self.one_more();
        }
        Ok(())
    }

    fn exists(&mut self, name: &CStr) -> Result<bool, TestError> {
        match self.places.stat(name) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.root.error("looking at", name, errno)),
        }
    }

    /// Reads a file to its end.
    fn read_file(
        &mut self,
        file: BorrowedFd<'_>,
        name: &CStr,
        laps: &mut Laps,
    ) -> Result<(), TestError> {
        let mut size = 0;
        loop {
            let count = self.root.read(file, name, &mut self.buffer)?;
            self.lap(READ, laps)?;
            if self.buffer[..count].iter().any(|byte| *byte != b'a') {
                return Err(TestError::Check {
                    check: "reading back what was written",
                    found: format!("{} holds other bytes", self.root.path_of(name).display()),
                });
            }
            if count == 0 {
                break;
            }
            size += count as u64;
        }
        self.moved.read_bytes += size;
        // The last call finds the end.
        self.moved.planned_calls += size.div_ceil(BUFFER) + 1;
        Ok(())
    }

    /// Removes what compiling made; the directories stay.
    fn clean(&mut self, steps: &[Step], laps: &mut Laps) -> Result<u64, TestError> {
        for step in steps {
            self.places.remove_file(&step.path)?;
            self.lap(UNLINK, laps)?;
            self.one_more();
        }
        Ok(steps.iter().map(|step| step.size).sum())
    }

    fn read_all(&mut self, name: &CStr, laps: &mut Laps) -> Result<(), TestError> {
        let (root, watch) = (self.root, self.watch);
        tree::walk(root, name, watch, &mut |_, listing| {
            self.lap(LIST, laps)?;
            for path in &listing.files {
                let empty = rustix::fs::Mode::empty();
                let file = root.open_file(path, OFlags::RDONLY, empty)?;
                self.lap(OPEN, laps)?;
                self.read_file(file.as_fd(), path, laps)?;
                drop(file);
                self.lap(CLOSE, laps)?;
                self.one_more();
            }
            Ok(())
        })
    }

    fn delete(&mut self, name: &CStr, laps: &mut Laps) -> Result<(), TestError> {
        let (root, watch) = (self.root, self.watch);
        tree::remove(root, name, watch, &mut |_, what| match what {
            Removed::Listed => self.lap(LIST, laps),
            Removed::Directory => self.lap(RMDIR, laps),
            Removed::File => {
                self.one_more();
                self.lap(UNLINK, laps)
            }
        })?;
        self.trees.retain(|tree| tree.as_c_str() != name);
        Ok(())
    }

    fn stat_all(&mut self, name: &CStr, laps: &mut Laps) -> Result<(), TestError> {
        let (root, watch) = (self.root, self.watch);
        tree::walk(root, name, watch, &mut |_, listing| {
            self.lap(LIST, laps)?;
            for path in listing.files.iter().chain(&listing.directories) {
                self.places
                    .stat(path)
                    .map_err(|errno| root.error("looking at", path, errno))?;
                self.lap(STAT, laps)?;
            }
            listing.files.iter().for_each(|_| self.one_more());
            Ok(())
        })
    }

    fn one_more(&mut self) {
        self.moved.files += 1;
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Syncs the file system under test.
    fn sync(&self) -> Result<(), TestError> {
        self.watch.check_now()?;
        rustix::fs::syncfs(self.root.fd()).map_err(|errno| self.root.error("syncing", c".", errno))
    }

    fn empty_caches(&mut self) -> Result<(), TestError> {
        self.sync()?;
        match self.settings.evict {
            CompilebenchEvict::Machine => {
                let path = "/proc/sys/vm/drop_caches";
                std::fs::write(path, "3").map_err(|error| TestError::io("writing", path, error))
            }
            CompilebenchEvict::Files => self.evict_files(),
        }
    }

    /// Drops the pages of all trees, and says what stayed.
    fn evict_files(&mut self) -> Result<(), TestError> {
        let (root, watch) = (self.root, self.watch);
        let mut stayed = 0;
        for name in &self.trees {
            tree::walk(root, name, watch, &mut |_, listing| {
                for path in &listing.files {
                    let evicted = root.look(path, fathom_io::evict)?;
                    let evicted = evicted.transpose().map_err(WorkloadError::from)?;
                    stayed += evicted.map_or(0, |evicted| evicted.after.resident.as_u64());
                    watch.check_now()?;
                }
                Ok(())
            })?;
        }
        self.resident = Some(stayed);
        Ok(())
    }
}

/// Files that all phases of a case touch, for progress.
pub(super) fn planned_files(settings: &CompilebenchSettings, set: &DataSet) -> u64 {
    let count = |files: &[TreeFile]| files.len() as u64;
    let of = |phase: CompilebenchPhase| match phase {
        CompilebenchPhase::Compile | CompilebenchPhase::Clean => count(&set.compiled),
        CompilebenchPhase::Patch => count(&set.patched),
        phase if phase.is_of_compiled() => count(&set.unpatched) + count(&set.compiled),
        _ => count(&set.unpatched),
    };
    settings
        .phase
        .chain()
        .iter()
        .map(|phase| of(*phase).saturating_mul(settings.trees_of(*phase)))
        .sum()
}
