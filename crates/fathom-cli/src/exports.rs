//! The formats results are exported to: one table for the command, its help and its completions.

use fathom_model::ResultFile;
use fathom_report::svg::Look;

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
    pub write: fn(&ResultFile) -> Exported,
}

/// All formats.
pub const FORMATS: &[ExportFormat] = &[
    ExportFormat {
        name: "html",
        extension: "html",
        help: "a page in one file, with charts; complete without its script and without network",
        write: |file| Exported::One(fathom_report::html(file).into_bytes()),
    },
    ExportFormat {
        name: "svg",
        extension: "svg",
        help: "one picture a chart",
        write: |file| {
            let charts = fathom_report::svg::charts(file, Look::Screen).into_iter();
            Exported::Many(
                charts
                    .map(|chart| (chart.id, chart.svg.into_bytes()))
                    .collect(),
            )
        },
    },
    ExportFormat {
        name: "text",
        extension: "txt",
        help: "what fathom show prints, 80 columns",
        write: |file| {
            let options = fathom_report::text::ShowOptions::default();
            Exported::One(fathom_report::text::show(file, options).into_bytes())
        },
    },
    ExportFormat {
        name: "json",
        extension: "json",
        help: "Fathom's own result file",
        write: |file| Exported::One(fathom_formats::native::write(file)),
    },
    ExportFormat {
        name: "pts-xml",
        extension: "xml",
        help: "composite.xml of the Phoronix Test Suite",
        write: |file| Exported::One(fathom_formats::pts::write_xml(file)),
    },
];

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
