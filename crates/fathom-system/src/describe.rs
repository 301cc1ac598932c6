//! The machine, in structure.

mod board;
mod cpu;
mod memory;
mod pci;
mod platform;
mod programs;
mod screen;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use fathom_model::Machine;

use crate::block::BlockDevice;
use crate::drive::{describe_drive, reveal_serials};
use crate::root::Root;

pub(crate) use platform::hypervisor;

/// What a description may do.
#[derive(Clone, Debug, Default)]
pub struct DescribeOptions {
    /// Where compilers and interpreters are looked up and asked for their version; without it no
    /// program is started.
    pub search_path: Option<OsString>,
    /// Keep serial numbers besides their hashes.
    pub reveals_serials: bool,
}

/// Describes the machine; what cannot be read is absent.
///
/// Without programs it takes a few milliseconds.
pub fn describe(root: &Root, options: &DescribeOptions) -> Machine {
    let mut platform = platform::read(root);
    if let Some(search) = &options.search_path {
        programs::add_versions(search, &mut platform);
    }
    let mut pci = pci::read(root);
    let screen = screen::read(root);
    pci.peripherals.monitors = screen.monitors;
    pci.peripherals.resolution = screen.resolution;
    let mut board = board::read(root);
    board.chipset = pci.chipset;
    let mut machine = Machine {
        cpu: cpu::read(root),
        memory: memory::read(root),
        board,
        platform,
        disks: disks(root),
        peripherals: pci.peripherals,
        ..Machine::default()
    };
    if options.reveals_serials {
        reveal_serials(root, &mut machine.disks);
    }
    machine
}

/// Whether this is a virtual machine.
pub(crate) fn is_virtual_machine(root: &Root) -> bool {
    hypervisor(root).is_some()
}

/// Every whole disk with a medium, in the order PTS lists them: NVMe, persistent memory, SCSI and
/// SATA, SD and eMMC, paravirtual.
fn disks(root: &Root) -> Vec<fathom_model::Drive> {
    const FAMILIES: [&str; 6] = ["nvme", "pmem", "sd", "mmcblk", "vd", "xvd"];
    let is_virtual = is_virtual_machine(root);
    let names = root.names("/sys/block");
    let mut found = Vec::new();
    for family in FAMILIES {
        for name in names.iter().filter(|name| name.starts_with(family)) {
            let Some(device) = BlockDevice::by_name(root, name) else {
                continue;
            };
            let is_part_of_another = device.number::<u8>(root, "hidden") == Some(1)
                || (family == "mmcblk" && (name.contains("boot") || name.contains("rpmb")));
            if !is_part_of_another && device.size_bytes(root) > 0 {
                found.push(describe_drive(root, &device, is_virtual));
            }
        }
    }
    found
}
