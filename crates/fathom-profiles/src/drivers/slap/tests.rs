use super::*;

#[test]
fn a_thousand_queries_hold_545_inserts() {
    let list = QueryList::draw(&mut Xoshiro256::new(1));
    let is_insert = |number: &u64| matches!(list.query(*number), Query::Insert(_));
    assert_eq!((0..1000).filter(is_insert).count(), 545);
}

#[test]
fn selects_ask_for_ids_of_the_preload() {
    let mut random = Xoshiro256::new(2);
    let list = QueryList::draw(&mut random);
    let ids: Vec<String> = (1..=3).map(|id: u32| id.to_string()).collect();
    let mut text = String::new();
    for number in [1, 3, 5, 7, 9] {
        list.query(number).write(&ids, &mut random, &mut text);
        let (begin, id) = text.split_once(" FROM t1 WHERE id = ").unwrap();
        assert_eq!(begin.matches("col").count(), 8, "{text}");
        assert!(["'1'", "'2'", "'3'"].contains(&id), "{text}");
    }
}

#[test]
fn inserts_carry_four_numbers_and_four_texts() {
    let list = QueryList::draw(&mut Xoshiro256::new(3));
    let mut text = String::new();
    list.query(0).write(&[], &mut Xoshiro256::new(0), &mut text);
    let values = text.strip_prefix("INSERT INTO t1 VALUES (NULL,").unwrap();
    let values: Vec<&str> = values.trim_end_matches(')').split(',').collect();
    assert_eq!(values.len(), 8);
    assert!(
        values[..4]
            .iter()
            .all(|value| value.parse::<u32>().unwrap() < 1 << 31)
    );
    assert!(values[4..].iter().all(|value| value.len() == 128));
}

#[test]
fn rows_that_do_not_add_up_are_an_error() {
    assert!(check_rows(644, 644).is_ok());
    let text = check_rows(643, 644).unwrap_err().to_string();
    assert!(text.contains("643 rows instead of 644"), "{text}");
}
