use std::ffi::OsString;

use fathom_model::Machine;

use crate::root::Root;

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
pub fn describe(root: &Root, options: &DescribeOptions) -> Machine {
    let _ = (root, options);
    Machine::default()
}

/// Whether this is a virtual machine.
pub(crate) fn is_virtual_machine(root: &Root) -> bool {
    let cpus = root.head("/proc/cpuinfo", 8192).unwrap_or_default();
    cpus.lines().any(|line| {
        line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
    })
}
