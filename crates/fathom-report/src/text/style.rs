//! Colour on terminals.

use fathom_model::Level;

/// Puts escape sequences around texts, or not.
#[derive(Clone, Copy)]
pub(super) struct Style {
    color: bool,
}

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// A heading.
    Strong,
    /// Less important.
    Faint,
    /// Good.
    Good,
    /// Needs attention.
    Warning,
    /// Bad.
    Bad,
    /// As it comes.
    Plain,
}

impl Tone {
    /// The tone of a verdict.
    pub fn of(level: Level) -> Self {
        match level {
            Level::Unjudged => Self::Faint,
            Level::Valid => Self::Good,
            Level::Suspect => Self::Warning,
            Level::Invalid => Self::Bad,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Warning => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
            Self::Plain => "",
        }
    }
}

impl Style {
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    /// Appends what `write` writes in a tone.
    pub fn push(self, out: &mut String, tone: Tone, write: impl FnOnce(&mut String)) {
        if !self.color || tone == Tone::Plain {
            write(out);
            return;
        }
        out.push_str(tone.code());
        write(out);
        out.push_str("\u{1b}[0m");
    }

    /// Appends a text in a tone.
    pub fn push_str(self, out: &mut String, tone: Tone, text: &str) {
        self.push(out, tone, |out| out.push_str(text));
    }
}
