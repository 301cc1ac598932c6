//! Helpers of this crate's tests.

use std::path::{Path, PathBuf};

use fathom_base::process::{Program, find_program, run};
use fathom_base::{Cancel, Nanos};
use fathom_testkit::skipped;
use tempfile::TempDir;

/// A small file system on a loop device, unmounted on drop.
pub(crate) struct LoopMount {
    directory: TempDir,
    mounted: PathBuf,
}

impl LoopMount {
    /// An ext4 of so many bytes; says `SKIPPED` and gives nothing where that is not possible.
    pub(crate) fn ext4(bytes: u64) -> Option<Self> {
        Self::of(&["mkfs.ext4", "-q", "-F"], bytes)
    }

    /// A file system made by this command, the image's name appended.
    pub(crate) fn of(make: &[&str], bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(bytes)
            .unwrap();
        let mounted = directory.path().join("mounted");
        std::fs::create_dir(&mounted).unwrap();
        let image = image.display().to_string();
        let mounted_text = mounted.display().to_string();
        let made = [make, &[&image]].concat();
        let steps = [made, vec!["mount", "-o", "loop", &image, &mounted_text]];
        for step in steps {
            if let Err(reason) = call(&step) {
                skipped(&format!("no file system on a loop device: {reason}"));
                return None;
            }
        }
        Some(Self { directory, mounted })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mounted
    }

    /// Lets nothing be written for so long; gives how long it really was. Says `SKIPPED` where that
    /// is not possible.
    ///
    /// A process of its own thaws it: while a thread of ours waits in a page fault there, we can
    /// start none.
    pub(crate) fn freeze(&self, length: Nanos) -> Option<Nanos> {
        let mounted = self.mounted.display();
        let script = format!(
            "PATH=$PATH:/usr/sbin:/sbin; fsfreeze --freeze {mounted} && date +%s%N && sleep {}; date +%s%N; \
             fsfreeze --unfreeze {mounted}",
            length.as_secs_f64()
        );
        let said = match call(&["sh", "-c", &script]) {
            Ok(said) => said,
            Err(reason) => {
                skipped(&format!("no frozen file system: {reason}"));
                return None;
            }
        };
        let times: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
        Some(Nanos::new(times[1] - times[0]))
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        let mounted = self.mounted.display().to_string();
        // Lazily: the kernel closes the files of a finished io_uring a little later.
        if let Err(reason) = call(&["umount", "-l", &mounted]) {
            skipped(&format!(
                "{} stays: {reason}",
                self.directory.path().display()
            ));
        }
    }
}

/// A loop device on a file of its own, detached on drop.
pub(crate) struct LoopDevice {
    _directory: TempDir,
    path: PathBuf,
}

impl LoopDevice {
    /// A device of so many bytes; says `SKIPPED` and gives nothing where that is not possible.
    pub(crate) fn new(bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        std::fs::write(&image, vec![0; bytes as usize]).unwrap();
        let image = image.display().to_string();
        match call(&["losetup", "--find", "--show", &image]) {
            Ok(path) => Some(Self {
                _directory: directory,
                path: PathBuf::from(path.trim()),
            }),
            Err(reason) => {
                skipped(&format!("no loop device: {reason}"));
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Err(reason) = call(&["losetup", "--detach", &self.path.display().to_string()]) {
            skipped(&format!("{} stays: {reason}", self.path.display()));
        }
    }
}

/// Runs a system program to its end and gives what it printed.
fn call(words: &[&str]) -> Result<String, String> {
    let search = std::ffi::OsString::from("/usr/sbin:/sbin:/usr/bin:/bin");
    let program = find_program(words[0], &search).ok_or(format!("no {}", words[0]))?;
    let mut program = Program::new(program).args(&words[1..]);
    program.timeout = Nanos::from_secs(60);
    let finished = run(&program, &Cancel::new()).map_err(|error| error.to_string())?;
    match finished.is_success() {
        true => Ok(finished.stdout_text()),
        false => Err(finished.stderr_text().trim().to_owned()),
    }
}
