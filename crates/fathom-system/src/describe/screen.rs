//! What is plugged into the graphics connectors.

use crate::drive::squeeze;
use crate::root::Root;

/// Names of the monitors, and the resolution the first of them prefers.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub monitors: Vec<String>,
    pub resolution: Option<String>,
}

pub(super) fn read(root: &Root) -> Screen {
    let base = "/sys/class/drm";
    let mut screen = Screen::default();
    for name in root.names(base) {
        let place = format!("{base}/{name}");
        if root.line(format!("{place}/status")).as_deref() != Some("connected") {
            continue;
        }
        let edid = root.read_bytes(format!("{place}/edid")).unwrap_or_default();
        screen.monitors.extend(monitor(&edid));
        let modes = root.read(format!("{place}/modes")).unwrap_or_default();
        let first = modes.lines().next().map(str::trim);
        let first = first.filter(|mode| !mode.is_empty());
        if screen.resolution.is_none() {
            screen.resolution = first.map(str::to_owned);
        }
    }
    screen
}

/// The name in an EDID (VESA E-EDID 1.4): the descriptor of kind 0xfc, text up to a line end; else
/// the maker's three letters, five bits each, and the number of the product.
fn monitor(edid: &[u8]) -> Option<String> {
    const HEAD: [u8; 8] = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
    const DESCRIPTORS: [usize; 4] = [54, 72, 90, 108];
    if !edid.starts_with(&HEAD) {
        return None;
    }
    for at in DESCRIPTORS {
        let descriptor = edid.get(at..at + 18)?;
        if descriptor[..5] == [0, 0, 0, 0xfc, 0] {
            let text = descriptor[5..].split(|byte| *byte == b'\n').next()?;
            let text = squeeze(&String::from_utf8_lossy(text));
            if !text.is_empty() {
                return Some(text);
            }
        }
    }
    let bits = u16::from_be_bytes([*edid.get(8)?, *edid.get(9)?]);
    let letter = |shift: u16| char::from(b'@' + ((bits >> shift) & 31) as u8);
    let product = u16::from_le_bytes([*edid.get(10)?, *edid.get(11)?]);
    Some(format!(
        "{}{}{} {product:04X}",
        letter(10),
        letter(5),
        letter(0)
    ))
}

#[cfg(test)]
mod tests {
    use super::monitor;

    /// The head of an EDID with one descriptor.
    fn edid(kind: u8, text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 128];
        bytes[1..7].fill(0xff);
        // ACR, product 0x1234.
        bytes[8..12].copy_from_slice(&[0x04, 0x72, 0x34, 0x12]);
        bytes[75] = kind;
        bytes[77..77 + text.len()].copy_from_slice(text);
        bytes
    }

    #[test]
    fn a_monitor_is_called_what_it_says_else_by_its_maker() {
        assert_eq!(
            monitor(&edid(0xfc, b"Acer P243W\n")).as_deref(),
            Some("Acer P243W")
        );
        assert_eq!(
            monitor(&edid(0xfe, b"unused\n")).as_deref(),
            Some("ACR 1234")
        );
        assert_eq!(monitor(b"nothing"), None);
        let long = edid(0xfc, b"Acer P243W\n");
        for length in 0..long.len() {
            let _ = monitor(&long[..length]);
        }
    }
}
