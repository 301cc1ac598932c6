use super::*;
use fathom_model::{Entry, Figure, Metric, ResultRecord, Series, System, Trial};
use serde_json::{Value, json};

fn sample() -> ResultFile {
    let json = json!({
        "fathom_result": 1,
        "title": "Two drives",
        "systems": [{"identifier": "a", "hardware": [{"name": "Disk", "text": "X"}]}],
        "cases": [],
        "results": [{
            "case": "0011223344556677",
            "metric": {"id": "bandwidth", "unit": "MB/s", "direction": "higher-is-better"},
            "title": "io",
            "entries": [{
                "system": "a", "value": "12.50", "samples": [12.25, "12.750"],
                "details": {"pts_json": {"test-run-times": "1:2"}},
            }],
        }],
        "runs": [{"case": "0011223344556677", "system": "a", "trials": [{"id": "t1"}]}],
    });
    read(json.to_string().as_bytes()).unwrap()
}

#[track_caller]
fn refused(json: &str) -> String {
    read(json.as_bytes()).unwrap_err().to_string()
}

#[test]
fn writing_is_stable_and_reads_back() {
    let file = sample();
    let bytes = write(&file);
    assert_eq!(read(&bytes).unwrap(), file);
    assert_eq!(write(&read(&bytes).unwrap()), bytes);
    expect_test::expect![[r#"
        {
         "fathom_result":1,"#]]
    .assert_eq(&String::from_utf8(bytes).unwrap()[..21]);
}

#[test]
fn errors_say_where_and_what() {
    let broken = "{\"fathom_result\": 1,\n\"results\": [{}, {\"entries\": [{\"value\": true}]}]}";
    let error = refused(broken);
    assert!(error.contains("line 2, column"), "{error}");
    assert!(error.contains("(results[1].entries[0].value)"), "{error}");
    assert!(
        error.contains("expected a finite number or its printed text"),
        "{error}"
    );

    let error = refused("{\"fathom_result\": 1, \"results\": [{\"entries\": [{\"verdict\": 3}]}]}");
    assert!(error.contains("results[0].entries[0].verdict"), "{error}");

    let error = refused("{\"fathom_result\": 1, \"systems\": [");
    assert!(error.contains("line 1, column 33 (systems"), "{error}");
}

#[test]
fn a_later_version_is_refused_whatever_its_shape() {
    let error = refused("{\"fathom_result\": 2, \"results\": \"elsewhere\"}");
    assert!(error.contains("format version 2"), "{error}");
    assert!(error.contains("newer Fathom"), "{error}");
    let error = refused("{\"title\": \"no version\"}");
    assert!(error.contains("fathom_result"), "{error}");
}

#[test]
fn absurd_files_are_refused_by_their_shape() {
    let deep = format!("{{\"fathom_result\": 1, \"x\": {}", "[".repeat(100_000));
    assert!(
        refused(&deep).contains("recursion limit"),
        "{}",
        refused(&deep)
    );
    let many = format!(
        "{{\"fathom_result\": 1, \"results\": [{}{{}}]}}",
        "{},".repeat(300_000)
    );
    assert!(refused(&many).contains("number of JSON objects"));
}

#[test]
fn a_series_keeps_its_gaps() {
    let mut file = sample();
    let values = vec![1.0, f64::NAN, 3.0];
    let series = Series {
        unit: "MB/s".into(),
        values,
        ..Series::default()
    };
    file.runs[0].trials[0]
        .series
        .insert("bandwidth".into(), series);
    let back = read(&write(&file)).unwrap();
    let values = &back.runs[0].trials[0].series["bandwidth"].values;
    assert!(
        values[0] == 1.0 && values[1].is_nan() && values[2] == 3.0,
        "{values:?}"
    );
}

/// Puts a field of the future into every object, one at a time, and names the objects that lose it.
fn lossy_places(value: &Value, at: &str, root: &Value, lost: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let mut changed = root.clone();
            let object = changed.pointer_mut(at).unwrap().as_object_mut().unwrap();
            object.insert("from_the_future".into(), json!({"kept": [1]}));
            let survives = match read(changed.to_string().as_bytes()) {
                Ok(file) => write(&file).windows(15).any(|w| w == b"from_the_future"),
                // Maps by name (histograms, values) hold no place for unknown fields.
                Err(_) => return,
            };
            if !survives {
                lost.push(at.to_owned());
            }
            for (key, value) in map {
                lossy_places(value, &format!("{at}/{key}"), root, lost);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                lossy_places(item, &format!("{at}/{index}"), root, lost);
            }
        }
        _ => {}
    }
}

#[test]
fn fields_of_later_versions_survive_where_the_schema_promises_it() {
    let entry = Entry {
        system: "a".into(),
        value: Figure::new(1.0),
        ..Entry::default()
    };
    let mut file = ResultFile::new("t", fathom_model::Generator::default());
    file.systems = vec![System {
        identifier: "a".into(),
        ..System::default()
    }];
    file.results = vec![ResultRecord {
        metric: Metric::default(),
        entries: vec![entry],
        ..ResultRecord::default()
    }];
    let trial = Trial {
        id: "x".into(),
        ..Trial::default()
    };
    file.runs = vec![fathom_model::Run {
        trials: vec![trial],
        ..fathom_model::Run::default()
    }];
    let root: Value = serde_json::from_slice(&write(&file)).unwrap();
    let mut lost = Vec::new();
    lossy_places(&root, "", &root, &mut lost);
    // Everything but leaves that are fixed for good.
    assert_eq!(
        lost,
        [
            "/generator",
            "/results/0/entries/0/verdict",
            "/runs/0/trials/0/verdict"
        ]
    );
}
