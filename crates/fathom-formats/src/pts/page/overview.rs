//! The overview table: one row a test, one column a system, written column by column.

use fathom_model::Case;

use super::chart::Chart;

/// Longest table; one of a hundred systems and tests has fifty kilobytes.
pub(super) const MAX_TABLE: usize = 64 << 10;

/// What the overview says.
pub(super) struct Rows {
    /// For each row its profile (`fio`) and the chart that shows it.
    rows: Vec<(String, usize)>,
    /// Titles with their profiles, for naming the tests of cases.
    titles: Vec<(String, String)>,
    /// The values of all cells that are there, strung together.
    pub values: String,
    /// Number of systems.
    systems: usize,
}

impl Rows {
    /// The cells in the order they are written: system, chart.
    pub(super) fn cells(&self, charts: &[Chart]) -> Vec<(usize, usize)> {
        let mut cells = Vec::new();
        for system in 0..self.systems {
            for (_, chart) in &self.rows {
                if charts[*chart].systems.contains(&system) {
                    cells.push((system, *chart));
                }
            }
        }
        cells
    }

    /// Gives a case the test name its row has.
    pub(super) fn name_test(&self, case: &mut Case) {
        let title = &case.implementation.name;
        if let Some((_, profile)) = self.titles.iter().find(|(known, _)| known == title) {
            case.test.clone_from(profile);
        }
    }
}

/// Finds the rows; `None` when the table is not made of the charts' options and the names.
pub(super) fn rows(text: &str, title: &str, names: &[&str], charts: &[Chart]) -> Option<Rows> {
    if text.len() > MAX_TABLE {
        return None;
    }
    let all_names: String = names.concat();
    let text = text.strip_prefix(title).unwrap_or(text);
    let labels_end = text.find(&all_names).filter(|_| !all_names.is_empty())?;
    let (labels, rest) = text.split_at(labels_end);
    let values = rest[all_names.len()..].replace(' ', "");
    let mut rows: Vec<(String, usize)> = Vec::new();
    let mut rest = labels;
    while !rest.is_empty() {
        let (profile, after) = rest.split_once(':')?;
        let after = after.strip_prefix(' ').unwrap_or(after);
        let fits = |index: &usize| {
            let label = short(&charts[*index].description);
            (!rows.iter().any(|(_, used)| used == index) && after.starts_with(&label))
                .then_some(label.len())
        };
        // The longest label, and of equal ones (MB/s and IOPS) the first.
        let (index, length) = (0..charts.len())
            .filter_map(|index| Some((index, fits(&index)?)))
            .max_by_key(|&(index, length)| (length, std::cmp::Reverse(index)))?;
        rows.push((profile.to_owned(), index));
        rest = after[length..].trim_start();
    }
    let titles = rows
        .iter()
        .map(|(profile, index)| (charts[*index].title.clone(), profile.clone()))
        .collect();
    Some(Rows {
        rows,
        titles,
        values,
        systems: names.len(),
    })
}

/// Options as the overview shortens them: without their names, some words cut.
fn short(description: &str) -> String {
    const WORDS: [(&str, &str); 4] = [
        ("Random", "Rand"),
        ("Sequential", "Seq"),
        ("Frequency", "Freq"),
        ("Temperature", "Temp"),
    ];
    let parts: Vec<&str> = description
        .split(" - ")
        .map(|part| part.split_once(": ").map_or(part, |(_, value)| value))
        .collect();
    let mut text = parts.join(" - ");
    for (long, short) in WORDS {
        text = text.replace(long, short);
    }
    text
}
