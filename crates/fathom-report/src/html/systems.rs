//! What was compared, and under which conditions.

use fathom_model::System;

use super::Page;
use super::put::{Markup, Text, put};
use crate::grouping::Paint;
use crate::svg::{push_bar_class, push_line_class};
use crate::text::target_text;
use crate::view::Differing;

/// Longest text of a condition that gets a column, in bytes.
const LONGEST_CELL: usize = 160;
/// From so many systems on they are rows of the table of conditions instead of columns.
const SYSTEMS_AS_ROWS: usize = 5;

pub(super) fn push(out: &mut String, page: &Page<'_>) {
    let view = &page.view;
    if view.systems.is_empty() {
        return;
    }
    let heading = match view.systems.len() {
        1 => "What was measured",
        _ => "What was compared",
    };
    put!(
        out,
        "<h2 id=\"systems\">",
        heading,
        "</h2><ul class=\"systems\">"
    );
    for (place, system) in view.systems.iter().enumerate() {
        put!(out, "<li data-k=\"", place, "\">");
        push_swatch(out, system.paint);
        put!(out, Text(system.name), "</li>");
    }
    put!(out, "</ul>\n");
    for system in view.systems.iter().filter_map(|system| system.system) {
        if let Some(target) = &system.target {
            let name = if view.systems.len() > 1 {
                &system.identifier
            } else {
                "Target"
            };
            put!(
                out,
                "<p class=\"sub\">",
                Text(name),
                ": ",
                Text(&target_text(target)),
                "</p>"
            );
        }
        if !system.remark.trim().is_empty() {
            put!(
                out,
                "<p>",
                Text(&system.identifier),
                ": ",
                Text(&system.remark),
                "</p>"
            );
        }
    }
    push_differing(out, page);
    push_common(out, page);
}

/// A piece of the bar and of the curve of a system.
fn push_swatch(out: &mut String, paint: Paint) {
    let mut bar = String::new();
    push_bar_class(&mut bar, paint);
    let mut line = "l ".to_owned();
    push_line_class(&mut line, paint);
    put!(
        out,
        "<svg class=\"chart sw\" aria-hidden=\"true\"><rect class=\"",
        Markup(&bar),
        "\" x=\"1\" y=\"1\" width=\"9\" height=\"10\"/><line class=\"",
        Markup(&line),
        "\" x1=\"12\" x2=\"22\" y1=\"6\" y2=\"6\"/></svg>"
    );
}

fn push_differing(out: &mut String, page: &Page<'_>) {
    let view = &page.view;
    let rows = &view.conditions.differing;
    let systems = &view.file.systems;
    if systems.len() < 2 {
        return;
    }
    if rows.is_empty() {
        put!(
            out,
            "<p>No known condition differs between the systems.</p>"
        );
        return;
    }
    put!(out, "<h3>Conditions that differ</h3>");
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Conditions that differ\"><table>"
    );
    let cell = |out: &mut String, value: &Option<String>| match value {
        Some(value) => put!(out, "<td class=\"t\">", Text(value), "</td>"),
        None => put!(out, "<td class=\"t\">not known</td>"),
    };
    let is_row_each = systems.len() >= SYSTEMS_AS_ROWS;
    let (rows, long): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| !is_row_each || !stands_in_notes(row, systems));
    if is_row_each {
        put!(out, "<thead><tr><th scope=\"col\">System</th>");
        for row in &rows {
            put!(out, "<th scope=\"col\">", Text(&row.name), "</th>");
        }
        put!(out, "</tr></thead><tbody>");
        for (place, system) in systems.iter().enumerate() {
            put!(
                out,
                "<tr data-s=\"",
                place,
                "\"><th scope=\"row\">",
                Text(&system.identifier),
                "</th>"
            );
            for row in &rows {
                cell(out, &row.values[place]);
            }
            put!(out, "</tr>");
        }
    } else {
        put!(out, "<thead><tr><td></td>");
        for system in systems {
            put!(out, "<th scope=\"col\">", Text(&system.identifier), "</th>");
        }
        put!(out, "</tr></thead><tbody>");
        for row in &rows {
            put!(out, "<tr><th scope=\"row\">", Text(&row.name), "</th>");
            for value in &row.values {
                cell(out, value);
            }
            put!(out, "</tr>");
        }
    }
    put!(out, "</tbody></table></div>\n");
    if !long.is_empty() {
        let names: Vec<&str> = long.iter().map(|row| row.name.as_str()).collect();
        put!(
            out,
            "<p class=\"sub\">Also different, in the <a href=\"#notes\">notes</a>: ",
            Text(&names.join(", ")),
            ".</p>"
        );
    }
}

/// Whether a condition is too long for a column and can be read among the notes.
fn stands_in_notes(row: &Differing, systems: &[System]) -> bool {
    let is_long = |value: &Option<String>| value.as_ref().is_some_and(|v| v.len() > LONGEST_CELL);
    let mut notes = systems.iter().flat_map(|system| &system.notes);
    row.values.iter().any(is_long) && notes.any(|note| note.name == row.name)
}

fn push_common(out: &mut String, page: &Page<'_>) {
    let common = &page.view.conditions.common;
    if common.is_empty() {
        return;
    }
    let several = page.view.file.systems.len() > 1;
    if several {
        put!(
            out,
            "<details class=\"same\"><summary>",
            common.len(),
            " conditions are the same for all</summary>"
        );
    }
    put!(out, "<dl class=\"facts\">");
    for condition in common {
        put!(
            out,
            "<dt>",
            Text(&condition.name),
            "</dt><dd>",
            Text(&condition.value),
            "</dd>"
        );
    }
    put!(out, "</dl>");
    if several {
        put!(out, "</details>");
    }
    put!(out, "\n");
}
