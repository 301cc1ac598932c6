//! Editing result files: each edit takes a file and gives a new one.

use std::collections::BTreeSet;

use super::join::{in_order, one_entry_a_run};
use super::systems::system_difference;
use crate::error::ModelError;
use crate::option::nearest;
use crate::result::{ResultFile, ResultRecord};

/// One change to a result file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Sets the title.
    Title(String),
    /// Sets the description.
    Description(String),
    /// Gives a system another name.
    RenameSystem {
        /// The name it has.
        from: String,
        /// The name it gets; must be free.
        to: String,
    },
    /// Makes two names of one machine one: the results of `from` become results of `into`.
    JoinSystems {
        /// The name that goes.
        from: String,
        /// The name that stays.
        into: String,
    },
    /// Removes a system and everything measured on it.
    DropSystem(String),
    /// Removes results by number (from 1, as shown).
    DropResults(BTreeSet<usize>),
    /// Puts systems in this order; those not named keep their order after them.
    OrderSystems(Vec<String>),
    /// Puts results in this order (numbers from 1, as shown); those not named keep their order
    /// after them.
    OrderResults(Vec<usize>),
}

/// Applies edits in order; all or, on an error, none.
///
/// # Errors
/// [`ModelError::Unknown`] for a system or result that is not there, [`ModelError::NameTaken`] for
/// a new name that is, [`ModelError::DifferentMachines`] when systems to join are not one machine.
pub fn edit(file: &ResultFile, edits: &[Edit]) -> Result<ResultFile, ModelError> {
    let mut edited = file.clone();
    for edit in edits {
        apply(&mut edited, edit)?;
    }
    Ok(edited)
}

fn apply(file: &mut ResultFile, edit: &Edit) -> Result<(), ModelError> {
    match edit {
        Edit::Title(title) => file.title.clone_from(title),
        Edit::Description(text) => file.description.clone_from(text),
        Edit::RenameSystem { from, to } => {
            find_system(file, from)?;
            if from != to && file.system(to).is_some() {
                return Err(ModelError::NameTaken { name: to.clone() });
            }
            rename(file, from, to);
        }
        Edit::JoinSystems { from, into } => join_systems(file, from, into)?,
        Edit::DropSystem(name) => drop_system(file, name)?,
        Edit::DropResults(numbers) => drop_results(file, numbers)?,
        Edit::OrderSystems(names) => order_systems(file, names)?,
        Edit::OrderResults(numbers) => order_results(file, numbers)?,
    }
    Ok(())
}

fn find_system(file: &ResultFile, name: &str) -> Result<usize, ModelError> {
    let names = || file.systems.iter().map(|system| system.identifier.as_str());
    names()
        .position(|known| known == name)
        .ok_or_else(|| ModelError::Unknown {
            kind: "system",
            name: name.to_owned(),
            nearest: nearest(name, names()),
        })
}

/// Numbers as people count them, as indices.
fn indices(file: &ResultFile, numbers: &[usize]) -> Result<Vec<usize>, ModelError> {
    let index = |number: &usize| {
        number
            .checked_sub(1)
            .filter(|index| *index < file.results.len())
            .ok_or_else(|| ModelError::Unknown {
                kind: "result",
                name: format!("{number} (there are {})", file.results.len()),
                nearest: None,
            })
    };
    numbers.iter().map(index).collect()
}

fn rename(file: &mut ResultFile, from: &str, to: &str) {
    let entries = file
        .results
        .iter_mut()
        .flat_map(|record| &mut record.entries);
    let names = file
        .systems
        .iter_mut()
        .map(|system| &mut system.identifier)
        .chain(entries.map(|entry| &mut entry.system))
        .chain(file.runs.iter_mut().map(|run| &mut run.system));
    for name in names {
        if *name == from {
            to.clone_into(name);
        }
    }
}

fn join_systems(file: &mut ResultFile, from: &str, into: &str) -> Result<(), ModelError> {
    let (gone, stays) = (find_system(file, from)?, find_system(file, into)?);
    if gone == stays {
        return Ok(());
    }
    let difference = system_difference(&file.systems[gone], &file.systems[stays]);
    if let Some(difference) = difference {
        return Err(ModelError::DifferentMachines {
            system: into.to_owned(),
            difference,
        });
    }
    file.systems.remove(gone);
    rename(file, from, into);
    pool_runs(file);
    file.rebuild();
    Ok(())
}

/// Runs of one case and system become one, their trials in the order they ran.
fn pool_runs(file: &mut ResultFile) {
    let mut pooled: Vec<crate::Run> = Vec::with_capacity(file.runs.len());
    for run in file.runs.drain(..) {
        let same = pooled
            .iter_mut()
            .find(|r| r.case == run.case && r.system == run.system);
        match same {
            Some(known) => {
                let is_new = |t: &crate::Trial| known.trials.iter().all(|k| k.id != t.id);
                let fresh: Vec<crate::Trial> = run.trials.into_iter().filter(is_new).collect();
                known.trials.extend(fresh);
                known.trials.sort_by(in_order);
                known.unavailable = known.unavailable.take().and(run.unavailable);
            }
            None => pooled.push(run),
        }
    }
    file.runs = pooled;
    one_entry_a_run(file);
}

fn drop_system(file: &mut ResultFile, name: &str) -> Result<(), ModelError> {
    let index = find_system(file, name)?;
    file.systems.remove(index);
    file.runs.retain(|run| run.system != name);
    for record in &mut file.results {
        record.entries.retain(|entry| entry.system != name);
    }
    file.results.retain(|record| !record.entries.is_empty());
    drop_unused(file);
    Ok(())
}

fn drop_results(file: &mut ResultFile, numbers: &BTreeSet<usize>) -> Result<(), ModelError> {
    let numbers: Vec<usize> = numbers.iter().copied().collect();
    let gone = indices(file, &numbers)?;
    let mut index = 0;
    file.results.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    drop_unused(file);
    Ok(())
}

/// Cases and runs that no result belongs to any more.
fn drop_unused(file: &mut ResultFile) {
    let used: BTreeSet<_> = file
        .results
        .iter()
        .map(|record| record.case.clone())
        .collect();
    file.cases.retain(|case| used.contains(&case.id));
    file.runs.retain(|run| used.contains(&run.case));
}

fn order_systems(file: &mut ResultFile, names: &[String]) -> Result<(), ModelError> {
    for name in names {
        find_system(file, name)?;
    }
    let rank = |name: &str| {
        names
            .iter()
            .position(|known| known == name)
            .unwrap_or(names.len())
    };
    file.systems.sort_by_key(|system| rank(&system.identifier));
    for system in &mut file.systems {
        system.position = None;
    }
    for record in &mut file.results {
        record.entries.sort_by_key(|entry| rank(&entry.system));
    }
    Ok(())
}

fn order_results(file: &mut ResultFile, numbers: &[usize]) -> Result<(), ModelError> {
    let order = indices(file, numbers)?;
    let mut numbered: Vec<(usize, ResultRecord)> = file.results.drain(..).enumerate().collect();
    numbered.sort_by_key(|(index, _)| {
        order
            .iter()
            .position(|wanted| wanted == index)
            .unwrap_or(order.len())
    });
    file.results = numbered
        .into_iter()
        .map(|(_, record)| ResultRecord {
            position: None,
            ..record
        })
        .collect();
    Ok(())
}
