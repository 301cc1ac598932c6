use crate::machine::TargetInfo;
use crate::system::{Field, System};

/// Facts that change without the machine or its storage becoming another one.
const PASSING: [&str; 9] = [
    "Audio",
    "Desktop",
    "Display Driver",
    "Display Server",
    "Graphics",
    "Monitor",
    "OpenGL",
    "Screen Resolution",
    "Vulkan",
];

/// Where two systems of one name are different machines or configurations: `Processor is A in one
/// and B in the other; Memory is ...`, everything that differs. Facts that only one of them has, and
/// those that do not bear on storage (monitor, desktop), make no difference; lists such as disks are
/// compared without order.
pub fn system_difference(left: &System, right: &System) -> Option<String> {
    let mut differences = field_differences(&left.hardware, &right.hardware);
    differences.extend(field_differences(&left.software, &right.software));
    if let (Some(left), Some(right)) = (&left.target, &right.target) {
        differences.extend(target_difference(left, right));
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

fn field_differences(left: &[Field], right: &[Field]) -> Vec<String> {
    let mut differences = Vec::new();
    for field in left {
        let other = right.iter().find(|other| other.name == field.name);
        let Some(other) = other.filter(|_| !PASSING.contains(&field.name.as_str())) else {
            continue;
        };
        if parts(&field.text) != parts(&other.text) {
            differences.push(difference(&field.name, &field.text, &other.text));
        }
    }
    differences
}

/// `a + b` without its order.
fn parts(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(" + ").map(str::trim).collect();
    parts.sort_unstable();
    parts
}

fn target_difference(left: &TargetInfo, right: &TargetInfo) -> Option<String> {
    let drives = |target: &TargetInfo| {
        let mut names: Vec<String> = target
            .drives
            .iter()
            .map(|drive| {
                let model = drive.model.as_deref().unwrap_or(&drive.name);
                match &drive.serial_hash {
                    Some(hash) => format!("{model} (serial {hash})"),
                    None => model.to_owned(),
                }
            })
            .collect();
        names.sort_unstable();
        names.join(" + ")
    };
    let (a, b) = (drives(left), drives(right));
    if a != b && !a.is_empty() && !b.is_empty() {
        return Some(difference("the drive under test", &a, &b));
    }
    match (&left.mount, &right.mount) {
        (Some(a), Some(b)) if a.file_system != b.file_system => Some(difference(
            "the file system",
            &a.file_system,
            &b.file_system,
        )),
        _ => None,
    }
}

fn difference(what: &str, left: &str, right: &str) -> String {
    format!("{what} is \"{left}\" in one and \"{right}\" in the other")
}
