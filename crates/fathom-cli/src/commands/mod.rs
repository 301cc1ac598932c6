//! The commands: each takes settings and a printer and gives an exit code.

use crate::args::Command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

mod change;
mod compare;
mod doctor;
mod export;
mod info;
mod list;
mod matrix;
mod profile;
mod reference;
mod run;
mod show;
mod system;

/// Runs a command.
///
/// # Errors
/// A [`Failure`] with the words and the exit code.
pub fn dispatch(command: Command, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(&args, settings, printer),
        Command::Knee(args) => run::knee(&args, settings, printer),
        Command::Resume(args) => run::resume(&args, settings, printer),
        Command::List(args) => list::list(&args, settings, printer),
        Command::Info(args) => info::info(&args, settings, printer),
        Command::Show(args) => show::show(&args, settings, printer),
        Command::Explain(args) => show::explain(&args, settings, printer),
        Command::Compare(args) => compare::compare(&args, settings, printer),
        Command::Export(args) => export::export(&args, settings, printer),
        Command::Import(args) => change::import(&args, settings, printer),
        Command::Merge(args) => change::join(&args, settings, printer),
        Command::Edit(args) => change::change(&args, settings, printer),
        Command::Matrix(args) => matrix::matrix(&args, settings, printer),
        Command::NewTest(args) => profile::new_test(&args, settings, printer),
        Command::CheckTest(args) => profile::check_test(&args, settings, printer),
        Command::System(args) => system::system(&args, settings, printer),
        Command::Doctor(args) => doctor::run(&args, settings, printer),
        Command::Completions { shell } => reference::completions(shell, printer),
        Command::Man { command } => reference::man(command.as_deref(), printer),
        Command::Reference { page } => reference::page(page, settings, printer),
    }
}
