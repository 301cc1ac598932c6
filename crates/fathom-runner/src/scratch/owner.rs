use std::path::{Path, PathBuf};

use fathom_base::seed_for;
use serde::{Deserialize, Serialize};

/// How often left processes are looked for, and how long is waited between.
const END_TRIES: u32 = 100;
const END_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
/// The largest environment that is looked at.
const ENVIRONMENT_LIMIT: u64 = 4 << 20;

/// A process, named so that it cannot be taken for a later one with the same number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Owner {
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
    /// The boot.
    pub boot: String,
    /// The process namespace: numbers of one mean nothing in another.
    pub namespace: String,
    /// The machine, not to be guessed from it.
    pub machine: String,
}

/// The processes of this machine, under a root that tests replace.
#[derive(Clone, Debug)]
pub struct ProcessTable {
    proc: PathBuf,
    own: Owner,
}

impl ProcessTable {
    /// The machine's; `root` is `/` except in tests.
    pub fn new(root: &Path) -> Self {
        let proc = root.join("proc");
        let pid = std::process::id();
        let boot = read(&proc.join("sys/kernel/random/boot_id"));
        let namespace = std::fs::read_link(proc.join("self/ns/pid"))
            .map(|link| link.to_string_lossy().into_owned())
            .unwrap_or_default();
        let machine = read(&root.join("etc/machine-id"));
        let machine = match machine.as_str() {
            "" => String::new(),
            id => format!("{:016x}", seed_for(0, &format!("fathom scratch {id}"))),
        };
        let own = Owner {
            pid,
            started: started(&proc, pid).unwrap_or_default(),
            boot,
            namespace,
            machine,
        };
        Self { proc, own }
    }

    /// This process.
    pub(crate) fn own(&self) -> Owner {
        self.own.clone()
    }

    /// Whether the owner is seen running. One that runs in another container is not seen; its
    /// lock tells.
    pub(crate) fn is_alive(&self, owner: &Owner) -> bool {
        owner.boot == self.own.boot
            && owner.namespace == self.own.namespace
            && started(&self.proc, owner.pid) == Some(owner.started)
    }

    /// Kills the processes that a dead run left: those that carry its scratch directory in the variable
    /// that programs are started with ([`fathom_model::SCRATCH_VARIABLE`]). Waits a little until they
    /// are gone.
    pub(crate) fn end_marked(&self, scratch: &Path) {
        let mark = mark_of(scratch);
        for _ in 0..END_TRIES {
            let marked = self.marked(&mark);
            if marked.is_empty() {
                return;
            }
            for pid in marked {
                // One that has ended by itself is what we want.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            std::thread::sleep(END_WAIT);
        }
    }

    fn marked(&self, mark: &[u8]) -> Vec<rustix::process::Pid> {
        let Ok(entries) = std::fs::read_dir(&self.proc) else {
            return Vec::new();
        };
        let is_marked = |pid: &u32| {
            let environment = self.proc.join(pid.to_string()).join("environ");
            let read = fathom_base::files::read_limited(&environment, ENVIRONMENT_LIMIT);
            let bytes = read.unwrap_or_default();
            *pid != self.own.pid && bytes.split(|byte| *byte == 0).any(|one| one == mark)
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(is_marked)
            .filter_map(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?))
            .collect()
    }

    /// Whether the owner would be seen if it ran: it is not of this boot any more, or of our own
    /// process namespace.
    pub(crate) fn can_see(&self, owner: &Owner) -> bool {
        owner.boot != self.own.boot || owner.namespace == self.own.namespace
    }

    /// Whether it ran on this machine, in this boot or an earlier one.
    pub(crate) fn is_this_machine(&self, owner: &Owner) -> bool {
        let same_boot = owner.boot == self.own.boot && !owner.boot.is_empty();
        let same_machine = owner.machine == self.own.machine && !owner.machine.is_empty();
        same_boot || same_machine
    }
}

/// `VARIABLE=/path/of/scratch`.
fn mark_of(scratch: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut mark = fathom_model::SCRATCH_VARIABLE.as_bytes().to_vec();
    mark.push(b'=');
    mark.extend_from_slice(scratch.as_os_str().as_bytes());
    mark
}

fn read(path: &Path) -> String {
    let text = fathom_base::files::read_text_limited(path, 4096).unwrap_or_default();
    text.trim().to_owned()
}

/// Field 22 of `/proc/PID/stat`; the second field, a name in parentheses, may hold anything.
fn started(proc: &Path, pid: u32) -> Option<u64> {
    let stat = proc.join(pid.to_string()).join("stat");
    let text = fathom_base::files::read_text_limited(&stat, 4096).ok()?;
    let after_name = text.rsplit_once(')')?.1;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}
