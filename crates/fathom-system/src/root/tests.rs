use fathom_testkit::FakeRoot;

use super::*;

#[test]
fn absolute_links_of_a_tree_stay_in_it() {
    let fake = FakeRoot::new().tree(
        "/etc/passwd = inside\n\
         /a -> /b/c\n\
         /b/c -> ../etc\n\
         /out -> ../../../../etc\n\
         /circle -> /circle\n",
    );
    let root = Root::at(fake.path());
    assert_eq!(
        root.real_path("/a/passwd").unwrap(),
        Path::new("/etc/passwd")
    );
    assert_eq!(
        root.real_path("/out/./passwd").unwrap(),
        Path::new("/etc/passwd")
    );
    assert_eq!(root.real_path("/circle"), None);
    assert_eq!(root.real_path("/none"), None);
    assert_eq!(
        root.strip(&root.path("/etc/passwd")),
        Path::new("/etc/passwd")
    );
}

#[test]
fn texts_are_trimmed_and_absent_when_empty() {
    let fake = FakeRoot::new()
        .file("/nul", "Raspberry Pi\0")
        .file("/blank", " \n")
        .file("/bytes", [0xff, b'1'])
        .file("/number", "42\n");
    let root = Root::at(fake.path());
    assert_eq!(root.line("/nul").as_deref(), Some("Raspberry Pi"));
    assert_eq!(root.line("/blank"), None);
    assert_eq!(root.line("/bytes").as_deref(), Some("\u{fffd}1"));
    assert_eq!(root.number::<u8>("/number"), Some(42));
    assert_eq!(root.number::<u8>("/nul"), None);
    assert_eq!(root.names("/none"), Vec::<String>::new());
    assert!(root.exists("/nul") && !root.exists("/none"));
}

#[test]
fn sizes_are_said_beforehand_in_a_tree_and_asked_for_on_the_machine() {
    let space = Space {
        size_bytes: 7,
        ..Space::default()
    };
    let root = Root::at("/nowhere").with_space("/data", space);
    assert_eq!(root.space(Path::new("/data")), Some(space));
    assert_eq!(root.space(Path::new("/")), None);
    assert!(Root::system().space(Path::new("/")).is_some());
}
