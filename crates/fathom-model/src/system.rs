use std::collections::BTreeMap;

use fathom_base::WallTime;
use serde::{Deserialize, Serialize};

use crate::machine::{Machine, TargetInfo};

/// A named text, in the order it is shown: `Processor: AMD EPYC 7601 ...`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field {
    /// `Processor`, `Kernel`, `Disk Details`.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// The machine and configuration measured, under an identifier a person chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct System {
    /// The name entries refer to; unique in a file.
    pub identifier: String,
    /// Hardware in the words of the Phoronix Test Suite, for tables and comparison.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hardware: Vec<Field>,
    /// Software likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub software: Vec<Field>,
    /// Notes by section: `Disk Details`, `Security Details`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Field>,
    /// Free text of the person who measured.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remark: String,
    /// Login name, only in imported files; Fathom records none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// When this system was first measured, as its file says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time_text: String,
    /// When this system was first measured, where it is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<WallTime>,
    /// The tool that measured, with its version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The machine in structure; absent in imported files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Machine>>,
    /// The target measured, down to its drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Box<TargetInfo>>,
    /// Factors to group by: `file-system` = `f2fs`, `layout` = `raid0`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The `JSON` object of a PTS file, as it was.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub pts_json: serde_json::Map<String, serde_json::Value>,
    /// Smallest place it had in the files it was merged from; only merged files have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}
