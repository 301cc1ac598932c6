use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::text::clean;
use crate::warnings::Warnings;
use crate::{Format, FormatError, Place};

/// Deepest nesting of elements that is followed.
const MAX_DEPTH: usize = 64;

/// Makes a function that gives known names back without copying them.
macro_rules! known_names {
    ($($name:literal),* $(,)?) => {
        fn known(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some($name),)*
                _ => None,
            }
        }
    };
}

known_names![
    "Entry",
    "Identifier",
    "Value",
    "RawString",
    "JSON",
    "Result",
    "Title",
    "AppVersion",
    "Arguments",
    "Description",
    "Scale",
    "Proportion",
    "DisplayFormat",
    "Data",
    "Annotation",
    "Parent",
    "System",
    "Hardware",
    "Software",
    "User",
    "TimeStamp",
    "TestClientVersion",
    "Notes",
    "CostValueForComparison",
    "Generated",
    "LastModified",
    "TestClient",
    "InternalTags",
    "ReferenceID",
    "PreSetEnvironmentVariables",
    "PhoronixTestSuite",
    "Suite",
    "Extensions",
    "TestProperties",
    "Author",
    "TestDate",
    "TestNotes",
    "Version",
    "AssociatedIdentifiers",
    "Benchmark",
    "TestName",
    "Name",
    "ResultFormat",
    "ProfileVersion",
    "TestArguments",
    "Attributes",
    "Results",
    "Group",
];

/// The name of an element.
pub(super) type Name = Cow<'static, str>;

/// What comes next inside an element.
pub(super) enum Next<'a> {
    /// An element that held only text; it has been read to its end.
    Text(Name, Cow<'a, str>),
    /// An element begins.
    Child(Name),
    /// The element ends, or the file.
    End,
}

/// Walks over the elements of a document.
pub(super) struct Cursor<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    pub warnings: Warnings,
    /// Names of the elements around the current position, for messages.
    pub path: String,
    /// The file ended inside an element.
    pub is_truncated: bool,
    depth: usize,
    format: Format,
    /// An offset and its line, so that lines are counted once.
    line_at: (usize, usize),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, format: Format) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self {
            text,
            reader,
            warnings: Warnings::default(),
            path: String::new(),
            is_truncated: false,
            depth: 0,
            format,
            line_at: (0, 1),
        }
    }

    /// The next child of the current element; `None` at its end and at the end of the file (which
    /// leaves `is_truncated` when elements are open).
    pub(super) fn child(&mut self) -> Result<Option<Name>, FormatError> {
        loop {
            match self.event()? {
                Event::Start(start) => {
                    if start
                        .attributes_raw()
                        .bytes()
                        .any(|b| !b.is_ascii_whitespace())
                    {
                        self.warn(format!("attributes of <{}> are not known", name_of(&start)));
                    }
                    self.depth += 1;
                    return Ok(Some(known_name(start.name().as_ref())));
                }
                Event::End(_) => {
                    self.depth -= 1;
                    return Ok(None);
                }
                Event::Eof => {
                    self.is_truncated = self.depth > 0;
                    return Ok(None);
                }
                Event::DocType(doctype) => self.check_doctype(&doctype)?,
                Event::Text(text) => {
                    let stray = text.trim_ascii();
                    if !stray.is_empty() {
                        self.warn(format!(
                            "text outside of an element: \"{}\"",
                            start_of(stray)
                        ));
                    }
                }
                Event::CData(_) | Event::GeneralRef(_) => {
                    self.warn("text outside of an element".to_owned());
                }
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    /// The next child; one that is plain text is read at once.
    pub(super) fn next(&mut self) -> Result<Next<'a>, FormatError> {
        if let Some((name, text)) = self.plain_text() {
            return Ok(Next::Text(Cow::Borrowed(name), Cow::Borrowed(text)));
        }
        Ok(self.child()?.map_or(Next::End, Next::Child))
    }

    /// Reads `<Known>text</Known>` straight from the input when nothing in it needs care; it is
    /// most of a large file. Anything else is left to the events.
    fn plain_text(&mut self) -> Option<(&'static str, &'a str)> {
        let rest = self.text.get(self.position()..)?;
        let element = rest.trim_ascii_start();
        let inner = element.strip_prefix('<')?;
        let name = known(inner.get(..inner.find('>')?)?)?;
        let content = &inner[name.len() + 1..];
        let text = &content[..content.find('<')?];
        let end = content[text.len()..]
            .strip_prefix("</")?
            .strip_prefix(name)?
            .strip_prefix('>')?;
        // Ampersands, control characters (C2 begins those beyond ASCII), line ends.
        let needs_care = text.bytes().fold(false, |care, b| {
            care | (b < 0x20) | matches!(b, b'&' | 0x7f | 0xc2)
        });
        if needs_care {
            return None;
        }
        self.reader.stream().consume(rest.len() - end.len());
        Some((name, text))
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// The text of the element that has just begun, up to its end; tags inside are left out.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, FormatError> {
        let mut whole: Cow<'a, str> = Cow::Borrowed("");
        let mut depth = 0;
        loop {
            let part: Cow<'a, str> = match self.event()? {
                Event::End(_) if depth == 0 => {
                    self.depth -= 1;
                    return Ok(clean(whole));
                }
                Event::End(_) => {
                    depth -= 1;
                    continue;
                }
                Event::Start(start) => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.error("elements are nested too deeply".to_owned()));
                    }
                    if !is_markup(start.name().as_ref()) {
                        self.warn(format!("element <{}> inside a text", name_of(&start)));
                    }
                    continue;
                }
                Event::Text(text) => text.xml10_content(),
                Event::CData(data) => data.xml10_content(),
                Event::GeneralRef(reference) => self.resolve(&reference)?,
                Event::Eof => {
                    self.is_truncated = true;
                    return Ok(clean(whole));
                }
                _ => continue,
            };
            match whole.is_empty() {
                true => whole = part,
                false => whole.to_mut().push_str(&part),
            }
        }
    }

    /// Says that an element was left out, and what was in it.
    pub(super) fn unknown(&mut self, name: &str, text: &str) {
        let text = start_of(text.trim());
        self.warn(format!(
            "element <{name}> is not known and was left out: \"{text}\""
        ));
    }

    fn event(&mut self) -> Result<Event<'a>, FormatError> {
        self.reader.read_event().map_err(|error| {
            let offset = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
            FormatError::Syntax {
                format: self.format,
                place: Place::at(self.text.as_bytes(), offset).with_path(self.path.clone()),
                what: error.to_string(),
            }
        })
    }

    fn resolve(
        &mut self,
        reference: &quick_xml::events::BytesRef<'a>,
    ) -> Result<Cow<'a, str>, FormatError> {
        match reference.resolve_char_ref() {
            Ok(Some(c)) => Ok(c.to_string().into()),
            Ok(None) => match quick_xml::escape::resolve_predefined_entity(reference) {
                Some(text) => Ok(text.into()),
                None => {
                    let known = html_entity(reference);
                    if known.is_none() {
                        self.warn(format!("&{}; is not known and kept as it is", &**reference));
                    }
                    Ok(known.map_or_else(|| format!("&{};", &**reference).into(), Cow::Borrowed))
                }
            },
            Err(error) => Err(self.error(error.to_string())),
        }
    }

    /// Entity declarations can make a small file fill all memory; no tool writes any.
    fn check_doctype(&mut self, doctype: &str) -> Result<(), FormatError> {
        match doctype.contains("<!ENTITY") || doctype.contains('[') {
            true => Err(self.error("a document type with declarations is refused".to_owned())),
            false => Ok(()),
        }
    }

    /// An error at the current position.
    pub(super) fn error(&mut self, what: String) -> FormatError {
        FormatError::Syntax {
            format: self.format,
            place: self.place(),
            what,
        }
    }

    /// A warning at the current position.
    pub(super) fn warn(&mut self, text: String) {
        let place = match self.warnings.is_full() {
            true => String::new(),
            false => self.place().to_string(),
        };
        self.warnings.add(place, text);
    }

    fn place(&mut self) -> Place {
        let offset = self.position().min(self.text.len());
        let (from, mut line) = self.line_at;
        assert!(from <= offset, "the reader only moves forward");
        line += self.text.as_bytes()[from..offset]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        self.line_at = (offset, line);
        Place::line(line).with_path(self.path.clone())
    }
}

fn name_of(start: &quick_xml::events::BytesStart<'_>) -> String {
    start_of(start.name().as_ref()).to_owned()
}

fn known_name(name: &str) -> Name {
    match known(name) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(start_of(name).to_owned()),
    }
}

fn start_of(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(200)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// HTML markup that people put into titles and descriptions.
fn is_markup(name: &str) -> bool {
    const MARKUP: [&str; 16] = [
        "a", "b", "i", "u", "p", "br", "em", "strong", "span", "font", "div", "sup", "sub", "li",
        "ul", "code",
    ];
    MARKUP.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn html_entity(name: &str) -> Option<&'static str> {
    Some(match name {
        "nbsp" => "\u{a0}",
        "reg" => "\u{ae}",
        "trade" => "\u{2122}",
        "copy" => "\u{a9}",
        "deg" => "\u{b0}",
        "micro" => "\u{b5}",
        _ => return None,
    })
}

/// Removes HTML tags that stand in a text as text: `&lt;b&gt;`.
pub(super) fn without_markup(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let tag = &rest[open + 1..];
        let name_end = tag
            .trim_start_matches('/')
            .find(|c: char| !c.is_ascii_alphanumeric());
        let close = tag.find('>');
        let name = tag
            .trim_start_matches('/')
            .get(..name_end.unwrap_or(0))
            .unwrap_or("");
        match close {
            Some(close) if is_markup(name) => {
                clean.push_str(&rest[..open]);
                rest = &tag[close + 1..];
            }
            _ => {
                clean.push_str(&rest[..=open]);
                rest = tag;
            }
        }
    }
    clean.push_str(rest);
    clean
}
