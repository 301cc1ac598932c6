//! Is it well-formed?

use quick_xml::Reader;
use quick_xml::events::Event;

/// Panics unless the text is well-formed XML with known entities and unique ids; gives the texts
/// of all elements, joined by blanks.
#[track_caller]
pub fn assert_well_formed(svg: &str) -> String {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let mut texts = String::new();
    let mut ids = std::collections::HashSet::new();
    let mut depth = 0_usize;
    loop {
        let event = reader
            .read_event()
            .unwrap_or_else(|error| panic!("{error} in {svg:.400}"));
        match &event {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => {
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    let value = &*attribute.value;
                    assert!(!value.contains('<') && !value.contains("NaN"), "{value}");
                    if attribute.key.as_ref() == "id" {
                        assert!(ids.insert(value.to_owned()), "id {value} twice");
                    }
                }
            }
            Event::Text(text) => {
                texts.push_str(text);
                texts.push(' ');
            }
            Event::GeneralRef(reference) => {
                let name: &str = reference;
                assert!(
                    ["amp", "lt", "gt", "quot", "#39"].contains(&name),
                    "&{name};"
                );
            }
            _ => {}
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    assert!(svg.chars().all(|c| !c.is_control()), "control characters");
    texts
}
