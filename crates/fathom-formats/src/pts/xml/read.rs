use std::borrow::Cow;

use fathom_model::{Display, Generator, Origin, ResultFile, System};
use serde_json::{Map, Value};

use super::cursor::{Cursor, Name, Next, without_markup};
use crate::pts::draft::{Draft, DraftResult, display_of, finish};
use crate::pts::entry::RawEntry;
use crate::pts::{fields, notes};
use crate::{Format, FormatError};

/// Most results and systems of a file.
const MAX_RESULTS: usize = 100_000;

/// Reads a PTS result file: `composite.xml`, `active.xml` or `test-N.xml`, of PTS 1 to 11.
///
/// # Errors
/// [`FormatError::Syntax`] with line and column when it is not well-formed or holds no result;
/// [`FormatError::Limit`] beyond 256 MiB or 100 000 results.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let (text, encoding_warning) = crate::text::decode(bytes);
    let mut cursor = Cursor::new(&text, Format::PtsXml);
    if let Some(warning) = encoding_warning {
        cursor.warnings.add("whole file", warning);
    }
    let mut draft = Draft {
        origin: Origin {
            format: Format::PtsXml.name().to_owned(),
            ..Origin::default()
        },
        ..Draft::default()
    };
    Document {
        cursor: &mut cursor,
        draft: &mut draft,
        entries: Vec::new(),
    }
    .read()?;
    draft.warnings = cursor.warnings;
    Ok(finish(draft))
}

struct Document<'a, 'c> {
    cursor: &'c mut Cursor<'a>,
    draft: &'c mut Draft,
    /// The entries of the result being read; the room is used again for each.
    entries: Vec<RawEntry<'a>>,
}

impl<'a> Document<'a, '_> {
    fn read(&mut self) -> Result<(), FormatError> {
        match self.cursor.child()?.as_deref() {
            Some("PhoronixTestSuite") => {}
            Some(root) => {
                let what = format!("the root element is <{root}>; expected <PhoronixTestSuite>");
                return Err(self.cursor.error(what));
            }
            None => {
                return Err(self
                    .cursor
                    .error("no element; expected <PhoronixTestSuite>".into()));
            }
        }
        self.root()?;
        if self.cursor.is_truncated {
            self.cursor.path.clear();
            self.cursor
                .warn("the file ends too early; what is complete was read".to_owned());
        }
        if self.draft.results.is_empty() && self.draft.systems.is_empty() {
            return Err(self.cursor.error(
                "no <System> and no <Result>; expected a PTS result file (composite.xml)".into(),
            ));
        }
        Ok(())
    }

    fn root(&mut self) -> Result<(), FormatError> {
        let mut count = 0;
        while let Some(name) = self.cursor.child()? {
            count += 1;
            if count > MAX_RESULTS {
                return Err(FormatError::Limit {
                    what: "systems and results of a file",
                    found: count as u64,
                    limit: MAX_RESULTS as u64,
                });
            }
            match &*name {
                "Generated" | "Suite" => self.generated()?,
                "System" => self.system()?,
                "Result" | "Benchmark" => self.result()?,
                name => self.unknown(name)?,
            }
            self.cursor.path.clear();
        }
        Ok(())
    }

    /// `Generated`, and `Suite` of the old layout.
    fn generated(&mut self) -> Result<(), FormatError> {
        self.cursor.path.push_str("Generated");
        while let Some((name, text)) = self.leaf()? {
            let text = text.trim();
            match &*name {
                _ if text.is_empty() => {}
                "Title" => self.draft.title = without_markup(text),
                "Description" => self.draft.description = without_markup(text),
                "TestClient" | "Version" => {
                    self.draft.generator = generator(text);
                    self.fact("test_client", text);
                }
                "LastModified" | "TimeStamp" => self.fact("last_modified", text),
                "Notes" => self.fact("notes", text),
                "InternalTags" => self.fact("internal_tags", text),
                "PreSetEnvironmentVariables" => self.fact("preset_environment_variables", text),
                "Extensions" => self.fact("extensions", text),
                "TestProperties" => self.fact("test_properties", text),
                "ReferenceID" => {
                    self.fact("reference_id", text);
                    self.draft.origin.address =
                        Some(format!("https://openbenchmarking.org/result/{text}"));
                }
                name => self.cursor.unknown(name, text),
            }
        }
        Ok(())
    }

    fn system(&mut self) -> Result<(), FormatError> {
        self.cursor.path = format!("System {}", self.draft.systems.len() + 1);
        let mut system = System::default();
        let mut free_notes = String::new();
        while let Some((name, text)) = self.leaf()? {
            let text = text.trim();
            match &*name {
                "Identifier" | "AssociatedIdentifiers" => system.identifier = text.to_owned(),
                "Hardware" => system.hardware = fields::split(&without_markup(text)),
                "Software" => system.software = fields::split(&without_markup(text)),
                "User" | "Author" => system.user = text.to_owned(),
                "TimeStamp" | "TestDate" => system.time_text = text.to_owned(),
                "TestClientVersion" | "Version" => system.client = crate::pts::client(text),
                "Notes" | "TestNotes" => free_notes = without_markup(text),
                "JSON" => self.system_json(text, &mut system),
                "CostValueForComparison" if !text.is_empty() => {
                    system.extra.insert("pts_cost".to_owned(), text.into());
                }
                name => self.cursor.unknown(name, text),
            }
        }
        if self.cursor.is_truncated {
            return Ok(());
        }
        system.notes = notes::from_json(&system.pts_json, &free_notes);
        if !free_notes.is_empty() {
            system
                .extra
                .insert("pts_notes".to_owned(), free_notes.into());
        }
        self.add_system(system);
        Ok(())
    }

    /// The old layout describes several identifiers in one block.
    fn add_system(&mut self, system: System) {
        let names: Vec<&str> = system
            .identifier
            .split(", ")
            .filter(|n| !n.is_empty())
            .collect();
        match names.as_slice() {
            [] => self
                .cursor
                .warn("a System block without Identifier was left out".to_owned()),
            [_] => self.draft.systems.push(system),
            names => {
                for name in names {
                    self.draft.systems.push(System {
                        identifier: (*name).to_owned(),
                        ..system.clone()
                    });
                }
            }
        }
    }

    fn system_json(&mut self, text: &str, system: &mut System) {
        match serde_json::from_str::<Map<String, Value>>(text) {
            _ if text.is_empty() => {}
            Ok(map) => system.pts_json = map,
            Err(error) => {
                self.cursor
                    .warn(format!("the JSON cannot be read ({error}): {text}"));
                system.extra.insert("pts_json_text".to_owned(), text.into());
            }
        }
    }

    fn result(&mut self) -> Result<(), FormatError> {
        let place = format!("Result {}", self.draft.results.len() + 1);
        self.cursor.path.clone_from(&place);
        let mut result = DraftResult {
            place,
            ..DraftResult::default()
        };
        let mut profile_version = String::new();
        self.entries.clear();
        loop {
            let (name, text) = match self.cursor.next()? {
                Next::Text(name, text) => (name, text),
                Next::Child(name) if matches!(&*name, "Data" | "Results") => {
                    self.data()?;
                    continue;
                }
                Next::Child(name) => (name, self.cursor.text()?),
                Next::End => break,
            };
            match &*name {
                "Identifier" | "TestName" => result.identifier = text.into_owned(),
                "Title" | "Name" => result.title = text.into_owned(),
                "AppVersion" | "Version" => result.app_version = text.into_owned(),
                "Arguments" | "TestArguments" => result.arguments = text.into_owned(),
                "Description" | "Attributes" => result.description = text.into_owned(),
                "Scale" => result.scale = text.into_owned(),
                "Proportion" => result.proportion = text.into_owned(),
                "DisplayFormat" | "ResultFormat" => result.display_format = text.into_owned(),
                "ProfileVersion" => profile_version = text.into_owned(),
                "Annotation" => result.annotation = some(text),
                "Parent" => result.parent = some(text),
                name => self.cursor.unknown(name, &text),
            }
        }
        if self.cursor.is_truncated {
            return Ok(());
        }
        if !profile_version.is_empty() {
            result.identifier = format!("{}-{}", result.identifier.trim(), profile_version.trim());
        }
        self.add_result(result);
        Ok(())
    }

    fn add_result(&mut self, mut result: DraftResult) {
        if result.title.trim().is_empty() && result.identifier.trim().is_empty() {
            let text = "a result without title and identifier was left out".to_owned();
            return self.cursor.warn(text);
        }
        let display = display_of(&result.display_format);
        if display.is_none() {
            self.cursor.warn(format!(
                "display format {} is not known; its values are shown as a table",
                result.display_format
            ));
        }
        let display = display.unwrap_or(Display::Bar);
        let entries = std::mem::take(&mut self.entries);
        result.entries.reserve_exact(entries.len());
        for raw in entries {
            let entry = raw.finish(display, &result.place, &mut self.cursor.warnings);
            let is_odd = display == Display::Bar
                && entry
                    .details
                    .as_ref()
                    .is_some_and(|details| details.text.is_some());
            if is_odd {
                let text = format!("the value of system {} is no number", entry.system);
                self.cursor.warnings.add(result.place.clone(), text);
            }
            result.entries.push(entry);
        }
        if result.entries.is_empty() {
            self.cursor
                .warn(format!("{} has no entries", result.name()));
        }
        self.draft.results.push(result);
    }

    /// `Data`, or `Results` with `Group`s of the old layout.
    fn data(&mut self) -> Result<(), FormatError> {
        while let Some(name) = self.cursor.child()? {
            match &*name {
                "Entry" => self.entry()?,
                "Group" => {
                    while let Some(name) = self.cursor.child()? {
                        match &*name {
                            "Entry" => self.entry()?,
                            name => self.unknown(name)?,
                        }
                    }
                }
                name => self.unknown(name)?,
            }
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(), FormatError> {
        let mut entry = RawEntry::default();
        while let Some((name, text)) = self.leaf()? {
            match &*name {
                "Identifier" => entry.system = text,
                "Value" => entry.value = text,
                "RawString" => entry.raw = text,
                "JSON" => entry.json = text,
                name => self.cursor.unknown(name, &text),
            }
        }
        if self.cursor.is_truncated {
            return Ok(());
        }
        match entry.system.is_empty() && entry.value.is_empty() {
            true => self.cursor.warn("an empty entry was left out".to_owned()),
            false => self.entries.push(entry),
        }
        Ok(())
    }

    fn fact(&mut self, key: &str, text: &str) {
        self.draft.origin.facts.insert(key.to_owned(), text.into());
    }

    /// The next child of an element whose children hold only text.
    fn leaf(&mut self) -> Result<Option<(Name, Cow<'a, str>)>, FormatError> {
        Ok(match self.cursor.next()? {
            Next::Text(name, text) => Some((name, text)),
            Next::Child(name) => Some((name, self.cursor.text()?)),
            Next::End => None,
        })
    }

    /// Steps over an element that has just begun.
    fn unknown(&mut self, name: &str) -> Result<(), FormatError> {
        let text = self.cursor.text()?;
        self.cursor.unknown(name, &text);
        Ok(())
    }
}

fn some(text: Cow<'_, str>) -> Option<String> {
    match text.trim() {
        "" => None,
        text => Some(text.to_owned()),
    }
}

/// `Phoronix Test Suite v10.8.6` or, in old files, `10.8.6`.
fn generator(text: &str) -> Generator {
    let version = text
        .strip_prefix("Phoronix Test Suite")
        .unwrap_or(text)
        .trim();
    Generator {
        name: "Phoronix Test Suite".to_owned(),
        version: version.trim_start_matches('v').to_owned(),
    }
}
