//! What this machine and this target can do, found by trying.

use crate::error::{IoError, Unavailable};
use crate::report::{Note, NoteKind};
use crate::spec::{EngineKind, JobSpec};

/// Whether an engine can be used here, found by making one.
///
/// # Errors
/// Why not, and what to do.
pub fn probe(engine: EngineKind) -> Result<(), Unavailable> {
    match engine {
        EngineKind::IoUring | EngineKind::Libaio => Err(Unavailable {
            reason: "not built yet".to_owned(),
            remedy: "choose psync",
            errno: None,
        }),
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
