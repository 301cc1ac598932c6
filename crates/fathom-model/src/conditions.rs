use serde::Serialize;

use crate::machine::{Drive, TargetInfo};
use crate::system::System;

/// A condition of a measurement that must be equal for a fair comparison, or at least known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// `Kernel`, `scheduler`.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

/// The conditions of a system: its hardware, software and notes, the tool with its version, and
/// what is known in structure of the target (file system, mount options, drives, queue settings,
/// firmware, fill level in steps of ten per cent).
pub fn conditions_of(system: &System) -> Vec<Condition> {
    let mut list = List(Vec::new());
    for field in system
        .hardware
        .iter()
        .chain(&system.software)
        .chain(&system.notes)
    {
        list.add(&field.name, &field.text);
    }
    list.add("tool", &system.client);
    if let Some(target) = &system.target {
        add_target(&mut list, target);
    }
    if let Some(machine) = &system.machine {
        list.add_some("governor", machine.cpu.governor.as_ref());
        list.add_some("boost", machine.cpu.boost);
        list.add_some("hypervisor", machine.platform.hypervisor.as_ref());
        list.add_some("clock source", machine.platform.clock_source.as_ref());
        list.add_some("CPU quota", machine.platform.cpu_quota);
        list.add_some("I/O limit", machine.platform.io_limit.as_ref());
    }
    list.0
}

fn add_target(list: &mut List, target: &TargetInfo) {
    if let Some(mount) = &target.mount {
        list.add("file system", &mount.file_system);
        list.add("mount options", &mount.options.join(","));
        if mount.size_bytes > 0 {
            let used = 1.0 - mount.available_bytes as f64 / mount.size_bytes as f64;
            let step = (used * 10.0).floor().clamp(0.0, 9.0) as u32 * 10;
            list.add("fill level", &format!("{step}-{} %", step + 10));
        }
    }
    for layer in target
        .layers
        .iter()
        .filter(|layer| !layer.detail.is_empty())
    {
        list.add(
            "device stack",
            &format!("{:?}: {}", layer.kind, layer.detail),
        );
    }
    for drive in &target.drives {
        add_drive(list, drive);
    }
}

fn add_drive(list: &mut List, drive: &Drive) {
    list.add_some("drive", drive.model.as_ref());
    list.add_some("drive serial (hash)", drive.serial_hash.as_ref());
    list.add_some("firmware", drive.firmware.as_ref());
    list.add_some("link", drive.link.as_ref().map(|link| &link.text));
    list.add_some("scheduler", drive.scheduler.as_ref());
    list.add_some("write cache", drive.write_cache.as_ref());
    list.add_some("nr_requests", drive.nr_requests);
    list.add_some("read-ahead", drive.read_ahead_bytes);
    list.add_some("logical block size", drive.logical_block_bytes);
}

/// Several values of one name (two drives) become one text.
struct List(Vec<Condition>);

impl List {
    fn add(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        match self.0.iter_mut().find(|condition| condition.name == name) {
            Some(known) => {
                known.value.push_str(" + ");
                known.value.push_str(value);
            }
            None => {
                self.0.push(Condition {
                    name: name.to_owned(),
                    value: value.to_owned(),
                });
            }
        }
    }

    fn add_some(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(name, &value.to_string());
        }
    }
}
