//! The text layer of a result page (HTML or PDF export of OpenBenchmarking.org): everything a
//! person sees, with nothing between one label or number and the next.
//!
//! What can be told apart, and how:
//! - the watermark `OpenBenchmarking.org` ends every table and begins every chart;
//! - system names stand alone in the notes (`- NAME: text`); strung together they are the heading
//!   of both tables and, in their own order, the names of every chart;
//! - a chart repeats title and options of the heading above it;
//! - numbers follow each other without a mark. The places where one ends are those on which the
//!   chart (all systems of a test), the overview table (all tests of a system), the axis (its
//!   labels follow from the largest value) and, for IOPS, the bandwidth of the same run agree.
//!
//! A value on which they agree in one way only is certain; otherwise the likeliest is taken and
//! the entry says that it is a guess. How many are which is counted in the origin's facts. Standard errors of a chart that has fewer of them than
//! systems are kept with the result unless the sibling metric tells whose they are.

mod axis;
mod chart;
mod head;
mod numbers;
mod overview;
mod table;
mod table_cells;
#[cfg(test)]
mod tests;

use fathom_model::{Generator, Origin, ResultFile, System};

use super::draft::{Draft, finish};
use crate::warnings::Warnings;
use crate::{Format, FormatError, Place};

/// The mark between tables and charts.
const MARK: &str = "OpenBenchmarking.org";
/// Fact of the origin: how many values were read and how many are uncertain, how many charts there
/// are and how many axes follow from their values.
const READING: &str = "reading";
/// Longest page that is read; real ones have some ten kilobytes.
const MAX_PAGE: usize = 1 << 20;

/// Reads the text layer of a result page.
///
/// # Errors
/// [`FormatError::Syntax`] with what was looked for and not found, [`FormatError::Unsupported`]
/// when nothing in the page tells the names of its systems apart, [`FormatError::Limit`] over
/// 1 MiB.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    if bytes.len() > MAX_PAGE {
        return Err(FormatError::Limit {
            what: "size of a page text in bytes",
            found: bytes.len() as u64,
            limit: MAX_PAGE as u64,
        });
    }
    let (text, encoding_warning) = crate::text::decode(bytes);
    let text = crate::text::without_ansi(&text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut warnings = Warnings::default();
    if let Some(warning) = encoding_warning {
        warnings.add("whole file", warning);
    }
    let page = head::split(&text)?;
    let names = table::names(&page)?;
    let mut systems: Vec<System> = names
        .iter()
        .map(|name| System {
            identifier: (*name).to_owned(),
            ..System::default()
        })
        .collect();
    table::read(&page, &mut systems, &mut warnings);
    let mut charts = chart::read(&page, &names, &mut warnings);
    if charts.is_empty() {
        return Err(syntax("no chart found behind the tables"));
    }
    let rows = overview::rows(page.overview, page.title, &names, &charts);
    if rows.is_none() {
        let text = "the overview table does not fit the charts; values are taken from the charts";
        warnings.add("overview table", text);
    }
    numbers::solve(&mut charts, rows.as_ref(), &mut warnings);
    let mut facts = serde_json::Map::new();
    facts.insert(READING.to_owned(), numbers::proof(&charts));
    let results = charts
        .into_iter()
        .map(|chart| chart.result(&names))
        .collect();
    let mut file = finish(Draft {
        title: page.title.to_owned(),
        description: page.description.to_owned(),
        generator: Generator {
            name: "Phoronix Test Suite".to_owned(),
            version: page.client_version.to_owned(),
        },
        systems,
        results,
        origin: Origin {
            format: Format::PtsPage.name().to_owned(),
            address: page.address.map(str::to_owned),
            facts,
            ..Origin::default()
        },
        warnings,
        ..Draft::default()
    });
    if let Some(rows) = rows {
        for case in &mut file.cases {
            rows.name_test(case);
        }
    }
    Ok(file)
}

fn syntax(what: &str) -> FormatError {
    FormatError::Syntax {
        format: Format::PtsPage,
        place: Place::default(),
        what: what.to_owned(),
    }
}
