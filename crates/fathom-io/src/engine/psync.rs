//! Positioned reads and writes in the job's own thread.

use std::os::fd::RawFd;

use super::{Engine, EngineFailure, Op, Queued, Setup, Wait, discard, result_of};
use crate::source::Kind;
use crate::spec::EngineOptions;

/// `pread` and `pwrite`, or `preadv2` and `pwritev2` where flags are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Psync {
    fd: RawFd,
    read_flags: i32,
    write_flags: i32,
    is_device: bool,
}

/// Drops pages from the cache once they were used (Linux 6.14).
const RWF_DONTCACHE: i32 = 0x80;

/// Flags of `preadv2` and `pwritev2` for reads and for writes.
pub(crate) const fn rw_flags(options: &EngineOptions) -> (i32, i32) {
    let mut common = 0;
    if options.hipri {
        common |= libc::RWF_HIPRI;
    }
    if options.nowait {
        common |= libc::RWF_NOWAIT;
    }
    if options.uncached {
        common |= RWF_DONTCACHE;
    }
    let write = if options.write_dsync {
        common | libc::RWF_DSYNC
    } else {
        common
    };
    (common, write)
}

impl Psync {
    pub(crate) fn new(setup: &Setup<'_>) -> Self {
        let (read_flags, write_flags) = rw_flags(&setup.spec.engine_options);
        Self {
            fd: setup.fd,
            read_flags,
            write_flags,
            is_device: setup.spec.target.kind.is_device(),
        }
    }

    /// Does the operation and returns bytes moved or minus the error number.
    #[inline(always)]
    pub(crate) fn perform(&self, op: &Op) -> i64 {
        match op.kind {
            Kind::Read => self.read(op),
            Kind::Write => self.write(op),
            Kind::Trim => discard(self.fd, op, self.is_device),
            Kind::Sync => -i64::from(libc::EINVAL),
        }
    }

    #[inline(always)]
    fn read(&self, op: &Op) -> i64 {
        let (length, offset) = (op.length as usize, op.offset.cast_signed());
        let flags = flags_for(self.read_flags, op);
        if flags == 0 {
            // SAFETY: the operation's memory holds `length` bytes and is not used until the call
            // returns.
            return result_of(unsafe { libc::pread64(self.fd, op.address.cast(), length, offset) });
        }
        let vector = vector(op);
        // SAFETY: one vector, on the stack, over the operation's memory as above.
        result_of(unsafe { libc::preadv2(self.fd, &raw const vector, 1, offset, flags) })
    }

    #[inline(always)]
    fn write(&self, op: &Op) -> i64 {
        let (length, offset) = (op.length as usize, op.offset.cast_signed());
        let flags = flags_for(self.write_flags, op);
        if flags == 0 {
            // SAFETY: the operation's memory holds `length` bytes, which the call only reads.
            return result_of(unsafe {
                libc::pwrite64(self.fd, op.address.cast(), length, offset)
            });
        }
        let vector = vector(op);
        // SAFETY: one vector, on the stack, over the operation's memory as above.
        result_of(unsafe { libc::pwritev2(self.fd, &raw const vector, 1, offset, flags) })
    }
}

const fn flags_for(flags: i32, op: &Op) -> i32 {
    if op.may_block {
        flags & !libc::RWF_NOWAIT
    } else {
        flags
    }
}

const fn vector(op: &Op) -> libc::iovec {
    libc::iovec {
        iov_base: op.address.cast(),
        iov_len: op.length as usize,
    }
}

impl Engine for Psync {
    #[inline(always)]
    fn queue(&mut self, op: &Op) -> Queued {
        Queued::Done(self.perform(op))
    }

    #[inline(always)]
    fn step(&mut self, _: Wait) -> Result<(), EngineFailure> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, _: &mut impl FnMut(u32, i64)) {}
}
