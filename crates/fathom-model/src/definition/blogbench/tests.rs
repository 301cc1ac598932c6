use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> BlogbenchSettings {
    let info = TestInfo {
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
    };
    let typed: Options = typed.iter().copied().collect();
    BlogbenchSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn the_originals_choices_are_the_defaults() {
    let full = settings(&[]);
    assert_eq!((full.iterations, full.interval), (30, Nanos::from_secs(10)));
    assert_eq!(full.time(), Nanos::from_secs(300));
    let threads = (full.writers, full.rewriters, full.commenters, full.readers);
    assert_eq!(threads, (3, 1, 5, 100));
    assert_eq!(full.threads(), 109);
    assert_eq!(full.conflicts(), []);
}

#[test]
fn short_is_a_tenth_of_the_samples() {
    assert_eq!(settings(&[("scale", "short")]).time(), Nanos::from_secs(30));
    let one = settings(&[("scale", "short"), ("iterations", "4")]);
    assert_eq!(one.iterations, 1);
}

#[test]
fn scores_need_threads() {
    let what = |typed: &[(&str, &str)]| {
        let found = settings(typed).conflicts();
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(
        what(&[("readers", "0")]),
        ["metric=reads needs threads that do them"]
    );
    assert_eq!(
        what(&[("readers", "0"), ("metric", "writes")]),
        Vec::<String>::new()
    );
    assert_eq!(
        what(&[("writers", "0")]),
        ["without writers there is nothing to read"]
    );
    assert_eq!(
        what(&[("writers", "0"), ("metric", "writes")]),
        ["metric=writes needs threads that do them"]
    );
}

#[test]
fn both_scores_are_metrics_and_the_chosen_one_is_primary() {
    for chosen in BlogbenchMetric::ALL {
        let all = metrics(*chosen);
        let first = all.iter().find(|metric| metric.is_primary).unwrap();
        assert_eq!(
            (first.id.as_str(), first.unit.as_str()),
            (chosen.name(), "Final Score")
        );
        let mut latency = Histogram::new();
        latency.record_n(3000, 200_000);
        let values = values(&BlogbenchMeasured {
            reads: 19_388,
            writes: 219,
            elapsed: Nanos::from_secs(30),
            latency: vec![("rename", &latency), ("open", &latency)],
        });
        assert_eq!(values["reads"].value(), 19_388.0);
        assert_eq!(values["writes-per-second"].value(), 7.3);
        assert_eq!(values["rename-latency-p99"].value(), 3.0);
        for id in values.keys() {
            assert!(all.iter().any(|metric| metric.id == *id), "{id}");
        }
    }
}

#[test]
fn room_is_planned_by_the_length() {
    let space = |scale: &str| settings(&[("scale", scale)]).space().as_u64();
    // 760 blogs of 50 articles, pictures and comments.
    assert!(
        (2 << 30..3_u64 << 30).contains(&space("short")),
        "{}",
        space("short")
    );
    assert!(space("full") > 9 * space("short"));
    assert_eq!(settings(&[("scale", "short")]).inodes(), 151 * 760);
}
