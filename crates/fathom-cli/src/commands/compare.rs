//! `fathom compare`.

use fathom_base::files::write_atomic;
use fathom_model::compare::{
    Arm, CompareOptions, Comparison, InvalidEntries, MetricChoice, compare as compare_arms,
};
use fathom_model::merge::{Edit, edit, merge};
use fathom_model::{ResultFile, nearest};
use fathom_stats::compare::{Adjustment, Answer, CompareRule};
use fathom_store::Store;

use super::show;
use crate::args::{CompareArgs, ComparisonFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::results::{self, Loaded};
use crate::settings::Settings;

/// Systems that can be compared at once.
const MOST_ARMS: usize = 1000;

/// Compares systems of one or several results.
///
/// # Errors
/// [`Failure`] when a result cannot be read or a name is not there.
pub fn compare(
    args: &CompareArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let load = |text: &String| results::load(&store, text);
    let loaded: Vec<Loaded> = args.results.iter().map(load).collect::<Result<_, _>>()?;
    let sides = sides(args, &loaded)?;
    if args.pts_summary {
        let file = together(&sides, &loaded)?;
        give(args, printer, show::pts_summary(&file, settings.look))?;
        return Ok(Exit::Good);
    }
    let baseline = baseline(args, &sides)?;
    let options = options(args)?;
    let comparisons: Vec<Comparison> = match args.all_pairs {
        true => (0..sides.len())
            .map(|index| against(&sides, index, options))
            .collect(),
        false => vec![against(&sides, baseline, options)],
    };
    match args.json {
        true => give(args, printer, json(&comparisons)?)?,
        false => give(args, printer, written(args, &comparisons, settings)?)?,
    }
    Ok(if args.gate {
        gate(&comparisons)
    } else {
        Exit::Good
    })
}

/// All comparisons as they were asked for.
fn written(
    args: &CompareArgs,
    comparisons: &[Comparison],
    settings: &Settings,
) -> Result<String, Failure> {
    let joined = |write: &dyn Fn(&Comparison) -> String| {
        let texts: Vec<String> = comparisons.iter().map(write).collect();
        texts.join("\n")
    };
    let look = show::options(settings.look);
    match (args.format, comparisons) {
        (ComparisonFormat::Text, _) => {
            Ok(joined(&|one| fathom_report::text::comparison(one, look)))
        }
        (ComparisonFormat::Markdown, _) => Ok(joined(&fathom_report::markdown_comparison)),
        (ComparisonFormat::Html, [one]) => Ok(fathom_report::html_comparison(one)),
        (ComparisonFormat::Html, _) => Err(Failure::usage(
            "--format html holds one comparison, and --all-pairs gives several",
        )
        .detail("export the result itself (fathom export), or choose text or markdown")),
    }
}

fn json(comparisons: &[Comparison]) -> Result<String, Failure> {
    let text = match comparisons {
        [one] => serde_json::to_string_pretty(one),
        all => serde_json::to_string_pretty(all),
    };
    text.map_err(|error| Failure::new(Exit::Bug, format!("encode as JSON: {error}")))
}

/// To the file that was named, else to standard output.
fn give(args: &CompareArgs, printer: &Printer, text: String) -> Result<(), Failure> {
    match &args.output {
        None => printer.data(&text),
        Some(path) => {
            write_atomic(path, text.as_bytes())?;
            printer.words(&format!("wrote {}", path.display()));
            Ok(())
        }
    }
}

/// The systems that take part in one file, for rules that know only files.
fn together(sides: &[Side<'_>], loaded: &[Loaded]) -> Result<ResultFile, Failure> {
    let mut parts = Vec::with_capacity(loaded.len());
    for result in loaded {
        let is_wanted = |name: &str| {
            let mut sides = sides.iter();
            sides.any(|side| std::ptr::eq(side.loaded, result) && side.system == name)
        };
        let systems = result.file.systems.iter();
        let dropped: Vec<Edit> = systems
            .filter(|system| !is_wanted(&system.identifier))
            .map(|system| Edit::DropSystem(system.identifier.clone()))
            .collect();
        parts.push(edit(&result.file, &dropped)?);
    }
    Ok(merge(&parts.iter().collect::<Vec<_>>())?)
}

/// A system under the name it is shown by.
struct Side<'a> {
    label: String,
    loaded: &'a Loaded,
    system: &'a str,
}

/// Every system of every result. A result with one system goes by the result's name, since that is
/// what the user typed; others by the system's, with the result's where two are the same.
fn sides<'a>(args: &CompareArgs, loaded: &'a [Loaded]) -> Result<Vec<Side<'a>>, Failure> {
    let mut sides: Vec<Side<'_>> = Vec::new();
    for result in loaded {
        let systems = &result.file.systems;
        for system in systems
            .iter()
            .filter(|system| measured(result, &system.identifier))
        {
            let identifier = system.identifier.as_str();
            let is_wanted =
                args.systems.is_empty() || args.systems.iter().any(|name| name == identifier);
            let label = match (loaded.len(), systems.len()) {
                (2.., 1) => result.name.clone(),
                _ => identifier.to_owned(),
            };
            if is_wanted {
                sides.push(Side {
                    label,
                    loaded: result,
                    system: identifier,
                });
            }
        }
    }
    make_labels_unique(&mut sides);
    check_systems(args, loaded)?;
    match sides.len() {
        0 | 1 => Err(Failure::usage(format!(
            "there is {} to compare; expected two systems or more",
            if sides.is_empty() {
                "no system"
            } else {
                "only one system"
            }
        ))
        .detail("name a second result, or one that holds several systems")),
        2..=MOST_ARMS => Ok(sides),
        more => Err(
            Failure::usage(format!("{more} systems are more than {MOST_ARMS}"))
                .detail("choose some with --system"),
        ),
    }
}

/// Some files describe what all their systems share as one more system, without results.
fn measured(result: &Loaded, system: &str) -> bool {
    result
        .file
        .results
        .iter()
        .any(|record| record.entry(system).is_some())
}

fn make_labels_unique(sides: &mut [Side<'_>]) {
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    for (index, side) in sides.iter_mut().enumerate() {
        let same = |label: &&String| **label == labels[index];
        if labels.iter().filter(same).count() > 1 {
            let before = labels[..index].iter().filter(same).count();
            side.label = match side.label == side.loaded.name {
                true => format!("{} #{}", side.label, before + 1),
                false => format!("{} ({})", side.label, side.loaded.name),
            };
        }
    }
}

fn check_systems(args: &CompareArgs, loaded: &[Loaded]) -> Result<(), Failure> {
    let known = || {
        let systems = loaded.iter().flat_map(|result| &result.file.systems);
        systems.map(|system| system.identifier.as_str())
    };
    match args
        .systems
        .iter()
        .find(|name| !known().any(|known| known == name.as_str()))
    {
        None => Ok(()),
        Some(name) => Err(
            Failure::usage(format!("no result here has a system {name}"))
                .nearest(nearest(name, known()).as_deref()),
        ),
    }
}

/// Where the baseline is among the sides: named by system, label or result.
fn baseline(args: &CompareArgs, sides: &[Side<'_>]) -> Result<usize, Failure> {
    let Some(name) = &args.baseline else {
        return Ok(0);
    };
    let is_named =
        |side: &Side<'_>| side.label == *name || side.system == name || side.loaded.name == *name;
    sides.iter().position(is_named).ok_or_else(|| {
        Failure::usage(format!("the baseline {name} is not among what is compared"))
            .nearest(nearest(name, sides.iter().map(|side| side.label.as_str())).as_deref())
    })
}

fn options(args: &CompareArgs) -> Result<CompareOptions, Failure> {
    let margin = args.margin.fraction();
    if !(0.0..1.0).contains(&margin) {
        return Err(
            Failure::usage(format!("the margin {} is not possible", args.margin))
                .detail("expected a percentage from 0 to below 100 (2%)"),
        );
    }
    Ok(CompareOptions {
        rule: CompareRule {
            margin,
            ..CompareRule::STANDARD
        },
        adjustment: match args.gate {
            true => Adjustment::Holm,
            false => Adjustment::BenjaminiHochberg,
        },
        metrics: match args.all_metrics {
            true => MetricChoice::All,
            false => MetricChoice::Primary,
        },
        invalid: match args.include_invalid {
            true => InvalidEntries::Include,
            false => InvalidEntries::Refuse,
        },
    })
}

fn against(sides: &[Side<'_>], baseline: usize, options: CompareOptions) -> Comparison {
    fn arm<'s>(side: &'s Side<'_>) -> Arm<'s> {
        Arm {
            label: &side.label,
            file: &side.loaded.file,
            system: side.system,
        }
    }
    let contenders: Vec<Arm<'_>> = sides
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != baseline)
        .map(|(_, side)| arm(side))
        .collect();
    compare_arms(arm(&sides[baseline]), &contenders, options)
}

/// A gate lets pass what is faster or the same. What nobody could tell is not a pass.
fn gate(comparisons: &[Comparison]) -> Exit {
    let mut exit = Exit::Good;
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    for contender in rows.flat_map(|row| &row.contenders) {
        match contender
            .comparison
            .as_ref()
            .map(|comparison| comparison.answer)
        {
            Some(Answer::Faster | Answer::Same) => {}
            Some(Answer::CannotTell { .. }) => exit = Exit::Partial,
            Some(Answer::Slower) | None => return Exit::Failed,
        }
    }
    let has_rows = comparisons
        .iter()
        .any(|comparison| !comparison.rows.is_empty());
    if has_rows { exit } else { Exit::Failed }
}
