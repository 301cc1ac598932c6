//! Result files, journals and the index on disk.
//!
//! A data directory holds `results/NAME.json` (and `results/.history/NAME/N.json`, what edits
//! replaced), `runs/RUN/journal.jsonl` for every run that has not been saved whole, `index.json`,
//! which can be thrown away at any time, and `lock`.
//!
//! ```
//! use fathom_model::{Generator, ResultFile};
//! use fathom_store::{ResultName, Store};
//!
//! let directory = tempfile::tempdir().unwrap();
//! let store = Store::new(directory.path());
//! let name = ResultName::new("2026-11-30-quick").unwrap();
//! let file = ResultFile::new("Quick", Generator::default());
//! let saved = store.save_new(&name, &file).unwrap();
//! assert_eq!(store.load(&saved).unwrap(), file);
//! // A name that is taken gets a number; nothing is overwritten.
//! assert_eq!(store.save_new(&name, &file).unwrap().as_str(), "2026-11-30-quick-2");
//! ```

mod error;
mod history;
mod index;
mod journal;
mod name;
mod store;

pub use error::StoreError;
pub use index::ResultSummary;
pub use jiff::tz::TimeZone;
pub use journal::{Damage, Journal, Replay, RunInfo};
pub use name::{NAME_LIMIT, NameError, ResultName, default_name};
pub use store::{RESULT_LIMIT, Store};
