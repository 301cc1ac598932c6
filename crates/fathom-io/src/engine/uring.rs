//! io_uring.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fd;
use io_uring::{Builder, IoUring, opcode};

use super::psync::rw_flags;
use super::{Engine, EngineFailure, Op, Queued, Setup, Wait, discard};
use crate::error::Unavailable;
use crate::report::{Note, NoteKind};
use crate::source::Kind;
use crate::spec::JobSpec;

/// Most buffers the kernel registers.
const MAX_FIXED_BUFFERS: usize = 1 << 14;
/// How long an SQPOLL thread watches the queue before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;

const ENTER_GETEVENTS: u32 = 1;
const ENTER_SQ_WAKEUP: u32 = 2;
const ENTER_EXT_ARG: u32 = 8;
const ENTER_REGISTERED_RING: u32 = 16;
const REGISTER_RING_FDS: libc::c_uint = 20;

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct WaitArgument {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timeout: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct KernelTime {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

const _: () = assert!(size_of::<WaitArgument>() == 24);
const _: () = assert!(size_of::<RingUpdate>() == 16);

/// One ring, used by one thread.
pub(crate) struct Uring {
    ring: IoUring,
    /// What `io_uring_enter` is told: an index when the ring is registered, else a descriptor.
    enter_fd: i32,
    enter_flags: u32,
    fd: RawFd,
    /// The file as entries name it: a descriptor, or an index with `entry_flags` saying so.
    entry_file: Fd,
    entry_flags: Flags,
    fixed_buffers: bool,
    read_flags: i32,
    write_flags: i32,
    sqpoll: bool,
    /// Completions appear only inside `io_uring_enter`.
    must_enter: bool,
    force_async: u32,
    until_forced: u32,
    is_device: bool,
    /// Operations pushed and not yet taken by the kernel.
    queued: u32,
}

impl Uring {
    /// Sets up a ring with the newest features the kernel has.
    pub(crate) fn new(setup: &mut Setup<'_>) -> Result<Self, Unavailable> {
        let options = &setup.spec.engine_options;
        let (ring, deferred) = build(setup.spec, setup.depth, setup.features)?;
        let (read_flags, write_flags) = rw_flags(options);
        let force_async = options.force_async.unwrap_or(0);
        let mut engine = Self {
            enter_fd: ring.as_raw_fd(),
            ring,
            enter_flags: 0,
            fd: setup.fd,
            entry_file: Fd(setup.fd),
            entry_flags: Flags::empty(),
            fixed_buffers: false,
            read_flags,
            write_flags,
            sqpoll: options.sqpoll,
            must_enter: deferred || options.iopoll,
            force_async,
            until_forced: force_async,
            is_device: setup.spec.target.kind.is_device(),
            queued: 0,
        };
        engine.register_ring(setup.features);
        if options.fixed_files {
            engine.register_file(setup);
        }
        if options.fixed_buffers {
            engine.register_buffers(setup);
        }
        Ok(engine)
    }

    /// Saves the kernel a look-up of the ring at each call.
    fn register_ring(&mut self, features: &mut Vec<&'static str>) {
        let mut update = RingUpdate {
            offset: u32::MAX,
            reserved: 0,
            data: self.ring.as_raw_fd() as u64,
        };
        // SAFETY: the kernel reads and writes one update, a local laid out as it expects.
        let returned = unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                self.ring.as_raw_fd(),
                REGISTER_RING_FDS,
                &raw mut update,
                1,
            )
        };
        if returned == 1 {
            self.enter_fd = update.offset.cast_signed();
            self.enter_flags = ENTER_REGISTERED_RING;
            features.push("registered_ring");
        }
    }

    fn register_file(&mut self, setup: &mut Setup<'_>) {
        match self.ring.submitter().register_files(&[setup.fd]) {
            Ok(()) => {
                self.entry_file = Fd(0);
                self.entry_flags |= Flags::FIXED_FILE;
                setup.features.push("fixed_files");
            }
            Err(e) => setup.notes.push(Note {
                kind: NoteKind::Unregistered,
                text: format!("the file could not be registered with io_uring ({e})"),
            }),
        }
    }

    fn register_buffers(&mut self, setup: &mut Setup<'_>) {
        let (base, bytes) = setup.extent;
        let count = setup.buffers as usize;
        let vectors: Vec<libc::iovec> = (0..count)
            .map(|index| libc::iovec {
                iov_base: base.wrapping_add(index * setup.stride).cast(),
                iov_len: setup.stride,
            })
            .collect();
        let result = if count > MAX_FIXED_BUFFERS {
            Err(io::Error::from_raw_os_error(libc::E2BIG))
        } else {
            // SAFETY: the vectors lie inside the job's buffers, which outlive the ring: the job
            // drops them after its engine.
            unsafe { self.ring.submitter().register_buffers(&vectors) }
        };
        match result {
            Ok(()) => {
                self.fixed_buffers = true;
                setup.features.push("fixed_buffers");
            }
            Err(e) => setup.notes.push(unregistered(&e, bytes)),
        }
    }

    #[inline(always)]
    fn entry(&self, op: &Op) -> Entry {
        let Op {
            offset,
            length,
            address,
            ..
        } = *op;
        let file = self.entry_file;
        let index = op.buffer as u16;
        let keep = if op.may_block { !libc::RWF_NOWAIT } else { !0 };
        match (op.kind, self.fixed_buffers) {
            (Kind::Read, true) => opcode::ReadFixed::new(file, address, length, index)
                .offset(offset)
                .rw_flags(self.read_flags & keep)
                .build(),
            (Kind::Read, false) => opcode::Read::new(file, address, length)
                .offset(offset)
                .rw_flags(self.read_flags & keep)
                .build(),
            (_, true) => opcode::WriteFixed::new(file, address, length, index)
                .offset(offset)
                .rw_flags(self.write_flags & keep)
                .build(),
            (_, false) => opcode::Write::new(file, address, length)
                .offset(offset)
                .rw_flags(self.write_flags & keep)
                .build(),
        }
    }

    /// Whether this is the n-th operation, which goes to a kernel worker.
    #[inline(always)]
    fn is_forced(&mut self) -> bool {
        if self.force_async == 0 {
            return false;
        }
        self.until_forced -= 1;
        if self.until_forced == 0 {
            self.until_forced = self.force_async;
            return true;
        }
        false
    }

    fn enter(&mut self, want: u32, timeout_ns: Option<u64>) -> Result<(), EngineFailure> {
        let mut flags = self.enter_flags;
        if want > 0 || self.must_enter {
            flags |= ENTER_GETEVENTS;
        }
        let mut queued = self.queued;
        if self.sqpoll {
            queued = 0;
            self.queued = 0;
            if self.ring.submission().need_wakeup() {
                flags |= ENTER_SQ_WAKEUP;
            } else if want == 0 && !self.must_enter {
                return Ok(());
            }
        }
        let returned = match timeout_ns {
            None => self.call(queued, want, flags, std::ptr::null(), 0),
            Some(ns) => {
                let time = KernelTime {
                    seconds: (ns / 1_000_000_000).cast_signed(),
                    nanoseconds: (ns % 1_000_000_000).cast_signed(),
                };
                let argument = WaitArgument {
                    sigmask: 0,
                    sigmask_bytes: 0,
                    min_wait_us: 0,
                    timeout: (&raw const time).expose_provenance() as u64,
                };
                let address = (&raw const argument).cast();
                let bytes = size_of::<WaitArgument>();
                self.call(queued, want, flags | ENTER_EXT_ARG, address, bytes)
            }
        };
        if returned >= 0 {
            self.queued = queued.saturating_sub(returned as u32);
            return Ok(());
        }
        let source = io::Error::last_os_error();
        match source.raw_os_error() {
            // Interrupted, timed out, or no memory or room just now: the loop comes back.
            Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(()),
            _ => Err(EngineFailure {
                call: "io_uring_enter on",
                source,
            }),
        }
    }

    #[inline(always)]
    fn call(
        &self,
        queued: u32,
        want: u32,
        flags: u32,
        argument: *const libc::c_void,
        bytes: usize,
    ) -> libc::c_long {
        // SAFETY: the ring is open; queued entries name memory that stays valid until their
        // completion (see `Buffers`); the argument is null or lives until the call returns.
        unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.enter_fd,
                queued,
                want,
                flags,
                argument,
                bytes,
            )
        }
    }
}

impl Engine for Uring {
    #[inline(always)]
    fn queue(&mut self, op: &Op) -> Queued {
        if op.kind == Kind::Trim {
            return Queued::Done(discard(self.fd, op, self.is_device));
        }
        let forced = if self.is_forced() {
            Flags::ASYNC
        } else {
            Flags::empty()
        };
        let entry = self
            .entry(op)
            .user_data(u64::from(op.slot))
            .flags(self.entry_flags | forced);
        // SAFETY: the operation's memory stays valid and untouched until it is done, as the
        // worker promises of every operation it queues.
        match unsafe { self.ring.submission().push(&entry) } {
            Ok(()) => {
                self.queued += 1;
                Queued::InFlight
            }
            Err(_) => Queued::Full,
        }
    }

    #[inline(always)]
    fn step(&mut self, wait: Wait) -> Result<(), EngineFailure> {
        match wait {
            Wait::For(want) => {
                if self.queued == 0 && !self.must_enter {
                    let there = self.ring.completion().len() as u32;
                    if there >= want {
                        return Ok(());
                    }
                }
                self.enter(want, None)
            }
            Wait::AtMost(ns) => self.enter(1, Some(ns)),
        }
    }

    #[inline(always)]
    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        for entry in self.ring.completion() {
            done(entry.user_data() as u32, i64::from(entry.result()));
        }
    }
}

/// Builds a ring, giving up newer features one by one; whether completions are deferred to
/// `io_uring_enter`.
fn build(
    spec: &JobSpec,
    depth: u32,
    features: &mut Vec<&'static str>,
) -> Result<(IoUring, bool), Unavailable> {
    let options = &spec.engine_options;
    let base = |builder: &mut Builder| {
        builder.dontfork();
        if options.iopoll {
            builder.setup_iopoll();
        }
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
    };
    // SQPOLL excludes the task-run flags.
    let attempts: &[&[&'static str]] = if options.sqpoll {
        &[&["single_issuer", "no_sqarray"], &["single_issuer"], &[]]
    } else {
        &[
            &[
                "single_issuer",
                "defer_taskrun",
                "coop_taskrun",
                "no_sqarray",
            ],
            &["single_issuer", "defer_taskrun", "coop_taskrun"],
            &["single_issuer", "coop_taskrun"],
            &["coop_taskrun"],
            &[],
        ]
    };
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for attempt in attempts {
        let mut builder = IoUring::builder();
        base(&mut builder);
        for feature in *attempt {
            match *feature {
                "single_issuer" => builder.setup_single_issuer(),
                "defer_taskrun" => builder.setup_defer_taskrun(),
                "coop_taskrun" => builder.setup_coop_taskrun(),
                _ => builder.setup_no_sqarray(),
            };
        }
        match builder.build(depth.next_power_of_two()) {
            Ok(ring) => {
                features.extend(*attempt);
                features.extend(options.iopoll.then_some("iopoll"));
                features.extend(options.sqpoll.then_some("sqpoll"));
                return Ok((ring, attempt.contains(&"defer_taskrun")));
            }
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => last = e,
            Err(e) => return Err(unavailable(&e)),
        }
    }
    Err(unavailable(&last))
}

/// Whether a ring can be made at all.
pub(crate) fn probe() -> Result<(), Unavailable> {
    IoUring::new(2).map(drop).map_err(|e| unavailable(&e))
}

fn unavailable(error: &io::Error) -> Unavailable {
    let errno = error.raw_os_error();
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled")
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok())
        .filter(|&state| state > 0);
    let (reason, remedy) = match (errno, disabled) {
        (Some(libc::EPERM | libc::EACCES), Some(state)) => (
            format!("{error}, kernel.io_uring_disabled={state}"),
            "set kernel.io_uring_disabled to 0, or choose libaio",
        ),
        (Some(libc::EPERM | libc::EACCES), None) => (
            format!("{error}: a seccomp filter, as containers have it"),
            "allow io_uring_setup in the seccomp profile, or choose libaio",
        ),
        (Some(libc::ENOSYS), _) => (
            format!("{error}: the kernel was built without it or a seccomp filter hides it"),
            "use Linux 5.1 or later outside of a filter, or choose libaio",
        ),
        (Some(libc::ENOMEM), _) => (
            format!("{error}: locked memory is limited to {}", memlock_text()),
            "raise the limit (ulimit -l) or lower the depth",
        ),
        (Some(libc::EMFILE | libc::ENFILE), _) => (
            error.to_string(),
            "raise the limit of open files (ulimit -n) or use fewer jobs",
        ),
        _ => (
            error.to_string(),
            "choose other options of the engine, or libaio",
        ),
    };
    Unavailable {
        reason,
        remedy,
        errno,
    }
}

fn unregistered(error: &io::Error, bytes: usize) -> Note {
    let needed = fathom_base::Bytes::new(bytes as u64);
    let text = match error.raw_os_error() {
        Some(libc::ENOMEM) => format!(
            "locked-memory limit {} too small for registered buffers of {needed}: went on \
             unregistered (ulimit -l raises it)",
            memlock_text()
        ),
        Some(libc::E2BIG) => {
            format!("io_uring registers at most {MAX_FIXED_BUFFERS} buffers: went on unregistered")
        }
        _ => format!("buffers of {needed} could not be registered ({error}): went on unregistered"),
    };
    Note {
        kind: NoteKind::Unregistered,
        text,
    }
}

fn memlock_text() -> String {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock);
    match limit.current {
        Some(bytes) => fathom_base::Bytes::new(bytes).to_string(),
        None => "unlimited".to_owned(),
    }
}
