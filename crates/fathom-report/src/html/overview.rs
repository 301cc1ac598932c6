//! All results at a glance.

use fathom_model::Direction;

use super::Page;
use super::put::{Markup, Text, put};
use crate::number::{push_integer, push_percent, push_rounded, significant};
use crate::overview::{Cell, Overview, Standing, heat};
use crate::text::percentile_text;

pub(super) fn push(out: &mut String, page: &Page<'_>) {
    if page.view.blocks.is_empty() {
        put!(
            out,
            "<h2 id=\"results\">Results</h2><p>There are no results in this file.</p>"
        );
        return;
    }
    put!(out, "<h2 id=\"overview\">Overview</h2>");
    match page.view.systems.len() {
        1 => push_table(out, page),
        _ => {
            push_scores(out, page);
            push_heat(out, page);
        }
    }
}

/// One line a case for a single system.
fn push_table(out: &mut String, page: &Page<'_>) {
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Overview\"><table>",
        "<thead><tr><th scope=\"col\">Case</th><th scope=\"col\" class=\"n\">Mean</th>",
        "<th scope=\"col\">Unit</th><th scope=\"col\" class=\"n\">95 %</th>",
        "<th scope=\"col\" class=\"n\">Trials</th><th scope=\"col\">Verdict</th>",
        "<th scope=\"col\" class=\"n\">p50</th><th scope=\"col\" class=\"n\">p99</th>",
        "<th scope=\"col\" class=\"n\">p99.9</th></tr></thead><tbody>"
    );
    let view = &page.view;
    let blocks = view
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.stands);
    for (place, block) in blocks {
        for row in &block.rows {
            put!(
                out,
                "<tr><th scope=\"row\"><a href=\"#",
                Markup(&page.anchors[place]),
                "\">",
                Text(page.overview.name(place)),
                "</a></th>"
            );
            let Some(value) = row.value else {
                let reason = row.failure().unwrap_or("no single number");
                put!(
                    out,
                    "<td class=\"t\" colspan=\"8\">",
                    Text(reason),
                    "</td></tr>"
                );
                continue;
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
            push_half_width(out, row.certainty.half_width_percent(value));
            put!(
                out,
                "</td><td class=\"n\">",
                row.certainty.trials as usize,
                "</td><td>"
            );
            super::results::push_level(out, row.entry.verdict.level);
            put!(out, "</td>");
            let histograms = row.histograms();
            for percent in [50.0, 99.0, 99.9] {
                let text = histograms
                    .first()
                    .map(|(_, all)| percentile_text(all, percent));
                put!(
                    out,
                    "<td class=\"n\">",
                    Text(&text.unwrap_or_default()),
                    "</td>"
                );
            }
            put!(out, "</tr>");
        }
    }
    put!(out, "</tbody></table></div>\n");
}

/// `&#177;0.4 %`.
pub(super) fn push_half_width(out: &mut String, percent: Option<f64>) {
    if let Some(percent) = percent {
        put!(out, "\u{b1}");
        push_percent(out, percent);
        put!(out, " %");
    }
}

/// The systems over all cases.
fn push_scores(out: &mut String, page: &Page<'_>) {
    let scores = &page.overview.scores;
    if scores.iter().all(|score| score.cases == 0) {
        return;
    }
    let baseline = page.view.systems[0].name;
    put!(
        out,
        "<p>Over all cases, one weight each, as geometric mean of the improvements over <b>",
        Text(baseline),
        "</b>; its interval needs the spread of every value. A system is first in a result only when its lead is ",
        "outside the uncertainty.</p>",
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Over all cases\"><table>",
        "<thead><tr><th scope=\"col\">System</th><th scope=\"col\" class=\"n\">Geometric mean</th>",
        "<th scope=\"col\" class=\"n\">95 % interval</th><th scope=\"col\" class=\"n\">Cases</th>",
        "<th scope=\"col\" class=\"n\">First</th><th scope=\"col\" class=\"n\">Among the best</th>",
        "<th scope=\"col\" class=\"n\">Results</th></tr></thead><tbody>"
    );
    for (place, (score, system)) in scores.iter().zip(&page.view.systems).enumerate() {
        put!(
            out,
            "<tr data-s=\"",
            place,
            "\"><th scope=\"row\">",
            Text(system.name),
            "</th><td class=\"n\">"
        );
        let interval = score.improvement.filter(|_| place > 0);
        match score.improvement_alone {
            Some(mean) => push_rounded(out, mean, 3),
            None => put!(out, "none"),
        }
        put!(out, "</td><td class=\"n\">");
        if let Some(estimate) = interval {
            push_rounded(out, estimate.low, 3);
            put!(out, " to ");
            push_rounded(out, estimate.high, 3);
        } else if place > 0 && score.cases > 0 {
            put!(out, "not known");
        }
        put!(
            out,
            "</td><td class=\"n\">",
            score.cases,
            "</td><td class=\"n\">",
            score.first
        );
        put!(
            out,
            "</td><td class=\"n\">",
            score.first + score.tied,
            "</td><td class=\"n\">"
        );
        put!(out, score.results, "</td></tr>");
    }
    put!(out, "</tbody></table></div>\n");
}

fn push_heat(out: &mut String, page: &Page<'_>) {
    let Overview { rows, .. } = &page.overview;
    if rows.is_empty() {
        return;
    }
    put!(
        out,
        "<p id=\"heat-note\">Each number is the share of the best value of its case: 1.00 is best, lower is ",
        "worse, whichever way the unit goes. <b>Underlined</b>: first outside the uncertainty of ",
        "all others. <b>=</b>: cannot be told apart from the best. No mark: behind, or nothing ",
        "is known of the best value's spread. A value without known spread is taken to be as ",
        "uncertain as the least certain one of its row.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" ",
        "aria-label=\"Results relative to the best\"><table class=\"heat\"><thead><tr>",
        "<td></td><th scope=\"col\">Best</th>"
    );
    for system in &page.view.systems {
        put!(out, "<th scope=\"col\">", Text(system.name), "</th>");
    }
    put!(out, "</tr></thead><tbody>\n");
    for row in rows {
        let block = &page.view.blocks[row.block];
        let anchor = &page.anchors[row.block];
        put!(
            out,
            "<tr data-r=\"",
            Markup(anchor),
            "\"><th scope=\"row\"><a href=\"#",
            Markup(anchor)
        );
        put!(
            out,
            "\">",
            Text(page.overview.name(row.block)),
            "</a></th><td class=\"u\">"
        );
        let best = match block.record.metric.direction {
            Direction::LowerIsBetter => block.smallest,
            _ => block.largest,
        };
        crate::number::push_value(out, best, block.decimals);
        put!(
            out,
            " ",
            Text(&block.record.metric.unit),
            match block.record.metric.direction {
                Direction::HigherIsBetter => " \u{2191}",
                Direction::LowerIsBetter => " \u{2193}",
                Direction::Neutral => "",
            },
            "</td>"
        );
        for cell in &row.cells {
            push_cell(out, cell.as_ref());
        }
        put!(out, "</tr>\n");
    }
    put!(out, "</tbody></table></div>\n");
}

fn push_cell(out: &mut String, cell: Option<&Cell>) {
    let Some(cell) = cell else {
        put!(out, "<td></td>");
        return;
    };
    let Some(share) = cell.of_best else {
        let word = if cell.standing == Standing::Invalid {
            "invalid"
        } else {
            "failed"
        };
        put!(out, "<td class=\"x\">", word, "</td>");
        return;
    };
    put!(
        out,
        match heat(share) {
            0 => "<td class=\"h0",
            1 => "<td class=\"h1",
            2 => "<td class=\"h2",
            3 => "<td class=\"h3",
            4 => "<td class=\"h4",
            5 => "<td class=\"h5",
            _ => "<td class=\"h6",
        }
    );
    put!(
        out,
        if cell.standing == Standing::First {
            " f"
        } else {
            ""
        }
    );
    // For ratios of cells the two or three digits that are shown are too few; in millionths.
    if share != 1.0 {
        put!(out, "\" data-x=\"");
        push_integer(out, (share * 1e6).round() as u64);
    }
    put!(out, "\">");
    push_share(out, share);
    put!(
        out,
        if cell.standing == Standing::Tied {
            "=</td>"
        } else {
            "</td>"
        }
    );
}

/// `0.76`, `0.066`, `1.00`.
pub(super) fn push_share(out: &mut String, share: f64) {
    push_rounded(out, share, if share < 0.095 { 3 } else { 2 });
}
