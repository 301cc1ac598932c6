//! The file as serde reads it: texts with their places, nothing checked.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawProfile {
    pub format: Spanned<i64>,
    pub id: Text,
    pub title: Text,
    pub version: Text,
    pub summary: Text,
    pub program: Option<RawProgram>,
    #[serde(default)]
    pub needs: RawNeeds,
    #[serde(default, rename = "option")]
    pub options: Vec<RawOption>,
    #[serde(default, rename = "let")]
    pub lets: BTreeMap<Text, Spanned<RawLet>>,
    #[serde(default)]
    pub short: BTreeMap<Text, Spanned<Scalar>>,
    pub service: Option<RawService>,
    #[serde(default)]
    pub prepare: Vec<RawStep>,
    #[serde(default)]
    pub before: Vec<RawStep>,
    pub run: Spanned<RawRun>,
    #[serde(default)]
    pub after: Vec<RawStep>,
    #[serde(default, rename = "check")]
    pub checks: Vec<RawCheck>,
    #[serde(default)]
    pub cleanup: Vec<RawStep>,
    #[serde(default, rename = "metric")]
    pub metrics: Vec<Spanned<RawMetric>>,
    #[serde(default, rename = "count")]
    pub counts: Vec<RawCount>,
    #[serde(default, rename = "failure")]
    pub failures: Vec<RawFailure>,
    #[serde(default)]
    pub estimate: RawEstimate,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawProgram {
    pub name: Text,
    #[serde(default)]
    pub package: String,
    #[serde(default)]
    pub places: Vec<Text>,
    pub version: Option<RawVersion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawVersion {
    pub arguments: Vec<String>,
    pub regex: Text,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RawNeeds {
    pub programs: Vec<RawTool>,
    pub files: Vec<RawFile>,
    pub root: bool,
    pub target: Option<Text>,
    pub space: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawTool {
    pub name: Text,
    #[serde(default)]
    pub package: String,
    #[serde(default)]
    pub places: Vec<Text>,
    #[serde(default)]
    pub when: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawFile {
    pub path: Text,
    #[serde(default)]
    pub hint: String,
    #[serde(default)]
    pub when: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawOption {
    pub name: Text,
    pub kind: Text,
    pub default: Spanned<Scalar>,
    pub range: Option<Spanned<Vec<Scalar>>>,
    #[serde(default)]
    pub menu: Vec<Spanned<RawChoice>>,
    #[serde(default)]
    pub none: bool,
    pub help: String,
    #[serde(default = "yes")]
    pub identity: bool,
    #[serde(default)]
    pub file: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawService {
    pub kind: Text,
    pub database: Option<Text>,
    #[serde(default)]
    pub settings: BTreeMap<String, Spanned<Scalar>>,
    #[serde(default)]
    pub init: Vec<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStep {
    pub command: Spanned<Vec<RawWord>>,
    #[serde(default)]
    pub shell: bool,
    pub directory: Option<Text>,
    pub input: Option<Text>,
    pub output: Option<Text>,
    #[serde(default)]
    pub environment: BTreeMap<String, Text>,
    #[serde(default)]
    pub exit: Option<Vec<i32>>,
    pub time_limit: Option<Text>,
    #[serde(default)]
    pub when: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawRun {
    pub command: Option<Spanned<Vec<RawWord>>>,
    pub driver: Option<Text>,
    #[serde(default)]
    pub options: BTreeMap<String, RawWord>,
    #[serde(default)]
    pub fresh: bool,
    #[serde(default)]
    pub shell: bool,
    pub directory: Option<Text>,
    pub input: Option<Text>,
    #[serde(default)]
    pub environment: BTreeMap<String, Text>,
    #[serde(default)]
    pub exit: Option<Vec<i32>>,
    pub time_limit: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawCheck {
    pub name: Text,
    pub command: Spanned<Vec<RawWord>>,
    pub directory: Option<Text>,
    pub input: Option<Text>,
    #[serde(default)]
    pub environment: BTreeMap<String, Text>,
    pub expect: Text,
    #[serde(default)]
    pub when: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawMetric {
    pub id: Text,
    #[serde(default)]
    pub title: String,
    pub unit: String,
    pub better: Text,
    #[serde(default)]
    pub primary: bool,
    pub steers: Option<bool>,
    #[serde(default)]
    pub optional: bool,
    #[serde(default)]
    pub when: Texts,
    pub regex: Option<Text>,
    pub json: Option<Text>,
    pub csv: Option<Spanned<Scalar>>,
    pub process: Option<Text>,
    pub driver: Option<Text>,
    pub compute: Option<Text>,
    pub from: Option<Text>,
    pub pick: Option<Text>,
    pub rows_with: Option<Text>,
    pub separator: Option<Text>,
    #[serde(default)]
    pub units: BTreeMap<String, f64>,
    pub multiply: Option<f64>,
    pub numbers: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawCount {
    pub id: Text,
    pub regex: Option<Text>,
    pub matches: Option<Text>,
    pub from: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawFailure {
    pub regex: Text,
    pub says: String,
    #[serde(default)]
    pub hint: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RawEstimate {
    pub trial: Option<Text>,
    pub prepare: Option<Text>,
    pub trial_bytes: Option<Text>,
    pub prepare_bytes: Option<Text>,
}

/// A value of `[let]`: an expression, or one for each value of an option.
pub(super) enum RawLet {
    Plain(String),
    By {
        option: Text,
        values: BTreeMap<String, Spanned<Scalar>>,
        otherwise: Option<Spanned<Scalar>>,
    },
}

/// A word of a command line, or words under a condition.
pub(super) enum RawWord {
    Plain(Text),
    When {
        when: Texts,
        then: Vec<Text>,
        otherwise: Vec<Text>,
    },
}

/// One text or a list of them.
#[derive(Default)]
pub(super) struct Texts(pub Vec<Text>);

/// A text, or a number or truth value written as such.
pub(super) struct Scalar(pub String);

/// A value of a menu, alone or with its help.
pub(super) struct RawChoice {
    pub value: String,
    pub help: String,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a number or true or false")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }
            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar(if flag { "yes" } else { "no" }.to_owned()))
            }
        }
        deserializer.deserialize_any(Words)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Text and list are told apart inside of the place, which both have.
        let either = Spanned::<TextOrList>::deserialize(deserializer)?;
        let span = either.span();
        Ok(match either.into_inner() {
            TextOrList::Text(text) => Self(vec![Spanned::new(span, text)]),
            TextOrList::List(list) => Self(list),
        })
    }
}

enum TextOrList {
    Text(String),
    List(Vec<Text>),
}

impl<'de> Deserialize<'de> for TextOrList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = TextOrList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TextOrList, E> {
                Ok(TextOrList::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TextOrList, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(TextOrList::List(texts))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Reads a text, or the fields of a table one after the other.
macro_rules! text_or_table {
    ($Type:ty, $expecting:literal, $of_text:expr, $of_table:expr) => {
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $Type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$Type, E> {
                        Ok($of_text(text.to_owned()))
                    }
                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$Type, E> {
                        Ok($of_text(number.to_string()))
                    }
                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$Type, E> {
                        Ok($of_text(number.to_string()))
                    }
                    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<$Type, A::Error> {
                        $of_table(de::value::MapAccessDeserializer::new(table))
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ByTable {
    by: Text,
    values: BTreeMap<String, Spanned<Scalar>>,
    otherwise: Option<Spanned<Scalar>>,
}

text_or_table!(
    RawLet,
    "an expression, or a table with by and values",
    RawLet::Plain,
    |table| {
        let table = ByTable::deserialize(table)?;
        Ok(RawLet::By {
            option: table.by,
            values: table.values,
            otherwise: table.otherwise,
        })
    }
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ChoiceTable {
    value: String,
    #[serde(default)]
    help: String,
}

text_or_table!(
    RawChoice,
    "a value, or a table with value and help",
    |value| RawChoice {
        value,
        help: String::new()
    },
    |table| {
        let table = ChoiceTable::deserialize(table)?;
        Ok(RawChoice {
            value: table.value,
            help: table.help,
        })
    }
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WordTable {
    when: Texts,
    then: Vec<Text>,
    #[serde(default, rename = "else")]
    otherwise: Vec<Text>,
}

enum WordOrTable {
    Plain(String),
    Table(WordTable),
}

text_or_table!(
    WordOrTable,
    "a word, or a table with when and then",
    WordOrTable::Plain,
    |table| WordTable::deserialize(table).map(WordOrTable::Table)
);

impl<'de> Deserialize<'de> for RawWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let either = Spanned::<WordOrTable>::deserialize(deserializer)?;
        let span = either.span();
        Ok(match either.into_inner() {
            WordOrTable::Plain(word) => Self::Plain(Spanned::new(span, word)),
            WordOrTable::Table(table) => Self::When {
                when: table.when,
                then: table.then,
                otherwise: table.otherwise,
            },
        })
    }
}
