//! Temperatures of the drives as results of their own, a system a row, beside what was measured.

use std::collections::BTreeMap;

use fathom_model::{
    Case, Direction, Display, Entry, EntryDetails, Figure, Implementation, ImplementationKind,
    Metric, Options, PtsJson, ResultFile, ResultRecord, case_id,
};
use fathom_runner::SENSOR_SERIES;

/// Sensors that become results: each drive's own, not those of its parts.
const TEMPERATURE: &str = "drive-temperature/";
/// Values kept of one system.
const LINE_LIMIT: usize = 2000;

/// Adds a result for each drive whose temperature was read: mean, lowest and highest over all
/// trials of a system, and the values in the order of its trials.
pub(crate) fn add_temperatures(file: &mut ResultFile) {
    let mut drives: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for run in &file.runs {
        for trial in &run.trials {
            for (name, series) in &trial.series {
                let drive = name
                    .strip_prefix(SENSOR_SERIES)
                    .and_then(|name| name.strip_prefix(TEMPERATURE))
                    .filter(|drive| !drive.contains('/'));
                let Some(drive) = drive else { continue };
                let values = series.values.iter().filter(|value| value.is_finite());
                let systems = drives.entry(drive.to_owned()).or_default();
                systems
                    .entry(run.system.clone())
                    .or_default()
                    .extend(values);
            }
        }
    }
    for (drive, systems) in drives {
        let (case, record) = result(file, &drive, &systems);
        if file.case(&case.id).is_none() {
            file.cases.push(case);
            file.results.push(record);
        }
    }
}

fn result(
    file: &ResultFile,
    drive: &str,
    systems: &BTreeMap<String, Vec<f64>>,
) -> (Case, ResultRecord) {
    let title = format!("Drive Temperature ({drive}) Monitor");
    let implementation = Implementation {
        kind: ImplementationKind::Native,
        name: "fathom".to_owned(),
        version: "1".to_owned(),
    };
    let options = Options::from_iter([("sensor", format!("{TEMPERATURE}{drive}"))]);
    let case = Case {
        id: case_id("sensors", "1", &implementation, &options),
        test: "sensors".to_owned(),
        test_version: "1".to_owned(),
        implementation,
        options,
        label: title.clone(),
        extra: serde_json::Map::new(),
    };
    let order = file.systems.iter();
    let entries = order.filter_map(|system| {
        let values = systems.get(&system.identifier)?;
        entry(&system.identifier, values)
    });
    let record = ResultRecord {
        case: case.id.clone(),
        metric: Metric {
            id: "celsius".to_owned(),
            unit: "Celsius".to_owned(),
            direction: Direction::Neutral,
            is_primary: true,
            ..Metric::default()
        },
        title,
        description: "read while the trials ran".to_owned(),
        display: Display::Line,
        entries: entries.collect(),
        ..ResultRecord::default()
    };
    (case, record)
}

fn entry(system: &str, values: &[f64]) -> Option<Entry> {
    let two = |value: f64| Figure::new((value * 100.0).round() / 100.0);
    let lowest = values.iter().copied().reduce(f64::min)?;
    let highest = values.iter().copied().reduce(f64::max)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut range = serde_json::Map::new();
    for (key, value) in [("min-result", lowest), ("max-result", highest)] {
        range.insert(key.to_owned(), two(value)?.to_string().into());
    }
    let step = values.len().div_ceil(LINE_LIMIT).max(1);
    Some(Entry {
        system: system.to_owned(),
        value: two(mean),
        details: Some(Box::new(EntryDetails {
            line: values
                .iter()
                .step_by(step)
                .filter_map(|value| two(*value))
                .collect(),
            pts_json: PtsJson::from_map(&range),
            ..EntryDetails::default()
        })),
        ..Entry::default()
    })
}

#[cfg(test)]
mod tests {
    use fathom_model::{Generator, Run, Series, System, Trial};

    use super::*;

    #[test]
    fn each_drive_is_a_result_with_lowest_mean_and_highest() {
        let mut file = ResultFile::new("T", Generator::default());
        for (system, values) in [("b", [40.0, 50.0]), ("a", [30.0, f64::NAN])] {
            file.systems.push(System {
                identifier: system.to_owned(),
                ..System::default()
            });
            let series = Series {
                unit: "Celsius".to_owned(),
                values: values.to_vec(),
                ..Series::default()
            };
            let names = [
                "sensor/drive-temperature/nvme0n1",
                "sensor/drive-temperature/nvme0n1/Sensor-1",
            ];
            let trial = Trial {
                series: names.map(|name| (name.to_owned(), series.clone())).into(),
                ..Trial::default()
            };
            file.runs.push(Run {
                system: system.to_owned(),
                trials: vec![trial],
                ..Run::default()
            });
        }
        add_temperatures(&mut file);
        add_temperatures(&mut file);
        assert_eq!(file.results.len(), 1);
        let record = &file.results[0];
        assert_eq!(record.title, "Drive Temperature (nvme0n1) Monitor");
        let first = &record.entries[0];
        assert_eq!(
            (
                first.system.as_str(),
                first.value.as_ref().map(Figure::value)
            ),
            ("b", Some(45.0))
        );
        let details = first.details.as_ref().unwrap();
        assert_eq!(
            details.pts_json.text_of("max-result").as_deref(),
            Some("50")
        );
        assert_eq!(
            record.entries[1].value.as_ref().map(Figure::value),
            Some(30.0)
        );
        // It is kept when the file is computed anew.
        let before = record.clone();
        file.rebuild();
        assert_eq!(file.results[0].entries, before.entries);
    }
}
