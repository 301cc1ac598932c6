use fathom_model::Memory;

use crate::drive::{chosen, squeeze};
use crate::root::Root;

/// Memory modules that are read from the firmware's table.
const MODULE_LIMIT: u32 = 128;

pub(super) fn read(root: &Root) -> Memory {
    let info = root.read("/proc/meminfo").unwrap_or_default();
    let by_firmware = firmware_modules(root);
    Memory {
        total_bytes: field(&info, "MemTotal:"),
        swap_bytes: field(&info, "SwapTotal:"),
        modules: match by_firmware.is_empty() {
            true => recorded_modules(root),
            false => by_firmware,
        },
        huge_pages: root
            .line("/sys/kernel/mm/transparent_hugepage/enabled")
            .map(|text| chosen(&text)),
    }
}

fn field(info: &str, key: &str) -> u64 {
    let value = info.lines().find_map(|line| line.strip_prefix(key));
    let kib = value.and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

/// A module, however it became known.
#[derive(Debug, Default)]
struct Module {
    megabytes: u64,
    kind: String,
    speed: u64,
    vendor: String,
    part: String,
}

impl Module {
    /// `32GB DDR4-2666MT/s Samsung M393A4K40BB2-CTD`; nothing for an empty slot.
    fn text(&self) -> Option<String> {
        let size = match self.megabytes {
            0 => return None,
            size if size.is_multiple_of(1024) => format!("{}GB", size / 1024),
            size => format!("{size}MB"),
        };
        let is_known = |text: &str| {
            let junk = [
                "unknown",
                "not specified",
                "undefined",
                "none",
                "<out of spec>",
                "other",
            ];
            !text.is_empty() && !junk.contains(&text.to_ascii_lowercase().as_str())
        };
        let kind = Some(self.kind.as_str())
            .filter(|kind| is_known(kind))
            .unwrap_or("DRAM");
        let kind = match self.speed {
            0 => kind.to_owned(),
            speed => format!("{kind}-{speed}MT/s"),
        };
        let mut words = vec![size, kind];
        for text in [&self.vendor, &self.part] {
            let text = squeeze(text);
            if is_known(&text) {
                words.push(text);
            }
        }
        Some(words.join(" "))
    }
}

/// SMBIOS structures of type 17, which only root may read.
fn firmware_modules(root: &Root) -> Vec<String> {
    let base = "/sys/firmware/dmi/entries";
    (0..MODULE_LIMIT)
        .map_while(|number| root.read_bytes(format!("{base}/17-{number}/raw")))
        .filter_map(|raw| parse_smbios(&raw)?.text())
        .collect()
}

/// A memory device (SMBIOS 3.7, 7.18): numbers at fixed places, texts after the structure.
fn parse_smbios(raw: &[u8]) -> Option<Module> {
    let length = usize::from(*raw.get(1)?);
    let structure = raw.get(..length)?;
    let half = |at: usize| {
        let bytes = structure.get(at..at + 2)?;
        Some(u64::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    let word = |at: usize| {
        let bytes = structure.get(at..at + 4)?;
        Some(u64::from(u32::from_le_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3],
        ])))
    };
    let texts: Vec<&[u8]> = raw.get(length..)?.split(|byte| *byte == 0).collect();
    let text = |at: usize| {
        let number = usize::from(*structure.get(at)?).checked_sub(1)?;
        Some(String::from_utf8_lossy(texts.get(number)?).into_owned())
    };
    let megabytes = match half(0x0c)? {
        0 | 0xffff => 0,
        0x7fff => word(0x1c)? & 0x7fff_ffff,
        kib if kib & 0x8000 != 0 => (kib & 0x7fff) / 1024,
        megabytes => megabytes,
    };
    let speed = half(0x20)
        .filter(|speed| ![0, 0xffff].contains(speed))
        .or_else(|| half(0x15));
    Some(Module {
        megabytes,
        kind: memory_type(*structure.get(0x12)?).to_owned(),
        speed: speed.filter(|speed| *speed != 0xffff).unwrap_or(0),
        vendor: text(0x17).unwrap_or_default(),
        part: text(0x1a).unwrap_or_default(),
    })
}

fn memory_type(code: u8) -> &'static str {
    match code {
        0x0f => "SDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => "",
    }
}

/// What udev recorded of the same table for everybody, since systemd 248.
fn recorded_modules(root: &Root) -> Vec<String> {
    let text = root.read("/run/udev/data/+dmi:id").unwrap_or_default();
    let value = |number: u32, key: &str| {
        let key = format!("E:MEMORY_DEVICE_{number}_{key}=");
        text.lines()
            .find_map(|line| line.strip_prefix(key.as_str()))
            .map(str::to_owned)
    };
    (0..MODULE_LIMIT)
        .filter_map(|number| {
            let bytes: u64 = value(number, "SIZE")?.parse().ok()?;
            let speed = value(number, "CONFIGURED_SPEED_MTS");
            let speed = speed.or_else(|| value(number, "SPEED_MTS"));
            let module = Module {
                megabytes: bytes >> 20,
                kind: value(number, "TYPE").unwrap_or_default(),
                speed: speed.and_then(|text| text.parse().ok()).unwrap_or(0),
                vendor: value(number, "MANUFACTURER").unwrap_or_default(),
                part: value(number, "PART_NUMBER").unwrap_or_default(),
            };
            module.text()
        })
        .collect()
}
