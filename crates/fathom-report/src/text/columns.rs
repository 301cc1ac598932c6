//! Columns of a terminal: widths of characters, padding, cutting, wrapping.

use unicode_width::UnicodeWidthChar;

/// Columns a text takes.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Appends `count` times a character.
pub(super) fn push_repeated(out: &mut String, c: char, count: usize) {
    out.extend(std::iter::repeat_n(c, count));
}

/// Appends a text, then blanks up to `columns`.
pub(super) fn push_left(out: &mut String, text: &str, columns: usize) {
    out.push_str(text);
    push_repeated(out, ' ', columns.saturating_sub(width(text)));
}

/// Appends blanks, then a text, `columns` together.
pub(super) fn push_right(out: &mut String, text: &str, columns: usize) {
    push_repeated(out, ' ', columns.saturating_sub(width(text)));
    out.push_str(text);
}

/// A text in at most `columns`: cut in the middle, since names differ at both ends.
pub(crate) fn fit(text: &str, columns: usize) -> std::borrow::Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let room = columns.saturating_sub(1);
    let tail_room = room / 2;
    let mut head = String::with_capacity(columns * 4);
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room - tail_room {
            break;
        }
        head.push(c);
    }
    let mut tail_start = text.len();
    let mut used = 0;
    for (place, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > tail_room {
            break;
        }
        tail_start = place;
    }
    head.push('…');
    head.push_str(&text[tail_start..]);
    head.into()
}

/// Appends a text in lines of at most `columns`, the following ones indented by `indent`; the
/// first one starts at column `start`. Ends without a line break.
pub(super) fn push_wrapped(
    out: &mut String,
    text: &str,
    start: usize,
    indent: usize,
    columns: usize,
) {
    let mut at = start;
    let mut is_first = true;
    for word in text.split_whitespace() {
        let mut word = word;
        let mut needed = width(word);
        if !is_first && at + 1 + needed > columns && at > indent {
            out.push('\n');
            push_repeated(out, ' ', indent);
            at = indent;
        } else if !is_first {
            out.push(' ');
            at += 1;
        }
        // A word longer than a line is broken; a line holds at least ten columns of it.
        let line = columns.saturating_sub(indent).max(10);
        while needed > line && at + needed > columns {
            let room = columns.saturating_sub(at).max(10);
            let cut = place_of_column(word, room);
            out.push_str(&word[..cut]);
            out.push('\n');
            push_repeated(out, ' ', indent);
            at = indent;
            word = &word[cut..];
            needed = width(word);
        }
        out.push_str(word);
        at += needed;
        is_first = false;
    }
}

/// Where a text reaches `columns`, at least one character on.
fn place_of_column(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (place, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns && place > 0 {
            return place;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_count_columns_not_bytes() {
        for (text, columns) in [("Disk", 4), ("Größe", 5), ("測定", 4), ("e\u{301}", 1)] {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(
            fit("2 x 120GB Force MP500 EXT4 RAID0", 20),
            "2 x 120GB …XT4 RAID0"
        );
        assert_eq!(fit("short", 20), "short");
        let cut = fit("測定測定測定測定", 9);
        assert_eq!((cut.as_ref(), width(&cut)), ("測定…測定", 9));
        assert_eq!(width(&fit(&"x".repeat(2000), 30)), 30);
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "…");
    }

    #[test]
    fn long_texts_wrap_with_a_hanging_indent() {
        let mut out = String::new();
        push_wrapped(&mut out, "one two three four five", 0, 2, 10);
        assert_eq!(out, "one two\n  three\n  four\n  five");
        out.clear();
        push_wrapped(&mut out, &"x".repeat(25), 0, 2, 12);
        assert_eq!(
            out,
            format!(
                "{}\n  {}\n  {}",
                "x".repeat(12),
                "x".repeat(10),
                "x".repeat(3)
            )
        );
        assert!(out.lines().all(|line| line.len() <= 12));
        out.clear();
        push_wrapped(&mut out, "", 0, 2, 10);
        assert_eq!(out, "");
    }
}
