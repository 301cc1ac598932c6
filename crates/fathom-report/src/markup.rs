//! Escaped text for SVG and HTML.

use crate::clean;

/// Which bytes stand for themselves: printable ASCII without the five that mean something.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        plain[byte] = !matches!(byte as u8, b'&' | b'<' | b'>' | b'"' | b'\'');
        byte += 1;
    }
    plain
};

/// Appends a text as element content or in a quoted attribute; control characters, which XML
/// forbids, are replaced.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    if text.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        out.push_str(text);
        return;
    }
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => {
                let mut buffer = [0; 4];
                clean::push_line(out, c.encode_utf8(&mut buffer));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        push_escaped(&mut out, text);
        out
    }

    #[test]
    fn markup_of_others_stays_text() {
        assert_eq!(
            escaped("<b title=\"x\" id='y'>&\u{0}</b>"),
            "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}&lt;/b&gt;"
        );
        assert_eq!(escaped("2 x 120GB + LZO"), "2 x 120GB + LZO");
        assert_eq!(escaped("a\nb\u{ffff}"), "a b\u{fffd}");
    }
}
