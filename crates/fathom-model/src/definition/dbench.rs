//! Test `dbench`: a file server's work, replayed from a load file by 1 to 1024 clients.

mod line;
mod load;

pub use line::{LineProblem, LineReader, LoadLine, LoadOp, MAX_TRANSFER};
pub use load::{LOAD_LIMIT, LoadError, LoadFacts, LoadFile, MAX_HANDLES};
