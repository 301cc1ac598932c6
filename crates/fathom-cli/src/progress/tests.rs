use std::cell::RefCell;
use std::rc::Rc;

use expect_test::expect;
use fathom_base::{FakeClock, WallTime};
use fathom_model::{
    Case, Figure, Implementation, ImplementationKind, Metric, Options, RunEnd, System,
};

use super::*;

const SECOND: Nanos = Nanos::from_secs(1);

fn planned(label: &str) -> PlannedCase {
    let case = Case {
        id: CaseId(label.to_owned()),
        test: "io".to_owned(),
        test_version: "1".to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: Options::default(),
        label: label.to_owned(),
        extra: serde_json::Map::new(),
    };
    PlannedCase {
        case,
        title: "I/O".to_owned(),
        metrics: vec![Metric {
            id: "bandwidth".to_owned(),
            unit: "MB/s".to_owned(),
            is_primary: true,
            ..Metric::default()
        }],
        unavailable: None,
        trial_time: Nanos::from_secs(4),
        prepare_time: Nanos::from_secs(2),
        trial_bytes: fathom_base::Bytes::default(),
        prepare_bytes: fathom_base::Bytes::default(),
        group: 0,
    }
}

fn header(labels: &[&str]) -> Event {
    Event::RunStarted(Box::new(RunHeader {
        run_id: "r".to_owned(),
        name: "n".to_owned(),
        title: "t".to_owned(),
        description: String::new(),
        add_to: None,
        version: "1".to_owned(),
        started: WallTime::default(),
        seed: 1,
        target: "/t".to_owned(),
        scratch: "/t/.fathom".to_owned(),
        system: Box::new(System::default()),
        cases: labels.iter().map(|label| planned(label)).collect(),
        goal_percent: 2.0,
        min_trials: 3,
        max_trials: 30,
        case_budget: None,
        run_budget: None,
        write_limit: None,
        trial_limit: None,
    }))
}

fn trial(number: u32, value: Option<f64>) -> Box<Trial> {
    let mut trial = Trial {
        number,
        duration_ns: Nanos::from_secs(5).as_u64(),
        ..Trial::default()
    };
    match value {
        Some(value) => {
            let figure = Figure::new(value).expect("finite");
            trial.values.insert("bandwidth".to_owned(), figure);
        }
        None => trial.error = Some("no space left".to_owned()),
    }
    Box::new(trial)
}

fn case() -> CaseId {
    CaseId("SEQ1M read".to_owned())
}

#[test]
fn a_pipe_gets_a_line_a_trial_and_one_every_ten_seconds() {
    let clock = FakeClock::new(WallTime::default());
    let lines = Rc::new(RefCell::new(String::new()));
    let kept = Rc::clone(&lines);
    let mut display = ProgressDisplay::lines(Arc::new(clock.clone()), move |line| {
        kept.borrow_mut().push_str(&format!("{line}\n"));
    });
    let mut send = |event: &Event, then: Nanos| {
        display.event(event).expect("kept");
        clock.advance(then);
    };
    send(&header(&["SEQ1M read", "RND4K"]), SECOND);
    send(&Event::PreparingCase { case: case() }, SECOND);
    let started = Event::TrialStarted {
        case: case(),
        number: 1,
    };
    send(&started, Nanos::from_secs(7));
    let progress = Event::Progress {
        case: case(),
        progress: Progress {
            phase: "measure".to_owned(),
            fraction: Some(0.25),
            rate: "1466 MB/s".to_owned(),
        },
    };
    send(&progress, SECOND);
    send(&progress, SECOND);
    send(&progress, SECOND);
    for (number, value) in [(1, Some(1466.25)), (2, None)] {
        let finished = Event::TrialFinished {
            case: case(),
            trial: trial(number, value),
        };
        send(&finished, SECOND);
    }
    let note = Event::Note {
        text: "io_uring is not allowed; libaio stands in".to_owned(),
    };
    send(&note, SECOND);
    let ended = Event::RunFinished {
        end: RunEnd::Complete,
        at: WallTime::default(),
    };
    send(&ended, SECOND);
    expect![[r#"
        10 s, about 22 s left  SEQ1M read  trial 1  measure 25%  1466 MB/s
        SEQ1M read  trial 1  1466 MB/s  (about 24 s left)
        SEQ1M read  trial 2 failed: no space left  (about 19 s left)
        note: io_uring is not allowed; libaio stands in
    "#]]
    .assert_eq(&lines.borrow());
}

#[test]
fn stopped_and_unavailable_cases_take_no_more_time() {
    let clock = FakeClock::new(WallTime::default());
    let mut display = ProgressDisplay::lines(Arc::new(clock), |_| ());
    display
        .event(&header(&["SEQ1M read", "RND4K"]))
        .expect("kept");
    assert_eq!(display.remaining(), Nanos::from_secs(2 * (2 + 3 * 4)));
    let stopped = Event::CaseStopped {
        case: case(),
        reason: StopReason::GoalReached,
    };
    display.event(&stopped).expect("kept");
    assert_eq!(display.remaining(), Nanos::from_secs(2 + 3 * 4));
    let unavailable = Event::CaseUnavailable {
        case: CaseId("RND4K".to_owned()),
        reason: "no space".to_owned(),
    };
    display.event(&unavailable).expect("kept");
    assert_eq!(display.remaining(), Nanos::default());
}

#[test]
fn resumed_trials_count_as_done() {
    let clock = FakeClock::new(WallTime::default());
    let mut display = ProgressDisplay::lines(Arc::new(clock), |_| ());
    let finished = |number| Event::TrialFinished {
        case: case(),
        trial: trial(number, Some(1.0)),
    };
    display.replay(&[header(&["SEQ1M read"]), finished(1), finished(2)]);
    // The file is laid out again, then one trial is left, at the measured pace.
    assert_eq!(display.remaining(), Nanos::from_secs(2 + 5));
}

#[test]
fn a_wide_interval_means_more_trials_than_the_next_look() {
    let clock = FakeClock::new(WallTime::default());
    let mut display = ProgressDisplay::lines(Arc::new(clock), |_| ());
    let finished = |number, value| Event::TrialFinished {
        case: case(),
        trial: trial(number, Some(value)),
    };
    // The interval of 99, 100, 101 is 2.484 either way: 3 x (2.484 / 2)^2 = 4.6 trials.
    let values = [99.0, 100.0, 101.0];
    let mut events = vec![header(&["SEQ1M read"])];
    events.extend(
        (1..)
            .zip(values)
            .map(|(number, value)| finished(number, value)),
    );
    display.replay(&events);
    let prepare = 2;
    assert_eq!(display.remaining(), Nanos::from_secs(prepare + 2 * 5));
    // Of 80, 100, 120 it is 49.7: beyond the most there may be.
    let mut display = ProgressDisplay::lines(Arc::new(FakeClock::new(WallTime::default())), |_| ());
    let values = [80.0, 100.0, 120.0];
    events.truncate(1);
    events.extend(
        (1..)
            .zip(values)
            .map(|(number, value)| finished(number, value)),
    );
    display.replay(&events);
    assert_eq!(display.remaining(), Nanos::from_secs(prepare + 27 * 5));
}
