//! One section a case: charts, verdicts, and the tables behind them.

use std::fmt::Write;

use fathom_model::{Direction, Display, Entry, Figure, Level};

use super::Page;
use super::overview::push_half_width;
use super::put::{Markup, Text, put};
use crate::number::{count, push_significant, push_value};
use crate::sayings::{Kind, Said};
use crate::svg::{Medium, curves_of, extent_texts, has_boxes, push_bars, push_boxes, push_lines};
use crate::text::{PERCENTILES, other_text, percentile_text};
use crate::view::{Block, Row};

pub(super) fn push(out: &mut String, page: &Page<'_>) {
    if page.view.blocks.is_empty() {
        return;
    }
    put!(out, "<h2 id=\"results\">Results</h2>\n");
    push_contents(out, page);
    let mut place = 0;
    for case in page.view.blocks.chunk_by(|_, next| next.continues) {
        push_case(out, page, case, place);
        place += case.len();
    }
}

/// Links to the sections, when there is no overview that has them.
fn push_contents(out: &mut String, page: &Page<'_>) {
    if page.view.systems.len() <= 1 || !page.overview.rows.is_empty() {
        return;
    }
    put!(out, "<nav class=\"toc\" aria-label=\"Results\">");
    for (block, anchor) in page.view.blocks.iter().zip(&page.anchors) {
        if !block.continues {
            put!(
                out,
                "<a href=\"#",
                Markup(anchor),
                "\">",
                Text(&block.heading()),
                "</a>"
            );
        }
    }
    put!(out, "</nav>");
}

fn push_case(out: &mut String, page: &Page<'_>, case: &[Block<'_>], first: usize) {
    let Some(block) = case.first() else { return };
    let anchor = &page.anchors[first];
    put!(out, "<section class=\"r\"><h3>", Text(&block.heading()));
    push_link(out, anchor, "this result");
    put!(out, "</h3>");
    if !block.record.description.trim().is_empty() {
        put!(
            out,
            "<p class=\"sub\">",
            Text(&block.record.description),
            "</p>"
        );
    }
    if let Some(note) = block
        .record
        .pts
        .as_ref()
        .and_then(|facts| facts.annotation.as_deref())
    {
        put!(out, "<p>", Text(note), "</p>");
    }
    let mut said = Said::default();
    for (place, block) in case.iter().enumerate() {
        push_block(out, page, block, &page.anchors[first + place], &mut said);
    }
    put!(out, "</section>\n");
}

/// A link to a place, for copying.
fn push_link(out: &mut String, anchor: &str, what: &'static str) {
    put!(
        out,
        "<a class=\"p\" href=\"#",
        Markup(anchor),
        "\" aria-label=\"Link to ",
        what,
        "\">#</a>"
    );
}

fn push_block(out: &mut String, page: &Page<'_>, block: &Block<'_>, anchor: &str, said: &mut Said) {
    put!(
        out,
        "<figure id=\"",
        Markup(anchor),
        "\" data-d=\"",
        match block.record.metric.direction {
            Direction::HigherIsBetter => "h",
            Direction::LowerIsBetter => "l",
            Direction::Neutral => "n",
        },
        "\">"
    );
    let title = block.record.metric.title.as_str();
    if block.continues {
        put!(out, "<figcaption class=\"sub\">", Text(block.metric_name()));
        push_link(out, anchor, "this chart");
        put!(out, "</figcaption>");
    } else if !title.is_empty() {
        put!(
            out,
            "<figcaption class=\"sub\">",
            Text(title),
            "</figcaption>"
        );
    }
    if block.is_bars() {
        let id = format!("{anchor}-b");
        push_bars(
            out,
            &page.view,
            block,
            &id,
            0..block.rows.len(),
            Medium::Page,
        );
    }
    let curves = curves_of(&page.view, block);
    for (place, curves) in curves.iter().enumerate() {
        let (id, heading) = (format!("{anchor}-l{place}"), block.heading());
        push_lines(out, curves, &id, &heading, "", Medium::Page);
    }
    push_footnotes(out, page, block);
    put!(out, "</figure>");
    push_reasons(out, page, block, said);
    push_latency(out, page, block);
    if block.record.display == Display::Bar && has_boxes(block) {
        let has_runs = block.rows.iter().any(|row| row.run.is_some());
        put!(
            out,
            if has_runs {
                "<details open>"
            } else {
                "<details>"
            }
        );
        put!(out, "<summary>Every trial</summary>");
        push_boxes(out, &page.view, block, &format!("{anchor}-t"), Medium::Page);
        put!(out, "</details>");
    }
    push_table(out, page, block);
}

/// Compiler options and footnotes of imported entries, once each.
fn push_footnotes(out: &mut String, page: &Page<'_>, block: &Block<'_>) {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    let mut last: Option<(&str, usize)> = None;
    for row in &block.rows {
        let name = page.view.systems[row.system as usize].name;
        let source = footnote_source(row.entry);
        if let (Some(source), Some((known, place))) = (source, last)
            && source == known
        {
            notes[place].1.push(name);
            continue;
        }
        let Some(note) = footnote_of(row.entry) else {
            continue;
        };
        let place = match notes.iter().position(|(known, _)| *known == note) {
            Some(place) => place,
            None => {
                notes.push((note, Vec::new()));
                notes.len() - 1
            }
        };
        notes[place].1.push(name);
        last = source.map(|source| (source, place));
    }
    for (place, (note, names)) in notes.iter().enumerate() {
        put!(out, "<p class=\"foot\">", place + 1, ". ", Text(note));
        if names.len() < block.rows.len() {
            put!(out, " (", Text(&names.join(", ")), ")");
        }
        put!(out, "</p>");
    }
}

/// `(CC) gcc options: -O3 -lm`, and what a profile wants said.
fn footnote_of(entry: &Entry) -> Option<String> {
    let json = &entry.details.as_ref()?.pts_json;
    if !COMPILER_KEYS.iter().any(|key| json.text().contains(key)) {
        return None;
    }
    let map = json.map();
    let mut parts: Vec<String> = Vec::new();
    if let Some(compiler) = map
        .get(COMPILER_KEYS[0])
        .and_then(|value| value.as_object())
    {
        let text = |key: &str| {
            compiler
                .get(key)
                .and_then(|value| value.as_str())
                .unwrap_or("")
        };
        let options = text(COMPILER_KEYS[0]);
        parts.push(format!(
            "({}) {} options: {options}",
            text("compiler-type"),
            text("compiler")
        ));
    }
    let note = map.get(COMPILER_KEYS[1]).and_then(|value| value.as_str());
    parts.extend(note.map(str::to_owned));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Keys of an entry's JSON object that become footnotes.
const COMPILER_KEYS: [&str; 2] = ["compiler-options", "install-footnote"];

/// The part of an entry's JSON that its footnote is made of, when it is of the usual form: equal
/// parts give equal footnotes without reading them.
fn footnote_source(entry: &Entry) -> Option<&str> {
    let text = entry.details.as_ref()?.pts_json.text();
    if text.contains(COMPILER_KEYS[1]) {
        return None;
    }
    let start = text.find(COMPILER_KEYS[0])?.checked_sub(1)?;
    let end = text[start..].find('}')?;
    let source = &text[start..start + end];
    // An odd number of quotes: the brace stands within a text.
    source
        .matches('"')
        .count()
        .is_multiple_of(2)
        .then_some(source)
}

/// Why numbers are suspect, invalid or missing, and what should be known of valid ones.
fn push_reasons(out: &mut String, page: &Page<'_>, block: &Block<'_>, said: &mut Said) {
    let sayings = said.news_of(&page.view, block);
    if sayings.is_empty() {
        return;
    }
    put!(out, "<ul class=\"reasons\">");
    for saying in &sayings {
        put!(out, "<li class=\"", saying.kind.word(), "\"");
        if let [only] = saying.systems.as_slice() {
            put!(out, " data-s=\"", *only as usize, "\"");
        }
        put!(out, ">", Text(&saying.names), ": ");
        if saying.kind != Kind::Note {
            put!(out, "<b>", saying.kind.word(), "</b>, ");
        }
        put!(out, Text(&saying.text), "</li>");
    }
    put!(out, "</ul>");
}

/// Percentiles of the block that stands for its case.
fn push_latency(out: &mut String, page: &Page<'_>, block: &Block<'_>) {
    if !block.stands || block.rows.iter().all(|row| row.histograms().is_empty()) {
        return;
    }
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Latency\"><table>",
        "<caption>Latency over all trials</caption><thead><tr><th scope=\"col\">System</th>",
        "<th scope=\"col\">Operation</th>"
    );
    for (name, _) in PERCENTILES {
        put!(out, "<th scope=\"col\" class=\"n\">", name, "</th>");
    }
    put!(
        out,
        "<th scope=\"col\" class=\"n\">max</th><th scope=\"col\" class=\"n\">operations</th></tr></thead><tbody>"
    );
    for row in &block.rows {
        for (name, histogram) in row.histograms() {
            put!(
                out,
                "<tr data-s=\"",
                row.system as usize,
                "\"><th scope=\"row\">"
            );
            put!(
                out,
                Text(&page.view.row_name(row)),
                "</th><td>",
                Text(name),
                "</td>"
            );
            for (_, percent) in PERCENTILES {
                put!(
                    out,
                    "<td class=\"n\">",
                    Text(&percentile_text(&histogram, percent)),
                    "</td>"
                );
            }
            let max = fathom_base::Nanos::new(histogram.max().unwrap_or(0)).rough();
            put!(out, "<td class=\"n\">", Text(&max), "</td><td class=\"n\">");
            put!(out, Text(&count(histogram.count())), "</td></tr>");
        }
    }
    put!(out, "</tbody></table></div>");
}

/// Which columns the table of a block has.
struct Columns {
    error: bool,
    trials: bool,
    samples: bool,
    verdict: bool,
    line: bool,
    text: bool,
}

impl Columns {
    fn of(block: &Block<'_>) -> Self {
        let has = |known: fn(&Row<'_>) -> bool| block.rows.iter().any(known);
        Self {
            error: has(|row| row.certainty.standard_error.is_some()),
            trials: has(|row| row.certainty.trials > 0),
            samples: has(|row| row.entry.samples.len() > 1),
            verdict: has(|row| row.entry.verdict.level > Level::Unjudged),
            line: has(|row| {
                row.entry
                    .details
                    .as_ref()
                    .is_some_and(|details| !details.line.is_empty())
            }),
            text: has(|row| row.value.is_none()),
        }
    }
}

/// The raw numbers behind the charts of a block.
fn push_table(out: &mut String, page: &Page<'_>, block: &Block<'_>) {
    let columns = Columns::of(block);
    put!(
        out,
        "<details><summary>Table</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" ",
        "aria-label=\"Numbers of this chart\"><table><thead><tr><th scope=\"col\">System</th>",
        "<th scope=\"col\" class=\"n\">",
        Text(block.metric_name()),
        "</th>"
    );
    if columns.error {
        put!(
            out,
            "<th scope=\"col\" class=\"n\">SE</th><th scope=\"col\" class=\"n\">95 %</th>"
        );
    }
    if columns.trials {
        put!(out, "<th scope=\"col\" class=\"n\">N</th>");
    }
    if columns.line {
        put!(out, "<th scope=\"col\">Min / Avg / Max</th>");
    }
    if columns.verdict {
        put!(out, "<th scope=\"col\">Verdict</th>");
    }
    if columns.samples {
        put!(out, "<th scope=\"col\">Trials</th>");
    }
    if columns.text {
        put!(out, "<th scope=\"col\">What happened</th>");
    }
    put!(out, "</tr></thead><tbody>");
    for row in &block.rows {
        push_table_row(out, page, block, row, &columns);
    }
    put!(out, "</tbody></table></div></details>");
}

fn push_table_row(
    out: &mut String,
    page: &Page<'_>,
    block: &Block<'_>,
    row: &Row<'_>,
    columns: &Columns,
) {
    put!(
        out,
        "<tr data-s=\"",
        row.system as usize,
        "\"><th scope=\"row\">"
    );
    put!(out, Text(&page.view.row_name(row)), "</th><td class=\"n\">");
    if let Some(value) = row.value {
        push_value(out, value, block.decimals);
    }
    put!(out, "</td>");
    if columns.error {
        put!(out, "<td class=\"n\">");
        if let Some(error) = row.certainty.standard_error {
            push_value(out, error, block.decimals.max(2));
        }
        put!(out, "</td><td class=\"n\">");
        push_half_width(
            out,
            row.value
                .and_then(|value| row.certainty.half_width_percent(value)),
        );
        put!(out, "</td>");
    }
    if columns.trials {
        put!(out, "<td class=\"n\">");
        if row.certainty.trials > 0 {
            put!(out, row.certainty.trials as usize);
        }
        put!(out, "</td>");
    }
    if columns.line {
        put!(out, "<td>");
        let line = row
            .entry
            .details
            .as_ref()
            .map(|details| details.line.as_slice());
        let values: Vec<f64> = line.unwrap_or_default().iter().map(Figure::value).collect();
        if let Some([low, mean, high]) = extent_texts(&values) {
            put!(out, Text(&format!("{low} / {mean} / {high}")));
        }
        put!(out, "</td>");
    }
    if columns.verdict {
        put!(out, "<td>");
        push_level(out, row.entry.verdict.level);
        put!(out, "</td>");
    }
    if columns.samples {
        put!(out, "<td class=\"t\">");
        push_samples(out, &row.entry.samples);
        put!(out, "</td>");
    }
    if columns.text {
        let text = row
            .failure()
            .map_or_else(|| other_text(row, block), str::to_owned);
        put!(out, "<td class=\"t\">", Text(&text), "</td>");
    }
    put!(out, "</tr>");
}

/// The trials in order, a long list cut with its length.
fn push_samples(out: &mut String, samples: &[Figure]) {
    const MOST: usize = 40;
    for (place, figure) in samples.iter().take(MOST).enumerate() {
        if place > 0 {
            put!(out, "; ");
        }
        let start = out.len();
        // Writing to a String cannot fail; figures are digits, signs and points.
        let _ = write!(out, "{figure}");
        if out.len() - start > 10 {
            out.truncate(start);
            push_significant(out, figure.value(), 6);
        }
    }
    if samples.len() > MOST {
        put!(out, " and ", samples.len() - MOST, " more");
    }
}

/// A verdict as a word of its colour.
pub(super) fn push_level(out: &mut String, level: Level) {
    put!(
        out,
        match level {
            Level::Unjudged => "",
            Level::Valid => "<span class=\"valid\">valid</span>",
            Level::Suspect => "<span class=\"suspect\">suspect</span>",
            Level::Invalid => "<span class=\"invalid\">invalid</span>",
        }
    );
}
