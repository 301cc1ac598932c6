use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::{Cancel, IoContext, Nanos};
use fathom_io::{
    DirectProbe, DirectVerdict, Evicted, ExtentMap, Hooks, IoError, JobReport, Snapshot,
    TargetKind, direct_probe, evict, extents, residency, run,
};
use fathom_model::definition::io::{IoCache, IoDirect, IoEngine, IoLayout, IoSettings};
use fathom_model::{
    Case, ClockEvidence, Context, HostEvidence, Prepared, Progress, TestError, Trial, Witness,
};
use fathom_system::{ClockWitness, Root};

use super::files::{DataFile, FileKey, Files, engine_error, stop_at_deadline};
use super::report::{self, Seen};
use super::spec::{self, Place};
use crate::common::check_limits;
use crate::error::WorkloadError;

/// A case that is ready: its place is known and, unless each trial makes a new file, written.
#[derive(Debug)]
pub(super) struct PreparedIo {
    settings: IoSettings,
    source: Source,
    place: Place,
    probe: Option<DirectProbe>,
    compressible_share: Option<f64>,
    notes: Vec<String>,
}

/// Where the data comes from.
#[derive(Debug)]
enum Source {
    /// A file shared with other cases.
    Shared(Arc<DataFile>),
    /// A file that each trial makes anew.
    Fresh(Arc<DataFile>),
    /// A device or file of the user's.
    Given,
    /// The null engine needs none.
    Nothing,
}

impl PreparedIo {
    pub(super) fn new(
        files: &Files,
        settings: IoSettings,
        case: &Case,
        cx: &Context<'_>,
    ) -> Result<Self, TestError> {
        check_limits(cx, "the preparation", cx.clock.now())?;
        let (source, path) = source(files, &settings, case, cx)?;
        let kind = match path.metadata() {
            // The run holds it exclusively: see `Context::device`.
            Ok(meta) if meta.file_type().is_block_device() => TargetKind::ClaimedDevice,
            _ => TargetKind::File,
        };
        let mut notes = Vec::new();
        let (direct, probe) = match source {
            Source::Nothing => (false, None),
            _ => choose_direct(&settings, &path, cx, &mut notes)?,
        };
        if matches!(source, Source::Given) && settings.reads() {
            notes.push(
                "the target was read as it is: blocks that were never written may be answered \
                 without touching the media"
                    .to_owned(),
            );
        }
        let prepared = Self {
            compressible_share: report::compressible_share(&settings, kind_is_ours(&source)),
            place: Place {
                path,
                kind,
                direct,
                laid_out: match source {
                    Source::Shared(_) => true,
                    Source::Fresh(_) => settings.layout == IoLayout::Written,
                    Source::Given | Source::Nothing => false,
                },
            },
            settings,
            source,
            probe,
            notes,
        };
        // Cases that share a file share what was done to it.
        let asked = prepared.settings.precondition;
        let passes = match &prepared.source {
            Source::Shared(file) => file.take_passes(asked),
            Source::Given => asked,
            Source::Fresh(_) | Source::Nothing => 0,
        };
        if passes > 0 {
            prepared.precondition(passes, cx)?;
        }
        Ok(prepared)
    }

    /// Writes the span so many times.
    fn precondition(&self, passes: u32, cx: &Context<'_>) -> Result<(), TestError> {
        let started = cx.clock.now();
        let job = spec::preconditioning(&self.settings, &self.place, passes);
        let own = cx.cancel.child();
        let bytes = self.settings.size.as_u64() as f64 * f64::from(passes);
        let watch = Preconditioning {
            cx,
            own: &own,
            bytes,
        };
        match run(&job, &watch, &own) {
            Ok(_) => Ok(()),
            Err(error) => {
                let needed = self.settings.end();
                Err(engine_error(
                    error,
                    needed,
                    "the preconditioning",
                    started,
                    cx,
                ))
            }
        }
    }
}

/// Tells how far the preconditioning is.
struct Preconditioning<'a> {
    cx: &'a Context<'a>,
    own: &'a Cancel,
    bytes: f64,
}

impl Hooks for Preconditioning<'_> {
    fn progress(&self, snapshot: &Snapshot) {
        stop_at_deadline(self.cx, self.own);
        let seconds = snapshot.elapsed.as_secs_f64().max(1e-9);
        (self.cx.progress)(Progress {
            phase: "precondition".to_owned(),
            fraction: Some((snapshot.bytes as f64 / self.bytes.max(1.0)).min(1.0)),
            rate: format!("{:.0} MB/s", snapshot.bytes as f64 / 1e6 / seconds),
        });
    }
}

fn kind_is_ours(source: &Source) -> bool {
    matches!(source, Source::Shared(_) | Source::Fresh(_))
}

fn source(
    files: &Files,
    settings: &IoSettings,
    case: &Case,
    cx: &Context<'_>,
) -> Result<(Source, PathBuf), TestError> {
    if settings.engine == IoEngine::Null {
        return Ok((Source::Nothing, cx.scratch.join("unused")));
    }
    if let Some(device) = &cx.device {
        return Ok((Source::Given, device.clone()));
    }
    match FileKey::of(settings, cx.host) {
        Some(key) => {
            let file = files.acquire(key, settings.direct, cx)?;
            let path = file.path().to_path_buf();
            Ok((Source::Shared(file), path))
        }
        None => {
            let path = cx.scratch.join(format!("io-new-{}", case.id));
            Ok((Source::Fresh(Arc::new(DataFile::at(path.clone()))), path))
        }
    }
}

/// Whether the trials go past the page cache, and what was found out about that.
fn choose_direct(
    settings: &IoSettings,
    path: &Path,
    cx: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<(bool, Option<DirectProbe>), TestError> {
    if settings.direct == IoDirect::No || settings.engine == IoEngine::Mmap {
        return Ok((false, None));
    }
    let mut probed = match path.exists() {
        true => try_direct(path)?,
        false => None,
    };
    let is_short = |probe: &DirectProbe| probe.verdict == DirectVerdict::TooShort;
    if cx.device.is_none() && probed.as_ref().is_none_or(is_short) {
        probed = try_direct(cx.scratch)?;
    }
    let Some(found) = probed else {
        // Nothing to try it on: the first operation will tell.
        return Ok((true, None));
    };
    let obstacle = obstacle(settings, &found);
    let is_direct = match (obstacle, settings.direct) {
        (None, _) | (Some(_), IoDirect::Yes) => true,
        (Some(obstacle), _) => {
            notes.push(format!(
                "direct I/O cannot be used ({obstacle}): buffered, from a cache seen to be cold"
            ));
            false
        }
    };
    Ok((is_direct, Some(found)))
}

/// The probe, or nothing where it cannot be made (no files without names on this file system).
fn try_direct(path: &Path) -> Result<Option<DirectProbe>, TestError> {
    match direct_probe(path) {
        Ok(found) => Ok(Some(found)),
        Err(IoError::Open { .. }) => Ok(None),
        Err(error) => Err(WorkloadError::from(error).into()),
    }
}

fn obstacle(settings: &IoSettings, found: &DirectProbe) -> Option<String> {
    if let DirectVerdict::Refused(errno) = found.verdict {
        return Some(std::io::Error::from_raw_os_error(errno).to_string());
    }
    let alignment = found.alignment?;
    if alignment.offset == 0 {
        return Some("the file system has none".to_owned());
    }
    let required = u64::from(alignment.offset);
    let is_uneven = |bytes: u64| !bytes.is_multiple_of(required);
    let uneven = settings
        .block_sizes()
        .into_iter()
        .chain([settings.offset])
        .find(|size| is_uneven(size.as_u64()));
    uneven.map(|size| format!("{size} is not a multiple of {required} bytes"))
}

impl Prepared for PreparedIo {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let started = cx.clock.now();
        check_limits(cx, "the trial", started)?;
        let result = self.trial(cx, started);
        if let Source::Fresh(file) = &self.source {
            let cleared = file.clear();
            return result.and_then(|trial| cleared.map(|()| trial));
        }
        result
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        match self.source {
            Source::Shared(file) | Source::Fresh(file) => file.release(),
            Source::Given | Source::Nothing => Ok(()),
        }
    }
}

impl PreparedIo {
    fn trial(&self, cx: &Context<'_>, started: Nanos) -> Result<Trial, TestError> {
        self.bring_into_state(cx)?;
        let extents_before = self.extents()?;
        let job = spec::job(&self.settings, &self.place, cx.seed);
        let own = cx.cancel.child();
        let watch = Watch::new(self, cx, &own);
        let clock = ClockWitness::begin(&Root::system(), cx.clock);
        let outcome = run(&job, &watch, &own);
        let measured = match outcome {
            Ok(measured) => measured,
            Err(error) => {
                let needed = self.settings.end();
                return Err(engine_error(error, needed, "the trial", started, cx));
            }
        };
        let clock = clock_evidence(clock, cx, &measured);
        let is_new = matches!(self.source, Source::Fresh(_));
        let extents = if is_new {
            self.extents()?
        } else {
            extents_before
        };
        let mut notes = self.notes.clone();
        let seen = watch.into_seen(extents, clock);
        notes.extend(measured.notes.iter().map(|note| note.text.clone()));
        let place = &self.place;
        let mut trial = report::trial(&self.settings, place, &measured, seen, cx.host);
        trial.evidence.direct = self
            .has_file()
            .then(|| report::direct(&self.settings, place.direct, self.probe.as_ref()));
        if let Some(data) = &mut trial.evidence.data {
            data.compressible_share = self.compressible_share;
        }
        trial.evidence.notes.extend(notes);
        Ok(trial)
    }

    fn has_file(&self) -> bool {
        !matches!(self.source, Source::Nothing)
    }

    /// The file system's view of the file; nothing for devices.
    fn extents(&self) -> Result<Option<ExtentMap>, TestError> {
        let is_there =
            self.has_file() && self.place.kind == TargetKind::File && self.place.path.exists();
        match is_there {
            true => Ok(Some(
                extents(&self.place.path).map_err(WorkloadError::from)?,
            )),
            false => Ok(None),
        }
    }

    /// Gives the trial the file and the page cache that its case states.
    fn bring_into_state(&self, cx: &Context<'_>) -> Result<(), TestError> {
        if let Source::Fresh(file) = &self.source {
            file.clear()?;
            if self.settings.layout == IoLayout::Fallocate {
                return Ok(());
            }
            let contents = spec::contents(&self.settings);
            file.write(self.settings.end(), contents, self.settings.direct, cx)?;
        }
        if !self.has_file() {
            return Ok(());
        }
        let path = &self.place.path;
        match self.settings.cache {
            IoCache::Warm if !self.place.direct => read_through(path, cx),
            IoCache::Any if !self.place.direct => Ok(()),
            _ => {
                // Flushes what an earlier trial wrote, too. What stays is seen by the residency
                // at the start of the window and judged there.
                let Evicted { .. } = evict(path).map_err(WorkloadError::from)?;
                Ok(())
            }
        }
    }
}

/// Reads a file from end to end, so that the page cache has as much of it as it will keep.
fn read_through(path: &Path, cx: &Context<'_>) -> Result<(), TestError> {
    let started = cx.clock.now();
    let mut file = File::open(path).at("open", path)?;
    let mut block = vec![0; 1 << 20];
    loop {
        check_limits(cx, "warming the cache", started)?;
        if file.read(&mut block).at("read", path)? == 0 {
            return Ok(());
        }
    }
}

fn clock_evidence(witness: ClockWitness, cx: &Context<'_>, measured: &JobReport) -> ClockEvidence {
    let stamp = match measured.clock.source {
        "tsc" => "rdtsc",
        "monotonic" => "clock_gettime",
        other => other,
    };
    let mut evidence = witness.end(cx.clock, stamp);
    evidence.read_ns = measured.clock.read_ns;
    evidence
}

/// Looks at machine and cache when the window opens and closes, and tells how far it is.
struct Watch<'a> {
    prepared: &'a PreparedIo,
    cx: &'a Context<'a>,
    own: &'a Cancel,
    witness: RefCell<Option<Box<dyn Witness>>>,
    host: RefCell<Option<HostEvidence>>,
    resident: [Cell<Option<u64>>; 2],
    last: Cell<(Nanos, u64)>,
}

impl<'a> Watch<'a> {
    fn new(prepared: &'a PreparedIo, cx: &'a Context<'a>, own: &'a Cancel) -> Self {
        Self {
            prepared,
            cx,
            own,
            witness: RefCell::default(),
            host: RefCell::default(),
            resident: [Cell::new(None), Cell::new(None)],
            last: Cell::default(),
        }
    }

    fn resident_bytes(&self) -> Option<u64> {
        let path = self
            .prepared
            .has_file()
            .then_some(&self.prepared.place.path)?;
        let found = residency(path, None).ok()?;
        Some(found.resident.as_u64())
    }

    fn into_seen(self, extents: Option<ExtentMap>, clock: ClockEvidence) -> Seen {
        Seen {
            host: self.host.into_inner(),
            resident_before: self.resident[0].get(),
            resident_after: self.resident[1].get(),
            extents,
            clock,
        }
    }
}

impl Hooks for Watch<'_> {
    fn window_begin(&self) {
        self.resident[0].set(self.resident_bytes());
        *self.witness.borrow_mut() = Some(self.cx.observer.begin());
    }

    fn window_end(&self) {
        *self.host.borrow_mut() = self.witness.borrow_mut().take().map(Witness::end);
        self.resident[1].set(self.resident_bytes());
    }

    fn progress(&self, snapshot: &Snapshot) {
        stop_at_deadline(self.cx, self.own);
        let settings = &self.prepared.settings;
        let length = match snapshot.in_window {
            true => settings.runtime,
            false => Some(settings.ramp),
        };
        let fraction = length
            .filter(|length| length.as_u64() > 0)
            .map(|length| snapshot.elapsed.as_secs_f64() / length.as_secs_f64());
        let now = self.cx.clock.now();
        let (before, bytes_before) = self.last.replace((now, snapshot.bytes));
        let seconds = now.since(before).as_secs_f64();
        let rate = snapshot.bytes.saturating_sub(bytes_before) as f64 / 1e6 / seconds.max(1e-9);
        (self.cx.progress)(Progress {
            phase: if snapshot.in_window {
                "measure"
            } else {
                "ramp"
            }
            .to_owned(),
            fraction: fraction.map(|fraction| fraction.min(1.0)),
            rate: match before.as_u64() {
                0 => String::new(),
                _ => format!("{rate:.0} MB/s"),
            },
        });
    }
}
