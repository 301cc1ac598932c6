//! What udev recorded about a device: `/run/udev/data/b8:0`.

use crate::mounts::DeviceNumber;
use crate::root::Root;

/// The properties of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct UdevRecord(Vec<(String, String)>);

impl UdevRecord {
    pub fn read(root: &Root, number: DeviceNumber) -> Self {
        let text = root
            .read(format!("/run/udev/data/b{number}"))
            .unwrap_or_default();
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Self {
        let property = |line: &str| {
            let (key, value) = line.strip_prefix("E:")?.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        };
        Self(text.lines().filter_map(property).collect())
    }

    pub fn value(&self, key: &str) -> Option<String> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty())
    }

    /// The whole model: `ID_MODEL_ENC` keeps spaces as `\x20`, `ID_MODEL` as underscores.
    pub fn model(&self) -> Option<String> {
        let encoded = self.value("ID_MODEL_ENC").map(|text| decode(&text));
        encoded.or_else(|| self.value("ID_MODEL").map(|text| text.replace('_', " ")))
    }
}

/// Turns `\x20` and its like into the character they stand for.
fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 2..at + 4);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 4..];
            }
            None => {
                out.push_str("\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    out.push_str(rest);
    out
}
