//! Names of what hangs on PCI, by the list of names distributions ship.

use std::collections::BTreeMap;

use fathom_model::Peripherals;

use crate::root::Root;
use crate::words;

/// Devices that are looked at.
const DEVICE_LIMIT: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Pci {
    pub peripherals: Peripherals,
    pub chipset: String,
}

struct Device {
    class: u32,
    vendor: u16,
    device: u16,
}

pub(super) fn read(root: &Root) -> Pci {
    let base = "/sys/bus/pci/devices";
    let hex = |name: &str, file: &str| {
        let text = root.line(format!("{base}/{name}/{file}"))?;
        u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
    };
    let devices: Vec<Device> = root
        .names(base)
        .iter()
        .take(DEVICE_LIMIT)
        .filter_map(|name| {
            Some(Device {
                class: hex(name, "class")?,
                vendor: u16::try_from(hex(name, "vendor")?).ok()?,
                device: u16::try_from(hex(name, "device")?).ok()?,
            })
        })
        .collect();
    if devices.is_empty() {
        return Pci::default();
    }
    let names = Names::read(root);
    let of = |is_it: fn(u32) -> bool| -> Vec<String> {
        let found = devices.iter().filter(|device| is_it(device.class));
        found
            .map(|device| names.of(device))
            .filter(|name| !name.is_empty())
            .collect()
    };
    let bridges = of(|class| class >> 8 == 0x0600);
    Pci {
        peripherals: Peripherals {
            graphics: of(|class| class >> 16 == 0x03),
            network: of(|class| class >> 16 == 0x02),
            audio: of(|class| class >> 8 == 0x0403),
            ..Peripherals::default()
        },
        chipset: bridges.into_iter().next().unwrap_or_default(),
    }
}

/// Vendors and devices by number.
#[derive(Default)]
struct Names {
    vendors: BTreeMap<u16, String>,
    devices: BTreeMap<(u16, u16), String>,
}

impl Names {
    fn read(root: &Root) -> Self {
        const PLACES: [&str; 3] = [
            "/usr/share/misc/pci.ids",
            "/usr/share/hwdata/pci.ids",
            "/usr/share/pci.ids",
        ];
        let text = PLACES.iter().find_map(|place| root.read(place));
        Self::parse(&text.unwrap_or_default())
    }

    /// Vendors begin a line, their devices one tab, subsystems two.
    fn parse(text: &str) -> Self {
        let numbered = |line: &str| {
            let number = u16::from_str_radix(line.get(..4)?, 16).ok()?;
            Some((number, line.get(4..)?.strip_prefix("  ")?.trim().to_owned()))
        };
        let mut names = Self::default();
        let mut vendor = None;
        for line in text.lines() {
            if line.starts_with('#') || line.starts_with("\t\t") || line.is_empty() {
                continue;
            }
            if line.starts_with("C ") {
                break;
            }
            match (line.strip_prefix('\t'), vendor) {
                (Some(rest), Some(vendor)) => {
                    if let Some((device, name)) = numbered(rest) {
                        names.devices.insert((vendor, device), name);
                    }
                }
                (Some(_), None) => {}
                (None, _) => {
                    let found = numbered(line);
                    vendor = found.as_ref().map(|(number, _)| *number);
                    names.vendors.extend(found);
                }
            }
        }
        names
    }

    fn of(&self, device: &Device) -> String {
        let vendor = self.vendors.get(&device.vendor).cloned();
        let vendor = vendor.or_else(|| known_vendor(device.vendor).map(str::to_owned));
        let vendor = vendor.unwrap_or_else(|| format!("Vendor {:04x}", device.vendor));
        let name = self.devices.get(&(device.vendor, device.device)).cloned();
        let name = name.unwrap_or_else(|| format!("Device {:04x}", device.device));
        words::clean(&format!("{vendor} {name}"))
    }
}

/// The vendors met most, for machines without the list.
fn known_vendor(vendor: u16) -> Option<&'static str> {
    Some(match vendor {
        0x1002 | 0x1022 => "AMD",
        0x10de => "NVIDIA",
        0x10ec => "Realtek",
        0x1137 => "Cisco",
        0x14e4 => "Broadcom",
        0x15b3 => "Mellanox",
        0x177d => "Cavium",
        0x1a03 => "ASPEED",
        0x1af4 => "Red Hat Virtio",
        0x1d0f => "Amazon",
        0x8086 => "Intel",
        _ => return None,
    })
}
