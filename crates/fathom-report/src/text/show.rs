//! Fathom's text view.

use fathom_model::ResultFile;

use super::columns::push_wrapped;
use super::header::push_header;
use super::style::Tone;
use super::{ShowOptions, bars, latency, summary};
use crate::clean;
use crate::view::View;

/// A result file for a terminal: what was measured, every result as bars with the certainty of
/// each number beside it, latency percentiles, and everything that failed with its reason.
///
/// The file of a single run is shown as the compact table of [`super::summary()`] and one
/// paragraph a case. The output ends with a line break and holds no trailing blanks.
pub fn show(file: &ResultFile, options: ShowOptions) -> String {
    let view = View::of(file);
    let mut out = String::with_capacity(2048 + view.blocks.len() * 600);
    push_header(&mut out, &view, options);
    if view.systems.len() == 1 && !file.runs.is_empty() {
        summary::push_table(&mut out, &view, 0, options);
        push_absent(&mut out, &view, options);
        push_cases(&mut out, &view, options);
    } else {
        push_blocks(&mut out, &view, options);
        push_absent(&mut out, &view, options);
    }
    trim_line_ends(&mut out);
    out
}

fn push_blocks(out: &mut String, view: &View<'_>, options: ShowOptions) {
    if view.blocks.is_empty() {
        out.push_str("no results\n");
    }
    for (place, block) in view.blocks.iter().enumerate() {
        if !block.continues {
            bars::push_title(out, block, options);
        }
        bars::push_rows(out, view, block, options);
        let is_last_of_case = view
            .blocks
            .get(place + 1)
            .is_none_or(|next| !next.continues);
        if is_last_of_case {
            latency::push_table(out, view, block, options);
        }
        out.push('\n');
    }
}

/// One paragraph a case of a single system: all of its metrics, percentiles and reasons.
fn push_cases(out: &mut String, view: &View<'_>, options: ShowOptions) {
    for cases in view.blocks.chunk_by(|_, next| next.continues) {
        let [first, ..] = cases else { continue };
        let has_more = cases.len() > 1
            || first
                .rows
                .iter()
                .any(|row| !row.reasons().is_empty() || !row.histograms().is_empty());
        if !has_more {
            continue;
        }
        out.push('\n');
        let heading = clean::line(&first.heading());
        options.style().push(out, Tone::Strong, |out| {
            push_wrapped(out, &heading, 0, 0, options.columns());
        });
        out.push('\n');
        bars::push_facts(out, cases, options);
        latency::push_table(out, view, first, options);
    }
}

/// Cases without any result.
pub(super) fn push_absent(out: &mut String, view: &View<'_>, options: ShowOptions) {
    if view.absent.is_empty() {
        return;
    }
    out.push('\n');
    options.style().push_str(out, Tone::Strong, "not measured");
    out.push('\n');
    for absent in &view.absent {
        let system = match view.systems.len() {
            1 => String::new(),
            _ => format!(" on {}", absent.system),
        };
        let text = format!("{}{system}: {}", absent.label, absent.reason);
        out.push_str("  ");
        push_wrapped(out, &clean::line(&text), 2, 4, options.columns());
        out.push('\n');
    }
}

/// Removes blanks before line breaks, in place.
pub(super) fn trim_line_ends(text: &mut String) {
    if !text.contains(" \n") {
        return;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        out.push_str(line.trim_end_matches([' ', '\n']));
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    *text = out;
}
