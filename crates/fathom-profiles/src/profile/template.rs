use std::fmt;

use fathom_base::{Bytes, Nanos};

/// A text with places for values: `--time={time:s}`. A doubled brace stands for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value { name: String, form: Form },
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a user types it: `4KiB`, `5s`, `yes`.
    Plain,
    /// A size as a number of these: `{size:MiB}`.
    Unit(u64),
    /// A time as a number of these many nanoseconds: `{time:s}`.
    Time(u64),
    /// A flag as `1` or `0`.
    Digit,
    /// A path in which `*` stands for a name, as the one that exists, the highest number first.
    Found,
}

/// A template that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TemplateError {
    /// What was found and expected.
    pub what: String,
}

/// The value of a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words, paths.
    Text(String),
    /// A number.
    Number(f64),
    /// A size.
    Size(Bytes),
    /// A time.
    Time(Nanos),
    /// Yes or no.
    Flag(bool),
}

const FORMS: [(&str, Form); 13] = [
    ("bytes", Form::Unit(1)),
    ("kB", Form::Unit(1000)),
    ("MB", Form::Unit(1_000_000)),
    ("GB", Form::Unit(1_000_000_000)),
    ("KiB", Form::Unit(1 << 10)),
    ("MiB", Form::Unit(1 << 20)),
    ("GiB", Form::Unit(1 << 30)),
    ("s", Form::Time(1_000_000_000)),
    ("ms", Form::Time(1_000_000)),
    ("us", Form::Time(1_000)),
    ("ns", Form::Time(1)),
    ("01", Form::Digit),
    ("found", Form::Found),
];

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`TemplateError`] when a brace is open or a form is unknown.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let error = |what: String| TemplateError { what };
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(error(format!(
                    "\"{text}\" has a closing brace without an opening one; write }}}} for a brace"
                )));
            }
            let (inside, after) = rest.split_once('}').ok_or_else(|| {
                error(format!(
                    "\"{text}\" has an open brace; write {{{{ for a brace"
                ))
            })?;
            rest = after;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(place(inside).map_err(error)?);
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The names in it with their forms.
    pub fn names(&self) -> impl Iterator<Item = (&str, Form)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value { name, form } => Some((name.as_str(), *form)),
        })
    }

    /// The text with the values in place; `lookup` knows the names.
    ///
    /// # Errors
    /// In words, when a name is unknown or its value has not this form.
    pub fn filled(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Value { name, form } => {
                    let value = lookup(name).ok_or_else(|| format!("{{{name}}} has no value"))?;
                    let words = value.written(*form);
                    let words = words.ok_or_else(|| format!("{{{name}}} has not that form"))?;
                    text.push_str(&words);
                }
            }
        }
        Ok(text)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn place(inside: &str) -> Result<Part, String> {
    let (name, form) = match inside.split_once(':') {
        None => (inside, Form::Plain),
        Some((name, form)) => {
            let known = FORMS.iter().find(|(known, _)| *known == form);
            let (_, form) = known.ok_or_else(|| {
                let all: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
                format!(
                    "{{{inside}}} asks for an unknown form; expected one of {}",
                    all.join(", ")
                )
            })?;
            (name, *form)
        }
    };
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.');
    match is_name {
        true => Ok(Part::Value {
            name: name.to_owned(),
            form,
        }),
        false => Err(format!(
            "{{{inside}}} is no name; expected lower-case letters, digits and dashes, and {{{{ for a \
             brace"
        )),
    }
}

impl Value {
    /// As a text of this form, where the value has it.
    pub fn written(&self, form: Form) -> Option<String> {
        Some(match (form, self) {
            (Form::Plain, Self::Text(text)) => text.clone(),
            (Form::Plain, Self::Number(number)) => short_number(*number),
            (Form::Plain, Self::Size(size)) => size.to_string(),
            (Form::Plain, Self::Time(time)) => time.to_string(),
            (Form::Plain, Self::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
            (Form::Unit(unit), Self::Size(size)) => divided(size.as_u64(), unit),
            (Form::Time(unit), Self::Time(time)) => divided(time.as_u64(), unit),
            (Form::Found, Self::Text(path)) => {
                let found = crate::locate::matching(path).into_iter().next();
                found.map_or_else(|| path.clone(), |found| found.display().to_string())
            }
            (Form::Digit, Self::Flag(flag)) => u8::from(*flag).to_string(),
            _ => return None,
        })
    }

    /// As a number: bytes, seconds, 1 or 0; `None` for words.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Number(number) => Some(*number),
            Self::Size(size) => Some(size.as_u64() as f64),
            Self::Time(time) => Some(time.as_secs_f64()),
            Self::Flag(flag) => Some(f64::from(u8::from(*flag))),
        }
    }
}

fn divided(amount: u64, unit: u64) -> String {
    match amount.is_multiple_of(unit) {
        true => (amount / unit).to_string(),
        false => short_number(amount as f64 / unit as f64),
    }
}

fn short_number(number: f64) -> String {
    // Adding zero turns -0 into 0.
    (number + 0.0).to_string()
}
