//! `fathom export`.

use std::path::Path;

use fathom_base::files::write_atomic;
use fathom_model::{ResultFile, nearest};
use fathom_report::svg::Look;
use fathom_store::Store;

use crate::args::ExportArgs;
use crate::exit::Exit;
use crate::exports::{self, ExportFormat, Exported};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::results;
use crate::settings::Settings;

/// Writes a result in another format.
pub fn export(args: &ExportArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let format = format(args)?;
    let store = Store::new(settings.data()?);
    let loaded = results::load(&store, &args.result)?;
    if let Some(factor) = &args.by {
        return by_factor(args, factor, format, &loaded.file, printer);
    }
    match ((format.write)(&loaded.file)?, &args.output) {
        (Exported::One(bytes), None) => printer.bytes(&bytes)?,
        (Exported::One(bytes), Some(path)) => write(path, &bytes, printer)?,
        (Exported::Many(parts), output) => many(args, format, parts, output.as_deref(), printer)?,
    }
    loaded.leave();
    Ok(Exit::Good)
}

/// The charts of a factor.
fn by_factor(
    args: &ExportArgs,
    factor: &str,
    format: &ExportFormat,
    file: &ResultFile,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if format.name != "svg" {
        let what = format!("--by gives charts, and the format is {}", format.name);
        return Err(Failure::usage(what).detail("expected --format svg"));
    }
    let charts = fathom_report::factor_charts(file, factor, Look::Screen)
        .map_err(|error| Failure::from_text(Exit::Usage, &error.to_string()))?;
    let parts = charts.into_iter();
    let parts = parts
        .map(|chart| (chart.id, chart.svg.into_bytes()))
        .collect();
    many(args, format, parts, args.output.as_deref(), printer)?;
    Ok(Exit::Good)
}

/// The format that was named, else the one of the output's extension.
fn format(args: &ExportArgs) -> Result<&'static ExportFormat, Failure> {
    if let Some(named) = args.format.as_deref().and_then(exports::named) {
        return Ok(named);
    }
    let extension = args.output.as_deref().and_then(Path::extension);
    let extension = extension.unwrap_or_default().to_string_lossy();
    exports::of_extension(&extension).ok_or_else(|| {
        let names: Vec<&str> = exports::FORMATS.iter().map(|format| format.name).collect();
        Failure::usage("the format is not said")
            .detail(format!("name one with --format: {}", names.join(", ")))
    })
}

/// Several documents: one that was named, or all of them into a directory.
fn many(
    args: &ExportArgs,
    format: &ExportFormat,
    parts: Vec<(String, Vec<u8>)>,
    output: Option<&Path>,
    printer: &Printer,
) -> Result<(), Failure> {
    if let Some(wanted) = &args.chart {
        let Some((_, bytes)) = parts.iter().find(|(id, _)| id == wanted) else {
            let ids = parts.iter().map(|(id, _)| id.as_str());
            let failure = Failure::usage(format!("there is no chart {wanted} in this result"));
            return Err(failure
                .nearest(nearest(wanted, ids).as_deref())
                .detail(listed(&parts)));
        };
        return match output {
            Some(path) => write(path, bytes, printer),
            None => printer.bytes(bytes),
        };
    }
    let Some(directory) = output else {
        let what = format!("{} gives several files", format.name);
        return Err(Failure::usage(what)
            .detail("name a directory with --output DIR, or one of them with --chart ID")
            .detail(listed(&parts)));
    };
    for (id, bytes) in &parts {
        let path = directory.join(id).with_extension(format.extension);
        write_atomic(&path, bytes)?;
    }
    let count = parts.len();
    printer.words(&format!("wrote {count} files to {}", directory.display()));
    Ok(())
}

fn listed(parts: &[(String, Vec<u8>)]) -> String {
    let ids: Vec<&str> = parts.iter().map(|(id, _)| id.as_str()).collect();
    format!("charts: {}", ids.join(", "))
}

fn write(path: &Path, bytes: &[u8], printer: &Printer) -> Result<(), Failure> {
    write_atomic(path, bytes)?;
    printer.words(&format!("wrote {}", path.display()));
    Ok(())
}
