use super::*;

/// Computed with Python: `hashlib.sha1(n.to_bytes(8) + s.to_bytes(8)).digest()[:8]`, signed.
#[test]
fn keys_are_the_first_bytes_of_sha1() {
    assert_eq!(key_of(0, 1), -8_617_536_109_860_315_868);
    assert_eq!(key_of(1, 1), 1_464_797_858_451_214_926);
    assert_eq!(key_of(12345678, 42), 1_969_501_084_616_259_019);
}

#[test]
fn the_dialect_is_that_of_the_server() {
    let cockroach = "CockroachDB CCL v22.2.0 (x86_64-pc-linux-gnu, built 2022/12/05)";
    assert_eq!(Dialect::of(cockroach), Dialect::Cockroach);
    assert_eq!(Dialect::of("PostgreSQL 15.18 (Debian)"), Dialect::Postgres);
    assert!(Dialect::Cockroach.write().starts_with("UPSERT"));
}
