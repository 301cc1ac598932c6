//! Cuts what a server sends into messages, without copying them.

use std::io::{self, Read};

use postgres_protocol::message::backend::Header;

/// Most a message may hold; what claims more is not PostgreSQL.
const LONGEST: usize = 64 << 20;
/// Every first byte a server may send.
const TAGS: &[u8] = b"123ACDEGHIKNRSTVWZcdnstv";
const ROOM: usize = 16 << 10;

/// Bytes received and not yet taken.
#[derive(Debug)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// A message: its kind and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Kind.
    pub(crate) tag: u8,
    /// Content, without tag and length.
    pub(crate) body: &'a [u8],
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; ROOM],
            start: 0,
            end: 0,
        }
    }

    /// Reads once; 0 is the end of the stream.
    pub(crate) fn fill(&mut self, mut source: impl Read) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        let read = source.read(&mut self.bytes[self.end..])?;
        self.end += read;
        Ok(read)
    }

    /// Whether a whole message is here; an error describes what cannot be one.
    pub(crate) fn has_message(&self) -> Result<bool, String> {
        Ok(self.length()?.is_some())
    }

    /// The next message, if all of it is here; an error describes what cannot be one.
    pub(crate) fn next(&mut self) -> Result<Option<Message<'_>>, String> {
        let Some(total) = self.length()? else {
            return Ok(None);
        };
        let from = self.start;
        self.start += total;
        let whole = &self.bytes[from..from + total];
        Ok(Some(Message {
            tag: whole[0],
            body: &whole[5..],
        }))
    }

    /// Bytes of the next message with its header, if all of it is here.
    fn length(&self) -> Result<Option<usize>, String> {
        let here = &self.bytes[self.start..self.end];
        let begin = || format!("\"{}\"", here[..here.len().min(16)].escape_ascii());
        if here.first().is_some_and(|tag| !TAGS.contains(tag)) {
            return Err(begin());
        }
        let header = Header::parse(here).map_err(|_| begin())?;
        let Some(header) = header else {
            return Ok(None);
        };
        let length = usize::try_from(header.len()).unwrap_or(0);
        if !(4..=LONGEST).contains(&length) {
            return Err(begin());
        }
        Ok(Some(length + 1).filter(|total| here.len() >= *total))
    }
}

/// What a server says of a failed request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// SQLSTATE.
    pub(crate) code: String,
    /// Its words, with the detail.
    pub(crate) message: String,
}

impl ServerError {
    /// Reads an `ErrorResponse`; what is missing stays empty.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut error = Self::default();
        for field in body.split(|byte| *byte == 0) {
            let Some((kind, text)) = field.split_first() else {
                continue;
            };
            let text = String::from_utf8_lossy(text);
            match kind {
                b'C' => error.code = text.into_owned(),
                b'M' => error.message = text.into_owned(),
                b'D' => error.message = format!("{}: {text}", error.message),
                _ => {}
            }
        }
        error
    }

    /// Whether the same work may succeed when done again.
    pub(crate) fn asks_for_retry(&self) -> bool {
        matches!(self.code.as_str(), "40001" | "40P01")
    }
}
