//! The flat `Key: Value, Key: Value` strings of hardware and software.

use fathom_model::Field;

/// Hardware in the order PTS writes it.
pub(super) const HARDWARE: [&str; 9] = [
    "Processor",
    "Motherboard",
    "Chipset",
    "Memory",
    "Disk",
    "Graphics",
    "Audio",
    "Monitor",
    "Network",
];

/// Software in the order PTS writes it.
pub(super) const SOFTWARE: [&str; 14] = [
    "OS",
    "Kernel",
    "Desktop",
    "Display Server",
    "Display Driver",
    "OpenGL",
    "OpenCL",
    "OpenGL ES",
    "Vulkan",
    "Compiler",
    "File-System",
    "Screen Resolution",
    "System Layer",
    "Java",
];

/// Splits a flat string. A comma is a separator only where a key follows; everything else belongs
/// to the value before it, so that joining gives the string back.
pub(super) fn split(flat: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for part in flat.split(", ") {
        match (key_of(part), fields.last_mut()) {
            (Some((key, value)), _) => fields.push(Field::new(key, value)),
            (None, Some(last)) => {
                last.text.push_str(", ");
                last.text.push_str(part);
            }
            (None, None) if part.trim().is_empty() => {}
            (None, None) => fields.push(Field::new("", part)),
        }
    }
    fields
}

/// Joins fields to a flat string.
pub(super) fn join(fields: &[Field]) -> String {
    let parts: Vec<String> = fields
        .iter()
        .map(|field| match field.name.as_str() {
            "" => field.text.clone(),
            name => format!("{name}: {}", field.text),
        })
        .collect();
    parts.join(", ")
}

/// Key and value of a part that begins with a key.
fn key_of(part: &str) -> Option<(&str, &str)> {
    let (key, value) = part.split_once(':')?;
    let value = match value.strip_prefix(' ') {
        Some(value) => value,
        None if value.is_empty() => value,
        None => return None,
    };
    let is_known = HARDWARE.contains(&key) || SOFTWARE.contains(&key);
    (is_known || looks_like_key(key)).then_some((key, value))
}

/// One to three words, the first with a capital, no digits: `Screen Resolution`.
fn looks_like_key(key: &str) -> bool {
    key.len() <= 30
        && key.starts_with(|c: char| c.is_ascii_uppercase())
        && key.split(' ').count() <= 3
        && key
            .chars()
            .all(|c| c.is_ascii_alphabetic() || " -/".contains(c))
}
