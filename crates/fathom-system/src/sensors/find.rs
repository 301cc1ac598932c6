//! Which sensors there are.

use std::path::{Path, PathBuf};

use fathom_model::TargetInfo;

use crate::block::BlockDevice;
use crate::root::Root;

use super::SensorInfo;
use super::source::{Meaning, Source, Text};

/// A number and its line end.
const SHORT: usize = 64;
/// A small table.
const TABLE: usize = 4096;
/// Processors whose frequency is read: more cost time and say the same.
const PROCESSORS: usize = 8;
/// Interfaces of `/proc/net/dev`.
const NETWORK: usize = 16 << 10;
/// hwmon names of what measures a processor's temperature.
const PROCESSOR_CHIPS: [&str; 6] = [
    "coretemp",
    "k10temp",
    "zenpower",
    "cpu_thermal",
    "soc_thermal",
    "scpi_sensors",
];
/// Types of thermal zones that do.
const PROCESSOR_ZONES: [&str; 5] = [
    "x86_pkg_temp",
    "cpu-thermal",
    "cpu_thermal",
    "soc-thermal",
    "cpu0-thermal",
];

pub(super) fn all(root: &Root, target: &TargetInfo) -> Vec<(SensorInfo, Source)> {
    let mut found = Found {
        root,
        all: Vec::new(),
    };
    for drive in &target.drives {
        if let Some(device) = BlockDevice::by_name(root, &drive.name) {
            found.drive(&device);
        }
    }
    found.processor();
    found.machine();
    found.all
}

struct Found<'a> {
    root: &'a Root,
    all: Vec<(SensorInfo, Source)>,
}

impl Found<'_> {
    fn push(
        &mut self,
        id: String,
        unit: &'static str,
        paths: &[PathBuf],
        limit: usize,
        meaning: Meaning,
    ) {
        let texts: Vec<Text> = paths
            .iter()
            .filter_map(|path| Text::open(&self.root.path(path), limit))
            .collect();
        if !texts.is_empty() {
            self.all
                .push((SensorInfo { id, unit }, Source::new(texts, meaning)));
        }
    }

    fn drive(&mut self, device: &BlockDevice) {
        const SECTOR_MB: f64 = 512.0 / 1e6;
        let name = &device.name;
        for path in temperatures(self.root, device) {
            let id = match self.root.line(path.with_file_name(label_of(&path))) {
                // NVMe drives have one that stands for all, and some more of their parts.
                Some(label) if label != "Composite" => {
                    format!("drive-temperature/{name}/{}", label.replace(' ', "-"))
                }
                _ => format!("drive-temperature/{name}"),
            };
            self.push(id, "Celsius", &[path], SHORT, Meaning::Gauge(0.001));
        }
        let stat = [device.sys.join("stat")];
        for (what, unit, column, factor) in [
            ("read", "MB/s", 2, SECTOR_MB),
            ("write", "MB/s", 6, SECTOR_MB),
            // Milliseconds with something in flight, and those times how much.
            ("utilisation", "%", 9, 0.1),
            ("queue", "requests", 10, 0.001),
        ] {
            let id = format!("drive-{what}/{name}");
            self.push(id, unit, &stat, 512, Meaning::Column(column, factor));
        }
    }

    fn processor(&mut self) {
        let stat = [PathBuf::from("/proc/stat")];
        self.push("cpu-usage".into(), "%", &stat, 256, Meaning::CpuUsage);
        let frequencies = frequencies(self.root);
        self.push(
            "cpu-frequency".into(),
            "MHz",
            &frequencies,
            SHORT,
            Meaning::Gauge(0.001),
        );
        if let Some(path) = processor_temperature(self.root) {
            self.push(
                "cpu-temperature".into(),
                "Celsius",
                &[path],
                SHORT,
                Meaning::Gauge(0.001),
            );
        }
        for (id, path, range) in energies(self.root) {
            self.push(id, "W", &[path], SHORT, Meaning::Energy(range));
        }
    }

    fn machine(&mut self) {
        for what in ["io", "cpu", "memory"] {
            let path = [PathBuf::from(format!("/proc/pressure/{what}"))];
            self.push(
                format!("pressure-{what}"),
                "%",
                &path,
                256,
                Meaning::Pressure,
            );
        }
        let memory = [PathBuf::from("/proc/meminfo")];
        self.push(
            "memory-used".into(),
            "MB",
            &memory,
            TABLE,
            Meaning::MemoryUsed,
        );
        self.push(
            "memory-dirty".into(),
            "MB",
            &memory,
            TABLE,
            Meaning::MemoryOf("Dirty:"),
        );
        let network = [PathBuf::from("/proc/net/dev")];
        self.push(
            "network".into(),
            "MB/s",
            &network,
            NETWORK,
            Meaning::Network,
        );
    }
}

/// `temp1_input` -> `temp1_label`.
fn label_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.replace("_input", "_label")
}

/// The temperatures of a drive, behind its own link: below the drive (`drivetemp`), its controller
/// (NVMe), or for a multipath drive the controllers of its subsystem.
fn temperatures(root: &Root, device: &BlockDevice) -> Vec<PathBuf> {
    let Some(parent) = root.real_path(device.sys.join("device")) else {
        return Vec::new();
    };
    let mut places = vec![parent.clone(), parent.join("device")];
    let is_controller = |name: &String| {
        name.strip_prefix("nvme")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = root.names(&parent).into_iter();
    places.extend(names.filter(is_controller).map(|name| parent.join(name)));
    for place in places {
        // Both have been used: `nvme0/hwmon0` and `nvme0/hwmon/hwmon0`.
        let inside = root.names(place.join("hwmon")).into_iter();
        let inside = inside.map(|name| place.join("hwmon").join(name));
        let beside = root.names(&place).into_iter();
        let beside = beside.filter(|name| name.starts_with("hwmon") && name != "hwmon");
        let chips: Vec<PathBuf> = inside.chain(beside.map(|name| place.join(name))).collect();
        for chip in chips {
            let kind = root.line(chip.join("name")).unwrap_or_default();
            let found = inputs(root, &chip);
            if ["nvme", "drivetemp"].contains(&kind.as_str()) && !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

fn inputs(root: &Root, chip: &Path) -> Vec<PathBuf> {
    let is_input = |name: &String| name.starts_with("temp") && name.ends_with("_input");
    let names = root.names(chip).into_iter();
    names.filter(is_input).map(|name| chip.join(name)).collect()
}

/// Frequencies of some processors, spread over all.
fn frequencies(root: &Root) -> Vec<PathBuf> {
    let base = Path::new("/sys/devices/system/cpu");
    let paths: Vec<PathBuf> = root
        .names(base)
        .into_iter()
        .map(|name| base.join(name).join("cpufreq/scaling_cur_freq"))
        .filter(|path| root.exists(path))
        .collect();
    let step = paths.len().div_ceil(PROCESSORS).max(1);
    paths.into_iter().step_by(step).collect()
}

fn processor_temperature(root: &Root) -> Option<PathBuf> {
    let base = Path::new("/sys/class/hwmon");
    let chips = root.names(base);
    let is_processor = |chip: &PathBuf| {
        let name = root.line(chip.join("name")).unwrap_or_default();
        PROCESSOR_CHIPS.contains(&name.as_str())
    };
    let mut chips = chips.into_iter().map(|name| base.join(name));
    let by_chip = chips
        .find(is_processor)
        .and_then(|chip| inputs(root, &chip).into_iter().next());
    let by_zone = || {
        let base = Path::new("/sys/class/thermal");
        let zones = root.names(base).into_iter().map(|name| base.join(name));
        let mut zones = zones.filter(|zone| {
            let kind = root.line(zone.join("type")).unwrap_or_default();
            PROCESSOR_ZONES.contains(&kind.as_str())
        });
        zones.next().map(|zone| zone.join("temp"))
    };
    by_chip.or_else(by_zone)
}

/// Packages of the running average power limit: name, counter, and where it begins again.
fn energies(root: &Root) -> Vec<(String, PathBuf, f64)> {
    let base = Path::new("/sys/class/powercap");
    let names = root.names(base).into_iter();
    // `intel-rapl:0` is a package, `intel-rapl:0:0` a part of it.
    let packages = names.filter(|name| name.matches(':').count() == 1 && name.contains("-rapl:"));
    packages
        .filter_map(|name| {
            let place = base.join(&name);
            let range: f64 = root.number(place.join("max_energy_range_uj"))?;
            let label = root.line(place.join("name")).unwrap_or(name);
            Some((format!("power/{label}"), place.join("energy_uj"), range))
        })
        .collect()
}
