use fathom_testkit::FakeRoot;
use proptest::prelude::*;

use super::udev::UdevRecord;
use super::*;

/// A page 89h with the words of IDENTIFY DEVICE given.
fn page(words: &[(usize, u16)], texts: &[(usize, usize, &str)]) -> Vec<u8> {
    let mut page = vec![0_u8; 572];
    page[1] = 0x89;
    let identify = &mut page[60..];
    for (at, word) in words {
        identify[2 * at..2 * at + 2].copy_from_slice(&word.to_le_bytes());
    }
    for (from, to, text) in texts {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(2 * (to - from), b' ');
        for (at, pair) in bytes.chunks_exact(2).enumerate() {
            identify[2 * (from + at)] = pair[1];
            identify[2 * (from + at) + 1] = pair[0];
        }
    }
    page
}

#[test]
fn an_ata_drive_is_known_by_its_own_answer() {
    let texts = [
        (10, 20, "S21HNXAG123456K"),
        (23, 27, "EMT01B6Q"),
        (27, 47, "Samsung SSD 850 EVO 250GB"),
    ];
    let identity = AtaIdentity::parse(&page(&[(76, 0b1110), (77, 0b0110)], &texts));
    assert_eq!(identity.model.as_deref(), Some("Samsung SSD 850 EVO 250GB"));
    assert_eq!(identity.serial.as_deref(), Some("S21HNXAG123456K"));
    assert_eq!(identity.firmware.as_deref(), Some("EMT01B6Q"));
    assert_eq!(
        (identity.generation_max, identity.generation),
        (Some(3), Some(3))
    );
    // A parallel drive has no SATA words.
    let old = AtaIdentity::parse(&page(&[(76, 0xffff), (77, 0xffff)], &texts));
    assert_eq!((old.generation_max, old.generation), (None, None));
    assert_eq!(AtaIdentity::parse(b"\x00\x80\x00"), AtaIdentity::default());
}

#[test]
fn a_slow_sata_link_of_a_fast_drive_is_degraded() {
    let base = "/sys/devices/pci0000:00/0000:00:17.0/ata2";
    let fake = FakeRoot::new()
        .tree(&format!(
            "{base}/link2/ata_link/link2/sata_spd = 3.0 Gbps\n\
             {base}/host1/target1:0:0/1:0:0:0/vendor = ATA\n\
             {base}/host1/target1:0:0/1:0:0:0/model = Samsung SSD 850\n\
             {base}/host1/target1:0:0/1:0:0:0/block/sda @ 8:0\n\
             {base}/host1/target1:0:0/1:0:0:0/block/sda/device -> ../../../1:0:0:0\n"
        ))
        .file(
            &format!("{base}/host1/target1:0:0/1:0:0:0/vpd_pg89"),
            page(
                &[(76, 0b1110), (77, 0b0100)],
                &[(27, 47, "Samsung SSD 850 EVO 250GB")],
            ),
        );
    let root = Root::at(fake.path());
    let device = BlockDevice::by_name(&root, "sda").unwrap();
    let drive = describe_drive(&root, &device, false);
    assert_eq!(drive.model.as_deref(), Some("Samsung SSD 850 EVO 250GB"));
    let link = drive.link.unwrap();
    assert_eq!(link.text, "SATA 3.0 Gb/s");
    assert_eq!(
        (link.bytes_per_second, link.is_degraded),
        (300_000_000, true)
    );
    assert_eq!(describe_drive(&root, &device, true).link, None);
}

/// The link of an NVMe drive behind bridges, each with current and possible speed and width.
fn nvme_link(chain: &[[&str; 4]]) -> Option<(String, u64, bool)> {
    let mut path = "/sys/devices/pci0000:00".to_owned();
    let mut tree = String::new();
    for (step, [speed, width, max_speed, max_width]) in chain.iter().enumerate() {
        path.push_str(&format!("/0000:0{step}:00.0"));
        tree.push_str(&format!(
            "{path}/current_link_speed = {speed}\n{path}/current_link_width = {width}\n\
             {path}/max_link_speed = {max_speed}\n{path}/max_link_width = {max_width}\n"
        ));
    }
    let disk = format!("{path}/nvme/nvme0/nvme0n1");
    tree.push_str(&format!("{disk} @ 259:0\n{disk}/device -> ../../nvme0\n"));
    let fake = FakeRoot::new().tree(&tree);
    let root = Root::at(fake.path());
    let device = BlockDevice::by_name(&root, "nvme0n1").unwrap();
    let link = describe_drive(&root, &device, false).link?;
    Some((link.text, link.bytes_per_second, link.is_degraded))
}

#[test]
fn pcie_links_after_line_coding() {
    let told = |text: &str, rate: u64, degraded: bool| Some((text.to_owned(), rate, degraded));
    let cases = [
        (
            "2.5 GT/s PCIe",
            "1",
            told("PCIe 1.0 x1", 250_000_000, false),
        ),
        (
            "5.0 GT/s PCIe",
            "4",
            told("PCIe 2.0 x4", 2_000_000_000, false),
        ),
        (
            "8.0 GT/s PCIe",
            "4",
            told("PCIe 3.0 x4", 3_938_461_538, false),
        ),
        ("16 GT/s", "4", told("PCIe 4.0 x4", 7_876_923_076, false)),
        (
            "32.0 GT/s PCIe",
            "4",
            told("PCIe 5.0 x4", 15_753_846_153, false),
        ),
        (
            "64.0 GT/s PCIe",
            "4",
            told("PCIe 6.0 x4", 30_250_000_000, false),
        ),
        ("Unknown", "4", None),
        ("8.0 GT/s PCIe", "0", None),
        ("8.0 GT/s PCIe", "255", None),
    ];
    for (speed, width, expected) in cases {
        assert_eq!(
            nvme_link(&[[speed, width, speed, width]]),
            expected,
            "{speed} x{width}"
        );
    }
}

#[test]
fn the_narrowest_link_counts_and_a_slot_may_be_the_reason() {
    let four = ["16.0 GT/s PCIe", "4", "16.0 GT/s PCIe", "4"];
    let two = ["8.0 GT/s PCIe", "2", "8.0 GT/s PCIe", "2"];
    // A drive for four lanes in a slot for two is not degraded: that is all the slot has.
    let drive_in_small_slot = ["8.0 GT/s PCIe", "2", "16.0 GT/s PCIe", "4"];
    assert_eq!(
        nvme_link(&[two, drive_in_small_slot]).unwrap().0,
        "PCIe 3.0 x2"
    );
    assert!(!nvme_link(&[two, drive_in_small_slot]).unwrap().2);
    // In a slot for four it is.
    let slot = ["8.0 GT/s PCIe", "2", "16.0 GT/s PCIe", "4"];
    assert!(nvme_link(&[slot, drive_in_small_slot]).unwrap().2);
    // Behind a switch the way to the switch may be narrower than the way to the drive.
    assert_eq!(nvme_link(&[two, two, four, four]).unwrap().0, "PCIe 3.0 x2");
}

#[test]
fn words_in_brackets_are_the_chosen_ones() {
    for (text, word) in [
        ("none [mq-deadline] kyber", "mq-deadline"),
        ("[none]", "none"),
        ("none", "none"),
        ("", ""),
        ("[", "["),
    ] {
        assert_eq!(chosen(text), word);
    }
}

#[test]
fn a_serial_number_is_hashed_without_its_padding() {
    // printf abc | sha256sum
    assert_eq!(hash_serial(" abc \n"), "ba7816bf8f01");
}

#[test]
fn udev_keeps_spaces_of_models_as_hexadecimal() {
    let record = UdevRecord::parse("S:disk\nE:ID_MODEL=A_B\nE:ID_MODEL_ENC=A\\x20B\\x2\\xzz\n");
    assert_eq!(record.model().as_deref(), Some("A B\\x2\\xzz"));
    assert_eq!(
        UdevRecord::parse("E:ID_MODEL=A_B").model().as_deref(),
        Some("A B")
    );
    assert_eq!(record.value("ID_NONE"), None);
}

#[test]
fn names_of_nvme_name_spaces() {
    assert_eq!(split_nvme("nvme0n1"), Some(("0", "1")));
    assert_eq!(split_nvme("nvme12n3"), Some(("12", "3")));
    for none in ["nvme0c0n1", "nvme0n1p1", "nvme0", "sda", "nvmen1", "nvme0n"] {
        assert_eq!(split_nvme(none), None, "{none}");
    }
}

proptest! {
    #[test]
    fn any_answer_of_a_drive_is_taken(mut bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        let _ = AtaIdentity::parse(&bytes);
        if bytes.len() > 1 {
            bytes[1] = 0x89;
            let _ = AtaIdentity::parse(&bytes);
        }
    }

    #[test]
    fn any_record_is_taken(text in "(\\PC{0,20}|E:ID_MODEL_ENC=(\\\\x)?[a-f0-9é]{0,4}|\n){0,9}") {
        let _ = UdevRecord::parse(&text).model();
    }
}
