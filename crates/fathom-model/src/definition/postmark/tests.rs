use super::mt::Mt1998;
use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> PostmarkSettings {
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
    PostmarkSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn the_defaults_are_the_seeds() {
    let full = settings(&[]);
    assert_eq!(
        (full.transactions, full.files, full.seed),
        (250_000, 500, 42)
    );
    assert_eq!((full.size_low, full.size_high), (5120, 524_288));
    assert_eq!((full.read_block, full.write_block), (512, 512));
    assert_eq!((full.bias_read, full.bias_create), (Some(5), Some(5)));
    assert!(full.buffering);
    assert_eq!(settings(&[("scale", "short")]).transactions, 5000);
    assert_eq!(settings(&[("bias-read", "none")]).bias_read, None);
}

/// Counters that the original printed; bytes of an independent model that agrees with it in these.
#[test]
fn the_counters_are_the_originals() {
    let plan = settings(&[]).plan().unwrap();
    let counters = (plan.created, plan.read, plan.appended);
    assert_eq!(counters, (125_608, 125_224, 124_584));
    assert_eq!((plan.deleted_alone, plan.deleted_mixed), (716, 124_892));
    assert_eq!(plan.read_bytes, 43_866_388_338);
    assert_eq!(plan.written_bytes(), 44_053_243_649);
    assert_eq!(plan.transactions, 250_000);
    assert!(plan.peak_files >= 716 && plan.peak_files <= 1000);
}

/// The original's own trace of `set transactions 10; set size 512 20000; set number 5`.
#[test]
fn the_first_operations_are_the_originals() {
    let settings = settings(&[
        ("transactions", "10"),
        ("size-low", "512B"),
        ("size-high", "20000B"),
        ("files", "5"),
    ]);
    let mut contents = vec![0; 20_000];
    let mut stream = PostmarkStream::new(&settings, &mut contents);
    assert!(contents.starts_with(b"LeZebJ6S5~qPv$C$py}hmKd H58nM4~."));
    assert!(contents[4096..].starts_with(b"KDIbi>%L^u%*$D'*;G;y}#9ur[!US]=o"));
    let mut done = Vec::new();
    let mut keep = |op: Option<PostmarkOp>| {
        done.push(match op {
            Some(PostmarkOp::Create { file }) => format!("c{} {}", file.number, file.size),
            Some(PostmarkOp::Append { file, bytes }) => format!("a{} {bytes}", file.number),
            Some(PostmarkOp::Read { file }) => format!("r{} {}", file.number, file.size),
            Some(PostmarkOp::Delete { file }) => format!("d{}", file.number),
            None => "-".to_owned(),
        });
    };
    for _ in 0..5 {
        keep(stream.create());
    }
    while !stream.is_out_of_files() {
        keep(stream.read_or_append());
        keep(stream.create_or_delete());
    }
    assert_eq!(
        done.join(", "),
        "c1 13169, c2 6562, c3 1988, c4 13800, c5 10461, a1 4317, c6 15509, a4 3924, c7 18224, \
         r2 6562, d5, a3 4124, d7, r3 6112, d4, r1 17486, d2, a3 12765, d6, a3 797, d3, a1 1249, d1"
    );
    assert_eq!(
        settings.conflicts()[0].what,
        "the files run out after 9 of 10 transactions"
    );
}

#[test]
fn subdirectories_are_drawn_before_the_size() {
    let settings = settings(&[
        ("size-low", "512B"),
        ("size-high", "20000B"),
        ("subdirectories", "3"),
    ]);
    let mut stream = PostmarkStream::new(&settings, &mut []);
    let created: Vec<(u32, u32)> = (0..4)
        .filter_map(|_| match stream.create() {
            Some(PostmarkOp::Create { file }) => Some((file.directory, file.size)),
            _ => None,
        })
        .collect();
    // As the original does with the same settings, by its trace.
    assert_eq!(created, [(0, 6562), (0, 13_800), (1, 17_230), (0, 13_525)]);
}

#[test]
fn seeding_is_the_one_of_1998() {
    // The output published with the generator for its seed of 4357, and an independent model's.
    let outputs = |seed: u32| {
        let mut random = Mt1998::new(seed);
        let all: Vec<u32> = (0..1000).map(|_| random.draw()).collect();
        (all[0], all[1], all[2], all[999])
    };
    assert_eq!(
        outputs(4357),
        (2_867_219_139, 1_585_203_162, 3_113_124_129, 1_030_650_439)
    );
    assert_eq!(
        outputs(42),
        (4_179_544_424, 615_236_124, 4_165_290_828, 2_144_691_740)
    );
    // With a bound of nothing no draw is used up.
    let mut random = Mt1998::new(42);
    assert_eq!((random.below(0), random.draw()), (0, 4_179_544_424));
}

#[test]
fn a_full_table_creates_nothing_and_a_hole_is_used_first() {
    let settings = settings(&[("files", "2")]);
    let mut stream = PostmarkStream::new(&settings, &mut []);
    let create = |stream: &mut PostmarkStream| stream.create().is_some();
    assert!((0..4).all(|_| create(&mut stream)));
    assert!(!create(&mut stream));
    stream.delete_first();
    assert!(create(&mut stream));
    let mut numbers = Vec::new();
    while let Some(PostmarkOp::Delete { file }) = stream.delete_first() {
        numbers.push(file.number);
    }
    // The fifth file took the hole the first one left.
    assert_eq!(numbers, [5, 2, 3, 4]);
}

#[test]
fn a_million_files_need_little_memory_and_time() {
    let settings = settings(&[
        ("files", "1000000"),
        ("transactions", "1000"),
        ("size-high", "8KiB"),
    ]);
    let plan = settings.plan().unwrap();
    assert_eq!(plan.transactions, 1000);
    assert!(plan.created >= 1_000_000 && plan.peak_files <= 1_001_000);
    let bytes = size_of::<PostmarkFile>() * settings.slots();
    assert!(bytes <= 24 << 20, "{bytes}");
}

#[test]
fn rates_are_fine_and_as_pts_shows_them() {
    let measured = PostmarkMeasured {
        transactions: 250_000,
        elapsed: Some(Nanos::from_millis(44_400)),
        whole_seconds: 45,
        read_bytes: Some(444 << 20),
        ..PostmarkMeasured::default()
    };
    let found = values(&measured);
    assert!((found["transactions-per-second"].value() - 5630.63).abs() < 0.01);
    assert_eq!(found["pts-tps"].value(), 5555.0);
    assert_eq!(found["read-rate"].value(), 10.0);
    assert!(!found.contains_key("write-rate"));
    let at_once = PostmarkMeasured {
        whole_seconds: 0,
        ..measured
    };
    assert_eq!(values(&at_once)["pts-tps"].value(), 250_000.0);
    let ids: Vec<String> = metrics().into_iter().map(|metric| metric.id).collect();
    assert!(found.keys().all(|id| ids.contains(id)));
}
