//! The logs fio writes beside its output: `time, value, direction, block size, ...`.

use fathom_model::{
    Case, Direction, Display, Entry, EntryDetails, Figure, Generator, Implementation,
    ImplementationKind, Metric, Options, Origin, ResultFile, ResultRecord, System, Warning,
    case_id,
};

use super::UNNAMED;
use crate::{Format, FormatError, Place};

/// Most lines of a log.
const MAX_LINES: usize = 5_000_000;

/// What the name of a log says it holds: part of the name, id, title, unit and direction.
const KINDS: [(&str, &str, &str, &str, Direction); 5] = [
    (
        "bw",
        "bandwidth",
        "bandwidth",
        "KiB/s",
        Direction::HigherIsBetter,
    ),
    (
        "iops",
        "iops",
        "operations a second",
        "IOPS",
        Direction::HigherIsBetter,
    ),
    (
        "clat",
        "completion-latency",
        "completion latency",
        "ns",
        Direction::LowerIsBetter,
    ),
    (
        "slat",
        "submission-latency",
        "submission latency",
        "ns",
        Direction::LowerIsBetter,
    ),
    ("lat", "latency", "latency", "ns", Direction::LowerIsBetter),
];

/// Reads a bandwidth, IOPS or latency log. Its first four columns have been the same since fio 2;
/// further ones are ignored. What it holds is told by its name only (`NAME_bw.1.log`), and
/// latencies are nanoseconds since fio 3.0.
///
/// # Errors
/// [`FormatError::Unsupported`] for a name that does not tell, or a histogram log;
/// [`FormatError::Syntax`] with the line.
pub fn read(bytes: &[u8], name: &str) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let (text, _) = crate::text::decode(bytes);
    let kind = kind_of(name)?;
    let mut points: [Vec<Figure>; 3] = Default::default();
    for (at, line) in text.lines().enumerate() {
        if at == MAX_LINES {
            return Err(FormatError::Limit {
                what: "lines of a log",
                found: at as u64 + 1,
                limit: MAX_LINES as u64,
            });
        }
        if line.trim().is_empty() {
            continue;
        }
        let error = |what: &str| FormatError::Syntax {
            format: Format::FioLog,
            place: Place::line(at + 1),
            what: what.to_owned(),
        };
        let mut columns = line.split(',').map(str::trim);
        let value = columns.nth(1).and_then(Figure::parse);
        let value = value.ok_or_else(|| error("the second column is no number"))?;
        let direction: usize = columns
            .next()
            .and_then(|text| text.parse().ok())
            .filter(|direction| *direction < points.len())
            .ok_or_else(|| error("the third column is no direction (0, 1 or 2)"))?;
        points[direction].push(value);
    }
    Ok(file(kind, points))
}

type Kind = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Direction,
);

fn kind_of(name: &str) -> Result<Kind, FormatError> {
    let base = name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(name)
        .to_lowercase();
    let words: Vec<&str> = base.split(['_', '.', '-']).collect();
    let unsupported = |reason: &str| FormatError::Unsupported {
        format: Format::FioLog,
        reason: reason.to_owned(),
    };
    if words.contains(&"hist") {
        return Err(unsupported(
            "histogram logs are not read; fio's json+ output has the same histograms",
        ));
    }
    let found = KINDS.iter().find(|(word, ..)| words.contains(word));
    found.copied().ok_or_else(|| {
        unsupported(
            "its columns do not tell what is logged, and neither does its name; name it as fio \
             does: NAME_bw.1.log, NAME_iops.1.log, NAME_lat.1.log",
        )
    })
}

fn file((_, id, title, unit, better): Kind, points: [Vec<Figure>; 3]) -> ResultFile {
    let implementation = Implementation {
        kind: ImplementationKind::Imported,
        name: "fio".to_owned(),
        version: String::new(),
    };
    let options: Options = [("log", id)].into_iter().collect();
    let case = Case {
        id: case_id("fio", "", &implementation, &options),
        test: "fio".to_owned(),
        test_version: String::new(),
        implementation,
        options,
        label: format!("fio log of {title}"),
        extra: serde_json::Map::new(),
    };
    let mut file = ResultFile::new(
        String::new(),
        Generator {
            name: "fio".to_owned(),
            version: String::new(),
        },
    );
    file.systems.push(System {
        identifier: UNNAMED.to_owned(),
        client: "fio".to_owned(),
        ..System::default()
    });
    for (direction, points) in ["read", "write", "trim"].into_iter().zip(points) {
        if points.is_empty() {
            continue;
        }
        let sum: f64 = points.iter().map(Figure::value).sum();
        let is_first = file.results.is_empty();
        file.results.push(ResultRecord {
            case: case.id.clone(),
            metric: Metric {
                id: format!("{direction}-{id}"),
                title: format!("{direction} {title}"),
                unit: unit.to_owned(),
                direction: better,
                is_primary: is_first,
                ..Metric::default()
            },
            title: "fio".to_owned(),
            description: format!("log of {direction} {title}"),
            display: Display::Line,
            entries: vec![Entry {
                system: UNNAMED.to_owned(),
                value: Figure::new(sum / points.len() as f64),
                details: Some(Box::new(EntryDetails {
                    line: points,
                    ..EntryDetails::default()
                })),
                ..Entry::default()
            }],
            ..ResultRecord::default()
        });
    }
    file.cases.push(case);
    file.origin = Some(Box::new(Origin {
        format: Format::FioLog.name().to_owned(),
        warnings: vec![Warning {
            place: "first column".to_owned(),
            text: "the times of the points are not kept, only their order".to_owned(),
        }],
        ..Origin::default()
    }));
    file
}
