//! What else the file says: notes on systems, gaps, and what could not be read.

use super::Page;
use super::put::{Text, put};
use crate::reading::reading_text;

pub(super) fn push(out: &mut String, page: &Page<'_>) {
    push_absent(out, page);
    push_system_notes(out, page);
    push_warnings(out, page);
}

fn push_absent(out: &mut String, page: &Page<'_>) {
    let absent = &page.view.absent;
    if absent.is_empty() {
        return;
    }
    put!(
        out,
        "<h2 id=\"absent\">Not measured</h2><ul class=\"reasons\">"
    );
    for absent in absent {
        put!(out, "<li class=\"failed\"><b>", Text(absent.label), "</b>");
        if page.view.systems.len() > 1 {
            put!(out, " on ", Text(absent.system));
        }
        put!(out, ": ", Text(absent.reason), "</li>");
    }
    put!(out, "</ul>\n");
}

/// Texts of a section, each with the systems that have it.
type Texts<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Notes by section, as the Phoronix Test Suite groups them: one line when all systems share a
/// text, the systems named when only some have it.
fn push_system_notes(out: &mut String, page: &Page<'_>) {
    let systems = &page.view.file.systems;
    let mut sections: Vec<(&str, Texts<'_>)> = Vec::new();
    for system in systems {
        for note in system.notes.iter().filter(|note| !note.text.is_empty()) {
            let place = match sections.iter().position(|(name, _)| *name == note.name) {
                Some(place) => place,
                None => {
                    sections.push((&note.name, Vec::new()));
                    sections.len() - 1
                }
            };
            let texts = &mut sections[place].1;
            match texts.iter_mut().find(|(text, _)| *text == note.text) {
                Some((_, names)) => names.push(&system.identifier),
                None => texts.push((&note.text, vec![&system.identifier])),
            }
        }
    }
    if sections.is_empty() {
        return;
    }
    put!(out, "<h2 id=\"notes\">Notes</h2>");
    for (name, texts) in &sections {
        put!(out, "<h3>", Text(name), "</h3><ul class=\"reasons\">");
        for (text, names) in texts {
            put!(out, "<li>");
            if names.len() < systems.len() {
                put!(out, Text(&names.join(", ")), ": ");
            }
            put!(out, Text(text), "</li>");
        }
        put!(out, "</ul>\n");
    }
}

fn push_warnings(out: &mut String, page: &Page<'_>) {
    let Some(origin) = page.view.file.origin.as_deref() else {
        return;
    };
    if let Some(address) = &origin.address {
        put!(out, "<p class=\"sub\">Published as ", Text(address), "</p>");
    }
    if let Some(text) = reading_text(page.view.file) {
        put!(out, "<p class=\"sub\">", Text(&text), ".</p>");
    }
    if origin.warnings.is_empty() {
        return;
    }
    put!(
        out,
        "<h2 id=\"warnings\">What could not be read</h2><ul class=\"reasons\">"
    );
    for warning in &origin.warnings {
        put!(out, "<li>");
        if !warning.place.is_empty() {
            put!(out, Text(&warning.place), ": ");
        }
        put!(out, Text(&warning.text), "</li>");
    }
    put!(out, "</ul>\n");
}
