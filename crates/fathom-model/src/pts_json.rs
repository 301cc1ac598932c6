use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The `JSON` object of an entry in a PTS file, kept as the text it was until somebody asks: large
/// files hold tens of thousands of them, and few are ever looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PtsJson(Option<Box<RawValue>>);

impl PtsJson {
    /// Takes the text of a JSON object; `None` when it is not one.
    ///
    /// ```
    /// let json = fathom_model::PtsJson::parse(r#"{"test-run-times":"20.11:20.09"}"#).unwrap();
    /// assert_eq!(json.text_of("test-run-times").as_deref(), Some("20.11:20.09"));
    /// assert!(fathom_model::PtsJson::parse("[1]").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.starts_with('{') {
            return None;
        }
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self(Some(raw.to_owned())))
    }

    /// An object as text.
    pub fn from_map(map: &Map<String, Value>) -> Self {
        match map.is_empty() {
            true => Self::default(),
            false => Self(serde_json::value::to_raw_value(map).ok()),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text as it was read; empty when there is none.
    pub fn text(&self) -> &str {
        self.0.as_ref().map_or("", |raw| raw.get())
    }

    /// The object; empty when there is none or it is nested deeper than 127 levels. Parses the
    /// text on every call.
    pub fn map(&self) -> Map<String, Value> {
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// One text or number of the object, as text.
    pub fn text_of(&self, key: &str) -> Option<String> {
        if !self.text().contains(key) {
            return None;
        }
        match self.map().remove(key)? {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

impl PartialEq for PtsJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PtsJson {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PtsJson".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The JSON object of an entry in a PTS file.",
            "type": ["object", "null"],
        })
    }
}
