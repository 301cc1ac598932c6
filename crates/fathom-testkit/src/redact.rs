/// Replaces what differs from one machine and run to the next, so that a text can be compared.
///
/// ```
/// use fathom_testkit::Redactor;
///
/// let redactor = Redactor::new().replace("/tmp/x1", "[TARGET]");
/// assert_eq!(
///     redactor.redact("/tmp/x1 at 2026-11-30 18:45:12, run 20261130-184512-4f1c9a3e"),
///     "[TARGET] at [DATE] [TIME], run [RUN]"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    replacements: Vec<(String, String)>,
}

/// Shapes that are replaced everywhere: `9` stands for a digit, `X` for a hexadecimal one.
const SHAPES: [(&str, &str); 5] = [
    ("99999999-999999-XXXXXXXX", "[RUN]"),
    ("9999-99-99", "[DATE]"),
    ("99:99:99.999", "[TIME]"),
    ("99:99:99", "[TIME]"),
    (".fathom-XXXXXXXX", "[SCRATCH]"),
];

impl Redactor {
    /// Dates, times, run ids and scratch directories.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also this text: a path, a version, a host name. Longer ones first where one holds another.
    #[must_use]
    pub fn replace(mut self, text: impl Into<String>, by: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.replacements.push((text, by.into()));
        }
        self
    }

    /// Also the name of this machine.
    #[must_use]
    pub fn host(self) -> Self {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        self.replace(name.trim(), "[HOST]")
    }

    /// The text with everything replaced.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, by) in &self.replacements {
            text = text.replace(from, by);
        }
        for (shape, by) in SHAPES {
            text = replace_shape(&text, shape, by);
        }
        text
    }
}

fn replace_shape(text: &str, shape: &str, by: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut from = 0;
    let mut at = 0;
    while at + shape.len() <= bytes.len() {
        // A longer number is something else.
        let begins = at == 0 || !bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'T';
        let ends = bytes
            .get(at + shape.len())
            .is_none_or(|next| !next.is_ascii_alphanumeric() || *next == b'T' || *next == b'Z');
        if begins && ends && fits(&bytes[at..at + shape.len()], shape) {
            out.push_str(&text[from..at]);
            out.push_str(by);
            at += shape.len();
            from = at;
        } else {
            at += 1;
        }
    }
    out.push_str(&text[from..]);
    out
}

fn fits(bytes: &[u8], shape: &str) -> bool {
    bytes
        .iter()
        .zip(shape.bytes())
        .all(|(byte, shape)| match shape {
            b'9' => byte.is_ascii_digit(),
            b'X' => byte.is_ascii_hexdigit(),
            exact => *byte == exact,
        })
}
