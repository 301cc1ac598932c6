//! View models and their text, SVG, HTML, PDF and CSV renderings: pure functions from a
//! [`ResultFile`](fathom_model::ResultFile) to bytes.
//!
//! ```
//! use fathom_model::{Generator, ResultFile};
//! use fathom_report::text::{self, ShowOptions};
//!
//! let file = ResultFile::new("An empty file", Generator::default());
//! let shown = text::show(&file, ShowOptions::default());
//! assert!(shown.starts_with("An empty file\n"));
//! ```

mod anchors;
mod certainty;
mod clean;
mod counterparts;
mod explain;
#[cfg(feature = "export")]
pub mod export;
mod factors;
mod grouping;
mod html;
mod markdown;
mod markup;
mod number;
mod overview;
mod reading;
mod sayings;
pub mod svg;
pub mod text;
mod view;

pub use explain::explain;
pub use factors::{FactorError, by_factor, factor_charts};
pub use html::{CONTENT_SECURITY_POLICY, html, html_comparison};
pub use markdown::{markdown, markdown_comparison};
