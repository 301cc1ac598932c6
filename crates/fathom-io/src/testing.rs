//! What the unit tests of several modules need.

use fathom_base::{Bytes, Nanos};

use crate::spec::{
    BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, EngineOptions, JobSpec,
    Mode, OnError, Pace, Stamps, Stop, SyncPolicy, Target, TargetKind, Verify,
};

/// A job that touches nothing: 256 blocks of 4 KiB, one pass, virtual time.
pub(crate) fn null_spec() -> JobSpec {
    JobSpec {
        target: Target {
            path: "unused".into(),
            kind: TargetKind::File,
        },
        mode: Mode::RandRead,
        block_sizes: BlockSizes::one(Bytes::new(4096)),
        engine: EngineKind::Null,
        engine_fallback: false,
        engine_options: EngineOptions::PLAIN,
        depth: 1,
        jobs: 1,
        cursor: Cursor::Own,
        direct: false,
        offset: Bytes::new(0),
        size: Bytes::MIB,
        stop: Stop {
            runtime: None,
            bytes: None,
            passes: Some(1),
        },
        ramp: Nanos::new(0),
        sync: SyncPolicy::NONE,
        pace: Pace::Unpaced,
        distribution: Distribution::OnceEach,
        contents: Contents::Random,
        verify: Verify::Off,
        on_error: OnError::Stop,
        seed: 1,
        interval: Nanos::from_millis(1),
        stamps: Stamps::PerIo,
        clock: ClockChoice::Virtual { step_ns: 100 },
        cpus: Vec::new(),
        stuck_after: Nanos::from_secs(60),
    }
}
