use std::collections::BTreeSet;

use fathom_model::Cpu;

use crate::root::Root;

const BASE: &str = "/sys/devices/system/cpu";

pub(super) fn read(root: &Root) -> Cpu {
    let info = CpuInfo::parse(&root.read("/proc/cpuinfo").unwrap_or_default());
    let topology = Topology::read(root);
    let threads = match info.threads {
        0 => topology.threads,
        count => count,
    };
    let cores = if topology.cores > 0 {
        topology.cores
    } else {
        info.cores
    };
    let policy = |file: &str| root.line(format!("{BASE}/cpu0/cpufreq/{file}"));
    Cpu {
        model: info.model,
        sockets: topology.sockets.max(info.sockets).max(1),
        cores: if cores > 0 { cores } else { threads },
        threads,
        frequency_max_khz: policy("scaling_max_freq").and_then(|text| text.parse().ok()),
        governor: governor(root),
        scaling_driver: policy("scaling_driver"),
        boost: boost(root),
        microcode: info.microcode,
        smt: root
            .number::<u8>(format!("{BASE}/smt/active"))
            .map(|value| value != 0),
        energy_preference: policy("energy_performance_preference"),
        vulnerabilities: root
            .names(format!("{BASE}/vulnerabilities"))
            .into_iter()
            .filter_map(|name| {
                let text = root.line(format!("{BASE}/vulnerabilities/{name}"))?;
                Some((name, text))
            })
            .collect(),
    }
}

/// What `/proc/cpuinfo` says; its keys differ by architecture.
#[derive(Debug, Default, PartialEq, Eq)]
struct CpuInfo {
    model: String,
    sockets: u32,
    cores: u32,
    threads: u32,
    microcode: Option<String>,
}

impl CpuInfo {
    fn parse(text: &str) -> Self {
        let pairs = || text.lines().filter_map(|line| line.split_once(':'));
        let first = |key: &str| {
            let found =
                pairs().find(|(known, value)| known.trim() == key && !value.trim().is_empty());
            found.map(|(_, value)| value.trim().to_owned())
        };
        let named = ["model name", "Model Name", "cpu model", "cpu", "uarch"];
        let model = named.iter().find_map(|key| first(key));
        let model = model.or_else(|| arm_model(&first("CPU implementer")?, &first("CPU part")?));
        // Old 32-bit ARM kernels name the processor once, before the list of them.
        let model = model
            .or_else(|| first("Processor"))
            .or_else(|| first("Hardware"));
        let mut packages = BTreeSet::new();
        let mut cores = BTreeSet::new();
        let mut package = String::new();
        let mut threads = 0_u32;
        for (key, value) in pairs() {
            match key.trim() {
                // `Processor : ARMv7 ...` is a name, `processor : 0` a number.
                "processor" if value.trim().parse::<u32>().is_ok() => threads += 1,
                "physical id" => {
                    package = value.trim().to_owned();
                    packages.insert(package.clone());
                }
                "core id" => {
                    cores.insert((package.clone(), value.trim().to_owned()));
                }
                _ => {}
            }
        }
        let count = |set: usize| u32::try_from(set).unwrap_or(u32::MAX);
        Self {
            model: model.unwrap_or_default(),
            sockets: count(packages.len()),
            cores: count(cores.len()),
            threads,
            microcode: first("microcode"),
        }
    }
}

/// Groups of threads that share a core, and packages, by sysfs.
#[derive(Debug, Default)]
struct Topology {
    sockets: u32,
    cores: u32,
    threads: u32,
}

impl Topology {
    fn read(root: &Root) -> Self {
        let mut packages = BTreeSet::new();
        let mut cores = BTreeSet::new();
        let mut threads = 0;
        for name in root.names(BASE) {
            let is_cpu = name
                .strip_prefix("cpu")
                .is_some_and(|rest| rest.parse::<u32>().is_ok());
            let line = |file: &str| root.line(format!("{BASE}/{name}/topology/{file}"));
            if !is_cpu {
                continue;
            }
            let Some(siblings) = line("core_cpus_list").or_else(|| line("thread_siblings_list"))
            else {
                // Without a topology it is offline.
                continue;
            };
            threads += 1;
            cores.insert(siblings);
            packages.extend(line("physical_package_id").filter(|id| id != "-1"));
        }
        let count = |set: usize| u32::try_from(set).unwrap_or(u32::MAX);
        Self {
            sockets: count(packages.len()),
            cores: count(cores.len()),
            threads,
        }
    }
}

/// The governors of all policies, each once.
fn governor(root: &Root) -> Option<String> {
    let base = format!("{BASE}/cpufreq");
    let mut all: Vec<String> = root
        .names(&base)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .filter_map(|name| root.line(format!("{base}/{name}/scaling_governor")))
        .collect();
    all.extend(root.line(format!("{BASE}/cpu0/cpufreq/scaling_governor")));
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then(|| all.join(" + "))
}

fn boost(root: &Root) -> Option<bool> {
    let number = |path: &str| root.number::<u8>(format!("{BASE}/{path}"));
    let by_intel = number("intel_pstate/no_turbo").map(|value| value == 0);
    by_intel
        .or_else(|| number("cpufreq/boost").map(|value| value != 0))
        .or_else(|| number("cpu0/cpufreq/boost").map(|value| value != 0))
}

/// ARM gives numbers: implementer and part (ARM's and the vendors' main ID registers).
fn arm_model(implementer: &str, part: &str) -> Option<String> {
    const NAMES: [(u32, u32, &str); 44] = [
        (0x41, 0xc07, "ARMv7 Cortex-A7"),
        (0x41, 0xc08, "ARMv7 Cortex-A8"),
        (0x41, 0xc09, "ARMv7 Cortex-A9"),
        (0x41, 0xc0f, "ARMv7 Cortex-A15"),
        (0x41, 0xb76, "ARMv6 ARM1176"),
        (0x41, 0xd03, "ARMv8 Cortex-A53"),
        (0x41, 0xd04, "ARMv8 Cortex-A35"),
        (0x41, 0xd05, "ARMv8 Cortex-A55"),
        (0x41, 0xd07, "ARMv8 Cortex-A57"),
        (0x41, 0xd08, "ARMv8 Cortex-A72"),
        (0x41, 0xd09, "ARMv8 Cortex-A73"),
        (0x41, 0xd0a, "ARMv8 Cortex-A75"),
        (0x41, 0xd0b, "ARMv8 Cortex-A76"),
        (0x41, 0xd0c, "ARMv8 Neoverse-N1"),
        (0x41, 0xd0d, "ARMv8 Cortex-A77"),
        (0x41, 0xd40, "ARMv8 Neoverse-V1"),
        (0x41, 0xd41, "ARMv8 Cortex-A78"),
        (0x41, 0xd42, "ARMv8 Cortex-A78AE"),
        (0x41, 0xd44, "ARMv8 Cortex-X1"),
        (0x41, 0xd46, "ARMv9 Cortex-A510"),
        (0x41, 0xd47, "ARMv9 Cortex-A710"),
        (0x41, 0xd48, "ARMv9 Cortex-X2"),
        (0x41, 0xd49, "ARMv9 Neoverse-N2"),
        (0x41, 0xd4d, "ARMv9 Cortex-A715"),
        (0x41, 0xd4e, "ARMv9 Cortex-X3"),
        (0x41, 0xd4f, "ARMv9 Neoverse-V2"),
        (0x41, 0xd80, "ARMv9 Cortex-A520"),
        (0x41, 0xd81, "ARMv9 Cortex-A720"),
        (0x41, 0xd82, "ARMv9 Cortex-X4"),
        (0x42, 0x516, "ARMv8 ThunderX2"),
        (0x43, 0x0a1, "ARMv8 ThunderX"),
        (0x43, 0x0af, "ARMv8 ThunderX2"),
        (0x46, 0x001, "ARMv8 A64FX"),
        (0x48, 0xd01, "ARMv8 Kunpeng-920"),
        (0x4e, 0x004, "ARMv8 Carmel"),
        (0x50, 0x000, "ARMv8 X-Gene"),
        (0x51, 0x800, "ARMv8 Kryo 2xx Gold"),
        (0x51, 0x802, "ARMv8 Kryo 3xx Gold"),
        (0x51, 0x804, "ARMv8 Kryo 4xx Gold"),
        (0x51, 0xc00, "ARMv8 Falkor"),
        (0x61, 0x022, "ARMv8 Apple M1"),
        (0x61, 0x023, "ARMv8 Apple M1"),
        (0xc0, 0xac3, "ARMv8 Ampere-1"),
        (0xc0, 0xac4, "ARMv8 Ampere-1A"),
    ];
    let number = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (implementer, part) = (number(implementer)?, number(part)?);
    let found = NAMES
        .iter()
        .find(|(who, what, _)| (*who, *what) == (implementer, part));
    Some(match found {
        Some((_, _, name)) => (*name).to_owned(),
        None => format!("ARM implementer {implementer:#x} part {part:#x}"),
    })
}
