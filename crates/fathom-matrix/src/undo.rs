//! Undoing what building made: only what the journal names, and only what is found to be ours.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_base::IoContext;
use fathom_system::{Root, check_device, drives_with_serial};

use crate::error::MatrixError;
use crate::journal::Journal;
use crate::thing::Thing;
use crate::tools::{Tools, patiently};

/// Undoes everything that is outstanding, the last thing first, and says what was done. It ends at
/// the first thing that cannot be undone, since what was made before may be below it; that and the
/// rest stay in the journal.
pub(crate) fn undo_all(
    root: &Root,
    tools: &Tools,
    journal: &mut Journal,
) -> Result<Vec<String>, MatrixError> {
    let mut undone = Vec::new();
    let outstanding: Vec<(u64, Thing)> = journal
        .state
        .outstanding
        .iter()
        .rev()
        .map(|(number, thing)| (*number, thing.clone()))
        .collect();
    for (number, thing) in outstanding {
        let did = undo(root, tools, &thing).map_err(|error| MatrixError::Left {
            what: thing.to_string(),
            why: error.to_string(),
        })?;
        journal.gone(number)?;
        undone.extend(did);
    }
    Ok(undone)
}

/// Undoes one thing; says what was done when there was something to undo.
fn undo(root: &Root, tools: &Tools, thing: &Thing) -> Result<Option<String>, MatrixError> {
    let did = match thing {
        // What is on a drive may not be ours any more, which is said in its own words.
        Thing::Contents { serial, mark } => return wipe(root, tools, serial, mark),
        Thing::Mount { point } => unmount(root, tools, point),
        Thing::Mapping { name } => close(root, tools, name),
        Thing::Array { uuid } => stop(root, tools, uuid),
        Thing::Scheduler { serial, before } => reschedule(root, serial, before),
        Thing::Loop { file } => detach(root, tools, file),
        Thing::File { path } => remove(path),
    };
    Ok(did?.then(|| format!("undid {thing}")))
}

fn unmount(root: &Root, tools: &Tools, point: &Path) -> Result<bool, MatrixError> {
    let mut did = false;
    let step = format!("unmount {}", point.display());
    patiently(|| {
        while is_mounted(root, point) {
            tools.run(&step, "umount", &[point.as_os_str()])?;
            did = true;
        }
        Ok(())
    })?;
    match fs::remove_dir(point) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(did),
        other => Ok(other.at("remove", point).map(|()| true)?),
    }
}

/// Whether something is mounted on exactly this directory.
pub(crate) fn is_mounted(root: &Root, point: &Path) -> bool {
    let table = root.read("/proc/self/mountinfo").unwrap_or_default();
    let point = point.to_string_lossy();
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .any(|field| unescaped(field) == point)
}

/// mountinfo writes spaces and backslashes in octal.
fn unescaped(field: &str) -> String {
    let codes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    codes.iter().fold(field.to_owned(), |text, (code, plain)| {
        text.replace(code, plain)
    })
}

fn close(root: &Root, tools: &Tools, name: &str) -> Result<bool, MatrixError> {
    let mut did = false;
    let step = format!("close mapping {name}");
    patiently(|| {
        if mapping(root, name).is_none() {
            return Ok(());
        }
        tools.run(&step, "cryptsetup", &["close".as_ref(), name.as_ref()])?;
        did = true;
        match mapping(root, name) {
            None => Ok(()),
            Some(_) => Err(still_there(&step)),
        }
    })?;
    Ok(did)
}

/// The kernel name of a mapping of dm-crypt.
fn mapping(root: &Root, name: &str) -> Option<String> {
    let names = root.names("/sys/block");
    names.into_iter().find(|device| {
        let base = format!("/sys/block/{device}/dm");
        let is_crypt = root
            .line(format!("{base}/uuid"))
            .is_some_and(|uuid| uuid.starts_with("CRYPT-"));
        is_crypt && root.line(format!("{base}/name")).as_deref() == Some(name)
    })
}

fn stop(root: &Root, tools: &Tools, uuid: &str) -> Result<bool, MatrixError> {
    let mut did = false;
    let step = format!("stop array {uuid}");
    patiently(|| {
        for name in root.names("/sys/block") {
            if name.starts_with("md") && array_uuid(tools, &name).as_deref() == Some(uuid) {
                let node = PathBuf::from(format!("/dev/{name}"));
                // What was made on it would be found again by an array on the same members.
                let _ = tools.run(&step, "wipefs", &["--all".as_ref(), node.as_os_str()]);
                tools.run(&step, "mdadm", &["--stop".as_ref(), node.as_os_str()])?;
                did = true;
                if root.exists(format!("/sys/block/{name}/md/array_state"))
                    && array_uuid(tools, &name).as_deref() == Some(uuid)
                {
                    return Err(still_there(&step));
                }
            }
        }
        Ok(())
    })?;
    Ok(did)
}

fn array_uuid(tools: &Tools, name: &str) -> Option<String> {
    let node = format!("/dev/{name}");
    let args = ["--detail", "--export", node.as_str()].map(OsStr::new);
    let text = tools.run("look at an array", "mdadm", &args).ok()?;
    let uuid = text
        .lines()
        .find_map(|line| line.strip_prefix("MD_UUID="))?;
    Some(uuid.trim().to_owned())
}

/// Removes what carries our mark from a drive. A drive that is gone, or that holds something else
/// by now, is left alone.
fn wipe(
    root: &Root,
    tools: &Tools,
    serial: &str,
    mark: &str,
) -> Result<Option<String>, MatrixError> {
    let step = format!("wipe drive {serial}");
    let mut did = None;
    patiently(|| {
        let drives = drives_with_serial(root, serial);
        let [drive] = drives.as_slice() else {
            did = Some(format!("drive {serial} is gone; it was not wiped"));
            return Ok(());
        };
        let node = PathBuf::from(format!("/dev/{}", drive.name));
        let Err(refusal) = check_device(root, &node, Some(serial)) else {
            return Ok(());
        };
        let mut reasons = refusal.reasons.iter();
        if let Some(reason) = reasons.find(|reason| reason.kind != "signature") {
            let (step, what) = (step.clone(), reason.text.clone());
            return Err(MatrixError::Tool { step, what });
        }
        if !is_marked(tools, &node, mark) {
            did = Some(format!(
                "left drive {serial} alone: {}, which is not known to be ours",
                refusal.reasons[0].text
            ));
            return Ok(());
        }
        tools.run(&step, "wipefs", &["--all".as_ref(), node.as_os_str()])?;
        did = Some(format!("wiped drive {serial}"));
        Err(still_there(&step))
    })?;
    Ok(did)
}

/// Whether the label on a device is our mark: of a file system, an array or an encrypted device.
fn is_marked(tools: &Tools, node: &Path, mark: &str) -> bool {
    let args = ["--probe", "--output", "export"].map(OsStr::new);
    let args: Vec<&OsStr> = args.into_iter().chain([node.as_os_str()]).collect();
    let text = tools.run("look at a device", "blkid", &args);
    let text = text.unwrap_or_default();
    let label = text.lines().find_map(|line| line.strip_prefix("LABEL="));
    // An array puts the name of its host in front.
    label.is_some_and(|label| label == mark || label.ends_with(&format!(":{mark}")))
}

fn reschedule(root: &Root, serial: &str, before: &str) -> Result<bool, MatrixError> {
    let drives = drives_with_serial(root, serial);
    let [drive] = drives.as_slice() else {
        return Ok(false);
    };
    let path = root.path(format!("/sys/block/{}/queue/scheduler", drive.name));
    fs::write(&path, before).at("write", &path)?;
    Ok(true)
}

fn detach(root: &Root, tools: &Tools, file: &Path) -> Result<bool, MatrixError> {
    let mut did = false;
    let step = format!("detach the loop device on {}", file.display());
    patiently(|| {
        for name in loops_on(root, file) {
            let node = PathBuf::from(format!("/dev/{name}"));
            tools.run(&step, "losetup", &["--detach".as_ref(), node.as_os_str()])?;
            did = true;
        }
        match loops_on(root, file).is_empty() {
            true => Ok(()),
            false => Err(still_there(&step)),
        }
    })?;
    Ok(did)
}

fn loops_on(root: &Root, file: &Path) -> Vec<String> {
    let file = file.to_string_lossy();
    let deleted = format!("{file} (deleted)");
    let names = root.names("/sys/block").into_iter();
    names
        .filter(|name| {
            let backing = root.line(format!("/sys/block/{name}/loop/backing_file"));
            backing.is_some_and(|backing| backing == file || backing == deleted)
        })
        .collect()
}

fn remove(path: &Path) -> Result<bool, MatrixError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        other => Ok(other.at("remove", path).map(|()| true)?),
    }
}

fn still_there(step: &str) -> MatrixError {
    MatrixError::Tool {
        step: step.to_owned(),
        what: "it is still there".to_owned(),
    }
}
