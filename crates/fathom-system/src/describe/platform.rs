use fathom_model::Platform;

use crate::cgroup;
use crate::root::Root;

pub(super) fn read(root: &Root) -> Platform {
    let kernel = |name: &str| root.line(format!("/proc/sys/kernel/{name}"));
    let release = kernel("osrelease").unwrap_or_default();
    Platform {
        os: os(root),
        kernel_date: kernel("version")
            .filter(|_| is_development(&release))
            .and_then(|v| date(&v)),
        kernel: release,
        architecture: kernel("arch").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        command_line: root
            .line("/proc/cmdline")
            .map(|text| redacted(&text))
            .unwrap_or_default(),
        hypervisor: hypervisor(root),
        container: container(root),
        clock_source: root.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cpu_quota: cgroup::cpu_quota(root),
        io_limit: cgroup::io_limit(root),
        locked_memory_limit_bytes: locked_memory(root),
        io_uring_disabled: root.number("/proc/sys/kernel/io_uring_disabled"),
        platform_profile: root.line("/sys/firmware/acpi/platform_profile"),
        selinux_enforcing: root
            .number::<u8>("/sys/fs/selinux/enforce")
            .map(|value| value == 1),
        load: root
            .line("/proc/loadavg")
            .and_then(|text| text.split_whitespace().next()?.parse().ok()),
        ..Platform::default()
    }
}

/// `Ubuntu 23.10`, `Debian GNU/Linux 12`: as PTS, the distribution's short name where it keeps
/// one, else the long one up to the parenthesis.
fn os(root: &Root) -> String {
    let value = |text: &str, key: &str| {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.map(|value| value.trim().trim_matches(['"', '\'']).to_owned())
    };
    if let Some(text) = root.read("/etc/lsb-release")
        && let (Some(id), Some(release)) =
            (value(&text, "DISTRIB_ID"), value(&text, "DISTRIB_RELEASE"))
    {
        return format!("{id} {release}").trim().to_owned();
    }
    let text = root
        .read("/etc/os-release")
        .or_else(|| root.read("/usr/lib/os-release"));
    let text = text.unwrap_or_default();
    let name = value(&text, "PRETTY_NAME").or_else(|| {
        let version = value(&text, "VERSION_ID").unwrap_or_default();
        Some(format!("{} {version}", value(&text, "NAME")?))
    });
    let name = name.unwrap_or_default();
    name.split('(').next().unwrap_or_default().trim().to_owned()
}

/// PTS adds the build date to kernels whose number says little.
fn is_development(release: &str) -> bool {
    release.contains("rc") || release.contains("99")
}

/// `20180531` out of `#201805302300 SMP Thu May 31 03:02:34 UTC 2018`.
fn date(version: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = version.split_whitespace().collect();
    let at = words.iter().position(|word| MONTHS.contains(word))?;
    let month = MONTHS
        .iter()
        .position(|month| month == words.get(at).unwrap_or(&""))?
        + 1;
    let day: u32 = words.get(at + 1)?.parse().ok()?;
    let year: u32 = words.last()?.parse().ok()?;
    Some(format!("{year:04}{month:02}{day:02}"))
}

/// Options whose values name machines, networks or secrets lose them.
fn redacted(command_line: &str) -> String {
    const PRIVATE: [&str; 12] = [
        "ip",
        "nfsroot",
        "hostname",
        "systemd.hostname",
        "netroot",
        "ifname",
        "rd.luks.key",
        "iscsi_initiator",
        "ds",
        "url",
        "inst.ks",
        "inst.repo",
    ];
    // What comes after `--` is for the first program, not for the kernel.
    let kernel = command_line.split(" -- ").next().unwrap_or_default();
    let words = kernel
        .split_whitespace()
        .map(|word| match word.split_once('=') {
            Some((key, _)) if PRIVATE.contains(&key) || key.contains("password") => {
                format!("{key}=...")
            }
            _ => word.to_owned(),
        });
    words.collect::<Vec<_>>().join(" ")
}

/// The hypervisor below this machine: by the firmware's names, the device tree, Xen's own
/// directory, else only that there is one.
pub(crate) fn hypervisor(root: &Root) -> Option<String> {
    const NAMES: [(&str, &str); 14] = [
        ("KVM", "KVM"),
        ("QEMU", "QEMU"),
        ("VMware", "VMware"),
        ("innotek", "VirtualBox"),
        ("VirtualBox", "VirtualBox"),
        ("Xen", "Xen"),
        ("Bochs", "Bochs"),
        ("Parallels", "Parallels"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute Engine", "Google Compute Engine"),
        ("OpenStack", "OpenStack"),
        ("DigitalOcean", "DigitalOcean"),
        ("Hetzner vServer", "Hetzner"),
        ("Apple Virtualization", "Apple Virtualization"),
    ];
    let is_xen_host = root
        .line("/proc/xen/capabilities")
        .is_some_and(|text| text.contains("control_d"));
    if is_xen_host {
        return None;
    }
    let cpus = root.head("/proc/cpuinfo", 8192).unwrap_or_default();
    let flags = cpus.lines().find(|line| line.starts_with("flags"));
    let has_flag = flags.map(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    let dmi = |name: &str| {
        root.line(format!("/sys/class/dmi/id/{name}"))
            .unwrap_or_default()
    };
    let firmware = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
    let is_metal = firmware.contains(".metal");
    let by_firmware = NAMES
        .iter()
        .find(|(mark, _)| firmware.contains(mark) && !is_metal);
    let is_hyper_v = firmware.contains("Microsoft") && firmware.contains("Virtual Machine");
    let by_tree = root.line("/proc/device-tree/hypervisor/compatible");
    let by_xen = root
        .line("/sys/hypervisor/type")
        .filter(|kind| kind == "xen");
    if by_xen.is_some() {
        return Some("Xen".to_owned());
    }
    // Every hypervisor on x86 sets the flag; names of vendors alone are also on their hardware.
    if has_flag == Some(false) {
        return None;
    }
    if let Some((_, name)) = by_firmware {
        Some((*name).to_owned())
    } else if is_hyper_v {
        Some("Hyper-V".to_owned())
    } else if let Some(compatible) = by_tree {
        Some(
            if compatible.contains("kvm") {
                "KVM"
            } else {
                "hypervisor"
            }
            .to_owned(),
        )
    } else if has_flag == Some(true) {
        let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let sources = root.line(sources).unwrap_or_default();
        let name = if sources.contains("kvm-clock") {
            "KVM"
        } else if sources.contains("hyperv") {
            "Hyper-V"
        } else {
            "hypervisor"
        };
        Some(name.to_owned())
    } else {
        None
    }
}

fn container(root: &Root) -> Option<String> {
    if let Some(name) = root.line("/run/systemd/container") {
        return Some(name);
    }
    if root.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    if root.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    let of_init = root.read("/proc/1/environ").and_then(|text| {
        let value = text
            .split('\0')
            .find_map(|pair| pair.strip_prefix("container="));
        value.map(str::to_owned)
    });
    let groups = root.read("/proc/self/cgroup").unwrap_or_default();
    let by_group = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("/lxc", "lxc"),
    ]
    .iter()
    .find(|(mark, _)| groups.contains(mark))
    .map(|(_, name)| (*name).to_owned());
    of_init.filter(|name| !name.is_empty()).or(by_group)
}

/// The soft limit; absent when unlimited, as it is for whoever may lock memory at will.
fn locked_memory(root: &Root) -> Option<u64> {
    const CAP_IPC_LOCK: u64 = 1 << 14;
    let status = root.read("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    if effective.is_some_and(|set| set & CAP_IPC_LOCK != 0) {
        return None;
    }
    let limits = root.read("/proc/self/limits")?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))?;
    line.split_whitespace().next()?.parse().ok()
}
