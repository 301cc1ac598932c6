//! Child processes: their own group, a time-out, bounded output, and what they used.
//!
//! A child dies with the thread that started it (`PR_SET_PDEATHSIG`), so that a killed Fathom leaves
//! no program behind that goes on writing.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::error::BaseError;
use crate::units::Nanos;

mod daemon;
#[cfg(test)]
mod tests;

pub use daemon::{Daemon, StopSignal};

/// How often the cancellation and the time-out are looked at while a child runs. Its end is noticed
/// at once, by its pidfd; on kernels without those only as often as this.
const POLL: Duration = Duration::from_millis(10);
/// How long a group gets between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// What to run, with every choice said.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable: a path, or a name that is looked up in PATH.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Working directory; `None` is the current one.
    pub directory: Option<PathBuf>,
    /// Variables set on top of the inherited ones.
    pub environment: Vec<(OsString, OsString)>,
    /// Text for standard input; `None` is no input.
    pub input: Option<Vec<u8>>,
    /// The whole process group is ended after this long.
    pub timeout: Nanos,
    /// Bytes kept of each of stdout and stderr; what comes after is counted, not kept.
    pub output_limit: usize,
    /// User and group to run as, without further groups; `None` is our own. Needs root.
    pub user: Option<(u32, u32)>,
}

impl Program {
    /// A program without arguments, with ten minutes and 16 MiB of output.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            environment: Vec::new(),
            input: None,
            timeout: Nanos::from_secs(600),
            output_limit: 16 << 20,
            user: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The command line as a person would type it, for messages and records.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        let quoted: Vec<String> = words.map(|word| quote(&word.to_string_lossy())).collect();
        quoted.join(" ")
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It was ended because its time was over.
    TimedOut,
    /// It was ended because the run was cancelled.
    Cancelled,
}

/// A child that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Its standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// Bytes of output beyond the limit, both streams together.
    pub dropped_bytes: u64,
    /// Wall time from start to end.
    pub elapsed: Nanos,
    /// CPU time in user mode, of the child and of the children it waited for.
    pub user: Nanos,
    /// CPU time in the kernel, likewise.
    pub system: Nanos,
    /// Largest resident set in bytes, likewise.
    pub max_resident_bytes: u64,
}

impl Finished {
    /// Whether it exited with code 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// Standard output as text; bytes that are not UTF-8 become U+FFFD.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text, likewise.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Runs a program to its end, its time-out or the cancellation, and takes its whole group with it.
///
/// # Errors
/// [`BaseError::Spawn`] when it cannot be started; how it *ended* is no error here.
pub fn run(program: &Program, cancel: &Cancel) -> Result<Finished, BaseError> {
    let error = |source| BaseError::Spawn {
        program: program.program.to_string_lossy().into_owned(),
        source,
    };
    let started = Instant::now();
    let mut child = start(program).map_err(error)?;
    let input = feed(&mut child, program.input.clone());
    let stdout = collect(child.stdout.take(), program.output_limit);
    let stderr = collect(child.stderr.take(), program.output_limit);
    let limit = program.timeout.as_duration();
    let (end, usage) = wait(&child, started, limit, cancel).map_err(error)?;
    let elapsed = started.elapsed();
    // Whoever of the group is left would keep the pipes open.
    signal_group(&child, libc::SIGKILL);
    if let Some(input) = input {
        let _ = input.join();
    }
    let (stdout, dropped_out) = joined(stdout);
    let (stderr, dropped_err) = joined(stderr);
    Ok(Finished {
        end,
        stdout,
        stderr,
        dropped_bytes: dropped_out + dropped_err,
        elapsed: Nanos::new(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)),
        user: usage.user,
        system: usage.system,
        max_resident_bytes: usage.max_resident_bytes,
    })
}

/// Finds a program: a path with a slash as it is, else the first executable of that name in
/// `search` (a PATH-like list).
pub fn find_program(name: &str, search: &std::ffi::OsStr) -> Option<PathBuf> {
    let is_executable = |path: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_executable);
    }
    std::env::split_paths(search)
        .map(|directory| directory.join(name))
        .find(is_executable)
}

fn start(program: &Program) -> io::Result<Child> {
    let mut command = command(program);
    command
        .stdin(if program.input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn()
}

/// The command in a group of its own, without its streams.
fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.program);
    command
        .args(&program.args)
        .envs(program.environment.iter().map(|(key, value)| (key, value)))
        .process_group(0);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    if let Some((user, group)) = program.user {
        command.uid(user).gid(group);
    }
    let parent = std::process::id();
    // SAFETY: between fork and exec the closure makes two system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || die_with_parent(parent));
    }
    command
}

/// Asks the kernel for SIGKILL when the parent dies, which may have happened already.
fn die_with_parent(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    match now == Some(parent) {
        true => Ok(()),
        false => Err(io::ErrorKind::Interrupted.into()),
    }
}

fn feed(child: &mut Child, input: Option<Vec<u8>>) -> Option<JoinHandle<()>> {
    let (mut pipe, input) = (child.stdin.take()?, input?);
    Some(std::thread::spawn(move || {
        // A child that does not read its input is the child's business.
        let _ = io::Write::write_all(&mut pipe, &input);
    }))
}

fn collect<R: Read + Send + 'static>(
    pipe: Option<R>,
    limit: usize,
) -> Option<JoinHandle<(Vec<u8>, u64)>> {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut dropped = 0;
        let mut block = [0_u8; 16 << 10];
        loop {
            match pipe.read(&mut block) {
                Ok(0) => break,
                Ok(n) => {
                    let room = limit.saturating_sub(kept.len()).min(n);
                    kept.extend_from_slice(&block[..room]);
                    dropped += (n - room) as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        (kept, dropped)
    }))
}

fn joined(thread: Option<JoinHandle<(Vec<u8>, u64)>>) -> (Vec<u8>, u64) {
    thread
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default()
}

#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    user: Nanos,
    system: Nanos,
    max_resident_bytes: u64,
}

fn wait(
    child: &Child,
    started: Instant,
    limit: Duration,
    cancel: &Cancel,
) -> io::Result<(End, Usage)> {
    let mut ended_by: Option<(End, Instant)> = None;
    let handle = pidfd(child);
    loop {
        if let Some((status, usage)) = try_wait(child)? {
            let natural = match (status.code(), status.signal()) {
                (Some(code), _) => End::Exited(code),
                (None, signal) => End::Signalled(signal.unwrap_or(0)),
            };
            return Ok((ended_by.map_or(natural, |(end, _)| end), usage));
        }
        match ended_by {
            None if cancel.is_cancelled() => ended_by = Some((End::Cancelled, Instant::now())),
            None if started.elapsed() >= limit => ended_by = Some((End::TimedOut, Instant::now())),
            Some((_, since)) if since.elapsed() >= GRACE => signal_group(child, libc::SIGKILL),
            Some(_) => signal_group(child, libc::SIGTERM),
            None => {}
        }
        wait_a_little(handle.as_ref());
    }
}

/// A descriptor that becomes readable when the child ends; `None` on kernels before 5.3.
fn pidfd(child: &Child) -> Option<OwnedFd> {
    let pid = i32::try_from(child.id()).ok()?;
    let pid = rustix::process::Pid::from_raw(pid)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// Until the child ends, at most [`POLL`].
fn wait_a_little(handle: Option<&OwnedFd>) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let patience = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(POLL.subsec_nanos()),
    };
    let is_polled = handle.is_some_and(|handle| {
        let mut one = [PollFd::new(handle, PollFlags::IN)];
        poll(&mut one, Some(&patience)).is_ok()
    });
    if !is_polled {
        std::thread::sleep(POLL);
    }
}

/// `wait4` without blocking: std gives no resource usage.
fn try_wait(child: &Child) -> io::Result<Option<(ExitStatus, Usage)>> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: both out-pointers are valid for writes, and `rusage` may be all zero bytes.
    let (answer, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (
            libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage),
            usage,
        )
    };
    match answer {
        0 => Ok(None),
        _ if answer == pid => Ok(Some((
            ExitStatus::from_raw(status),
            Usage {
                user: from_timeval(usage.ru_utime),
                system: from_timeval(usage.ru_stime),
                max_resident_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
            },
        ))),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
    }
}

fn from_timeval(time: libc::timeval) -> Nanos {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Nanos::new(
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(micros * 1000),
    )
}

fn signal_group(child: &Child, signal: i32) {
    let Ok(pid) = libc::pid_t::try_from(child.id()) else {
        return;
    };
    // SAFETY: a plain system call; the group is ours (`process_group(0)`), and a group that has
    // already gone answers ESRCH, which is what we want.
    unsafe {
        libc::kill(-pid, signal);
    }
}

fn quote(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&b));
    if is_plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
