use std::fmt;
use std::str::FromStr;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::contract::TestInfo;
use crate::error::OptionError;
use crate::identity::case_id;
use crate::option::nearest;

/// Identifies a case: 16 hexadecimal digits derived from everything that must be equal for two
/// measurements to be of the same thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseId(pub String);

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How a test was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImplementationKind {
    /// Built into Fathom.
    Native,
    /// The original program, found on the machine.
    Program,
    /// Read from somebody else's result.
    Imported,
}

impl ImplementationKind {
    /// As typed and shown: `native`, `program`, `imported`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Program => "program",
            Self::Imported => "imported",
        }
    }
}

/// The implementation of a test; part of a result's identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Implementation {
    /// Native, program or imported.
    pub kind: ImplementationKind,
    /// `fathom`, `fio`, `pts/fio`.
    pub name: String,
    /// The version that matters for comparing: the workload's for a native test (not Fathom's
    /// release), the program's for a program.
    pub version: String,
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ImplementationKind::Native => write!(f, "native {}", self.version),
            ImplementationKind::Program => write!(f, "{} {}", self.name, self.version),
            ImplementationKind::Imported => write!(f, "{} {}", self.name, self.version),
        }
    }
}

/// Option values by name, in the order the test declares them. On disk a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(with = "std::collections::BTreeMap<String, String>")
)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// Sets a value, in place when the name is there.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut options = Self::default();
        for (name, value) in pairs {
            options.set(name, value);
        }
        options
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Options;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of option values as text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
                let mut options = Options::default();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    options.set(name, value);
                }
                Ok(options)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// A test with every option chosen: what is repeated, stored and compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// Identity; see [`case_id`].
    pub id: CaseId,
    /// The test's name: `io`.
    pub test: String,
    /// The workload's version; raised whenever the work or a default changes.
    pub test_version: String,
    /// How it was carried out.
    pub implementation: Implementation,
    /// Every option.
    #[serde(default)]
    pub options: Options,
    /// Short name for tables, `RND4K Q1 read`; from the suite, else made of the options.
    #[serde(default)]
    pub label: String,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Case {
    /// Resolves typed options against a test: unknown names and bad values are errors, the rest
    /// takes its default.
    ///
    /// An option at its default does not enter the identity, so that a test may grow options;
    /// changing a default therefore needs a new test version.
    ///
    /// # Errors
    /// [`OptionError`] that names the option, what was expected and the nearest valid one.
    pub fn resolve(info: &TestInfo, typed: &Options, label: &str) -> Result<Self, OptionError> {
        for (name, _) in typed.iter() {
            if !info.options.iter().any(|option| option.name == name) {
                return Err(OptionError::Unknown {
                    test: info.id.to_owned(),
                    option: name.to_owned(),
                    nearest: nearest(name, info.options.iter().map(|option| option.name)),
                });
            }
        }
        let mut options = Options::default();
        let mut chosen = Options::default();
        for option in &info.options {
            let default = option.canonical(info.id, &option.default)?;
            let value = match typed.get(option.name) {
                Some(value) => option.canonical(info.id, value)?,
                None => default.clone(),
            };
            if value != default {
                chosen.set(option.name, value.clone());
            }
            options.set(option.name, value);
        }
        let id = case_id(info.id, &info.version, &info.implementation, &chosen);
        let label = match label {
            "" => made_label(info.id, &chosen),
            label => label.to_owned(),
        };
        Ok(Self {
            id,
            test: info.id.to_owned(),
            test_version: info.version.clone(),
            implementation: info.implementation.clone(),
            options,
            label,
            extra: serde_json::Map::new(),
        })
    }

    /// Computes the identity anew after an option was set to what was found out, with the options
    /// named in `outside` left out of it: where a file lies, when another option says what is in
    /// it.
    ///
    /// # Errors
    /// [`OptionError::Value`] when a default of the test is not accepted by its own option.
    pub fn identify(&mut self, info: &TestInfo, outside: &[&str]) -> Result<(), OptionError> {
        let mut chosen = Options::default();
        for option in &info.options {
            let default = option.canonical(info.id, &option.default)?;
            match self.options.get(option.name) {
                Some(value) if value != default && !outside.contains(&option.name) => {
                    chosen.set(option.name, value);
                }
                _ => {}
            }
        }
        self.id = case_id(
            &self.test,
            &self.test_version,
            &self.implementation,
            &chosen,
        );
        Ok(())
    }

    /// The text of an option.
    ///
    /// # Errors
    /// [`OptionError::Missing`] when a stored case lacks it.
    pub fn text(&self, name: &str) -> Result<&str, OptionError> {
        self.options.get(name).ok_or_else(|| OptionError::Missing {
            test: self.test.clone(),
            option: name.to_owned(),
        })
    }

    /// The parsed value of an option: `case.get::<Bytes>("block-size")?`.
    ///
    /// # Errors
    /// [`OptionError`] when it is missing or, in a stored case, not of this kind.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, OptionError>
    where
        T::Err: fmt::Display,
    {
        let text = self.text(name)?;
        text.parse().map_err(|error: T::Err| OptionError::Value {
            test: self.test.clone(),
            option: name.to_owned(),
            value: text.to_owned(),
            expected: error.to_string(),
            nearest: None,
        })
    }

    /// As [`Case::get`], with `none` as [`None`].
    ///
    /// # Errors
    /// As [`Case::get`].
    pub fn get_or_none<T: FromStr>(&self, name: &str) -> Result<Option<T>, OptionError>
    where
        T::Err: fmt::Display,
    {
        match self.text(name)? {
            "none" => Ok(None),
            _ => self.get(name).map(Some),
        }
    }

    /// Whether a flag is `yes`.
    ///
    /// # Errors
    /// [`OptionError::Missing`].
    pub fn flag(&self, name: &str) -> Result<bool, OptionError> {
        Ok(self.text(name)? == "yes")
    }

    /// The options as PTS writes them: `block-size: 4KiB - depth: 32`.
    pub fn description(&self) -> String {
        let parts: Vec<String> = self
            .options
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        parts.join(" - ")
    }
}

fn made_label(test: &str, chosen: &Options) -> String {
    let values: Vec<&str> = chosen.iter().map(|(_, value)| value).collect();
    match values.is_empty() {
        true => test.to_owned(),
        false => format!("{test} {}", values.join(" ")),
    }
}
