use fathom_base::Bytes;
use fathom_model::{Cpu, Field, LayerKind, Machine, TargetInfo};

use super::{known, target_line};

pub(super) fn fields(machine: &Machine, target: &TargetInfo) -> Vec<Field> {
    let platform = &machine.platform;
    let prefixed = |name: &str, text: &Option<String>| match text {
        Some(text) => format!("{name}{text}"),
        None => String::new(),
    };
    known([
        (
            "Kernel Details",
            prefixed("Transparent Huge Pages: ", &machine.memory.huge_pages),
        ),
        (
            "Compiler Details",
            platform.compiler_options.clone().unwrap_or_default(),
        ),
        ("Disk Details", disk(target)),
        ("Target Details", target_line(target)),
        (
            "Processor Details",
            processor(&machine.cpu, platform.platform_profile.as_deref()),
        ),
        ("Java Details", platform.java.clone().unwrap_or_default()),
        ("Python Details", prefixed("Python ", &platform.python)),
        ("Security Details", security(machine)),
    ])
}

/// Mount options without the directories of an overlay, which say where others keep their data.
pub(super) fn shown_options(options: &[String]) -> Vec<&str> {
    const HIDDEN: [&str; 4] = ["lowerdir", "upperdir", "workdir", "datadir"];
    let name = |option: &str| {
        option
            .split('=')
            .next()
            .map(str::to_owned)
            .unwrap_or_default()
    };
    let shown = options.iter().map(String::as_str);
    shown
        .filter(|option| !HIDDEN.contains(&name(option).as_str()))
        .collect()
}

/// `MQ-DEADLINE / relatime,rw / raid0, 2 drives / Block Size: 4096`.
fn disk(target: &TargetInfo) -> String {
    let mut schedulers: Vec<String> = target
        .drives
        .iter()
        .filter_map(|drive| drive.scheduler.as_ref())
        .map(|name| name.to_ascii_uppercase())
        .collect();
    schedulers.sort_unstable();
    schedulers.dedup();
    let mut parts = vec![schedulers.join(" + ")];
    if let Some(mount) = &target.mount {
        parts.push(shown_options(&mount.options).join(","));
        parts.extend(mount.profile.clone());
    }
    let special = |kind| [LayerKind::Md, LayerKind::Bcache].contains(&kind);
    for layer in target.layers.iter().filter(|layer| special(layer.kind)) {
        parts.push(format!("{} {}", layer.name, layer.detail));
    }
    let block = target
        .mount
        .as_ref()
        .map_or(0, |mount| mount.block_size_bytes);
    if block > 0 {
        parts.push(format!("Block Size: {block}"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" / ")
}

/// `Scaling Governor: acpi-cpufreq ondemand (Boost: Enabled) - CPU Microcode: 0x8001230`.
fn processor(cpu: &Cpu, profile: Option<&str>) -> String {
    let mut parts = Vec::new();
    if let Some(governor) = &cpu.governor {
        let driver = cpu.scaling_driver.as_deref().unwrap_or_default();
        let mut inside = Vec::new();
        if let Some(boost) = cpu.boost {
            inside.push(format!(
                "Boost: {}",
                if boost { "Enabled" } else { "Disabled" }
            ));
        }
        if let Some(preference) = &cpu.energy_preference {
            inside.push(format!("EPP: {preference}"));
        }
        let inside = match inside.is_empty() {
            true => String::new(),
            false => format!(" ({})", inside.join(", ")),
        };
        let governor = format!("{driver} {governor}");
        parts.push(format!("Scaling Governor: {}{inside}", governor.trim()));
    }
    parts.extend(profile.map(|profile| format!("Platform Profile: {profile}")));
    parts.extend(
        cpu.microcode
            .as_ref()
            .map(|code| format!("CPU Microcode: {code}")),
    );
    parts.join(" - ")
}

fn security(machine: &Machine) -> String {
    let selinux = machine.platform.selinux_enforcing == Some(true);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(selinux.then(|| "SELinux".to_owned()));
    for (name, text) in &machine.cpu.vulnerabilities {
        let text = text
            .replace("Mitigation: ", "Mitigation of ")
            .replace("Speculative Store Bypass", "SSB")
            .replace(" + ", " ");
        parts.push(format!("{name}: {text}"));
    }
    parts.join(" + ")
}

/// For tests and lines: a size as people say it.
pub(super) fn rough(bytes: u64) -> String {
    Bytes::new(bytes).rough()
}
