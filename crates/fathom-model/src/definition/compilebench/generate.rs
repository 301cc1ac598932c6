//! The built-in tree, made from what is known of the trees of Linux 2.6.20 that the original uses:
//! numbers of files and directories, depths, totals, and percentiles of sizes.
//!
//! Only additions, multiplications and divisions are used, so that every machine makes the same
//! tree.

use std::collections::HashSet;

use fathom_base::{SplitMix64, seed_for};

use super::dataset::{DataSet, TreeFile, total_bytes};

/// Files of the clean tree.
pub(super) const FILES: usize = 21_280;
/// Its bytes: 222.37 MiB.
pub(super) const FILE_BYTES: u64 = 233_171_845;
/// Shares of the clean tree's files that are of these sizes at most.
pub(super) const SIZES: [(f64, f64); 12] = [
    (0.0, 1.0),
    (0.01, 37.0),
    (0.05, 159.0),
    (0.10, 390.0),
    (0.25, 1303.0),
    (0.50, 4055.0),
    (0.75, 11_141.0),
    (0.90, 26_112.0),
    (0.95, 43_057.0),
    (0.99, 97_228.0),
    (0.999, 310_443.0),
    (1.0, 873_603.0),
];
/// Directories at each depth, the top first: 1263.
pub(super) const DIRECTORIES: [usize; 7] = [1, 18, 400, 420, 260, 120, 44];
/// Shares of directories with so many files at most.
const FILES_PER_DIRECTORY: [(f64, f64); 4] = [(0.0, 1.0), (0.5, 8.0), (0.9, 38.0), (1.0, 745.0)];

/// Files that compiling adds.
pub(super) const COMPILED: usize = 3263;
/// Their bytes: 680.63 MiB.
pub(super) const COMPILED_BYTES: u64 = 713_692_282;
/// How many of them are empty.
pub(super) const COMPILED_EMPTY: usize = 411;
/// Directories that compiling adds.
pub(super) const COMPILED_DIRECTORIES: usize = 201;
/// Shares of all compiled files; the empty ones are below the first.
pub(super) const COMPILED_SIZES: [(f64, f64); 5] = [
    (0.126, 24.0),
    (0.50, 14_800.0),
    (0.95, 318_000.0),
    (0.99, 2_800_000.0),
    (1.0, 67_108_864.0),
];
/// How many are `.o`, `.cmd` and `.h` files.
const OBJECTS: usize = 1370;
const COMMANDS: usize = 1403;
const HEADERS: usize = 424;

/// Files that a patch changes.
pub(super) const PATCHED: usize = 6136;
/// Their bytes after it: 109.67 MiB.
pub(super) const PATCHED_BYTES: u64 = 114_997_329;

/// Fixes the tree.
const SEED: u64 = 555;

/// Makes the data set.
pub(super) fn generate() -> DataSet {
    let unpatched = clean_tree();
    DataSet {
        compiled: compiled(&unpatched),
        patched: patched(&unpatched),
        unpatched,
    }
}

fn random(label: &str) -> SplitMix64 {
    SplitMix64::new(seed_for(SEED, label))
}

/// `count` values in ascending order that follow `shares` exactly at their points and add up to
/// `total`; between two points they follow a curve that is bent until the sum is right.
fn values(count: usize, shares: &[(f64, f64)], total: u64) -> Vec<u64> {
    let (mut low, mut high) = (1e-3, 1e3);
    for _ in 0..80 {
        let bend = (low + high) / 2.0;
        match curve(count, shares, bend).iter().sum::<u64>() > total {
            true => low = bend,
            false => high = bend,
        }
    }
    let mut all = curve(count, shares, high);
    // What rounding left, one by one over the middle, where one more or less does not show.
    let (from, mut missing) = (count / 2, total as i64 - all.iter().sum::<u64>() as i64);
    let middle = (count / 4).max(1);
    let mut at = 0;
    while missing != 0 {
        let step = missing.signum();
        let value = &mut all[from + at % middle];
        *value = value.saturating_add_signed(step).max(1);
        missing -= step;
        at += 1;
    }
    all.sort_unstable();
    all
}

fn curve(count: usize, shares: &[(f64, f64)], bend: f64) -> Vec<u64> {
    let first = shares[0].0;
    let mut segment = 0;
    let mut all = Vec::with_capacity(count);
    for index in 0..count {
        let share = first + (1.0 - first) * index as f64 / (count - 1).max(1) as f64;
        while segment + 2 < shares.len() && share > shares[segment + 1].0 {
            segment += 1;
        }
        let ((from, low), (to, high)) = (shares[segment], shares[segment + 1]);
        let way = ((share - from) / (to - from)).min(1.0);
        let bent = way / (way + bend * (1.0 - way));
        all.push((low + (high - low) * bent + 0.5) as u64);
    }
    all
}

/// Makes words of two or three syllables.
fn word(random: &mut SplitMix64) -> String {
    const STARTS: [&str; 14] = [
        "b", "ch", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v",
    ];
    const ENDS: [&str; 10] = ["a", "e", "i", "o", "u", "an", "er", "is", "ol", "ut"];
    let syllables = 2 + random.below(2);
    (0..syllables)
        .map(|_| {
            let start = STARTS[random.below(STARTS.len() as u64) as usize];
            let end = ENDS[random.below(ENDS.len() as u64) as usize];
            format!("{start}{end}")
        })
        .collect()
}

/// A name in `directory` that nothing has yet.
fn new_path(
    directory: &str,
    end: &str,
    taken: &mut HashSet<String>,
    random: &mut SplitMix64,
) -> String {
    let mut name = word(random);
    loop {
        let path = match directory {
            "" => format!("{name}{end}"),
            directory => format!("{directory}/{name}{end}"),
        };
        if taken.insert(path.clone()) {
            return path;
        }
        name.push_str(&word(random));
    }
}

fn clean_tree() -> Vec<TreeFile> {
    let mut random = random("clean tree");
    let mut taken = HashSet::new();
    let directories = directory_names(&mut taken, &mut random);
    let mut counts = values(directories.len(), &FILES_PER_DIRECTORY, FILES as u64);
    random.shuffle(&mut counts);
    let mut sizes = values(FILES, &SIZES, FILE_BYTES);
    random.shuffle(&mut sizes);
    let mut files = Vec::with_capacity(FILES);
    let places = directories.iter().zip(counts);
    let places = places.flat_map(|(directory, count)| (0..count).map(move |_| directory));
    for (directory, size) in places.zip(sizes) {
        let end = match random.below(20) {
            0..=8 => ".c",
            9..=16 => ".h",
            17 => ".S",
            18 => ".txt",
            _ => "",
        };
        let path = new_path(directory, end, &mut taken, &mut random);
        files.push(TreeFile { path, size });
    }
    files
}

/// The directories, each below one of the depth before.
fn directory_names(taken: &mut HashSet<String>, random: &mut SplitMix64) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut above = 0..1;
    for count in &DIRECTORIES[1..] {
        let from = all.len();
        for _ in 0..*count {
            let parent = above.start + random.below(above.len() as u64) as usize;
            let parent = all[parent].clone();
            all.push(new_path(&parent, "", taken, random));
        }
        above = from..all.len();
    }
    all
}

fn compiled(unpatched: &[TreeFile]) -> Vec<TreeFile> {
    let mut random = random("compiled");
    let mut taken: HashSet<String> = unpatched.iter().map(|file| file.path.clone()).collect();
    let filled = COMPILED - COMPILED_EMPTY;
    let mut sizes = values(filled, &COMPILED_SIZES, COMPILED_BYTES);
    // Linked things are the largest, then objects; lists of what an object depends on are small.
    let linked = COMPILED - OBJECTS - COMMANDS - HEADERS;
    let large = sizes.split_off(filled - linked / 2);
    let mut objects = sizes.split_off(sizes.len() - OBJECTS / 3);
    random.shuffle(&mut sizes);
    objects.extend(sizes.split_off(sizes.len() - (OBJECTS - objects.len())));
    random.shuffle(&mut objects);
    let mut sources: Vec<&str> = unpatched
        .iter()
        .filter_map(|file| file.path.strip_suffix(".c"))
        .collect();
    random.shuffle(&mut sources);
    let mut files = Vec::with_capacity(COMPILED);
    let mut add = |path: String, size: u64| files.push(TreeFile { path, size });
    for (source, size) in sources.iter().zip(objects) {
        add(format!("{source}.o"), size);
        let (directory, name) = source.rsplit_once('/').unwrap_or(("", source));
        let slash = if directory.is_empty() { "" } else { "/" };
        let command = format!("{directory}{slash}.{name}.o.cmd");
        add(command, sizes.pop().unwrap_or_default());
    }
    for size in large {
        add(new_path("", ".ko", &mut taken, &mut random), size);
    }
    let headers = header_directories(unpatched, &mut taken, &mut random);
    for index in 0..COMPILED - files.len() {
        let directory = &headers[index % headers.len()];
        let end = match index {
            _ if index < HEADERS => ".h",
            _ if index < HEADERS + COMMANDS - OBJECTS => ".cmd",
            _ => ".mod",
        };
        // The sizes that are left, then the empty ones.
        let size = sizes.pop().unwrap_or_default();
        let path = new_path(directory, end, &mut taken, &mut random);
        files.push(TreeFile { path, size });
    }
    files
}

/// New directories below one that is there.
fn header_directories(
    unpatched: &[TreeFile],
    taken: &mut HashSet<String>,
    random: &mut SplitMix64,
) -> Vec<String> {
    let top = unpatched
        .iter()
        .find_map(|file| file.path.split_once('/'))
        .map_or("include", |(top, _)| top);
    let config = new_path(top, "", taken, random);
    let mut all = vec![config.clone()];
    for _ in 1..COMPILED_DIRECTORIES {
        all.push(new_path(&config, "", taken, random));
    }
    all
}

/// Draws files, larger ones more often, so that they add up, and changes their sizes.
fn patched(unpatched: &[TreeFile]) -> Vec<TreeFile> {
    let mut random = random("patched");
    let draws: Vec<f64> = unpatched
        .iter()
        .map(|_| (random.next_u64() >> 11) as f64)
        .collect();
    let pick = |evenness: f64| {
        let mut keys: Vec<(f64, usize)> = unpatched
            .iter()
            .zip(&draws)
            .enumerate()
            .map(|(index, (file, draw))| (draw / (file.size as f64 + evenness), index))
            .collect();
        // The lowest keys; no two are the same, as the index counts too.
        keys.select_nth_unstable_by(PATCHED, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keys.truncate(PATCHED);
        keys.into_iter().map(|(_, index)| index).collect::<Vec<_>>()
    };
    let bytes = |picked: &[usize]| picked.iter().map(|i| unpatched[*i].size).sum::<u64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..50 {
        let evenness = (low + high) / 2.0;
        match bytes(&pick(evenness)) > PATCHED_BYTES {
            true => low = evenness,
            false => high = evenness,
        }
    }
    let mut picked = pick(high);
    picked.sort_unstable();
    let mut files: Vec<TreeFile> = picked
        .into_iter()
        .map(|index| changed(&unpatched[index], &mut random))
        .collect();
    settle(&mut files, unpatched);
    files
}

/// A file a little longer or shorter, never the same.
fn changed(file: &TreeFile, random: &mut SplitMix64) -> TreeFile {
    let most = file.size / 20 + 2;
    let by = 1 + random.below(most);
    let size = match random.below(2) == 0 && by < file.size {
        true => file.size - by,
        false => file.size + by,
    };
    TreeFile {
        path: file.path.clone(),
        size,
    }
}

/// Brings the sum to what it should be, over the large files.
fn settle(files: &mut [TreeFile], unpatched: &[TreeFile]) {
    let clean: std::collections::HashMap<&str, u64> = unpatched
        .iter()
        .map(|file| (file.path.as_str(), file.size))
        .collect();
    let mut missing = PATCHED_BYTES as i64 - total_bytes(files) as i64;
    while missing != 0 {
        for file in files.iter_mut().filter(|file| file.size > 8000) {
            let step = missing.signum() * missing.abs().min(16);
            let size = file.size.saturating_add_signed(step);
            if clean.get(file.path.as_str()) != Some(&size) {
                file.size = size;
                missing -= step;
            }
            if missing == 0 {
                break;
            }
        }
    }
}
