use crate::profile::{Profile, ProfileFileError};

/// A profile that works, with a comment for everything; `NAME` stands for its id.
const TEMPLATE: &str = include_str!("new.toml");

/// The text of a new profile of that name.
///
/// # Errors
/// When the name is not accepted.
pub fn new_profile(name: &str) -> Result<String, ProfileFileError> {
    let text = TEMPLATE.replace("NAME", name);
    Profile::parse(&format!("{name}.toml"), &text)?;
    Ok(text)
}
