use fathom_model::{Field, Machine, TargetInfo};

/// A machine and target in the words of the Phoronix Test Suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFields {
    /// `Processor`, `Motherboard`, `Memory`, `Disk`, ...
    pub hardware: Vec<Field>,
    /// `OS`, `Kernel`, `Compiler`, `File-System`, ...
    pub software: Vec<Field>,
    /// `Disk Details`, `Processor Details`, `Security Details`, ...
    pub notes: Vec<Field>,
}

/// The fields of a system; what is unknown is left out.
pub fn system_fields(machine: &Machine, target: &TargetInfo) -> SystemFields {
    let _ = (machine, target);
    SystemFields::default()
}

/// One line for the head of a run: `/home/ann/proj  ext4 (rw,relatime)  on nvme0n1p2  Samsung SSD
/// 970 EVO 250GB, firmware 2B2QEXE7, PCIe 3.0 x4, write cache on`.
pub fn target_line(target: &TargetInfo) -> String {
    target.path.clone()
}
