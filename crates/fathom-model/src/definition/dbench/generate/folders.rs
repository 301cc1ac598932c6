/// What happens in a directory in each round; numbers are counts unless they say otherwise.
pub(super) struct Folder {
    pub(super) name: &'static str,
    pub(super) extension: &'static str,
    /// Files that are there from the start.
    pub(super) files: u32,
    /// New files that are there at a time.
    pub(super) live: u32,
    /// Handles of the folder's own files that are left open.
    pub(super) held: u32,
    pub(super) creates: u32,
    /// Openings of files that are there.
    pub(super) opens: u32,
    pub(super) open_misses: u32,
    pub(super) stats: u32,
    pub(super) stat_misses: u32,
    /// Looks at open files, one for each mark among them.
    pub(super) fstats: u32,
    pub(super) sets: u32,
    pub(super) flushes: u32,
    pub(super) renames: u32,
    pub(super) locks: u32,
    /// Size and count.
    pub(super) reads: &'static [(u32, u32)],
    /// Count and sum of sizes that are no round numbers.
    pub(super) odd_reads: (u32, u32),
    /// Of a hundred reads and writes so many go anywhere in the file.
    pub(super) random_percent: u32,
    /// Size and count of writes into the folder's own files.
    pub(super) writes: &'static [(u32, u32)],
    /// Single bytes at the future end of a new file.
    pub(super) marks: u32,
    /// Writes of 64 KiB to new files.
    pub(super) whole_writes: u32,
    /// Count and sum of the other writes to new files.
    pub(super) odd_writes: (u32, u32),
}

impl Folder {
    /// New files that are opened once more.
    pub(super) fn reopenings(&self) -> u32 {
        self.creates.min(self.opens / 3)
    }

    /// Openings of the folder's own files.
    pub(super) fn sessions(&self) -> u32 {
        self.opens - self.reopenings()
    }

    pub(super) fn steps(&self) -> u32 {
        self.creates + self.sessions()
    }

    pub(super) fn read_count(&self) -> u32 {
        self.reads.iter().map(|(_, count)| count).sum::<u32>() + self.odd_reads.0
    }

    pub(super) fn write_count(&self) -> u32 {
        self.writes.iter().map(|(_, count)| count).sum()
    }
}

const NOTHING: Folder = Folder {
    name: "",
    extension: "",
    files: 0,
    live: 4,
    held: 3,
    creates: 0,
    opens: 0,
    open_misses: 0,
    stats: 0,
    stat_misses: 0,
    fstats: 0,
    sets: 0,
    flushes: 0,
    renames: 0,
    locks: 0,
    reads: &[],
    odd_reads: (0, 0),
    random_percent: 0,
    writes: &[],
    marks: 0,
    whole_writes: 0,
    odd_writes: (0, 0),
};

/// The directories with small files.
pub(super) const FOLDERS: [Folder; 8] = [
    Folder {
        name: "SLIDES",
        extension: "SLD",
        files: 5,
        creates: 12,
        opens: 50,
        open_misses: 6,
        stats: 20,
        stat_misses: 6,
        fstats: 9,
        sets: 18,
        flushes: 24,
        renames: 4,
        reads: &[(4096, 82)],
        writes: &[(4096, 30)],
        marks: 6,
        whole_writes: 6,
        odd_writes: (6, 87_000),
        ..NOTHING
    },
    Folder {
        name: "LETTERS",
        extension: "LTR",
        files: 3,
        creates: 9,
        opens: 26,
        stats: 37,
        stat_misses: 24,
        fstats: 7,
        sets: 16,
        renames: 6,
        reads: &[(4096, 31), (3072, 2)],
        odd_reads: (2, 7600),
        writes: &[(4096, 4), (15_360, 2)],
        marks: 6,
        odd_writes: (7, 71_000),
        ..NOTHING
    },
    Folder {
        name: "SHEETS",
        extension: "SHT",
        files: 2,
        live: 8,
        creates: 16,
        opens: 16,
        open_misses: 8,
        stats: 32,
        stat_misses: 29,
        fstats: 14,
        sets: 16,
        flushes: 4,
        renames: 6,
        reads: &[(4096, 69)],
        writes: &[(4096, 8), (8192, 2)],
        marks: 10,
        whole_writes: 10,
        odd_writes: (10, 326_000),
        ..NOTHING
    },
    Folder {
        name: "REPORTS",
        extension: "RPT",
        files: 3,
        live: 8,
        creates: 15,
        opens: 18,
        open_misses: 15,
        stats: 45,
        stat_misses: 21,
        fstats: 22,
        flushes: 5,
        renames: 5,
        locks: 2,
        reads: &[(4096, 154), (2048, 23), (512, 9), (1024, 5), (16_384, 5)],
        odd_reads: (75, 105_000),
        random_percent: 79,
        marks: 9,
        whole_writes: 20,
        odd_writes: (9, 239_000),
        ..NOTHING
    },
    Folder {
        name: "DRAWINGS",
        extension: "DRW",
        files: 11,
        live: 6,
        creates: 11,
        opens: 29,
        open_misses: 6,
        stats: 30,
        stat_misses: 21,
        fstats: 4,
        renames: 4,
        reads: &[(8192, 35), (4096, 9), (16_384, 1)],
        writes: &[(510, 3), (512, 1), (4096, 1)],
        marks: 4,
        odd_writes: (5, 99_000),
        ..NOTHING
    },
    Folder {
        name: "TABLES",
        extension: "TBL",
        files: 20,
        live: 8,
        held: 22,
        creates: 17,
        opens: 150,
        open_misses: 36,
        stats: 147,
        stat_misses: 58,
        fstats: 36,
        flushes: 6,
        renames: 1,
        reads: &[(4096, 102), (2048, 13), (16_384, 8), (8192, 1)],
        odd_reads: (6, 3200),
        random_percent: 30,
        writes: &[(4096, 33), (2048, 13), (8192, 3)],
        marks: 17,
        odd_writes: (3, 20_600),
        ..NOTHING
    },
    Folder {
        name: "PLANS",
        extension: "PLN",
        files: 3,
        live: 3,
        creates: 37,
        opens: 14,
        open_misses: 78,
        stats: 38,
        stat_misses: 23,
        fstats: 1,
        reads: &[(4096, 9)],
        marks: 1,
        whole_writes: 4,
        odd_writes: (1, 26_600),
        ..NOTHING
    },
    Folder {
        name: "RECORDS",
        extension: "REC",
        files: 1,
        creates: 7,
        opens: 2,
        open_misses: 6,
        stats: 12,
        stat_misses: 4,
        fstats: 4,
        flushes: 4,
        reads: &[(16_384, 1), (4096, 1)],
        writes: &[(8192, 4), (4096, 1), (64, 1)],
        marks: 4,
        odd_writes: (3, 103_500),
        ..NOTHING
    },
];

/// What happens outside of the directories in each round.
pub(super) struct Root {
    pub(super) file_system_queries: u32,
    pub(super) fruitless_searches: u32,
    pub(super) listings: u32,
    pub(super) open_misses: u32,
    pub(super) stats: u32,
    pub(super) stat_misses: u32,
}

pub(super) const ROOT: Root = Root {
    file_system_queries: 102,
    fruitless_searches: 111,
    listings: 95,
    open_misses: 8,
    stats: 6,
    stat_misses: 3,
};

/// The directory with three large files.
pub(super) struct Bulk {
    pub(super) name: &'static str,
    /// Name and size.
    pub(super) files: [(&'static str, u32); 3],
    pub(super) sessions: [BulkSession; 21],
}

/// One opening of a large file: so many reads or writes of one size from its beginning.
pub(super) struct BulkSession {
    pub(super) file: &'static str,
    pub(super) size: u32,
    pub(super) reads: u32,
    pub(super) writes: u32,
}

const fn reads(file: &'static str, size: u32, reads: u32) -> BulkSession {
    BulkSession {
        file,
        size,
        reads,
        writes: 0,
    }
}

const fn writes(file: &'static str, writes: u32) -> BulkSession {
    BulkSession {
        file,
        size: 65_536,
        reads: 0,
        writes,
    }
}

const LARGE: &str = "LARGE.DAT";
const MEDIUM: &str = "MEDIUM.DAT";
const SMALL: &str = "SMALL.DAT";

/// 320 reads and 56 writes in all.
pub(super) const BULK: Bulk = Bulk {
    name: "BULK",
    files: [(SMALL, 327_680), (MEDIUM, 1_048_576), (LARGE, 1_867_776)],
    sessions: [
        reads(SMALL, 32_768, 1),
        reads(MEDIUM, 32_768, 1),
        reads(LARGE, 32_768, 1),
        reads(LARGE, 61_440, 30),
        writes(LARGE, 28),
        reads(LARGE, 61_440, 0),
        reads(SMALL, 4096, 80),
        writes(SMALL, 5),
        reads(MEDIUM, 61_440, 17),
        reads(MEDIUM, 61_440, 0),
        reads(LARGE, 61_440, 30),
        writes(LARGE, 7),
        reads(SMALL, 61_440, 5),
        reads(MEDIUM, 4096, 108),
        reads(SMALL, 61_440, 0),
        writes(MEDIUM, 16),
        reads(MEDIUM, 61_440, 17),
        reads(LARGE, 61_440, 0),
        reads(LARGE, 61_440, 30),
        reads(MEDIUM, 61_440, 0),
        reads(SMALL, 61_440, 0),
    ],
};
