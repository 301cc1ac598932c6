//! `fathom new-test` and `fathom check-test`.

use std::path::PathBuf;

use fathom_base::files::{read_text_limited, write_atomic};
use fathom_model::{Case, Options, Test};
use fathom_profiles::profile::Profile;
use fathom_profiles::{ProfileTest, new_profile};

use crate::args::{CheckTestArgs, NewTestArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

/// The largest saved log that is read.
const LOG_LIMIT: u64 = 256 << 20;

/// Writes a commented profile, which is one that works.
pub fn new_test(
    args: &NewTestArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let text = new_profile(&args.name)?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => own_file(&args.name, settings)?,
    };
    if path.exists() {
        let what = format!("{} exists already", path.display());
        return Err(
            Failure::usage(what).detail("choose another name, or another file with --output")
        );
    }
    write_atomic(&path, text.as_bytes())?;
    let shown = path.display();
    let name = match &args.output {
        Some(_) => shown.to_string(),
        None => args.name.clone(),
    };
    printer.words(&format!(
        "wrote {shown}: change it, then\n  fathom check-test {shown}\n  fathom run {name} --trust"
    ));
    Ok(Exit::Good)
}

fn own_file(name: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    let directory = settings.profiles.as_ref().ok_or_else(|| {
        Failure::unmet("there is no directory for your own profiles: HOME is not set")
            .detail("name a file with --output")
    })?;
    Ok(directory.join(format!("{name}.toml")))
}

/// Says what is wrong with a profile; when nothing is, what it would run, and what it finds in a
/// saved log.
pub fn check_test(
    args: &CheckTestArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let profile = std::sync::Arc::new(Profile::read(&args.file)?);
    let tests = ProfileTest::of(&profile, &settings.search_path);
    let typed: Options = args
        .options
        .iter()
        .map(|option| (option.name.clone(), option.values.join(",")))
        .collect();
    let Some(test) = tests.first() else {
        return Err(Failure::usage("the profile has nothing to run"));
    };
    let case = Case::resolve(&test.info(), &typed, "")?;
    let mut text = format!("{}: {}\n", profile.id, profile.title);
    for line in profile.commands() {
        text.push_str(&format!("  {line}\n"));
    }
    let metrics = test.metrics(&case);
    let Some(log) = &args.log else {
        text.push_str("metrics\n");
        for metric in metrics {
            let primary = if metric.is_primary { " (primary)" } else { "" };
            text.push_str(&format!("  {} {}{primary}\n", metric.id, metric.unit));
        }
        printer.data(&text)?;
        return Ok(Exit::Good);
    };
    let log = read_text_limited(log, LOG_LIMIT)?;
    let mut exit = Exit::Good;
    text.push_str("in the log\n");
    for (metric, found) in profile.read_log(&case, &log) {
        let said = match found {
            Ok(figure) => format!("{figure} {}", metric.unit),
            Err(what) => {
                exit = Exit::Failed;
                format!("missing: {what}")
            }
        };
        text.push_str(&format!("  {}: {}\n", metric.id, said.trim_end()));
    }
    printer.data(&text)?;
    Ok(exit)
}
