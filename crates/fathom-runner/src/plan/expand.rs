//! Selections and overrides -> drafts of cases, in order.

use std::collections::HashSet;

use fathom_model::{
    Case, CaseId, Implementation, ImplementationKind, OptionError, OptionInfo, OptionKind, Options,
    TestInfo, case_id, nearest,
};

use super::{CASES_LIMIT, Override, PlanError, PlanRequest, Selection};
use crate::registry::Registry;
use crate::suite::{Place, SuiteCase};

/// A case that was resolved, or the reason why it cannot be.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub case: Case,
    pub title: String,
    pub unavailable: Option<String>,
}

/// What is known of a case before its test was asked.
#[derive(Clone, Debug, Default)]
struct Row {
    test: String,
    kind: Option<ImplementationKind>,
    /// As typed or written.
    options: Options,
    label: String,
    reason: String,
    source: Source,
}

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    Typed,
    Suite {
        file: String,
        /// Of each option that the file sets.
        places: Vec<(String, Place)>,
    },
    Stored(CaseId),
}

pub(super) fn drafts(
    request: &PlanRequest,
    registry: &Registry,
    notes: &mut Vec<String>,
) -> Result<Vec<Draft>, PlanError> {
    let mut rows = Vec::new();
    for selection in &request.selections {
        rows_of(selection, registry, &mut rows)?;
    }
    for row in &mut rows {
        choose_implementation(row, request.implementation, registry);
    }
    for over in &request.overrides {
        rows = overridden(rows, &meant(over), registry)?;
    }
    let mut drafts = Vec::new();
    let mut seen = HashSet::new();
    let mut repeated = 0;
    for row in rows {
        let draft = draft(row, registry, notes)?;
        match seen.insert(draft.case.id.clone()) {
            true => drafts.push(draft),
            false => repeated += 1,
        }
    }
    if repeated > 0 {
        notes.push(format!(
            "{repeated} of the cases came up more than once; each is measured as one"
        ));
    }
    Ok(drafts)
}

fn rows_of(
    selection: &Selection,
    registry: &Registry,
    rows: &mut Vec<Row>,
) -> Result<(), PlanError> {
    match selection {
        Selection::Suite(suite) => {
            for case in &suite.cases {
                matrix(case, &suite.file, rows)?;
            }
        }
        Selection::Test(test) => {
            if registry.find(test, None).is_none() {
                return Err(PlanError::UnknownTest {
                    test: test.clone(),
                    nearest: registry.nearest(test),
                });
            }
            rows.push(Row {
                test: test.clone(),
                ..Row::default()
            });
        }
        Selection::Cases(cases) => rows.extend(cases.iter().map(|case| Row {
            test: case.test.clone(),
            kind: Some(case.implementation.kind),
            options: case.options.clone(),
            label: case.label.clone(),
            reason: String::new(),
            source: Source::Stored(case.id.clone()),
        })),
    }
    check_count(rows.len())
}

fn check_count(count: usize) -> Result<(), PlanError> {
    match count > CASES_LIMIT {
        true => Err(PlanError::TooManyCases { limit: CASES_LIMIT }),
        false => Ok(()),
    }
}

/// The rows of a suite's row: one for each combination of values, the last option varying fastest.
fn matrix(case: &SuiteCase, file: &str, rows: &mut Vec<Row>) -> Result<(), PlanError> {
    let counts = case.options.iter().map(|option| option.values.len());
    let total = counts.fold(1_usize, usize::saturating_mul);
    check_count(rows.len().saturating_add(total))?;
    for index in 0..total {
        let mut rest = index;
        let mut chosen: Vec<&str> = Vec::with_capacity(case.options.len());
        for option in case.options.iter().rev() {
            chosen.push(&option.values[rest % option.values.len()]);
            rest /= option.values.len();
        }
        chosen.reverse();
        let varying = case.options.iter().zip(&chosen);
        let varying = varying.filter(|(option, _)| option.values.len() > 1);
        let label = with_values(&case.label, varying.map(|(_, value)| *value));
        let named = case.options.iter().zip(&chosen);
        rows.push(Row {
            test: case.test.clone(),
            kind: case.implementation,
            options: named
                .map(|(option, value)| (option.name.clone(), *value))
                .collect(),
            label,
            reason: case.reason.clone(),
            source: Source::Suite {
                file: file.to_owned(),
                places: case
                    .options
                    .iter()
                    .map(|option| (option.name.clone(), option.place))
                    .collect(),
            },
        });
    }
    Ok(())
}

/// A label that tells the rows of a matrix apart; an empty one stays empty and is made later.
fn with_values<'a>(label: &str, values: impl Iterator<Item = &'a str>) -> String {
    if label.is_empty() {
        return String::new();
    }
    let mut label = label.to_owned();
    for value in values {
        label.push(' ');
        label.push_str(value);
    }
    label
}

/// The user's choice goes first, then the row's own, then the registry's preference.
fn choose_implementation(row: &mut Row, asked: Option<ImplementationKind>, registry: &Registry) {
    row.kind = asked.or(row.kind).or_else(|| {
        let test = registry.find(&row.test, None)?;
        Some(test.info().implementation.kind)
    });
}

/// `size=short` is another word for `scale=short`: no size is called so.
pub(super) fn meant(over: &Override) -> Override {
    let is_scale = |value: &String| value == "short" || value == "full";
    let mut meant = over.clone();
    if over.name == "size" && !over.values.is_empty() && over.values.iter().all(is_scale) {
        meant.name = "scale".to_owned();
    }
    meant
}

/// Applies one override to every row whose test has the option.
fn overridden(rows: Vec<Row>, over: &Override, registry: &Registry) -> Result<Vec<Row>, PlanError> {
    let mut result = Vec::with_capacity(rows.len());
    let mut is_used = false;
    let mut known: Vec<&'static str> = Vec::new();
    for row in rows {
        let is_meant = over.test.as_ref().is_none_or(|test| *test == row.test);
        let info = registry.find(&row.test, row.kind).map(|test| test.info());
        let options = info.map_or_else(Vec::new, |info| info.options);
        if is_meant {
            known.extend(options.iter().map(|option| option.name));
        }
        match options.iter().find(|option| option.name == over.name) {
            Some(option) if is_meant => {
                is_used = true;
                result.extend(with_override(&row, option, over));
                check_count(result.len())?;
            }
            _ => result.push(row),
        }
    }
    if is_used {
        return Ok(result);
    }
    let option = match &over.test {
        Some(test) => format!("{test}.{}", over.name),
        None => over.name.clone(),
    };
    Err(PlanError::Unused {
        option,
        nearest: nearest(&over.name, known),
    })
}

fn with_override(row: &Row, option: &OptionInfo, over: &Override) -> Vec<Row> {
    // A comma is part of a free text, not a separator.
    let values = match option.kind {
        OptionKind::Text => vec![over.values.join(",")],
        _ => over.values.clone(),
    };
    let rows = values.iter().map(|value| {
        let mut new = row.clone();
        // Where a label may speak of the value that is replaced, what holds now is said after it.
        let replaced = row.options.get(option.name).filter(|old| old != value);
        let is_wrong = replaced.is_some_and(|old| may_mention(&row.label, old));
        // A part of the work must not look like all of it.
        let is_scaled = option.name == "scale" && *value != option.default;
        if is_wrong || is_scaled || values.len() > 1 {
            let said = format!("{}={value}", option.name);
            new.label = with_values(&new.label, std::iter::once(said.as_str()));
        }
        new.options.set(option.name, value);
        if let Source::Suite { places, .. } = &mut new.source {
            places.retain(|(name, _)| name != option.name);
        }
        new
    });
    rows.collect()
}

/// Whether a label may speak of an option's value. Of words one cannot be sure (`read` may stand
/// for `randread`); a quantity is mentioned when the label holds it, be it behind letters or
/// without the end of its unit (`Q8`, `SEQ1M` for 1MiB).
fn may_mention(label: &str, value: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let value = value.to_ascii_lowercase();
    let short = value.trim_end_matches('b').trim_end_matches('i');
    let holds = |word: &str| {
        [value.as_str(), short].iter().any(|text| {
            word.strip_suffix(text)
                .is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_digit() || c == '.'))
        })
    };
    let is_quantity = value.starts_with(|first: char| first.is_ascii_digit());
    !is_quantity || label.split_whitespace().any(holds)
}

fn draft(row: Row, registry: &Registry, notes: &mut Vec<String>) -> Result<Draft, PlanError> {
    let Some(test) = registry.find(&row.test, row.kind) else {
        return Ok(absent(row, registry));
    };
    let info = test.info();
    let resolved = Case::resolve(&info, &row.options, &row.label);
    match resolved.and_then(|case| test.complete(case)) {
        Ok(case) => {
            if let Source::Stored(id) = &row.source
                && *id != case.id
            {
                notes.push(format!(
                    "{}: the saved result was measured with another version of {} or other \
                     defaults; the new figure is a result of its own",
                    case.label, row.test
                ));
            }
            Ok(Draft {
                case,
                title: info.title.to_owned(),
                unavailable: None,
            })
        }
        Err(source) => misfit(row, &info, source),
    }
}

/// A wrong option: an error where somebody can correct it, a reason in a saved result.
fn misfit(row: Row, info: &TestInfo, source: OptionError) -> Result<Draft, PlanError> {
    match row.source {
        Source::Typed => Err(source.into()),
        Source::Suite { file, places } => {
            let (OptionError::Unknown { option, .. }
            | OptionError::Value { option, .. }
            | OptionError::Missing { option, .. }) = &source;
            // A value that has no place in the file is the user's.
            match places.into_iter().find(|(name, _)| name == option) {
                Some((_, place)) => Err(PlanError::Suite {
                    file,
                    place,
                    source: Box::new(source),
                }),
                None => Err(source.into()),
            }
        }
        Source::Stored(id) => {
            let mut draft = unresolved(
                row.test,
                info.implementation.clone(),
                row.options,
                row.label,
                source.to_string(),
            );
            draft.title = info.title.to_owned();
            draft.case.id = id;
            Ok(draft)
        }
    }
}

/// The draft of a case whose test, or whose implementation of it, does not exist.
fn absent(row: Row, registry: &Registry) -> Draft {
    let kind = row.kind.unwrap_or(ImplementationKind::Program);
    let other = registry.find(&row.test, None).map(|test| test.info());
    let reason = match (&row.reason, &other, kind) {
        (_, Some(other), kind) => format!(
            "test {} has no implementation \"{}\" here, only {}",
            row.test,
            kind.name(),
            other.implementation.kind.name()
        ),
        (_, None, ImplementationKind::Imported) => {
            format!("{} was imported and cannot be run", row.test)
        }
        (reason, None, _) if !reason.is_empty() => reason.clone(),
        (_, None, _) => match registry.nearest(&row.test) {
            Some(near) => format!(
                "test {} does not exist in this version; the nearest is {near}",
                row.test
            ),
            None => format!("test {} does not exist in this version", row.test),
        },
    };
    let implementation = Implementation {
        kind,
        name: row.test.clone(),
        version: String::new(),
    };
    let stored = match row.source {
        Source::Stored(id) => Some(id),
        _ => None,
    };
    let mut draft = unresolved(row.test, implementation, row.options, row.label, reason);
    if let Some(other) = other {
        draft.title = other.title.to_owned();
    }
    if let Some(id) = stored {
        draft.case.id = id;
    }
    draft
}

fn unresolved(
    test: String,
    implementation: Implementation,
    options: Options,
    label: String,
    reason: String,
) -> Draft {
    let label = match label.as_str() {
        "" => with_values(&test, options.iter().map(|(_, value)| value)),
        _ => label,
    };
    Draft {
        title: test.clone(),
        case: Case {
            id: case_id(&test, "", &implementation, &options),
            test,
            test_version: String::new(),
            implementation,
            options,
            label,
            extra: serde_json::Map::new(),
        },
        unavailable: Some(reason),
    }
}
