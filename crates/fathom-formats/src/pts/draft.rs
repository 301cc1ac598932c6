//! From the texts of a PTS file to a result file: cases, metrics, hashes, and what is odd.

use std::collections::{HashMap, HashSet};

use fathom_model::{
    Case, CaseId, Direction, Display, Entry, Generator, Implementation, ImplementationKind, Metric,
    Options, Origin, PtsFacts, PtsIdentity, ResultFile, ResultRecord, System, imported_case_id,
    pts_comparison_hash, pts_profile,
};

use super::known;
use crate::text::slug;
use crate::warnings::Warnings;

/// A file as its reader found it.
#[derive(Default)]
pub(super) struct Draft {
    pub title: String,
    pub description: String,
    pub generator: Generator,
    pub systems: Vec<System>,
    pub results: Vec<DraftResult>,
    pub origin: Origin,
    pub warnings: Warnings,
    /// Results of equal texts are different ones: the format leaves out what tells them apart.
    pub keeps_equal_results: bool,
}

/// A result as its reader found it; everything as printed.
#[derive(Default)]
pub(super) struct DraftResult {
    /// Where it is: `Result 3`.
    pub place: String,
    pub identifier: String,
    pub title: String,
    pub app_version: String,
    pub arguments: String,
    pub description: String,
    pub scale: String,
    pub proportion: String,
    pub display_format: String,
    pub annotation: Option<String>,
    pub parent: Option<String>,
    pub entries: Vec<Entry>,
    /// What has no place elsewhere.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl DraftResult {
    pub(super) fn hash(&self) -> String {
        pts_comparison_hash(PtsIdentity {
            identifier: &self.identifier,
            title: &self.title,
            arguments: &self.arguments,
            description: &self.description,
            app_version: &self.app_version,
            scale: &self.scale,
        })
    }

    /// `Title Version - Description (unit)`, for messages.
    pub(super) fn name(&self) -> String {
        let heading = format!("{} {}", self.title.trim(), self.app_version.trim());
        match self.description.trim() {
            "" => heading.trim().to_owned(),
            description => format!("{} - {description}", heading.trim()),
        }
    }
}

/// Exports that leave out the parent of a sensor's result put it behind that of the test it
/// watched.
pub(super) fn attach_sensors(results: &mut [DraftResult]) {
    let mut watched: Option<(String, String, String)> = None;
    for result in results {
        let is_sensor = result.description.trim().ends_with(" Monitor");
        match &watched {
            Some((title, version, hash))
                if is_sensor && *title == result.title && *version == result.app_version =>
            {
                result.parent = Some(hash.clone());
            }
            _ => {
                let texts = (
                    result.title.clone(),
                    result.app_version.clone(),
                    result.hash(),
                );
                watched = Some(texts);
            }
        }
    }
}

/// Makes the result file.
pub(super) fn finish(mut draft: Draft) -> ResultFile {
    join_equal_systems(&mut draft);
    let results = join_equal_results(&mut draft);
    add_missing_systems(&mut draft, &results);
    let cases = assign_cases(&results);
    let mut file = ResultFile::new(draft.title, draft.generator);
    file.description = draft.description;
    file.systems = draft.systems;
    let has_identifiers = results
        .iter()
        .any(|(_, result)| !result.identifier.is_empty());
    for ((hash, result), case) in results.into_iter().zip(cases) {
        if file.case(&case.id).is_none() {
            file.cases.push(case.clone());
        }
        let may_stand_for_case = !has_identifiers || !result.identifier.is_empty();
        file.results
            .push(record(hash, result, &case, may_stand_for_case));
    }
    make_metrics_unique(&mut file.results);
    choose_primary(&mut file.results);
    draft.origin.warnings = draft.warnings.finish();
    file.origin = Some(Box::new(draft.origin));
    file
}

/// Merged files repeat a system; equal blocks become one, and the facts of a differing one are
/// kept beside the first.
fn join_equal_systems(draft: &mut Draft) {
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<System> = Vec::with_capacity(draft.systems.len());
    for system in std::mem::take(&mut draft.systems) {
        match at.get(&system.identifier) {
            None => {
                at.insert(system.identifier.clone(), kept.len());
                kept.push(system);
            }
            Some(&first) if kept[first] == system => {}
            Some(&first) => {
                let difference = fathom_model::merge::system_difference(&kept[first], &system)
                    .unwrap_or_else(|| "time or client".to_owned());
                draft.warnings.add(
                    format!("System {}", system.identifier),
                    format!(
                        "described twice, differing in {difference}; the first description is \
                         shown, the other kept in pts_other_descriptions"
                    ),
                );
                let other = serde_json::to_value(&system).unwrap_or_default();
                let others = kept[first]
                    .extra
                    .entry("pts_other_descriptions")
                    .or_insert_with(|| serde_json::Value::Array(Vec::new()));
                if let Some(list) = others.as_array_mut() {
                    list.push(other);
                }
            }
        }
    }
    draft.systems = kept;
}

/// Results of one hash become one, as PTS's own merge does, unless they contradict each other.
fn join_equal_results(draft: &mut Draft) -> Vec<(String, DraftResult)> {
    let mut at: HashMap<(String, Option<String>), usize> = HashMap::new();
    let mut kept: Vec<(String, DraftResult)> = Vec::with_capacity(draft.results.len());
    for result in std::mem::take(&mut draft.results) {
        let hash = result.hash();
        // Sensors of several tests share a hash where their arguments are not known.
        let key = (hash.clone(), result.parent.clone());
        let first = at.get(&key).filter(|_| !draft.keeps_equal_results);
        match first.map(|&first| (first, &mut kept[first].1)) {
            Some((_, first))
                if first.proportion == result.proportion
                    && first.display_format == result.display_format =>
            {
                draft.warnings.add(
                    result.place.clone(),
                    format!(
                        "the same test as {} by its comparison hash ({}); their entries are \
                         joined",
                        first.place,
                        result.name()
                    ),
                );
                first.entries.extend(result.entries);
            }
            Some((_, first)) => {
                draft.warnings.add(
                    result.place.clone(),
                    format!(
                        "the same test as {} by its comparison hash, but with another direction \
                         or display; kept apart",
                        first.place
                    ),
                );
                kept.push((hash, result));
            }
            None => {
                at.insert(key, kept.len());
                kept.push((hash, result));
            }
        }
    }
    kept
}

/// Entries whose system is not described get a bare one. Charts of an unknown kind are spared:
/// the names in a pie chart are slices, not systems.
fn add_missing_systems(draft: &mut Draft, results: &[(String, DraftResult)]) {
    let mut known: HashSet<String> = draft
        .systems
        .iter()
        .map(|system| system.identifier.clone())
        .collect();
    for (_, result) in results {
        let is_known_kind = display_of(&result.display_format).is_some();
        for (index, entry) in result.entries.iter().enumerate() {
            // Nearly always entries stand in the order of the systems.
            let in_order = draft
                .systems
                .get(index)
                .is_some_and(|s| s.identifier == entry.system);
            if in_order || !known.insert(entry.system.clone()) {
                continue;
            }
            let (what, keeps) = match is_known_kind {
                true => ("system", "; it is shown without hardware and software"),
                false => ("name", "; its values are kept"),
            };
            draft.warnings.add(
                result.place.clone(),
                format!("{what} \"{}\" has no System block{keeps}", entry.system),
            );
            if is_known_kind {
                draft.systems.push(System {
                    identifier: entry.system.clone(),
                    ..System::default()
                });
            }
        }
    }
}

/// What a display format is drawn as; `None` for one that is not known.
pub(super) fn display_of(format: &str) -> Option<Display> {
    Some(match format.trim() {
        "" | "BAR_GRAPH" | "BAR_ANALYZE_GRAPH" | "HORIZONTAL_BAR_GRAPH" => Display::Bar,
        "LINE_GRAPH" | "FILLED_LINE_GRAPH" => Display::Line,
        "PASS_FAIL" => Display::PassFail,
        "MULTI_PASS_FAIL" => Display::MultiPassFail,
        "IMAGE_COMPARISON" => Display::Image,
        "SCATTER_PLOT" => Display::Scatter,
        "NO_RESULT" => Display::NoResult,
        _ => return None,
    })
}

/// The case of each result. Metrics of one run share one: results that differ only in unit or in a
/// suffix of the description (`- Average Latency`), those without identifier or version that repeat
/// title, arguments and description of another, and sensors with their parent.
fn assign_cases(results: &[(String, DraftResult)]) -> Vec<Case> {
    let mut leaders: HashMap<[&str; 3], Identity<'_>> = HashMap::new();
    for (_, result) in results {
        let own = Identity::of(result);
        leaders
            .entry(own.text_key(result))
            .and_modify(|leader| leader.take_from(&own))
            .or_insert(own);
    }
    let complete = |result| {
        let mut own = Identity::of(result);
        own.take_from(&leaders[&own.text_key(result)]);
        own
    };
    let by_hash: HashMap<&str, &DraftResult> = results
        .iter()
        .rev()
        .map(|(hash, result)| (hash.as_str(), result))
        .collect();
    results
        .iter()
        .map(|(_, result)| {
            let parent = result
                .parent
                .as_deref()
                .and_then(|hash| by_hash.get(hash.trim()));
            let of = parent.copied().unwrap_or(result);
            complete(of).case(of.title.trim())
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Identity<'a> {
    profile: &'a str,
    identifier: &'a str,
    arguments: &'a str,
    description: &'a str,
    app_version: &'a str,
}

impl<'a> Identity<'a> {
    fn of(result: &'a DraftResult) -> Self {
        Self {
            profile: pts_profile(&result.identifier, &result.title),
            identifier: result.identifier.trim(),
            arguments: result.arguments.trim(),
            description: base_description(&result.description),
            app_version: result.app_version.trim(),
        }
    }

    fn text_key(&self, result: &'a DraftResult) -> [&'a str; 3] {
        [result.title.trim(), self.arguments, self.description]
    }

    /// A companion metric lacks the identifier (clients before 8.6) or the version.
    fn take_from(&mut self, sibling: &Identity<'a>) {
        if self.identifier.is_empty() && !sibling.identifier.is_empty() {
            self.identifier = sibling.identifier;
            self.profile = sibling.profile;
        }
        if self.app_version.is_empty() {
            self.app_version = sibling.app_version;
        }
    }

    fn case(&self, title: &str) -> Case {
        let (name, version) = match self.identifier.rsplit_once('-') {
            Some((name, version)) if known::is_version(version) => (name, version),
            _ => (self.identifier, ""),
        };
        let test = match (name.rsplit('/').next(), known::profile_of_title(title)) {
            (Some(test), _) if !test.is_empty() => test.to_owned(),
            (_, Some(profile)) => profile.to_owned(),
            _ => slug(title),
        };
        Case {
            id: imported_case_id(
                self.profile,
                self.arguments,
                self.description,
                self.app_version,
            ),
            label: label(&test, self.description),
            test,
            test_version: version.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Imported,
                name: if name.is_empty() { title } else { name }.to_owned(),
                version: self.app_version.to_owned(),
            },
            options: options(self.description),
            extra: serde_json::Map::new(),
        }
    }
}

/// The description without what a second metric of the same run appends: parts after the last
/// option (`Mode: Read Write - Average Latency`).
fn base_description(description: &str) -> &str {
    let description = description.trim();
    let mut base = description;
    while let Some((before, last)) = base.rsplit_once(" - ") {
        if last.contains(':') {
            return base;
        }
        base = before;
    }
    match base.contains(':') {
        true => base,
        false => description,
    }
}

fn options(description: &str) -> Options {
    let mut options = Options::default();
    for part in description.split(" - ").filter(|part| !part.is_empty()) {
        match part.split_once(": ") {
            Some((name, value)) => options.set(slug(name), value),
            None => {
                let so_far = options
                    .get("description")
                    .map_or_else(String::new, str::to_owned);
                let joined = match so_far.as_str() {
                    "" => part.to_owned(),
                    so_far => format!("{so_far} - {part}"),
                };
                options.set("description", joined);
            }
        }
    }
    options
}

/// The short name of the overview table: `fio: Rand Read - Libaio - No - Yes - 4KB`.
fn label(test: &str, description: &str) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("Random", "Rand"),
        ("Sequential", "Seq"),
        ("Frequency", "Freq"),
        ("Temperature", "Temp"),
    ];
    let parts: Vec<&str> = description
        .split(" - ")
        .map(|part| part.split_once(": ").map_or(part, |(_, value)| value))
        .filter(|part| !part.is_empty())
        .collect();
    let mut text = parts.join(" - ");
    for (long, short) in SHORT {
        text = text.replace(long, short);
    }
    match text.as_str() {
        "" => test.to_owned(),
        text => format!("{test}: {text}"),
    }
}

fn record(hash: String, result: DraftResult, case: &Case, may_lead: bool) -> ResultRecord {
    let display = display_of(&result.display_format).unwrap_or_default();
    let is_monitor = result.parent.is_some() && result.identifier.trim().is_empty();
    let direction = match result.proportion.trim() {
        "HIB" => Direction::HigherIsBetter,
        "LIB" => Direction::LowerIsBetter,
        _ => Direction::Neutral,
    };
    let description = result.description.trim();
    let appended = match is_monitor {
        true => description,
        false => description
            .strip_prefix(base_description(description))
            .unwrap_or_default()
            .trim_start_matches(" - "),
    };
    let unit_id = unit_id(&result.scale);
    let metric = Metric {
        id: match slug(appended) {
            appended if appended.is_empty() => unit_id,
            appended => format!("{appended}-{unit_id}"),
        },
        title: appended.to_owned(),
        unit: result.scale.trim().to_owned(),
        direction,
        is_primary: may_lead && !is_monitor,
        ..Metric::default()
    };
    ResultRecord {
        case: CaseId::clone(&case.id),
        metric,
        title: result.title,
        version: result.app_version,
        description: result.description,
        display,
        pts: Some(Box::new(PtsFacts {
            identifier: result.identifier,
            arguments: result.arguments,
            proportion: result.proportion,
            display_format: result.display_format,
            annotation: result.annotation,
            parent: result.parent,
            hash,
        })),
        entries: result.entries,
        extra: result.extra,
        ..ResultRecord::default()
    }
}

fn unit_id(unit: &str) -> String {
    match unit.trim() {
        "" => "result".to_owned(),
        "MB/s" => "bandwidth".to_owned(),
        unit => slug(unit),
    }
}

/// Two results of a case with one metric id (kept apart above) must not share it.
fn make_metrics_unique(results: &mut [ResultRecord]) {
    let mut seen = HashSet::new();
    for record in results {
        let mut id = record.metric.id.clone();
        let mut number = 2;
        while !seen.insert((record.case.clone(), id.clone())) {
            id = format!("{}-{number}", record.metric.id);
            number += 1;
        }
        record.metric.id = id;
    }
}

/// One metric stands for its case: bandwidth before others, IOPS last, else the first.
fn choose_primary(results: &mut [ResultRecord]) {
    let rank = |record: &ResultRecord| match record.metric.id.as_str() {
        "bandwidth" => 0,
        "iops" => 2,
        _ => 1,
    };
    let mut best: HashMap<CaseId, (u8, usize)> = HashMap::new();
    for (index, record) in results.iter().enumerate() {
        if record.metric.is_primary {
            let candidate = (rank(record), index);
            best.entry(record.case.clone())
                .and_modify(|known| *known = candidate.min(*known))
                .or_insert(candidate);
        }
    }
    for (index, record) in results.iter_mut().enumerate() {
        record.metric.is_primary = best.get(&record.case).is_some_and(|&(_, at)| at == index);
    }
}
