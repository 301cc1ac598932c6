//! Helpers for the tests of classic tests: a small disk, and counting system calls.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fathom_base::Cancel;
use fathom_base::process::{Program, find_program, run};
use fathom_model::{Test, TestError};
use fathom_testkit::Bench;

/// Says loudly why a test does not check what it should.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// A program of this name, or a loud word that a test is skipped.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // mkfs and mount may lie where an ordinary user does not look.
    let mut path = std::env::split_paths(&path).collect::<Vec<_>>();
    path.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let path = std::env::join_paths(path).unwrap_or_default();
    let found = find_program(name, &path);
    if found.is_none() {
        skipped(&format!("{name} is not installed"));
    }
    found
}

/// An ext4 file system of 64 MiB in a file, mounted for as long as this lives.
pub(crate) struct SmallDisk {
    _image: tempfile::TempDir,
    mount_point: PathBuf,
}

impl SmallDisk {
    /// Mounts one; `None`, with a word why, where that is not possible.
    pub(crate) fn mount() -> Option<Self> {
        let (mkfs, mount) = (tool("mkfs.ext4")?, tool("mount")?);
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("disk");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(64 << 20)
            .unwrap();
        let made = call(&mkfs, &[OsStr::new("-q"), image.as_os_str()]);
        assert!(made, "mkfs.ext4 failed");
        let mount_point = directory.path().join("mounted");
        std::fs::create_dir(&mount_point).unwrap();
        let loops = [OsStr::new("-o"), OsStr::new("loop")];
        let arguments = [
            loops[0],
            loops[1],
            image.as_os_str(),
            mount_point.as_os_str(),
        ];
        if !call(&mount, &arguments) {
            skipped("only root may mount a loop device here");
            return None;
        }
        Some(Self {
            _image: directory,
            mount_point,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mount_point
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = tool("umount")
            .is_some_and(|umount| call(&umount, &[OsStr::new("-l"), self.mount_point.as_os_str()]));
        if !unmounted {
            skipped(&format!("{} is still mounted", self.mount_point.display()));
        }
    }
}

fn call(program: &Path, arguments: &[&OsStr]) -> bool {
    let command = Program::new(program).args(arguments);
    run(&command, &Cancel::new()).is_ok_and(|finished| finished.is_success())
}

/// A case too large for a disk of 64 MiB ends with a clear error, twice in a row (what the first
/// trial left would be in the second one's way), and everything is removed.
pub(crate) fn a_full_disk_is_told(test: &dyn Test, typed: &[(&str, &str)]) {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let bench = Bench::inside(disk.path());
    let case = Bench::case(test, typed);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    for trial in 1..=2 {
        let error = prepared.run_once(&bench.context(trial)).unwrap_err();
        let TestError::NoSpace { path, needed, .. } = &error else {
            panic!("a full disk gave: {error}");
        };
        assert!(path.starts_with(bench.scratch()), "{}", path.display());
        assert!(needed.as_u64() > 64 << 20, "{needed} needed");
        assert!(error.to_string().contains("no space left"), "{error}");
    }
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

/// While a trial runs, somebody puts links that lead out of it in the place of its directories,
/// again and again: whatever becomes of the trial, nothing outside changes, and everything inside is
/// removed. Gives how often it was done.
pub(crate) fn a_planted_link_is_not_followed(test: &dyn Test, typed: &[(&str, &str)]) -> u32 {
    const ENOUGH: u32 = 200;
    let bench = Bench::new();
    let case = Bench::case(test, typed);
    let outside = bench.directory().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let before: Vec<PathBuf> = (0..200).map(|n| outside.join(n.to_string())).collect();
    before
        .iter()
        .for_each(|path| std::fs::write(path, "precious").unwrap());
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let directory = bench.scratch().join(format!("{}-{}", case.test, case.id));
    let planted = std::sync::atomic::AtomicU32::new(0);
    let over = std::sync::atomic::AtomicBool::new(false);
    use std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                planted.fetch_add(plant(&directory, &outside, 0), SeqCst);
                if planted.load(SeqCst) > ENOUGH {
                    bench.cancel.cancel();
                }
            }
        });
        // A directory that is not there any more may well be an error.
        let _ = prepared.run_once(&bench.context(1));
        over.store(true, SeqCst);
    });
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
    let mut after: Vec<PathBuf> = std::fs::read_dir(&outside)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    after.sort();
    let mut expected = before.clone();
    expected.sort();
    assert_eq!(after, expected);
    for path in before {
        assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
    }
    planted.into_inner()
}

/// Moves each directory below `inside` away and puts a link in its place.
fn plant(inside: &Path, outside: &Path, depth: u32) -> u32 {
    let Ok(entries) = std::fs::read_dir(inside) else {
        return 0;
    };
    let mut planted = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        let is_moved = path.extension().is_some_and(|end| end == "moved");
        if is_moved || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if depth < 2 {
            planted += plant(&path, outside, depth + 1);
        }
        if std::fs::rename(&path, path.with_extension("moved")).is_ok() {
            planted += u32::from(std::os::unix::fs::symlink(outside, &path).is_ok());
        }
    }
    planted
}

/// System calls by name, of a program and all its threads and children.
pub(crate) type Calls = BTreeMap<String, i64>;

/// Counts the system calls of a program; `None` where tracing is not possible.
pub(crate) fn traced(program: &Program) -> Option<Calls> {
    let strace = tool("strace")?;
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Program::new(strace)
        .args(["-f", "-qq", "-o"])
        .args([log.path().as_os_str(), &program.program])
        .args(program.args.iter());
    command.directory.clone_from(&program.directory);
    command.environment.clone_from(&program.environment);
    command.input.clone_from(&program.input);
    let finished = run(&command, &Cancel::new()).unwrap();
    if finished.stderr_text().contains("ptrace") {
        skipped("strace may not trace here");
        return None;
    }
    let texts = (finished.stdout_text(), finished.stderr_text());
    assert!(finished.is_success(), "{}{}", texts.0, texts.1);
    let log = std::fs::read_to_string(log.path()).unwrap();
    let mut calls = Calls::new();
    for line in log.lines() {
        // `PID name(arguments`; `PID <... name resumed>` is the second half of a call.
        let call = line.split_whitespace().nth(1).unwrap_or_default();
        // A debug build asks of every descriptor whether it is open before it closes it.
        if let Some((name, _)) = call.split_once('(')
            && !line.contains("F_GETFD")
        {
            *calls.entry(plain(name).to_owned()).or_default() += 1;
        }
    }
    Some(calls)
}

/// One name for the calls that do the same.
fn plain(name: &str) -> &str {
    match name {
        "open" | "openat" | "openat2" | "creat" => "open",
        "mkdir" | "mkdirat" => "mkdir",
        "unlink" | "unlinkat" | "rmdir" => "unlink",
        "rename" | "renameat" | "renameat2" => "rename",
        "stat" | "newfstatat" | "fstat" | "lstat" | "statx" => "stat",
        "statfs" | "fstatfs" => "statfs",
        other => other,
    }
}

/// The calls that more work takes: those of the larger run less those of the smaller one, without
/// the calls of starting and of threads waiting for one another.
pub(crate) fn more_work(small: &Calls, large: &Calls) -> Calls {
    const OF_THE_PROCESS: [&str; 17] = [
        "alarm",
        "brk",
        "clone",
        "clone3",
        "futex",
        "getrusage",
        "kill",
        "madvise",
        "mmap",
        "mprotect",
        "munmap",
        "restart_syscall",
        "rt_sigaction",
        "rt_sigprocmask",
        "rt_sigreturn",
        "sched_yield",
        "wait4",
    ];
    let names = small.keys().chain(large.keys());
    let mut more = Calls::new();
    for name in names.filter(|name| !OF_THE_PROCESS.contains(&name.as_str())) {
        let count = |calls: &Calls| calls.get(name).copied().unwrap_or(0);
        let extra = count(large) - count(small);
        if extra != 0 {
            more.insert(name.clone(), extra);
        }
    }
    more
}

/// The variable that tells [`traced_child`] what to run.
const CASE: &str = "FATHOM_TRACED_CASE";
/// And where.
const PLACE: &str = "FATHOM_TRACED_PLACE";

/// The command that runs one trial of a case in this test binary: `child` is the full name of an
/// ignored test that calls [`traced_child`].
pub(crate) fn child_command(child: &str, place: &Path, typed: &[(&str, &str)]) -> Program {
    let words: Vec<String> = typed.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mine = std::env::current_exe().unwrap();
    let mut command = Program::new(mine).args([child, "--exact", "--ignored", "--test-threads=1"]);
    command.environment = vec![
        (CASE.into(), words.join("\n").into()),
        (PLACE.into(), place.as_os_str().to_owned()),
    ];
    command
}

/// Runs one trial of the case in the environment; nothing when there is none.
pub(crate) fn traced_child(test: &dyn Test) {
    let (Some(place), Ok(words)) = (std::env::var_os(PLACE), std::env::var(CASE)) else {
        return;
    };
    let typed: Vec<(&str, &str)> = words.lines().filter_map(|w| w.split_once('=')).collect();
    let bench = Bench::inside(Path::new(&place));
    bench.run(test, &typed, 1).unwrap();
}
