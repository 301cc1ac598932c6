//! Linux native AIO by its system calls.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Engine, EngineFailure, Op, Queued, Setup, Wait, discard};
use crate::error::Unavailable;
use crate::source::Kind;

#[cfg(test)]
mod tests;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
/// First word of a completion ring that user space may read.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Iocb {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: i32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_fd: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct IoEvent {
    data: u64,
    object: u64,
    result: i64,
    result_2: i64,
}

/// Head of the completion ring in memory; the context's name is its address.
#[repr(C)]
struct RingHead {
    id: u32,
    count: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compat: u32,
    incompat: u32,
    header_bytes: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64);
const _: () = assert!(size_of::<IoEvent>() == 32);
const _: () = assert!(size_of::<RingHead>() == 32);
const _: () = assert!(std::mem::offset_of!(Iocb, opcode) == 16);
const _: () = assert!(std::mem::offset_of!(Iocb, buffer) == 24);
const _: () = assert!(std::mem::offset_of!(Iocb, offset) == 40);

/// An AIO context, used by one thread.
#[derive(Debug)]
pub(crate) struct Libaio {
    context: Context,
    fd: RawFd,
    is_device: bool,
    /// Control blocks by slot.
    blocks: Vec<Iocb>,
    /// Slots queued and not yet submitted.
    queued: Vec<u32>,
    /// Scratch of one submission.
    pointers: Vec<*const Iocb>,
    /// Completions that `io_getevents` returned, the first `taken` of them.
    events: Vec<IoEvent>,
    taken: usize,
    /// Operations that `io_submit` refused, with minus the error number.
    refused: Vec<(u32, i64)>,
    ring: Option<UserRing>,
}

/// A kernel context that is destroyed on drop, which waits for what is in flight.
#[derive(Debug)]
struct Context(usize);

impl Context {
    fn new(depth: u32) -> io::Result<Self> {
        let mut context = 0_usize;
        // SAFETY: writes one word to the address, which is a local of that type, zero as asked.
        let returned = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
        if returned == 0 {
            Ok(Self(context))
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours and is named here for the last time.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// The completion ring as user space reads it.
#[derive(Debug)]
struct UserRing {
    head: *const RingHead,
    events: *const IoEvent,
    count: u32,
}

impl UserRing {
    /// The ring of a context, if it is one of the kind known.
    fn of(context: &Context) -> Option<Self> {
        let head = std::ptr::with_exposed_provenance::<RingHead>(context.0);
        if head.is_null() {
            return None;
        }
        // SAFETY: io_setup maps the ring at the address that names the context, and it stays
        // mapped until io_destroy.
        let ring = unsafe { &*head };
        let known = ring.magic == RING_MAGIC
            && ring.incompat == 0
            && ring.header_bytes as usize == size_of::<RingHead>();
        known.then(|| Self {
            head,
            events: head.wrapping_add(1).cast(),
            count: ring.count,
        })
    }

    fn head(&self) -> &RingHead {
        // SAFETY: as in `of`; the engine drops this value together with the context.
        unsafe { &*self.head }
    }

    #[inline(always)]
    fn len(&self) -> u32 {
        let ring = self.head();
        let (head, tail) = (
            ring.head.load(Ordering::Relaxed),
            ring.tail.load(Ordering::Acquire),
        );
        if tail >= head {
            tail - head
        } else {
            self.count - head + tail
        }
    }

    #[inline(always)]
    fn pop(&self) -> Option<IoEvent> {
        let ring = self.head();
        let head = ring.head.load(Ordering::Relaxed);
        if head == ring.tail.load(Ordering::Acquire) || head >= self.count {
            return None;
        }
        // SAFETY: the kernel wrote the event before it moved the tail past it, and `head` lies
        // below the ring's count.
        let event = unsafe { self.events.add(head as usize).read_volatile() };
        let next = if head + 1 == self.count { 0 } else { head + 1 };
        ring.head.store(next, Ordering::Release);
        Some(event)
    }
}

impl Libaio {
    pub(crate) fn new(setup: &mut Setup<'_>) -> Result<Self, Unavailable> {
        let depth = setup.depth as usize;
        let context = Context::new(setup.depth).map_err(|e| unavailable(&e))?;
        let wants_ring = setup.spec.engine_options.user_space_reap;
        let ring = wants_ring.then(|| UserRing::of(&context)).flatten();
        if ring.is_some() {
            setup.features.push("user_space_reap");
        }
        Ok(Self {
            context,
            fd: setup.fd,
            is_device: setup.spec.target.kind.is_device(),
            blocks: vec![Iocb::default(); depth],
            queued: Vec::with_capacity(depth),
            pointers: Vec::with_capacity(depth),
            events: vec![IoEvent::default(); depth],
            taken: 0,
            refused: Vec::with_capacity(depth),
            ring,
        })
    }

    /// Hands over what is queued, as far as the kernel takes it.
    fn submit(&mut self) -> Result<(), EngineFailure> {
        self.pointers.clear();
        let blocks = &self.blocks;
        let pointers = self
            .queued
            .iter()
            .map(|&slot| &raw const blocks[slot as usize]);
        self.pointers.extend(pointers);
        let count = self.pointers.len();
        // SAFETY: the pointers name control blocks of this engine, whose buffers stay valid
        // until their completion; the kernel copies the blocks themselves.
        let returned = unsafe {
            libc::syscall(
                libc::SYS_io_submit,
                self.context.0,
                count,
                self.pointers.as_ptr(),
            )
        };
        if returned >= 0 {
            self.queued.drain(..(returned as usize).min(count));
            return Ok(());
        }
        let source = io::Error::last_os_error();
        match source.raw_os_error() {
            // No room just now: the loop comes back after reaping.
            Some(libc::EAGAIN | libc::EINTR) => Ok(()),
            // The first block was refused; the others have not been looked at.
            Some(errno) if errno != libc::EFAULT && count > 0 => {
                let slot = self.queued.remove(0);
                self.refused.push((slot, -i64::from(errno)));
                Ok(())
            }
            _ => Err(EngineFailure {
                call: "io_submit on",
                source,
            }),
        }
    }

    /// Waits for completions beyond those in the ring that `pop` will find.
    fn wait(&mut self, want: u32, timeout_ns: Option<u64>) -> Result<(), EngineFailure> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut address = std::ptr::null_mut();
        if let Some(ns) = timeout_ns {
            time.tv_sec = (ns / 1_000_000_000).cast_signed();
            time.tv_nsec = (ns % 1_000_000_000).cast_signed();
            address = &raw mut time;
        }
        // SAFETY: the kernel writes at most as many events as the vector holds, and reads the
        // time, which lives until the call returns.
        let returned = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context.0,
                libc::c_long::from(want),
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                address,
            )
        };
        if returned >= 0 {
            self.taken = returned as usize;
            return Ok(());
        }
        let source = io::Error::last_os_error();
        match source.raw_os_error() {
            Some(libc::EINTR) => Ok(()),
            _ => Err(EngineFailure {
                call: "io_getevents on",
                source,
            }),
        }
    }
}

impl Engine for Libaio {
    #[inline(always)]
    fn queue(&mut self, op: &Op) -> Queued {
        let opcode = match op.kind {
            Kind::Read => IOCB_CMD_PREAD,
            Kind::Write => IOCB_CMD_PWRITE,
            Kind::Trim | Kind::Sync => {
                return Queued::Done(discard(self.fd, op, self.is_device));
            }
        };
        self.blocks[op.slot as usize] = Iocb {
            data: u64::from(op.slot),
            opcode,
            fd: self.fd.cast_unsigned(),
            buffer: op.address.expose_provenance() as u64,
            bytes: u64::from(op.length),
            offset: op.offset.cast_signed(),
            ..Iocb::default()
        };
        self.queued.push(op.slot);
        Queued::InFlight
    }

    #[inline(always)]
    fn step(&mut self, wait: Wait) -> Result<(), EngineFailure> {
        if !self.queued.is_empty() {
            self.submit()?;
        }
        // What was refused, or could not be handed over, must not be waited for.
        if !self.refused.is_empty() || !self.queued.is_empty() {
            return self.wait(0, Some(0));
        }
        let there = self.ring.as_ref().map(UserRing::len);
        match (wait, there) {
            (Wait::For(want), Some(there)) if there >= want => Ok(()),
            (Wait::For(0), None) => self.wait(0, Some(0)),
            (Wait::For(want), _) => self.wait(want, None),
            (Wait::AtMost(ns), _) => self.wait(1, Some(ns)),
        }
    }

    #[inline(always)]
    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        for (slot, result) in self.refused.drain(..) {
            done(slot, result);
        }
        for event in &self.events[..self.taken] {
            done(event.data as u32, event.result);
        }
        self.taken = 0;
        if let Some(ring) = &self.ring {
            while let Some(event) = ring.pop() {
                done(event.data as u32, event.result);
            }
        }
    }
}

/// Whether a context can be made at all.
pub(crate) fn probe() -> Result<(), Unavailable> {
    Context::new(1).map(drop).map_err(|e| unavailable(&e))
}

fn unavailable(error: &io::Error) -> Unavailable {
    let read = |name: &str| {
        std::fs::read_to_string(format!("/proc/sys/fs/{name}"))
            .map_or_else(|_| "?".to_owned(), |text| text.trim().to_owned())
    };
    let (reason, remedy) = match error.raw_os_error() {
        Some(libc::EAGAIN) => (
            format!(
                "{error}: {} of fs.aio-max-nr={} are in use",
                read("aio-nr"),
                read("aio-max-nr")
            ),
            "raise fs.aio-max-nr, or lower depth or jobs",
        ),
        Some(libc::ENOSYS) => (
            format!("{error}: the kernel was built without it or a seccomp filter hides it"),
            "choose posixaio or psync",
        ),
        _ => (error.to_string(), "choose posixaio or psync"),
    };
    Unavailable {
        reason,
        remedy,
        errno: error.raw_os_error(),
    }
}
