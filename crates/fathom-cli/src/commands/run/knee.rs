//! `fathom knee`: latency over the rate of an open loop, and where it rises.

use std::fmt::Write as _;

use fathom_base::{Nanos, Rate, files};
use fathom_model::{ResultFile, Run};
use fathom_report::svg::{Look, RateCurve, rate_chart};
use fathom_runner::Outcome;
use fathom_stats::Histogram;
use fathom_stats::knee::{Knee, RatePoint, knee as find_knee};
use serde_json::json;

use super::{exit_of, hints, measure};
use crate::args::{KneeArgs, LimitArgs, OptionArg, OwnArgs, RunArgs, RunOutputArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

/// Share of the ceiling that is tried first, and last: beyond it, to see the rate missed.
const SHARES: (f64, f64) = (0.05, 1.05);
/// Length of a trial when nobody says.
const RUNTIME: &str = "2s";

/// Finds the knee of a target.
pub fn knee(args: &KneeArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    check(args)?;
    let ceiling = match ceiling(args, settings, printer)? {
        Some(ceiling) => ceiling,
        None => return Ok(Exit::Failed),
    };
    let rates = rates(ceiling, args.steps);
    let texts: Vec<String> = rates.iter().map(|rate| format!("{rate}/s")).collect();
    let run = run_args(args, vec![option("rate", texts)], args.limits.clone());
    let Some(outcome) = measure(&run, settings, printer)? else {
        return Ok(Exit::Good);
    };
    let Some(result) = &outcome.result else {
        return Ok(exit_of(&outcome));
    };
    let steps = steps_of(result);
    let points: Vec<RatePoint> = steps.iter().map(Step::point).collect();
    let found = find_knee(&points, args.factor).unwrap_or_default();
    if let Some(path) = &args.svg {
        let svg = chart(args, &steps, found);
        files::write_atomic(path, svg.as_bytes())
            .map_err(|error| Failure::unmet(format!("failed to {error}")))?;
    }
    match args.output.json {
        true => printer.json(&as_json(ceiling, &steps, found))?,
        false => printer.data(&text(ceiling, &steps, found, args.factor))?,
    }
    printer.words(&hints(&outcome));
    Ok(ending(&outcome, found))
}

fn ending(outcome: &Outcome, found: Option<Knee>) -> Exit {
    match (exit_of(outcome), found) {
        (Exit::Good, None) => Exit::Failed,
        (exit, _) => exit,
    }
}

fn check(args: &KneeArgs) -> Result<(), Failure> {
    if !(args.factor.is_finite() && args.factor > 1.0) {
        return Err(Failure::usage(format!(
            "--factor {}: expected a number above 1",
            args.factor
        )));
    }
    let taken = ["rate", "rate-limit"];
    if let Some(option) = args
        .options
        .iter()
        .find(|o| taken.contains(&o.name.as_str()))
    {
        return Err(Failure::usage(format!(
            "option {} is what fathom knee chooses",
            option.name
        )));
    }
    match args.options.iter().find(|option| option.values.len() > 1) {
        Some(option) => Err(Failure::usage(format!(
            "option {} has several values, and the knee is of one case",
            option.name
        ))),
        None => Ok(()),
    }
}

fn option(name: &str, values: Vec<String>) -> OptionArg {
    OptionArg {
        test: None,
        name: name.to_owned(),
        values,
    }
}

/// The cases of `io` that the user described, with more options.
fn run_args(args: &KneeArgs, more: Vec<OptionArg>, limits: LimitArgs) -> RunArgs {
    let mut options = args.options.clone();
    if !options.iter().any(|option| option.name == "runtime") {
        options.push(option("runtime", vec![RUNTIME.to_owned()]));
    }
    options.extend(more);
    RunArgs {
        what: vec!["io".to_owned()],
        target: args.target.clone(),
        name: args.name.clone(),
        title: None,
        system: None,
        options,
        implementation: None,
        seed: args.seed,
        dry_run: false,
        destroy: args.destroy.clone(),
        own: OwnArgs::default(),
        limits,
        output: args.output,
    }
}

/// The rate without any pace.
fn ceiling(
    args: &KneeArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Option<f64>, Failure> {
    let limits = LimitArgs {
        min_trials: Some("3".to_owned()),
        max_trials: Some("3".to_owned()),
        ..LimitArgs::default()
    };
    let mut run = run_args(args, Vec::new(), limits);
    run.name = args.name.as_ref().map(|name| format!("{name}-ceiling"));
    run.output = RunOutputArgs {
        json: false,
        ..args.output
    };
    let Some(outcome) = measure(&run, settings, printer)? else {
        return Ok(None);
    };
    let iops = outcome.result.as_ref().and_then(|result| {
        let mut records = result.results.iter();
        let record = records.find(|record| record.metric.id == "iops")?;
        let value = record.entries.first()?.value.as_ref()?;
        Some(value.value()).filter(|iops| *iops > 0.0)
    });
    if iops.is_none() {
        printer.words("no ceiling could be measured: the trials failed");
    }
    Ok(iops)
}

/// Rates up to and beyond the ceiling, evenly, rounded to three digits.
fn rates(ceiling: f64, steps: u32) -> Vec<f64> {
    let (low, high) = SHARES;
    let step = (high - low) / f64::from(steps - 1);
    let mut rates: Vec<f64> = (0..steps)
        .map(|number| three_digits(ceiling * (low + step * f64::from(number))))
        .collect();
    rates.dedup();
    rates
}

fn three_digits(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 2.0).max(1.0);
    ((rate / unit).round() * unit).max(1.0)
}

/// All trials at one rate.
struct Step {
    rate: f64,
    latency: Histogram,
    due: u64,
    missed: u64,
    late: u64,
    /// No trial was suspect for missing its rate.
    is_kept: bool,
}

impl Step {
    fn percentile(&self, percent: f64) -> f64 {
        let ns = self.latency.percentile(percent);
        ns.map_or(f64::NAN, |ns| ns as f64)
    }

    fn point(&self) -> RatePoint {
        RatePoint {
            rate: self.rate,
            latency: self.percentile(99.0),
            is_kept: self.is_kept,
        }
    }
}

/// Steps by rate.
fn steps_of(result: &ResultFile) -> Vec<Step> {
    let mut steps: Vec<Step> = result
        .runs
        .iter()
        .filter_map(|run| {
            let case = result.case(&run.case)?;
            let rate = case.get::<Rate>("rate").ok()?;
            let Rate::Operations(rate) = rate else {
                return None;
            };
            step_of(rate, run)
        })
        .collect();
    steps.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    steps
}

fn step_of(rate: f64, run: &Run) -> Option<Step> {
    let mut step = Step {
        rate,
        latency: Histogram::empty(),
        due: 0,
        missed: 0,
        late: 0,
        is_kept: true,
    };
    for trial in run.trials.iter().filter(|trial| trial.error.is_none()) {
        let open = trial.evidence.pace.as_ref()?.open.as_ref()?;
        for (name, histogram) in &trial.histograms {
            if name != "sync" && !name.ends_with("-service") {
                step.latency.merge(histogram);
            }
        }
        step.due += open.due;
        step.missed += open.backlog + open.unfinished;
        step.late += open.late_starts;
        let is_missed = |reason: &fathom_model::Reason| reason.rule == "rate-missed";
        step.is_kept &= !trial.verdict.reasons.iter().any(is_missed);
    }
    (step.due > 0).then_some(step)
}

fn text(ceiling: f64, steps: &[Step], found: Option<Knee>, factor: f64) -> String {
    let rough = |ns: f64| match ns.is_finite() {
        true => Nanos::new(ns as u64).rough(),
        false => "-".to_owned(),
    };
    let mut out = format!("ceiling {ceiling:.0}/s without a rate\n\n");
    let _ = writeln!(
        out,
        "{:>12} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "rate", "p50", "p99", "p99.9", "late", "missed"
    );
    for step in steps {
        let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / step.due as f64);
        let mark = match found {
            Some(knee) if knee.rate == step.rate => "  <- knee",
            _ if !step.is_kept => "  not kept",
            _ => "",
        };
        let _ = writeln!(
            out,
            "{:>10}/s {:>10} {:>10} {:>10} {:>8} {:>8}{mark}",
            step.rate,
            rough(step.percentile(50.0)),
            rough(step.percentile(99.0)),
            rough(step.percentile(99.9)),
            share(step.late),
            share(step.missed),
        );
    }
    out.push('\n');
    out.push_str(&sentence(found, factor));
    out
}

fn sentence(found: Option<Knee>, factor: f64) -> String {
    let rough = |ns: f64| Nanos::new(ns as u64).rough();
    match found {
        None => "no knee: even the lowest rates were missed, or had no latency to compare with\n"
            .to_owned(),
        Some(knee) => {
            let flat = rough(knee.flat_latency);
            let end = match knee.beyond {
                Some(rate) => format!(
                    "at {rate}/s it is more than {factor} times that, or the rate is missed"
                ),
                None => "no rate tried was too high".to_owned(),
            };
            format!(
                "knee at {}/s: p99 {} (flat part {flat}); {end}\n",
                knee.rate,
                rough(knee.latency)
            )
        }
    }
}

fn as_json(ceiling: f64, steps: &[Step], found: Option<Knee>) -> serde_json::Value {
    let number = |ns: f64| ns.is_finite().then_some(ns);
    let steps: Vec<_> = steps
        .iter()
        .map(|step| {
            json!({
                "rate": step.rate,
                "latency_ns_p50": number(step.percentile(50.0)),
                "latency_ns_p99": number(step.percentile(99.0)),
                "latency_ns_p99.9": number(step.percentile(99.9)),
                "due": step.due,
                "late_starts": step.late,
                "missed": step.missed,
                "kept": step.is_kept,
            })
        })
        .collect();
    let knee = found.map(|knee| {
        json!({
            "rate": knee.rate,
            "latency_ns_p99": knee.latency,
            "flat_latency_ns_p99": knee.flat_latency,
            "beyond": knee.beyond,
        })
    });
    json!({ "ceiling": ceiling, "steps": steps, "knee": knee })
}

fn chart(args: &KneeArgs, steps: &[Step], found: Option<Knee>) -> String {
    let curve = |name: &str, percent: f64| RateCurve {
        name: name.to_owned(),
        points: steps
            .iter()
            .map(|step| (step.rate, step.percentile(percent)))
            .filter(|(_, ns)| ns.is_finite())
            .collect(),
    };
    let curves = [
        curve("median", 50.0),
        curve("p99", 99.0),
        curve("p99.9", 99.9),
    ];
    let options: Vec<String> = args
        .options
        .iter()
        .map(|option| format!("{}={}", option.name, option.values.join(",")))
        .collect();
    let mark = found.map(|knee| (knee.rate, "knee"));
    rate_chart(
        &curves,
        ("Latency over rate, open loop", &options.join(" ")),
        mark,
        Look::Screen,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_even_and_go_beyond_the_ceiling() {
        let rates = rates(10_000.0, 11);
        assert_eq!(rates.len(), 11);
        assert_eq!((rates[0], rates[10]), (500.0, 10_500.0));
        assert_eq!(super::rates(3.0, 12), [1.0, 2.0, 3.0]);
        assert_eq!(
            [1234.0, 99_999.0, 7.3].map(three_digits),
            [1230.0, 100_000.0, 7.0]
        );
    }

    #[test]
    fn the_sentence_says_where_and_what_is_beyond() {
        let knee = Knee {
            flat_latency: 100_000.0,
            rate: 5000.0,
            latency: 180_000.0,
            beyond: Some(6000.0),
        };
        assert_eq!(
            sentence(Some(knee), 2.0),
            "knee at 5000/s: p99 180 us (flat part 100 us); at 6000/s it is more than 2 times that, \
             or the rate is missed\n"
        );
        assert!(sentence(None, 2.0).starts_with("no knee"));
    }
}
