use fathom_stats::random::Xoshiro256;

use super::script::{Draw, Step, write_simple};
use super::*;

#[test]
fn options_are_understood_or_refused_with_what_is_accepted() {
    let check = |options: &[(&str, &str)], expected: Result<(u64, usize), &str>| {
        let options: Options = options.iter().copied().collect();
        match (Settings::read(&options), expected) {
            (Ok(read), Ok(wanted)) => assert_eq!((read.scale, read.clients), wanted),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (read, _) => panic!("{options:?} gave {read:?}"),
        }
    };
    check(&[], Ok((1, 1)));
    check(&[("scale", "100"), ("clients", "8")], Ok((100, 8)));
    check(&[("scale", "0")], Err("a whole number from 1 to 1000000"));
    check(
        &[("mode", "tpc-b")],
        Err("one of tpcb-like, simple-update, select-only"),
    );
    check(&[("duration", "0")], Err("a duration from 1ms"));
    check(&[("scael", "1")], Err("one of the options scale, clients"));
}

#[test]
fn draws_cover_the_whole_tables_and_no_more() {
    let mut random = Xoshiro256::new(7);
    let draws: Vec<String> = (0..20_000)
        .map(|_| format!("{:?}", Draw::new(&mut random, 2)))
        .collect();
    let has = |text: &str| draws.iter().any(|draw| draw.contains(text));
    assert!(has("branch: 1,") && has("branch: 2,") && !has("branch: 3,") && !has("branch: 0,"));
    assert!(has("teller: 1,") && has("teller: 20,") && !has("teller: 21,"));
    assert!(has("delta: -5000 ") && has("delta: 5000 ") && !has("delta: 5001 "));
}

#[test]
fn values_stand_in_the_text_of_a_simple_statement() {
    let mut random = Xoshiro256::new(1);
    let draw = Draw::new(&mut random, 1);
    let mut text = String::new();
    write_simple(Step::Begin, &draw, &mut text);
    assert_eq!(text, "BEGIN");
    write_simple(Step::InsertHistory, &draw, &mut text);
    let shown = format!("{draw:?}");
    let number = |name: &str| -> String {
        let after = shown.split(&format!("{name}: ")).nth(1).unwrap();
        after.split([',', ' ']).next().unwrap().to_owned()
    };
    let expected = format!(
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ({}, {}, {}, {}, \
         CURRENT_TIMESTAMP)",
        number("teller"),
        number("branch"),
        number("account"),
        number("delta")
    );
    assert_eq!(text, expected);
}
