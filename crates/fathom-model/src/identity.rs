use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::case::{CaseId, Implementation, Options};

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
    let profile = match (of.identifier.trim(), of.identifier.rfind('.')) {
        ("", _) => of.title,
        (_, Some(dot)) => &of.identifier[..dot],
        (identifier, None) => identifier,
    };
    let fields = [
        profile,
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
