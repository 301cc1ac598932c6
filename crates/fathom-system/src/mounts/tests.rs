use std::path::Path;

use fathom_testkit::shared;
use proptest::prelude::*;

use super::*;

fn table(lines: &[&str]) -> MountTable {
    MountTable::parse_mountinfo(lines.join("\n").as_bytes())
}

fn point<'a>(table: &'a MountTable, path: &str) -> Option<&'a str> {
    table.find(Path::new(path))?.point.to_str()
}

#[test]
fn a_line_is_read_with_optional_fields_and_escapes() {
    let line = "36 35 98:0 /mnt1 /mnt\\0402\\011x rw,noatime master:1 shared:2 - ext3 \
                /dev/my\\040root rw,errors=continue";
    let mount = &table(&[line]).entries[0];
    assert_eq!((mount.id, mount.parent), (36, 35));
    assert_eq!(mount.device.to_string(), "98:0");
    assert_eq!(mount.root, Path::new("/mnt1"));
    assert_eq!(mount.point, Path::new("/mnt 2\tx"));
    assert_eq!(mount.file_system, "ext3");
    assert_eq!(mount.source, "/dev/my root");
    assert_eq!(mount.all_options(), ["errors=continue", "noatime", "rw"]);
    assert_eq!(mount.option("errors"), Some("continue"));
}

#[test]
fn no_optional_field_and_an_empty_source_are_read() {
    let entries = table(&[
        "10 1 0:5 / / rw - tmpfs  rw",
        "11 1 0:6 / /x ro - overlay overlay rw,upperdir=/a\\054b,lowerdir=/c:/d",
    ])
    .entries;
    assert_eq!(entries[0].source, "");
    assert_eq!(entries[0].super_options, ["rw"]);
    assert_eq!(entries[1].option("upperdir"), Some("/a,b"));
    // The mount is read-only though the file system is not.
    assert!(!entries[1].all_options().contains(&"rw".to_owned()));
}

#[test]
fn lines_that_are_none_are_skipped() {
    let broken = [
        "",
        "36",
        "a b c",
        "1 2 3:4 / /x rw",
        "1 2 x:4 / /x rw - ext4 /dev/a rw",
    ];
    assert_eq!(table(&broken), MountTable::default());
}

#[test]
fn the_deepest_mount_is_found_by_components_not_by_letters() {
    let mounts = table(&[
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
        "2 1 8:2 / /data rw - ext4 /dev/sda2 rw",
        "3 2 8:3 / /data/fast rw - xfs /dev/sda3 rw",
    ]);
    assert_eq!(point(&mounts, "/data/fast/x"), Some("/data/fast"));
    assert_eq!(point(&mounts, "/data/faster"), Some("/data"));
    assert_eq!(point(&mounts, "/database"), Some("/"));
}

#[test]
fn a_later_mount_hides_what_lies_below_its_point() {
    let mounts = table(&[
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
        "2 1 8:2 / /mnt/a rw - ext4 /dev/sda2 rw",
        "3 1 8:3 / /mnt rw - ext4 /dev/sda3 rw",
        "4 3 8:4 / /mnt rw - xfs /dev/sda4 rw",
    ]);
    let found = mounts.find(Path::new("/mnt/a/file")).unwrap();
    assert_eq!(found.source, "/dev/sda4");
}

#[test]
fn a_table_with_a_loop_ends() {
    let mounts = table(&[
        "1 2 8:1 / / rw - ext4 a rw",
        "2 1 8:2 / / rw - ext4 b rw",
        "3 3 8:3 / / rw - ext4 c rw",
    ]);
    assert!(mounts.find(Path::new("/x")).is_some());
}

#[test]
fn corpus_bug_27_noexec_is_seen_in_the_old_format() {
    let Some(path) = shared(env!("CARGO_MANIFEST_DIR"), "corpus/bugs/27/mounts") else {
        return;
    };
    let mounts = MountTable::parse_mounts(&std::fs::read(path).unwrap());
    let home = mounts.find(Path::new("/home/ann")).unwrap();
    assert!(home.has("noexec"), "{home:?}");
    assert_eq!(mounts.find(Path::new("/etc")).unwrap().source, "/dev/sda2");
    let share = mounts.find(Path::new("/mnt/My Share/x")).unwrap();
    assert_eq!(share.file_system, "cifs");
}

#[test]
fn escapes_are_three_octal_digits() {
    for (from, to) in [
        ("a\\040b", "a b"),
        ("\\134", "\\"),
        ("\\04", "\\04"),
        ("\\999", "\\999"),
        ("\\777", "\\777"),
        ("\\", "\\"),
    ] {
        assert_eq!(unescape(from.as_bytes()), to.as_bytes(), "{from}");
    }
}

proptest! {
    #[test]
    fn any_bytes_make_some_table(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let table = MountTable::parse_mountinfo(&bytes);
        let _ = table.find(Path::new("/a/b"));
        let table = MountTable::parse_mounts(&bytes);
        let _ = table.find(Path::new("/a/b"));
    }

    #[test]
    fn almost_lines_make_some_table(
        lines in proptest::collection::vec("[0-9]{1,2} [0-9]{1,2} [0-9:]{1,5} [/a-c\\\\0]{1,6} \
            [/a-c]{1,6} [rw,=\\\\]{0,6}( [a-z:1]{1,8})?( -)? [a-z]{1,5} [/a-z]{0,6} [a-z,=]{0,9}",
            0..8),
    ) {
        let table = MountTable::parse_mountinfo(lines.join("\n").as_bytes());
        for mount in &table.entries {
            let _ = mount.all_options();
        }
        let _ = table.find(Path::new("/a/b"));
    }
}
