//! What sensors said while trials ran.

use std::collections::BTreeMap;

use fathom_model::ResultFile;

use crate::clean;
use crate::number::rounded;
use crate::view::View;

/// How the names of series begin that sensors gave.
const SENSOR: &str = "sensor/";

/// Lowest, mean and highest value of every sensor, for each case and system, over all trials.
pub fn sensors(file: &ResultFile) -> String {
    let view = View::of(file);
    let mut out = format!("{}: sensors while trials ran\n", clean::line(&file.title));
    let before = out.len();
    for block in view.blocks.iter().filter(|block| block.stands) {
        for row in &block.rows {
            let trials = row.run.iter().flat_map(|run| &run.trials);
            let mut all: BTreeMap<&str, (&str, Vec<f64>)> = BTreeMap::new();
            for (name, series) in trials.flat_map(|trial| &trial.series) {
                if let Some(name) = name.strip_prefix(SENSOR) {
                    let values = series.values.iter().filter(|value| value.is_finite());
                    let known = all.entry(name).or_insert((&series.unit, Vec::new()));
                    known.1.extend(values);
                }
            }
            if !all.is_empty() {
                let head = format!("{}, {}", block.heading(), view.row_name(row));
                out.push_str(&format!("\n{}\n", clean::line(&head)));
                push(&mut out, &all);
            }
        }
    }
    if out.len() == before {
        out.push_str("no trial of this result has any\n");
    }
    out
}

fn push(out: &mut String, all: &BTreeMap<&str, (&str, Vec<f64>)>) {
    let width = all.keys().map(|name| name.len()).max().unwrap_or(0);
    for (name, (unit, values)) in all {
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        if values.is_empty() {
            continue;
        }
        let text = |value: f64| rounded(value, 2);
        let line = format!(
            "  {:width$}  Min: {} / Avg: {} / Max: {} {unit}",
            clean::line(name),
            text(lowest),
            text(mean),
            text(highest)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::Generator;

    use super::*;

    #[test]
    fn a_result_without_sensors_says_so() {
        let text = sensors(&ResultFile::new("T", Generator::default()));
        assert_eq!(
            text,
            "T: sensors while trials ran\nno trial of this result has any\n"
        );
    }
}
