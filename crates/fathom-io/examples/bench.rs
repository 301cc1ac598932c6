//! One measurement of the engine as a JSON line, for `cargo xtask bench` and for profiling.
//!
//! ```text
//! cargo run --release -p fathom-io --example bench -- key=value ...
//! ```
//!
//! | key | value (first is the default) |
//! |---|---|
//! | `path` | target file; made and laid out when `layout=1` |
//! | `rw` | `randread`, `randwrite`, `read`, `write`, `randrw` (70 % reads), `rw` |
//! | `engine` | `null`, `io_uring`, `libaio`, `psync`, `posixaio`, `mmap` |
//! | `bs`, `size` | `4KiB`, `1GiB` |
//! | `depth`, `jobs` | `1`, `1` |
//! | `direct` | `0`, `1` |
//! | `runtime`, `ramp` | `2s`, `0s` |
//! | `passes` | absent, or the number of passes that ends the job |
//! | `distribution` | `once`, `uniform`, `zipf:1.1`, `pareto:0.2` |
//! | `contents` | `random`, `zeros` |
//! | `submit`, `reap` | batches: `0` (all that are free), `1` |
//! | `fixed` | `1` (buffers and files registered), `0` |
//! | `sqpoll`, `iopoll` | `0`, `1` |
//! | `stamps` | `io`, `batch` |
//! | `fdatasync` | `0`, or the number of writes after which the file is synced |
//! | `pace` | `unpaced`, `closed:1000/s`, `open:1000/s`, `poisson:1000/s` |
//! | `seed` | `1` |
//! | `layout` | `0`; `1` writes the whole file first |
//! | `evict` | `0`; `1` drops the file from the page cache first |
//! | `warm` | `0`; `1` reads the whole file into the page cache first |
//!
//! The line holds `iops`, `bytes_per_second`, `ops`, `window_ns`, `user_ns_per_op`,
//! `system_ns_per_op`, `process_user_ns_per_op`, `mean_ns`, `p50_ns`, `p90_ns`, `p99_ns`, `p999_ns`, `max_ns`,
//! `mean_in_flight`, `max_depth`, `engine`, `features`, `clock`, `peak_rss_bytes` and `notes`.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::str::FromStr;

use fathom_base::{Bytes, Cancel, Nanos, Percent};
use fathom_io::{
    Arrivals, BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, EngineOptions,
    JobReport, JobSpec, Mode, NoHooks, OnError, OpenSync, Pace, Stamps, Stop, SyncKind, SyncPolicy,
    Target, TargetKind, Verify, evict, run,
};

type AnyError = Box<dyn Error>;

fn main() -> Result<(), AnyError> {
    let arguments = Arguments::parse()?;
    let spec = spec_of(&arguments)?;
    prepare(&arguments, &spec)?;
    let report = run(&spec, &NoHooks, &Cancel::new())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json_of(&report))?;
    Ok(())
}

struct Arguments(HashMap<String, String>);

impl Arguments {
    fn parse() -> Result<Self, AnyError> {
        let mut map = HashMap::new();
        for argument in std::env::args().skip(1) {
            let (key, value) = argument
                .split_once('=')
                .ok_or_else(|| format!("argument {argument}: expected key=value"))?;
            map.insert(key.to_owned(), value.to_owned());
        }
        Ok(Self(map))
    }

    fn text(&self, key: &str, default: &str) -> String {
        self.0.get(key).map_or(default, String::as_str).to_owned()
    }

    fn get<T: FromStr>(&self, key: &str, default: &str) -> Result<T, AnyError>
    where
        T::Err: Error + 'static,
    {
        let text = self.text(key, default);
        text.parse()
            .map_err(|e: T::Err| format!("argument {key}={text}: {e}").into())
    }

    fn flag(&self, key: &str, default: &str) -> bool {
        self.text(key, default) == "1"
    }
}

fn spec_of(arguments: &Arguments) -> Result<JobSpec, AnyError> {
    let engine_name = arguments.text("engine", "null");
    let engine = EngineKind::ALL
        .into_iter()
        .find(|kind| kind.name() == engine_name)
        .ok_or_else(|| format!("engine {engine_name} is unknown"))?;
    let fixed = arguments.flag("fixed", "1");
    let syncs: u32 = arguments.get("fdatasync", "0")?;
    let passes: u32 = arguments.get("passes", "0")?;
    Ok(JobSpec {
        target: Target {
            path: arguments.text("path", "bench.data").into(),
            kind: TargetKind::File,
        },
        mode: mode_of(&arguments.text("rw", "randread"))?,
        block_sizes: BlockSizes::one(arguments.get("bs", "4KiB")?),
        engine,
        engine_fallback: false,
        engine_options: EngineOptions {
            submit_batch: arguments.get("submit", "0")?,
            reap_batch: arguments.get("reap", "1")?,
            fixed_buffers: fixed,
            fixed_files: fixed,
            sqpoll: arguments.flag("sqpoll", "0"),
            iopoll: arguments.flag("iopoll", "0"),
            ..EngineOptions::PLAIN
        },
        depth: arguments.get("depth", "1")?,
        jobs: arguments.get("jobs", "1")?,
        cursor: Cursor::Own,
        direct: arguments.flag("direct", "0"),
        offset: Bytes::new(0),
        size: arguments.get("size", "1GiB")?,
        stop: Stop {
            runtime: (passes == 0)
                .then(|| arguments.get("runtime", "2s"))
                .transpose()?,
            bytes: None,
            passes: (passes > 0).then_some(passes),
        },
        ramp: arguments.get("ramp", "0s")?,
        sync: SyncPolicy {
            every: (syncs > 0).then_some((syncs, SyncKind::Fdatasync)),
            final_flush: None,
            open: OpenSync::None,
        },
        pace: pace_of(&arguments.text("pace", "unpaced"))?,
        distribution: distribution_of(&arguments.text("distribution", "once"))?,
        contents: match arguments.text("contents", "random").as_str() {
            "zeros" => Contents::Zeros,
            _ => Contents::Random,
        },
        verify: Verify::Off,
        on_error: OnError::Stop,
        seed: arguments.get("seed", "1")?,
        interval: Nanos::from_millis(100),
        stamps: match arguments.text("stamps", "io").as_str() {
            "batch" => Stamps::PerBatch,
            _ => Stamps::PerIo,
        },
        clock: ClockChoice::Auto,
        cpus: Vec::new(),
        stuck_after: Nanos::from_secs(60),
    })
}

fn mode_of(name: &str) -> Result<Mode, AnyError> {
    let read_percent = Percent::new(70.0).unwrap_or_default();
    Ok(match name {
        "randread" => Mode::RandRead,
        "randwrite" => Mode::RandWrite,
        "read" => Mode::Read,
        "write" => Mode::Write,
        "randrw" => Mode::RandMixed { read_percent },
        "rw" => Mode::Mixed { read_percent },
        _ => return Err(format!("rw={name} is unknown").into()),
    })
}

fn pace_of(text: &str) -> Result<Pace, AnyError> {
    let (kind, rate) = text.split_once(':').unwrap_or((text, "1/s"));
    let rate = rate.parse()?;
    let open = |arrivals| Pace::Open { rate, arrivals };
    Ok(match kind {
        "unpaced" => Pace::Unpaced,
        "closed" => Pace::Closed(rate),
        "open" => open(Arrivals::Constant),
        "poisson" => open(Arrivals::Poisson),
        _ => return Err(format!("pace={text} is unknown").into()),
    })
}

fn distribution_of(text: &str) -> Result<Distribution, AnyError> {
    Ok(match text.split_once(':').unwrap_or((text, "")) {
        ("once", _) => Distribution::OnceEach,
        ("uniform", _) => Distribution::Uniform,
        ("zipf", theta) => Distribution::Zipf {
            theta: theta.parse()?,
        },
        ("pareto", h) => Distribution::Pareto { h: h.parse()? },
        _ => return Err(format!("distribution={text} is unknown").into()),
    })
}

/// Lays out, warms or evicts the file by jobs of its own.
fn prepare(arguments: &Arguments, spec: &JobSpec) -> Result<(), AnyError> {
    let pass = |mode, final_flush| JobSpec {
        mode,
        block_sizes: BlockSizes::one(Bytes::MIB),
        engine: EngineKind::Psync,
        engine_options: EngineOptions::PLAIN,
        depth: 1,
        jobs: 1,
        direct: false,
        stop: Stop {
            runtime: None,
            bytes: None,
            passes: Some(1),
        },
        ramp: Nanos::new(0),
        sync: SyncPolicy {
            every: None,
            final_flush,
            open: OpenSync::None,
        },
        contents: Contents::Random,
        ..spec.clone()
    };
    if arguments.flag("layout", "0") {
        run(
            &pass(Mode::Write, Some(SyncKind::Fsync)),
            &NoHooks,
            &Cancel::new(),
        )?;
    }
    if arguments.flag("warm", "0") {
        run(&pass(Mode::Read, None), &NoHooks, &Cancel::new())?;
    }
    if arguments.flag("evict", "0") {
        let left = evict(&spec.target.path)?.after.resident;
        if left > Bytes::new(0) {
            return Err(format!("{left} stayed in the page cache").into());
        }
    }
    Ok(())
}

fn json_of(report: &JobReport) -> String {
    let ops = report.ops();
    let per_op = |ns: u64| ns as f64 / ops.max(1) as f64;
    let mut latency = report.read.latency.clone();
    latency.merge(&report.write.latency);
    let percentile = |p| latency.percentile(p).unwrap_or(0);
    let notes: Vec<String> = report
        .notes
        .iter()
        .map(|n| format!("{:?}", n.text))
        .collect();
    let features: Vec<String> = report
        .engine
        .features
        .iter()
        .map(|f| format!("{f:?}"))
        .collect();
    let numbers = [
        ("iops", report.iops()),
        ("bytes_per_second", report.bytes_per_second()),
        ("ops", ops as f64),
        ("window_ns", report.window.as_u64() as f64),
        ("user_ns_per_op", per_op(report.cpu.user_ns)),
        ("system_ns_per_op", per_op(report.cpu.system_ns)),
        ("process_user_ns_per_op", per_op(report.cpu.process_user_ns)),
        ("mean_ns", latency.mean().unwrap_or(0.0)),
        ("p50_ns", percentile(50.0) as f64),
        ("p90_ns", percentile(90.0) as f64),
        ("p99_ns", percentile(99.0) as f64),
        ("p999_ns", percentile(99.9) as f64),
        ("max_ns", latency.max().unwrap_or(0) as f64),
        ("mean_in_flight", report.mean_in_flight),
        ("little_in_flight", report.little_in_flight),
        ("max_depth", f64::from(report.max_depth_reached)),
        ("resolution_ns", report.resolution_ns as f64),
        ("peak_rss_bytes", peak_rss_bytes() as f64),
    ];
    let mut line = String::from("{");
    for (name, value) in numbers {
        // Writing to a String cannot fail.
        let _ = write!(line, "\"{name}\":{value:.3},");
    }
    let _ = write!(
        line,
        "\"engine\":\"{}\",\"clock\":\"{}\",\"features\":[{}],\"notes\":[{}]}}",
        report.engine.used,
        report.clock.source,
        features.join(","),
        notes.join(",")
    );
    line
}

/// `VmHWM` of this process; 0 where it cannot be read.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
