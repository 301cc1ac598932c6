//! Facts about the test profiles of the Phoronix Test Suite that a text export leaves out.

/// Titles of storage test profiles (and their common companions) with the profile's name. Longer
/// titles stand before those they begin with.
const TITLES: [(&str, &str); 51] = [
    ("Flexible IO Tester", "fio"),
    ("Threaded I/O Tester", "tiobench"),
    ("PostgreSQL pgbench", "pgbench"),
    ("PostgreSQL", "pgbench"),
    ("MariaDB mariadb-slap", "mysqlslap"),
    ("MariaDB", "mysqlslap"),
    ("MySQL", "mysqlslap"),
    ("SQLite Speedtest", "sqlite-speedtest"),
    ("SQLite", "sqlite"),
    ("AIO-Stress", "aio-stress"),
    ("BlogBench", "blogbench"),
    ("Compile Bench", "compilebench"),
    ("Dbench", "dbench"),
    ("FS-Mark", "fs-mark"),
    ("IOzone", "iozone"),
    ("PostMark", "postmark"),
    ("hdparm Timed Disk Reads", "hdparm-read"),
    ("Apache Cassandra", "cassandra"),
    ("CockroachDB", "cockroach"),
    ("ClickHouse", "clickhouse"),
    ("Apache HBase", "hbase"),
    ("Apache CouchDB", "couchdb"),
    ("InfluxDB", "influxdb"),
    ("LevelDB", "leveldb"),
    ("RocksDB", "rocksdb"),
    ("ScyllaDB", "scylladb"),
    ("DuckDB", "duckdb"),
    ("etcd", "etcd"),
    ("KeyDB", "keydb"),
    ("memtier_benchmark", "memtier-benchmark"),
    ("Redis Memtier / Redis Benchmark", "memtier-benchmark"),
    ("Redis", "redis"),
    ("Diskspd", "diskspd"),
    ("IOR", "ior"),
    ("Pjdfstest", "pjdfstest"),
    ("Git", "git"),
    ("Unpacking The Linux Kernel", "unpack-linux"),
    ("Unpacking Firefox", "unpack-firefox"),
    ("Application Start-up Time", "startup-time"),
    ("Timed Apache Compilation", "build-apache"),
    ("Timed CPython Compilation", "build-python"),
    ("Timed FFmpeg Compilation", "build-ffmpeg"),
    ("Timed GCC Compilation", "build-gcc"),
    ("Timed GDB GNU Debugger Compilation", "build-gdb"),
    ("Timed ImageMagick Compilation", "build-imagemagick"),
    ("Timed Linux Kernel Compilation", "build-linux-kernel"),
    ("Timed LLVM Compilation", "build-llvm"),
    ("Timed Mesa Compilation", "build-mesa"),
    ("Timed MPlayer Compilation", "build-mplayer"),
    ("Timed Node.js Compilation", "build-nodejs"),
    ("Timed PHP Compilation", "build-php"),
];

/// Units of several words; a single word needs no list.
const SCALES: [&str; 24] = [
    "Queries Per Minute, Geo Mean",
    "Queries Per Second",
    "Queries Per Hour",
    "Requests Per Second",
    "Transactions Per Second",
    "Operations Per Second",
    "Frames Per Second",
    "Iterations Per Minute",
    "Iterations Per Second",
    "Messages Per Second",
    "Bogo Ops/s",
    "Final Score",
    "Test Pass / Fail",
    "Iterations / Second",
    "Nanoseconds Per Operation",
    "Microseconds Per Op",
    "Usec Per Op",
    "us/op",
    "ms/batch",
    "Million Cell Updates Per Second",
    "Nodes Per Second",
    "Points Per Second",
    "Rows Per Second",
    "Records Per Second",
];

/// The profile behind a title: `fio` of `Flexible IO Tester`.
pub(super) fn profile_of_title(title: &str) -> Option<&'static str> {
    TITLES
        .iter()
        .find(|(known, _)| *known == title)
        .map(|(_, profile)| *profile)
}

/// The known title a text begins with.
pub(super) fn title_at_start(text: &str) -> Option<&'static str> {
    TITLES
        .iter()
        .map(|(title, _)| *title)
        .filter(|title| {
            text.strip_prefix(title)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
        .max_by_key(|title| title.len())
}

/// The unit a text ends with: a known one of several words, else its last word.
pub(super) fn scale_at_end(text: &str) -> &str {
    let text = text.trim_end();
    let known = SCALES
        .iter()
        .filter(|scale| text.ends_with(**scale))
        .max_by_key(|scale| scale.len());
    match known {
        Some(scale) => &text[text.len() - scale.len()..],
        None => text.rsplit(' ').next().unwrap_or(text),
    }
}

/// Whether a word can be the version of a program: it begins with a digit (after an optional `v`
/// or `r`).
pub(super) fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix(['v', 'r', 'V']).unwrap_or(word);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_+~".contains(c))
}

/// Title and version of a heading line: the version is its last word, if that is one.
pub(super) fn split_heading(line: &str) -> (&str, &str) {
    let line = line.trim();
    if let Some(title) = title_at_start(line) {
        return (title, line[title.len()..].trim());
    }
    match line.rsplit_once(' ') {
        Some((title, version)) if is_version(version) => (title.trim(), version),
        _ => (line, ""),
    }
}
