use proptest::prelude::*;

use super::*;

const HEAD: &str = "format = 1\nname = \"m\"\nsuites = [\"quick\"]\n";
const TWO: &str =
    "[[device]]\nname = \"a\"\nloop = \"1GiB\"\n[[device]]\nname = \"b\"\nloop = \"1GiB\"\n";

fn names(text: &str) -> Vec<String> {
    let file = MatrixFile::parse("m.toml", text).unwrap();
    let all = file.configurations(&file.loop_facts()).unwrap();
    all.into_iter().map(|one| one.identifier).collect()
}

fn error(text: &str) -> String {
    let parsed = MatrixFile::parse("m.toml", text);
    let parsed = parsed.and_then(|file| file.configurations(&file.loop_facts()).map(|_| ()));
    parsed.unwrap_err().to_string()
}

/// The ten systems of the public comparison of 2017 that the suite `seed-epyc-raid-2017` is of.
#[test]
fn names_are_those_of_the_public_comparison() {
    let text = format!(
        "{HEAD}\
[[device]]\nname = \"s\"\nloop = \"1GiB\"\nmodel = \"Samsung 850\"\ncapacity = \"256GB\"\n\
[[device]]\nname = \"a\"\nloop = \"1GiB\"\nmodel = \"Force MP500\"\ncapacity = \"120GB\"\n\
[[device]]\nname = \"b\"\nloop = \"1GiB\"\nmodel = \"Force MP500\"\ncapacity = \"120GB\"\n\
[[group]]\ndevices = [\"s\", \"a\"]\nfile-system = \"ext4\"\n\
[[group]]\ndevices = [\"a\", \"b\"]\nlayout = [\"raid0\", \"raid1\"]\nfile-system = \"ext4\"\n\
[[group]]\ndevices = [\"a\", \"b\"]\nlayout = [\"raid0\", \"raid1\"]\nfile-system = \"f2fs\"\n\
[[group]]\ndevices = [\"a\"]\nfile-system = [\"f2fs\", \"btrfs\"]\n\
[[group]]\ndevices = [\"a\", \"b\"]\nlayout = \"raid1\"\nfile-system = \"btrfs\"\n\
[[group]]\ndevices = [\"a\"]\nfile-system = {{ type = \"btrfs\", mount = \"compress=lzo\" }}\n"
    );
    assert_eq!(
        names(&text),
        [
            "Samsung 850 256GB EXT4",
            "Force MP500 120GB EXT4",
            "2 x 120GB Force MP500 EXT4 RAID0",
            "2 x 120GB Force MP500 EXT4 RAID1",
            "2 x 120GB Force MP500 F2FS RAID0",
            "2 x 120GB Force MP500 F2FS RAID1",
            "Force MP500 120GB F2FS",
            "Force MP500 120GB Btrfs",
            "2 x 120GB Force MP500 Btrfs RAID1",
            "Force MP500 120GB Btrfs + LZO",
        ]
    );
}

#[test]
fn a_group_gives_every_combination_and_labels_say_which() {
    let text = format!(
        "{HEAD}{TWO}[[group]]\ndevices = [\"a\", \"b\"]\nlayout = [\"single\", \"raid0\"]\n\
         encryption = [\"none\", \"luks\"]\nfile-system = [\"xfs\", \"btrfs\"]\n\
         scheduler = [\"none\", \"mq-deadline\"]\n"
    );
    let doubled = error(&text);
    assert!(
        doubled.contains("two configurations are called"),
        "{doubled}"
    );
    let text = text.replacen("loop = \"1GiB\"", "loop = \"2GiB\"", 1);
    let file = MatrixFile::parse("m.toml", &text).unwrap();
    let all = file.configurations(&file.loop_facts()).unwrap();
    // Two drives alone and one array, two file systems, encrypted or not, two schedulers.
    assert_eq!(all.len(), (2 + 1) * 2 * 2 * 2);
    let last = all.last().unwrap();
    assert_eq!(
        last.identifier,
        "loop 2GiB + loop 1GiB Btrfs RAID0 LUKS mq-deadline"
    );
    let label = |name: &str| last.labels[name].as_str();
    assert_eq!(label("layout"), "raid0");
    assert_eq!(label("raid"), "btrfs");
    assert_eq!(label("drives"), "2");
    assert_eq!(label("encryption"), "luks");
    assert_eq!(label("file-system"), "btrfs");
    assert_eq!(label("mount-options"), "defaults");
    assert_eq!(label("scheduler"), "mq-deadline");
}

#[test]
fn btrfs_on_an_array_says_so() {
    let text = format!(
        "{HEAD}{TWO}[[group]]\ndevices = [\"a\", \"b\"]\nlayout = \"raid1\"\nraid = \"md\"\nfile-system = \"btrfs\"\n"
    );
    assert_eq!(names(&text), ["2 x 1GiB loop Btrfs md RAID1"]);
}

#[test]
fn blocks_repeat_so_one_trial_is_the_default() {
    let group = "[[group]]\ndevices = [\"a\"]\nfile-system = \"ext4\"\n";
    let file = MatrixFile::parse("m.toml", &format!("{HEAD}{TWO}{group}")).unwrap();
    assert_eq!(file.blocks, 3);
    assert_eq!(file.run.trials().unwrap(), (1, 1));
    let said = format!("{HEAD}blocks = 2\n[run]\nmin-trials = 4\n{TWO}{group}");
    let file = MatrixFile::parse("m.toml", &said).unwrap();
    assert_eq!((file.blocks, file.run.trials().unwrap().0), (2, 4));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let group = |line: &str| format!("{HEAD}{TWO}[[group]]\ndevices = [\"a\"]\n{line}\n");
    for (text, expected) in [
        (
            format!("{HEAD}{TWO}").replace("format = 1", "format = 2"),
            "missing field",
        ),
        (
            group("file-system = \"ext5\""),
            "line 10, column 1: file system \"ext5\"; expected one of ext2",
        ),
        (
            group("file-system = \"ext4\"\nlayout = \"raid7\""),
            "layout \"raid7\"; expected one of single",
        ),
        (
            group("file-system = \"ext4\"\nlayout = \"raid1\""),
            "raid1 needs at least 2 devices",
        ),
        (
            group("file-system = \"ext4\"\nraid = \"btrfs\""),
            "does not go with ext4",
        ),
        (
            group("file-system = { type = \"ext4\", mkfs = [\"/dev/sda\"] }"),
            "names a path",
        ),
        (
            group("file-system = { type = \"ext4\", mount = \"a b\" }"),
            "expected mount options",
        ),
        (
            group("file-system = \"ext4\"\nscheduler = \"../x\""),
            "name of a scheduler",
        ),
        (
            group("file-system = []"),
            "the groups give 0 configurations",
        ),
        (group("file-system = \"ext4\"\nwhat = 1"), "unknown field"),
        (
            group("file-system = \"ext4\"").replace("[\"a\"]", "[\"c\"]"),
            "there is no device \"c\"",
        ),
        (
            group("file-system = \"ext4\"").replace("\"m\"", "\"../m\""),
            "line 2, column 8: name",
        ),
        (
            group("file-system = \"ext4\"").replacen("loop = \"1GiB\"", "loop = \"1\"", 1),
            "at least 16MiB",
        ),
        (
            group("file-system = \"ext4\"").replacen(
                "loop = \"1GiB\"",
                "loop = \"1GiB\"\nserial = \"x\"",
                1,
            ),
            "and not both",
        ),
        (
            group("file-system = \"ext4\"").replacen("name = \"b\"", "name = \"a\"", 1),
            "named twice",
        ),
    ] {
        let found = error(&text);
        assert!(found.contains(expected), "{text}\n{found}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = MatrixFile::parse("m.toml", &text);
    }

    #[test]
    fn any_change_of_a_good_file_is_read_or_refused(at in 0_usize..300, with in "[\\[\\]\"=a-z0-9]{0,3}") {
        let mut text = format!("{HEAD}{TWO}[[group]]\ndevices = [\"a\"]\nfile-system = \"ext4\"\n");
        let at = at.min(text.len());
        text.replace_range(at..(at + with.len()).min(text.len()), &with);
        let _ = MatrixFile::parse("m.toml", &text);
    }
}
