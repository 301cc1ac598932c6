//! Machines that forbid things: seccomp filters, small limits. Filters and capabilities are of
//! the thread that sets them and of the threads it starts, so other tests do not notice.

use fathom_base::Bytes;
use fathom_io::{EngineKind, IoError, JobSpec, Mode, NoteKind, Unavailable, probe};

use crate::common::{BLOCK, SIZE, is_root, laid_out, measure, scratch, skip, spec};

/// Runs `body` in a thread in which these system calls fail with EPERM.
fn without<T: Send + 'static>(
    calls: &[libc::c_long],
    body: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let calls = calls.to_vec();
    let thread = std::thread::spawn(move || forbid(&calls).then(body));
    let result = thread.join().unwrap();
    if result.is_none() {
        skip("seccomp filter: not supported here");
    }
    result
}

/// Installs a filter for the calling thread; whether that worked.
fn forbid(calls: &[libc::c_long]) -> bool {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut steps = vec![step(LOAD, 0, 0, 0)];
    for &call in calls {
        steps.push(step(EQUAL, u32::try_from(call).unwrap(), 0, 1));
        let answer = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
        steps.push(step(RETURN, answer, 0, 0));
    }
    steps.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    let program = libc::sock_fprog {
        len: u16::try_from(steps.len()).unwrap(),
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: passes numbers; the thread gives up gaining privileges, which it does not need.
    let no_privileges = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let (mode, filter) = (libc::SECCOMP_MODE_FILTER, &raw const program);
    // SAFETY: the program and its steps live until the call returns; the kernel copies them.
    let filtered = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, filter) };
    no_privileges == 0 && filtered == 0
}

#[test]
fn a_default_engine_that_is_forbidden_is_replaced_with_a_note() {
    if probe(EngineKind::IoUring).is_err() || probe(EngineKind::Libaio).is_err() {
        skip("engines to forbid: not there anyway");
        return;
    }
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    let plain = JobSpec {
        depth: 4,
        engine_fallback: true,
        ..spec(&path, EngineKind::IoUring, Mode::RandRead)
    };
    let table = [
        (vec![libc::SYS_io_uring_setup], EngineKind::Libaio, 1),
        (
            vec![libc::SYS_io_uring_setup, libc::SYS_io_setup],
            EngineKind::PosixAio,
            2,
        ),
    ];
    for (calls, expected, fallbacks) in table {
        let job = plain.clone();
        let Some(report) = without(&calls, move || measure(&job).unwrap()) else {
            return;
        };
        assert_eq!(report.engine.asked, EngineKind::IoUring);
        assert_eq!(report.engine.used, expected);
        assert_eq!(report.read.ops, SIZE.as_u64() / BLOCK);
        let notes = report.notes.iter();
        let notes: Vec<_> = notes
            .filter(|n| n.kind == NoteKind::EngineFallback)
            .collect();
        assert_eq!(notes.len(), fallbacks);
        assert!(notes[0].text.starts_with("io_uring refused"), "{notes:?}");
        assert!(notes[0].text.ends_with("libaio instead"), "{notes:?}");
    }
}

#[test]
fn a_named_engine_that_is_forbidden_is_an_error_that_says_why() {
    if probe(EngineKind::IoUring).is_err() {
        skip("engine to forbid: not there anyway");
        return;
    }
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    let job = spec(&path, EngineKind::IoUring, Mode::RandRead);
    let Some(error) = without(&[libc::SYS_io_uring_setup], move || {
        measure(&job).unwrap_err()
    }) else {
        return;
    };
    assert_eq!(error.os_error(), Some(libc::EPERM));
    assert!(error.hint().unwrap().contains("libaio"), "{error}");
    match error {
        IoError::Engine {
            engine: EngineKind::IoUring,
            unavailable: Unavailable { reason, .. },
        } => {
            let names_cause = reason.contains("seccomp") || reason.contains("io_uring_disabled");
            assert!(names_cause, "{reason}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_small_locked_memory_limit_is_told_and_survived() {
    if probe(EngineKind::IoUring).is_err() || !is_root("giving up CAP_IPC_LOCK") {
        return;
    }
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), Bytes::new(16 << 20));
    let job = JobSpec {
        block_sizes: fathom_io::BlockSizes::one(Bytes::new(65_536)),
        size: Bytes::new(16 << 20),
        depth: 256,
        ..spec(&path, EngineKind::IoUring, Mode::RandRead)
    };
    let limit = |bytes| rustix::process::Rlimit {
        current: bytes,
        maximum: rustix::process::getrlimit(rustix::process::Resource::Memlock).maximum,
    };
    let before = rustix::process::getrlimit(rustix::process::Resource::Memlock);
    rustix::process::setrlimit(rustix::process::Resource::Memlock, limit(Some(65_536))).unwrap();
    let thread = std::thread::spawn(move || {
        give_up_locking();
        measure(&job)
    });
    let report = thread.join().unwrap();
    rustix::process::setrlimit(rustix::process::Resource::Memlock, before).unwrap();
    let report = report.unwrap();
    assert_eq!(report.read.ops, 256);
    let note = report
        .notes
        .iter()
        .find(|n| n.kind == NoteKind::Unregistered)
        .unwrap();
    assert!(
        note.text
            .contains("locked-memory limit 64KiB too small for registered buffers of 16MiB"),
        "{}",
        note.text
    );
    assert!(!report.engine.features.contains(&"fixed_buffers"));
}

/// Takes all capabilities from the calling thread.
fn give_up_locking() {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header {
        version: 0x2008_0522,
        pid: 0,
    };
    let none = [0_u32; 6];
    // SAFETY: a header and two sets of three words, as version 3 of the call reads them.
    let returned = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    assert_eq!(returned, 0);
}
