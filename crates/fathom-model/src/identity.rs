use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::case::{CaseId, Implementation, ImplementationKind, Options};

/// The identity of a case: the first 16 hexadecimal digits of SHA-256 over the test, the major part
/// of its version, the implementation and its version, and the options that are not at their
/// default, sorted by name; fields are separated by a zero byte so that none can imitate another.
pub fn case_id(
    test: &str,
    test_version: &str,
    implementation: &Implementation,
    chosen: &Options,
) -> CaseId {
    let mut hash = Sha256::new();
    let major = test_version.split('.').next().unwrap_or(test_version);
    let kind = implementation.kind.name();
    let mut feed = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    for text in [
        test,
        major,
        kind,
        &implementation.name,
        &implementation.version,
    ] {
        feed(text);
    }
    let mut sorted: Vec<(&str, &str)> = chosen.iter().collect();
    sorted.sort_unstable();
    for (name, value) in sorted {
        feed(name);
        feed(value);
    }
    CaseId(hex(&hash.finalize()[..8]))
}

/// The five texts that make two PTS results "the same test".
#[derive(Clone, Copy, Debug)]
pub struct PtsIdentity<'a> {
    /// `pts/fio-2.1.0`; may be empty.
    pub identifier: &'a str,
    /// Used in place of an empty identifier.
    pub title: &'a str,
    /// The argument string.
    pub arguments: &'a str,
    /// The text of the options.
    pub description: &'a str,
    /// Version of the tested program.
    pub app_version: &'a str,
    /// The unit.
    pub scale: &'a str,
}

/// The comparison hash of the Phoronix Test Suite: SHA-1 over profile, arguments, description,
/// version and scale, joined by commas, each trimmed; the profile loses everything from its last
/// dot on (`pts/fio-2.1.0` is compared as `pts/fio-2.1`).
pub fn pts_comparison_hash(of: PtsIdentity<'_>) -> String {
    let fields = [
        pts_profile(of.identifier, of.title),
        of.arguments,
        of.description,
        of.app_version,
        of.scale,
    ];
    let joined = fields.map(str::trim).join(",");
    hex(&Sha1::digest(joined.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The identity of the case behind an imported result.
///
/// `profile` is what the comparison hash uses (`pts/fio-2.1`, or the title where there is no
/// identifier); metrics of one run (MB/s and IOPS) share it, as the unit is not part of it.
pub fn imported_case_id(
    profile: &str,
    arguments: &str,
    description: &str,
    app_version: &str,
) -> CaseId {
    let implementation = Implementation {
        kind: ImplementationKind::Imported,
        name: profile.trim().to_owned(),
        version: app_version.trim().to_owned(),
    };
    let chosen: Options = [
        ("arguments", arguments.trim()),
        ("description", description.trim()),
    ]
    .into_iter()
    .filter(|(_, text)| !text.is_empty())
    .collect();
    case_id("imported", "", &implementation, &chosen)
}

/// The profile of an identifier as PTS compares it: `pts/fio-2.1` of `pts/fio-2.1.0`, the title
/// where there is no identifier.
pub fn pts_profile<'a>(identifier: &'a str, title: &'a str) -> &'a str {
    match (identifier.trim(), identifier.rfind('.')) {
        ("", _) => title.trim(),
        (_, Some(dot)) => identifier[..dot].trim(),
        (identifier, None) => identifier,
    }
}
