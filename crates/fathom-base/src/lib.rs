//! Units, clocks, atomic file writes, cancellation and child processes: what every other crate of
//! Fathom stands on.
//!
//! ```
//! use fathom_base::{Bytes, Nanos};
//!
//! assert_eq!("4KiB".parse::<Bytes>().unwrap(), Bytes::new(4096));
//! assert_eq!("1.5s".parse::<Nanos>().unwrap().as_u64(), 1_500_000_000);
//! assert_eq!(Bytes::new(1 << 30).to_string(), "1GiB");
//! ```

mod cancel;
mod clock;
mod error;
pub mod files;
mod place;
pub mod process;
mod seed;
mod shared;
mod units;

pub use cancel::Cancel;
pub use clock::{Clock, FakeClock, SystemClock, WallTime};
pub use error::{BaseError, IoContext};
pub use place::Place;
pub use seed::{SplitMix64, seed_for};
pub use shared::SharedByKey;
pub use units::{Bytes, Nanos, Percent, Rate, UnitError, format_rate_bytes};
