//! `fathom import`, `fathom merge` and `fathom edit`: results into results.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_model::ResultFile;
use fathom_model::merge::{Edit, edit, merge};
use fathom_store::{ResultName, Store};

use crate::args::{EditArgs, ImportArgs, MergeArgs, Pair};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::results::{self, Loaded};
use crate::settings::Settings;

/// Warnings of an imported file that are shown; the rest is in the result.
const WARNINGS_LIMIT: usize = 10;

/// Saves files of any known format as results.
pub fn import(args: &ImportArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    if args.name.is_some() && args.files.len() > 1 {
        return Err(
            Failure::usage("--name names one result, and several files are given")
                .detail("import them one by one, or leave --name out"),
        );
    }
    let store = Store::new(settings.data()?);
    let mut failed: Option<Failure> = None;
    for path in &args.files {
        match import_one(path, args.name.as_deref(), &store, printer) {
            Ok(()) => {}
            Err(failure) if args.files.len() == 1 => return Err(failure),
            Err(failure) => {
                printer.words(&failure.to_string());
                failed = Some(failure);
            }
        }
    }
    Ok(failed.map_or(Exit::Good, |failure| failure.exit))
}

fn import_one(
    path: &Path,
    name: Option<&str>,
    store: &Store,
    printer: &Printer,
) -> Result<(), Failure> {
    let loaded = results::from_file(path)?;
    let name = match name {
        Some(name) => {
            let name = ResultName::new(name)?;
            store.save_as(&name, &loaded.file)?;
            name
        }
        None => store.save_new(&name_of(path, &loaded.file), &loaded.file)?,
    };
    let origin = loaded.file.origin.as_deref();
    let warnings = origin.map_or(&[][..], |origin| &origin.warnings);
    for warning in warnings.iter().take(WARNINGS_LIMIT) {
        printer.words(&format!("warning: {}: {}", warning.place, warning.text));
    }
    if warnings.len() > WARNINGS_LIMIT {
        let rest = warnings.len() - WARNINGS_LIMIT;
        printer.words(&format!("and {rest} more warnings; they are in the result"));
    }
    printer.words(&format!("saved as {name}   fathom show {name}"));
    loaded.leave();
    Ok(())
}

/// The file's own name; files called `composite` (as all of the Phoronix Test Suite's are) are named
/// by their directory, else by their title.
fn name_of(path: &Path, file: &ResultFile) -> ResultName {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let directory = path.parent().and_then(Path::file_name);
    let directory = directory.map(|name| name.to_string_lossy().into_owned());
    let candidates = match &*stem {
        "composite" => vec![directory.unwrap_or_default(), file.title.clone()],
        stem => vec![stem.to_owned(), file.title.clone()],
    };
    candidates
        .iter()
        .find_map(|text| ResultName::from_words(text))
        .or_else(|| ResultName::from_words("imported"))
        .unwrap_or_else(|| unreachable!("\"imported\" is a name"))
}

/// Joins results into a new one.
pub fn join(args: &MergeArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let loaded: Result<Vec<Loaded>, Failure> = args
        .results
        .iter()
        .map(|text| results::load(&store, text))
        .collect();
    let loaded = loaded?;
    let files: Vec<&ResultFile> = loaded.iter().map(|loaded| &loaded.file).collect();
    let mut merged = merge(&files)?;
    if let Some(title) = &args.title {
        merged.title.clone_from(title);
    }
    let name = ResultName::new(&args.name)?;
    store.save_as(&name, &merged)?;
    printer.words(&format!(
        "saved as {name}: {} systems, {} results   fathom show {name}",
        merged.systems.len(),
        merged.results.len()
    ));
    // The process ends; see `Loaded::leave`.
    std::mem::forget(merged);
    loaded.into_iter().for_each(Loaded::leave);
    Ok(Exit::Good)
}

/// Changes a saved result; what it was is kept.
pub fn change(args: &EditArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let name = store.resolve(&args.result)?;
    if args.undo {
        store.undo(&name)?;
        let left = store.undo_count(&name)?;
        printer.words(&format!(
            "{name} is as before; {left} more changes can be undone"
        ));
        return Ok(Exit::Good);
    }
    if args.delete {
        store.delete(&name)?;
        printer.words(&format!(
            "{name} is deleted; fathom edit {name} --undo brings it back"
        ));
        return Ok(Exit::Good);
    }
    let edits = edits(args);
    if edits.is_empty() && args.rename.is_none() {
        return Err(Failure::usage("nothing to change was named")
            .detail("fathom edit --help lists what can be changed"));
    }
    if !edits.is_empty() {
        let changed = edit(&store.load(&name)?, &edits)?;
        store.save_with_history(&name, &changed)?;
        printer.words(&format!(
            "{name} is changed; fathom edit {name} --undo takes it back"
        ));
    }
    if let Some(new) = &args.rename {
        let new = ResultName::new(new)?;
        store.rename(&name, &new)?;
        printer.words(&format!("{name} is now {new}"));
    }
    Ok(Exit::Good)
}

fn edits(args: &EditArgs) -> Vec<Edit> {
    let mut edits = Vec::new();
    edits.extend(args.title.clone().map(Edit::Title));
    edits.extend(args.description.clone().map(Edit::Description));
    let renamed = args.rename_system.iter().cloned();
    edits.extend(renamed.map(|Pair { from, to }| Edit::RenameSystem { from, to }));
    let joined = args.join_systems.iter().cloned();
    edits.extend(joined.map(|Pair { from, to: into }| Edit::JoinSystems { from, into }));
    edits.extend(args.drop_system.iter().cloned().map(Edit::DropSystem));
    if !args.drop_result.is_empty() {
        let numbers: BTreeSet<usize> = args.drop_result.iter().copied().collect();
        edits.push(Edit::DropResults(numbers));
    }
    if !args.order_systems.is_empty() {
        edits.push(Edit::OrderSystems(args.order_systems.clone()));
    }
    if !args.order_results.is_empty() {
        edits.push(Edit::OrderResults(args.order_results.clone()));
    }
    edits
}
