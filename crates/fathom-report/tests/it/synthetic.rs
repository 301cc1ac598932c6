//! Result files as Fathom itself measures them, made up: every figure is invented.

use std::collections::BTreeMap;

use fathom_base::{SplitMix64, WallTime};
use fathom_model::{
    Case, CaseId, Direction, Drive, Entry, EntryDetails, Field, Figure, Generator, Implementation,
    ImplementationKind, Level, Link, Metric, Mount, Options, Reason, ResultFile, ResultRecord, Run,
    Series, StopReason, System, TargetInfo, Trial, Verdict,
};
use fathom_stats::Histogram;

/// A case of the made-up suite: label, unit, base value, relative spread, latency in ns.
type Plan = (&'static str, &'static str, f64, f64, u64);

const PLANS: [Plan; 6] = [
    ("SEQ1M Q8 read", "MB/s", 3431.0, 0.004, 2_400_000),
    ("SEQ1M Q8 write", "MB/s", 1466.0, 0.011, 5_600_000),
    ("RND4K Q1 read", "MB/s", 54.2, 0.008, 71_000),
    ("RND4K Q32 read", "MB/s", 1610.0, 0.02, 78_000),
    ("RND4K Q1 durable", "IOPS", 398.0, 0.06, 2_500_000),
    ("SQLite 1 copy", "s", 12.4, 0.015, 0),
];

/// Uniform in 0..1.
fn uniform(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Roughly normal, mean 0, deviation 1.
fn normal(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// A run of the made-up suite on each named system; the second and later ones are slower by a
/// tenth each. The third case of the first system is suspect, the last one of the last failed.
pub fn measured(names: &[&str]) -> ResultFile {
    let mut file = ResultFile::new(
        "quick on a made-up machine",
        Generator {
            name: "fathom".to_owned(),
            version: "0.1.0".to_owned(),
        },
    );
    file.description = "Invented figures to look at the report.".to_owned();
    file.modified = Some(WallTime::from_unix_ms(1_767_312_000_000));
    file.systems = names
        .iter()
        .enumerate()
        .map(|(place, name)| system(place, name))
        .collect();
    file.cases = PLANS.iter().map(case).collect();
    for (number, plan) in PLANS.iter().enumerate() {
        let runs: Vec<Run> = (names.iter().enumerate())
            .map(|(place, name)| run(number, plan, place, name, place + 1 == names.len()))
            .collect();
        for metric in metrics(plan) {
            file.results.push(record(number, plan, metric, &runs));
        }
        file.runs.extend(runs);
    }
    file
}

/// As [`measured`], with a case that could not run at all.
pub fn measured_with_unavailable(names: &[&str]) -> ResultFile {
    let mut file = measured(names);
    let mut missing = case(&("pgbench read-write", "TPS", 0.0, 0.0, 0));
    missing.id = CaseId("00000000000000ff".to_owned());
    missing.test = "pgbench".to_owned();
    for name in names {
        file.runs.push(Run {
            case: missing.id.clone(),
            system: (*name).to_owned(),
            unavailable: Some("pgbench is not installed; apt-get install postgresql".to_owned()),
            ..Run::default()
        });
    }
    file.cases.push(missing);
    file
}

fn system(place: usize, name: &str) -> System {
    let disk = [
        "Samsung SSD 970 EVO 250GB",
        "INTEL SSDPE21D280GA",
        "WDC WD20EZAZ",
    ][place % 3];
    let scheduler = ["none", "none", "mq-deadline"][place % 3];
    System {
        identifier: name.to_owned(),
        hardware: vec![
            Field::new(
                "Processor",
                "AMD EPYC 7601 32-Core @ 2.20GHz (32 Cores / 64 Threads)",
            ),
            Field::new("Memory", "8 x 16GB DDR4-2400MT/s"),
            Field::new("Disk", disk),
        ],
        software: vec![
            Field::new("OS", "Debian GNU/Linux 12"),
            Field::new("Kernel", "6.12.3 (x86_64)"),
            Field::new("File-System", "ext4"),
        ],
        notes: vec![Field::new("Security Details", "meltdown: Not affected")],
        client: "fathom 0.1.0".to_owned(),
        target: Some(Box::new(TargetInfo {
            path: "/home/ann/proj".to_owned(),
            mount: Some(Mount {
                point: "/home".to_owned(),
                source: "/dev/nvme0n1p2".to_owned(),
                file_system: "ext4".to_owned(),
                options: vec!["relatime".to_owned(), "rw".to_owned()],
                ..Mount::default()
            }),
            drives: vec![Drive {
                name: "nvme0n1".to_owned(),
                model: Some(disk.to_owned()),
                firmware: Some("2B2QEXE7".to_owned()),
                scheduler: Some(scheduler.to_owned()),
                write_cache: Some("write back".to_owned()),
                link: Some(Link {
                    text: "PCIe 3.0 x4".to_owned(),
                    bytes_per_second: 3_940_000_000,
                    is_degraded: false,
                }),
                ..Drive::default()
            }],
            ..TargetInfo::default()
        })),
        ..System::default()
    }
}

fn case(plan: &Plan) -> Case {
    let number = PLANS
        .iter()
        .position(|known| known.0 == plan.0)
        .unwrap_or(15);
    let options: Options = [("kind", "read"), ("block-size", "4KiB")]
        .into_iter()
        .collect();
    Case {
        id: CaseId(format!("{number:016x}")),
        test: "io".to_owned(),
        test_version: "1".to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options,
        label: plan.0.to_owned(),
        extra: serde_json::Map::new(),
    }
}

fn metrics(plan: &Plan) -> Vec<Metric> {
    let direction = match plan.1 {
        "s" => Direction::LowerIsBetter,
        _ => Direction::HigherIsBetter,
    };
    let mut metrics = vec![Metric {
        id: "main".to_owned(),
        title: if plan.1 == "s" { "time" } else { "throughput" }.to_owned(),
        unit: plan.1.to_owned(),
        direction,
        is_primary: true,
        steers: true,
        ..Metric::default()
    }];
    if plan.4 > 0 {
        metrics.push(Metric {
            id: "latency-mean".to_owned(),
            title: "mean latency".to_owned(),
            unit: "us".to_owned(),
            direction: Direction::LowerIsBetter,
            ..Metric::default()
        });
    }
    metrics
}

fn record(number: usize, plan: &Plan, metric: Metric, runs: &[Run]) -> ResultRecord {
    let entries = runs.iter().map(|run| entry(run, &metric, number)).collect();
    ResultRecord {
        case: CaseId(format!("{number:016x}")),
        metric,
        title: if plan.1 == "s" {
            "SQLite insertions"
        } else {
            "Random and sequential I/O"
        }
        .to_owned(),
        version: "native 1".to_owned(),
        description: format!("label: {} - direct: yes", plan.0),
        entries,
        ..ResultRecord::default()
    }
}

fn entry(run: &Run, metric: &Metric, number: usize) -> Entry {
    let values = run
        .trials
        .iter()
        .filter_map(|trial| trial.values.get(&metric.id));
    let samples: Vec<Figure> = values.cloned().collect();
    let mean = samples.iter().map(Figure::value).sum::<f64>() / samples.len() as f64;
    let mut verdict = Verdict::valid();
    for trial in &run.trials {
        verdict.absorb(&trial.verdict);
    }
    if number == 0 {
        verdict.note(Reason {
            rule: "foreign-io".to_owned(),
            short: "1.1 % foreign I/O".to_owned(),
            text: "Other processes did 1.1 % of the device's I/O.".to_owned(),
            advice: String::new(),
        });
    }
    let error = run.trials.iter().find_map(|trial| trial.error.as_deref());
    Entry {
        system: run.system.clone(),
        value: Figure::new(mean),
        error: error.filter(|_| samples.is_empty()).map(Into::into),
        samples,
        verdict,
        details: None::<Box<EntryDetails>>,
        ..Entry::default()
    }
}

fn run(number: usize, plan: &Plan, place: usize, name: &str, is_last: bool) -> Run {
    let mut random = SplitMix64::new((number * 100 + place) as u64);
    let fails = is_last && number + 1 == PLANS.len();
    let trials = (1..=5)
        .map(|trial| match fails {
            true => failed_trial(number, name, trial),
            false => good_trial(number, plan, place, name, trial, &mut random),
        })
        .collect();
    Run {
        case: CaseId(format!("{number:016x}")),
        system: name.to_owned(),
        trials,
        stop: Some(StopReason::GoalReached),
        ..Run::default()
    }
}

fn failed_trial(number: usize, name: &str, trial: u32) -> Trial {
    Trial {
        id: format!("{name}/{number}/{trial}"),
        number: trial,
        error: Some("no space left on device after 812 MB".to_owned()),
        ..Trial::default()
    }
}

fn good_trial(
    number: usize,
    plan: &Plan,
    place: usize,
    name: &str,
    trial: u32,
    random: &mut SplitMix64,
) -> Trial {
    let (_, unit, base, spread, latency) = *plan;
    let slower = 1.0 + place as f64 * 0.1;
    let base = if unit == "s" {
        base * slower
    } else {
        base / slower
    };
    let value = base * (1.0 + spread * normal(random));
    let mut values = BTreeMap::from([("main".to_owned(), Figure::new(value).unwrap())]);
    let mut histograms = BTreeMap::new();
    let mut series = BTreeMap::new();
    if latency > 0 {
        let mut histogram = Histogram::new();
        for _ in 0..4_000 {
            let tail = if uniform(random) < 0.002 { 12.0 } else { 1.0 };
            let ns = latency as f64 * slower * tail * (0.3 * normal(random)).exp();
            histogram.record(ns as u64);
        }
        let mean = histogram.mean().unwrap() / 1000.0;
        values.insert("latency-mean".to_owned(), Figure::new(mean).unwrap());
        histograms.insert("read".to_owned(), histogram);
        let dip = |step: usize| if (20..24).contains(&step) { 0.6 } else { 1.0 };
        let points = (0..60).map(|step| value * dip(step) * (1.0 + 0.02 * normal(random)));
        series.insert(
            "bandwidth".to_owned(),
            Series {
                unit: unit.to_owned(),
                start_ns: 0,
                step_ns: 100_000_000,
                values: points.collect(),
            },
        );
    }
    let mut verdict = Verdict::valid();
    if number == 4 && place == 0 {
        verdict.object(
            Level::Suspect,
            Reason {
                rule: "two-modes".to_owned(),
                short: "flush time has two modes, 1.9 and 4.1 ms".to_owned(),
                text: "Flushes took either about 1.9 or about 4.1 ms, nothing between.".to_owned(),
                advice: "Look at the series; measure again with --trials 20.".to_owned(),
            },
        );
    }
    Trial {
        id: format!("{name}/{number}/{trial}"),
        number: trial,
        started: WallTime::from_unix_ms(1_767_312_000_000 + i64::from(trial) * 6000),
        duration_ns: 6_000_000_000,
        values,
        histograms,
        series,
        verdict,
        ..Trial::default()
    }
}
