use fathom_matrix::{MatrixError, MatrixFile, consented, find};
use fathom_system::Root;
use fathom_testkit::FakeRoot;

/// A machine with four NVMe drives: one is mounted, one belongs to an array, one has a partition,
/// and two have the same serial number.
const DRIVES: [(&str, &str); 5] = [
    ("nvme0", "MOUNTED"),
    ("nvme1", "HELD"),
    ("nvme2", "PARTED"),
    ("nvme3", "TWIN"),
    ("nvme4", "TWIN"),
];

fn machine() -> FakeRoot {
    let mut root = FakeRoot::new();
    for (place, (name, serial)) in DRIVES.iter().enumerate() {
        let base = format!("/sys/devices/pci0/{name}");
        root = root
            .block(&format!("{base}/{name}n1"), &format!("259:{place}"))
            .file(&format!("{base}/{name}n1/size"), "2097152\n")
            .link(&format!("{base}/{name}n1/device"), &format!("../../{name}"))
            .file(&format!("{base}/serial"), format!("{serial}\n"))
            .file(&format!("{base}/model"), "Force MP500\n");
    }
    root.file(
        "/proc/self/mountinfo",
        "30 1 259:0 / /home rw - ext4 /dev/nvme0n1 rw\n",
    )
    .block("/sys/devices/virtual/block/md127", "9:127")
    .link(
        "/sys/devices/virtual/block/md127/slaves/nvme1n1",
        "../../../../pci0/nvme1/nvme1n1",
    )
    .link(
        "/sys/devices/pci0/nvme1/nvme1n1/holders/md127",
        "../../../../virtual/block/md127",
    )
    .block("/sys/devices/pci0/nvme2/nvme2n1/nvme2n1p1", "259:9")
    .file("/sys/devices/pci0/nvme2/nvme2n1/nvme2n1p1/partition", "1\n")
}

fn file(serial: &str) -> MatrixFile {
    let text = format!(
        "format = 1\nname = \"m\"\nsuites = [\"quick\"]\n[[device]]\nname = \"a\"\nserial = \"{serial}\"\n\
         [[group]]\ndevices = [\"a\"]\nfile-system = \"ext4\"\n"
    );
    MatrixFile::parse("m.toml", &text).unwrap()
}

/// The refusal of a drive, consented or not.
fn refused(serial: &str, consents: &[&str]) -> String {
    let machine = machine();
    let root = Root::at(machine.path());
    let file = file(serial);
    let consents: Vec<String> = consents.iter().map(|text| (*text).to_owned()).collect();
    let checked =
        find(&root, &file).and_then(|(found, _)| consented(&root, &file, &found, &consents));
    checked.unwrap_err().to_string()
}

#[test]
fn drives_in_use_are_refused_whatever_was_consented() {
    for (serial, expected) in [
        ("MOUNTED", "mounted at /home"),
        ("HELD", "md127"),
        ("PARTED", "nvme2n1p1"),
    ] {
        for consents in [&[][..], &[serial]] {
            let text = refused(serial, consents);
            assert!(text.contains(expected), "{serial}: {text}");
        }
    }
}

#[test]
fn other_serial_numbers_are_refused() {
    assert!(refused("ELSEWHERE", &["ELSEWHERE"]).contains("no drive has the serial number"));
    assert!(refused("TWIN", &["TWIN"]).contains("several drives"));
    let stray = refused("MOUNTED", &["HELD"]);
    assert!(
        stray.contains("the matrix has no device of this serial number"),
        "{stray}"
    );
}

#[test]
fn facts_are_the_drives_own() {
    let machine = machine();
    let root = Root::at(machine.path());
    let file = file("HELD");
    let (found, facts) = find(&root, &file).unwrap();
    assert_eq!(found[0].node.to_str(), Some("/dev/nvme1n1"));
    assert_eq!(
        (facts[0].model.as_str(), facts[0].capacity.as_str()),
        ("Force MP500", "1GB")
    );
    let all = file.configurations(&facts).unwrap();
    assert_eq!(all[0].identifier, "Force MP500 1GB EXT4");
    let none = MatrixFile::parse("m", "format = 1").unwrap_err();
    assert!(matches!(none, MatrixError::File { .. }));
}
