use std::path::{Path, PathBuf};

use fathom_base::seed_for;
use serde::{Deserialize, Serialize};

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
