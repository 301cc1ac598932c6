//! The only way out: data to stdout, words to stderr.

use std::io::{self, Write};

use anstream::AutoStream;
use clap::ValueEnum;

use crate::exit::Exit;
use crate::failure::Failure;

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How wide and how colourful output may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of a line.
    pub columns: usize,
    /// Whether colour is used on stdout.
    pub color: bool,
}

/// Prints data and words.
#[derive(Debug)]
pub struct Printer {
    look: Look,
}

impl Printer {
    /// A printer of a certain look.
    pub fn new(look: Look) -> Self {
        Self { look }
    }

    /// Prints data to stdout. A line end is added when it is missing.
    ///
    /// # Errors
    /// [`Failure::reader_gone`] when the reader has closed the pipe, else what stdout says.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        let choice = match self.look.color {
            true => anstream::ColorChoice::Always,
            false => anstream::ColorChoice::Never,
        };
        // Looking for colours to leave out takes longer than making most texts.
        match text.contains('\u{1b}') {
            true => finish(write_lines(
                AutoStream::new(io::stdout().lock(), choice),
                text,
            )),
            false => finish(write_lines(io::stdout().lock(), text)),
        }
    }

    /// Prints a value as indented JSON.
    ///
    /// # Errors
    /// As [`Printer::data`].
    pub fn json<T: serde::Serialize + ?Sized>(&self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::new(Exit::Bug, format!("encode as JSON: {error}")))?;
        self.data(&text)
    }

    /// Writes bytes to stdout as they are.
    ///
    /// # Errors
    /// As [`Printer::data`].
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        finish(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// Prints words to stderr; a stderr that is gone is nobody's problem.
    pub fn words(&self, text: &str) {
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{}", text.trim_end_matches('\n'));
    }
}

/// Adds a line end when it is missing.
fn write_lines(mut out: impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn finish(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        Err(error) => Err(Failure::unmet(format!("write to standard output: {error}"))),
    }
}
