use std::path::PathBuf;

use fathom_base::BaseError;
use fathom_model::ModelError;
use fathom_store::StoreError;
use fathom_system::Refusal;

/// Why a matrix cannot be planned, carried out or cleaned up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// The file is wrong.
    #[error("matrix {file}, line {line}, column {column}: {what}")]
    File {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What was found and expected.
        what: String,
    },
    /// A device of the file is not on this machine.
    #[error(
        "device {name}: no drive has the serial number {serial}; fathom system --serials shows those of this machine"
    )]
    NoDevice {
        /// Its name in the file.
        name: String,
        /// The serial number.
        serial: String,
    },
    /// Several drives have one serial number.
    #[error(
        "device {name}: several drives have the serial number {serial} ({nodes}); none is touched"
    )]
    ManyDevices {
        /// Its name in the file.
        name: String,
        /// The serial number.
        serial: String,
        /// Where.
        nodes: String,
    },
    /// Consent for a device that is not in the file.
    #[error(
        "--destroy {serial}: the matrix has no device of this serial number; expected one of {expected}"
    )]
    StrayConsent {
        /// As given.
        serial: String,
        /// The serial numbers in the file.
        expected: String,
    },
    /// Devices that must not be touched.
    #[error("{}", .0.iter().map(|(name, refusal)| format!("device {name}: {refusal}")).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<(String, Refusal)>),
    /// A program failed.
    #[error("{step}: {what}")]
    Tool {
        /// What was to be done: `make ext4 on /dev/loop3`.
        step: String,
        /// The command and what it said.
        what: String,
    },
    /// Something that was made is still there.
    #[error("{what} could not be undone: {why}; fathom matrix --clean tries again")]
    Left {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// Another process is at this matrix.
    #[error("matrix {name} is under way in process {process}")]
    Busy {
        /// Its name.
        name: String,
        /// Who.
        process: String,
    },
    /// The file is another one than the one that was begun.
    #[error(
        "matrix {name} was begun with another file; finish it with the file it was begun with, or drop what it measured: fathom matrix --clean --discard"
    )]
    Changed {
        /// Its name.
        name: String,
    },
    /// The journal is damaged.
    #[error(
        "{path}, line {line}: {what}; the journal of a matrix says what to undo, so nothing is done before it is repaired"
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Only root can build configurations.
    #[error("a matrix makes file systems and mounts them, which needs root")]
    NotRoot,
    /// The bench said so.
    #[error("{0}")]
    Bench(String),
    /// A file.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// The results.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Merging.
    #[error("put the configurations together: {0}")]
    Merge(#[from] ModelError),
}
