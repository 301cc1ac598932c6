use super::*;

#[track_caller]
fn check(content: &str, expected: Option<Format>) {
    assert_eq!(detect(content.as_bytes()), expected, "{content}");
}

#[test]
fn formats_are_told_by_their_content() {
    check("\u{feff} {\"fathom_result\": 1}", Some(Format::Native));
    let cases = "{\"id\":\"a\"},".repeat(1000);
    let sorted =
        format!("{{\"cases\":[{cases}0],\"fathom_result\":1,\"results\":[],\"title\":\"t\"}}");
    check(&sorted, Some(Format::Native));
    check(
        "<?xml version=\"1.0\"?><PhoronixTestSuite><Result>",
        Some(Format::PtsXml),
    );
    check(
        "<PhoronixTestSuite><TestInformation>",
        Some(Format::Other(Other::PtsDefinition)),
    );
    check("{\"title\": \"x\", \"results\": {}}", Some(Format::PtsJson));
    check(
        "fio: error\n{\n \"fio version\" : \"fio-3.33\"",
        Some(Format::FioJson),
    );
    check(",T,\n\n ,,\"A\"\n", Some(Format::PtsCsv));
    check(
        "T,\n\n\"A 1 - B\",\nHigher Results Are Better\n",
        Some(Format::PtsRawCsv),
    );
    check(
        "A . 5 |===\nMB/s > Higher Is Better\nA .. 5 |=\n",
        Some(Format::PtsText),
    );
    check(
        "  read: IOPS=345k, BW=1346MiB/s (1411MB/s)(6229MiB/4628msec)",
        Some(Format::FioText),
    );
    check(
        "500, 1234, 0, 4096\n1000, 5, 0, 4096, 0\n",
        Some(Format::FioLog),
    );
    check(
        "[global]\nrw=read\n[a]\n",
        Some(Format::Other(Other::FioJobFile)),
    );
    check("%PDF-1.7", Some(Format::Other(Other::Pdf)));
    check("<!DOCTYPE HTML><html>", Some(Format::Other(Other::Html)));
    check("Dear diary", None);
    check("", None);
}

#[test]
fn what_is_not_known_is_described() {
    let text = unrecognised(b"Dear diary").to_string();
    assert!(
        text.contains("begins with \"Dear diary\"") && text.contains("composite.xml"),
        "{text}"
    );
    assert!(unrecognised(b"\0\x01").to_string().contains("binary"));
    assert_eq!(unrecognised(b" \n"), FormatError::Empty);
}

#[test]
fn utf_16_is_looked_through() {
    let text = "<PhoronixTestSuite><Result>";
    let bytes: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain(text.bytes().flat_map(|b| [b, 0]))
        .collect();
    assert_eq!(detect(&bytes), Some(Format::PtsXml));
}
