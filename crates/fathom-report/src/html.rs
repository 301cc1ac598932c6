//! A result file as one page that reads like a review: a single file without any outside address.

mod comparison;
mod notes;
mod overview;
mod put;
mod results;
mod systems;

use std::fmt::Write;

use fathom_model::ResultFile;

use crate::anchors::anchors_of;
use crate::overview::Overview;
use crate::svg::{DARK, LIGHT, push_rules};
use crate::view::View;
pub use comparison::html_comparison;
use put::{Markup, Text, put};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// What a page may do, as a Content-Security-Policy: apply its own style, run its own script (each
/// known by its SHA-256) and nothing else. The page carries it; a server may send it as well.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
    style-src 'sha256-itWOpn0eLuYREYOcYSYPUWqvTx5zLNPn8oH7AYNOAnU='; script-src 'sha256-c6zI+Ezfa3joWTXR4GJhDfdtlHMkLtPT46npIA8Jml8='";

/// A result file as an HTML page in one file.
///
/// What was compared and which conditions differ come first, then the overview, one section a
/// result with bars, intervals, trials, latency, series and the raw table behind them, and the
/// notes. It is complete without its script, which sorts, filters, hides systems, sets a baseline
/// and switches axes. The same file gives the same bytes.
pub fn html(file: &ResultFile) -> String {
    let view = View::of(file);
    let overview = Overview::of(&view);
    let page = Page {
        anchors: anchors_of(&view),
        overview,
        view,
    };
    let entries: usize = file.results.iter().map(|result| result.entries.len()).sum();
    let mut out = String::with_capacity(48 * 1024 + entries * 620);
    page.push(&mut out);
    out
}

/// Everything a page is made of.
struct Page<'a> {
    view: View<'a>,
    overview: Overview,
    anchors: Vec<String>,
}

impl Page<'_> {
    fn push(&self, out: &mut String) {
        push_document_start(out, self.title());
        put!(
            out,
            "<a class=\"skip\" href=\"#results\">Skip to the results</a>"
        );
        self.push_top(out);
        self.push_controls(out);
        put!(out, "<main>");
        systems::push(out, self);
        overview::push(out, self);
        results::push(out, self);
        notes::push(out, self);
        put!(out, "</main>");
        self.push_footer(out);
        put!(out, "<script>", SCRIPT, "</script>");
        push_document_end(out);
    }

    fn title(&self) -> &str {
        match self.view.file.title.trim() {
            "" => "Untitled result",
            title => title,
        }
    }

    fn push_top(&self, out: &mut String) {
        let file = self.view.file;
        put!(
            out,
            "<header class=\"top\"><h1>",
            Text(self.title()),
            "</h1>"
        );
        for paragraph in file
            .description
            .split('\n')
            .filter(|text| !text.trim().is_empty())
        {
            put!(out, "<p class=\"lead\">", Text(paragraph.trim()), "</p>");
        }
        put!(
            out,
            "<p class=\"meta\">",
            Text(&self.meta_text()),
            "</p></header>\n"
        );
    }

    /// `10 systems, 19 results · measured by ... · last changed 2026-01-01`.
    fn meta_text(&self) -> String {
        let file = self.view.file;
        let count = |number: usize, one: &str| match number {
            1 => format!("1 {one}"),
            many => format!("{many} {one}s"),
        };
        let mut text = count(self.view.systems.len(), "system");
        let _ = write!(text, ", {}", count(self.view.blocks.len(), "result"));
        let generator = &file.generator;
        if !generator.name.is_empty() {
            let _ = write!(
                text,
                " · written by {} {}",
                generator.name, generator.version
            );
        }
        if let Some(modified) = file.modified {
            let _ = write!(text, " · last changed {}", utc_text(modified.unix_ms()));
        }
        if let Some(origin) = file.origin.as_deref() {
            let name = if origin.name.is_empty() {
                "a file"
            } else {
                &origin.name
            };
            let _ = write!(text, " · imported from {name} ({})", origin.format);
        }
        text
    }

    /// The controls of the script; hidden until it runs.
    fn push_controls(&self, out: &mut String) {
        if self.view.blocks.is_empty() {
            return;
        }
        put!(
            out,
            "<div class=\"bar\" hidden><form aria-label=\"View\">",
            "<label>Find <input type=\"search\" id=\"find\" placeholder=\"test or option\"></label>"
        );
        if self.view.systems.len() > 1 {
            put!(
                out,
                "<label>Systems by <select id=\"sort\"><option value=\"file\">file order</option>",
                "<option value=\"value\">best first</option><option value=\"name\">name</option>",
                "</select></label><label>Results by <select id=\"order\">",
                "<option value=\"file\">file order</option><option value=\"spread\">spread</option>",
                "<option value=\"name\">name</option></select></label>",
                "<label>Relative to <select id=\"base\"><option value=\"\">nothing</option>"
            );
            for (place, system) in self.view.systems.iter().enumerate() {
                put!(
                    out,
                    "<option value=\"",
                    place,
                    "\">",
                    Text(system.name),
                    "</option>"
                );
            }
            put!(out, "</select></label>");
        }
        put!(
            out,
            "<label>Axis <select id=\"axis\"><option value=\"\">as fits</option>",
            "<option value=\"linear\">linear</option><option value=\"log\">logarithmic</option>",
            "</select></label><button type=\"reset\">Reset</button></form></div>\n"
        );
    }

    fn push_footer(&self, out: &mut String) {
        put!(
            out,
            "<footer><p>How to read it: a bar is the mean of all trials; the frame around its end is ",
            "the 95 % interval of that mean, and SE its standard error with N trials. Where frames ",
            "overlap the order may be chance, and nothing here is ranked inside its uncertainty. ",
            "A hollow bar is a number that does not mean what it seems to mean; the reason stands ",
            "below it. Trials are never dropped, and failed ones are listed.</p><p>",
            "Made by Fathom. This page is one file, loads nothing and sends nothing.</p></footer>"
        );
    }
}

/// Everything up to the first thing that is seen.
fn push_document_start(out: &mut String, title: &str) {
    put!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">",
        "<meta name=\"color-scheme\" content=\"light dark\">",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        CONTENT_SECURITY_POLICY,
        "\"><title>",
        Text(title),
        "</title><style>",
        Markup(&style()),
        "</style></head>\n<body>"
    );
}

fn push_document_end(out: &mut String) {
    put!(out, "</body></html>\n");
}

/// The style of the page and its charts, in the colours of both themes.
fn style() -> String {
    let mut style = String::with_capacity(STYLE.len() + 6000);
    let variables = |out: &mut String, theme: &crate::svg::Theme| {
        for (name, value) in theme.variables {
            let _ = write!(out, "--{name}:{value};");
        }
        for (place, colour) in theme.systems.iter().enumerate() {
            let _ = write!(out, "--c{place}:{colour};");
        }
    };
    style.push_str(":root{color-scheme:light dark;");
    variables(&mut style, &LIGHT);
    style.push_str("}@media screen and (prefers-color-scheme:dark){:root{");
    variables(&mut style, &DARK);
    style.push_str("}}\n");
    push_rules(&mut style, &LIGHT, |name, _| format!("var(--{name})"));
    style.push('\n');
    style.push_str(STYLE);
    style
}

/// `2026-11-30 18:33 UTC`.
fn utc_text(unix_ms: i64) -> String {
    let minutes = unix_ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    // Civil date from days (Hinnant's algorithm).
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        minute / 60,
        minute % 60
    )
}

#[cfg(test)]
mod tests;
