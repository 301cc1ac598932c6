//! PNG and PDF (feature `export`).
//!
//! Both embed their fonts and come out the same on every machine. Characters outside Latin, Greek
//! and Cyrillic have no glyphs there and are drawn as empty boxes.

mod flow;
mod pdf;

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use crate::svg::Chart;

pub use pdf::pdf;

/// Regular and bold.
static FONTS: [&[u8]; 2] = [
    include_bytes!("../assets/DejaVuSans.ttf"),
    include_bytes!("../assets/DejaVuSans-Bold.ttf"),
];

/// Most pixels along one side of a bitmap.
const MOST_PIXELS_A_SIDE: f32 = 20_000.0;
/// Most pixels of a bitmap, 256 MiB of memory.
const MOST_PIXELS: f32 = 67_108_864.0;

/// Why there is no PNG or PDF.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A chart would be too large as a bitmap.
    #[error(
        "chart {id}: {width} x {height} pixels are too many for a bitmap; choose a scale below \
         {largest_scale:.2}, or SVG"
    )]
    TooLarge {
        /// The chart.
        id: String,
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
        /// The largest scale that would do.
        largest_scale: f32,
    },
    /// The scale is no positive number.
    #[error("a scale of {scale} is not a number above 0")]
    Scale {
        /// As given.
        scale: f32,
    },
    /// A chart of this crate could not be read back; a fault of this crate.
    #[error("chart {id}")]
    Svg {
        /// The chart.
        id: String,
        /// What was found.
        source: usvg::Error,
    },
    /// The bitmap could not be written.
    #[error("bitmap of chart {id}: {reason}")]
    Png {
        /// The chart.
        id: String,
        /// What was found.
        reason: String,
    },
    /// The document could not be written.
    #[error("PDF document: {reason}")]
    Pdf {
        /// What was found.
        reason: String,
    },
}

/// A chart as a PNG file, `scale` pixels a unit (a chart is 792 units wide; 2 is sharp on most
/// screens). Draw it from [`crate::svg::Look::Print`].
///
/// # Errors
/// [`ExportError`] for a scale that is not above 0 or gives more than 20 000 pixels a side or
/// 64 Mi pixels.
pub fn png(chart: &Chart, scale: f32) -> Result<Vec<u8>, ExportError> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(ExportError::Scale { scale });
    }
    let tree = tree_of(&chart.id, &chart.svg, &options())?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let largest_scale =
        (MOST_PIXELS_A_SIDE / width.max(height)).min((MOST_PIXELS / (width * height)).sqrt());
    let (across, down) = (
        (width * scale).ceil() as u32,
        (height * scale).ceil() as u32,
    );
    let is_possible = scale <= largest_scale;
    let pixmap = is_possible
        .then(|| Pixmap::new(across.max(1), down.max(1)))
        .flatten();
    let Some(mut pixmap) = pixmap else {
        let id = chart.id.clone();
        return Err(ExportError::TooLarge {
            id,
            width: across,
            height: down,
            largest_scale,
        });
    };
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    pixmap.encode_png().map_err(|error| ExportError::Png {
        id: chart.id.clone(),
        reason: error.to_string(),
    })
}

/// How SVG is read: with the fonts of this crate only.
fn options() -> usvg::Options<'static> {
    let mut fonts = fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    }
}

fn tree_of(id: &str, svg: &str, options: &usvg::Options<'_>) -> Result<usvg::Tree, ExportError> {
    usvg::Tree::from_str(svg, options).map_err(|source| ExportError::Svg {
        id: id.to_owned(),
        source,
    })
}
