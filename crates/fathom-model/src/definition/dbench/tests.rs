use proptest::prelude::*;

use super::*;
use crate::{Implementation, ImplementationKind, Options};

fn info() -> TestInfo {
    TestInfo {
        id: ID,
        title: TITLE,
        summary: SUMMARY,
        version: VERSION.to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: options(),
    }
}

fn case(typed: &[(&str, &str)]) -> Case {
    let typed: Options = typed.iter().copied().collect();
    Case::resolve(&info(), &typed, "").unwrap()
}

fn settings(typed: &[(&str, &str)]) -> DbenchSettings {
    DbenchSettings::from_case(&case(typed)).unwrap()
}

#[test]
fn the_defaults_are_the_originals() {
    let full = settings(&[]);
    assert_eq!(
        (full.clients, full.seconds, full.warm_up_seconds()),
        (1, 600, 120)
    );
    assert!(full.resolve && full.loadfile.is_none() && full.target_rate.is_none());
    let short = settings(&[("scale", "short")]);
    assert_eq!((short.seconds, short.warm_up_seconds()), (10, 2));
    assert_eq!(settings(&[("time", "30s"), ("scale", "short")]).seconds, 5);
    assert_eq!(settings(&[("time", "2s")]).warm_up_seconds(), 0);
    assert_eq!(
        full.policy(),
        ("fsync where the load file flushes".to_owned(), false)
    );
    assert!(settings(&[("fsync", "yes")]).policy().1);
}

#[test]
fn values_have_the_ids_of_the_metrics() {
    let found = values(&DbenchMeasured {
        mb_per_second: 611.692,
        max_latency: Some(Nanos::new(24_039_000)),
        operations: Some((668_000, Nanos::from_secs(5))),
    });
    assert_eq!(found["throughput"].value(), 611.692);
    assert_eq!(found["max-latency"].value(), 24.039);
    assert_eq!(found["operations-per-second"].value(), 133_600.0);
    let ids: Vec<String> = metrics().into_iter().map(|metric| metric.id).collect();
    assert!(found.keys().all(|id| ids.contains(id)));
}

// --- the grammar ---

const OPEN: &str = "NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK\n";
const WRITE: &str = "WriteX 7 0 10 10 NT_STATUS_OK\n";
const CLOSE: &str = "Close 7 NT_STATUS_OK\n";

fn parse(text: &str) -> Result<LoadFile, LoadError> {
    LoadFile::parse("my.txt", text.as_bytes().to_vec())
}

/// What is said about a line put between an opening and a closing.
fn said(line: &str) -> String {
    let error = parse(&format!("{OPEN}{WRITE}{line}\n{CLOSE}")).unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("my.txt", 3), "{error}");
    error.to_string()
}

fn read(client: u32, line: &str) -> String {
    let mut reader = LineReader::new(client);
    match reader.read(line.as_bytes()) {
        Ok(Some(line)) => format!(
            "{} {:?} {:?} {:?} {} {}",
            line.op.name(),
            line.path,
            line.second,
            line.numbers,
            line.succeeds,
            line.due.as_u64()
        ),
        Ok(None) => "nothing".to_owned(),
        Err(problem) => format!("{}; expected {}", problem.found, problem.expected),
    }
}

#[test]
fn every_operation_is_understood() {
    let lines = [
        "NTCreateX \"\\clients\\client1\\a b\" 0x1 0x2 16385 NT_STATUS_OK",
        "Close 16385 NT_STATUS_OK",
        "Rename \"\\clients\\client1\\a\" \"\\clients\\client1\\b\" NT_STATUS_OK",
        "Unlink \"\\clients\\client1\\a\" 0x6 NT_STATUS_NO_SUCH_FILE",
        "Deltree \"\\clients\\client1\" NT_STATUS_OK",
        "Rmdir \"\\x\" 0xC000000F",
        "Mkdir \"\\\" 0x00000000",
        "QUERY_PATH_INFORMATION \"\\x\" 1004 NT_STATUS_OK",
        "QUERY_FILE_INFORMATION 1 258 NT_STATUS_OK",
        "QUERY_FS_INFORMATION 259 NT_STATUS_OK",
        "SET_FILE_INFORMATION 1 1004 NT_STATUS_OK",
        "FIND_FIRST \"\\clients\\client1\\<.JNK\" 260 1366 0 NT_STATUS_NO_SUCH_FILE",
        "WriteX 1 0 65536 65536 NT_STATUS_OK",
        "ReadX 1 010 0x20 32 NT_STATUS_OK",
        "LockX 1 2147483539 1 NT_STATUS_OK",
        "UnlockX 1 2147483539 1 NT_STATUS_OK",
        "Flush 1 NT_STATUS_OK",
        "1.5 Sleep 1000 NT_STATUS_OK",
        "  # anything \" at all",
        "",
        "   ",
    ];
    let found: Vec<String> = lines.iter().map(|line| read(12, line)).collect();
    expect_test::expect![[r#"
        NTCreateX "clients/client12/a b" "" [1, 2, 16385, 0] true 0
        Close "" "" [16385, 0, 0, 0] true 0
        Rename "clients/client12/a" "clients/client12/b" [0, 0, 0, 0] true 0
        Unlink "clients/client12/a" "" [6, 0, 0, 0] false 0
        Deltree "clients/client12" "" [0, 0, 0, 0] true 0
        Rmdir "x" "" [0, 0, 0, 0] false 0
        Mkdir "." "" [0, 0, 0, 0] true 0
        QUERY_PATH_INFORMATION "x" "" [1004, 0, 0, 0] true 0
        QUERY_FILE_INFORMATION "" "" [1, 258, 0, 0] true 0
        QUERY_FS_INFORMATION "" "" [259, 0, 0, 0] true 0
        SET_FILE_INFORMATION "" "" [1, 1004, 0, 0] true 0
        FIND_FIRST "clients/client12/<.JNK" "" [260, 1366, 0, 0] false 0
        WriteX "" "" [1, 0, 65536, 65536] true 0
        ReadX "" "" [1, 8, 32, 32] true 0
        LockX "" "" [1, 2147483539, 1, 0] true 0
        UnlockX "" "" [1, 2147483539, 1, 0] true 0
        Flush "" "" [1, 0, 0, 0] true 0
        Sleep "" "" [1000, 0, 0, 0] true 1500000000
        nothing
        nothing
        nothing"#]]
    .assert_eq(&found.join("\n"));
}

#[test]
fn names_are_those_of_the_load_file_and_of_the_printed_table() {
    for (at, name) in LoadOp::NAMES.iter().enumerate() {
        let op = LoadOp::by_name(name).unwrap();
        assert_eq!((op.index(), op.name()), (at, *name));
    }
    assert_eq!(LoadOp::by_name("Qpathinfo"), Some(LoadOp::QueryPath));
    assert_eq!(LoadOp::by_name("Find"), Some(LoadOp::FindFirst));
    assert_eq!(LoadOp::by_name("find"), None);
}

#[test]
fn bad_lines_are_named_with_their_place() {
    let checks = [
        (
            "WriteX 7 0 10 NT_STATUS_OK",
            "3 arguments of WriteX; expected WriteX HANDLE OFFSET LENGTH LENGTH, then a status",
        ),
        (
            "writex 7 0 10 10 NT_STATUS_OK",
            "the operation \"writex\"; expected an operation; did you mean WriteX?",
        ),
        (
            "REPEAT 5 NT_STATUS_OK",
            "\"REPEAT\", which only dbench 5 knows; expected a load file of dbench 4.0",
        ),
        (
            "SMBopen 1 2",
            "\"SMBopen\": this is a load file of dbench 1; expected a load file of dbench 4.0",
        ),
        (
            "Flush 7 OK",
            "\"OK\" where the status should be; expected NT_STATUS_OK, another NT_STATUS_... or a number with 0x at the end of the line",
        ),
        ("Flush 7", "\"7\" where the status should be"),
        (
            "Flush 8 NT_STATUS_OK",
            "handle 8 is not open; expected an NTCreateX with NT_STATUS_OK before",
        ),
        (
            "Flush x NT_STATUS_OK",
            "\"x\" where a handle should be; expected a whole number from 0 to 2147483647",
        ),
        (
            "Flush 0 NT_STATUS_OK",
            "\"0\" where a handle should be; expected a number from 1",
        ),
        (
            "WriteX 7 -1 1 1 NT_STATUS_OK",
            "\"-1\" where an offset should be",
        ),
        (
            "WriteX 7 0 99999999 99999999 NT_STATUS_OK",
            "\"99999999\" where a length should be; expected a whole number from 0 to 16777216",
        ),
        (
            "WriteX 7 0 10 9 NT_STATUS_OK",
            "9 of 10 bytes moved; expected as many as are written",
        ),
        (
            "ReadX 7 0 10 11 NT_STATUS_OK",
            "11 of 10 bytes moved; expected 10 at most",
        ),
        (
            "Mkdir clients NT_STATUS_OK",
            "the path \"clients\"; expected a path that begins with \\",
        ),
        (
            "Mkdir \"\\a\\..\\..\\etc\" NT_STATUS_OK",
            "expected a path without ..",
        ),
        (
            "Mkdir \"\\a NT_STATUS_OK",
            "expected a second quote that closes it",
        ),
        (
            "1.5",
            "a time without an operation; expected TIME OPERATION ... STATUS",
        ),
        (
            "1e99 Flush 7 NT_STATUS_OK",
            "the time \"1e99\"; expected seconds since the start of the pass",
        ),
        ("Flush 0x NT_STATUS_OK", "\"0x\" where a handle should be"),
        (
            "Flush 99999999999999999999 NT_STATUS_OK",
            "where a handle should be",
        ),
        ("Flush 1 2 3 4 5 6 7 8 NT_STATUS_OK", "more than 8 words"),
        (
            "NTCreateX \"\\b\" 0x40 0x2 7 NT_STATUS_OK",
            "handle 7 is open since line 1; expected another handle, or a Close before",
        ),
    ];
    for (line, expected) in checks {
        let said = said(line);
        assert!(said.starts_with("load file my.txt:3: "), "{said}");
        assert!(said.contains(expected), "{said}\n  lacks {expected}");
    }
    let long = said(&format!("Mkdir \"\\{}\" NT_STATUS_OK", "x".repeat(120)));
    assert!(
        long.contains("a word of 121 bytes; expected 99 bytes at most"),
        "{long}"
    );
    let longer = said(&"x ".repeat(600));
    assert!(
        longer.contains("a line of 1200 bytes; expected 1022 bytes"),
        "{longer}"
    );
}

#[test]
fn a_file_must_close_what_it_opens_and_move_data() {
    let open = parse(&format!("{OPEN}{WRITE}")).unwrap_err();
    assert_eq!(
        (open.line, open.found.as_str()),
        (1, "handle 7 is never closed")
    );
    let empty = parse("# nothing\n").unwrap_err();
    assert_eq!(
        (empty.line, empty.found.as_str()),
        (1, "no data is read or written")
    );
    assert_eq!(parse("").unwrap_err().line, 0);
    let mut many = String::new();
    for handle in 1..=201 {
        many += &format!("NTCreateX \"\\f{handle}\" 0x40 0x2 {handle} NT_STATUS_OK\n");
    }
    let many = parse(&many).unwrap_err();
    assert_eq!(
        (many.line, many.found.as_str()),
        (201, "200 handles are open")
    );
}

#[test]
fn windows_line_ends_and_a_missing_last_one_are_no_harm() {
    let text = format!("{OPEN}{WRITE}{CLOSE}");
    let plain = parse(&text).unwrap();
    let windows = parse(&text.replace('\n', "\r\n")).unwrap();
    let cut = parse(text.trim_end()).unwrap();
    assert_eq!(plain.facts(), windows.facts());
    assert_eq!(plain.facts(), cut.facts());
    assert_eq!(plain.facts().lines, 3);
    assert_eq!(plain.lines().count(), 3);
}

#[test]
fn space_follows_the_life_of_files() {
    let text = "\
Mkdir \"\\d\" NT_STATUS_OK
NTCreateX \"\\d\\a\" 0x40 0x2 1 NT_STATUS_OK
WriteX 1 9999 1 1 NT_STATUS_OK
WriteX 1 0 100 100 NT_STATUS_OK
Close 1 NT_STATUS_OK
Rename \"\\d\\a\" \"\\d\\b\" NT_STATUS_OK
NTCreateX \"\\d\\a\" 0x40 0x2 1 NT_STATUS_OK
WriteX 1 0 4096 4096 NT_STATUS_OK
Close 1 NT_STATUS_OK
Unlink \"\\d\\b\" 0x6 NT_STATUS_OK
NTCreateX \"\\d\\c\" 0x40 0x2 1 NT_STATUS_OK
WriteX 1 0 1 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
Deltree \"\\d\" NT_STATUS_OK
";
    let facts = parse(text).unwrap().facts().clone();
    // 10000 bytes in b and 4096 in a at the same time.
    assert_eq!((facts.space_bytes, facts.most_files), (12_288 + 4096, 3));
    assert_eq!((facts.written_bytes, facts.read_bytes), (4198, 0));
    assert_eq!((facts.largest_transfer, facts.most_handles), (4096, 1));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = LoadFile::parse("x", text);
    }

    #[test]
    fn no_line_makes_it_panic(
        op in proptest::sample::select(LoadOp::NAMES),
        rest in "[ \"\\\\a-z0-9x.#-]{0,80}",
    ) {
        let _ = parse(&format!("{op} {rest} NT_STATUS_OK"));
    }
}

// --- the built-in load file ---

/// A sum over 129 rounds and the set-up within `per_mille` of what the shipped file has.
fn near(what: &str, found: u64, shipped: u64, per_mille: u64) {
    let allowed = shipped * per_mille / 1000;
    assert!(
        found.abs_diff(shipped) <= allowed,
        "{what}: {found} instead of {shipped} +- {allowed}"
    );
}

#[test]
fn the_built_in_load_file_has_the_statistics_of_the_shipped_one() {
    let load = parse(&generate(ROUNDS)).unwrap();
    let facts = load.facts();
    let count = |op: LoadOp| facts.counts[op.index()];
    near("ReadX", count(LoadOp::ReadX), 124_199, 5);
    near("NTCreateX", count(LoadOp::NTCreateX), 79_230, 5);
    near("QUERY_PATH", count(LoadOp::QueryPath), 71_814, 5);
    near("Close", count(LoadOp::Close), 58_200, 5);
    near("WriteX", count(LoadOp::WriteX), 39_502, 5);
    near("FIND_FIRST", count(LoadOp::FindFirst), 27_765, 5);
    near("Unlink", count(LoadOp::Unlink), 16_000, 5);
    near("QUERY_FS", count(LoadOp::QueryFs), 13_168, 5);
    near("QUERY_FILE", count(LoadOp::QueryFile), 12_585, 10);
    near("SET_FILE", count(LoadOp::SetFile), 6454, 5);
    near("Flush", count(LoadOp::Flush), 5553, 5);
    near("Rename", count(LoadOp::Rename), 3355, 5);
    let locks = (count(LoadOp::LockX), count(LoadOp::UnlockX));
    assert_eq!(locks, (258, 258));
    assert_eq!((count(LoadOp::Deltree), count(LoadOp::Mkdir)), (2, 1));
    near("bytes read", facts.read_bytes, 1_472_000_000, 10);
    near("bytes written", facts.written_bytes, 1_016_000_000, 10);
    near("lines", facts.lines, 458_344, 5);
    assert!(
        (20..=23).contains(&facts.most_handles),
        "{}",
        facts.most_handles
    );
    near("working set", facts.space_bytes, 24_000_000, 80);
}

#[test]
fn sizes_and_misses_have_the_shares_of_the_shipped_one() {
    let load = parse(&generate(20)).unwrap();
    let mut reader = LineReader::new(1);
    let (mut reads, mut writes) = (BTreeMap::new(), BTreeMap::new());
    let (mut open_misses, mut stat_misses, mut marks_before_a_look, mut mark) = (0, 0, 0, false);
    for line in load.lines() {
        let Some(line) = reader.read(line).unwrap() else {
            continue;
        };
        match line.op {
            LoadOp::ReadX => *reads.entry(line.numbers[2]).or_insert(0_u64) += 1,
            LoadOp::WriteX => *writes.entry(line.numbers[2]).or_insert(0_u64) += 1,
            LoadOp::NTCreateX => open_misses += u64::from(!line.succeeds),
            LoadOp::QueryPath => stat_misses += u64::from(!line.succeeds),
            _ => {}
        }
        marks_before_a_look += u64::from(mark && line.op == LoadOp::QueryFile);
        mark = line.op == LoadOp::WriteX && line.numbers[2] == 1;
    }
    let share = |of: &BTreeMap<i64, u64>, size: i64| {
        let all: u64 = of.values().sum();
        100.0 * of.get(&size).copied().unwrap_or(0) as f64 / all as f64
    };
    // Without the set-up, which is a larger part of 20 rounds than of 129.
    for (of, size, percent) in [
        (&reads, 4096, 67.0),
        (&reads, 61_440, 13.0),
        (&reads, 2048, 4.0),
        (&reads, 8192, 4.0),
        (&writes, 65_536, 32.0),
        (&writes, 4096, 25.0),
        (&writes, 1, 19.0),
    ] {
        let found = share(of, size);
        assert!(
            (found - percent).abs() < 2.5,
            "{size}: {found} instead of {percent} %"
        );
    }
    near("open misses", open_misses, 20 * 163, 10);
    near("stat misses", stat_misses, 20 * 189, 10);
    // Most single bytes at the end are followed by a look at the file.
    assert!(
        marks_before_a_look > writes[&1] * 6 / 10,
        "{marks_before_a_look}"
    );
}

#[test]
fn the_built_in_load_file_is_the_same_every_time() {
    let text = generate(3);
    assert_eq!(text, generate(3));
    // Raise VERSION when this changes: results made before are of another load file.
    expect_test::expect!["83b864751c922e1c"].assert_eq(&sha256(text.as_bytes())[..16]);
    // Longer files begin the same.
    let longer = generate(4);
    let last = text.rfind("Deltree").unwrap();
    assert!(longer.starts_with(&text[..last]));
}

// --- the identity ---

#[test]
fn the_load_file_is_part_of_the_identity_and_its_place_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!("{OPEN}{WRITE}{CLOSE}");
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("one"), &text).unwrap();
    std::fs::write(path("same"), &text).unwrap();
    std::fs::write(path("other"), format!("{text}# more\n")).unwrap();
    let complete_of = |typed: &[(&str, &str)]| complete(&info(), case(typed));
    let id = |name: &str| complete_of(&[("loadfile", &path(name))]).unwrap().id;
    assert_eq!(id("one"), id("same"));
    assert_ne!(id("one"), id("other"));
    let built_in = complete_of(&[]).unwrap();
    assert_eq!(built_in, case(&[]));
    assert_ne!(id("one"), built_in.id);
    // A stored case runs again with the same content, and not with another.
    let stored = complete_of(&[("loadfile", &path("one"))]).unwrap();
    let hash = stored.text("loadfile-sha256").unwrap();
    let again = |name: &str| complete_of(&[("loadfile", &path(name)), ("loadfile-sha256", hash)]);
    assert_eq!(again("same").unwrap().id, stored.id);
    let error = again("other").unwrap_err().to_string();
    assert!(error.contains("was made with another load file"), "{error}");
    let missing = again("none").unwrap_err().to_string();
    assert!(missing.contains("No such file"), "{missing}");
}

#[test]
fn a_bad_load_file_is_refused_before_anything_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad");
    std::fs::write(&path, format!("{OPEN}WriteX 7 0 10 NT_STATUS_OK\n{CLOSE}")).unwrap();
    let path = path.display().to_string();
    let error = complete(&info(), case(&[("loadfile", &path)])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&format!("{path}:2: 3 arguments of WriteX")),
        "{text}"
    );
}
