//! What the JSON formats share: places of errors, and finding JSON among other text.

mod ordered;

pub(crate) use ordered::Ordered;

use crate::{Format, FormatError, Place};

/// Turns an error of `serde_json` into ours, with the path of the value it is about.
pub(crate) fn syntax(format: Format, bytes: &[u8], error: &serde_json::Error) -> FormatError {
    let offset = offset_of(bytes, error.line(), error.column());
    let place = Place {
        line: error.line(),
        column: error.column(),
        path: path_at(bytes, offset),
    };
    let text = error.to_string();
    let what = match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    };
    FormatError::Syntax {
        format,
        place,
        what,
    }
}

fn offset_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let mut start = 0;
    for _ in 1..line {
        match bytes[start..].iter().position(|&b| b == b'\n') {
            Some(at) => start += at + 1,
            None => break,
        }
    }
    (start + column).min(bytes.len())
}

enum Step {
    Key { from: usize, to: usize },
    Index(usize),
}

/// The path of the value that ends at or contains `offset`: `results[3].entries[0].value`.
pub(crate) fn path_at(bytes: &[u8], offset: usize) -> String {
    let mut stack: Vec<Step> = Vec::new();
    let mut at = 0;
    let mut last_string = (0, 0);
    let end = offset.min(bytes.len());
    while at < end {
        match bytes[at] {
            b'"' => {
                let close = string_end(bytes, at);
                last_string = (at + 1, close.min(bytes.len()));
                at = close;
            }
            b':' => {
                if let Some(Step::Key { from, to }) = stack.last_mut() {
                    (*from, *to) = last_string;
                }
            }
            b'{' => stack.push(Step::Key { from: 0, to: 0 }),
            b'[' => stack.push(Step::Index(0)),
            b',' => {
                if let Some(Step::Index(index)) = stack.last_mut() {
                    *index += 1;
                }
            }
            // The bracket at which the error was noticed belongs to the value it closes.
            b'}' | b']' if at + 1 < end => {
                stack.pop();
            }
            _ => {}
        }
        at += 1;
    }
    write_path(bytes, &stack)
}

/// The index of the closing quote of the string that opens at `open`, or the end.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

fn write_path(bytes: &[u8], stack: &[Step]) -> String {
    const SHOWN: usize = 12;
    let mut path = String::new();
    for step in stack.iter().take(SHOWN) {
        match step {
            Step::Key { from, to } if from < to => {
                let key = String::from_utf8_lossy(&bytes[*from..(*to).min(from + 60)]);
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key);
            }
            Step::Key { .. } => {}
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    if stack.len() > SHOWN {
        path.push_str("...");
    }
    path
}

/// Objects a file may hold besides one in [`BYTES_PER_OBJECT`] bytes.
const FREE_OBJECTS: usize = 10_000;
/// Real files have one object in sixty bytes or more, and the smallest entry that is written has two
/// in 53; bounds memory by the file's size.
const BYTES_PER_OBJECT: usize = 20;

/// Refuses files that would take far more memory than they have bytes.
pub(crate) fn check_objects(bytes: &[u8]) -> Result<(), FormatError> {
    let objects = bytes.iter().filter(|&&byte| byte == b'{').count();
    let limit = FREE_OBJECTS + bytes.len() / BYTES_PER_OBJECT;
    match objects > limit {
        true => Err(FormatError::Limit {
            what: "number of JSON objects in a file of this size",
            found: objects as u64,
            limit: limit as u64,
        }),
        false => Ok(()),
    }
}
