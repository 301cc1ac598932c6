//! What this machine and this target can do, found by trying.

use crate::error::{IoError, Unavailable};
use crate::report::{Note, NoteKind};
use crate::spec::{EngineKind, JobSpec};

mod cache;
mod direct;
mod extents;
#[cfg(test)]
mod tests;

pub use cache::{Evicted, Range, Residency, evict, residency};
pub(crate) use cache::{call_error, page_bytes};
pub use direct::{DirectProbe, DirectVerdict, direct_probe};
pub use extents::{ExtentMap, extents};

/// Whether an engine can be used here, found by making one.
///
/// # Errors
/// Why not, and what to do.
pub fn probe(engine: EngineKind) -> Result<(), Unavailable> {
    match engine {
        EngineKind::IoUring => crate::engine::uring::probe(),
        EngineKind::Libaio => crate::engine::libaio::probe(),
        EngineKind::PosixAio | EngineKind::Psync | EngineKind::Mmap | EngineKind::Null => Ok(()),
    }
}

/// The engine asked for, or the next best where that is allowed.
pub(crate) fn choose_engine(spec: &JobSpec, notes: &mut Vec<Note>) -> Result<EngineKind, IoError> {
    let mut engine = spec.engine;
    while let Err(unavailable) = probe(engine) {
        let next = match engine {
            EngineKind::IoUring => EngineKind::Libaio,
            _ => EngineKind::PosixAio,
        };
        if !spec.engine_fallback || engine == EngineKind::PosixAio {
            return Err(IoError::Engine {
                engine,
                unavailable,
            });
        }
        notes.push(Note {
            kind: NoteKind::EngineFallback,
            text: format!("{engine} refused ({unavailable}): {next} instead"),
        });
        engine = next;
    }
    Ok(engine)
}
