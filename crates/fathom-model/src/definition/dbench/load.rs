use std::collections::BTreeMap;

use super::line::{LineProblem, LineReader, LoadLine, LoadOp};

/// Largest load file.
pub const LOAD_LIMIT: u64 = 256 << 20;
/// Handles a client can have open at a time, as the original.
pub const MAX_HANDLES: usize = 200;

/// A load file that was read through: every line is good, every handle is opened before it is used
/// and closed after.
#[derive(Clone, Debug)]
pub struct LoadFile {
    text: Vec<u8>,
    facts: LoadFacts,
}

/// What is in a load file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadFacts {
    /// Lines, comments among them.
    pub lines: u64,
    /// Operations by [`LoadOp::index`].
    pub counts: [u64; LoadOp::COUNT],
    /// Bytes that are read in a pass.
    pub read_bytes: u64,
    /// Bytes that are written in a pass.
    pub written_bytes: u64,
    /// Largest read or write.
    pub largest_transfer: u64,
    /// Most handles open at a time.
    pub most_handles: usize,
    /// Most bytes in files at a time, in whole blocks of 4 KiB.
    pub space_bytes: u64,
    /// Most files and directories at a time.
    pub most_files: u64,
}

/// A load file that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("load file {file}:{line}: {found}; expected {expected}")]
pub struct LoadError {
    /// The file as it was named.
    pub file: String,
    /// From 1; 0 when it is the file as a whole.
    pub line: u64,
    /// What was found.
    pub found: String,
    /// What was expected, and what to do.
    pub expected: String,
}

impl LoadFile {
    /// Reads a load file through.
    ///
    /// # Errors
    /// [`LoadError`] that names the line; never panics, whatever the bytes.
    pub fn parse(file: &str, text: Vec<u8>) -> Result<Self, LoadError> {
        let mut check = Check::default();
        let mut reader = LineReader::new(1);
        let mut number = 0;
        for line in lines(&text) {
            number += 1;
            let seen = reader.read(line).and_then(|line| match line {
                Some(line) => check.operation(number, &line),
                None => Ok(()),
            });
            seen.map_err(|problem| error(file, number, problem))?;
        }
        check
            .end(number)
            .map_err(|(line, problem)| error(file, line, problem))?;
        let mut facts = check.facts;
        facts.lines = number;
        Ok(Self { text, facts })
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What is in it.
    pub fn facts(&self) -> &LoadFacts {
        &self.facts
    }

    /// Its lines, without line ends.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines(&self.text)
    }
}

fn error(file: &str, line: u64, problem: LineProblem) -> LoadError {
    LoadError {
        file: file.to_owned(),
        line,
        found: problem.found,
        expected: problem.expected,
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let has_lines = !text.is_empty();
    text.split(|byte| *byte == b'\n')
        .filter(move |_| has_lines)
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// What is known of a load file while it is read.
#[derive(Debug, Default)]
struct Check {
    facts: LoadFacts,
    /// Open handles: number, line it was opened on, name.
    open: Vec<(i64, u64, Vec<u8>)>,
    /// Sizes of the files that are there, in whole blocks.
    files: BTreeMap<Vec<u8>, u64>,
    /// Their sum.
    space_bytes: u64,
}

impl Check {
    fn operation(&mut self, number: u64, line: &LoadLine<'_>) -> Result<(), LineProblem> {
        self.facts.counts[line.op.index()] += 1;
        match line.op {
            LoadOp::NTCreateX if line.succeeds => self.opened(number, line),
            LoadOp::Close => {
                let at = self.find(line)?;
                self.open.remove(at);
                Ok(())
            }
            LoadOp::WriteX | LoadOp::ReadX => self.transfer(line),
            LoadOp::Flush
            | LoadOp::QueryFile
            | LoadOp::SetFile
            | LoadOp::LockX
            | LoadOp::UnlockX => self.find(line).map(|_| ()),
            LoadOp::Unlink | LoadOp::Rmdir if line.succeeds => {
                self.set_size(line.path.to_bytes(), None);
                Ok(())
            }
            LoadOp::Rename if line.succeeds => {
                let size = self.set_size(line.path.to_bytes(), None);
                self.set_size(line.second.to_bytes(), size);
                Ok(())
            }
            LoadOp::Mkdir => {
                self.set_size(line.path.to_bytes(), Some(0));
                Ok(())
            }
            LoadOp::Deltree => {
                self.remove_tree(line.path.to_bytes());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sets the size of a file, or removes it; gives its size before.
    fn set_size(&mut self, name: &[u8], size: Option<u64>) -> Option<u64> {
        let before = match size {
            Some(size) => self.files.insert(name.to_vec(), size),
            None => self.files.remove(name),
        };
        self.space_bytes -= before.unwrap_or(0);
        self.space_bytes += size.unwrap_or(0);
        let facts = &mut self.facts;
        facts.space_bytes = facts.space_bytes.max(self.space_bytes);
        facts.most_files = facts.most_files.max(self.files.len() as u64);
        before
    }

    fn remove_tree(&mut self, name: &[u8]) {
        let mut inside = name.to_vec();
        inside.push(b'/');
        let names: Vec<Vec<u8>> = self
            .files
            .range(inside.clone()..)
            .map(|(name, _)| name.clone())
            .take_while(|name| name.starts_with(&inside))
            .collect();
        for name in names {
            self.set_size(&name, None);
        }
    }

    fn opened(&mut self, number: u64, line: &LoadLine<'_>) -> Result<(), LineProblem> {
        let handle = line.handle();
        if let Some((_, since, _)) = self.open.iter().find(|(known, ..)| *known == handle) {
            return Err(LineProblem {
                found: format!("handle {handle} is open since line {since}"),
                expected: "another handle, or a Close before".to_owned(),
            });
        }
        if self.open.len() == MAX_HANDLES {
            return Err(LineProblem {
                found: format!("{MAX_HANDLES} handles are open"),
                expected: "a Close before: the original's table holds no more".to_owned(),
            });
        }
        let name = line.path.to_bytes().to_vec();
        // Dispositions 4 and 5 cut a file that is there.
        let is_cut = matches!(line.numbers[1], 4 | 5);
        if is_cut || !self.files.contains_key(&name) {
            self.set_size(&name, Some(0));
        }
        self.open.push((handle, number, name));
        self.facts.most_handles = self.facts.most_handles.max(self.open.len());
        Ok(())
    }

    fn transfer(&mut self, line: &LoadLine<'_>) -> Result<(), LineProblem> {
        let at = self.find(line)?;
        let [_, offset, length, moved] = line.numbers.map(i64::unsigned_abs);
        let is_write = line.op == LoadOp::WriteX;
        if moved > length || (is_write && moved != length) {
            return Err(LineProblem {
                found: format!("{moved} of {length} bytes moved"),
                expected: match is_write {
                    true => "as many as are written".to_owned(),
                    false => format!("{length} at most"),
                },
            });
        }
        self.facts.largest_transfer = self.facts.largest_transfer.max(length);
        match is_write {
            false => self.facts.read_bytes = self.facts.read_bytes.saturating_add(length),
            true => {
                self.facts.written_bytes = self.facts.written_bytes.saturating_add(length);
                let name = self.open[at].2.clone();
                let end = offset.saturating_add(length).next_multiple_of(4096);
                let size = self.files.get(&name).copied();
                // A name that was renamed or removed while open is not followed further.
                if size.is_some_and(|size| size < end) {
                    self.set_size(&name, Some(end));
                }
            }
        }
        Ok(())
    }

    fn find(&self, line: &LoadLine<'_>) -> Result<usize, LineProblem> {
        let handle = line.handle();
        let found = self.open.iter().position(|(known, ..)| *known == handle);
        found.ok_or_else(|| LineProblem {
            found: format!("handle {handle} is not open"),
            expected: "an NTCreateX with NT_STATUS_OK before".to_owned(),
        })
    }

    /// What can only be said at the end of the file.
    fn end(&self, lines: u64) -> Result<(), (u64, LineProblem)> {
        if let Some((handle, line, _)) = self.open.first() {
            let problem = LineProblem {
                found: format!("handle {handle} is never closed"),
                expected: "a Close: the file is played again and again, and the original's table \
                           of handles would fill up"
                    .to_owned(),
            };
            return Err((*line, problem));
        }
        if self.facts.read_bytes + self.facts.written_bytes == 0 {
            let problem = LineProblem {
                found: "no data is read or written".to_owned(),
                expected: "ReadX or WriteX of some bytes: the figure is bytes a second, and the \
                           warm-up lasts until every client has moved some"
                    .to_owned(),
            };
            return Err((lines, problem));
        }
        Ok(())
    }
}
