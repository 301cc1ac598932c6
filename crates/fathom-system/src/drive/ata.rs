//! What an ATA drive says of itself: its IDENTIFY DEVICE answer as the SCSI layer keeps it in the
//! vital product data page 89h (SAT-3, 12.4.2), which any user may read since Linux 5.18.

use std::path::Path;

use crate::root::Root;

/// Where the 512 bytes of IDENTIFY DEVICE begin in the page.
const IDENTIFY_AT: usize = 60;

/// The parts of IDENTIFY DEVICE that are used (ACS-3, 7.12).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AtaIdentity {
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub model: Option<String>,
    /// Highest SATA generation the drive can do, 1 to 3.
    pub generation_max: Option<u8>,
    /// The generation in use.
    pub generation: Option<u8>,
}

impl AtaIdentity {
    pub fn read(root: &Root, parent: &Path) -> Self {
        if parent.as_os_str().is_empty() {
            return Self::default();
        }
        let page = root.read_bytes(parent.join("vpd_pg89")).unwrap_or_default();
        Self::parse(&page)
    }

    pub fn parse(page: &[u8]) -> Self {
        let is_page = page.get(1) == Some(&0x89);
        let Some(identify) = page.get(IDENTIFY_AT..IDENTIFY_AT + 512).filter(|_| is_page) else {
            return Self::default();
        };
        let word = |at: usize| u16::from_le_bytes([identify[2 * at], identify[2 * at + 1]]);
        // Words 76 and 77 are all zeros or all ones on a parallel drive.
        let (capabilities, current) = (word(76), word(77));
        let is_serial = capabilities != 0 && capabilities != 0xffff;
        let fastest = (1..=3)
            .rev()
            .find(|generation| capabilities & (1 << generation) != 0);
        let in_use = u8::try_from((current >> 1) & 0b111).ok();
        Self {
            serial: text(identify, 10, 20),
            firmware: text(identify, 23, 27),
            model: text(identify, 27, 47),
            generation_max: fastest.filter(|_| is_serial),
            generation: in_use.filter(|generation| is_serial && (1..=3).contains(generation)),
        }
    }
}

/// Text in words whose two bytes are swapped.
fn text(identify: &[u8], from: usize, to: usize) -> Option<String> {
    let bytes: Vec<u8> = identify[2 * from..2 * to]
        .chunks_exact(2)
        .flat_map(|pair| [pair[1], pair[0]])
        .collect();
    let text = super::squeeze(&String::from_utf8_lossy(&bytes));
    (!text.is_empty()).then_some(text)
}
