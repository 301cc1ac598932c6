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

fn settings(typed: &[(&str, &str)]) -> CompilebenchSettings {
    CompilebenchSettings::from_case(&case(typed)).unwrap()
}

fn sorted_sizes(files: &[TreeFile]) -> Vec<u64> {
    let mut sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
    sizes.sort_unstable();
    sizes
}

/// Within one part in a hundred, or one byte, of a percentile.
fn assert_percentile(sizes: &[u64], percent: f64, expected: u64) {
    let rank = (percent / 100.0 * (sizes.len() - 1) as f64).round() as usize;
    let found = sizes[rank];
    let near = found.abs_diff(expected) <= expected / 100 + 1;
    assert!(
        near,
        "{percent} % of the sizes: {found} instead of {expected}"
    );
}

#[test]
fn the_clean_tree_has_the_described_statistics() {
    let set = DataSet::generated();
    let files = &set.unpatched;
    assert_eq!(files.len(), 21_280);
    assert_eq!(directories(files), 1263);
    assert_eq!(total_bytes(files), (222.37 * f64::from(1 << 20)) as u64);
    assert_eq!(total_bytes(files) / 21_280, 10_957);
    let sizes = sorted_sizes(files);
    for (percent, expected) in [
        (1.0, 37),
        (5.0, 159),
        (10.0, 390),
        (25.0, 1303),
        (50.0, 4055),
        (75.0, 11_141),
        (90.0, 26_112),
        (95.0, 43_057),
        (99.0, 97_228),
        (99.9, 310_443),
    ] {
        assert_percentile(&sizes, percent, expected);
    }
    assert_eq!(sizes[0], 1, "none is empty");
    assert_eq!(sizes.last(), Some(&873_603));
    let depth = |file: &TreeFile| file.path.matches('/').count();
    assert_eq!(files.iter().map(depth).max(), Some(6));
    assert_eq!(files.iter().map(depth).min(), Some(0));
    let mut depths = [0; 7];
    files.iter().for_each(|file| depths[depth(file)] += 1);
    let most = depths.iter().max().unwrap();
    assert!(depths[2] == *most || depths[3] == *most, "{depths:?}");
}

#[test]
fn directories_are_of_the_described_sizes() {
    let set = DataSet::generated();
    let mut counts = BTreeMap::new();
    for file in &set.unpatched {
        let directory = file.path.rsplit_once('/').map_or("", |(d, _)| d);
        *counts.entry(directory).or_insert(0_u64) += 1;
    }
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts.len(), 1263);
    assert_eq!(counts[counts.len() / 2], 8, "median of files a directory");
    assert_eq!(counts.last(), Some(&745));
}

#[test]
fn compiling_adds_what_is_described() {
    let set = DataSet::generated();
    let files = &set.compiled;
    assert_eq!(files.len(), 3263);
    assert_eq!(total_bytes(files), (680.63 * f64::from(1 << 20)) as u64);
    let sizes = sorted_sizes(files);
    let empty = sizes.iter().filter(|size| **size == 0).count();
    assert_eq!(empty, 411, "12.6 % are empty");
    // Sizes are far apart up there: the described one lies between two neighbours.
    for (percent, expected) in [(50.0, 14_800), (95.0, 318_000), (99.0, 2_800_000)] {
        let rank = (percent / 100.0 * 3262.0_f64).round() as usize;
        let around = sizes[rank - 1]..=sizes[rank + 1];
        assert!(around.contains(&expected), "{percent} %: {around:?}");
    }
    assert_eq!(sizes.last(), Some(&(64 << 20)));
    let share = |end: &str| {
        let count = files.iter().filter(|file| file.path.ends_with(end)).count();
        count as f64 / 32.63
    };
    assert!((share(".cmd") - 43.0).abs() < 1.0, "{}", share(".cmd"));
    assert!((share(".o") - 42.0).abs() < 1.0, "{}", share(".o"));
    assert!((share(".h") - 13.0).abs() < 1.0, "{}", share(".h"));
    let both: Vec<TreeFile> = set.unpatched.iter().chain(files).cloned().collect();
    assert_eq!(directories(&both), 1263 + 201);
    let names: std::collections::HashSet<&str> =
        both.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names.len(), both.len(), "names repeat");
}

#[test]
fn a_patch_changes_what_is_described() {
    let set = DataSet::generated();
    let files = &set.patched;
    assert_eq!(files.len(), 6136);
    assert_eq!(total_bytes(files), (109.67 * f64::from(1 << 20)) as u64);
    let clean: BTreeMap<&str, u64> = set
        .unpatched
        .iter()
        .map(|file| (file.path.as_str(), file.size))
        .collect();
    for file in files {
        let old = clean[file.path.as_str()];
        assert_ne!(old, file.size, "{} is as it was", file.path);
    }
}

#[test]
fn the_tree_is_the_same_each_time() {
    let set = DataSet::generated();
    assert_eq!(set, DataSet::generated());
    // Of the tree of version 1.0; a change of it needs a new version.
    let mut sum = 0_u64;
    for file in set
        .unpatched
        .iter()
        .chain(&set.compiled)
        .chain(&set.patched)
    {
        sum = fathom_base::seed_for(sum ^ file.size, &file.path);
    }
    assert_eq!(sum, PINNED);
}

const PINNED: u64 = 17_254_900_855_407_804_939;

#[test]
fn short_is_a_fifth_of_the_trees() {
    assert_eq!(
        (settings(&[]).trees, settings(&[("scale", "short")]).trees),
        (10, 2)
    );
    assert_eq!(settings(&[("trees", "3"), ("scale", "short")]).trees, 1);
    let read = settings(&[("phase", "read-compiled")]);
    assert_eq!(read.trees_of(CompilebenchPhase::ReadCompiled), 3);
    assert_eq!(read.trees_of(CompilebenchPhase::Compile), 10);
    let aged = settings(&[("phase", "create-aged"), ("trees", "5")]);
    assert_eq!(aged.trees_of(CompilebenchPhase::Delete), 3);
    assert_eq!(aged.trees_of(CompilebenchPhase::CreateAged), 3);
}

#[test]
fn room_is_that_of_all_trees() {
    let set = DataSet::generated();
    let full = settings(&[]);
    let mib = full.space(&set).as_u64() >> 20;
    // 222 MiB and what is lost to blocks of 4 KiB, ten times.
    assert!((2500..3300).contains(&mib), "{mib} MiB");
    assert_eq!(full.inodes(&set), 10 * (21_280 + 1263) + 2);
    let compiled = settings(&[("phase", "compile")]).space(&set).as_u64() >> 20;
    assert!(compiled > mib + 6800, "{compiled} MiB");
}

#[test]
fn the_figure_is_the_mean_of_the_trees() {
    let tree = |mib: u64, seconds: f64| TreeMeasured {
        bytes: mib << 20,
        seconds,
    };
    let settings = settings(&[("phase", "compile")]);
    let measured = [
        (CompilebenchPhase::Create, vec![tree(200, 2.0)]),
        (
            CompilebenchPhase::Compile,
            vec![tree(600, 2.0), tree(600, 6.0)],
        ),
    ];
    let mut latency = Histogram::new();
    latency.record_n(3000, 200_000);
    let values = values(
        &settings,
        &measured,
        &[("write", &latency), ("mkdir", &latency)],
    );
    assert_eq!(values["create"].value(), 100.0);
    assert_eq!(values["compile"].value(), 200.0);
    assert_eq!(values["overall-rate"].value(), 150.0);
    assert_eq!(values["pts-bandwidth"].value(), 200.0);
    let ids: Vec<String> = metrics(settings.phase).into_iter().map(|m| m.id).collect();
    assert!(values.keys().all(|id| ids.contains(id)));
}

#[test]
fn deleting_and_looking_are_times() {
    for phase in CompilebenchPhase::ALL {
        let all = metrics(*phase);
        let first = all.iter().find(|metric| metric.is_primary).unwrap();
        assert_eq!(first.id, phase.name());
        assert_eq!(first.unit == "s", phase.is_time());
        assert_eq!(phase.chain().last(), Some(phase));
        assert_eq!(phase.chain().contains(&CompilebenchPhase::Compile), {
            phase.is_of_compiled() || *phase == CompilebenchPhase::Compile
        });
    }
}

fn lists(directory: &std::path::Path, texts: [&str; 3]) -> String {
    std::fs::create_dir_all(directory).unwrap();
    for (name, text) in LISTS.iter().zip(texts) {
        std::fs::write(directory.join(name), text).unwrap();
    }
    directory.display().to_string()
}

#[test]
fn own_lists_are_read_and_are_the_identity() {
    let directory = tempfile::tempdir().unwrap();
    let texts = [
        "a/b.c 100\na/c.c 0\n",
        "a/b.c 100\na/b.o 900\n",
        "a/b.c 101\na/c.c 0\nd 5\n",
    ];
    let one = lists(&directory.path().join("one"), texts);
    let same = lists(&directory.path().join("same"), texts);
    let other = lists(
        &directory.path().join("other"),
        ["a/b.c 7\n", texts[1], texts[2]],
    );
    let (set, _) = DataSet::read(one.as_ref()).unwrap();
    assert_eq!((set.unpatched.len(), total_bytes(&set.unpatched)), (2, 100));
    assert_eq!((set.compiled.len(), total_bytes(&set.compiled)), (1, 900));
    // The size of a/c.c did not change.
    assert_eq!((set.patched.len(), total_bytes(&set.patched)), (2, 106));
    assert_eq!(directories(&set.unpatched), 2);
    let id = |path: &str| complete(&info(), case(&[("dataset", path)])).unwrap().id;
    assert_eq!(id(&one), id(&same));
    assert_ne!(id(&one), id(&other));
    assert_ne!(id(&one), complete(&info(), case(&[])).unwrap().id);
    let known = complete(&info(), case(&[("dataset", &one)])).unwrap();
    let hash = known.text("dataset-sha256").unwrap().to_owned();
    let error = complete(
        &info(),
        case(&[("dataset", &other), ("dataset-sha256", &hash)]),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("the case was made with others")
    );
}

#[test]
fn lists_that_are_no_good_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let good = "a 1\n";
    for (text, expected) in [
        ("a 1\n../b 2\n", "dataset-unpatched:2: \"../b\" is no name"),
        ("/etc/b 2\n", ":1: \"/etc/b\" is no name"),
        ("a//b 2\n", "is no name"),
        ("a\n", ":1: expected a name and a size"),
        ("a x\n", "\"x\" is no size"),
        ("a 1\n\na 2\n", ":3: \"a\" comes twice"),
        ("a 1\na/b 2\n", "\"a\" is a file and a directory"),
        ("\n", "has no files"),
    ] {
        let path = lists(&directory.path().join("lists"), [text, good, good]);
        let error = complete(&info(), case(&[("dataset", &path)]))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = complete(&info(), case(&[("dataset", "/nowhere")]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nowhere/dataset-unpatched"), "{error}");
}

#[test]
fn contradictions_are_named() {
    let found = settings(&[("dataset-sha256", "12")]).conflicts();
    assert_eq!(found[0].what, "dataset-sha256 is given without a dataset");
    assert_eq!(settings(&[]).conflicts(), []);
}
