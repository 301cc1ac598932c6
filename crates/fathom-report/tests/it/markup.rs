//! Is a page sound? A strict reader of the HTML this crate writes.

use std::collections::HashSet;

const VOID: [&str; 2] = ["meta", "input"];

/// What a page holds.
#[derive(Default)]
pub struct Page {
    /// Text outside style and script.
    pub text: String,
    /// Values of all `id` attributes.
    pub ids: HashSet<String>,
    /// Element names with their attributes, in order.
    pub elements: Vec<(String, Vec<(String, String)>)>,
}

/// Panics unless every element is closed in order, every attribute is quoted, ids are unique,
/// references lead somewhere, and nothing outside is named.
#[track_caller]
pub fn assert_sound(html: &str) -> Page {
    let mut page = Page::default();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html
        .strip_prefix("<!DOCTYPE html>")
        .expect("a document type");
    while let Some(at) = rest.find('<') {
        page.text.push_str(&rest[..at]);
        page.text.push(' ');
        let end = at + rest[at..].find('>').expect("a closed tag");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closing order");
            continue;
        }
        let is_closed = tag.ends_with('/');
        let (name, attributes) = element(tag.trim_end_matches('/'));
        if name == "style" || name == "script" {
            let close = format!("</{name}>");
            let length = rest.find(&close).expect("a closed element");
            assert!(!rest[..length].contains("://") || name == "script");
            rest = &rest[length + close.len()..];
        } else if !is_closed && !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        for (key, value) in &attributes {
            assert!(
                !value.contains("://") && !value.contains("javascript:"),
                "{key}={value}"
            );
            assert!(
                !key.starts_with("on") && key != "style" && key != "src",
                "{key}"
            );
            if key == "id" {
                assert!(page.ids.insert(value.clone()), "id {value} twice");
            }
        }
        page.elements.push((name, attributes));
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    assert_references(&page);
    page
}

fn assert_references(page: &Page) {
    for (name, attributes) in &page.elements {
        for (key, value) in attributes {
            let targets: Vec<&str> = match key.as_str() {
                "href" => vec![value.strip_prefix('#').expect("a link within the page")],
                "aria-labelledby" => value.split(' ').collect(),
                "data-r" => vec![value.as_str()],
                _ => continue,
            };
            for target in targets {
                assert!(
                    page.ids.contains(target),
                    "{name} {key} leads nowhere: {target}"
                );
            }
        }
    }
}

fn element(tag: &str) -> (String, Vec<(String, String)>) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(
        name.chars().all(|c| c.is_ascii_alphanumeric()),
        "element {name}"
    );
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return (name.to_owned(), attributes);
        }
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        if !rest[end..].starts_with('=') {
            attributes.push((key, String::new()));
            rest = &rest[end..];
            continue;
        }
        let quoted = rest[end + 1..]
            .strip_prefix('"')
            .expect("a quoted attribute");
        let (value, after) = quoted.split_once('"').expect("a closed quote");
        attributes.push((key, value.to_owned()));
        rest = after;
    }
}

impl Page {
    /// How many elements of a name carry an attribute of a value.
    pub fn count(&self, name: &str, key: &str, value: &str) -> usize {
        let has = |attributes: &[(String, String)]| {
            attributes.iter().any(|(k, v)| k == key && v == value)
        };
        self.elements
            .iter()
            .filter(|(n, attributes)| n == name && has(attributes))
            .count()
    }
}
