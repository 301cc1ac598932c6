//! A case of a single system: a table of its metrics instead of lone bars.

use fathom_model::Level;

use super::super::Page;
use super::super::overview::push_half_width;
use super::super::put::{Markup, Text, put};
use super::{
    push_curves, push_footnotes, push_latency, push_level, push_link, push_reasons, push_samples,
    push_trials,
};
use crate::number::significant;
use crate::sayings::Said;
use crate::text::other_text;
use crate::view::{Block, Row};

/// Metrics, what is to be said of them, then latency, trials and series of the block that stands
/// for the case, and the curves of every line graph.
pub(super) fn push_case(out: &mut String, page: &Page<'_>, case: &[Block<'_>], first: usize) {
    push_metrics(out, page, case, first);
    let mut said = Said::default();
    for block in case {
        push_reasons(out, page, block, &mut said);
    }
    for (place, block) in case.iter().enumerate() {
        let anchor = &page.anchors[first + place];
        put!(out, "<figure>");
        push_curves(out, page, block, anchor);
        push_footnotes(out, page, block);
        put!(out, "</figure>");
        if block.stands {
            push_latency(out, page, block);
            push_trials(out, page, block, anchor);
        }
    }
}

fn push_metrics(out: &mut String, page: &Page<'_>, case: &[Block<'_>], first: usize) {
    let rows = || case.iter().flat_map(|block| &block.rows);
    let is_judged = rows().any(|row| row.entry.verdict.level > Level::Unjudged);
    let has_samples = rows().any(|row| row.entry.samples.len() > 1);
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics\"><table>",
        "<thead><tr><th scope=\"col\">Metric</th><th scope=\"col\" class=\"n\">Mean</th>",
        "<th scope=\"col\">Unit</th><th scope=\"col\" class=\"n\">SE</th>",
        "<th scope=\"col\" class=\"n\">95 %</th><th scope=\"col\" class=\"n\">N</th>"
    );
    if is_judged {
        put!(out, "<th scope=\"col\">Verdict</th>");
    }
    if has_samples {
        put!(out, "<th scope=\"col\">Trials</th>");
    }
    put!(out, "</tr></thead><tbody>");
    for (place, block) in case.iter().enumerate() {
        let anchor = &page.anchors[first + place];
        for (number, row) in block.rows.iter().enumerate() {
            put!(out, "<tr");
            if number == 0 {
                put!(out, " id=\"", Markup(anchor), "\"");
            }
            put!(out, "><th scope=\"row\">", Text(block.metric_name()));
            if block.continues && number == 0 {
                push_link(out, anchor, "this metric");
            }
            put!(out, "</th>");
            push_numbers(out, block, row);
            if is_judged {
                put!(out, "<td>");
                push_level(out, row.entry.verdict.level);
                put!(out, "</td>");
            }
            if has_samples {
                put!(out, "<td class=\"t\">");
                push_samples(out, &row.entry.samples);
                put!(out, "</td>");
            }
            put!(out, "</tr>");
        }
        if block.rows.is_empty() {
            put!(out, "<tr id=\"", Markup(anchor), "\"><th scope=\"row\">");
            put!(
                out,
                Text(block.metric_name()),
                "</th><td>not measured</td></tr>"
            );
        }
    }
    put!(out, "</tbody></table></div>");
}

fn push_numbers(out: &mut String, block: &Block<'_>, row: &Row<'_>) {
    let Some(value) = row.value else {
        let text = row
            .failure()
            .map_or_else(|| other_text(row, block), str::to_owned);
        put!(out, "<td class=\"t\" colspan=\"5\">", Text(&text), "</td>");
        return;
    };
    put!(
        out,
        "<td class=\"n\">",
        Text(&significant(value, 4)),
        "</td><td>"
    );
    put!(
        out,
        Text(&block.record.metric.unit),
        "</td><td class=\"n\">"
    );
    if let Some(error) = row.certainty.standard_error {
        put!(out, Text(&significant(error, 3)));
    }
    put!(out, "</td><td class=\"n\">");
    push_half_width(out, row.certainty.half_width_percent(value));
    put!(out, "</td><td class=\"n\">");
    if row.certainty.trials > 0 {
        put!(out, row.certainty.trials as usize);
    }
    put!(out, "</td>");
}
