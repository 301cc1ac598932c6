//! Charts as SVG: inside a page, which styles them, or as files of their own.

mod axis;
mod bars;
mod boxes;
mod canvas;
mod factors;
mod forest;
mod heat;
mod lines;
mod palette;
mod rate;

use fathom_model::{Display, ResultFile};

use crate::anchors::anchors_of;
use crate::overview::Overview;
use crate::view::{Block, View};

pub use axis::{PtsAxis, pts_axis, pts_box_axis};
pub(crate) use axis::{Scale, ScaleKind};
#[cfg(feature = "export")]
pub(crate) use bars::bars_height;
pub(crate) use bars::push_bars;
pub(crate) use boxes::{has_boxes, push_boxes};
pub(crate) use canvas::{Medium, push_bar_class, push_line_class};
pub(crate) use factors::push_factor_heat;
pub(crate) use forest::{Ratio, push_forest};
pub(crate) use heat::push_heat;
pub(crate) use lines::{
    Curves, curves_of_latency, curves_of_lines, curves_of_series, extent_texts, push_lines,
};
pub(crate) use palette::{DARK, LIGHT, Theme, push_rules};
pub use rate::{RateCurve, rate_chart};

/// A chart as a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Unique in its result file, of letters, digits and dashes: `overview`, `r-1a2b-bars`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The SVG document.
    pub svg: String,
}

/// What a picture is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Screens: follows the reader's choice of light or dark.
    #[default]
    Screen,
    /// Paper and bitmaps: always dark on light.
    Print,
}

impl Look {
    pub(crate) fn medium(self) -> Medium {
        match self {
            Self::Screen => Medium::Picture,
            Self::Print => Medium::Print,
        }
    }
}

/// Every chart of a result file: the overview when there are several systems, and for each result
/// its bars, trials, latency curves, series and sensor lines as far as there is data for them.
pub fn charts(file: &ResultFile, look: Look) -> Vec<Chart> {
    let view = View::of(file);
    let medium = look.medium();
    let mut charts = Vec::new();
    if view.systems.len() > 1 {
        let overview = Overview::of(&view);
        if !overview.rows.is_empty() {
            let mut svg = String::new();
            push_heat(&mut svg, &view, &overview, medium);
            charts.push(Chart {
                id: "overview".to_owned(),
                title: "Overview".to_owned(),
                svg,
            });
        }
    }
    let anchors = anchors_of(&view);
    for (block, anchor) in view.blocks.iter().zip(&anchors) {
        push_charts(&mut charts, &view, block, anchor, medium);
    }
    charts
}

fn push_charts(
    charts: &mut Vec<Chart>,
    view: &View<'_>,
    block: &Block<'_>,
    anchor: &str,
    medium: Medium,
) {
    let heading = block.heading();
    if block.is_bars() {
        let id = format!("{anchor}-bars");
        let mut svg = String::new();
        push_bars(&mut svg, view, block, &id, 0..block.rows.len(), medium);
        charts.push(Chart {
            id,
            title: heading.clone(),
            svg,
        });
    }
    if block.record.display == Display::Bar && has_boxes(block) {
        let id = format!("{anchor}-trials");
        let mut svg = String::new();
        push_boxes(&mut svg, view, block, &id, medium);
        charts.push(Chart {
            id,
            title: format!("{heading}, every trial"),
            svg,
        });
    }
    for (place, curves) in curves_of(view, block).iter().enumerate() {
        let id = format!("{anchor}-curve{place}");
        let mut svg = String::new();
        push_lines(
            &mut svg,
            curves,
            &id,
            &heading,
            &block.record.description,
            medium,
        );
        charts.push(Chart {
            id,
            title: format!("{heading}, {}", curves.title),
            svg,
        });
    }
}

/// The curves of a block; trials are drawn with the block that stands for their case.
pub(crate) fn curves_of(view: &View<'_>, block: &Block<'_>) -> Vec<Curves> {
    let mut curves: Vec<Curves> = curves_of_lines(view, block).into_iter().collect();
    if block.stands {
        curves.extend(curves_of_latency(view, block));
        curves.extend(curves_of_series(view, block));
    }
    curves
}
