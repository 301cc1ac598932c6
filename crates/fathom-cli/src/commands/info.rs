//! `fathom info`.

use fathom_model::{Test, TestInfo, nearest};
use fathom_profiles::profile::Profile;
use fathom_runner::suite::Suite;

use crate::args::InfoArgs;
use crate::describe;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::registry;
use crate::settings::Settings;

/// Explains a test or a suite.
pub fn info(args: &InfoArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let file = registry::profile_file(&args.name);
    let known = registry::tests(settings, file.as_slice())?;
    let registry = known.registry;
    let name = match &file {
        Some(file) => Profile::read(file)?.id,
        None => args.name.clone(),
    };
    let tests = registry.named(&name);
    if !tests.is_empty() {
        let infos: Vec<TestInfo> = tests.into_iter().map(Test::info).collect();
        match args.json {
            true => printer.json(&infos)?,
            false => printer.data(&describe::test_text(&infos, settings.look.columns))?,
        }
        return Ok(Exit::Good);
    }
    if let Some((_, error)) = known
        .profiles
        .broken()
        .find(|(broken, _)| *broken == args.name)
    {
        return Err(Failure::from_text(Exit::Usage, &error.to_string()));
    }
    let suites = registry::suites(settings.suites.as_deref())?;
    if suites.has(&args.name) {
        let suite = suites.take(&args.name)?;
        printer.data(&suite_text(&suite, settings.look.columns))?;
        return Ok(Exit::Good);
    }
    let known = suites.iter().map(|suite| suite.name.as_str());
    let known = known.chain(registry.names());
    let failure = Failure::usage(format!("there is no test and no suite named {}", args.name));
    Err(failure
        .nearest(nearest(&args.name, known).as_deref())
        .detail("fathom list tests and fathom list suites show them"))
}

fn suite_text(suite: &Suite, columns: usize) -> String {
    let mut text = format!("{}: {}\n", suite.name, suite.title);
    text.push_str(&describe::wrapped(&suite.description, 2, columns));
    text.push_str("\nrows (several values give a case each)\n");
    for case in &suite.cases {
        let options: Vec<String> = case
            .options
            .iter()
            .map(|option| format!("{}={}", option.name, option.values.join(",")))
            .collect();
        let how = case
            .implementation
            .map_or_else(String::new, |kind| format!(" ({})", kind.name()));
        let line = format!("{}{how} {}", case.test, options.join(" "));
        text.push_str(&format!("  {}\n", case.label));
        text.push_str(&describe::wrapped(&line, 6, columns));
        if !case.reason.is_empty() {
            let line = format!("not available: {}", case.reason);
            text.push_str(&describe::wrapped(&line, 6, columns));
        }
    }
    text
}
