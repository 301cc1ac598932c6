use super::PostmarkSettings;
use super::mt::Mt1998;

/// What is done to a file. Files are known by their slot in a table of twice as many slots as files
/// at the start; the name is the number of the creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostmarkOp {
    /// A file is created and filled.
    Create {
        /// What is created.
        file: PostmarkFile,
    },
    /// A file is read from its beginning to its end.
    Read {
        /// What is read.
        file: PostmarkFile,
    },
    /// A file grows.
    Append {
        /// The file before it grows.
        file: PostmarkFile,
        /// By how many bytes.
        bytes: u32,
    },
    /// A file is removed.
    Delete {
        /// What is removed.
        file: PostmarkFile,
    },
}

/// A file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostmarkFile {
    /// Its name, from 1 on; 0 in an empty slot.
    pub number: u32,
    /// The subdirectory it lies in.
    pub directory: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// The operations of a run, one after another: bit for bit those of the original with the same seed.
///
/// Memory: 12 bytes a slot.
#[derive(Clone, Debug)]
pub struct PostmarkStream {
    settings: PostmarkSettings,
    random: Mt1998,
    table: Vec<PostmarkFile>,
    /// Where the search for an empty slot begins.
    next_slot: usize,
    /// One bit a slot that is taken.
    taken: Vec<u64>,
    /// All words of `taken` before this one are full.
    full_words: usize,
    /// All words of `taken` before this one are empty.
    empty_words: usize,
    created: u64,
    deleted: u64,
}

/// Bytes drawn at a time for the contents.
const LETTERS: u32 = 95;

impl PostmarkStream {
    /// Begins a run. The draws for the contents come first; `contents` takes the first
    /// `size-high` of them (files are filled from their beginning), and nothing when it is empty.
    pub fn new(settings: &PostmarkSettings, contents: &mut [u8]) -> Self {
        let mut random = Mt1998::new(settings.seed);
        let draws = u64::from(settings.size_high).saturating_mul(2);
        let mut contents = contents.iter_mut();
        for _ in 0..draws {
            let letter = random.below(LETTERS) as u8 + b' ';
            if let Some(byte) = contents.next() {
                *byte = letter;
            }
        }
        let slots = settings.slots();
        Self {
            settings: *settings,
            random,
            table: vec![PostmarkFile::default(); slots],
            next_slot: 0,
            taken: vec![0; slots.div_ceil(64)],
            full_words: 0,
            empty_words: 0,
            created: 0,
            deleted: 0,
        }
    }

    /// Creates a file; `None` when the table is full.
    pub fn create(&mut self) -> Option<PostmarkOp> {
        let slot = self.free_slot()?;
        let directory = match self.settings.subdirectories {
            0 | 1 => 0,
            many => self.random.below(many),
        };
        let range = self.settings.size_high - self.settings.size_low;
        self.created += 1;
        let file = PostmarkFile {
            number: self.created as u32,
            directory,
            size: self.settings.size_low + self.random.below(range),
        };
        self.table[slot] = file;
        self.taken[slot / 64] |= 1 << (slot % 64);
        self.empty_words = self.empty_words.min(slot / 64);
        Some(PostmarkOp::Create { file })
    }

    /// The first half of a transaction: reads or appends; `None` when neither is wanted, or the file
    /// to append to is as large as it may be.
    ///
    /// # Panics
    /// When no file is left; ask [`PostmarkStream::is_out_of_files`] first.
    pub fn read_or_append(&mut self) -> Option<PostmarkOp> {
        let bias = self.settings.bias_read?;
        let reads = self.random.below(10) < bias;
        let slot = self.used_slot();
        let file = self.table[slot];
        if reads {
            return Some(PostmarkOp::Read { file });
        }
        let room = self.settings.size_high - file.size;
        if room == 0 {
            return None;
        }
        let bytes = self.random.below(room) + 1;
        self.table[slot].size += bytes;
        Some(PostmarkOp::Append { file, bytes })
    }

    /// The second half of a transaction: creates or deletes; `None` when neither is wanted, or the
    /// table is full.
    ///
    /// # Panics
    /// When no file is left; ask [`PostmarkStream::is_out_of_files`] first.
    pub fn create_or_delete(&mut self) -> Option<PostmarkOp> {
        let bias = self.settings.bias_create?;
        match self.random.below(10) < bias {
            true => self.create(),
            false => {
                let slot = self.used_slot();
                Some(self.delete(slot))
            }
        }
    }

    /// Deletes the first file that is left.
    pub fn delete_first(&mut self) -> Option<PostmarkOp> {
        let rest = self.taken.get(self.empty_words..)?;
        let word = self.empty_words + rest.iter().position(|word| *word != 0)?;
        self.empty_words = word;
        let slot = word * 64 + self.taken[word].trailing_zeros() as usize;
        Some(self.delete(slot))
    }

    /// Whether as many files were deleted as created: a run that comes here ends early.
    pub fn is_out_of_files(&self) -> bool {
        self.created == self.deleted
    }

    fn delete(&mut self, slot: usize) -> PostmarkOp {
        let file = std::mem::take(&mut self.table[slot]);
        self.taken[slot / 64] &= !(1 << (slot % 64));
        self.full_words = self.full_words.min(slot / 64);
        self.deleted += 1;
        PostmarkOp::Delete { file }
    }

    /// The slot after the last one given when it is empty, else the first hole.
    fn free_slot(&mut self) -> Option<usize> {
        let table = &self.table;
        let is_free = |slot: &usize| table.get(*slot).is_some_and(|file| file.number == 0);
        let slot = Some(self.next_slot).filter(is_free).or_else(|| {
            let rest = self.taken.get(self.full_words..)?;
            let word = self.full_words + rest.iter().position(|word| *word != u64::MAX)?;
            self.full_words = word;
            let slot = word * 64 + self.taken[word].trailing_ones() as usize;
            (slot < self.table.len()).then_some(slot)
        })?;
        self.next_slot = slot + 1;
        Some(slot)
    }

    /// Draws until a slot is taken.
    fn used_slot(&mut self) -> usize {
        assert!(
            !self.is_out_of_files(),
            "a file is only drawn while there is one"
        );
        loop {
            let slot = self.random.below(self.table.len() as u32) as usize;
            if self.table[slot].number != 0 {
                return slot;
            }
        }
    }
}

/// What a run does in all, counted without doing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostmarkPlan {
    /// Transactions until the end, or until the files ran out.
    pub transactions: u64,
    /// Files created before and during the transactions.
    pub created: u64,
    /// Files read.
    pub read: u64,
    /// Files appended to.
    pub appended: u64,
    /// Files deleted during the transactions.
    pub deleted_mixed: u64,
    /// Files deleted at the end.
    pub deleted_alone: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written before the transactions.
    pub written_bytes_alone: u64,
    /// Bytes written during the transactions.
    pub written_bytes_mixed: u64,
    /// Most bytes in files at a time, in whole blocks of 4 KiB.
    pub peak_bytes: u64,
    /// Most files at a time.
    pub peak_files: u64,
}

impl PostmarkPlan {
    /// Plays the run.
    pub fn of(settings: &PostmarkSettings) -> Self {
        let mut stream = PostmarkStream::new(settings, &mut []);
        let mut plan = Self::default();
        let (mut files, mut space) = (0_u64, 0_u64);
        let mut follow = |plan: &mut Self, op: Option<PostmarkOp>| {
            let blocks = |bytes: u32| u64::from(bytes).next_multiple_of(4096);
            match op {
                Some(PostmarkOp::Create { file }) => {
                    files += 1;
                    space += blocks(file.size);
                }
                Some(PostmarkOp::Append { file, bytes }) => {
                    space = space - blocks(file.size) + blocks(file.size + bytes);
                }
                Some(PostmarkOp::Delete { file }) => {
                    files -= 1;
                    space -= blocks(file.size);
                }
                _ => {}
            }
            plan.peak_files = plan.peak_files.max(files);
            plan.peak_bytes = plan.peak_bytes.max(space);
        };
        for _ in 0..settings.files {
            let op = stream.create();
            plan.written_bytes_alone += written_by(op);
            plan.created += 1;
            follow(&mut plan, op);
        }
        while plan.transactions < settings.transactions && !stream.is_out_of_files() {
            for half in [
                PostmarkStream::read_or_append,
                PostmarkStream::create_or_delete,
            ] {
                let op = half(&mut stream);
                plan.count(op);
                follow(&mut plan, op);
            }
            plan.transactions += 1;
        }
        while stream.delete_first().is_some() {
            plan.deleted_alone += 1;
        }
        plan
    }

    /// Counts an operation of a transaction.
    pub fn count(&mut self, op: Option<PostmarkOp>) {
        self.written_bytes_mixed += written_by(op);
        match op {
            Some(PostmarkOp::Create { .. }) => self.created += 1,
            Some(PostmarkOp::Append { .. }) => self.appended += 1,
            Some(PostmarkOp::Delete { .. }) => self.deleted_mixed += 1,
            Some(PostmarkOp::Read { file }) => {
                self.read += 1;
                self.read_bytes += u64::from(file.size);
            }
            None => {}
        }
    }

    /// Bytes written in all.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes_alone + self.written_bytes_mixed
    }

    /// Files deleted in all.
    pub fn deleted(&self) -> u64 {
        self.deleted_alone + self.deleted_mixed
    }
}

fn written_by(op: Option<PostmarkOp>) -> u64 {
    match op {
        Some(PostmarkOp::Create { file }) => u64::from(file.size),
        Some(PostmarkOp::Append { bytes, .. }) => u64::from(bytes),
        _ => 0,
    }
}
