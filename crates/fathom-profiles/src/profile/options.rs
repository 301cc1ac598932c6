//! Options of a profile file.

use fathom_base::{Bytes, Nanos};
use fathom_model::{Choice, OptionInfo, OptionKind};
use toml::Spanned;

use super::parse::{Reader, Result};
use super::raw::{RawOption, Scalar};
use super::{OptionSpec, SCALE};
use crate::intern::interned;

const OPTIONS_LIMIT: usize = 100;
const LARGEST: u64 = 1 << 50;

/// The options as written, `scale` behind them when there is a short form, then those of the
/// service.
pub(super) fn options(
    reader: &Reader<'_>,
    raw: &[RawOption],
    has_short: bool,
    has_service: bool,
) -> Result<Vec<OptionSpec>> {
    let mut all: Vec<OptionSpec> = Vec::new();
    let mut reserved = super::HOST_NAMES.to_vec();
    reserved.extend(has_short.then_some(SCALE));
    if has_service {
        reserved.extend(SERVICE_OPTIONS.iter().map(|(name, ..)| *name));
    }
    for one in raw {
        let name = one.name.get_ref();
        reader.check_name(&one.name)?;
        let is_taken = all.iter().any(|known| known.info.name == name);
        if is_taken || reserved.contains(&name.as_str()) {
            let what = format!("the name {name} is taken; choose another");
            return Err(reader.wrong(&one.name, what));
        }
        if all.len() == OPTIONS_LIMIT {
            let what = format!("a profile has at most {OPTIONS_LIMIT} options");
            return Err(reader.wrong(&one.name, what));
        }
        let made = option(reader, one)?;
        if made.is_file && made.info.kind != OptionKind::Text {
            let what = "an option that names a file is of kind text".to_owned();
            return Err(reader.wrong(&one.kind, what));
        }
        all.push(made);
    }
    if has_short {
        all.push(OptionSpec {
            info: fathom_model::definition::ClassicScale::option(
                SCALE,
                fathom_model::definition::ClassicScale::Full,
                "How much is done.",
            ),
            identifies: true,
            is_file: false,
        });
    }
    for raw in raw.iter().filter(|raw| raw.file) {
        let name = format!("{}-file", raw.name.get_ref());
        all.push(OptionSpec {
            info: OptionInfo::new(
                interned(&name),
                OptionKind::Text,
                "found",
                "Name of the file; filled in.",
            ),
            identifies: true,
            is_file: false,
        });
    }
    if has_service {
        all.extend(
            SERVICE_OPTIONS
                .iter()
                .map(|(name, help, identifies)| OptionSpec {
                    info: OptionInfo::new(name, OptionKind::Text, "found", help),
                    identifies: *identifies,
                    is_file: false,
                }),
        );
    }
    Ok(all)
}

/// Options of every test with a service: name, help, whether part of the identity.
const SERVICE_OPTIONS: [(&str, &str, bool); 2] = [
    (
        "server",
        "Which server: found (Debian's places, then PATH), the directory of its programs, or the URL \
         of one that runs.",
        false,
    ),
    ("server-version", "What the server is; filled in.", true),
];

fn option(reader: &Reader<'_>, raw: &RawOption) -> Result<OptionSpec> {
    let name = interned(raw.name.get_ref());
    if raw.help.trim().is_empty() {
        let what = format!("option {name} has an empty help; say what it does in a sentence");
        return Err(reader.wrong(&raw.name, what));
    }
    let kind = kind(reader, raw)?;
    let mut info = OptionInfo::new(
        name,
        kind,
        raw.default.get_ref().0.clone(),
        interned(raw.help.trim()),
    );
    info.none_allowed = raw.none;
    for choice in &raw.menu {
        info.menu.push(Choice {
            value: interned(&choice.get_ref().value),
            help: interned(&choice.get_ref().help),
        });
    }
    for choice in &raw.menu {
        let value = &choice.get_ref().value;
        let accepted = info.canonical("of this profile", value);
        accepted.map_err(|error| reader.wrong(choice, error.to_string()))?;
    }
    let accepted = info.canonical("of this profile", &info.default);
    let default = accepted.map_err(|error| reader.wrong(&raw.default, error.to_string()))?;
    info.default = default;
    Ok(OptionSpec {
        info,
        identifies: raw.identity && !raw.file,
        is_file: raw.file,
    })
}

fn kind(reader: &Reader<'_>, raw: &RawOption) -> Result<OptionKind> {
    let kind = raw.kind.get_ref().as_str();
    if kind == "choice" && raw.menu.is_empty() {
        let what = "an option of kind choice needs a menu".to_owned();
        return Err(reader.wrong(&raw.kind, what));
    }
    let takes_range = matches!(kind, "size" | "integer" | "number" | "duration");
    if let (Some(range), false) = (&raw.range, takes_range) {
        let what = format!("an option of kind {kind} has no range");
        return Err(reader.wrong(range, what));
    }
    Ok(match kind {
        "choice" => OptionKind::Choice,
        "flag" => OptionKind::Flag,
        "text" => OptionKind::Text,
        "percent" => OptionKind::Percent,
        "rate" => OptionKind::Rate,
        "integer" => {
            let (low, high) = range(reader, raw, (0, LARGEST))?;
            OptionKind::Integer(low, high)
        }
        "number" => {
            let (low, high) = range(reader, raw, (0.0, f64::MAX))?;
            OptionKind::Number(low, high)
        }
        "size" => {
            let all = (Bytes::new(0), Bytes::new(LARGEST));
            let (low, high) = range(reader, raw, all)?;
            OptionKind::Size(low, high)
        }
        "duration" => {
            let all = (Nanos::new(0), Nanos::from_secs(7 * 86_400));
            let (low, high) = range(reader, raw, all)?;
            OptionKind::Duration(low, high)
        }
        _ => {
            let what = format!(
                "\"{kind}\" is no kind of option; expected choice, flag, text, integer, number, \
                 size, duration, percent or rate"
            );
            return Err(reader.wrong(&raw.kind, what));
        }
    })
}

fn range<T>(reader: &Reader<'_>, raw: &RawOption, all: (T, T)) -> Result<(T, T)>
where
    T: std::str::FromStr + PartialOrd,
{
    let Some(range) = &raw.range else {
        return Ok(all);
    };
    let parsed = bounds(range);
    let parsed = parsed.filter(|(low, high)| *low >= all.0 && *low <= *high && *high <= all.1);
    parsed.ok_or_else(|| {
        let what = format!(
            "the range of option {} is not accepted; expected two values of its kind, the smaller \
             first: range = [1, 100]",
            raw.name.get_ref()
        );
        reader.wrong(range, what)
    })
}

fn bounds<T: std::str::FromStr>(range: &Spanned<Vec<Scalar>>) -> Option<(T, T)> {
    match &range.get_ref()[..] {
        [low, high] => Some((low.0.parse().ok()?, high.0.parse().ok()?)),
        _ => None,
    }
}
