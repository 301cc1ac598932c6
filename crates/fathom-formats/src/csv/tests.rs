use fathom_model::ResultFile;

use super::*;

fn parsed(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(false)
        .from_reader(bytes);
    reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = COLUMNS.iter().position(|known| *known == name).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

fn sample() -> ResultFile {
    crate::native::read(
        br#"{"fathom_result":1,"title":"a \"b\", c",
        "systems":[{"identifier":"=SUM(A1)","hardware":[{"name":"Disk","text":"x\ny"}]}],
        "cases":[{"id":"00aa","test":"io","test_version":"1","label":"L","options":{"rw":"read"},
            "implementation":{"kind":"native","name":"fathom","version":"1"}}],
        "results":[{"case":"00aa","title":"io","metric":{"id":"iops","unit":"IOPS",
            "direction":"higher-is-better","is_primary":true},
            "entries":[{"system":"=SUM(A1)","value":2,"samples":[1,"3.0"]},
                       {"system":"mean","value":"-7.50","spread":{"standard_error":"0.10","count":3}},
                       {"system":"broken","error":"disk full"}]}],
        "runs":[{"case":"00aa","system":"=SUM(A1)","trials":[
            {"id":"t1","number":1,"started":1700000000000,"values":{"iops":1}},
            {"id":"t2","number":2,"error":"failed"},
            {"id":"t3","number":3,"values":{"iops":"3.0"}}]}]}"#,
    )
    .unwrap()
}

#[test]
fn there_is_a_row_for_each_trial_or_what_stands_for_it() {
    let rows = parsed(&write(&sample(), Rows::Trials));
    assert_eq!(rows[0], COLUMNS);
    assert_eq!(
        column(&rows, "row"),
        ["trial", "trial", "trial", "entry", "entry"]
    );
    assert_eq!(column(&rows, "value"), ["1", "", "3.0", "-7.50", ""]);
    assert_eq!(column(&rows, "error"), ["", "failed", "", "", "disk full"]);
    assert_eq!(column(&rows, "standard_error")[3], "0.10");
    assert_eq!(column(&rows, "samples")[3], "3");
    assert_eq!(column(&rows, "options")[0], "rw=read");
    assert_eq!(column(&rows, "started_unix_ms")[0], "1700000000000");
}

#[test]
fn there_is_a_row_for_each_entry() {
    let rows = parsed(&write(&sample(), Rows::Entries));
    assert_eq!(column(&rows, "value"), ["2", "-7.50", ""]);
    assert_eq!(column(&rows, "samples"), ["2", "3", ""]);
}

#[test]
fn quotes_commas_line_ends_and_formulas_do_no_harm() {
    let bytes = write(&sample(), Rows::Entries);
    let rows = parsed(&bytes);
    assert_eq!(column(&rows, "file")[0], "a \"b\", c");
    assert_eq!(column(&rows, "hardware")[0], "Disk: x\ny");
    assert_eq!(column(&rows, "system"), ["'=SUM(A1)", "mean", "broken"]);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("\"a \"\"b\"\", c\"") && text.ends_with("\r\n"));
    // A negative number is no formula.
    assert!(text.contains(",-7.50,"));
}

#[test]
fn samples_without_trials_are_rows() {
    let mut file = sample();
    file.runs.clear();
    let rows = parsed(&write(&file, Rows::Trials));
    assert_eq!(column(&rows, "value"), ["1", "3.0", "-7.50", ""]);
    assert_eq!(column(&rows, "trial_number"), ["1", "2", "", ""]);
}
