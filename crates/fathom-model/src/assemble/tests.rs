use fathom_base::{Bytes, Nanos, WallTime};

use super::*;
use crate::case::{Case, Implementation, ImplementationKind, Options};
use crate::event::StopReason;
use crate::result::Direction;
use crate::system::System;
use crate::verdict::Level;

fn planned(id: &str, unavailable: Option<&str>) -> PlannedCase {
    let metric = |id: &str, is_primary| Metric {
        id: id.to_owned(),
        unit: "MB/s".to_owned(),
        direction: Direction::HigherIsBetter,
        is_primary,
        steers: is_primary,
        ..Metric::default()
    };
    PlannedCase {
        case: Case {
            id: CaseId(id.to_owned()),
            test: "io".to_owned(),
            test_version: "1.0".to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Native,
                name: "fathom".to_owned(),
                version: "1".to_owned(),
            },
            options: Options::default(),
            label: format!("case {id}"),
            extra: serde_json::Map::new(),
        },
        title: "Random and sequential I/O".to_owned(),
        metrics: vec![metric("bandwidth", true), metric("iops", false)],
        unavailable: unavailable.map(str::to_owned),
        trial_time: Nanos::from_secs(1),
        prepare_time: Nanos::default(),
        trial_bytes: Bytes::MIB,
        prepare_bytes: Bytes::MIB,
        group: 0,
    }
}

fn started(cases: Vec<PlannedCase>) -> Event {
    Event::RunStarted(Box::new(RunHeader {
        run_id: "r1".to_owned(),
        name: "name".to_owned(),
        title: "title".to_owned(),
        description: String::new(),
        add_to: None,
        version: "0.1.0".to_owned(),
        started: WallTime::from_unix_ms(1_000),
        seed: 1,
        target: "/t".to_owned(),
        scratch: "/t/.fathom-r1".to_owned(),
        system: Box::new(System {
            identifier: "disk".to_owned(),
            ..System::default()
        }),
        cases,
        goal_percent: 2.0,
        min_trials: 3,
        max_trials: 30,
        case_budget: None,
        run_budget: None,
        write_limit: None,
        trial_limit: None,
    }))
}

fn trial(case: &str, number: u32, value: Result<&str, &str>) -> Event {
    let mut trial = Trial {
        id: format!("r1/{case}/{number}"),
        number,
        verdict: Verdict::valid(),
        ..Trial::default()
    };
    match value {
        Ok(text) => {
            let figure = Figure::parse(text).unwrap();
            trial.values.insert("iops".to_owned(), figure.clone());
            trial.values.insert("bandwidth".to_owned(), figure);
        }
        Err(error) => trial.error = Some(error.to_owned()),
    }
    Event::TrialFinished {
        case: CaseId(case.to_owned()),
        trial: Box::new(trial),
    }
}

fn finished(end: RunEnd) -> Event {
    Event::RunFinished {
        end,
        at: WallTime::from_unix_ms(9_000),
    }
}

fn built(events: &[Event]) -> ResultFile {
    ResultBuilder::replay(events).build().unwrap()
}

/// Entry of the first system in record `index`: value, samples, error.
fn entry(file: &ResultFile, index: usize) -> (Option<f64>, Vec<f64>, Option<&str>) {
    let entry = &file.results[index].entries[0];
    (
        entry.value.as_ref().map(Figure::value),
        entry.sample_values(),
        entry.error.as_deref(),
    )
}

#[test]
fn an_entry_is_the_mean_of_the_good_trials_and_names_the_failed_ones() {
    let file = built(&[
        started(vec![planned("a", None)]),
        trial("a", 1, Ok("100")),
        trial("a", 2, Err("read failed")),
        trial("a", 3, Ok("103")),
        finished(RunEnd::Complete),
    ]);
    assert_eq!(file.results.len(), 2, "a record for each metric");
    assert_eq!(
        entry(&file, 0),
        (
            Some(101.5),
            vec![100.0, 103.0],
            Some("1 of 3 trials failed: read failed")
        )
    );
    assert_eq!(entry(&file, 1), entry(&file, 0));
    assert_eq!(file.runs[0].trials.len(), 3, "failed trials are kept");
    assert_eq!(file.status, Status::Complete);
}

#[test]
fn a_case_that_only_failed_has_an_entry_with_its_error() {
    let file = built(&[
        started(vec![planned("a", None)]),
        trial("a", 1, Err("disk on fire")),
        finished(RunEnd::Complete),
    ]);
    assert_eq!(entry(&file, 0), (None, vec![], Some("disk on fire")));
    assert_eq!(file.results[0].entries[0].verdict, Verdict::default());
}

#[test]
fn unavailable_cases_are_entries_with_their_reason_once_a_case() {
    let file = built(&[
        started(vec![
            planned("a", Some("fio is not installed")),
            planned("b", None),
        ]),
        Event::CaseUnavailable {
            case: CaseId("a".to_owned()),
            reason: "fio is not installed".to_owned(),
        },
        trial("b", 1, Ok("5")),
        finished(RunEnd::Complete),
    ]);
    assert_eq!(file.results.len(), 3);
    assert_eq!(
        entry(&file, 0),
        (None, vec![], Some("not available: fio is not installed"))
    );
    assert_eq!(
        file.runs[0].unavailable.as_deref(),
        Some("fio is not installed")
    );
    let without_events = built(&[started(vec![planned("a", Some("no disk"))])]);
    assert_eq!(entry(&without_events, 0).2, Some("not available: no disk"));
}

#[test]
fn the_verdict_is_the_worst_and_says_in_how_many_trials() {
    let mut events = vec![started(vec![planned("a", None)])];
    for number in 1..=3 {
        let mut event = trial("a", number, Ok("100"));
        let Event::TrialFinished { trial, .. } = &mut event else {
            unreachable!()
        };
        let reason = |rule: &str| Reason {
            rule: rule.to_owned(),
            short: rule.to_owned(),
            text: format!("{rule} was seen"),
            advice: String::new(),
        };
        if number == 2 {
            trial.verdict.object(Level::Invalid, reason("littles-law"));
        }
        if number > 1 {
            trial.verdict.object(Level::Suspect, reason("foreign-io"));
        }
        trial.verdict.note(reason("acknowledged"));
        events.push(event);
    }
    let file = built(&events);
    let verdict = &file.results[0].entries[0].verdict;
    assert_eq!(verdict.level, Level::Invalid);
    let texts: Vec<&str> = verdict.reasons.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "littles-law was seen Seen in 1 of 3 trials.",
            "foreign-io was seen Seen in 2 of 3 trials."
        ]
    );
    assert_eq!(verdict.notes[0].text, "acknowledged was seen");
}

#[test]
fn an_outlier_is_flagged_and_counts() {
    let mut events = vec![started(vec![planned("a", None)])];
    for (number, value) in (1..).zip(["100", "101", "99", "100.5", "140"]) {
        events.push(trial("a", number, Ok(value)));
    }
    let file = built(&events);
    let entry = &file.results[0].entries[0];
    let value = entry.value.as_ref().unwrap().value();
    assert!((value - 108.1).abs() < 1e-9, "{value}");
    assert_eq!(entry.verdict.level, Level::Valid);
    // 53.29: Iglewicz and Hoaglin's rule, field.md section 5.
    assert_eq!(
        entry.verdict.notes[0].text,
        "One trial is far from the others: trial 5 (140, modified z 53.3). All trials count."
    );
}

#[test]
fn the_reached_width_is_stored() {
    let mut events = vec![started(vec![planned("a", None)])];
    for (number, value) in (1..).zip(["101.2", "99.8", "100.5", "102.1", "98.9"]) {
        events.push(trial("a", number, Ok(value)));
    }
    let file = built(&events);
    // Half-width of sample A, field.md section 5.
    let reached = file.runs[0].reached_percent["bandwidth"];
    assert!((reached - 1.5257).abs() < 1e-4, "{reached}");
    assert_eq!(file.runs[0].reached_percent.len(), 1, "iops does not steer");
}

#[test]
fn rebuilding_is_idempotent_and_leaves_imported_entries_alone() {
    let mut file = built(&[
        started(vec![planned("a", None)]),
        trial("a", 1, Ok("100")),
        trial("a", 2, Ok("110")),
        finished(RunEnd::Complete),
    ]);
    let imported = Entry {
        system: "from afar".to_owned(),
        value: Figure::parse("309.40"),
        ..Entry::default()
    };
    file.results[0].entries.insert(0, imported.clone());
    let before = file.clone();
    file.rebuild();
    assert_eq!(file, before);
    assert_eq!(file.results[0].entries[0], imported);
    // Dropping a trial changes the entry in its place.
    file.runs[0].trials.pop();
    file.rebuild();
    let rebuilt = file.results[0].entry("disk").unwrap();
    assert_eq!(rebuilt.value.as_ref().unwrap().value(), 100.0);
    assert_eq!(file.results[0].entries[0], imported);
}

#[test]
fn trials_of_two_runs_on_one_system_are_pooled() {
    let mut file = built(&[started(vec![planned("a", None)]), trial("a", 1, Ok("100"))]);
    let mut second = file.runs[0].clone();
    second.trials[0].id = "r2/a/1".to_owned();
    second.trials[0]
        .values
        .insert("bandwidth".to_owned(), Figure::parse("200").unwrap());
    file.runs.push(second);
    file.rebuild();
    assert_eq!(entry(&file, 0).0, Some(150.0));
    assert_eq!(file.results[0].entries.len(), 1);
}

#[test]
fn the_same_events_give_the_same_bytes_and_a_repeated_trial_counts_once() {
    let events = [
        started(vec![planned("a", None), planned("b", None)]),
        trial("b", 1, Ok("1.50")),
        trial("a", 1, Ok("0.1")),
        trial("a", 2, Ok("0.2")),
        trial("a", 2, Ok("0.7")),
        Event::Note {
            text: "a note".to_owned(),
        },
        finished(RunEnd::Cancelled),
    ];
    let once = serde_json::to_string(&built(&events)).unwrap();
    // As the journal does: through text and back.
    let replayed: Vec<Event> = events
        .iter()
        .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
        .collect();
    assert_eq!(once, serde_json::to_string(&built(&replayed)).unwrap());
    let file = built(&events);
    assert_eq!(file.status, Status::Partial);
    assert_eq!(file.runs[0].case.0, "a", "the order of the plan");
    assert_eq!(entry(&file, 0).1, [0.1, 0.2]);
    let of_b = &file.results[2].entries[0];
    assert_eq!(of_b.value.as_ref().unwrap().to_string(), "1.50");
    assert!(file.logs["run-r1.notes"].contains("a note"));
}

#[test]
fn a_resumed_run_is_open_again() {
    let stop = |reason| Event::CaseStopped {
        case: CaseId("a".to_owned()),
        reason,
    };
    let resumed = Event::RunResumed {
        at: WallTime::from_unix_ms(10_000),
        version: "0.1.0".to_owned(),
        scratch: "/t/.fathom-r1".to_owned(),
    };
    let mut events = vec![
        started(vec![planned("a", None)]),
        trial("a", 1, Ok("1")),
        stop(StopReason::Cancelled),
        finished(RunEnd::Cancelled),
    ];
    assert_eq!(built(&events).runs[0].stop, Some(StopReason::Cancelled));
    events.push(resumed);
    let file = built(&events);
    assert_eq!((file.runs[0].stop, file.status), (None, Status::Partial));
    events.push(trial("a", 2, Ok("1")));
    events.push(stop(StopReason::GoalReached));
    events.push(finished(RunEnd::Complete));
    let file = built(&events);
    assert_eq!(file.runs[0].stop, Some(StopReason::GoalReached));
    assert_eq!(file.status, Status::Complete);
}

#[test]
fn a_secondary_metric_that_a_good_trial_does_not_carry_is_left_out_and_not_failed() {
    let mut only_bandwidth = trial("a", 1, Ok("10"));
    if let Event::TrialFinished { trial, .. } = &mut only_bandwidth {
        trial.values.remove("iops");
    }
    let file = built(&[started(vec![planned("a", None)]), only_bandwidth]);
    let ids: Vec<&str> = file.results.iter().map(|r| r.metric.id.as_str()).collect();
    assert_eq!(ids, ["bandwidth"]);
    assert!(file.results[0].entries[0].error.is_none());
}
