use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fathom_base::Nanos;
use fathom_base::files::write_atomic;
use fathom_base::process::{End, Finished, Program, run};
use fathom_model::{Context, SCRATCH_VARIABLE, TestError};

use super::values::CaseValues;
use crate::locate::locate;
use crate::profile::{Check, Profile, Step, Template, Word, all_hold};

/// Output of a program that is kept, each stream.
const OUTPUT_LIMIT: usize = 16 << 20;
/// Lines of a program's words that an error tells.
const SAID_LINES: usize = 8;
const SAID_CHARACTERS: usize = 1500;

/// Turns steps into programs and runs them.
pub(super) struct StepRunner<'a> {
    pub values: CaseValues<'a>,
    pub cx: &'a Context<'a>,
    /// Directories of the service's programs.
    pub service_programs: &'a [PathBuf],
}

impl StepRunner<'_> {
    /// Runs those whose conditions hold, in order.
    pub(super) fn all(&self, steps: &[Step]) -> Result<(), TestError> {
        for step in steps {
            if all_hold(&step.when, self.values.case) {
                self.one(step)?;
            }
        }
        Ok(())
    }

    /// Runs one to a good end.
    pub(super) fn one(&self, step: &Step) -> Result<Finished, TestError> {
        let program = self.program(step)?;
        let finished = run(&program, self.cx.cancel)?;
        self.judge(&program, step, &finished)?;
        if let Some(output) = &step.output {
            let path = self.values.directory.join(self.filled(output)?);
            write_atomic(&path, &finished.stdout)?;
        }
        Ok(finished)
    }

    /// Runs a check and holds its answer against what is expected.
    pub(super) fn check(&self, check: &Check) -> Result<(), TestError> {
        if !all_hold(&check.step.when, self.values.case) {
            return Ok(());
        }
        let answer = crate::profile::plain(&self.one(&check.step)?.stdout_text());
        let expect = self.filled(&check.expect)?;
        let wrong = |found: String| TestError::Check {
            check: crate::intern::interned(&check.name),
            found,
        };
        let regex = regex_lite::RegexBuilder::new(&expect)
            .multi_line(true)
            .build()
            .map_err(|error| wrong(format!("what is expected is no pattern: {error}")))?;
        match regex.is_match(&answer) {
            true => Ok(()),
            false => Err(wrong(format!(
                "\"{}\" instead of /{expect}/",
                shortened(answer.trim())
            ))),
        }
    }

    /// The program of a step, with every value filled in.
    pub(super) fn program(&self, step: &Step) -> Result<Program, TestError> {
        let words = self.words(&step.command)?;
        let mut program = match step.is_shell {
            true => Program::new("/bin/sh").args(["-c".to_owned(), words.join(" ")]),
            false => {
                let (name, arguments) = words.split_first().ok_or_else(|| TestError::Program {
                    program: step.shown(),
                    what: "is empty".to_owned(),
                })?;
                Program::new(self.located(name)?).args(arguments)
            }
        };
        program.directory = Some(match &step.directory {
            None => self.values.directory.to_path_buf(),
            Some(directory) => self.values.directory.join(self.filled(directory)?),
        });
        program.environment = self.environment(step)?;
        if let Some(input) = &step.input {
            program.input = Some(self.filled(input)?.into_bytes());
        }
        let left = self.cx.deadline.since(self.cx.clock.now());
        program.timeout = match &step.time_limit {
            None => left,
            Some(limit) => {
                let seconds = limit.value(&|name| self.values.number(name));
                let seconds = seconds.map_err(|what| self.no_value(&what))?;
                left.min(Nanos::new((seconds.max(0.0) * 1e9) as u64))
            }
        };
        program.output_limit = OUTPUT_LIMIT;
        Ok(program)
    }

    fn environment(&self, step: &Step) -> Result<Vec<(OsString, OsString)>, TestError> {
        let mut all: Vec<(OsString, OsString)> = vec![
            ("LC_ALL".into(), "C".into()),
            (
                SCRATCH_VARIABLE.into(),
                self.cx.scratch.as_os_str().to_owned(),
            ),
        ];
        for (name, template) in &step.environment {
            all.push((name.into(), self.filled(template)?.into()));
        }
        Ok(all)
    }

    fn words(&self, command: &[Word]) -> Result<Vec<String>, TestError> {
        let mut words = Vec::new();
        for word in command {
            match word {
                Word::Plain(template) => words.push(self.filled(template)?),
                Word::When {
                    when,
                    then,
                    otherwise,
                } => {
                    let chosen = match all_hold(when, self.values.case) {
                        true => then,
                        false => otherwise,
                    };
                    for template in chosen {
                        words.push(self.filled(template)?);
                    }
                }
            }
        }
        Ok(words)
    }

    /// The value of a driver's option.
    pub(super) fn value(&self, word: &Word) -> Result<String, TestError> {
        Ok(self.words(std::slice::from_ref(word))?.join(" "))
    }

    /// A template with its values.
    pub(super) fn filled(&self, template: &Template) -> Result<String, TestError> {
        let filled = template.filled(&|name| self.values.value(name));
        filled.map_err(|what| self.no_value(&what))
    }

    fn no_value(&self, what: &str) -> TestError {
        TestError::Program {
            program: self.values.profile.id.clone(),
            what: format!("cannot be run: {what}"),
        }
    }

    /// Where the first word of a command line is: beside the server, then as the profile says.
    fn located(&self, name: &str) -> Result<PathBuf, TestError> {
        let found = self.beside_server(name).or_else(|| {
            let places = places(self.values.profile, name);
            locate(name, places, &self.cx.host.search_path)
        });
        found.ok_or_else(|| TestError::Program {
            program: name.to_owned(),
            what: "is not installed".to_owned(),
        })
    }

    fn beside_server(&self, name: &str) -> Option<PathBuf> {
        let all = self.service_programs.iter();
        all.filter(|_| !name.contains('/'))
            .find_map(|directory| fathom_base::process::find_program(name, directory.as_os_str()))
    }

    pub(super) fn judge(
        &self,
        program: &Program,
        step: &Step,
        finished: &Finished,
    ) -> Result<(), TestError> {
        match finished.end {
            End::Cancelled => Err(TestError::Cancelled),
            End::TimedOut => Err(TestError::Deadline {
                what: crate::intern::interned(&name_of(&program.program)),
                limit: program.timeout,
            }),
            End::Exited(code) if step.exit.contains(&code) => self.no_failure(program, finished),
            end => {
                self.no_failure(program, finished)?;
                Err(TestError::Program {
                    program: program.command_line(),
                    what: format!("{}{}", ended(end), said(finished)),
                })
            }
        }
    }

    /// Words of the program that mean that it failed.
    fn no_failure(&self, program: &Program, finished: &Finished) -> Result<(), TestError> {
        let text = format!("{}\n{}", finished.stdout_text(), finished.stderr_text());
        let failures = self.values.profile.failures.iter();
        let mut found = failures.filter(|failure| failure.regex.is_match(&text));
        match found.next() {
            None => Ok(()),
            Some(failure) => Err(TestError::Program {
                program: name_of(&program.program),
                what: match failure.hint.as_str() {
                    "" => format!("failed: {}", failure.says),
                    hint => format!("failed: {}; {hint}", failure.says),
                },
            }),
        }
    }
}

/// The places that the profile names for a program.
fn places<'a>(profile: &'a Profile, name: &str) -> &'a [String] {
    let mut all = profile.program.iter().chain(&profile.needs.programs);
    all.find(|spec| spec.name == name)
        .map_or(&[], |spec| &spec.places)
}

fn name_of(program: &OsString) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    name.to_string_lossy().into_owned()
}

/// `ended with exit code 1`.
pub(crate) fn ended(end: End) -> String {
    match end {
        End::Exited(code) => format!("ended with exit code {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut => "took too long".to_owned(),
        End::Cancelled => "was stopped".to_owned(),
    }
}

/// The last lines a program said, standard error first.
pub(super) fn said(finished: &Finished) -> String {
    let stderr = finished.stderr_text();
    let stdout = finished.stdout_text();
    let text = match stderr.trim() {
        "" => stdout.trim(),
        stderr => stderr,
    };
    match text {
        "" => String::new(),
        text => format!(": {}", tail(text)),
    }
}

/// The last lines of a text on one line.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(SAID_LINES);
    shortened(&lines[from..].join("; "))
}

/// The end of a long text.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    match count > SAID_CHARACTERS {
        true => {
            let end: String = text.chars().skip(count - SAID_CHARACTERS).collect();
            format!("...{end}")
        }
        false => text.to_owned(),
    }
}
