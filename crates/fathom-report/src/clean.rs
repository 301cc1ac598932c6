//! Texts of others before they reach a terminal or a page.

/// Appends a text on one line, without what could steer a terminal or turn the reading direction:
/// control characters and bidirectional overrides become U+FFFD, line breaks and tabs a space.
pub(crate) fn push_line(out: &mut String, text: &str) {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        out.push_str(text);
        return;
    }
    out.extend(text.chars().map(|c| match c {
        '\n' | '\r' | '\t' => ' ',
        c => harmless(c),
    }));
}

/// As [`push_line`], keeping line breaks and tabs.
pub(crate) fn push_text(out: &mut String, text: &str) {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        out.push_str(text);
        return;
    }
    out.extend(text.chars().map(|c| match c {
        '\n' | '\t' => c,
        c => harmless(c),
    }));
}

/// As [`push_line`], as a text of its own.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_line(&mut out, text);
    out
}

fn harmless(c: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(
            line("a\u{1b}[31mb\u{7}\n\u{9b}x"),
            "a\u{fffd}[31mb\u{fffd} \u{fffd}x"
        );
        assert_eq!(line("RAID \u{202e}0"), "RAID \u{fffd}0");
        assert_eq!(line("Größe 測 é"), "Größe 測 é");
        let mut out = String::new();
        push_text(&mut out, "a\nb\tc\r");
        assert_eq!(out, "a\nb\tc\u{fffd}");
    }
}
