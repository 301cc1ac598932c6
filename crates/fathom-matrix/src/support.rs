//! What a kernel and the installed programs can do.

use std::ffi::OsStr;

use fathom_system::Root;

use crate::configuration::Configuration;
use crate::kind::{Encryption, FileSystemKind, Layout, RaidBy};
use crate::tools::Tools;

/// What this machine lacks for a configuration, and what to do; nothing when it can be built.
pub fn lacking(root: &Root, tools: &Tools, configuration: &Configuration) -> Option<String> {
    let kind = configuration.file_system.kind;
    let kernel = Kernel::read(root);
    let program = |name: &str, package: &str| {
        let is_there = tools.find(name).is_some();
        (!is_there).then(|| format!("{name} is not installed (apt-get install {package})"))
    };
    let reasons = [
        kernel.without_file_system(root, kind),
        program(kind.mkfs(), kind.package()),
        needs_md(configuration)
            .then(|| {
                let missing = md_modules(configuration.layout)
                    .iter()
                    .find(|module| !kernel.has_raid(root, module));
                missing
                    .map(|module| format!("this kernel ({}) has no {module}", kernel.release))
                    .or_else(|| program("mdadm", "mdadm"))
            })
            .flatten(),
        (configuration.encryption == Encryption::Luks)
            .then(|| {
                (!kernel.has_module(root, "dm_crypt"))
                    .then(|| format!("this kernel ({}) has no dm-crypt", kernel.release))
                    .or_else(|| program("cryptsetup", "cryptsetup-bin"))
            })
            .flatten(),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Loads the modules a configuration needs, where they are not built in. A failure shows when the
/// configuration is built.
pub fn prepare_kernel(root: &Root, tools: &Tools, configuration: &Configuration) {
    let mut modules = vec![configuration.file_system.kind.word()];
    if needs_md(configuration) {
        modules.extend(md_modules(configuration.layout));
    }
    if configuration.encryption == Encryption::Luks {
        modules.push("dm_crypt");
    }
    for module in modules {
        if !root.exists(format!("/sys/module/{module}")) && tools.find("modprobe").is_some() {
            let args = [OsStr::new("-q"), OsStr::new(module)];
            let _ = tools.run("load a module", "modprobe", &args);
        }
    }
}

pub(crate) fn needs_md(configuration: &Configuration) -> bool {
    configuration.layout != Layout::Single && configuration.raid == RaidBy::Md
}

fn md_modules(layout: Layout) -> &'static [&'static str] {
    match layout {
        Layout::Single => &[],
        Layout::Raid0 => &["md_mod", "raid0"],
        Layout::Raid1 => &["md_mod", "raid1"],
        Layout::Raid10 => &["md_mod", "raid10"],
        Layout::Raid5 => &["md_mod", "raid456"],
    }
}

struct Kernel {
    release: String,
    modules: String,
}

impl Kernel {
    fn read(root: &Root) -> Self {
        let release = root.line("/proc/sys/kernel/osrelease").unwrap_or_default();
        let list = |name: &str| {
            let places = ["/lib/modules", "/usr/lib/modules"];
            let texts = places
                .iter()
                .find_map(|base| root.read(format!("{base}/{release}/{name}")));
            texts.unwrap_or_default()
        };
        // Before the colon is the module, behind it what it needs.
        let dependent = list("modules.dep");
        let mut modules: String = dependent
            .lines()
            .filter_map(|line| line.split(':').next())
            .map(|path| format!("{path}\n"))
            .collect();
        modules.push_str(&list("modules.builtin"));
        Self { release, modules }
    }

    /// Loaded, built in, or to be loaded.
    fn has_module(&self, root: &Root, module: &str) -> bool {
        let dashed = module.replace('_', "-");
        let is_it = |line: &str| {
            let name = line.trim().rsplit('/').next().unwrap_or_default();
            let name = name.split(".ko").next().unwrap_or_default();
            name == module || name == dashed
        };
        root.exists(format!("/sys/module/{module}")) || self.modules.lines().any(is_it)
    }

    fn has_raid(&self, root: &Root, module: &str) -> bool {
        let status = root.read("/proc/mdstat").unwrap_or_default();
        let is_there = match module {
            "md_mod" => !status.is_empty(),
            "raid456" => status.contains("[raid5]"),
            level => status.contains(&format!("[{level}]")),
        };
        is_there || self.has_module(root, module)
    }

    fn without_file_system(&self, root: &Root, kind: FileSystemKind) -> Option<String> {
        let word = kind.word();
        let known = root.read("/proc/filesystems").unwrap_or_default();
        let is_known = known
            .lines()
            .any(|line| line.split_whitespace().last() == Some(word));
        (!is_known && !self.has_module(root, word))
            .then(|| format!("this kernel ({}) has no {word}", self.release))
    }
}
