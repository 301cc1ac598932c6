//! File writes that leave the old or the new content, never half of it, and reads with a limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{BaseError, IoContext};

#[cfg(test)]
mod tests;

/// Writes `bytes` to a temporary name beside `path`, syncs it, renames it over `path` and syncs the
/// directory. Missing parent directories are made.
///
/// # Errors
/// With the path and the step; on an error the old content of `path` is untouched and the
/// temporary file is removed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), BaseError> {
    let parent = parent_of(path);
    fs::create_dir_all(parent).at("create directory", parent)?;
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path).at("rename to", path));
    if written.is_err() {
        // The first error is the one to report; a leftover is the lesser evil.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_directory(parent)
}

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// [`BaseError::TooLarge`] beyond the limit, else [`BaseError::File`].
pub fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>, BaseError> {
    let file = File::open(path).at("read", path)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .at("read", path)?;
    if bytes.len() as u64 > limit {
        let size = fs::metadata(path).map_or(bytes.len() as u64, |meta| meta.len());
        return Err(BaseError::TooLarge {
            path: path.to_path_buf(),
            size,
            limit,
        });
    }
    Ok(bytes)
}

/// Reads a text of at most `limit` bytes; bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// As [`read_limited`].
pub fn read_text_limited(path: &Path, limit: u64) -> Result<String, BaseError> {
    let bytes = read_limited(path, limit)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into()))
}

/// A file that only grows, one line a record, each synced before the next.
#[derive(Debug)]
pub struct AppendLog {
    file: File,
    path: PathBuf,
}

impl AppendLog {
    /// Opens or makes the file; its directory must exist. A torn last line (no newline) is cut off.
    ///
    /// # Errors
    /// With the path.
    pub fn open(path: &Path) -> Result<Self, BaseError> {
        let is_new = !path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .at("open", path)?;
        cut_torn_line(&mut file).at("repair", path)?;
        if is_new {
            sync_directory(parent_of(path))?;
        }
        Ok(Self {
            file,
            path: path.to_path_buf(),
        })
    }

    /// Appends `line` and a newline in one write, then syncs the data.
    ///
    /// # Errors
    /// With the path, for example when the disk is full.
    ///
    /// # Panics
    /// If `line` holds a newline: it would be two records.
    pub fn append(&mut self, line: &str) -> Result<(), BaseError> {
        assert!(
            !line.contains('\n'),
            "a record of an append log is one line"
        );
        let mut record = Vec::with_capacity(line.len() + 1);
        record.extend_from_slice(line.as_bytes());
        record.push(b'\n');
        self.file.write_all(&record).at("append to", &self.path)?;
        self.file.sync_data().at("sync", &self.path)
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes the directory's entries durable.
///
/// # Errors
/// With the path. A file system that cannot sync directories (`EINVAL`) counts as success.
pub fn sync_directory(path: &Path) -> Result<(), BaseError> {
    let directory = File::open(path).at("open", path)?;
    match directory.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other.at("sync directory", path),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), BaseError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .at("create", path)?;
    file.write_all(bytes).at("write", path)?;
    file.sync_all().at("sync", path)
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A name no other writer uses: two at once never share a temporary file.
fn temporary_beside(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}.{number}.tmp", std::process::id()));
    parent_of(path).join(name)
}

fn cut_torn_line(file: &mut File) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    let length = file.seek(SeekFrom::End(0))?;
    let mut end = length;
    let mut block = [0_u8; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok(())
}
