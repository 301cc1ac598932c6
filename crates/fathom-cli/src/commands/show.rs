//! `fathom show` and `fathom explain`.

use fathom_model::ResultFile;
use fathom_report::text::ShowOptions;
use fathom_store::Store;

use crate::args::{ExplainArgs, ShowArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::{Look, Printer};
use crate::results;
use crate::settings::Settings;

/// Shows a result.
pub fn show(args: &ShowArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let loaded = results::load(&store, &args.result)?;
    if args.sensors {
        printer.data(&fathom_report::text::sensors(&loaded.file))?;
        return Ok(Exit::Good);
    }
    if let Some(factor) = &args.by {
        let text = fathom_report::by_factor(&loaded.file, factor, options(settings.look))
            .map_err(|error| Failure::from_text(Exit::Usage, &error.to_string()))?;
        printer.data(&text)?;
        return Ok(Exit::Good);
    }
    match (args.json, args.pts_summary) {
        (true, _) => printer.bytes(&fathom_formats::native::write(&loaded.file))?,
        (_, true) => printer.data(&pts_summary(&loaded.file, settings.look))?,
        _ => printer.data(&fathom_report::text::show(
            &loaded.file,
            options(settings.look),
        ))?,
    }
    loaded.leave();
    Ok(Exit::Good)
}

/// Wins, losses and means, then the sentences, as the Phoronix Test Suite prints them.
pub fn pts_summary(file: &ResultFile, look: Look) -> String {
    let mut text = fathom_report::text::pts_stats(file, look.columns);
    text.push_str(&fathom_report::text::pts_executive_summary(file));
    text
}

/// Says why results are suspect or invalid.
pub fn explain(
    args: &ExplainArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let loaded = results::load(&store, &args.result)?;
    printer.data(&fathom_report::explain(&loaded.file))?;
    Ok(Exit::Good)
}

/// How reports may look.
pub fn options(look: Look) -> ShowOptions {
    ShowOptions {
        width: look.columns,
        color: look.color,
    }
}
