use std::collections::BTreeMap;

use expect_test::expect;
use fathom_base::{Bytes, FakeClock, Nanos, WallTime};
use fathom_model::{Estimate, Mount, Options, Unmet};
use fathom_testkit::{CaseScript, Script};

use super::expand::meant as meant_override;
use super::*;
use crate::suite::Suite;

fn host(available: u64) -> Host {
    Host {
        target: TargetInfo {
            path: "/t".to_owned(),
            mount: Some(Mount {
                size_bytes: 1 << 40,
                available_bytes: available,
                available_inodes: Some(1000),
                ..Mount::default()
            }),
            ..TargetInfo::default()
        },
        memory: Bytes::GIB,
        cpus: 2,
        is_root: false,
        search_path: "".into(),
    }
}

fn request(selections: Vec<Selection>) -> PlanRequest {
    PlanRequest {
        run_id: "20261130-184512-4f1c9a3e".to_owned(),
        seed: 1,
        name: "n".to_owned(),
        add_to: None,
        title: String::new(),
        description: String::new(),
        version: "0.1.0".to_owned(),
        started: WallTime::default(),
        target: "/t".into(),
        scratch_parent: "/t".into(),
        system: System::default(),
        selections,
        overrides: Vec::new(),
        implementation: None,
        settings: RunSettings::default(),
    }
}

fn suite(rows: &str) -> Vec<Selection> {
    let text = format!("format = 1\nname = \"s\"\ntitle = \"The suite\"\n{rows}");
    vec![Selection::Suite(Suite::parse("s.toml", &text).unwrap())]
}

fn over(name: &str, values: &[&str]) -> Override {
    Override {
        test: None,
        name: name.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

fn script(cases: &[(&str, CaseScript)]) -> Registry {
    let start = Script::new(&FakeClock::default());
    let script = cases.iter().fold(start, |script, (name, case)| {
        script.case(name, case.clone())
    });
    Registry::new(vec![Box::new(script)])
}

fn with(change: impl FnOnce(&mut Estimate)) -> CaseScript {
    let mut case = CaseScript::values(&[1.0]);
    change(&mut case.estimate);
    case
}

/// Labels with options, or the reason why a case cannot run.
fn lines(plan: &Plan) -> Vec<String> {
    let line = |planned: &PlannedCase| {
        let options = planned.case.description();
        let options = options.replace(" - size: 4KiB - order: straight", "");
        let label = &planned.case.label;
        match &planned.unavailable {
            Some(reason) => format!("{label} | {options} | {reason}"),
            None => format!("{label} | {options}"),
        }
    };
    plan.header.cases.iter().map(line).collect()
}

fn build(request: &PlanRequest) -> Result<Plan, PlanError> {
    Plan::build(request, &script(&[]), &host(1 << 39))
}

#[test]
fn a_matrix_gives_a_case_for_every_combination_with_its_values_in_the_label() {
    let rows = "[[case]]\ntest = \"scripted\"\nlabel = \"X\"\n\
                options = { case = [\"a\", \"b\"], level = [2, 3] }\n";
    assert_eq!(
        lines(&build(&request(suite(rows))).unwrap()),
        [
            "X a 2 | case: a - level: 2",
            "X a 3 | case: a - level: 3",
            "X b 2 | case: b - level: 2",
            "X b 3 | case: b - level: 3",
        ]
    );
    let rows = rows.replace("label = \"X\"\n", "");
    let made = lines(&build(&request(suite(&rows))).unwrap());
    assert_eq!(made[3], "scripted b 3 | case: b - level: 3");
}

#[test]
fn an_override_reaches_every_case_that_has_the_option() {
    let rows = "[[case]]\ntest = \"scripted\"\nlabel = \"X L2\"\noptions = { level = 2 }\n\
                [[case]]\ntest = \"scripted\"\nlabel = \"Y\"\noptions = { case = \"b\" }\n\
                [[case]]\ntest = \"other\"\nlabel = \"Z\"\noptions = { level = 2 }\n";
    let mut request = request(suite(rows));
    request.overrides = vec![over("level", &["5"])];
    let gone = "test other does not exist in this version";
    assert_eq!(
        lines(&build(&request).unwrap()),
        [
            // The label may speak of the old value.
            "X L2 level=5 | case: a - level: 5".to_owned(),
            "Y | case: b - level: 5".to_owned(),
            format!("Z | level: 2 | {gone}"),
        ]
    );
    request.overrides = vec![over("level", &["5", "6"])];
    let plan = build(&request).unwrap();
    assert_eq!(lines(&plan)[2], "Y level=5 | case: b - level: 5");
    assert_eq!(plan.header.cases.len(), 5);
    // Said of a case, a size is its scale, which these do not have.
    request.overrides = vec![over("size", &["short"])];
    let error = build(&request).unwrap_err().to_string();
    assert!(error.contains("scale"), "{error}");
    // A comma in a free text is part of it.
    request.overrides = vec![over("case", &["p", "q"])];
    assert_eq!(
        lines(&build(&request).unwrap())[0],
        "X L2 | case: p,q - level: 2"
    );
}

#[test]
fn size_short_is_another_word_for_scale_short() {
    let words = |name: &str, values: &[&str]| meant_override(&over(name, values));
    assert_eq!(words("size", &["short"]), over("scale", &["short"]));
    assert_eq!(
        words("size", &["full", "short"]),
        over("scale", &["full", "short"])
    );
    for (name, values) in [
        ("size", &["4KiB"][..]),
        ("size", &["4KiB", "short"]),
        ("depth", &["short"]),
    ] {
        assert_eq!(words(name, values), over(name, values));
    }
}

#[test]
fn a_label_that_does_not_speak_of_an_option_stays() {
    let label = |words: &str, option: &str, value: &str| {
        let rows = format!(
            "[[case]]\ntest = \"scripted\"\nlabel = \"{words}\"\n\
             options = {{ level = 8, size = \"1MiB\", order = \"random\" }}\n"
        );
        let mut request = request(suite(&rows));
        request.overrides = vec![over(option, &[value])];
        build(&request).unwrap().header.cases[0].case.label.clone()
    };
    assert_eq!(label("RND4K Q1 read", "level", "5"), "RND4K Q1 read");
    assert_eq!(
        label("RND4K Q8 read", "level", "5"),
        "RND4K Q8 read level=5"
    );
    assert_eq!(label("RND4K Q18 read", "level", "5"), "RND4K Q18 read");
    assert_eq!(label("SEQ1M", "size", "2MiB"), "SEQ1M size=2MiB");
    assert_eq!(label("SEQ 1MiB", "size", "2MiB"), "SEQ 1MiB size=2MiB");
    assert_eq!(label("SEQ64K", "size", "2MiB"), "SEQ64K");
    assert_eq!(label("RND4K", "order", "straight"), "RND4K order=straight");
    assert_eq!(
        label("RND4K", "order", "random"),
        "RND4K",
        "nothing changes"
    );
}

#[test]
fn cases_that_become_equal_are_measured_once() {
    let rows = "[[case]]\ntest = \"scripted\"\noptions = { level = [1, 2, 3] }\n";
    let mut request = request(suite(rows));
    request.overrides = vec![over("level", &["4"])];
    let plan = build(&request).unwrap();
    assert_eq!(plan.header.cases.len(), 1);
    assert_eq!(
        plan.notes,
        ["2 of the cases came up more than once; each is measured as one"]
    );
}

#[test]
fn errors_name_the_place_or_the_nearest() {
    let check =
        |selections: Vec<Selection>, overrides: Vec<Override>, expect: expect_test::Expect| {
            let mut request = request(selections);
            request.overrides = overrides;
            expect.assert_eq(&build(&request).unwrap_err().to_string());
        };
    let row = |options: &str| {
        suite(&format!(
            "[[case]]\ntest = \"scripted\"\noptions = {{ {options} }}"
        ))
    };
    let test = |name: &str| vec![Selection::Test(name.to_owned())];
    check(
        row("level = [1, 20]"),
        vec![],
        expect![[
            r#"suite s.toml, line 6, column 21: option level of test scripted: "20" is not accepted; expected a value from 1 to 9"#
        ]],
    );
    check(
        row("levle = 1"),
        vec![],
        expect![
            "suite s.toml, line 6, column 21: test scripted has no option levle; did you mean level?"
        ],
    );
    check(
        row("level = 1"),
        vec![over("level", &["20"])],
        expect![[
            r#"option level of test scripted: "20" is not accepted; expected a value from 1 to 9"#
        ]],
    );
    check(
        test("scripted"),
        vec![over("levels", &["1"])],
        expect!["no case of this run has an option levels; did you mean level?"],
    );
    check(
        test("scripted"),
        vec![Override {
            test: Some("io".to_owned()),
            ..over("level", &["1"])
        }],
        expect!["no case of this run has an option io.level"],
    );
    check(
        test("script"),
        vec![],
        expect!["there is no test named script; did you mean scripted?"],
    );
    check(
        vec![],
        vec![],
        expect!["there are no cases: the selection is empty"],
    );
    let digits: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let values: Vec<&str> = digits.iter().map(String::as_str).collect();
    check(
        row("level = [1, 2, 3, 4, 5, 6, 7, 8, 9]"),
        vec![over("level", &values), over("level", &values)],
        expect!["the options give more than 10000 cases; name fewer values"],
    );
}

#[test]
fn cases_that_cannot_run_are_in_the_plan_with_their_reason() {
    let rows = "[[case]]\ntest = \"postmark\"\nreason = \"comes with issue C\"\noptions = { size = 5 }\n\
                [[case]]\ntest = \"scriptd\"\n\
                [[case]]\ntest = \"scripted\"\nimplementation = \"program\"\n\
                [[case]]\ntest = \"scripted\"\n";
    let unmet = CaseScript {
        unmet: vec![
            Unmet {
                what: "fio is not installed".to_owned(),
                hint: "apt-get install fio".to_owned(),
            },
            Unmet {
                what: "root is needed".to_owned(),
                hint: String::new(),
            },
        ],
        ..CaseScript::values(&[1.0])
    };
    let plan = Plan::build(
        &request(suite(rows)),
        &script(&[("a", unmet)]),
        &host(1 << 39),
    )
    .unwrap();
    let reasons: Vec<&str> = plan
        .header
        .cases
        .iter()
        .map(|planned| planned.unavailable.as_deref().unwrap())
        .collect();
    assert_eq!(
        reasons,
        [
            "comes with issue C",
            "test scriptd does not exist in this version; the nearest is scripted",
            "test scripted has no implementation \"program\" here, only native",
            "fio is not installed (apt-get install fio); root is needed",
        ]
    );
    assert_eq!((plan.totals.cases, plan.totals.unavailable), (0, 4));
    assert_eq!(plan.header.cases[0].case.options.get("size"), Some("5"));
}

#[test]
fn the_cases_of_a_saved_result_are_the_same_cases_again() {
    let registry = script(&[]);
    let info = registry.find("scripted", None).unwrap().info();
    let typed: Options = [("level", "4")].into_iter().collect();
    let case = Case::resolve(&info, &typed, "L4").unwrap();
    let mut imported = case.clone();
    imported.implementation.kind = ImplementationKind::Imported;
    imported.test = "pts/fio".to_owned();
    let mut strange = case.clone();
    strange.options.set("gone", "1");
    let mut older = case.clone();
    older.id = fathom_model::CaseId("0000000000000000".to_owned());
    older.label = "older".to_owned();
    older.options.set("level", "5");
    let cases = vec![case.clone(), imported, strange, older];
    let plan = build(&request(vec![Selection::Cases(cases)])).unwrap();
    assert_eq!(plan.header.cases[0].case, case);
    // The strange one has the id of the first and is dropped as its double; the imported one too.
    let reasons: Vec<Option<&str>> = plan
        .header
        .cases
        .iter()
        .map(|p| p.unavailable.as_deref())
        .collect();
    assert_eq!(reasons, [None, None]);
    assert!(
        plan.notes
            .iter()
            .any(|note| note.contains("another version of scripted")),
        "{:?}",
        plan.notes
    );
    assert!(
        plan.notes
            .iter()
            .any(|note| note.starts_with("2 of the cases"))
    );
}

/// Groups of the cases, by name.
fn groups(plan: &Plan) -> BTreeMap<String, u32> {
    let cases = plan.header.cases.iter();
    cases
        .map(|planned| {
            (
                planned.case.options.get("case").unwrap().to_owned(),
                planned.group,
            )
        })
        .collect()
}

fn plan_of(cases: &[(&str, CaseScript)], available: u64) -> Plan {
    let rows: String = cases
        .iter()
        .map(|(name, _)| {
            format!("[[case]]\ntest = \"scripted\"\noptions = {{ case = \"{name}\" }}\n")
        })
        .collect();
    Plan::build(&request(suite(&rows)), &script(cases), &host(available)).unwrap()
}

#[test]
fn cases_that_do_not_fit_together_are_measured_in_groups() {
    let sized = |gib: u64| with(|estimate| estimate.space = Bytes::new(gib << 30));
    let cases = [
        ("a", sized(4)),
        ("b", sized(4)),
        ("c", sized(2)),
        ("d", sized(20)),
    ];
    // Ten GiB and what is left alone.
    let plan = plan_of(&cases, (10 << 30) + (64 << 20));
    let groups_of = groups(&plan);
    assert_eq!((groups_of["a"], groups_of["b"], groups_of["c"]), (0, 0, 0));
    let reason = plan.header.cases[3].unavailable.as_deref().unwrap();
    assert_eq!(
        reason,
        "it needs 21.5 GB on the target, where 10.8 GB are free (67.1 MB of it are left alone)"
    );
    assert_eq!(plan.totals.space, Bytes::new(10 << 30));
    assert!(plan.notes.is_empty());
    let plan = plan_of(&cases[..3], (7 << 30) + (64 << 20));
    let groups_of = groups(&plan);
    // The third fits into the first group's room.
    assert_eq!((groups_of["a"], groups_of["b"], groups_of["c"]), (0, 1, 0));
    assert!(plan.notes[0].contains("in 2 groups"), "{:?}", plan.notes);
    assert_eq!(plan.totals.space, Bytes::new(6 << 30));
}

#[test]
fn inodes_are_space_too() {
    let files = |inodes: u64| with(|estimate| estimate.inodes = inodes);
    let plan = plan_of(
        &[("a", files(900)), ("b", files(900)), ("c", files(5000))],
        1 << 39,
    );
    assert_eq!((groups(&plan)["a"], groups(&plan)["b"]), (0, 1));
    assert_eq!(
        plan.header.cases[2].unavailable.as_deref(),
        Some("it needs 5000 files on the target, where 936 more are possible")
    );
}

#[test]
fn a_shared_layout_counts_once_and_an_exclusive_case_is_alone() {
    let shared = |gib: u64| {
        with(|estimate| {
            estimate.layout = Some(1);
            estimate.space = Bytes::new(gib << 30);
            estimate.prepare_bytes = Bytes::new(gib << 30);
            estimate.prepare_time = Nanos::from_secs(gib);
        })
    };
    let alone = with(|estimate| estimate.exclusive = true);
    let plan = plan_of(
        &[
            ("a", shared(1)),
            ("b", alone),
            ("c", shared(3)),
            ("d", shared(2)),
        ],
        1 << 39,
    );
    let groups_of = groups(&plan);
    assert_eq!(
        (
            groups_of["a"],
            groups_of["b"],
            groups_of["c"],
            groups_of["d"]
        ),
        (0, 1, 0, 0)
    );
    assert!(plan.notes.is_empty(), "an exclusive case is no shortage");
    assert_eq!(plan.totals.space, Bytes::new(3 << 30));
    let prepare: Vec<u64> = plan
        .header
        .cases
        .iter()
        .map(|p| p.prepare_bytes.as_u64() >> 20)
        .collect();
    assert_eq!(prepare, [1024, 1, 2048, 0]);
    let expected = (3 << 30) + (1 << 20);
    assert_eq!(plan.totals.prepare_bytes, Bytes::new(expected));
}

#[test]
fn totals_follow_trials_budgets_and_limits() {
    let case = |name, seconds: u64, bytes: u64| {
        let mut case = with(|estimate| {
            estimate.trial_bytes = Bytes::new(bytes);
            estimate.prepare_bytes = Bytes::new(10);
            estimate.prepare_time = Nanos::from_secs(1);
        });
        case.time = Nanos::from_secs(seconds);
        (name, case)
    };
    let cases = [case("a", 1, 1000), case("b", 2, 0)];
    let totals = |settings: &[(&str, &str)]| {
        let rows = "[[case]]\ntest = \"scripted\"\noptions = { case = [\"a\", \"b\"] }\n";
        let mut request = request(suite(rows));
        for (name, value) in settings {
            request.settings.set(name, value).unwrap();
        }
        Plan::build(&request, &script(&cases), &host(1 << 39)).unwrap()
    };
    let plan = totals(&[]);
    let t = plan.totals;
    assert_eq!(
        (t.time_least, t.time_most),
        (Nanos::from_secs(11), Nanos::from_secs(92))
    );
    assert_eq!(
        (t.bytes_least.as_u64(), t.bytes_most.as_u64()),
        (3020, 30_020)
    );
    // 9 seconds beyond the least: at most 9 more trials of what writes.
    let t = totals(&[("budget", "20s")]).totals;
    assert_eq!(
        (t.time_most, t.bytes_most.as_u64()),
        (Nanos::from_secs(20), 12_020)
    );
    let t = totals(&[("case-budget", "6s")]).totals;
    assert_eq!(t.bytes_most.as_u64(), 6020);
    let plan = totals(&[("budget", "5s"), ("write-limit", "2500B")]);
    assert_eq!(plan.totals.bytes_most.as_u64(), 2500);
    assert!(
        plan.notes[0].contains("may write 3.02 kB, the limit is 2.50 kB"),
        "{:?}",
        plan.notes
    );
    assert!(
        plan.notes[1].contains("longer than the budget of 5.00 s"),
        "{:?}",
        plan.notes
    );
    let mut request = request(suite("[[case]]\ntest = \"scripted\"\n"));
    request.settings.set("write-limit", "5B").unwrap();
    let error = Plan::build(&request, &script(&cases), &host(1 << 39)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("writes 10B, more than the write limit of 5B"),
        "{error}"
    );
}

#[test]
fn the_users_settings_go_before_the_suites() {
    let rows = "[run]\nmin-trials = 5\nbudget = \"60s\"\ngoal = 1\n[[case]]\ntest = \"scripted\"\n";
    let mut request = request(suite(rows));
    request.settings.set("goal", "3%").unwrap();
    request.settings.set("budget", "none").unwrap();
    let header = build(&request).unwrap().header;
    assert_eq!(
        (header.goal_percent, header.min_trials, header.max_trials),
        (3.0, 5, 30)
    );
    assert_eq!(header.run_budget, None);
    assert_eq!(header.title, "The suite");
    assert_eq!(header.scratch, "/t/.fathom-4f1c9a3e");
    request.settings.set("max-trials", "4").unwrap();
    assert_eq!(
        build(&request).unwrap_err().to_string(),
        "at least 5 trials and at most 4: raise max-trials or lower min-trials"
    );
}

#[test]
fn a_trial_may_take_ten_times_its_estimate_or_what_was_said() {
    let mut header = build(&request(vec![Selection::Test("scripted".to_owned())]))
        .unwrap()
        .header;
    assert_eq!(
        time_limit(&header, Nanos::from_secs(1)),
        Nanos::from_secs(600)
    );
    assert_eq!(
        time_limit(&header, Nanos::from_secs(100)),
        Nanos::from_secs(1000)
    );
    header.trial_limit = Some(Nanos::from_secs(5));
    assert_eq!(
        time_limit(&header, Nanos::from_secs(100)),
        Nanos::from_secs(5)
    );
}
