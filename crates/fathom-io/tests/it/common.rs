//! What the tests share: scratch directories, plain jobs, loop devices.

use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_base::{Bytes, Cancel, Nanos};
use fathom_io::{
    BlockSizes, ClockChoice, Contents, Cursor, DirectVerdict, Distribution, EngineKind,
    EngineOptions, IoError, JobReport, JobSpec, LayoutSpec, Mode, NoHooks, OnError, Pace, Stamps,
    Stop, SyncPolicy, Target, TargetKind, Verify, direct_probe, lay_out, probe, run,
};

pub const BLOCK: u64 = 4096;
pub const SIZE: Bytes = Bytes::new(4 << 20);

/// A directory that is removed again.
pub fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("fathom-io-")
        .tempdir()
        .unwrap()
}

/// Says loudly why something is not tested.
pub fn skip(reason: &str) {
    use std::io::Write as _;
    // Not `eprintln!`, which the test harness captures when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {reason}");
}

/// Engines that move data and can be used here.
pub fn engines() -> Vec<EngineKind> {
    let all = EngineKind::ALL.into_iter();
    all.filter(|&engine| engine != EngineKind::Null)
        .filter(|&engine| match probe(engine) {
            Ok(()) => true,
            Err(why) => {
                skip(&format!("engine {engine}: {why}"));
                false
            }
        })
        .collect()
}

/// Whether files here can be opened with O_DIRECT and bypass the cache.
pub fn has_direct(directory: &Path) -> bool {
    let verdict = direct_probe(directory).map(|p| p.verdict);
    if matches!(verdict, Ok(DirectVerdict::Effective)) {
        return true;
    }
    skip(&format!(
        "direct I/O in {}: {verdict:?}",
        directory.display()
    ));
    false
}

/// One buffered pass at depth 1.
pub fn spec(path: &Path, engine: EngineKind, mode: Mode) -> JobSpec {
    JobSpec {
        target: Target {
            path: path.to_path_buf(),
            kind: TargetKind::File,
        },
        mode,
        block_sizes: BlockSizes::one(Bytes::new(BLOCK)),
        engine,
        engine_fallback: false,
        engine_options: EngineOptions::PLAIN,
        depth: 1,
        jobs: 1,
        cursor: Cursor::Own,
        direct: false,
        offset: Bytes::new(0),
        size: SIZE,
        stop: passes(1),
        ramp: Nanos::new(0),
        sync: SyncPolicy::NONE,
        pace: Pace::Unpaced,
        distribution: Distribution::OnceEach,
        contents: Contents::Random,
        verify: Verify::Off,
        on_error: OnError::Stop,
        seed: 1,
        interval: Nanos::from_millis(10),
        stamps: Stamps::PerIo,
        clock: ClockChoice::Auto,
        cpus: Vec::new(),
        stuck_after: Nanos::from_secs(60),
    }
}

pub const fn passes(count: u32) -> Stop {
    Stop {
        runtime: None,
        bytes: None,
        passes: Some(count),
    }
}

pub const fn runtime(ms: u64) -> Stop {
    Stop {
        runtime: Some(Nanos::from_millis(ms)),
        bytes: None,
        passes: None,
    }
}

pub fn measure(spec: &JobSpec) -> Result<JobReport, IoError> {
    run(spec, &NoHooks, &Cancel::new())
}

/// Lays a file out with the contents of seed 1.
pub fn laid_out(path: &Path, size: Bytes) -> PathBuf {
    let layout = LayoutSpec {
        path: path.to_path_buf(),
        size,
        contents: Contents::Random,
        seed: 1,
        direct: false,
        stuck_after: Nanos::from_secs(60),
    };
    lay_out(&layout, &Cancel::new(), &|_| {}).unwrap();
    path.to_path_buf()
}

/// Whether the tests run as root; says so if not.
pub fn is_root(what: &str) -> bool {
    let root = rustix_uid() == 0;
    if !root {
        skip(&format!("{what}: needs root"));
    }
    root
}

fn rustix_uid() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() }
}

/// A loop device on a file; detached when dropped.
pub struct Loop {
    pub device: PathBuf,
    _directory: tempfile::TempDir,
}

impl Loop {
    /// `None`, and a word about it, where there are no loop devices.
    pub fn new(size: Bytes) -> Option<Self> {
        let directory = scratch();
        let image = directory.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(size.as_u64()).unwrap();
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&image)
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8(output.stdout).unwrap();
                Some(Self {
                    device: PathBuf::from(text.trim()),
                    _directory: directory,
                })
            }
            other => {
                skip(&format!("loop device: {other:?}"));
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.device)
            .status();
    }
}

/// A small ext4 on a loop device; unmounted when dropped.
pub struct SmallFileSystem {
    pub directory: PathBuf,
    mount_point: Option<tempfile::TempDir>,
    _device: Loop,
}

impl SmallFileSystem {
    pub fn new(size: Bytes) -> Option<Self> {
        let device = Loop::new(size)?;
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-m", "0"])
            .arg(&device.device)
            .output();
        if !made.as_ref().is_ok_and(|o| o.status.success()) {
            skip(&format!("mkfs.ext4: {made:?}"));
            return None;
        }
        let mount_point = scratch();
        let mounted = Command::new("mount")
            .arg(&device.device)
            .arg(mount_point.path())
            .output();
        if !mounted.as_ref().is_ok_and(|o| o.status.success()) {
            skip(&format!("mount: {mounted:?}"));
            return None;
        }
        Some(Self {
            directory: mount_point.path().to_path_buf(),
            mount_point: Some(mount_point),
            _device: device,
        })
    }

    /// Freezes or thaws it; whether that worked.
    pub fn freeze(&self, option: &str) -> bool {
        Command::new("fsfreeze")
            .arg(option)
            .arg(&self.directory)
            .output()
            .is_ok_and(|o| o.status.success())
    }

    /// The device below.
    pub fn device(&self) -> &Path {
        &self._device.device
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.directory).status();
        if !unmounted.is_ok_and(|s| s.success()) {
            // The directory must not be emptied through the mount.
            if let Some(mount_point) = self.mount_point.take() {
                let _ = mount_point.keep();
            }
            let lazily = Command::new("umount")
                .arg("-l")
                .arg(&self.directory)
                .status();
            let _ = lazily;
        }
    }
}
