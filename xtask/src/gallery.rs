//! `cargo xtask gallery`: numbers that are wrong in a known way, each of which must get its verdict,
//! and a sound one, which must not.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::our_binary;
use crate::run::{cargo, has_program, insist, is_root, output, root};

/// A wrong number: what is done, and which rules may name it.
struct Piece {
    name: &'static str,
    /// Any of them, at least suspect; none for a sound run.
    rules: &'static [&'static str],
    run: fn(&Gallery) -> Result<Value>,
}

const PIECES: [Piece; 9] = [
    Piece {
        name: "a sound run: direct reads of a file that was written",
        rules: &[],
        run: |g| {
            g.io(
                &g.directory,
                "rw=randread size=256MiB runtime=3s depth=8 direct=yes",
            )
        },
    },
    Piece {
        name: "tmpfs as a disk",
        rules: &["memory-backed"],
        run: |g| g.io(Path::new("/dev/shm"), "rw=randread size=64MiB runtime=1s"),
    },
    Piece {
        name: "btrfs, misaligned direct reads",
        rules: &["direct-io", "device-bytes", "page-cache"],
        run: misaligned,
    },
    Piece {
        name: "a buffered file smaller than memory",
        rules: &["page-cache"],
        run: |g| {
            g.io(
                &g.directory,
                "rw=randread size=64MiB runtime=2s direct=no depth=1",
            )
        },
    },
    Piece {
        name: "a sparse file, read",
        rules: &["unwritten-blocks"],
        run: sparse,
    },
    Piece {
        name: "zeros on compressing btrfs",
        rules: &["compressible-data"],
        run: zeros,
    },
    Piece {
        name: "others read 10 % on the same drive",
        rules: &["foreign-io"],
        run: foreign,
    },
    Piece {
        name: "a control group with a tenth of a processor",
        rules: &["throttled"],
        run: throttled,
    },
    Piece {
        name: "a generator that is busy checking",
        rules: &["generator-bound"],
        run: |g| {
            let options = "rw=read size=512MiB runtime=3s block-size=8MiB depth=4 direct=yes \
                           verify=on engine=io_uring";
            g.io(&g.directory, options)
        },
    },
];

/// What only evidence that was recorded elsewhere can show.
const BY_EVIDENCE: &str = "rates above a link, and latencies beyond the histogram, need hardware or \
    hours: the tests of fathom-model provoke link-ceiling and counts by evidence";

struct Gallery {
    directory: PathBuf,
    fathom: PathBuf,
}

/// Shows the pieces.
pub fn gallery() -> Result<()> {
    if !is_root() {
        bail!("mounting file systems needs root");
    }
    insist(cargo(&["build", "--release", "-p", "fathom-cli"]))?;
    let directory = root().join("target/gallery");
    std::fs::create_dir_all(&directory).context("make the scratch directory")?;
    let gallery = Gallery {
        directory,
        fathom: our_binary()?,
    };
    let mut missed = 0;
    for piece in &PIECES {
        let result = (piece.run)(&gallery).with_context(|| piece.name.to_owned())?;
        missed += u32::from(!tell(piece, &result));
    }
    println!("{BY_EVIDENCE}");
    println!("{} pieces, {missed} without their verdict", PIECES.len());
    if missed > 0 {
        bail!("{missed} pieces without their verdict");
    }
    Ok(())
}

/// Prints a line; whether the piece got what it should.
fn tell(piece: &Piece, result: &Value) -> bool {
    let verdict = &result["runs"][0]["trials"][0]["verdict"];
    let level = verdict["level"].as_str().unwrap_or("none");
    let reasons = verdict["reasons"].as_array();
    let rules: Vec<&str> = reasons
        .into_iter()
        .flatten()
        .filter_map(|reason| reason["rule"].as_str())
        .collect();
    let is_told = match piece.rules {
        [] => level == "valid",
        wanted => level != "valid" && rules.iter().any(|rule| wanted.contains(rule)),
    };
    let mark = if is_told { "ok    " } else { "MISSED" };
    println!("{mark} {:<52} {level:<8} {}", piece.name, rules.join(", "));
    is_told
}

impl Gallery {
    fn io(&self, target: &Path, options: &str) -> Result<Value> {
        let text = output(self.command(target, options))?;
        serde_json::from_str(&text).context("read Fathom's JSON")
    }

    fn command(&self, target: &Path, options: &str) -> Command {
        // Each piece is saved under the same name.
        let _ = std::fs::remove_dir_all(self.directory.join("data"));
        let mut command = Command::new(&self.fathom);
        command.args(["run", "io", "--quiet", "--json", "--min-trials", "1"]);
        command.args(["--max-trials", "1", "--name", "gallery"]);
        command.arg("--target").arg(target);
        command.args(options.split_whitespace().flat_map(|option| ["-o", option]));
        command.env("FATHOM_DATA", self.directory.join("data"));
        command
    }

    fn btrfs(&self, options: &str) -> Result<Mounted> {
        Mounted::btrfs(&self.directory, options)
    }
}

struct Mounted {
    at: PathBuf,
    image: PathBuf,
}

impl Mounted {
    fn btrfs(directory: &Path, options: &str) -> Result<Self> {
        let (image, at) = (directory.join("image"), directory.join("mounted"));
        std::fs::create_dir_all(&at)?;
        std::fs::File::create(&image)?.set_len(1 << 30)?;
        let mut make = Command::new("mkfs.btrfs");
        make.args(["-q", "-f"]).arg(&image);
        output(make)?;
        let mut mount = Command::new("mount");
        mount.args(["-o", options]).arg(&image).arg(&at);
        output(mount)?;
        Ok(Self { at, image })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
        let _ = std::fs::remove_file(&self.image);
    }
}

fn misaligned(gallery: &Gallery) -> Result<Value> {
    let mounted = gallery.btrfs("loop")?;
    gallery.io(
        &mounted.at,
        "rw=randread size=64MiB offset=1000B runtime=2s ramp=0s direct=yes depth=1 engine=psync",
    )
}

fn sparse(gallery: &Gallery) -> Result<Value> {
    let file = gallery.directory.join("sparse");
    std::fs::File::create(&file)?.set_len(256 << 20)?;
    let result = gallery.io(&file, "rw=randread size=256MiB runtime=1s direct=yes");
    std::fs::remove_file(&file)?;
    result
}

fn zeros(gallery: &Gallery) -> Result<Value> {
    let mounted = gallery.btrfs("loop,compress=zstd")?;
    gallery.io(
        &mounted.at,
        "rw=write size=64MiB runtime=1s block-size=128KiB contents=zeros final-flush=fsync",
    )
}

/// A reader of its own at a tenth of our rate.
fn foreign(gallery: &Gallery) -> Result<Value> {
    if !has_program("fio") {
        bail!("fio is not installed: apt-get install fio");
    }
    let mut other = other_reader(&gallery.directory)?;
    let result = gallery.io(
        &gallery.directory,
        "rw=randread size=256MiB runtime=4s direct=yes depth=8 block-size=64KiB rate-limit=100MB/s",
    );
    other.kill()?;
    other.wait()?;
    std::fs::remove_file(gallery.directory.join("other")).ok();
    result
}

fn other_reader(directory: &Path) -> Result<Child> {
    let file = directory.join("other");
    std::fs::write(&file, vec![7; 64 << 20])?;
    let mut fio = Command::new("fio");
    fio.args(["--name=other", "--rw=randread", "--bs=64k", "--direct=1"]);
    fio.args(["--size=64m", "--rate=10m", "--time_based=1", "--runtime=60"]);
    fio.arg(format!("--filename={}", file.display()));
    fio.stdout(Stdio::null()).spawn().context("start fio")
}

/// Whether the processor groups of version 1 or 2 are at hand, ours is given a tenth of one.
fn throttled(gallery: &Gallery) -> Result<Value> {
    let group = Group::make()?;
    let mut command = Command::new("sh");
    let fathom = gallery.command(
        &gallery.directory,
        "rw=randread size=64MiB runtime=2s direct=yes depth=32",
    );
    let words: Vec<String> = std::iter::once(fathom.get_program())
        .chain(fathom.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let script = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.0.display());
    command.args(["-c", &script, "sh"]).args(words);
    command.env("FATHOM_DATA", gallery.directory.join("data"));
    let text = output(command)?;
    serde_json::from_str(&text).context("read Fathom's JSON")
}

struct Group(PathBuf);

impl Group {
    fn make() -> Result<Self> {
        for (base, quota) in [
            (
                "/sys/fs/cgroup/cpu",
                [
                    ("cpu.cfs_period_us", "100000"),
                    ("cpu.cfs_quota_us", "10000"),
                ],
            ),
            (
                "/sys/fs/cgroup",
                [("cpu.max", "10000 100000"), ("cpu.max", "10000 100000")],
            ),
        ] {
            let path = Path::new(base).join("fathom-gallery");
            if !Path::new(base).is_dir() || std::fs::create_dir_all(&path).is_err() {
                continue;
            }
            let group = Self(path);
            let set = |(file, text): (&str, &str)| std::fs::write(group.0.join(file), text);
            if quota.into_iter().all(|one| set(one).is_ok()) {
                return Ok(group);
            }
        }
        bail!("no control group with a processor quota can be made")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
