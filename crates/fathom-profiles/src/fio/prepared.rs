use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};

use fathom_base::process::{End, Finished, Program, run};
use fathom_base::{Bytes, IoContext, Nanos, SharedByKey};
use fathom_model::definition::io::{IoDirect, IoEngine, IoLayout, IoSettings};
use fathom_model::{Case, Context, HostEvidence, Prepared, Progress, TestError, Trial};

use super::output::{self, Output};
use super::report::{self, Known};
use super::{FileKey, Fio, job};
use crate::error::ProfileError;

/// Output of fio that is kept: a group with all bins of four directions takes some 100 KB.
const OUTPUT_LIMIT: usize = 16 << 20;

/// A file that fio wrote for cases; removed with the last of them.
#[derive(Debug)]
pub(super) struct WrittenFile {
    path: PathBuf,
    is_direct: bool,
}

impl Drop for WrittenFile {
    fn drop(&mut self) {
        // What cannot be removed here is removed with the scratch directory.
        let _ = fs::remove_file(&self.path);
    }
}

/// A case that is ready for fio.
#[derive(Debug)]
pub(super) struct PreparedFio {
    fio: Fio,
    settings: IoSettings,
    path: PathBuf,
    /// Keeps a shared file alive.
    written: Option<Arc<WrittenFile>>,
    is_new_each_time: bool,
    job_path: PathBuf,
    direct: bool,
    notes: Vec<String>,
}

impl PreparedFio {
    pub(super) fn new(
        files: &SharedByKey<FileKey, WrittenFile>,
        fio: Fio,
        settings: IoSettings,
        case: &Case,
        cx: &Context<'_>,
    ) -> Result<Self, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        let mut prepared = Self {
            path: cx.scratch.join(format!("fio-{}", case.id)),
            job_path: cx.scratch.join(format!("fio-{}.job", case.id)),
            written: None,
            is_new_each_time: false,
            direct: settings.direct != IoDirect::No && settings.engine != IoEngine::Mmap,
            notes: Vec::new(),
            fio,
            settings,
        };
        match (
            &cx.device,
            prepared.settings.layout,
            prepared.settings.engine,
        ) {
            (_, _, IoEngine::Null) => prepared.direct = false,
            (Some(device), _, _) => prepared.path.clone_from(device),
            (None, IoLayout::Fallocate, _) => prepared.is_new_each_time = true,
            (None, IoLayout::Written, _) => prepared.write_file(files, cx)?,
        }
        Ok(prepared)
    }

    fn write_file(
        &mut self,
        files: &SharedByKey<FileKey, WrittenFile>,
        cx: &Context<'_>,
    ) -> Result<(), TestError> {
        let key = FileKey {
            scratch: cx.scratch.to_path_buf(),
            length: self.settings.end(),
            contents: job::contents(&self.settings),
        };
        let written = files.get_or_make(key, || self.lay_out(cx))?;
        self.path.clone_from(&written.path);
        let can_be_direct = written.is_direct || self.settings.direct == IoDirect::Yes;
        if self.direct && !can_be_direct {
            self.direct = false;
            self.notes.push(
                "fio could not write the file past the page cache: buffered, from a cache that \
                 fio empties first"
                    .to_owned(),
            );
        }
        self.written = Some(written);
        Ok(())
    }

    /// Has fio write the file, past the page cache where that works.
    fn lay_out(&self, cx: &Context<'_>) -> Result<WrittenFile, TestError> {
        (cx.progress)(Progress {
            phase: "lay out".to_owned(),
            ..Progress::default()
        });
        let mut file = WrittenFile {
            path: self.path.clone(),
            is_direct: job::layout_block(self.settings.end()) >= Bytes::new(4096),
        };
        loop {
            let text = job::layout(&self.settings, &file.path, file.is_direct);
            match self.run_fio(&text, cx, &|_| None) {
                Ok(_) => return Ok(file),
                Err(Failure::Refused) if file.is_direct => file.is_direct = false,
                Err(failure) => return Err(failure.into_error(self.settings.end(), &file.path)),
            }
        }
    }

    /// Runs a job file and reads what fio says; `watch` is called beside it and given a way to wait
    /// for fio's end.
    fn run_fio(
        &self,
        text: &str,
        cx: &Context<'_>,
        watch: &(dyn Fn(&Waiting) -> Option<HostEvidence> + Sync),
    ) -> Result<(Output, Option<HostEvidence>), Failure> {
        fs::write(&self.job_path, text)
            .at("write", &self.job_path)
            .map_err(|error| Failure::Other(error.into()))?;
        let mut program = Program::new(&self.fio.path)
            .args(["--output-format=json+", "--eta=never"])
            .args([&self.job_path]);
        program.directory = Some(cx.scratch.to_path_buf());
        program.timeout = cx.deadline.since(cx.clock.now());
        program.output_limit = OUTPUT_LIMIT;
        let (finished, witnessed) = std::thread::scope(|scope| {
            let (done, waiting) = channel::<()>();
            let watching = scope.spawn(move || watch(&Waiting(waiting)));
            let finished = run(&program, cx.cancel);
            drop(done);
            (finished, watching.join().ok().flatten())
        });
        // The job file only matters while fio runs.
        let _ = fs::remove_file(&self.job_path);
        let finished = finished.map_err(|error| Failure::Other(error.into()))?;
        let is_direct = text.lines().any(|line| line == "direct=1");
        let output = self.read(&program, &finished, is_direct)?;
        Ok((output, witnessed))
    }

    fn read(
        &self,
        program: &Program,
        finished: &Finished,
        is_direct: bool,
    ) -> Result<Output, Failure> {
        match finished.end {
            End::Cancelled => return Err(Failure::Other(TestError::Cancelled)),
            End::TimedOut => {
                return Err(Failure::Other(TestError::Deadline {
                    what: "fio",
                    limit: program.timeout,
                }));
            }
            End::Exited(_) | End::Signalled(_) => {}
        }
        if finished.dropped_bytes > 0 {
            let limit = OUTPUT_LIMIT;
            return Err(Failure::Other(ProfileError::TooLong { limit }.into()));
        }
        let parsed = output::parse(&finished.stdout_text());
        let errno = parsed.as_ref().ok().and_then(|output| {
            output
                .jobs
                .iter()
                .map(|job| job.error)
                .find(|errno| *errno != 0)
        });
        match (errno, finished.end, parsed) {
            (None, End::Exited(0), parsed) => parsed.map_err(|error| Failure::Other(error.into())),
            (Some(libc_errno::ENOSPC | libc_errno::EDQUOT), _, _) => Err(Failure::Full),
            (Some(libc_errno::EINVAL), _, _) if is_direct => Err(Failure::Refused),
            (_, end, _) => Err(Failure::Other(TestError::Program {
                program: program.command_line(),
                what: explain(end, finished),
            })),
        }
    }
}

/// The error numbers that mean something of their own here, the same on every Linux.
mod libc_errno {
    pub(super) const EINVAL: i32 = 22;
    pub(super) const ENOSPC: i32 = 28;
    pub(super) const EDQUOT: i32 = 122;
}

/// Why fio gave no result.
enum Failure {
    /// No space left.
    Full,
    /// An operation was refused as invalid while direct I/O was on.
    Refused,
    Other(TestError),
}

impl Failure {
    fn into_error(self, needed: Bytes, path: &Path) -> TestError {
        match self {
            Self::Full => TestError::NoSpace {
                doing: "writing",
                path: path.to_path_buf(),
                needed,
            },
            Self::Refused => TestError::Io {
                doing: "transfer with O_DIRECT to or from".to_owned(),
                path: path.to_path_buf(),
                source: std::io::Error::from_raw_os_error(libc_errno::EINVAL),
            },
            Self::Other(error) => error,
        }
    }
}

/// Waits for the end of fio.
struct Waiting(std::sync::mpsc::Receiver<()>);

impl Waiting {
    /// Whether fio still runs after so long.
    fn outlasts(&self, time: Nanos) -> bool {
        let end = self.0.recv_timeout(time.as_duration());
        matches!(end, Err(RecvTimeoutError::Timeout))
    }

    fn for_end(&self) {
        let _ = self.0.recv();
    }
}

fn explain(end: End, finished: &Finished) -> String {
    let how = match end {
        End::Exited(code) => format!("exited with code {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut | End::Cancelled => "was stopped".to_owned(),
    };
    let stdout = finished.stdout_text();
    let stderr = finished.stderr_text();
    let lines: Vec<&str> = stderr
        .lines()
        .chain(stdout.lines())
        .filter(|line| line.starts_with("fio:") || line.contains("error"))
        .take(3)
        .collect();
    match lines.is_empty() {
        true => how,
        false => format!("{how}: {}", lines.join("; ")),
    }
}

impl Prepared for PreparedFio {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        self.remove_new_file()?;
        let trial = self.trial(cx);
        self.remove_new_file()?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.remove_new_file()?;
        match self.written.and_then(Arc::into_inner) {
            Some(last) => remove(&last.path),
            None => Ok(()),
        }
    }
}

fn remove(path: &Path) -> Result<(), TestError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).at("remove", path)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

impl PreparedFio {
    fn remove_new_file(&self) -> Result<(), TestError> {
        match self.is_new_each_time {
            true => remove(&self.path),
            false => Ok(()),
        }
    }

    fn trial(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        (cx.progress)(Progress {
            phase: "measure".to_owned(),
            ..Progress::default()
        });
        let text = job::file(&self.settings, &self.fio, &self.path, self.direct, cx.seed);
        let ramp = self.settings.ramp;
        let observer = cx.observer;
        // fio does not say when its window opens: it is when the ramp is over, the some ten
        // milliseconds aside that fio takes to start.
        let watch = |waiting: &Waiting| {
            if ramp.as_u64() > 0 && !waiting.outlasts(ramp) {
                return None;
            }
            let witness = observer.begin();
            waiting.for_end();
            Some(witness.end())
        };
        let result = self.run_fio(&text, cx, &watch);
        let (output, witnessed) =
            result.map_err(|failure| failure.into_error(self.settings.end(), &self.path))?;
        let file_bytes = match self.settings.engine {
            IoEngine::Null => None,
            _ => fs::metadata(&self.path).ok().map(|meta| meta.len()),
        };
        let known = Known {
            settings: &self.settings,
            engine: job::engine(&self.settings, &self.fio),
            direct: self.direct,
            file_bytes: file_bytes.filter(|bytes| *bytes > 0),
            host: cx.host,
            witnessed,
        };
        let mut trial = report::trial(&output, known);
        let lines: Vec<&str> = text.lines().collect();
        trial.evidence.notes.extend(self.notes.iter().cloned());
        trial.evidence.notes.push(format!(
            "{} with the job {}",
            output.version,
            lines.join(" ")
        ));
        Ok(trial)
    }
}
