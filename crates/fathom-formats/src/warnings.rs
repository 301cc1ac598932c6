use fathom_model::Warning;

/// Warnings kept; more are only counted.
const MOST: usize = 500;
/// Longest text of a warning in bytes.
const LONGEST: usize = 600;

/// Collects what a reader has to say.
#[derive(Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
    beyond: usize,
}

impl Warnings {
    /// Adds one, unless the same has been said.
    pub(crate) fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        if self.list.len() == MOST {
            self.beyond += 1;
            return;
        }
        let warning = Warning {
            place: crate::text::cut(place.into(), LONGEST),
            text: crate::text::cut(text.into(), LONGEST),
        };
        if !self.list.contains(&warning) {
            self.list.push(warning);
        }
    }

    /// Whether further ones are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() == MOST
    }

    pub(crate) fn finish(mut self) -> Vec<Warning> {
        if self.beyond > 0 {
            self.list.push(Warning {
                place: "whole file".to_owned(),
                text: format!("{} more warnings, not listed", self.beyond),
            });
        }
        self.list
    }
}
