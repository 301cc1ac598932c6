use std::collections::HashSet;

use super::data::{key_of, values_of};
use super::*;

#[test]
fn keys_differ_and_have_ten_digits() {
    let keys: HashSet<Vec<u8>> = (1..=100_000).map(key_of).collect();
    assert_eq!(keys.len(), 100_000);
    let is_key = |key: &Vec<u8>| key.len() == 10 && key.iter().all(u8::is_ascii_hexdigit);
    assert!(keys.iter().all(is_key));
}

#[test]
fn values_are_those_of_the_number() {
    let values = values_of(7);
    assert!(values.iter().all(|value| value.len() == 34));
    assert_eq!(values, values_of(7));
    assert_ne!(values, values_of(8));
    assert_ne!(values[0], values[1]);
}

#[test]
fn mixes_are_understood() {
    let read = |mix| Settings::read(&[("mix", mix)].into_iter().collect());
    assert_eq!(read("writes").unwrap().reads, 0);
    assert_eq!(read("1:3").unwrap().reads, 3);
    let text = read("3:1").unwrap_err().to_string();
    assert!(text.contains("one of writes, 1:1, 1:3"), "{text}");
}
