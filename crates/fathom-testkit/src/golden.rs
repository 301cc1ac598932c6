use std::path::Path;

/// Compares a text with a file that holds what is expected. With `UPDATE_GOLDEN=1` the file is
/// written instead; a missing file fails otherwise.
///
/// # Panics
/// With the first line that differs, or when the text holds what no expectation may: the home
/// directory, today's date, or the name of the machine.
pub fn golden(path: &Path, actual: &str) {
    if let Some(found) = unredacted(actual) {
        panic!("{}: the text holds {found}; redact it", path.display());
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        let parent = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, actual))
            .unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_else(|error| {
        panic!(
            "read {}: {error}; UPDATE_GOLDEN=1 writes it from what came out:\n{actual}",
            path.display()
        )
    });
    if let Some(difference) = first_difference(&expected, actual) {
        panic!(
            "{}, {difference}\nUPDATE_GOLDEN=1 accepts what came out",
            path.display()
        );
    }
}

/// What in a text is of this machine, this person or this day alone.
pub fn unredacted(text: &str) -> Option<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    if home.len() > 1 && text.contains(&format!("{home}/")) {
        return Some(format!("the home directory {home}"));
    }
    let today = today();
    text.contains(&today)
        .then(|| format!("today's date {today}"))
}

/// Today in UTC, by the civil calendar (days to date as in Howard Hinnant's `civil_from_days`).
fn today() -> String {
    use fathom_base::{Clock, SystemClock};
    let days = SystemClock::new().wall().unix_ms().div_euclid(86_400_000);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The first line that differs, as a text; `None` when all are equal.
fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let mut lines = (1..).zip(expected.split('\n').zip(actual.split('\n')));
    let differing = lines.find(|(_, (expected, actual))| expected != actual);
    Some(match differing {
        Some((number, (expected, actual))) => {
            format!("line {number}\nexpected: {expected:?}\n  actual: {actual:?}")
        }
        None => format!(
            "expected {} lines, came out {}",
            expected.split('\n').count(),
            actual.split('\n').count()
        ),
    })
}
