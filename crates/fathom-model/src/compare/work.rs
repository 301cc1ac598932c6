//! What a case does, whoever carries it out: Fathom's own tests and the profiles of the Phoronix
//! Test Suite in one vocabulary, so that the same work can be found in both.

use std::collections::BTreeMap;

use crate::case::{Case, ImplementationKind};
use crate::definition;
use crate::option::OptionInfo;

#[cfg(test)]
mod tests;

/// The work of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Fathom's name of the test.
    pub test: String,
    /// Options that make it this work: where one differs, it is another one.
    pub essential: BTreeMap<String, String>,
    /// The other options, as far as they are known.
    pub rest: BTreeMap<String, String>,
}

impl Work {
    /// The work of a case; `None` for an imported one that no test of Fathom follows.
    pub(super) fn of(case: &Case) -> Option<Self> {
        match case.implementation.kind {
            ImplementationKind::Imported => translated(case),
            ImplementationKind::Native | ImplementationKind::Program => Some(Self {
                test: case.test.clone(),
                essential: BTreeMap::new(),
                rest: owned(case.options.iter()),
            }),
        }
    }

    fn option(&self, name: &str) -> Option<&str> {
        let own = self.essential.get(name).or_else(|| self.rest.get(name));
        own.map(String::as_str)
    }

    /// Options in which two works differ, `runtime 20s and 3s`; `None` when they are not the same
    /// work.
    pub(super) fn differences(&self, other: &Self) -> Option<Vec<String>> {
        if self.test != other.test {
            return None;
        }
        let holds = |one: &Self, another: &Self| {
            let mut options = one.essential.iter();
            options.all(|(name, value)| another.option(name) == Some(value))
        };
        if !holds(self, other) || !holds(other, self) {
            return None;
        }
        let mut differences = Vec::new();
        for (name, value) in &self.rest {
            match other.option(name) {
                Some(theirs) if theirs != value => {
                    differences.push(format!("{name} {value} and {theirs}"));
                }
                _ => {}
            }
        }
        // Nothing says which options of Fathom's own cases matter most: all of them do.
        let is_own = self.essential.is_empty() && other.essential.is_empty();
        (!is_own || differences.is_empty()).then_some(differences)
    }
}

fn owned<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    pairs.map(owned).collect()
}

/// Collects what a profile's options mean.
struct Translation<'a> {
    case: &'a Case,
    test: &'static str,
    essential: Vec<(&'static str, String)>,
    rest: Vec<(&'static str, String)>,
}

impl<'a> Translation<'a> {
    fn of(case: &'a Case, test: &'static str) -> Self {
        Self {
            case,
            test,
            essential: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// An option of the profile by any of its names.
    fn get(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.case.options.get(name))
    }

    fn is(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.essential.push((name, value.into()));
        self
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.rest.push((name, value.into()));
        self
    }

    /// The work; options of the test that the profile has no word for are at their default.
    fn work(self, options: &[OptionInfo]) -> Option<Work> {
        let canonical = |name: &str, value: &str| -> Option<String> {
            match options.iter().find(|option| option.name == name) {
                Some(option) => option.canonical(self.test, value).ok(),
                None => Some(value.to_owned()),
            }
        };
        let own = |pairs: &[(&'static str, String)]| -> Option<BTreeMap<String, String>> {
            let owned = |(name, value): &(&str, String)| {
                Some(((*name).to_owned(), canonical(name, value)?))
            };
            pairs.iter().map(owned).collect()
        };
        let essential = own(&self.essential)?;
        let mut rest = own(&self.rest)?;
        for option in options {
            if !essential.contains_key(option.name) && !rest.contains_key(option.name) {
                let default = option.canonical(self.test, &option.default).ok()?;
                rest.insert(option.name.to_owned(), default);
            }
        }
        Some(Work {
            test: self.test.to_owned(),
            essential,
            rest,
        })
    }
}

/// The work of an imported case. The options are those of the profiles by name and menu; what they
/// leave unsaid (depth, times) is what the profiles' scripts pass on.
fn translated(case: &Case) -> Option<Work> {
    match case.test.as_str() {
        "fio" => fio(case),
        "sqlite" => sqlite(case),
        "dbench" => {
            let of = Translation::of(case, definition::dbench::ID);
            let clients = of.get(&["client-count"])?.to_owned();
            of.is("clients", clients)
                .is("scale", "full")
                .work(&definition::dbench::options())
        }
        "fs-mark" => fs_mark(case),
        "iozone" => iozone(case),
        "tiobench" => tiobench(case),
        "blogbench" => {
            let of = Translation::of(case, definition::blogbench::ID);
            let metric = match of.get(&["test"])? {
                "Read" => "reads",
                "Write" => "writes",
                _ => return None,
            };
            of.is("metric", metric)
                .is("scale", "full")
                .work(&definition::blogbench::options())
        }
        "compilebench" => compilebench(case),
        "postmark" => {
            let of = Translation::of(case, definition::postmark::ID);
            of.is("transactions", "250000")
                .is("size-low", size_text("5120")?)
                .is("size-high", size_text("524288")?)
                .is("files", "500")
                .is("scale", "full")
                .work(&definition::postmark::options())
        }
        "hdparm-read" => Translation::of(case, definition::hdparm_read::ID)
            .is("direct", "no")
            .is("scale", "full")
            .work(&definition::hdparm_read::options()),
        _ => program(case),
    }
}

/// Tests that Fathom has only as programs: their options are those the suites name.
fn program(case: &Case) -> Option<Work> {
    let of = |test| Translation::of(case, test);
    let option = |name: &str| case.options.get(name);
    let lower = |text: &str| text.to_ascii_lowercase();
    let work = match case.test.as_str() {
        "build-gcc" => of("build-gcc"),
        "build-linux-kernel" => of("build-linux-kernel"),
        "build-llvm" => of("build-llvm"),
        "cassandra" => of("cassandra").is("workload", lower(option("test")?)),
        "cockroach" => {
            let reads = option("workload")?.strip_prefix("KV, ")?;
            of("cockroach-kv")
                .is("read-percent", reads.strip_suffix(" Reads")?)
                .is("concurrency", option("concurrency")?)
        }
        "mysqlslap" => match option("test") {
            Some(test) => of("sysbench-oltp")
                .is("workload", test.strip_prefix("oltp_")?)
                .is("threads", option("threads")?),
            None => of("mariadb-slap").is("clients", option("clients")?),
        },
        "pgbench" => {
            let mode = lower(option("mode")?).replace(' ', "-");
            match option("scaling-factor") {
                Some(factor) => of("pgbench")
                    .is("scale-factor", factor)
                    .is("clients", option("clients")?)
                    .is("mode", mode),
                None => of("pgbench")
                    .is("scaling", lower(option("scaling")?.strip_suffix(" Test")?))
                    .is("load", pgbench_load(option("test")?)?)
                    .is("mode", mode),
            }
        }
        _ => return None,
    };
    work.work(&[])
}

fn pgbench_load(text: &str) -> Option<&'static str> {
    match text {
        "Single Thread" => Some("single"),
        "Normal Load" => Some("normal"),
        "Heavy Contention" => Some("heavy"),
        _ => None,
    }
}

/// How Fathom writes a size: `2MiB` of `2MB` (the menus of PTS say MB and pass on MiB) or `2048KiB`.
fn size_text(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => "B",
        "k" | "kb" | "kib" => "KiB",
        "m" | "mb" | "mib" => "MiB",
        "g" | "gb" | "gib" => "GiB",
        _ => return None,
    };
    let bytes: fathom_base::Bytes = format!("{number}{unit}").parse().ok()?;
    Some(bytes.to_string())
}

/// `pts/fio`: 1 GiB, depth 64, ramp 5 s; 20 s with fio 2 and 3.1, 60 s since profile 2.0 (fio 3.29
/// and later), which also has the option `Job Count` and lets every fourth operation of io_uring go
/// to a kernel worker.
fn fio(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::io::ID);
    let rw = match of.get(&["type"])? {
        "Random Read" => "randread",
        "Random Write" => "randwrite",
        "Sequential Read" => "read",
        "Sequential Write" => "write",
        _ => return None,
    };
    let engine = of.get(&["engine", "io-engine"])?;
    let (engine, depth) = match engine.to_ascii_lowercase().as_str() {
        "libaio" | "linux aio" => ("libaio", "64"),
        "io_uring" => ("io_uring", "64"),
        "posix aio" => ("posixaio", "64"),
        "sync" => ("sync", "1"),
        _ => return None,
    };
    let direct = of.get(&["direct"])?.to_ascii_lowercase();
    let block = size_text(of.get(&["block-size"])?)?;
    let jobs = of.get(&["job-count"]);
    let of = of
        .is("rw", rw)
        .is("block-size", block)
        .is("engine", engine)
        .is("direct", direct)
        .is("depth", depth)
        .is("jobs", jobs.unwrap_or("1"))
        .is("rate", "none")
        .is("fdatasync-every", "none")
        .is("fsync-every", "none")
        .is("open-sync", "none")
        .with("size", "1GiB")
        .with("runtime", if jobs.is_some() { "60s" } else { "20s" })
        .with("ramp", "5s")
        .with("cursor", "own")
        .with("submit-batch", "1");
    let of = match engine {
        "io_uring" => of
            .with("force-async", "4")
            .with("fixed-buffers", "no")
            .with("fixed-files", "no"),
        _ => of,
    };
    let of = match (jobs, rw) {
        (Some(_), "write" | "randwrite") => of.with("layout", "fallocate"),
        _ => of,
    };
    of.work(&definition::io::options())
}

/// One copy with a test target (1.x) or a text alone (2.0), several copies since 2.1.
fn sqlite(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::sqlite::ID);
    let copies = of.get(&["threads-per-copies"]);
    let variant = match (copies, case.implementation.version.as_str()) {
        (Some(_), _) => "3.41",
        (None, version) if version.starts_with("3.8") => "3.8",
        (None, _) => "3.22",
    };
    of.is("variant", variant)
        .is("copies", copies.unwrap_or("1"))
        .is("journal", "delete")
        .is("synchronous", "full")
        .is("scale", "full")
        .work(&definition::sqlite::options())
}

/// `5000 Files, 1MB Size, 4 Threads`, `4000 Files, 32 Sub Dirs, 1MB Size`, `..., No Sync/FSync`.
fn fs_mark(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::fs_mark::ID);
    let (mut files, mut size) = (None, None);
    let (mut threads, mut directories, mut sync) = ("1", "none", "fsync");
    for part in of.get(&["test"])?.split(", ") {
        match part.split_once(' ') {
            Some((count, "Files")) => files = Some(count),
            Some((text, "Size")) => size = size_text(text),
            Some((count, "Threads")) => threads = count,
            Some((count, "Sub Dirs")) => directories = count,
            Some(("No", "Sync/FSync")) => sync = "none",
            _ => return None,
        }
    }
    of.is("files", files?)
        .is("size", size?)
        .is("threads", threads)
        .is("directories", directories)
        .is("sync", sync)
        .is("scale", "full")
        .work(&definition::fs_mark::options())
}

fn iozone(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::iozone::ID);
    let operation = match of.get(&["disk-test"])? {
        "Write Performance" => "write",
        "Read Performance" => "read",
        _ => return None,
    };
    let record = size_text(of.get(&["record-size"])?)?;
    let size = size_text(of.get(&["file-size"])?)?;
    of.is("operation", operation)
        .is("record", record)
        .is("size", size)
        .is("scale", "full")
        .work(&definition::iozone::options())
}

fn tiobench(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::tiobench::ID);
    let operation = match of.get(&["test"])? {
        "Write" => "write",
        "Random Write" => "random-write",
        "Read" => "read",
        "Random Read" => "random-read",
        _ => return None,
    };
    let size = size_text(of.get(&["size-per-thread"])?)?;
    let threads = of.get(&["thread-count"])?;
    of.is("operation", operation)
        .is("size", size)
        .is("threads", threads)
        .is("scale", "full")
        .work(&definition::tiobench::options())
}

fn compilebench(case: &Case) -> Option<Work> {
    let of = Translation::of(case, definition::compilebench::ID);
    let phase = match of.get(&["test"])? {
        "Initial Create" => "create",
        "Compile" => "compile",
        "Read Compiled Tree" => "read-compiled",
        _ => return None,
    };
    of.is("phase", phase)
        .is("scale", "full")
        .work(&definition::compilebench::options())
}
