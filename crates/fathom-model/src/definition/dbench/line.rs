use std::ffi::CStr;

use fathom_base::Nanos;

use crate::option::nearest;

/// Longest line, as the original reads them.
const LINE_LIMIT: usize = 1022;
/// Longest word of a line, likewise.
const WORD_LIMIT: usize = 99;
/// Most words of a line: more than any operation takes.
const WORDS: usize = 8;
/// Largest read or write.
pub const MAX_TRANSFER: i64 = 16 << 20;
/// Largest offset.
const MAX_OFFSET: i64 = 1 << 40;
/// Longest sleep in microseconds.
const MAX_SLEEP: i64 = 3_600_000_000;
/// What stands for the client's own name.
const CLIENT: &[u8] = b"client1";

/// An operation of a load file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the load file")]
pub enum LoadOp {
    NTCreateX,
    Close,
    Rename,
    Unlink,
    Deltree,
    Rmdir,
    Mkdir,
    QueryPath,
    QueryFile,
    QueryFs,
    SetFile,
    FindFirst,
    WriteX,
    ReadX,
    LockX,
    UnlockX,
    Flush,
    Sleep,
}

/// What an operation's words are, after its name and before its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    Path,
    Handle,
    /// Not looked at.
    Level,
    Offset,
    Length,
    Micros,
    /// Any whole number.
    Number,
}

use Argument::{Handle, Length, Level, Micros, Number, Offset, Path};

struct Row {
    op: LoadOp,
    /// In load files.
    name: &'static str,
    /// In the table the original prints (version 4.0 of Debian).
    short: &'static str,
    arguments: &'static [Argument],
}

const fn row(
    op: LoadOp,
    name: &'static str,
    short: &'static str,
    arguments: &'static [Argument],
) -> Row {
    Row {
        op,
        name,
        short,
        arguments,
    }
}

/// Every operation, in the order of [`LoadOp`].
const ROWS: [Row; LoadOp::COUNT] = [
    row(
        LoadOp::NTCreateX,
        "NTCreateX",
        "NTCreateX",
        &[Path, Number, Number, Handle],
    ),
    row(LoadOp::Close, "Close", "Close", &[Handle]),
    row(LoadOp::Rename, "Rename", "Rename", &[Path, Path]),
    row(LoadOp::Unlink, "Unlink", "Unlink", &[Path, Level]),
    row(LoadOp::Deltree, "Deltree", "Deltree", &[Path]),
    row(LoadOp::Rmdir, "Rmdir", "Rmdir", &[Path]),
    row(LoadOp::Mkdir, "Mkdir", "Mkdir", &[Path]),
    row(
        LoadOp::QueryPath,
        "QUERY_PATH_INFORMATION",
        "Qpathinfo",
        &[Path, Level],
    ),
    row(
        LoadOp::QueryFile,
        "QUERY_FILE_INFORMATION",
        "Qfileinfo",
        &[Handle, Level],
    ),
    row(LoadOp::QueryFs, "QUERY_FS_INFORMATION", "Qfsinfo", &[Level]),
    row(
        LoadOp::SetFile,
        "SET_FILE_INFORMATION",
        "Sfileinfo",
        &[Handle, Level],
    ),
    row(
        LoadOp::FindFirst,
        "FIND_FIRST",
        "Find",
        &[Path, Level, Number, Level],
    ),
    row(
        LoadOp::WriteX,
        "WriteX",
        "WriteX",
        &[Handle, Offset, Length, Length],
    ),
    row(
        LoadOp::ReadX,
        "ReadX",
        "ReadX",
        &[Handle, Offset, Length, Length],
    ),
    row(LoadOp::LockX, "LockX", "LockX", &[Handle, Offset, Offset]),
    row(
        LoadOp::UnlockX,
        "UnlockX",
        "UnlockX",
        &[Handle, Offset, Offset],
    ),
    row(LoadOp::Flush, "Flush", "Flush", &[Handle]),
    row(LoadOp::Sleep, "Sleep", "Sleep", &[Micros]),
];

/// What only version 5 of the original understands.
const FIVE: [&str; 5] = ["REPEAT", "LOOP", "ENDLOOP", "RANDOMSTRING", "RECALL"];

impl LoadOp {
    /// How many there are.
    pub const COUNT: usize = 18;
    /// Names as in load files, in order.
    pub const NAMES: &'static [&'static str] = &{
        let mut names = [""; Self::COUNT];
        let mut at = 0;
        while at < Self::COUNT {
            names[at] = ROWS[at].name;
            at += 1;
        }
        names
    };

    /// Place in [`LoadOp::NAMES`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name as in load files.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// By its name in a load file or in the table the original prints.
    pub fn by_name(name: &str) -> Option<Self> {
        let row = ROWS
            .iter()
            .find(|row| row.name == name || row.short == name);
        row.map(|row| row.op)
    }

    /// Whether it reads or writes data.
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::ReadX | Self::WriteX)
    }
}

/// A line that is an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadLine<'a> {
    /// When it is due after the start of a pass; zero when it is not paced.
    pub due: Nanos,
    /// What is done.
    pub op: LoadOp,
    /// The first path, relative; empty where the operation has none.
    pub path: &'a CStr,
    /// The second path of a rename.
    pub second: &'a CStr,
    /// Words that are numbers, in order, zero behind the last.
    pub numbers: [i64; 4],
    /// Whether it should succeed.
    pub succeeds: bool,
}

impl LoadLine<'_> {
    /// The handle an operation works on; `NTCreateX` has it last.
    pub fn handle(&self) -> i64 {
        match self.op {
            LoadOp::NTCreateX => self.numbers[2],
            _ => self.numbers[0],
        }
    }
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// What was found.
    pub found: String,
    /// What was expected, and what to do.
    pub expected: String,
}

fn problem(found: impl Into<String>, expected: impl Into<String>) -> LineProblem {
    LineProblem {
        found: found.into(),
        expected: expected.into(),
    }
}

/// Reads the lines of a load file for one client; its memory is used again for each line.
///
/// Lines are read anew in every pass, as the original does, so that a pass takes the same work.
#[derive(Clone, Debug)]
pub struct LineReader {
    /// What `client1` becomes.
    client: Vec<u8>,
    paths: [Vec<u8>; 2],
}

impl LineReader {
    /// For the client of a number.
    pub fn new(client: u32) -> Self {
        Self {
            client: format!("client{client}").into_bytes(),
            paths: [
                Vec::with_capacity(WORD_LIMIT),
                Vec::with_capacity(WORD_LIMIT),
            ],
        }
    }

    /// Reads a line without its line end; `None` for an empty line or a comment.
    ///
    /// # Errors
    /// [`LineProblem`]; never panics, whatever the bytes.
    pub fn read<'a>(&'a mut self, line: &[u8]) -> Result<Option<LoadLine<'a>>, LineProblem> {
        if line.len() > LINE_LIMIT {
            return Err(problem(
                format!("a line of {} bytes", line.len()),
                format!("{LINE_LIMIT} bytes at most"),
            ));
        }
        let mut words: [&[u8]; WORDS] = [b""; WORDS];
        let count = split(line, &mut words)?;
        let mut words = &words[..count];
        if words.first().is_none_or(|first| first.starts_with(b"#")) {
            return Ok(None);
        }
        let due = due(&mut words)?;
        let (Some((name, rest)), Some((status, _))) = (words.split_first(), words.split_last())
        else {
            return Err(problem(
                "a time without an operation",
                "TIME OPERATION ... STATUS",
            ));
        };
        let row = row_of(name)?;
        let succeeds = status_of(status)?;
        let given = rest.len().saturating_sub(1);
        if given != row.arguments.len() {
            return Err(problem(
                format!("{given} arguments of {}", row.name),
                format!("{}, then a status", form(row)),
            ));
        }
        for path in &mut self.paths {
            path.clear();
        }
        let (mut numbers, mut at, mut path_at) = ([0; 4], 0, 0);
        for (argument, word) in row.arguments.iter().zip(rest) {
            match argument {
                Path => {
                    self.set_path(path_at, word)?;
                    path_at += 1;
                }
                _ => {
                    numbers[at] = number(*argument, word)?;
                    let opens_nothing = row.op == LoadOp::NTCreateX && !succeeds;
                    if *argument == Handle && numbers[at] == 0 && !opens_nothing {
                        return Err(problem(
                            "\"0\" where a handle should be",
                            "a number from 1; 0 only where an open is to fail",
                        ));
                    }
                    at += 1;
                }
            }
        }
        for path in &mut self.paths {
            path.push(0);
        }
        Ok(Some(LoadLine {
            due,
            op: row.op,
            path: c_text(&self.paths[0]),
            second: c_text(&self.paths[1]),
            numbers,
            succeeds,
        }))
    }

    /// Makes a path relative, with slashes and the client's own name in it.
    fn set_path(&mut self, at: usize, word: &[u8]) -> Result<(), LineProblem> {
        let path = &mut self.paths[at];
        let mut rest = word;
        while let Some((byte, after)) = rest.split_first() {
            if rest.starts_with(CLIENT) {
                path.extend_from_slice(&self.client);
                rest = &rest[CLIENT.len()..];
                continue;
            }
            path.push(if *byte == b'\\' { b'/' } else { *byte });
            rest = after;
        }
        if path.first() != Some(&b'/') {
            return Err(problem(
                format!("the path {}", shown(word)),
                "a path that begins with \\ (\\clients\\client1\\...)",
            ));
        }
        let slashes = path.iter().take_while(|byte| **byte == b'/').count();
        path.drain(..slashes);
        if path.is_empty() {
            path.push(b'.');
        }
        if path.contains(&0) {
            return Err(problem("a zero byte in a path", "a name a file can have"));
        }
        if path.split(|byte| *byte == b'/').any(|part| part == b"..") {
            return Err(problem(
                format!("the path {}", shown(word)),
                "a path without .. (files stay below the working directory)",
            ));
        }
        Ok(())
    }
}

/// Splits a line at blanks; quotes hold a word together and are left out at its ends.
fn split<'a>(line: &'a [u8], words: &mut [&'a [u8]; WORDS]) -> Result<usize, LineProblem> {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let (mut rest, mut count) = (line, 0);
    loop {
        let start = rest.iter().position(|byte| !is_blank(byte));
        let Some(start) = start else { return Ok(count) };
        rest = &rest[start..];
        // Of a comment only that it is one is of interest.
        if count == 0 && rest.starts_with(b"#") {
            words[0] = rest;
            return Ok(1);
        }
        let (word, after) = match rest.strip_prefix(b"\"") {
            Some(quoted) => {
                let end = quoted.iter().position(|byte| *byte == b'"');
                let end = end.ok_or_else(|| {
                    problem(
                        format!("the quote that opens {}", shown(rest)),
                        "a second quote that closes it",
                    )
                })?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => rest.split_at(rest.iter().position(is_blank).unwrap_or(rest.len())),
        };
        if word.len() > WORD_LIMIT {
            return Err(problem(
                format!("a word of {} bytes", word.len()),
                format!("{WORD_LIMIT} bytes at most, as the original takes"),
            ));
        }
        let slot = words.get_mut(count).ok_or_else(|| {
            problem(
                format!("more than {WORDS} words"),
                "an operation, its arguments and a status",
            )
        })?;
        *slot = word;
        count += 1;
        rest = after;
    }
}

/// Takes the time off the front of a line that has one.
fn due(words: &mut &[&[u8]]) -> Result<Nanos, LineProblem> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(Nanos::default());
    };
    if !first.first().is_some_and(u8::is_ascii_digit) {
        return Ok(Nanos::default());
    }
    *words = rest;
    let seconds = std::str::from_utf8(first)
        .ok()
        .and_then(|text| text.parse::<f64>().ok());
    // A day is more than any trial takes.
    match seconds.filter(|seconds| (0.0..=86_400.0).contains(seconds)) {
        Some(seconds) => Ok(Nanos::from_secs_f64(seconds)),
        None => Err(problem(
            format!("the time {}", shown(first)),
            "seconds since the start of the pass, 0 to 86400",
        )),
    }
}

fn row_of(name: &[u8]) -> Result<&'static Row, LineProblem> {
    if let Some(row) = ROWS.iter().find(|row| row.name.as_bytes() == name) {
        return Ok(row);
    }
    let text = shown(name);
    let plain = String::from_utf8_lossy(name);
    if FIVE.contains(&plain.as_ref()) {
        return Err(problem(
            format!("{text}, which only dbench 5 knows"),
            "a load file of dbench 4.0",
        ));
    }
    if name.starts_with(b"SMB") {
        return Err(problem(
            format!("{text}: this is a load file of dbench 1"),
            "a load file of dbench 4.0",
        ));
    }
    let near = nearest(&plain, LoadOp::NAMES.iter().copied());
    let expected = match near {
        Some(near) => format!("an operation; did you mean {near}?"),
        None => format!("one of {}", LoadOp::NAMES.join(", ")),
    };
    Err(problem(format!("the operation {text}"), expected))
}

/// Whether an operation with this status should succeed.
fn status_of(word: &[u8]) -> Result<bool, LineProblem> {
    if word == b"NT_STATUS_OK" {
        return Ok(true);
    }
    if word.len() > 10 && word.starts_with(b"NT_STATUS_") {
        return Ok(false);
    }
    let hex = word.strip_prefix(b"0x").unwrap_or_default();
    let value = std::str::from_utf8(hex)
        .ok()
        .and_then(|hex| u32::from_str_radix(hex, 16).ok());
    value.map(|value| value == 0).ok_or_else(|| {
        problem(
            format!("{} where the status should be", shown(word)),
            "NT_STATUS_OK, another NT_STATUS_... or a number with 0x at the end of the line",
        )
    })
}

/// A whole number: decimal, with 0x hexadecimal, with 0 octal, as C reads them.
fn number(argument: Argument, word: &[u8]) -> Result<i64, LineProblem> {
    let (what, low, high) = match argument {
        // 0 is no file: Debian's load file has it where an open is to fail.
        Handle => ("a handle", 0, i64::from(i32::MAX)),
        Offset => ("an offset", 0, MAX_OFFSET),
        Length => ("a length", 0, MAX_TRANSFER),
        Micros => ("microseconds", 0, MAX_SLEEP),
        Level | Number | Path => ("a number", i64::from(i32::MIN), i64::from(u32::MAX)),
    };
    whole(word)
        .filter(|value| (low..=high).contains(value))
        .ok_or_else(|| {
            problem(
                format!("{} where {what} should be", shown(word)),
                format!("a whole number from {low} to {high}"),
            )
        })
}

fn whole(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let (radix, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        digits => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        value = value
            .checked_mul(i64::from(radix))?
            .checked_add(i64::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

/// How an operation is written.
fn form(row: &Row) -> String {
    let words = row.arguments.iter().map(|argument| match argument {
        Path => " PATH",
        Handle => " HANDLE",
        Level => " LEVEL",
        Offset => " OFFSET",
        Length => " LENGTH",
        Micros => " MICROSECONDS",
        Number => " NUMBER",
    });
    format!("{}{}", row.name, words.collect::<String>())
}

/// Bytes of a file somebody else made, fit for a message.
fn shown(bytes: &[u8]) -> String {
    const LIMIT: usize = 60;
    let cut = &bytes[..bytes.len().min(LIMIT)];
    let more = if bytes.len() > LIMIT { "..." } else { "" };
    format!("\"{}{more}\"", cut.escape_ascii())
}

fn c_text(bytes: &[u8]) -> &CStr {
    CStr::from_bytes_with_nul(bytes).unwrap_or(c"")
}
