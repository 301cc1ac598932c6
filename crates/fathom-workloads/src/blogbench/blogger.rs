use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::os::fd::{AsFd, OwnedFd};

use fathom_base::{Clock, Nanos, SplitMix64};
use fathom_model::TestError;
use fathom_model::definition::blogbench::{
    ARTICLE_BYTES, BlogbenchSettings, COMMENT_BYTES, MOST, PICTURE_BYTES,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::shared::{Counted, Shared};
use crate::classic::{Laps, Meter, Places, Root, Seat, Watch};

/// Names of the kinds. A read is `open` to `close`, a write too; the rename is apart.
pub(super) const KINDS: &[&str] = &[
    "article-read",
    "picture-read",
    "comment-read",
    "article-write",
    "picture-write",
    "comment-write",
    "rename",
    "mkdir",
];
/// The kinds that read or write.
pub(super) const IO_KINDS: &[usize] = &[0, 1, 2, 3, 4, 5];
const RENAME: usize = 6;
const MKDIR: usize = 7;

const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
/// Bytes of a `write`.
const WRITE_CHUNK: usize = 8 << 10;
/// Bytes of a `read`.
const READ_CHUNK: usize = 64 << 10;
/// What a thread with nothing to do waits, as the original.
const PAUSE: Nanos = Nanos::from_secs(1);
/// Longest sleep between two looks at whether to stop.
const NAP: Nanos = Nanos::from_millis(25);

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Article,
    Picture,
    Comment,
}

impl Item {
    const fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Article => ("article", "xml"),
            Self::Picture => ("picture", "jpg"),
            Self::Comment => ("comment", "xml"),
        }
    }

    const fn read_kind(self) -> usize {
        match self {
            Self::Article => 0,
            Self::Picture => 1,
            Self::Comment => 2,
        }
    }

    const fn counted(self) -> (Counted, Counted) {
        match self {
            Self::Article => (Counted::ArticlesRead, Counted::ArticlesWritten),
            Self::Picture => (Counted::PicturesRead, Counted::PicturesWritten),
            Self::Comment => (Counted::CommentsRead, Counted::CommentsWritten),
        }
    }

    /// A size as the original draws it: the upper end is never reached.
    pub(super) fn size(self, random: &mut SplitMix64) -> u64 {
        let (least, below) = match self {
            Self::Article => ARTICLE_BYTES,
            Self::Picture => PICTURE_BYTES,
            Self::Comment => COMMENT_BYTES,
        };
        least + random.below(below - least)
    }
}

/// How many files of a kind a blog gets, or which of them: 1 to 100.
pub(super) fn how_many(random: &mut SplitMix64) -> u64 {
    1 + random.below(MOST)
}

/// A blog that exists, by the original's rule: the two newest are never drawn, and 0 stands for
/// none as well.
pub(super) fn random_blog(blogs: u64, random: &mut SplitMix64) -> u64 {
    random.below(blogs.saturating_sub(1))
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Writer,
    Rewriter,
    Commenter,
    Reader,
}

impl Role {
    /// The role of a thread by its number.
    pub(super) fn of(index: u32, settings: &BlogbenchSettings) -> Self {
        let rewriters = settings.writers + settings.rewriters;
        match index {
            i if i < settings.writers => Self::Writer,
            i if i < rewriters => Self::Rewriter,
            i if i < rewriters + settings.commenters => Self::Commenter,
            _ => Self::Reader,
        }
    }
}

/// What a thread did.
pub(super) struct Worked {
    pub(super) meter: Meter,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Files read and written.
    pub(super) calls: u64,
    /// Files that were to be read and were not there: the end of a blog, mostly.
    pub(super) missing: u64,
    /// Files lost to another thread that wrote the same one at the same moment.
    pub(super) collisions: u64,
    /// Pauses of a second with nothing to do.
    pub(super) pauses: u64,
}

/// One thread.
pub(super) struct Blogger<'a> {
    role: Role,
    root: &'a Root,
    places: Places<'a>,
    watch: Watch<'a>,
    clock: &'a dyn Clock,
    shared: &'a Shared,
    random: SplitMix64,
    buffer: Vec<u8>,
    zeros: Vec<u8>,
    text: String,
    worked: Worked,
}

impl<'a> Blogger<'a> {
    pub(super) fn new(
        role: Role,
        root: &'a Root,
        watch: Watch<'a>,
        clock: &'a dyn Clock,
        shared: &'a Shared,
        seed: u64,
    ) -> Self {
        let reads = role == Role::Reader;
        Self {
            role,
            root,
            places: Places::new(root),
            watch,
            clock,
            shared,
            random: SplitMix64::new(seed),
            buffer: vec![0; if reads { READ_CHUNK } else { 0 }],
            zeros: vec![0; if reads { 0 } else { WRITE_CHUNK }],
            text: String::new(),
            worked: Worked::default(),
        }
    }

    /// Works until the time is over.
    pub(super) fn run(mut self, seat: &Seat<'_>) -> Result<Worked, TestError> {
        seat.start()?;
        loop {
            let did = match self.role {
                Role::Writer => self.write_blog(seat)?,
                Role::Rewriter => self.rewrite(seat)?,
                Role::Commenter => self.comment(seat)?,
                Role::Reader => self.read_blog(seat)?,
            };
            if self.shared.is_over() {
                return Ok(self.worked);
            }
            if !did {
                self.pause(seat)?;
            }
        }
    }

    /// A new blog.
    pub(super) fn write_blog(&mut self, seat: &Seat<'_>) -> Result<bool, TestError> {
        let blog = self.shared.new_blog();
        let name = self.name(format_args!("blog-{blog}"))?;
        let mut laps = Laps::start(self.watch.now());
        self.places
            .make_directory(&name, DIRECTORY_MODE)
            .map_err(|errno| self.root.error("creating", &name, errno))?;
        self.worked.meter.record(MKDIR, laps.lap(self.watch.now()));
        for item in [Item::Article, Item::Picture] {
            for number in (1..=how_many(&mut self.random)).rev() {
                if !self.write(blog, item, number, seat)? {
                    return Ok(false);
                }
            }
        }
        self.shared.count(Counted::BlogsWritten);
        Ok(true)
    }

    /// A picture, every second time, and an article of a random blog.
    fn rewrite(&mut self, seat: &Seat<'_>) -> Result<bool, TestError> {
        let blog = random_blog(self.shared.blogs(), &mut self.random);
        if blog == 0 {
            return Ok(false);
        }
        if self.random.below(2) == 0 {
            let number = how_many(&mut self.random);
            if !self.write(blog, Item::Picture, number, seat)? {
                return Ok(false);
            }
        }
        let number = how_many(&mut self.random);
        self.write(blog, Item::Article, number, seat)
    }

    /// Comments on a random blog.
    pub(super) fn comment(&mut self, seat: &Seat<'_>) -> Result<bool, TestError> {
        let blog = random_blog(self.shared.blogs(), &mut self.random);
        for number in (1..=how_many(&mut self.random)).rev() {
            if !self.write(blog, Item::Comment, number, seat)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Comments, every second time, and the whole of a random blog.
    pub(super) fn read_blog(&mut self, seat: &Seat<'_>) -> Result<bool, TestError> {
        let blog = random_blog(self.shared.blogs(), &mut self.random);
        if blog == 0 {
            return Ok(false);
        }
        if self.random.below(2) == 0 {
            let mut number = 1;
            while self.read(blog, Item::Comment, number, seat)? {
                number += 1;
            }
        }
        let mut number = 1;
        loop {
            self.read(blog, Item::Picture, number, seat)?;
            if !self.read(blog, Item::Article, number, seat)? {
                break;
            }
            number += 1;
        }
        self.shared.count(Counted::BlogsRead);
        Ok(true)
    }

    /// Writes a file under another name and renames it; false when its blog is not there yet, or
    /// another thread was faster.
    fn write(
        &mut self,
        blog: u64,
        item: Item,
        number: u64,
        seat: &Seat<'_>,
    ) -> Result<bool, TestError> {
        let (kind, end) = item.name();
        let size = item.size(&mut self.random);
        let path = self.name(format_args!("blog-{blog}/{kind}-{number}.{end}"))?;
        let temporary = self.name(format_args!("blog-{blog}/{kind}-{number}.{end}.tmp"))?;
        let mut laps = Laps::start(self.watch.now());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let Some(file) = self.open(&temporary, flags)? else {
            return Ok(false);
        };
        let mut left = size;
        while left > 0 {
            let chunk = left.min(WRITE_CHUNK as u64);
            let bytes = &self.zeros[..chunk as usize];
            self.root.write(file.as_fd(), &temporary, bytes)?;
            left -= chunk;
        }
        drop(file);
        self.worked.written_bytes += size;
        self.done(3 + item.read_kind(), &mut laps, seat)?;
        self.worked.calls += 1;
        let renamed = self.places.rename(&temporary, &path);
        self.done(RENAME, &mut laps, seat)?;
        match renamed {
            Ok(()) => {
                self.shared.count(item.counted().1);
                Ok(true)
            }
            Err(Errno::NOENT) => {
                // As the original, which takes the other's file away too.
                self.worked.collisions += 1;
                for name in [&temporary, &path] {
                    match self.places.unlink(name) {
                        Ok(()) | Err(Errno::NOENT) => {}
                        Err(errno) => return Err(self.root.error("removing", name, errno)),
                    }
                }
                Ok(false)
            }
            Err(errno) => Err(self.root.error("renaming", &temporary, errno)),
        }
    }

    /// Reads a whole file; false when there is none.
    fn read(
        &mut self,
        blog: u64,
        item: Item,
        number: u64,
        seat: &Seat<'_>,
    ) -> Result<bool, TestError> {
        let (kind, end) = item.name();
        let path = self.name(format_args!("blog-{blog}/{kind}-{number}.{end}"))?;
        let mut laps = Laps::start(self.watch.now());
        let Some(file) = self.open(&path, OFlags::RDONLY)? else {
            self.worked.missing += 1;
            return Ok(false);
        };
        loop {
            match self.root.read(file.as_fd(), &path, &mut self.buffer)? {
                0 => break,
                count => self.worked.read_bytes += count as u64,
            }
        }
        drop(file);
        self.done(item.read_kind(), &mut laps, seat)?;
        self.worked.calls += 1;
        self.shared.count(item.counted().0);
        Ok(true)
    }

    /// `None` where there is no such file or blog.
    fn open(&self, name: &CStr, flags: OFlags) -> Result<Option<OwnedFd>, TestError> {
        match self.root.open_at(name, flags, FILE_MODE) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.root.error("opening", name, errno)),
        }
    }

    /// Counts an operation that just ended, and looks whether to go on.
    fn done(&mut self, kind: usize, laps: &mut Laps, seat: &Seat<'_>) -> Result<(), TestError> {
        self.worked.meter.record(kind, laps.lap(self.watch.now()));
        self.go_on(seat, laps.last())
    }

    fn go_on(&self, seat: &Seat<'_>, now: Nanos) -> Result<(), TestError> {
        self.watch.check(now)?;
        match seat.is_halted() {
            // Another thread's error is the one that is reported.
            true => Err(TestError::Cancelled),
            false => Ok(()),
        }
    }

    /// A second with nothing to do; cut short when the time is over.
    fn pause(&mut self, seat: &Seat<'_>) -> Result<(), TestError> {
        self.worked.pauses += 1;
        let until = self.watch.now().plus(PAUSE);
        loop {
            let now = self.watch.now();
            self.go_on(seat, now)?;
            if now >= until || self.shared.is_over() {
                return Ok(());
            }
            self.clock.sleep(until.since(now).min(NAP));
        }
    }

    fn name(&mut self, name: std::fmt::Arguments<'_>) -> Result<CString, TestError> {
        self.text.clear();
        // Writing to a string does not fail, and words and numbers have no zero byte.
        let _ = self.text.write_fmt(name);
        CString::new(self.text.as_bytes()).map_err(|error| TestError::Check {
            check: "the name of a file",
            found: error.to_string(),
        })
    }
}
