//! The devices of a matrix on this machine.

use std::path::PathBuf;

use fathom_base::Bytes;
use fathom_system::{DeviceGrant, Refusal, Root, check_device, drives_with_serial};

use crate::error::MatrixError;
use crate::file::{DeviceSource, DeviceSpec, MatrixFile};

/// What names and plans need to know of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its name in the file.
    pub name: String,
    /// Its model.
    pub model: String,
    /// Its capacity as people say it: `120GB`.
    pub capacity: String,
    /// Its size.
    pub size_bytes: u64,
}

impl DeviceFacts {
    pub(crate) fn of_loop(device: &DeviceSpec, size: Bytes) -> Self {
        Self {
            name: device.name.clone(),
            model: device.model.clone().unwrap_or_else(|| "loop".to_owned()),
            capacity: device.capacity.clone().unwrap_or_else(|| size.to_string()),
            size_bytes: size.as_u64(),
        }
    }

    /// `Force MP500 120GB`; a model that says its size says it once.
    pub(crate) fn alone(&self) -> String {
        match self.model.contains(&self.capacity) {
            true => self.model.clone(),
            false => format!("{} {}", self.model, self.capacity),
        }
    }

    /// `120GB Force MP500`, behind a number of drives.
    pub(crate) fn together(&self) -> String {
        match self.model.contains(&self.capacity) {
            true => self.model.clone(),
            false => format!("{} {}", self.capacity, self.model),
        }
    }
}

/// A drive of the file, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name in the file.
    pub name: String,
    /// Its serial number.
    pub serial: String,
    /// Its node.
    pub node: PathBuf,
}

/// Finds the drives of a matrix by their serial numbers, and what is to be known of all devices.
///
/// # Errors
/// [`MatrixError::NoDevice`] and [`MatrixError::ManyDevices`].
pub fn find(root: &Root, file: &MatrixFile) -> Result<(Vec<Found>, Vec<DeviceFacts>), MatrixError> {
    let mut found = Vec::new();
    let mut facts = Vec::new();
    for device in &file.devices {
        match &device.source {
            DeviceSource::Loop(size) => facts.push(DeviceFacts::of_loop(device, *size)),
            DeviceSource::Serial(serial) => {
                let (node, fact) = by_serial(root, device, serial)?;
                found.push(Found {
                    name: device.name.clone(),
                    serial: serial.clone(),
                    node,
                });
                facts.push(fact);
            }
        }
    }
    Ok((found, facts))
}

fn by_serial(
    root: &Root,
    device: &DeviceSpec,
    serial: &str,
) -> Result<(PathBuf, DeviceFacts), MatrixError> {
    let (name, serial) = (device.name.clone(), serial.to_owned());
    let mut drives = drives_with_serial(root, &serial);
    let Some(drive) = drives.pop() else {
        return Err(MatrixError::NoDevice { name, serial });
    };
    if !drives.is_empty() {
        drives.push(drive);
        let nodes: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
        let nodes = nodes.join(", ");
        return Err(MatrixError::ManyDevices {
            name,
            serial,
            nodes,
        });
    }
    let capacity = format!("{}GB", (drive.size_bytes as f64 / 1e9).round().max(1.0));
    let model = drive.model.unwrap_or_else(|| "drive".to_owned());
    Ok((
        PathBuf::from(format!("/dev/{}", drive.name)),
        DeviceFacts {
            model: device.model.clone().unwrap_or(model),
            capacity: device.capacity.clone().unwrap_or(capacity),
            size_bytes: drive.size_bytes,
            name,
        },
    ))
}

/// Checks that every drive may be overwritten: consent was given for its serial number, and it
/// holds nothing. All refusals are told at once.
///
/// # Errors
/// [`MatrixError::StrayConsent`], [`MatrixError::Refused`].
pub fn consented(
    root: &Root,
    file: &MatrixFile,
    found: &[Found],
    consents: &[String],
) -> Result<(), MatrixError> {
    let serials = file.serials();
    for consent in consents {
        if !serials.contains(&consent.trim()) {
            let expected = match serials.is_empty() {
                true => "none: its devices are loop files".to_owned(),
                false => serials.join(", "),
            };
            return Err(MatrixError::StrayConsent {
                serial: consent.clone(),
                expected,
            });
        }
    }
    let refusals: Vec<(String, Refusal)> = found
        .iter()
        .filter_map(|device| {
            let refusal = granted(root, device, consents).err()?;
            Some((device.name.clone(), refusal))
        })
        .collect();
    match refusals.is_empty() {
        true => Ok(()),
        false => Err(MatrixError::Refused(refusals)),
    }
}

/// The grant for one drive.
pub(crate) fn granted(
    root: &Root,
    device: &Found,
    consents: &[String],
) -> Result<DeviceGrant, Refusal> {
    let said = consents
        .iter()
        .find(|consent| consent.trim() == device.serial);
    check_device(root, &device.node, said.map(String::as_str))
}
