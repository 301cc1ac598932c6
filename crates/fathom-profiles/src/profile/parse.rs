use std::collections::BTreeMap;

use fathom_base::Place;
use fathom_model::{OptionKind, nearest};
use regex_lite::{Regex, RegexBuilder};
use toml::Spanned;

use super::metrics::{counts, failures, metrics};
use super::options::options;
use super::raw::{
    RawEstimate, RawLet, RawNeeds, RawProfile, RawProgram, RawService, RawTool, Scalar, Text,
};
use super::steps::{checks, run, steps};
use super::{
    EstimateSpec, Expression, Extraction, FileSpec, Form, HOST_NAMES, Let, MetricSpec, Needs,
    OptionSpec, PROFILE_FORMAT, Profile, ProfileFileError, ProgramSpec, SERVICE_NAMES, ServiceSpec,
    TargetNeed, Template, VersionSpec, sha256,
};
use crate::service::ServiceKind;

pub(super) type Result<T> = std::result::Result<T, ProfileFileError>;

const NAME_LIMIT: usize = 64;
const REGEX_LIMIT: usize = 1 << 20;
/// Keys of the file that change no figure.
const WORDS: [&str; 6] = ["title", "summary", "help", "hint", "package", "says"];

pub(super) fn profile(file: &str, text: &str) -> Result<Profile> {
    let raw: RawProfile = toml::from_str(text).map_err(|error| ProfileFileError::Syntax {
        file: file.to_owned(),
        place: Place::of(text, error.span().map_or(0, |span| span.start)),
        what: error.message().trim().replace('\n', ", "),
    })?;
    let mut reader = Reader {
        file,
        text,
        options: Vec::new(),
        lets: Vec::new(),
        has_service: raw.service.is_some(),
    };
    reader.check_head(&raw)?;
    reader.options = options(
        &reader,
        &raw.options,
        !raw.short.is_empty(),
        raw.service.is_some(),
    )?;
    reader.lets = raw.lets.keys().map(|name| name.get_ref().clone()).collect();
    let lets = reader.lets(&raw.lets)?;
    let short = reader.short(&raw.short)?;
    let profile = Profile {
        id: raw.id.get_ref().clone(),
        title: raw.title.get_ref().trim().to_owned(),
        summary: raw.summary.get_ref().trim().to_owned(),
        version: raw.version.get_ref().clone(),
        program: raw
            .program
            .as_ref()
            .map(|raw| reader.program(raw))
            .transpose()?,
        needs: reader.needs(&raw.needs)?,
        lets,
        short,
        service: raw
            .service
            .as_ref()
            .map(|raw| reader.service(raw))
            .transpose()?,
        prepare: steps(&reader, &raw.prepare)?,
        before: steps(&reader, &raw.before)?,
        run: run(&reader, &raw.run)?,
        after: steps(&reader, &raw.after)?,
        checks: checks(&reader, &raw.checks)?,
        cleanup: steps(&reader, &raw.cleanup)?,
        metrics: metrics(&reader, &raw.metrics)?,
        counts: counts(&reader, &raw.counts)?,
        failures: failures(&reader, &raw.failures)?,
        estimate: reader.estimate(&raw.estimate)?,
        options: std::mem::take(&mut reader.options),
        file: file.to_owned(),
        source: text.to_owned(),
        content_hash: sha256(text.as_bytes()),
        work_hash: work_hash(text)?,
    };
    check_metrics(&reader, &raw, &profile)?;
    Ok(profile)
}

/// The hash of the file without its words and comments, so that a better help does not make another
/// test of it.
fn work_hash(text: &str) -> Result<String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| ProfileFileError::Syntax {
        file: String::new(),
        place: Place::default(),
        what: error.message().to_owned(),
    })?;
    let work = without_words(toml::Value::Table(table));
    let text = serde_json::to_string(&work).unwrap_or_default();
    assert!(!text.is_empty(), "a TOML table is always JSON");
    Ok(sha256(text.as_bytes())[..8].to_owned())
}

fn without_words(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Table(table) => {
            let kept = table
                .into_iter()
                .filter(|(key, _)| !WORDS.contains(&key.as_str()))
                .map(|(key, value)| (key, without_words(value)));
            toml::Value::Table(kept.collect())
        }
        toml::Value::Array(list) => {
            toml::Value::Array(list.into_iter().map(without_words).collect())
        }
        other => other,
    }
}

/// There are metrics, and what they are computed from exists.
fn check_metrics(reader: &Reader<'_>, raw: &RawProfile, profile: &Profile) -> Result<()> {
    if profile.metrics.is_empty() {
        let what = "a profile needs a [[metric]]: what is measured".to_owned();
        return Err(reader.wrong(&raw.id, what));
    }
    let ids: Vec<&str> = profile.metrics.iter().map(MetricSpec::id).collect();
    for (spec, raw) in profile.metrics.iter().zip(&raw.metrics) {
        let raw = raw.get_ref();
        match &spec.extraction {
            Extraction::Compute(expression) => {
                let known = |name: &str| ids.contains(&name) || profile.knows(name);
                if let Some(name) = expression.names().into_iter().find(|name| !known(name)) {
                    let what = format!(
                        "there is no metric, option or value {name}{}",
                        did_you_mean(name, ids.iter().copied())
                    );
                    return Err(reader.wrong(raw.compute.as_ref().unwrap_or(&raw.id), what));
                }
            }
            Extraction::Driver(_) if profile.run.driver.is_none() => {
                let what = "the metric comes from a driver, and [run] names none".to_owned();
                return Err(reader.wrong(&raw.id, what));
            }
            _ => {}
        }
    }
    Ok(())
}

impl MetricSpec {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.metric.id
    }
}

impl Profile {
    /// Whether a name has a value in every case.
    fn knows(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.info.name == name)
            || self.lets.contains_key(name)
            || HOST_NAMES.contains(&name)
    }
}

fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

/// What the parts of a file are checked against.
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    options: Vec<OptionSpec>,
    lets: Vec<String>,
    has_service: bool,
}

impl Reader<'_> {
    pub(super) fn wrong<T>(&self, at: &Spanned<T>, what: String) -> ProfileFileError {
        ProfileFileError::Syntax {
            file: self.file.to_owned(),
            place: Place::of(self.text, at.span().start),
            what,
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&OptionSpec> {
        self.options.iter().find(|option| option.info.name == name)
    }

    fn check_head(&self, raw: &RawProfile) -> Result<()> {
        let format = *raw.format.get_ref();
        if format != PROFILE_FORMAT {
            let what = match format > PROFILE_FORMAT {
                true => "is written for a newer version of Fathom; this one reads",
                false => "is not a format of profiles; expected",
            };
            let what = format!("format {format} {what} format {PROFILE_FORMAT}");
            return Err(self.wrong(&raw.format, what));
        }
        self.check_name(&raw.id)?;
        for (text, name) in [(&raw.title, "title"), (&raw.summary, "summary")] {
            if text.get_ref().trim().is_empty() {
                return Err(self.wrong(text, format!("the {name} is empty")));
            }
        }
        let version = raw.version.get_ref();
        let is_version = version.starts_with(|first: char| first.is_ascii_digit())
            && version.len() <= NAME_LIMIT
            && version.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        match is_version {
            true => Ok(()),
            false => {
                let what = format!(
                    "version \"{version}\" is not accepted; expected digits and points: \"1.0\""
                );
                Err(self.wrong(&raw.version, what))
            }
        }
    }

    /// Names are lower-case letters, digits and dashes, a letter first.
    pub(super) fn check_name(&self, spanned: &Text) -> Result<()> {
        let name = spanned.get_ref();
        let is_good = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.len() <= NAME_LIMIT
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.');
        match is_good {
            true => Ok(()),
            false => {
                let what = format!(
                    "\"{name}\" is not accepted as a name; expected lower-case letters, digits and \
                     dashes, a letter first, at most {NAME_LIMIT} characters"
                );
                Err(self.wrong(spanned, what))
            }
        }
    }

    pub(super) fn one_of<T: Copy>(&self, text: &Text, table: &[(&str, T)]) -> Result<T> {
        let found = table.iter().find(|(name, _)| *name == text.get_ref());
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
            let what = format!(
                "\"{}\" is not accepted; expected one of {}{}",
                text.get_ref(),
                names.join(", "),
                did_you_mean(text.get_ref(), names.iter().copied())
            );
            self.wrong(text, what)
        })
    }

    pub(super) fn one_of_or<T: Copy>(
        &self,
        text: Option<&Text>,
        table: &[(&str, T)],
        default: T,
    ) -> Result<T> {
        text.map_or(Ok(default), |text| self.one_of(text, table))
    }

    /// A regular expression whose `^` and `$` are the ends of lines.
    pub(super) fn regex(&self, text: &Text) -> Result<Regex> {
        RegexBuilder::new(text.get_ref())
            .multi_line(true)
            .size_limit(REGEX_LIMIT)
            .build()
            .map_err(|error| {
                let what = error.to_string().replace('\n', ", ");
                self.wrong(
                    text,
                    format!("the regular expression cannot be read: {what}"),
                )
            })
    }

    pub(super) fn parsed(&self, text: &Text) -> Result<Expression> {
        Expression::parse(text.get_ref()).map_err(|error| {
            let what = format!(
                "the expression \"{}\" cannot be read: {error}, at its character {}",
                text.get_ref(),
                text.get_ref()[..error.offset].chars().count() + 1
            );
            self.wrong(text, what)
        })
    }

    /// An expression over options, values of `[let]` and the machine.
    pub(super) fn expression(&self, text: &Text) -> Result<Expression> {
        let expression = self.parsed(text)?;
        for name in expression.names() {
            self.check_known(text, name)?;
        }
        Ok(expression)
    }

    fn known_names(&self) -> impl Iterator<Item = &str> {
        let options = self.options.iter().map(|option| option.info.name);
        let lets = self.lets.iter().map(String::as_str);
        let service = SERVICE_NAMES.iter().filter(|_| self.has_service);
        options
            .chain(lets)
            .chain(HOST_NAMES)
            .chain(service.copied())
    }

    fn check_known(&self, text: &Text, name: &str) -> Result<()> {
        if self.known_names().any(|known| known == name) {
            return Ok(());
        }
        let what = format!(
            "there is no option or value {name}{}",
            did_you_mean(name, self.known_names())
        );
        Err(self.wrong(text, what))
    }

    pub(super) fn template(&self, text: &Text) -> Result<Template> {
        let template = Template::parse(text.get_ref());
        let template = template.map_err(|error| self.wrong(text, error.what))?;
        for (name, form) in template.names() {
            self.check_known(text, name)?;
            self.check_form(text, name, form)?;
        }
        Ok(template)
    }

    fn check_form(&self, text: &Text, name: &str, form: Form) -> Result<()> {
        let kind = self.option(name).map(|option| option.info.kind);
        let fits = match (form, kind) {
            (Form::Plain, _) => true,
            (Form::Unit(_), Some(OptionKind::Size(..))) => true,
            (Form::Unit(_), None) => name == "memory",
            (Form::Time(_), Some(OptionKind::Duration(..))) => true,
            (Form::Digit, Some(OptionKind::Flag)) => true,
            (Form::Found, Some(OptionKind::Text)) => true,
            _ => false,
        };
        match fits {
            true => Ok(()),
            false => {
                let what = format!(
                    "{{{name}}} has not the form that \"{}\" asks for: bytes to GiB are for sizes, \
                     s to ns for times, 01 for flags, found for texts",
                    text.get_ref()
                );
                Err(self.wrong(text, what))
            }
        }
    }

    pub(super) fn maybe_template(&self, text: Option<&Text>) -> Result<Option<Template>> {
        text.map(|text| self.template(text)).transpose()
    }

    fn lets(&self, raw: &BTreeMap<Text, Spanned<RawLet>>) -> Result<BTreeMap<String, Let>> {
        let mut all = BTreeMap::new();
        for (name, value) in raw {
            self.check_name(name)?;
            let is_taken = self.option(name.get_ref()).is_some()
                || HOST_NAMES.contains(&name.get_ref().as_str());
            if is_taken {
                let what = format!("the name {} is taken; choose another", name.get_ref());
                return Err(self.wrong(name, what));
            }
            all.insert(name.get_ref().clone(), self.one_let(value)?);
        }
        for name in raw.keys() {
            if is_circular(&all, name.get_ref()) {
                let what = format!("{} is computed from itself", name.get_ref());
                return Err(self.wrong(name, what));
            }
        }
        Ok(all)
    }

    fn one_let(&self, value: &Spanned<RawLet>) -> Result<Let> {
        let expression = |text: &str, span| self.expression(&Spanned::new(span, text.to_owned()));
        match value.get_ref() {
            RawLet::Plain(text) => Ok(Let::Plain(expression(text, value.span())?)),
            RawLet::By {
                option,
                values,
                otherwise,
            } => {
                let Some(known) = self.option(option.get_ref()) else {
                    let what = format!("there is no option {}", option.get_ref());
                    return Err(self.wrong(option, what));
                };
                let mut by = BTreeMap::new();
                for (typed, text) in values {
                    let canonical = known.info.canonical("of this profile", typed);
                    let canonical =
                        canonical.map_err(|error| self.wrong(text, error.to_string()))?;
                    by.insert(canonical, expression(&text.get_ref().0, text.span())?);
                }
                let is_whole = matches!(known.info.kind, OptionKind::Choice)
                    && known.info.menu.iter().all(|c| by.contains_key(c.value));
                if otherwise.is_none() && !is_whole {
                    let what = format!(
                        "not every value of {} is listed; add otherwise = ...",
                        option.get_ref()
                    );
                    return Err(self.wrong(option, what));
                }
                let otherwise = otherwise
                    .as_ref()
                    .map(|text| expression(&text.get_ref().0, text.span()))
                    .transpose()?;
                Ok(Let::By {
                    option: option.get_ref().clone(),
                    values: by,
                    otherwise,
                })
            }
        }
    }

    fn short(&self, raw: &BTreeMap<Text, Spanned<Scalar>>) -> Result<BTreeMap<String, Expression>> {
        let mut short = BTreeMap::new();
        for (name, text) in raw {
            let kind = self.option(name.get_ref()).map(|option| option.info.kind);
            let is_number = matches!(
                kind,
                Some(
                    OptionKind::Size(..)
                        | OptionKind::Integer(..)
                        | OptionKind::Number(..)
                        | OptionKind::Duration(..)
                )
            );
            let is_let = self.lets.contains(name.get_ref());
            if !is_number && !is_let {
                let what = format!(
                    "[short] replaces options that are numbers, sizes or times, and values of [let]; \
                     {} is none",
                    name.get_ref()
                );
                return Err(self.wrong(name, what));
            }
            let text = Spanned::new(text.span(), text.get_ref().0.clone());
            short.insert(name.get_ref().clone(), self.expression(&text)?);
        }
        Ok(short)
    }

    fn program(&self, raw: &RawProgram) -> Result<ProgramSpec> {
        let version = match &raw.version {
            None => None,
            Some(version) => {
                let regex = self.regex(&version.regex)?;
                if regex.captures_len() != 2 {
                    let what = "the pattern must have one group around the version".to_owned();
                    return Err(self.wrong(&version.regex, what));
                }
                Some(VersionSpec {
                    arguments: version.arguments.clone(),
                    regex,
                })
            }
        };
        Ok(ProgramSpec {
            name: self.program_name(&raw.name)?,
            hint: install_hint(&raw.package),
            places: self.places(&raw.places)?,
            version,
            when: Vec::new(),
        })
    }

    fn tool(&self, raw: &RawTool) -> Result<ProgramSpec> {
        Ok(ProgramSpec {
            name: self.program_name(&raw.name)?,
            hint: install_hint(&raw.package),
            places: self.places(&raw.places)?,
            version: None,
            when: self.conditions(&raw.when)?,
        })
    }

    fn program_name(&self, name: &Text) -> Result<String> {
        let text = name.get_ref();
        match text.is_empty() || text.contains(['{', '\0', '\n']) {
            true => Err(self.wrong(name, "this is no name of a program".to_owned())),
            false => Ok(text.clone()),
        }
    }

    fn places(&self, raw: &[Text]) -> Result<Vec<String>> {
        let one = |place: &Text| match place.get_ref().starts_with('/') {
            true => Ok(place.get_ref().clone()),
            false => {
                let what = "a place must be a directory from / on".to_owned();
                Err(self.wrong(place, what))
            }
        };
        raw.iter().map(one).collect()
    }

    fn needs(&self, raw: &RawNeeds) -> Result<Needs> {
        const TARGETS: [(&str, TargetNeed); 2] = [
            ("directory", TargetNeed::Directory),
            ("device", TargetNeed::Device),
        ];
        let programs = raw.programs.iter().map(|raw| self.tool(raw));
        let file = |raw: &super::raw::RawFile| {
            Ok(FileSpec {
                path: self.template(&raw.path)?,
                hint: raw.hint.clone(),
                when: self.conditions(&raw.when)?,
            })
        };
        Ok(Needs {
            programs: programs.collect::<Result<Vec<_>>>()?,
            files: raw.files.iter().map(file).collect::<Result<Vec<_>>>()?,
            root: raw.root,
            target: self.one_of_or(raw.target.as_ref(), &TARGETS, TargetNeed::Directory)?,
            space: self.maybe_expression(raw.space.as_ref())?,
        })
    }

    fn maybe_expression(&self, text: Option<&Text>) -> Result<Option<Expression>> {
        text.map(|text| self.expression(text)).transpose()
    }

    fn service(&self, raw: &RawService) -> Result<ServiceSpec> {
        let kinds = ServiceKind::ALL.map(|kind| (kind.name(), kind));
        let mut settings = BTreeMap::new();
        for (name, value) in &raw.settings {
            let text = Spanned::new(value.span(), value.get_ref().0.clone());
            settings.insert(name.clone(), self.template(&text)?);
        }
        Ok(ServiceSpec {
            kind: self.one_of(&raw.kind, &kinds)?,
            database: match &raw.database {
                Some(name) => {
                    self.check_name(name)?;
                    name.get_ref().clone()
                }
                None => "bench".to_owned(),
            },
            settings,
            init: raw.init.iter().map(|word| word.get_ref().clone()).collect(),
        })
    }

    fn estimate(&self, raw: &RawEstimate) -> Result<EstimateSpec> {
        Ok(EstimateSpec {
            trial: self.maybe_expression(raw.trial.as_ref())?,
            prepare: self.maybe_expression(raw.prepare.as_ref())?,
            trial_bytes: self.maybe_expression(raw.trial_bytes.as_ref())?,
            prepare_bytes: self.maybe_expression(raw.prepare_bytes.as_ref())?,
        })
    }
}

fn install_hint(package: &str) -> String {
    match package {
        "" => String::new(),
        // A sentence stands as it is.
        sentence if sentence.contains(' ') => sentence.to_owned(),
        package => format!("apt-get install {package}"),
    }
}

/// Whether a value depends on itself.
fn is_circular(all: &BTreeMap<String, Let>, start: &str) -> bool {
    let mut todo = vec![start];
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = todo.pop() {
        let Some(value) = all.get(name) else { continue };
        for next in value.names() {
            if next == start {
                return true;
            }
            if !seen.contains(&next) {
                seen.push(next);
                todo.push(next);
            }
        }
    }
    false
}

impl Let {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Plain(expression) => expression.names(),
            Self::By {
                values, otherwise, ..
            } => {
                let all = values.values().chain(otherwise);
                all.flat_map(Expression::names).collect()
            }
        }
    }
}
