use fathom_model::{Direction, Display, ResultFile};

use super::*;

fn imported(xml: &str) -> ResultFile {
    read(xml.as_bytes()).unwrap()
}

fn document(body: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<PhoronixTestSuite>{body}</PhoronixTestSuite>")
}

fn result(head: &str, entries: &str) -> String {
    document(&format!(
        "<System><Identifier>A</Identifier></System><Result><Identifier>pts/fio-2.1.0</Identifier>\
         <Title>Flexible IO Tester</Title>{head}<Data>{entries}</Data></Result>"
    ))
}

fn entry(value: &str) -> String {
    format!("<Entry><Identifier>A</Identifier><Value>{value}</Value></Entry>")
}

fn warnings(file: &ResultFile) -> Vec<String> {
    let origin = file.origin.as_ref().unwrap();
    origin
        .warnings
        .iter()
        .map(|w| format!("{}: {}", w.place, w.text))
        .collect()
}

#[track_caller]
fn check_value(entry_xml: &str, expect: expect_test::Expect) {
    let file = imported(&result("<Scale>MB/s</Scale>", entry_xml));
    expect.assert_eq(&serde_json::to_string(&file.results[0].entries[0]).unwrap());
}

#[test]
fn numbers_keep_their_print_and_trials_their_order() {
    check_value(
        "<Entry><Identifier>A</Identifier><Value>309.40</Value><RawString>309.1:309.40:310</RawString>\
         <JSON>{\"test-run-times\":\"1.0:2.0\"}</JSON></Entry>",
        expect_test::expect![[
            r#"{"system":"A","value":"309.40","samples":[309.1,"309.40",310.0],"verdict":{"level":"unjudged"},"details":{"pts_json":{"test-run-times":"1.0:2.0"}}}"#
        ]],
    );
}

#[test]
fn failures_say_why_and_are_never_zero() {
    check_value(
        "<Entry><Identifier>A</Identifier><Value></Value><JSON>{\"error\":\"No space\"}</JSON></Entry>",
        expect_test::expect![[
            r#"{"system":"A","error":"No space","verdict":{"level":"unjudged"},"details":{"pts_json":{"error":"No space"}}}"#
        ]],
    );
    check_value(
        "<Entry><Identifier>A</Identifier><Value/><RawString/></Entry>",
        expect_test::expect![[
            r#"{"system":"A","error":"the file has no value and no reason for it","verdict":{"level":"unjudged"}}"#
        ]],
    );
    check_value(
        "<Entry><Identifier>A</Identifier><Value>0</Value></Entry>",
        expect_test::expect![[r#"{"system":"A","value":0.0,"verdict":{"level":"unjudged"}}"#]],
    );
}

#[test]
fn lines_pictures_and_checks_are_kept_as_what_they_are() {
    let line = imported(&result(
        "<Scale>Celsius</Scale><DisplayFormat>LINE_GRAPH</DisplayFormat>",
        &entry("30.00,31,35.5"),
    ));
    let record = &line.results[0];
    assert_eq!(record.display, Display::Line);
    let details = record.entries[0].details.as_ref().unwrap();
    let points: Vec<String> = details.line.iter().map(ToString::to_string).collect();
    assert_eq!(points, ["30.00", "31", "35.5"]);

    let format = "<DisplayFormat>PASS_FAIL</DisplayFormat>";
    let check = imported(&result(format, &entry("PASS")));
    let details = check.results[0].entries[0].details.as_ref().unwrap();
    assert_eq!(details.text.as_deref(), Some("PASS"));
    assert!(check.results[0].entries[0].error.is_none());
}

#[test]
fn texts_are_unescaped_and_freed_of_markup_and_control_characters() {
    let body = "<Generated><Title>a &lt;b&gt;bold&lt;/b&gt; &amp; <i>x</i></Title>\
                <Description>gr&#xF6;&#xDF;e \u{1b}[31mred</Description></Generated>";
    let system = "<System><Identifier>A</Identifier></System>";
    let file = imported(&document(&format!("{body}{system}")));
    assert_eq!(file.title, "a bold & x");
    assert_eq!(file.description, "größe [31mred");
}

#[test]
fn metrics_of_one_run_share_a_case_and_one_of_them_leads() {
    let metric = |version: &str, scale: &str, suffix: &str, value: &str| {
        format!(
            "<Result><Identifier>system/fio-1.9.5</Identifier><Title>Flexible IO Tester</Title>\
             <AppVersion>{version}</AppVersion><Arguments>randread 4k</Arguments>\
             <Description>Type: Random Read{suffix}</Description><Scale>{scale}</Scale>\
             <Proportion>HIB</Proportion><Data>{}</Data></Result>",
            entry(value)
        )
    };
    let file = imported(&document(
        &[
            metric("", "IOPS", "", "49573"),
            metric("3.28", "MB/s", "", "194"),
            metric("3.28", "ms", " - Average Latency", "1.5"),
            metric("3.29", "MB/s", "", "200"),
        ]
        .concat(),
    ));
    let of = |at: usize| &file.results[at];
    assert_eq!(file.cases.len(), 2);
    assert!(of(0).case == of(1).case && of(1).case == of(2).case && of(2).case != of(3).case);
    let leads: Vec<bool> = file.results.iter().map(|r| r.metric.is_primary).collect();
    assert_eq!(leads, [false, true, false, true]);
    assert_eq!(of(2).metric.id, "average-latency-ms");
    assert_eq!(file.cases[0].label, "fio: Rand Read");
    assert_eq!(file.cases[0].implementation.to_string(), "system/fio 3.28");
    // The texts the hash is made of stay as they were.
    assert_eq!(of(0).version, "");
}

#[test]
fn sensors_belong_to_the_case_they_watched() {
    let watched = "<Result><Identifier>pts/a-1.0.0</Identifier><Title>T</Title><Arguments>x</Arguments>\
        <Scale>MB/s</Scale><Data><Entry><Identifier>A</Identifier><Value>1</Value></Entry></Data></Result>";
    let hash = imported(&document(watched)).results[0]
        .pts
        .as_ref()
        .unwrap()
        .hash
        .clone();
    let sensor = format!(
        "<Result><Identifier></Identifier><Title>T</Title><Arguments>CPU Usage x</Arguments>\
         <Description>CPU Usage Monitor</Description><Scale>Percent</Scale><Parent>{hash}</Parent>\
         <DisplayFormat>LINE_GRAPH</DisplayFormat>\
         <Data><Entry><Identifier>A</Identifier><Value>1,2</Value></Entry></Data></Result>"
    );
    let file = imported(&document(&format!("{sensor}{watched}")));
    assert_eq!(file.cases.len(), 1);
    assert!(!file.results[0].metric.is_primary && file.results[1].metric.is_primary);
    assert_eq!(file.results[0].metric.id, "cpu-usage-monitor-percent");
}

#[test]
fn what_is_odd_is_said_with_its_place() {
    let file = imported(&document(
        "<System><Identifier>A</Identifier><Colour>red</Colour></System>\n\
         <Result><Identifier>pts/a-1.0.0</Identifier><Title>T</Title>\n\
         <DisplayFormat>PIE_CHART</DisplayFormat><Data>\n\
         <Entry><Identifier>slice</Identifier><Value>5</Value></Entry></Data></Result>\n\
         <Result><Identifier>pts/b-1.0.0</Identifier><Title>U</Title><Data>\
         <Entry><Identifier>B</Identifier><Value>fast</Value></Entry></Data></Result>",
    ));
    expect_test::expect![[r#"
        line 2 (System 1): element <Colour> is not known and was left out: "red"
        line 5 (Result 1): display format PIE_CHART is not known; its values are shown as a table
        Result 2: the value of system B is no number
        Result 1: name "slice" has no System block; its values are kept
        Result 2: system "B" has no System block; it is shown without hardware and software"#]]
    .assert_eq(&warnings(&file).join("\n"));
    let names: Vec<&str> = file.systems.iter().map(|s| s.identifier.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(file.results[0].entries[0].system, "slice");
}

#[test]
fn merged_files_repeat_systems_and_results() {
    let system = "<System><Identifier>A</Identifier><Hardware>Processor: X</Hardware></System>";
    let other = system.replace(": X", ": Y");
    let test = |value: &str| {
        format!(
            "<Result><Identifier>pts/a-1.0.0</Identifier><Title>T</Title><Scale>MB/s</Scale>\
             <Data>{}</Data></Result>",
            entry(value)
        )
    };
    let file = imported(&document(&format!(
        "{system}{system}{other}{}{}",
        test("1"),
        test("2")
    )));
    assert_eq!((file.systems.len(), file.results.len()), (1, 1));
    assert_eq!(file.results[0].entries.len(), 2);
    assert_eq!(
        file.systems[0].extra["pts_other_descriptions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(warnings(&file).len(), 2);
}

#[test]
fn a_file_cut_short_gives_what_is_complete() {
    let whole = result("<Scale>MB/s</Scale>", &entry("1"));
    let second = whole.replace(
        "</PhoronixTestSuite>",
        "<Result><Title>U</Title><Data><Entry>",
    );
    let file = imported(&second);
    assert_eq!(file.results.len(), 1);
    assert!(
        warnings(&file)[0].contains("ends too early"),
        "{:?}",
        warnings(&file)
    );
}

#[test]
fn the_layout_of_pts_1_and_2_is_read() {
    let file = imported(&document(
        "<Suite><Title>Old</Title><Description>D</Description></Suite>\
         <System><Hardware>Processor: P, Memory: 2GB</Hardware><Software>OS: O</Software>\
         <Author>ann</Author><TestDate>March 5, 2009 10:00</TestDate><TestNotes>n</TestNotes>\
         <Version>1.8.0</Version><AssociatedIdentifiers>A, B</AssociatedIdentifiers></System>\
         <Benchmark><TestName>iozone</TestName><Name>IOzone</Name><Scale>MB/s</Scale>\
         <Proportion>HIB</Proportion><ResultFormat>BAR_GRAPH</ResultFormat><Version>3.323</Version>\
         <ProfileVersion>1.0.0</ProfileVersion><TestArguments>-s 1G</TestArguments>\
         <Attributes>Size: 1GB</Attributes><Results><Group>\
         <Entry><Identifier>A</Identifier><Value>80.1</Value><RawString>80:80.2</RawString></Entry>\
         <Entry><Identifier>B</Identifier><Value>81</Value></Entry></Group></Results></Benchmark>",
    ));
    assert_eq!(warnings(&file), [""; 0]);
    assert_eq!((file.title.as_str(), file.systems.len()), ("Old", 2));
    let system = &file.systems[1];
    assert_eq!(
        (system.user.as_str(), system.client.as_str()),
        ("ann", "Phoronix Test Suite v1.8.0")
    );
    let record = &file.results[0];
    assert_eq!(record.pts.as_ref().unwrap().identifier, "iozone-1.0.0");
    assert_eq!(record.metric.direction, Direction::HigherIsBetter);
    assert_eq!(record.entries[0].sample_values(), [80.0, 80.2]);
}

#[test]
fn hostile_files_are_refused() {
    let error = |xml: &str| read(xml.as_bytes()).unwrap_err().to_string();
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;\">]><PhoronixTestSuite/>";
    assert!(
        error(bomb).contains("document type with declarations"),
        "{}",
        error(bomb)
    );
    let deep = document(&format!("<System><Identifier>{}", "<x>".repeat(100_000)));
    assert!(
        error(&deep).contains("nested too deeply"),
        "{}",
        error(&deep)
    );
    let wrong_end = document("<System><Identifier>A</System>");
    let text = error(&wrong_end);
    assert!(
        text.contains("line 2, column") && text.contains("(System 1)"),
        "{text}"
    );
    assert!(error("<svg></svg>").contains("root element is <svg>"));
    assert!(error("<PhoronixTestSuite></PhoronixTestSuite>").contains("no <Result>"));
}

#[test]
fn writing_keeps_everything_that_was_read() {
    let xml = result(
        "<AppVersion>3.40</AppVersion><Arguments> randread  4k </Arguments>\
         <Description>Mode: Seq &lt;64K&gt; \u{2013} x</Description><Scale>MB/s</Scale>\
         <Proportion>HIB</Proportion><DisplayFormat>BAR_GRAPH</DisplayFormat>\
         <Annotation>note</Annotation>",
        "<Entry><Identifier>A</Identifier><Value>9.50</Value><RawString>9.4:x:9.6</RawString>\
         <JSON>{\"min-result\":\"9\"}</JSON></Entry>",
    );
    let file = imported(&xml);
    assert_eq!(
        file.results[0].entries[0]
            .details
            .as_ref()
            .unwrap()
            .raw_text
            .as_deref(),
        Some("9.4:x:9.6")
    );
    let again = read(&write(&file)).unwrap();
    assert_eq!(again.results, file.results);
    assert_eq!(again.systems, file.systems);
    assert_eq!(again.cases, file.cases);
    let text = |file: &ResultFile| String::from_utf8(write(file)).unwrap();
    assert_eq!(text(&again), text(&file));
}

#[test]
fn native_results_get_hashes_of_their_own() {
    let json = br#"{"fathom_result":1,"title":"run","generator":{"name":"Fathom","version":"0.1.0"},
        "modified":1700000000000,
        "systems":[{"identifier":"A","machine":{},"client":"Fathom 0.1.0",
            "software":[{"name":"File-System","text":"ext4, noatime"}],
            "notes":[{"name":"Disk Details","text":"NONE / noatime,rw"}]}],
        "cases":[{"id":"00aa","test":"io","test_version":"1","label":"RND4K Q1 read",
            "implementation":{"kind":"native","name":"fathom","version":"1"}}],
        "results":[
          {"case":"00aa","title":"io","version":"native 1","description":"RND4K Q1 read",
           "metric":{"id":"bandwidth","unit":"MB/s","direction":"higher-is-better","is_primary":true},
           "entries":[{"system":"A","value":54.216843,"samples":[54.1,54.3336865]}]},
          {"case":"00aa","title":"io","version":"native 1","description":"RND4K Q1 read",
           "metric":{"id":"latency-p99","title":"p99","unit":"us","direction":"lower-is-better"},
           "entries":[{"system":"A","error":"disk full\u001b[0m",
             "verdict":{"level":"suspect","reasons":[{"rule":"r","short":"two modes","text":"t"}]}}]}]}"#;
    let file = crate::native::read(json).unwrap();
    let back = read(&write(&file)).unwrap();
    assert_eq!((back.results.len(), back.cases.len()), (2, 1));
    let facts = |at: usize| back.results[at].pts.as_ref().unwrap();
    assert_ne!(facts(0).hash, facts(1).hash);
    assert_eq!(facts(1).parent.as_ref(), Some(&facts(0).hash));
    assert_eq!(
        back.results[0].entries[0]
            .value
            .as_ref()
            .unwrap()
            .to_string(),
        "54.22"
    );
    assert_eq!(
        back.results[1].entries[0].error.as_deref(),
        Some("disk full[0m")
    );
    assert_eq!(back.systems[0].software[0].text, "ext4; noatime");
    assert_eq!(back.systems[0].notes, file.systems[0].notes);
    assert_eq!(back.systems[0].client, "Fathom 0.1.0");
    let text = String::from_utf8(write(&file)).unwrap();
    for line in [
        "<LastModified>2023-11-14 22:13:20</LastModified>",
        "<TestClient>Fathom v0.1.0</TestClient>",
        "<RawString>54.1:54.33</RawString>",
        "suspect: two modes",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}
