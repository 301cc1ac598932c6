use std::sync::Arc;

use super::SharedByKey;

#[test]
fn one_thing_a_key_for_as_long_as_it_is_held() {
    let shared = SharedByKey::default();
    let get = |key: &'static str, value: u32| shared.get_or_make(key, || Ok::<u32, ()>(value));
    let first = get("a", 1).unwrap();
    let same = get("a", 2).unwrap();
    let other = get("b", 3).unwrap();
    assert_eq!((*first, *same, *other), (1, 1, 3));
    assert!(Arc::ptr_eq(&first, &same));
    drop((first, same));
    assert_eq!(*get("a", 4).unwrap(), 4);
}

#[test]
fn a_failure_is_not_kept() {
    let shared: SharedByKey<u8, u8> = SharedByKey::default();
    assert_eq!(shared.get_or_make(1, || Err("no")), Err("no"));
    assert_eq!(shared.get_or_make(1, || Ok::<u8, ()>(2)).as_deref(), Ok(&2));
}
