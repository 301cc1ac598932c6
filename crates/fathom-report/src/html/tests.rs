use sha2::{Digest, Sha256};

use super::*;

/// RFC 4648, standard alphabet with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let number =
            part.iter().fold(0_u32, |n, byte| n << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let sextet = (number >> (18 - 6 * place)) & 63;
            out.push(if place > part.len() {
                '='
            } else {
                char::from(ALPHABET[sextet as usize])
            });
        }
    }
    out
}

#[test]
fn the_policy_allows_exactly_this_style_and_script() {
    assert_eq!(base64(b"Man"), "TWFu");
    assert_eq!(base64(b"M"), "TQ==");
    for (what, text) in [("style-src", style()), ("script-src", SCRIPT.to_owned())] {
        let source = format!(
            "{what} 'sha256-{}'",
            base64(&Sha256::digest(text.as_bytes()))
        );
        assert!(
            CONTENT_SECURITY_POLICY.contains(&source),
            "the policy needs {source}"
        );
    }
}

#[test]
fn the_script_is_small() {
    assert!(SCRIPT.len() < 10_000, "{} bytes", SCRIPT.len());
}

#[test]
fn times_are_written_out() {
    assert_eq!(utc_text(0), "1970-01-01 00:00 UTC");
    assert_eq!(utc_text(1_796_000_000_000), "2026-11-30 00:53 UTC");
    assert_eq!(utc_text(951_782_400_000), "2000-02-29 00:00 UTC");
    assert_eq!(utc_text(-1), "1969-12-31 23:59 UTC");
}
