use serde::{Deserialize, Serialize};

/// How far a number can be trusted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not judged: an imported number without evidence.
    #[default]
    Unjudged,
    /// No rule objected.
    Valid,
    /// It may not mean what it seems to mean.
    Suspect,
    /// It does not mean what it seems to mean.
    Invalid,
}

impl Level {
    /// As shown beside the number.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unjudged => "unjudged",
            Self::Valid => "valid",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

/// Why a rule objected, or what a rule wants known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The rule's name, stable over versions: `memory-backed`.
    pub rule: String,
    /// Few words for the line beside the number.
    pub short: String,
    /// A sentence or two with the figures that were seen and expected.
    pub text: String,
    /// What to do about it; empty when nothing can be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// The judgement on an entry or a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The worst of what the rules found.
    #[serde(default)]
    pub level: Level,
    /// Why it is not valid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// What should be known and does not change the level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Reason>,
}

impl Verdict {
    /// A verdict without objections.
    pub fn valid() -> Self {
        Self {
            level: Level::Valid,
            ..Self::default()
        }
    }

    /// Adds an objection and raises the level to at least `level`. An objection of a rule that has
    /// spoken already only raises the level.
    pub fn object(&mut self, level: Level, reason: Reason) {
        self.level = self.level.max(level);
        if !self.reasons.iter().any(|known| known.rule == reason.rule) {
            self.reasons.push(reason);
        }
    }

    /// Adds something to know; once a rule.
    pub fn note(&mut self, note: Reason) {
        if !self.notes.iter().any(|known| known.rule == note.rule) {
            self.notes.push(note);
        }
    }

    /// Takes over everything another verdict says: the verdict of an entry is the worst of its
    /// trials'.
    pub fn absorb(&mut self, other: &Self) {
        self.level = self.level.max(other.level);
        for reason in &other.reasons {
            self.object(other.level.min(self.level), reason.clone());
        }
        for note in &other.notes {
            self.note(note.clone());
        }
    }
}
