//! The link between a drive and the processor, and the most it carries after line coding.

use std::path::{Path, PathBuf};

use fathom_model::Link;

use crate::root::Root;

use super::ata::AtaIdentity;
use super::nvme_controllers;

/// A PCIe link as sysfs shows it: hundredths of GT/s and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Pcie {
    speed: u32,
    width: u32,
}

/// PCIe generations: hundredths of GT/s, name, and the share line coding leaves.
const PCIE: [(u32, &str, u64, u64); 6] = [
    (250, "1.0", 8, 10),
    (500, "2.0", 8, 10),
    (800, "3.0", 128, 130),
    (1600, "4.0", 128, 130),
    (3200, "5.0", 128, 130),
    // Flow control units of 256 bytes carry 242 of payload and headers.
    (6400, "6.0", 242, 256),
];

impl Pcie {
    fn read(root: &Root, device: &Path, which: &str) -> Option<Self> {
        let speed = root.line(device.join(format!("{which}_link_speed")))?;
        let width = root.number(device.join(format!("{which}_link_width")))?;
        let link = Self {
            speed: parse_speed(&speed)?,
            width,
        };
        (1..=32).contains(&link.width).then_some(link)
    }

    fn bytes_per_second(self) -> u64 {
        let coding = PCIE.iter().find(|(speed, ..)| *speed == self.speed);
        let (kept, of) = coding.map_or((1, 1), |(_, _, kept, of)| (*kept, *of));
        // 10^7 bits a second in a hundredth of GT/s; 8 bits in a byte.
        let raw = u64::from(self.speed) * 10_000_000 * u64::from(self.width);
        raw * kept / of / 8
    }

    fn text(self) -> String {
        match PCIE.iter().find(|(speed, ..)| *speed == self.speed) {
            Some((_, name, ..)) => format!("PCIe {name} x{}", self.width),
            None => format!(
                "PCIe {}.{} GT/s x{}",
                self.speed / 100,
                self.speed % 100,
                self.width
            ),
        }
    }

    /// The lower of both in each respect.
    fn meet(self, other: Self) -> Self {
        Self {
            speed: self.speed.min(other.speed),
            width: self.width.min(other.width),
        }
    }
}

/// `8.0 GT/s PCIe`, `8 GT/s`, `2.5 GT/s` in hundredths.
fn parse_speed(text: &str) -> Option<u32> {
    let (number, unit) = text.trim().split_once(' ')?;
    let speed: f64 = number.parse().ok().filter(|_| unit.starts_with("GT/s"))?;
    let hundredths = (speed * 100.0).round();
    (1.0..=100_000.0)
        .contains(&hundredths)
        .then_some(hundredths as u32)
}

/// The link of a drive, where the transport has one that sysfs shows.
pub(super) fn of_drive(
    root: &Root,
    parent: &Path,
    transport: Option<&str>,
    ata: &AtaIdentity,
) -> Option<Link> {
    match transport? {
        "nvme" => all_pcie(root, &nvme_controllers(root, parent)),
        "sata" => sata(root, parent, ata),
        "usb" => usb(root, parent),
        "sas" => sas(root, parent),
        _ => None,
    }
}

/// Several controllers lead to one name space: what they carry adds up.
fn all_pcie(root: &Root, controllers: &[PathBuf]) -> Option<Link> {
    let links: Vec<Link> = controllers.iter().filter_map(|at| pcie(root, at)).collect();
    if links.len() != controllers.len() {
        return None;
    }
    let first = links.first()?;
    let text = match links.len() {
        1 => first.text.clone(),
        count => format!("{count} x {}", first.text),
    };
    Some(Link {
        text,
        bytes_per_second: links.iter().map(|link| link.bytes_per_second).sum(),
        is_degraded: links.iter().any(|link| link.is_degraded),
    })
}

/// The narrowest link between a device and the root of its PCIe tree.
fn pcie(root: &Root, from: &Path) -> Option<Link> {
    let on_the_way: Vec<&Path> = from
        .ancestors()
        .filter(|path| root.exists(path.join("current_link_speed")))
        .collect();
    let mut narrowest: Option<(Pcie, bool)> = None;
    for (step, device) in on_the_way.iter().enumerate() {
        let Some(current) = Pcie::read(root, device, "current") else {
            continue;
        };
        let own = Pcie::read(root, device, "max").unwrap_or(current);
        let upstream = on_the_way
            .get(step + 1)
            .and_then(|up| Pcie::read(root, up, "max"));
        let possible = upstream.map_or(own, |up| own.meet(up));
        let is_degraded = current.bytes_per_second() < possible.bytes_per_second();
        let is_first = narrowest.is_none();
        let is_less =
            narrowest.is_some_and(|(link, _)| current.bytes_per_second() < link.bytes_per_second());
        if is_first || is_less {
            narrowest = Some((current, is_degraded));
        }
    }
    let (link, is_degraded) = narrowest?;
    Some(Link {
        text: link.text(),
        bytes_per_second: link.bytes_per_second(),
        is_degraded,
    })
}

/// SATA carries 8 bits in 10; the controller's PCIe link may carry less.
fn sata(root: &Root, parent: &Path, ata: &AtaIdentity) -> Option<Link> {
    let port = parent.ancestors().find(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.strip_prefix("ata"))
            .is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
    })?;
    let by_link = root.names(port).into_iter().find_map(|name| {
        let link = port.join(&name).join("ata_link").join(&name);
        tenths(&root.line(link.join("sata_spd"))?)
    });
    let in_use = by_link.or_else(|| ata.generation.map(generation_tenths))?;
    let possible = ata.generation_max.map(generation_tenths);
    let own = u64::from(in_use) * 10_000_000;
    let controller = pcie(root, port).map_or(u64::MAX, |link| link.bytes_per_second);
    Some(Link {
        text: format!("SATA {}.{} Gb/s", in_use / 10, in_use % 10),
        bytes_per_second: own.min(controller),
        is_degraded: possible.is_some_and(|possible| in_use < possible),
    })
}

/// `6.0 Gbps` in tenths.
fn tenths(text: &str) -> Option<u32> {
    let (number, unit) = text.trim().split_once(' ')?;
    let speed: f64 = number.parse().ok().filter(|_| unit.starts_with("Gb"))?;
    let tenths = (speed * 10.0).round();
    (1.0..=1000.0).contains(&tenths).then_some(tenths as u32)
}

fn generation_tenths(generation: u8) -> u32 {
    match generation {
        1 => 15,
        2 => 30,
        _ => 60,
    }
}

/// The nearest USB device above; `speed` is in Mb/s on the wire.
fn usb(root: &Root, parent: &Path) -> Option<Link> {
    let speed: u64 = parent.ancestors().find_map(|path| {
        let is_device =
            root.exists(path.join("bNumInterfaces")) || root.exists(path.join("devnum"));
        is_device.then(|| root.number(path.join("speed"))).flatten()
    })?;
    let bits = speed.saturating_mul(1_000_000);
    // USB 3 at 5 Gb/s sends 8 bits as 10, at 10 and 20 Gb/s 128 as 132; USB 2 only stuffs bits.
    let (kept, of) = match speed {
        5000 => (8, 10),
        10_000 | 20_000 => (128, 132),
        _ => (1, 1),
    };
    let text = match speed {
        0..1000 => format!("USB {speed} Mb/s"),
        _ => format!("USB {} Gb/s", speed / 1000),
    };
    Some(Link {
        text,
        bytes_per_second: bits.saturating_mul(kept) / of / 8,
        is_degraded: false,
    })
}

/// The physical link of a SAS end device: 8 bits in 10 up to 12 Gb/s, 128 in 150 at 22.5.
fn sas(root: &Root, parent: &Path) -> Option<Link> {
    let rate = parent.ancestors().find_map(|path| {
        let phys = root.names(path);
        let mut phys = phys.iter().filter(|name| name.starts_with("phy-"));
        phys.find_map(|phy| {
            let file = path
                .join(phy)
                .join("sas_phy")
                .join(phy)
                .join("negotiated_linkrate");
            tenths(&root.line(file)?)
        })
    })?;
    let bits = u64::from(rate) * 100_000_000;
    let (kept, of) = if rate > 120 { (128, 150) } else { (8, 10) };
    Some(Link {
        text: format!("SAS {}.{} Gb/s", rate / 10, rate % 10),
        bytes_per_second: bits * kept / of / 8,
        is_degraded: false,
    })
}
