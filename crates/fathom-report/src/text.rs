//! Text for terminals.

mod bars;
mod columns;
mod comparison;
mod header;
mod latency;
mod pts;
mod pts_summary;
mod sensors;
mod show;
mod style;
mod summary;

pub use comparison::comparison;
pub use pts::pts;
pub use pts_summary::{pts_executive_summary, pts_stats, pts_wins_and_losses};
pub use sensors::sensors;
pub use show::show;
pub use summary::summary;

pub(crate) use bars::other_text;
pub(crate) use columns::fit;
pub(crate) use comparison::{
    counts_text, judged_arms, label_of, overall_text, ratio_text, remarks_of, unjudged_text,
};
pub(crate) use header::target_text;
pub(crate) use latency::{PERCENTILES, percentile_text};

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowOptions {
    /// Columns of the terminal; fewer than 60 are taken as 60, more than 400 as 400.
    pub width: usize,
    /// Whether escape sequences for colour may be used. Colour never carries meaning alone.
    pub color: bool,
}

impl Default for ShowOptions {
    /// 80 columns, no colour.
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
        }
    }
}

impl ShowOptions {
    fn columns(self) -> usize {
        self.width.clamp(60, 400)
    }

    fn style(self) -> style::Style {
        style::Style::new(self.color)
    }
}

/// A line of its own, cleaned.
pub(crate) fn push_title(out: &mut String, text: &str) {
    crate::clean::push_line(out, text.trim_end());
    out.push('\n');
}

/// An indented paragraph.
pub(crate) fn push_paragraph(out: &mut String, text: &str, columns: usize) {
    out.push_str("  ");
    columns::push_wrapped(out, &crate::clean::line(text), 2, 2, columns);
    out.push('\n');
}
