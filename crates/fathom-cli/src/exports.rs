//! The formats results are exported to: one table for the command, its help and its completions.

use fathom_formats::csv::Rows;
use fathom_model::ResultFile;
use fathom_report::svg::Look;
use fathom_report::text::ShowOptions;

use crate::failure::Failure;

/// What an export gives.
pub enum Exported {
    /// One document.
    One(Vec<u8>),
    /// Several, by file name without extension.
    Many(Vec<(String, Vec<u8>)>),
}

/// A format results can be exported to.
pub struct ExportFormat {
    /// As typed: `html`.
    pub name: &'static str,
    /// Of its files, without the dot.
    pub extension: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// Makes it.
    pub write: fn(&ResultFile) -> Result<Exported, Failure>,
}

/// All formats. Of formats with one extension the first is meant by it.
pub const FORMATS: &[ExportFormat] = &[
    ExportFormat {
        name: "html",
        extension: "html",
        help: "a page in one file, with charts; complete without its script and without network",
        write: |file| one(fathom_report::html(file)),
    },
    ExportFormat {
        name: "pdf",
        extension: "pdf",
        help: "a document of A4 pages, with charts (builds with --features export)",
        write: paper::pdf,
    },
    ExportFormat {
        name: "png",
        extension: "png",
        help: "one bitmap a chart (builds with --features export)",
        write: paper::png,
    },
    ExportFormat {
        name: "svg",
        extension: "svg",
        help: "one picture a chart",
        write: |file| {
            let charts = fathom_report::svg::charts(file, Look::Screen).into_iter();
            let parts = charts.map(|chart| (chart.id, chart.svg.into_bytes()));
            Ok(Exported::Many(parts.collect()))
        },
    },
    ExportFormat {
        name: "text",
        extension: "txt",
        help: "what fathom show prints, 80 columns",
        write: |file| one(fathom_report::text::show(file, ShowOptions::default())),
    },
    ExportFormat {
        name: "markdown",
        extension: "md",
        help: "tables for issues, wikis and pull requests",
        write: |file| one(fathom_report::markdown(file)),
    },
    ExportFormat {
        name: "csv",
        extension: "csv",
        help: "one row a trial, every row complete",
        write: |file| one(fathom_formats::csv::write(file, Rows::Trials)),
    },
    ExportFormat {
        name: "csv-means",
        extension: "csv",
        help: "one row a system and result",
        write: |file| one(fathom_formats::csv::write(file, Rows::Entries)),
    },
    ExportFormat {
        name: "json",
        extension: "json",
        help: "Fathom's own result file",
        write: |file| one(fathom_formats::native::write(file)),
    },
    ExportFormat {
        name: "pts-xml",
        extension: "xml",
        help: "composite.xml of the Phoronix Test Suite",
        write: |file| one(fathom_formats::pts::write_xml(file)),
    },
    ExportFormat {
        name: "pts-text",
        extension: "txt",
        help: "as the Phoronix Test Suite prints a result, 80 columns",
        write: |file| one(fathom_report::text::pts(file, 80)),
    },
];

fn one(bytes: impl Into<Vec<u8>>) -> Result<Exported, Failure> {
    Ok(Exported::One(bytes.into()))
}

/// PDF and PNG, which take long to build and are left out unless asked for.
#[cfg(feature = "export")]
mod paper {
    use fathom_model::ResultFile;
    use fathom_report::export::ExportError;
    use fathom_report::svg::{Look, charts};

    use super::Exported;
    use crate::exit::Exit;
    use crate::failure::Failure;

    /// Pixels a unit: sharp on most screens.
    const SCALE: f32 = 2.0;

    pub fn pdf(file: &ResultFile) -> Result<Exported, Failure> {
        let bytes = fathom_report::export::pdf(file).map_err(failure)?;
        Ok(Exported::One(bytes))
    }

    pub fn png(file: &ResultFile) -> Result<Exported, Failure> {
        let charts = charts(file, Look::Print).into_iter();
        let drawn = charts.map(|chart| {
            let bytes = fathom_report::export::png(&chart, SCALE).map_err(failure)?;
            Ok((chart.id, bytes))
        });
        let parts: Result<Vec<_>, Failure> = drawn.collect();
        Ok(Exported::Many(parts?))
    }

    fn failure(error: ExportError) -> Failure {
        Failure::from_text(Exit::Failed, &error.to_string())
    }
}

#[cfg(not(feature = "export"))]
mod paper {
    use fathom_model::ResultFile;

    use super::Exported;
    use crate::failure::Failure;

    pub fn pdf(_: &ResultFile) -> Result<Exported, Failure> {
        Err(left_out("PDF"))
    }

    pub fn png(_: &ResultFile) -> Result<Exported, Failure> {
        Err(left_out("PNG"))
    }

    fn left_out(format: &str) -> Failure {
        Failure::unmet(format!("this build of Fathom writes no {format}"))
            .detail("build it with: cargo build --release --features export")
            .detail("HTML and SVG need no feature, and a browser prints HTML to PDF")
    }
}

/// A format by its name.
pub fn named(name: &str) -> Option<&'static ExportFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// A format by the extension of a file.
pub fn of_extension(extension: &str) -> Option<&'static ExportFormat> {
    let extension = extension.to_ascii_lowercase();
    FORMATS.iter().find(|format| format.extension == extension)
}

/// The values of `--format`, with their help.
pub fn possible_values() -> clap::builder::PossibleValuesParser {
    let value =
        |format: &ExportFormat| clap::builder::PossibleValue::new(format.name).help(format.help);
    FORMATS.iter().map(value).collect::<Vec<_>>().into()
}
