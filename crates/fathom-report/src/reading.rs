//! How certain the numbers of an imported page are, in words.

use fathom_model::ResultFile;

/// `126 values read from the text of a page, all of them certain; the axes of all 16 charts follow
/// from them`; `None` for files whose numbers stand apart.
pub(crate) fn reading_text(file: &ResultFile) -> Option<String> {
    let reading = file.origin.as_deref()?.facts.get("reading")?;
    let number = |name: &str| reading.get(name)?.as_u64();
    let (values, uncertain) = (number("values")?, number("uncertain_values")?);
    let (charts, axes) = (number("charts")?, number("axes_that_follow")?);
    let certainty = match uncertain {
        0 => "all of them certain".to_owned(),
        1 => "1 of them the likeliest reading, marked as such".to_owned(),
        many => format!("{many} of them the likeliest reading, marked as such"),
    };
    let axes = match axes == charts {
        true => format!("the axes of all {charts} charts follow from them"),
        false => format!("the axes of {axes} of {charts} charts follow from them"),
    };
    Some(format!(
        "{values} values read from the text of a page, {certainty}; {axes}"
    ))
}
