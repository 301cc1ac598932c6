//! A matrix from its first configuration to its result.

use std::path::{Path, PathBuf};

use fathom_base::{WallTime, seed_for};
use fathom_model::ResultFile;
use fathom_model::merge::{Edit, edit, merge};
use fathom_store::{ResultName, Store};
use fathom_system::Root;

use crate::configuration::Configuration;
use crate::devices::Found;
use crate::error::MatrixError;
use crate::file::MatrixFile;
use crate::make::Maker;
use crate::order::block_order;
use crate::sensors::add_temperatures;
use crate::support::{lacking, prepare_kernel};
use crate::tools::Tools;
use crate::undo::undo_all;
use crate::workspace::{Begun, Workspace};

/// What measures a configuration once it is mounted.
pub trait Bench {
    /// Measures it and saves the result of the cell in its store, going on with what an earlier
    /// session has begun there.
    ///
    /// # Errors
    /// In words, when the matrix cannot go on.
    fn measure(&mut self, cell: &Cell<'_>) -> Result<CellEnd, String>;

    /// Saves a result that says of every case why it could not be measured.
    ///
    /// # Errors
    /// In words, when it cannot be saved.
    fn unavailable(&mut self, cell: &Cell<'_>, reason: &str) -> Result<(), String>;

    /// Tells the user what happens.
    fn say(&mut self, text: &str);

    /// Whether the user stopped it.
    fn is_stopped(&self) -> bool;
}

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellEnd {
    /// Everything was tried; failed trials included.
    Done,
    /// The user stopped it.
    Stopped,
}

/// One configuration in one block.
pub struct Cell<'a> {
    /// The matrix.
    pub file: &'a MatrixFile,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// From 1.
    pub block: u32,
    /// The name of its result.
    pub name: ResultName,
    /// Where its result and its journal go.
    pub store: &'a Store,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Everything random in it comes from this.
    pub seed: u64,
}

/// What a session needs besides the file.
pub struct Settings<'a> {
    /// The machine.
    pub root: &'a Root,
    /// The data directory.
    pub data: &'a Path,
    /// Programs.
    pub tools: &'a Tools,
    /// The drives, found.
    pub found: &'a [Found],
    /// Serial numbers of drives that may be overwritten.
    pub consents: &'a [String],
    /// Now.
    pub now: WallTime,
    /// Version of Fathom.
    pub version: &'a str,
    /// The seed of a matrix that is begun without one.
    pub drawn_seed: u64,
}

/// What came of a matrix.
#[derive(Debug, Default)]
pub struct MatrixEnd {
    /// The user stopped it.
    pub is_stopped: bool,
    /// Configurations that cannot be built here.
    pub unavailable: usize,
    /// Cells that were measured, in this session and before.
    pub measured: usize,
    /// All of them.
    pub cells: usize,
    /// Cells whose configuration was built before and could not be again.
    pub failed: usize,
    /// The name the result was saved under.
    pub saved_as: Option<ResultName>,
    /// The result, when all was done.
    pub result: Option<ResultFile>,
}

/// A matrix under way.
pub struct Session<'a> {
    settings: Settings<'a>,
    file: &'a MatrixFile,
    configurations: &'a [Configuration],
    workspace: Workspace,
    /// Where loop files are.
    files: PathBuf,
    seed: u64,
    end: MatrixEnd,
}

impl<'a> Session<'a> {
    /// Begins a matrix or takes it up again; what a killed session left is undone first.
    ///
    /// # Errors
    /// [`MatrixError::Changed`] when it was begun with another file.
    pub fn open(
        settings: Settings<'a>,
        file: &'a MatrixFile,
        configurations: &'a [Configuration],
        bench: &mut dyn Bench,
    ) -> Result<Self, MatrixError> {
        let mut workspace = Workspace::open(settings.root, settings.data, &file.name)?;
        for text in undo_all(settings.root, settings.tools, &mut workspace.journal)? {
            bench.say(&text);
        }
        let seed = match workspace.begun() {
            Some(begun) if begun.text != file.text => {
                let name = file.name.clone();
                return Err(MatrixError::Changed { name });
            }
            Some(begun) => begun.seed,
            None => {
                let seed = file.seed.unwrap_or(settings.drawn_seed);
                workspace.journal.begin(Begun {
                    name: file.name.clone(),
                    text: file.text.clone(),
                    seed,
                    started: settings.now,
                    version: settings.version.to_owned(),
                })?;
                seed
            }
        };
        Ok(Self {
            settings,
            file,
            configurations,
            files: workspace.files(),
            workspace,
            seed,
            end: MatrixEnd::default(),
        })
    }

    /// Carries out what is not done yet; saves the result in `store` when everything is.
    ///
    /// # Errors
    /// [`MatrixError`] when it cannot go on; what was made is undone, what was measured is kept,
    /// and the next start goes on.
    pub fn run(mut self, store: &Store, bench: &mut dyn Bench) -> Result<MatrixEnd, MatrixError> {
        if let Some(name) = self.saved(store) {
            self.end.result = Some(store.load(&name)?);
            self.end.saved_as = Some(name);
            self.workspace.remove(self.settings.root)?;
            return Ok(self.end);
        }
        let blocks = self.file.blocks;
        self.end.cells = self.configurations.len() * blocks as usize;
        for block in 1..=blocks {
            for number in block_order(self.seed, block, self.configurations.len()) {
                if bench.is_stopped() {
                    self.end.is_stopped = true;
                    return Ok(self.end);
                }
                self.cell(block, number, bench)?;
            }
        }
        if self.end.is_stopped {
            return Ok(self.end);
        }
        self.finish(store)
    }

    /// The result, when an earlier session was killed between saving it and its own end.
    fn saved(&self, store: &Store) -> Option<ResultName> {
        let name = self.workspace.journal.state.saving.as_ref()?;
        let name = ResultName::new(name).ok()?;
        store.has(&name).then_some(name)
    }

    fn cell(
        &mut self,
        block: u32,
        number: usize,
        bench: &mut dyn Bench,
    ) -> Result<(), MatrixError> {
        let cells = self.workspace.cells();
        let configuration = &self.configurations[number];
        let name = cell_name(block, number)?;
        if is_done(&cells, &name)? {
            return self.count(&cells, &name, block);
        }
        if block > 1 && self.is_unavailable(&cells, number)? {
            return Ok(());
        }
        let cell = Cell {
            file: self.file,
            configuration,
            block,
            store: &cells,
            point: self.workspace.point(number),
            seed: seed_for(self.seed, &format!("matrix/cell/{block}/{number}")),
            name: name.clone(),
        };
        let (root, tools) = (self.settings.root, self.settings.tools);
        if let Some(reason) = lacking(root, tools, configuration) {
            return self.without(&cell, &reason, bench);
        }
        bench.say(&format!(
            "block {block} of {}: {}",
            self.file.blocks, configuration.identifier
        ));
        prepare_kernel(root, tools, configuration);
        let built = Maker {
            root,
            tools,
            journal: &mut self.workspace.journal,
            file: self.file,
            found: self.settings.found,
            consents: self.settings.consents,
            files: self.files.clone(),
            point: cell.point.clone(),
        }
        .build(configuration);
        let measured = built.and_then(|()| bench.measure(&cell).map_err(MatrixError::Bench));
        for text in undo_all(root, tools, &mut self.workspace.journal)? {
            if !text.starts_with("undid ") && !text.starts_with("wiped ") {
                bench.say(&text);
            }
        }
        match measured {
            Ok(CellEnd::Done) => self.count(&cells, &name, block),
            Ok(CellEnd::Stopped) => {
                self.end.is_stopped = true;
                Ok(())
            }
            Err(error @ MatrixError::Tool { .. }) => self.without(&cell, &error.to_string(), bench),
            Err(error) => Err(error),
        }
    }

    /// A configuration that cannot be built: an entry that says so, unless it was measured before.
    fn without(
        &mut self,
        cell: &Cell<'_>,
        reason: &str,
        bench: &mut dyn Bench,
    ) -> Result<(), MatrixError> {
        let identifier = &cell.configuration.identifier;
        bench.say(&format!("{identifier}: cannot be built: {reason}"));
        if cell.block > 1 {
            self.end.failed += 1;
            return Ok(());
        }
        bench
            .unavailable(cell, reason)
            .map_err(MatrixError::Bench)?;
        self.end.unavailable += 1;
        Ok(())
    }

    fn count(&mut self, cells: &Store, name: &ResultName, block: u32) -> Result<(), MatrixError> {
        match block == 1 && has_nothing(&cells.load(name)?) {
            true => self.end.unavailable += 1,
            false => self.end.measured += 1,
        }
        Ok(())
    }

    /// Whether its first cell says that it cannot be built.
    fn is_unavailable(&self, cells: &Store, number: usize) -> Result<bool, MatrixError> {
        let first = cell_name(1, number)?;
        Ok(cells.has(&first) && has_nothing(&cells.load(&first)?))
    }

    /// One result of all cells, its systems in the order of the file.
    fn finish(mut self, store: &Store) -> Result<MatrixEnd, MatrixError> {
        let cells = self.workspace.cells();
        let mut files = Vec::new();
        for number in 0..self.configurations.len() {
            for block in 1..=self.file.blocks {
                let name = cell_name(block, number)?;
                if cells.has(&name) {
                    files.push(cells.load(&name)?);
                }
            }
        }
        let result = self.put_together(&files)?;
        let wanted = ResultName::new(&self.file.name)
            .map_err(|error| MatrixError::Bench(error.to_string()))?;
        let name = match &self.workspace.journal.state.saving {
            Some(name) => ResultName::new(name).unwrap_or(wanted),
            None => {
                let name = store.fresh_name(&wanted)?;
                self.workspace.journal.saving(name.as_str())?;
                name
            }
        };
        store.save_as(&name, &result)?;
        self.workspace.remove(self.settings.root)?;
        self.end.saved_as = Some(name);
        self.end.result = Some(result);
        Ok(self.end)
    }

    fn put_together(&self, files: &[ResultFile]) -> Result<ResultFile, MatrixError> {
        let mut result = merge(&files.iter().collect::<Vec<_>>())?;
        let order = self.configurations.iter();
        let order: Vec<String> = order
            .map(|configuration| configuration.identifier.clone())
            .filter(|name| result.system(name).is_some())
            .collect();
        result = edit(&result, &[Edit::OrderSystems(order)])?;
        add_temperatures(&mut result);
        result.title.clone_from(&self.file.title);
        result.description.clone_from(&self.file.description);
        result.modified = Some(self.settings.now);
        Ok(result)
    }
}

/// Nothing in it could run.
fn has_nothing(file: &ResultFile) -> bool {
    !file.runs.is_empty() && file.runs.iter().all(|run| run.trials.is_empty())
}

fn cell_name(block: u32, number: usize) -> Result<ResultName, MatrixError> {
    let name = format!("b{block:03}-c{:03}", number + 1);
    ResultName::new(&name).map_err(|error| MatrixError::Bench(error.to_string()))
}

/// Saved whole: what an unfinished run saved is gone on with.
fn is_done(cells: &Store, name: &ResultName) -> Result<bool, MatrixError> {
    if !cells.has(name) {
        return Ok(false);
    }
    let runs = cells.runs()?;
    Ok(!runs.iter().any(|run| run.name == name.as_str()))
}

/// What was cleaned up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Names of the matrices that were looked at.
    pub matrices: Vec<String>,
    /// What was undone, in words.
    pub undone: Vec<String>,
}

/// Undoes what killed sessions left, of all matrices; with `Discard::Measured` what they measured
/// goes, too, and they cannot be gone on with.
///
/// # Errors
/// The first that cannot be cleaned up, after all others were.
pub fn clean(
    root: &Root,
    data: &Path,
    tools: &Tools,
    discard: Discard,
) -> Result<Cleaned, MatrixError> {
    let mut cleaned = Cleaned::default();
    let mut failed = None;
    for name in Workspace::unfinished(data) {
        let done = Workspace::open(root, data, &name).and_then(|mut workspace| {
            let undone = undo_all(root, tools, &mut workspace.journal)?;
            if discard == Discard::Measured || workspace.begun().is_none() {
                workspace.remove(root)?;
            }
            Ok(undone)
        });
        match done {
            Ok(undone) => {
                cleaned.undone.extend(undone);
                cleaned.matrices.push(name);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(cleaned),
    }
}

/// What cleaning up does with what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// It stays, to be gone on with.
    Nothing,
    /// It goes.
    Measured,
}
