use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{End, Program, command, pidfd, signal_group, try_wait, wait_a_little};
use crate::error::{BaseError, IoContext};
use crate::units::Nanos;

/// How a server is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGTERM.
    Terminate,
    /// SIGINT; PostgreSQL's "fast" shutdown, which does not wait for its clients.
    Interrupt,
}

impl StopSignal {
    const fn number(self) -> i32 {
        match self {
            Self::Terminate => libc::SIGTERM,
            Self::Interrupt => libc::SIGINT,
        }
    }
}

/// A child that runs until it is stopped: a server. Its output goes to a log file. Dropping it kills
/// its whole group; so does the end of the thread that started it.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    name: String,
    log: PathBuf,
    end: Option<End>,
}

impl Daemon {
    /// Starts a program; its standard output and error are appended to `log`. Time-out, input and
    /// output limit of `program` do not apply.
    ///
    /// # Errors
    /// [`BaseError`] when the log cannot be opened or the program cannot be started.
    pub fn start(program: &Program, log: &Path) -> Result<Self, BaseError> {
        let out = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .at("open", log)?;
        let err = out.try_clone().at("open", log)?;
        let name = program.program.to_string_lossy().into_owned();
        let child = command(program)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|source| BaseError::Spawn {
                program: name.clone(),
                source,
            })?;
        Ok(Self {
            child,
            name,
            log: log.to_path_buf(),
            end: None,
        })
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended, when it has.
    ///
    /// # Errors
    /// [`BaseError::Spawn`] when the kernel does not answer.
    pub fn ended(&mut self) -> Result<Option<End>, BaseError> {
        use std::os::unix::process::ExitStatusExt;
        if self.end.is_some() {
            return Ok(self.end);
        }
        let looked = try_wait(&self.child).map_err(|source| BaseError::Spawn {
            program: self.name.clone(),
            source,
        })?;
        self.end = looked.map(|(status, _)| match status.code() {
            Some(code) => End::Exited(code),
            None => End::Signalled(status.signal().unwrap_or(0)),
        });
        Ok(self.end)
    }

    /// Asks it to end, and kills its group when it has not done so after `patience`. Nothing of the
    /// group is left afterwards.
    ///
    /// # Errors
    /// [`BaseError::Spawn`] when the kernel does not answer.
    pub fn stop(&mut self, how: StopSignal, patience: Nanos) -> Result<End, BaseError> {
        let asked = Instant::now();
        let handle = pidfd(&self.child);
        if self.ended()?.is_none() {
            signal_one(&self.child, how.number());
        }
        loop {
            if let Some(end) = self.ended()? {
                signal_group(&self.child, libc::SIGKILL);
                return Ok(end);
            }
            if asked.elapsed() >= patience.as_duration() {
                signal_group(&self.child, libc::SIGKILL);
            }
            wait_a_little(handle.as_ref());
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        signal_group(&self.child, libc::SIGKILL);
        // Collected, so that no zombie stays; killed, it cannot take long.
        let killed = Instant::now();
        while killed.elapsed() < Duration::from_secs(5) {
            match self.ended() {
                Ok(None) => wait_a_little(None),
                _ => return,
            }
        }
    }
}

fn signal_one(child: &Child, signal: i32) {
    let pid = i32::try_from(child.id()).ok();
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    let signal = rustix::process::Signal::from_named_raw(signal);
    if let (Some(pid), Some(signal)) = (pid, signal) {
        // One that has ended already answers ESRCH, which is what we want; it is not collected
        // yet, so the number is still its own.
        let _ = rustix::process::kill_process(pid, signal);
    }
}
