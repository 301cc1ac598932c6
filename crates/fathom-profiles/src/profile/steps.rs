//! Command lines of a profile file.

use std::collections::BTreeMap;

use fathom_model::Case;
use toml::Spanned;

use super::metrics::is_plain_file;
use super::parse::{Reader, Result};
use super::raw::{RawCheck, RawRun, RawStep, RawWord, Text, Texts};
use super::{Check, Condition, DriverSpec, Run, Step, Template, Word};

const STEPS_LIMIT: usize = 100;
const WORDS_LIMIT: usize = 1000;

impl Step {
    /// The command line as it is written, values not filled in.
    pub fn shown(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for word in &self.command {
            match word {
                Word::Plain(template) => words.push(template.to_string()),
                Word::When {
                    when,
                    then,
                    otherwise,
                } => {
                    let conditions: Vec<String> = when.iter().map(Condition::shown).collect();
                    let list = |words: &[Template]| {
                        let words: Vec<String> = words.iter().map(Template::to_string).collect();
                        words.join(" ")
                    };
                    let otherwise = match otherwise.is_empty() {
                        true => String::new(),
                        false => format!(" else {}", list(otherwise)),
                    };
                    words.push(format!(
                        "[{} if {}{otherwise}]",
                        list(then),
                        conditions.join(" and ")
                    ));
                }
            }
        }
        match self.is_shell {
            true => format!("/bin/sh -c '{}'", words.join(" ")),
            false => words.join(" "),
        }
    }
}

impl Condition {
    /// Whether it holds for the options of a case.
    pub fn holds(&self, case: &Case) -> bool {
        (case.options.get(&self.option) == Some(self.value.as_str())) == self.is_equal
    }

    fn shown(&self) -> String {
        let sign = if self.is_equal { "=" } else { "!=" };
        format!("{}{sign}{}", self.option, self.value)
    }
}

/// Whether all hold.
pub(crate) fn all_hold(conditions: &[Condition], case: &Case) -> bool {
    conditions.iter().all(|condition| condition.holds(case))
}

pub(super) fn steps(reader: &Reader<'_>, raw: &[RawStep]) -> Result<Vec<Step>> {
    if let Some(extra) = raw.get(STEPS_LIMIT) {
        let what = format!("there are at most {STEPS_LIMIT} steps");
        return Err(reader.wrong(&extra.command, what));
    }
    raw.iter().map(|one| step(reader, one)).collect()
}

fn step(reader: &Reader<'_>, raw: &RawStep) -> Result<Step> {
    if let Some(output) = &raw.output
        && !is_plain_file(output.get_ref())
    {
        let what = format!(
            "\"{}\" is not accepted; expected a name in the case's directory",
            output.get_ref()
        );
        return Err(reader.wrong(output, what));
    }
    Ok(Step {
        command: command(reader, &raw.command, raw.shell)?,
        is_shell: raw.shell,
        directory: reader.maybe_template(raw.directory.as_ref())?,
        input: reader.maybe_template(raw.input.as_ref())?,
        output: reader.maybe_template(raw.output.as_ref())?,
        environment: environment(reader, &raw.environment)?,
        exit: raw.exit.clone().unwrap_or_else(|| vec![0]),
        time_limit: time_limit(reader, raw.time_limit.as_ref())?,
        when: reader.conditions(&raw.when)?,
    })
}

pub(super) fn run(reader: &Reader<'_>, spanned: &Spanned<RawRun>) -> Result<Run> {
    let raw = spanned.get_ref();
    let program = match &raw.command {
        None => None,
        Some(words) => Some(Step {
            command: command(reader, words, raw.shell)?,
            is_shell: raw.shell,
            directory: reader.maybe_template(raw.directory.as_ref())?,
            input: reader.maybe_template(raw.input.as_ref())?,
            output: None,
            environment: environment(reader, &raw.environment)?,
            exit: raw.exit.clone().unwrap_or_else(|| vec![0]),
            time_limit: time_limit(reader, raw.time_limit.as_ref())?,
            when: Vec::new(),
        }),
    };
    let driver = match &raw.driver {
        None => None,
        Some(name) => Some(DriverSpec {
            name: name.get_ref().clone(),
            options: raw
                .options
                .iter()
                .map(|(name, raw)| Ok((name.clone(), word(reader, raw)?)))
                .collect::<Result<_>>()?,
        }),
    };
    if program.is_none() && driver.is_none() {
        let what = "[run] has neither a command nor a driver".to_owned();
        return Err(reader.wrong(spanned, what));
    }
    Ok(Run {
        program,
        driver,
        is_fresh: raw.fresh,
    })
}

pub(super) fn checks(reader: &Reader<'_>, raw: &[RawCheck]) -> Result<Vec<Check>> {
    let one = |raw: &RawCheck| {
        let expect = reader.template(&raw.expect)?;
        Ok(Check {
            name: raw.name.get_ref().clone(),
            step: Step {
                command: command(reader, &raw.command, false)?,
                is_shell: false,
                directory: reader.maybe_template(raw.directory.as_ref())?,
                input: reader.maybe_template(raw.input.as_ref())?,
                output: None,
                environment: environment(reader, &raw.environment)?,
                exit: vec![0],
                time_limit: None,
                when: reader.conditions(&raw.when)?,
            },
            expect,
        })
    };
    raw.iter().map(one).collect()
}

fn command(
    reader: &Reader<'_>,
    spanned: &Spanned<Vec<RawWord>>,
    is_shell: bool,
) -> Result<Vec<Word>> {
    let raw = spanned.get_ref();
    match raw.len() {
        0 => return Err(reader.wrong(spanned, "the command is empty".to_owned())),
        1.. if is_shell && raw.len() != 1 => {
            let what = "with shell = true the command is one text: [\"a | b\"]".to_owned();
            return Err(reader.wrong(spanned, what));
        }
        count if count > WORDS_LIMIT => {
            let what = format!("a command has at most {WORDS_LIMIT} words");
            return Err(reader.wrong(spanned, what));
        }
        _ => {}
    }
    if !matches!(raw.first(), Some(RawWord::Plain(_))) {
        let what = "the first word, the program, cannot be under a condition".to_owned();
        return Err(reader.wrong(spanned, what));
    }
    raw.iter().map(|raw| word(reader, raw)).collect()
}

fn word(reader: &Reader<'_>, raw: &RawWord) -> Result<Word> {
    let templates = |texts: &[Text]| -> Result<Vec<Template>> {
        texts.iter().map(|text| reader.template(text)).collect()
    };
    Ok(match raw {
        RawWord::Plain(text) => Word::Plain(reader.template(text)?),
        RawWord::When {
            when,
            then,
            otherwise,
        } => Word::When {
            when: reader.conditions(when)?,
            then: templates(then)?,
            otherwise: templates(otherwise)?,
        },
    })
}

fn environment(
    reader: &Reader<'_>,
    raw: &BTreeMap<String, Text>,
) -> Result<BTreeMap<String, Template>> {
    raw.iter()
        .map(|(name, text)| Ok((name.clone(), reader.template(text)?)))
        .collect()
}

fn time_limit(reader: &Reader<'_>, text: Option<&Text>) -> Result<Option<super::Expression>> {
    text.map(|text| reader.expression(text)).transpose()
}

impl Reader<'_> {
    /// Conditions over options: `mode=read-only`, `mode!=read-only`, or the name of a flag.
    pub(super) fn conditions(&self, texts: &Texts) -> Result<Vec<Condition>> {
        texts.0.iter().map(|text| self.condition(text)).collect()
    }

    fn condition(&self, spanned: &Text) -> Result<Condition> {
        let text = spanned.get_ref();
        let (option, is_equal, value) = match (text.split_once("!="), text.split_once('=')) {
            (Some((option, value)), _) => (option, false, value),
            (None, Some((option, value))) => (option, true, value),
            (None, None) => (text.as_str(), true, "yes"),
        };
        let Some(known) = self.option(option) else {
            let what = format!("\"{text}\": there is no option {option} to ask for");
            return Err(self.wrong(spanned, what));
        };
        let value = known.info.canonical("of this profile", value);
        Ok(Condition {
            option: option.to_owned(),
            is_equal,
            value: value.map_err(|error| self.wrong(spanned, error.to_string()))?,
        })
    }
}
