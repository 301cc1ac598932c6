use std::ffi::CStr;
use std::io::Write;

use fathom_base::{SplitMix64, seed_for};
use fathom_model::definition::fs_mark::{DIRECTORY_SECONDS, FsMarkSettings};

/// Characters of the random part.
const LETTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The names of one child's files.
///
/// A name is made of the second its file was created in and a random part that the file's number
/// gives. So no list of names is kept, only when the second changed: memory grows with the length
/// of the run, not with the number of files.
#[derive(Debug)]
pub(super) struct Names {
    directories: u64,
    files_per_directory: u64,
    time_bytes: usize,
    random_bytes: usize,
    seed: u64,
    /// How many names were made.
    made: u64,
    /// Number of the first file of each second, and the second, in order.
    seconds: Vec<(u64, u64)>,
    /// The directory of the last name made, with its zero byte.
    directory: Vec<u8>,
    /// The last name made, directory and all, with its zero byte.
    path: Vec<u8>,
}

impl Names {
    /// The names of one child.
    pub(super) fn new(settings: &FsMarkSettings, seed: u64, child: u32) -> Self {
        let random_bytes = settings.random_bytes as usize;
        Self {
            directories: u64::from(settings.directories),
            files_per_directory: settings.files_per_directory,
            time_bytes: (settings.name_bytes as usize).saturating_sub(random_bytes),
            random_bytes,
            seed: seed_for(seed, &format!("fs-mark names of child {child}")),
            made: 0,
            seconds: Vec::new(),
            directory: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Makes the name of the next file, which is created in this second.
    pub(super) fn make(&mut self, index: u64, second: u64) {
        if self.seconds.last().is_none_or(|(_, last)| *last != second) {
            self.seconds.push((index, second));
        }
        self.made = index + 1;
        self.write(index, second);
    }

    /// Makes the name of a file again.
    pub(super) fn recall(&mut self, index: u64) {
        let after = self.seconds.partition_point(|(first, _)| *first <= index);
        let known = after.checked_sub(1).and_then(|at| self.seconds.get(at));
        let second = known.map_or(0, |(_, second)| *second);
        self.write(index, second);
    }

    /// The directory of the last name made; the child's own where there are no subdirectories.
    pub(super) fn directory(&self) -> &CStr {
        c_text(&self.directory)
    }

    /// The last name made, relative to the child's directory.
    pub(super) fn path(&self) -> &CStr {
        c_text(&self.path)
    }

    /// How many subdirectories the names made so far lie in.
    pub(super) fn directories_used(&self) -> u64 {
        let (Some((_, first)), Some((_, last))) = (self.seconds.first(), self.seconds.last())
        else {
            return 0;
        };
        match (self.directories, self.files_per_directory) {
            (0, _) => 0,
            (all, 0) => (last.saturating_sub(*first) / DIRECTORY_SECONDS + 1).min(all),
            (all, each) => self.made.div_ceil(each).min(all),
        }
    }

    fn write(&mut self, index: u64, second: u64) {
        self.directory.clear();
        self.path.clear();
        match self.directories {
            0 => self.directory.push(b'.'),
            directories => {
                let number = self.directory_of(index, second) % directories;
                // A vector takes every byte.
                let _ = write!(self.directory, "{number:02x}");
                self.path.extend_from_slice(&self.directory);
                self.path.push(b'/');
            }
        }
        self.directory.push(0);
        let time_ends = self.path.len() + self.time_bytes;
        let _ = write!(self.path, "{second:x}");
        self.path.resize(time_ends, b'~');
        // A generator of its own for each file, so that any name can be made again.
        let mut random = SplitMix64::new(self.seed ^ index);
        for _ in 0..self.random_bytes {
            self.path.push(LETTERS[random.below(36) as usize]);
        }
        self.path.push(0);
    }

    fn directory_of(&self, index: u64, second: u64) -> u64 {
        let first = self.seconds.first().map_or(second, |(_, first)| *first);
        let moved_on = match self.files_per_directory {
            0 => second.saturating_sub(first) / DIRECTORY_SECONDS,
            each => index / each,
        };
        first.wrapping_add(moved_on)
    }
}

fn c_text(bytes: &[u8]) -> &CStr {
    CStr::from_bytes_with_nul(bytes).unwrap_or(c".")
}
