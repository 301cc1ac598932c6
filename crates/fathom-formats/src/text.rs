//! Small helpers for text.

use std::borrow::Cow;

/// The bytes without a UTF-8 byte order mark.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// At most so many bytes, cut at a character, with dots where something is missing.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// A name for machines: lower-case letters, digits and single dashes; `Files/s` is
/// `files-per-s`.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.replace('/', " per ").replace('%', " percent ").chars() {
        match c {
            c if c.is_alphanumeric() => slug.extend(c.to_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The text of a file, and what had to be done to read it: UTF-8, UTF-16 with a byte order mark,
/// or, where it is neither, Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<&'static str>) {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        (Cow::Owned(text), None)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        bytes => match std::str::from_utf8(without_bom(bytes)) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(_) => {
                let text: String = bytes.iter().map(|&b| char::from(b)).collect();
                (Cow::Owned(text), Some("not UTF-8; read as Latin-1"))
            }
        },
    }
}

/// Control characters are never part of a result and would reach somebody's terminal: all but line
/// ends and tabs are left out.
pub(crate) fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    // C2 begins the control characters beyond ASCII.
    let may_hold = |b: u8| b < 0x20 && b != b'\n' && b != b'\t' || b == 0x7f || b == 0xc2;
    match text.bytes().any(may_hold) && text.contains(is_control) {
        true => text
            .chars()
            .filter(|c| !is_control(*c))
            .collect::<String>()
            .into(),
        false => text,
    }
}

/// The text without terminal colours and other control characters; carriage returns become line
/// ends.
pub(crate) fn without_ansi(text: &str) -> Cow<'_, str> {
    if !text
        .bytes()
        .any(|b| b < 0x20 && b != b'\n' && b != b'\t' || b == 0x7f || b == 0xc2)
    {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(escape) = rest.find('\u{1b}') {
        plain.push_str(&rest[..escape]);
        rest = &rest[escape + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| ('@'..='~').contains(&c));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
    }
    plain.push_str(rest);
    let lines = plain.replace("\r\n", "\n").replace('\r', "\n");
    Cow::Owned(clean(lines.into()).into_owned())
}
