use std::collections::BTreeMap;
use std::path::Path;

use fathom_base::SplitMix64;
use fathom_model::TestError;
use fathom_testkit::{Bench, conforms};

use super::blogger::{Item, how_many, random_blog};
use super::*;
use crate::classic::testing::{a_full_disk_is_told, a_planted_link_is_not_followed};

/// A second of a few threads.
const SMALL: [(&str, &str); 6] = [
    ("iterations", "4"),
    ("interval", "150ms"),
    ("writers", "2"),
    ("commenters", "2"),
    ("readers", "4"),
    ("metric", "writes"),
];

fn small(metric: &'static str) -> Vec<(&'static str, &'static str)> {
    [&SMALL[..5], &[("metric", metric)]].concat()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&BlogbenchTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    let counts = &trial.evidence.counts;
    assert_eq!(counts["samples"], 4);
    assert!(counts["blogs-written"] > 0, "{counts:?}");
    // Files written count their time once each, also those the last sample does not show.
    assert!(trial.histograms["article-write"].count() >= counts["articles-written"]);
    assert_eq!(trial.histograms["mkdir"].count(), counts["blogs-begun"]);
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert!(!durability.durable && durability.syncs == 0);
}

#[test]
fn both_scores_are_there_and_the_samples_add_up() {
    let bench = Bench::new();
    let trial = &bench
        .run(&BlogbenchTest::new(), &small("reads"), 1)
        .unwrap()[0];
    for (score, name) in [("reads", "blogs-read"), ("writes", "blogs-written")] {
        let sum: f64 = trial.series[name].values.iter().sum();
        assert_eq!(sum, trial.values[score].value());
        assert_eq!(trial.series[name].values.len(), 4);
        assert_eq!(trial.series[name].step_ns, 150_000_000);
    }
    assert_eq!(trial.series.len(), 8);
}

#[test]
fn numbers_and_sizes_are_drawn_as_the_original_does() {
    let mut random = SplitMix64::new(7);
    let draws = 200_000;
    let (mut sum, mut seen) = (0, [false; 101]);
    for _ in 0..draws {
        let count = how_many(&mut random);
        seen[count as usize] = true;
        sum += count;
    }
    assert!(!seen[0] && seen[1..].iter().all(|one| *one));
    let mean = sum as f64 / f64::from(draws);
    assert!((mean - 50.5).abs() < 0.3, "{mean}");
    for (item, least, below, middle) in [
        (Item::Article, 1024, 32_768, 16_895.5),
        (Item::Picture, 8192, 65_536, 36_863.5),
        (Item::Comment, 2048, 10_240, 6143.5),
    ] {
        let sizes: Vec<u64> = (0..draws).map(|_| item.size(&mut random)).collect();
        assert!(sizes.iter().all(|size| (least..below).contains(size)));
        let mean = sizes.iter().sum::<u64>() as f64 / f64::from(draws);
        assert!((mean / middle - 1.0).abs() < 0.01, "{item:?} {mean}");
    }
}

#[test]
fn the_newest_blogs_are_never_drawn() {
    let mut random = SplitMix64::new(7);
    for blogs in 0..3 {
        assert_eq!(random_blog(blogs, &mut random), 0);
    }
    let mut seen = [0; 10];
    for _ in 0..10_000 {
        seen[random_blog(10, &mut random) as usize] += 1;
    }
    assert!(seen[..9].iter().all(|count| *count > 900), "{seen:?}");
    assert_eq!(seen[9], 0);
}

#[test]
fn threads_get_the_roles_in_order() {
    let settings = BlogbenchSettings::from_case(&Bench::case(&BlogbenchTest::new(), &[])).unwrap();
    let mut roles = BTreeMap::new();
    for index in 0..settings.threads() {
        *roles
            .entry(format!("{:?}", Role::of(index, &settings)))
            .or_insert(0) += 1;
    }
    let found: Vec<(&str, u32)> = roles.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    assert_eq!(
        found,
        [
            ("Commenter", 5),
            ("Reader", 100),
            ("Rewriter", 1),
            ("Writer", 3)
        ]
    );
}

/// What lies in the blogs after a run.
#[test]
fn blogs_hold_what_they_should() {
    let bench = Bench::new();
    let test = BlogbenchTest::new();
    let case = Bench::case(&test, &SMALL);
    let prepared = PreparedBlogbench {
        settings: BlogbenchSettings::from_case(&case).unwrap(),
        directory: CaseDir::create(&case, &bench.context(0)).unwrap(),
    };
    let trial = prepared.measure(&bench.context(1)).unwrap();
    let mut blogs = 0;
    for entry in std::fs::read_dir(prepared.directory.path()).unwrap() {
        blogs += 1;
        look_at_blog(&entry.unwrap().path());
    }
    assert_eq!(blogs, trial.evidence.counts["blogs-begun"]);
    prepared.directory.remove().unwrap();
}

fn look_at_blog(blog: &Path) {
    let name = blog.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("blog-"), "{name}");
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for file in std::fs::read_dir(blog).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".tmp"), "{name} left at rest");
        let (kind, number) = name.split_once('-').unwrap();
        let (number, end) = number.split_once('.').unwrap();
        let (end_expected, range) = match kind {
            "article" => ("xml", 1024..32_768),
            "picture" => ("jpg", 8192..65_536),
            "comment" => ("xml", 2048..10_240),
            other => panic!("{other} in a blog"),
        };
        assert_eq!(end, end_expected);
        let size = file.metadata().unwrap().len();
        assert!(range.contains(&size), "{name} has {size} bytes");
        kinds
            .entry(kind.to_owned())
            .or_default()
            .push(number.parse().unwrap());
    }
    // Written down to 1, so that a blog that was finished has all from 1 on.
    for kind in ["article", "picture"] {
        let numbers = kinds
            .get(kind)
            .unwrap_or_else(|| panic!("{name} without {kind}"));
        assert!(numbers.contains(&1) && numbers.iter().all(|n| (1..=100).contains(n)));
    }
}

#[test]
fn links_planted_while_it_runs_are_not_followed() {
    let typed = [("interval", "1s"), ("iterations", "2")];
    let planted = a_planted_link_is_not_followed(&BlogbenchTest::new(), &typed);
    assert!(planted > 0, "nothing was planted");
}

#[test]
fn a_full_disk_is_a_clear_error() {
    let typed = [("iterations", "100"), ("readers", "2")];
    a_full_disk_is_told(&BlogbenchTest::new(), &typed);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let outside = bench.directory().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let test = BlogbenchTest::new();
    let case = Bench::case(&test, &SMALL);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let place = bench.scratch().join(format!("blogbench-{}", case.id));
    std::os::unix::fs::symlink(&outside, place.join("blog-0")).unwrap();
    let error = prepared.run_once(&bench.context(1)).unwrap_err();
    assert!(error.to_string().contains("blog-0"), "{error}");
    prepared.finish(&bench.context(0)).unwrap();
}

#[test]
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let error = bench.run(&BlogbenchTest::new(), &SMALL, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn cancelling_stops_all_threads() {
    let bench = Bench::new();
    let test = BlogbenchTest::new();
    let case = Bench::case(&test, &[("iterations", "1000")]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let first = bench
        .scratch()
        .join(format!("blogbench-{}/blog-0", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Raised when the first blog is there.
            while !first.exists() {
                std::thread::yield_now();
            }
            bench.cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn space_and_inodes_are_named() {
    let mut bench = Bench::new();
    let test = BlogbenchTest::new();
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 1 << 30;
    mount.available_inodes = Some(1000);
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert!(unmet[0].what.contains("has 1074 MB free"), "{unmet:?}");
    assert!(unmet[1].what.contains("has 1000 inodes free"), "{unmet:?}");
    let estimate = test
        .estimate(&bench.host, &Bench::case(&test, &SMALL))
        .unwrap();
    assert!(estimate.space.as_u64() > 0 && estimate.inodes > 1000);
}
