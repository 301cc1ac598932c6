//! Finds the JSON documents among whatever else stands in a file.

use serde_json::Value;

use crate::json::syntax;
use crate::{Format, FormatError};

/// Objects that are tried and turn out to be something else.
const MAX_ATTEMPTS: usize = 200;

/// The documents of fio in a file, with the lines that are not part of them.
pub(super) struct Found {
    pub documents: Vec<Value>,
    pub messages: Vec<String>,
}

/// fio writes its errors into the same file, before, between and inside the documents: such lines
/// begin with a letter, which no line of its JSON does.
pub(super) fn documents(bytes: &[u8]) -> Result<Found, FormatError> {
    let mut clean = bytes.to_vec();
    let mut messages = Vec::new();
    let mut line_start = 0;
    for at in 0..=bytes.len() {
        if at < bytes.len() && bytes[at] != b'\n' {
            continue;
        }
        let line = &bytes[line_start..at];
        if is_message(line) {
            messages.push(crate::text::without_ansi(&String::from_utf8_lossy(line)).into_owned());
            clean[line_start..at].fill(b' ');
        }
        line_start = at + 1;
    }
    Ok(Found {
        documents: parse(&clean)?,
        messages,
    })
}

fn is_message(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let is_literal = [&b"true"[..], b"false", b"null"]
        .iter()
        .any(|l| text.starts_with(l));
    text.first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'<')
        && !is_literal
}

fn parse(clean: &[u8]) -> Result<Vec<Value>, FormatError> {
    let mut documents = Vec::new();
    let mut at = 0;
    let mut attempts = 0;
    while let Some(open) = clean[at..].iter().position(|&b| b == b'{') {
        let start = at + open;
        let mut stream = serde_json::Deserializer::from_slice(&clean[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                if is_document(&value) {
                    documents.push(value);
                }
            }
            Some(Err(error)) if looks_like_document(&clean[start..]) => {
                return Err(syntax(Format::FioJson, &clean[start..], &error).moved(clean, start));
            }
            _ => at = start + 1,
        }
        attempts += 1;
        if attempts > MAX_ATTEMPTS + documents.len() {
            break;
        }
    }
    Ok(documents)
}

fn is_document(value: &Value) -> bool {
    value.get("jobs").is_some_and(Value::is_array)
        || value.get("client_stats").is_some_and(Value::is_array)
}

fn looks_like_document(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(200)];
    [&b"\"fio version\""[..], b"\"jobs\"", b"\"client_stats\""]
        .iter()
        .any(|key| head.windows(key.len()).any(|window| window == *key))
}
