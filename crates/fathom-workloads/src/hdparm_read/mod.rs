//! Test `hdparm-read`: a device read in order, in pieces of 2 MiB, for three seconds.
//!
//! Before: a sync and a quiet time. Then reads from the offset on until the time is over or no whole
//! piece is left; every 512th byte of a piece is touched. Afterwards what was read is put out of the
//! cache. Unlike the original the cache is emptied before the first trial too. The target itself is
//! read when it is a device or a file; on a directory a file with incompressible contents is laid
//! out once and read in place of a device.

mod flush;
mod reading;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Bytes, IoContext, Nanos, seed_for};
use fathom_io::{Contents, IoError, LayoutSpec, lay_out};
use fathom_model::definition::hdparm_read::{
    self as definition, BLOCK, HdparmMeasured, HdparmSettings,
};
use fathom_model::{
    CacheEvidence, Case, Context, DirectEvidence, DurabilityEvidence, Estimate, FileEvidence, Host,
    Metric, Prepared, Progress, TargetKind, Test, TestError, TestInfo, Trial, Unmet,
};

use self::reading::{READ, Reader, Report};
use crate::classic::{Conductor, Outcome, Seat, Traffic, Watch, needs, run_crew, unmet_of};
use crate::common::{CaseDir, Guess, native};
use crate::error::WorkloadError;

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);
/// A write of the layout in flight for longer than this is stuck.
const STUCK_AFTER: Nanos = Nanos::from_secs(120);

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct HdparmReadTest;

impl HdparmReadTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for HdparmReadTest {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: native(IMPLEMENTATION),
            options: definition::options(),
        }
    }

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match HdparmSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        match host.target.kind {
            TargetKind::Directory => {
                unmet.extend(needs(host, settings.file_size, 2));
                unmet.extend(too_short(
                    &settings,
                    settings.file_size.as_u64(),
                    "the file",
                ));
            }
            TargetKind::File | TargetKind::BlockDevice => {
                unmet.extend(need_readable(&settings, Path::new(&host.target.path)));
            }
        }
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = HdparmSettings::from_case(case)?;
        let layout = match host.target.kind {
            TargetKind::Directory => settings.file_size,
            TargetKind::File | TargetKind::BlockDevice => Bytes::new(0),
        };
        let guess = Guess::of(&host.target);
        let is_file = u64::from(layout.as_u64() > 0);
        Ok(Estimate {
            trial_time: settings
                .settle
                .plus(settings.time)
                .plus(Nanos::from_millis(200)),
            prepare_time: guess.time_to_write(layout),
            prepare_bytes: layout,
            space: layout,
            inodes: 2 * is_file,
            ..Estimate::default()
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = HdparmSettings::from_case(case)?;
        let source = match &cx.device {
            Some(path) => Source::Named(path.clone()),
            None => Source::laid_out(&settings, case, cx)?,
        };
        let (file, is_device) = open(source.path(), false)?;
        let resident = flush::flush(&file, source.path(), is_device)?;
        Ok(Box::new(PreparedHdparm {
            settings,
            source,
            resident,
        }))
    }
}

fn too_short(settings: &HdparmSettings, size: u64, what: &str) -> Option<Unmet> {
    let needed = settings.offset.as_u64().saturating_add(BLOCK);
    (size < needed).then(|| Unmet {
        what: format!(
            "{what} has {}, no piece of 2 MiB at offset {}",
            Bytes::new(size),
            settings.offset
        ),
        hint: "choose a smaller offset or a larger file or device".to_owned(),
    })
}

fn need_readable(settings: &HdparmSettings, path: &Path) -> Option<Unmet> {
    let size = open(path, settings.direct).and_then(|(file, _)| size_of(&file, path));
    match size {
        Ok(size) => too_short(settings, size, &path.display().to_string()),
        Err(error) => Some(Unmet {
            what: error.to_string(),
            hint: "reading a device needs root or its group".to_owned(),
        }),
    }
}

/// Opens what is read, and says whether it is a block device.
fn open(path: &Path, direct: bool) -> Result<(File, bool), TestError> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let mut options = File::options();
    options.read(true);
    if direct {
        options.custom_flags(libc::O_DIRECT);
    }
    let doing = match direct {
        true => "opening with O_DIRECT",
        false => "opening",
    };
    let file = options
        .open(path)
        .map_err(|error| TestError::io(doing, path, error))?;
    let kind = file.metadata().at("look at", path)?.file_type();
    match kind.is_block_device() || kind.is_file() {
        true => Ok((file, kind.is_block_device())),
        false => Err(TestError::Check {
            check: "what is read",
            found: format!("{} is neither a block device nor a file", path.display()),
        }),
    }
}

fn size_of(file: &File, path: &Path) -> Result<u64, TestError> {
    rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))
        .map_err(|errno| TestError::io("finding the size of", path, errno.into()))
}

/// What is read.
#[derive(Debug)]
enum Source {
    /// The device or file the user named as target.
    Named(PathBuf),
    /// A file of ours on the target.
    LaidOut(CaseDir, PathBuf),
}

impl Source {
    fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::LaidOut(_, path) => path,
        }
    }

    fn laid_out(
        settings: &HdparmSettings,
        case: &Case,
        cx: &Context<'_>,
    ) -> Result<Self, TestError> {
        let watch = Watch::new(cx, "the layout");
        watch.check_now()?;
        let directory = CaseDir::create(case, cx)?;
        let path = directory.path().join("device");
        let own = cx.cancel.child();
        let spec = LayoutSpec {
            path: path.clone(),
            size: settings.file_size,
            contents: Contents::Random,
            seed: seed_for(1, "hdparm-read file"),
            direct: true,
            stuck_after: STUCK_AFTER,
        };
        let laid = lay_out(&spec, &own, &|done: Bytes| {
            if watch.check_now().is_err() {
                own.cancel();
            }
            (cx.progress)(Progress {
                phase: "lay out".to_owned(),
                fraction: Some(done.as_u64() as f64 / settings.file_size.as_u64() as f64),
                ..Progress::default()
            });
        });
        match laid {
            Ok(_) => Ok(Self::LaidOut(directory, path)),
            Err(IoError::Cancelled { .. }) => {
                watch.check_now()?;
                Err(TestError::Cancelled)
            }
            Err(IoError::NoSpace { path, .. }) => Err(TestError::NoSpace {
                doing: "writing",
                path,
                needed: settings.file_size,
            }),
            Err(error) => Err(WorkloadError::from(error).into()),
        }
    }

    fn note(&self, is_device: bool) -> String {
        match (self, is_device) {
            (Self::Named(path), true) => format!("read the block device {}", path.display()),
            (Self::Named(path), false) => format!("read the file {}", path.display()),
            (Self::LaidOut(..), _) => {
                "read a file laid out on the target in place of a device: with the file system's \
                 work, and where its blocks lie, in the figure"
                    .to_owned()
            }
        }
    }
}

#[derive(Debug)]
struct PreparedHdparm {
    settings: HdparmSettings,
    source: Source,
    /// Bytes in the cache after the last flush.
    resident: u64,
}

impl Prepared for PreparedHdparm {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the timed read");
        watch.check_now()?;
        let path = self.source.path();
        let (file, is_device) = open(path, self.settings.direct)?;
        let size = size_of(&file, path)?;
        rustix::fs::sync();
        reading::settle(self.settings.settle, cx, watch)?;
        let (done, observer) = (AtomicU64::new(0), cx.observer);
        let work = |seat: &Seat<'_>| {
            let reader = Reader::new(&self.settings, &file, path, size, watch, &done)?;
            seat.start()?;
            reader.run(observer)
        };
        let crew = run_crew(cx, 1, work, |conductor| {
            conduct(cx, conductor, &done, &self.settings);
        })?;
        let before = self.resident;
        let after = self.flush(&file, is_device)?;
        let Some(report) = crew.results.into_iter().next() else {
            return Err(TestError::Cancelled);
        };
        let cache = CacheEvidence {
            resident_bytes_before: Some(before),
            resident_bytes_after: Some(after),
            asked: "cold".to_owned(),
        };
        Ok(self.trial(report, crew.note, size, is_device, cache, cx))
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        match self.source {
            Source::LaidOut(directory, _) => directory.remove(),
            Source::Named(_) => Ok(()),
        }
    }
}

impl PreparedHdparm {
    fn flush(&mut self, file: &File, is_device: bool) -> Result<u64, TestError> {
        let stayed = flush::flush(file, self.source.path(), is_device)?;
        self.resident = stayed;
        Ok(stayed)
    }

    fn trial(
        &self,
        report: Report,
        note: Option<String>,
        size: u64,
        is_device: bool,
        cache: CacheEvidence,
        cx: &Context<'_>,
    ) -> Trial {
        let mib = report.bytes as f64 / f64::from(1 << 20);
        let values = definition::values(&HdparmMeasured {
            mib_per_second: mib / report.elapsed.as_secs_f64(),
            latency: Some(report.meter.of(READ)),
        });
        let map = match is_device {
            true => None,
            false => fathom_io::extents(self.source.path()).ok(),
        };
        let mut notes = vec![self.source.note(is_device)];
        if report.reached_end {
            notes.push(format!(
                "the end came after {} s, before the time was over",
                report.elapsed.as_secs_f64()
            ));
        }
        notes.extend(note);
        let outcome = Outcome {
            values,
            io_kinds: &[READ],
            traffic: Traffic {
                read_bytes: report.bytes,
                written_bytes: 0,
                calls: report.meter.count(READ),
                planned_calls: report.bytes / BLOCK,
                block_bytes: Some(BLOCK),
            },
            window: report.elapsed,
            threads: 1,
            file: FileEvidence {
                size_bytes: size,
                unwritten_bytes: map.and_then(|map| map.unwritten).map(|u| u.as_u64()),
                extents: map.and_then(|map| map.extents),
                memory_bytes: None,
            },
            cache: Some(cache),
            counts: vec![("bytes-read", report.bytes)],
            contents: match self.source {
                Source::LaidOut(..) => "random",
                Source::Named(_) => "as found on the target",
            },
            sample: &report.sample,
            durability: DurabilityEvidence {
                policy: "none (reads)".to_owned(),
                durable: false,
                syncs: 0,
                final_flush_ns: None,
            },
            host: report.host,
            cpu: report.cpu,
            series: Default::default(),
            notes,
            meter: report.meter,
        };
        let mut trial = outcome.into_trial(cx);
        trial.evidence.direct = self.settings.direct.then(|| DirectEvidence {
            requested: true,
            opened: true,
            transfer_ok: Some(true),
            ..DirectEvidence::default()
        });
        trial
    }
}

/// Starts the one thread and tells of its progress.
fn conduct(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    done: &AtomicU64,
    settings: &HdparmSettings,
) {
    if !conductor.release() {
        return;
    }
    let started = cx.clock.now();
    while !conductor.wait(TELL) {
        let elapsed = cx.clock.now().since(started).as_secs_f64();
        let bytes = done.load(Ordering::Relaxed) as f64;
        (cx.progress)(Progress {
            phase: "read".to_owned(),
            fraction: Some((elapsed / settings.time.as_secs_f64()).min(1.0)),
            rate: format!("{:.0} MB/s", bytes / 1e6 / elapsed.max(1e-9)),
        });
    }
}
