//! What is to be said of the entries of a result besides their numbers.

use fathom_model::Level;

use crate::view::{Block, Row, View};

/// What kind of thing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There is no number.
    Failed,
    /// The number does not mean what it seems to mean.
    Invalid,
    /// It may not.
    Suspect,
    /// It should be known.
    Note,
}

impl Kind {
    fn of(level: Level) -> Self {
        match level {
            Level::Invalid => Self::Invalid,
            Level::Suspect => Self::Suspect,
            Level::Unjudged | Level::Valid => Self::Note,
        }
    }

    /// The word before it; empty for notes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Suspect => "suspect",
            Self::Note => "",
        }
    }
}

/// Something said of one or several entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saying {
    /// What kind.
    pub kind: Kind,
    /// A sentence or two, with what to do.
    pub text: String,
    /// The entries it is said of, joined by commas.
    pub names: String,
    /// Their systems.
    pub systems: Vec<u32>,
}

/// What has been said of a case; its metrics share their trials and so what is said of them.
#[derive(Default)]
pub(crate) struct Said(Vec<Saying>);

impl Said {
    /// What is new about a block of the case.
    pub fn news_of(&mut self, view: &View<'_>, block: &Block<'_>) -> Vec<Saying> {
        let mut sayings = sayings_of(view, block);
        sayings.retain(|saying| !self.0.contains(saying));
        self.0.extend(sayings.iter().cloned());
        sayings
    }
}

/// Failures, objections, notes and gaps of a block; the same thing once for all it is said of.
fn sayings_of(view: &View<'_>, block: &Block<'_>) -> Vec<Saying> {
    let mut sayings = Vec::new();
    for row in &block.rows {
        add_row(&mut sayings, row, &view.row_name(row));
    }
    for place in &block.missing {
        let name = view.systems[*place as usize].name;
        add(&mut sayings, Kind::Note, "not measured", *place, name);
    }
    sayings
}

fn add_row(sayings: &mut Vec<Saying>, row: &Row<'_>, name: &str) {
    let verdict = &row.entry.verdict;
    let mut say = |kind, text: &str| add(sayings, kind, text, row.system, name);
    if let Some(failure) = row.failure() {
        say(Kind::Failed, failure);
    }
    if let Some((failed, all)) = row.failed_trials() {
        say(Kind::Suspect, &format!("{failed} of {all} trials failed"));
    }
    if let Some(error) = row.entry.error.as_deref().filter(|_| row.value.is_some()) {
        say(Kind::Suspect, error);
    }
    if let Some(why) = row
        .entry
        .details
        .as_ref()
        .and_then(|details| details.uncertain.as_ref())
    {
        say(
            Kind::Note,
            &format!("the importer is not certain of this value: {why}"),
        );
    }
    let reasons = verdict
        .reasons
        .iter()
        .map(|reason| (Kind::of(verdict.level), reason));
    let notes = verdict.notes.iter().map(|note| (Kind::Note, note));
    for (kind, reason) in reasons.chain(notes) {
        let text = if reason.text.is_empty() {
            &reason.short
        } else {
            &reason.text
        };
        say(kind, format!("{text} {}", reason.advice).trim());
    }
}

fn add(sayings: &mut Vec<Saying>, kind: Kind, text: &str, system: u32, name: &str) {
    match sayings
        .iter_mut()
        .find(|known| known.kind == kind && known.text == text)
    {
        Some(known) => {
            known.names.push_str(", ");
            known.names.push_str(name);
            known.systems.push(system);
        }
        None => sayings.push(Saying {
            kind,
            text: text.to_owned(),
            names: name.to_owned(),
            systems: vec![system],
        }),
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::{Entry, Figure, Reason, ResultFile, ResultRecord, System, Verdict};

    use super::*;

    #[test]
    fn the_same_thing_is_said_once() {
        let noted = |name: &str| {
            let mut verdict = Verdict::valid();
            verdict.note(Reason {
                rule: "r".to_owned(),
                short: "short".to_owned(),
                text: "Foreign I/O.".to_owned(),
                advice: "Measure again.".to_owned(),
            });
            let (system, value) = (name.to_owned(), Figure::new(1.0));
            Entry {
                system,
                value,
                verdict,
                ..Entry::default()
            }
        };
        let system = |name: &str| System {
            identifier: name.to_owned(),
            ..System::default()
        };
        let failed = Entry {
            system: "C".to_owned(),
            error: Some("full".into()),
            ..Entry::default()
        };
        let file = ResultFile {
            systems: ["A", "B", "C", "D", "E"].map(system).into(),
            results: vec![ResultRecord {
                entries: vec![noted("A"), noted("B"), failed],
                ..ResultRecord::default()
            }],
            ..ResultFile::default()
        };
        let view = View::of(&file);
        let said: Vec<(Kind, String, String)> = sayings_of(&view, &view.blocks[0])
            .into_iter()
            .map(|saying| (saying.kind, saying.names, saying.text))
            .collect();
        let expected = [
            (Kind::Note, "A, B", "Foreign I/O. Measure again."),
            (Kind::Failed, "C", "full"),
            (Kind::Note, "D, E", "not measured"),
        ];
        assert_eq!(
            said,
            expected.map(|(kind, a, b)| (kind, a.to_owned(), b.to_owned()))
        );
    }
}
