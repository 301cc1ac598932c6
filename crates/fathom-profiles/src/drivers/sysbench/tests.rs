use super::event::{Group, digits};
use super::*;

fn statements(work: Work) -> u32 {
    let of = |group: &Group| match group {
        Group::PointSelects(count) => *count,
        Group::DeleteInsert => 2,
        _ => 1,
    };
    work.groups().iter().map(of).sum()
}

#[test]
fn events_have_the_statements_of_the_original() {
    let found = Work::MENU.map(|(name, work)| (name, statements(work)));
    let expected = [
        ("oltp_read_write", 20),
        ("oltp_read_only", 16),
        ("oltp_write_only", 6),
        ("oltp_point_select", 1),
        ("oltp_update_index", 1),
        ("oltp_update_non_index", 1),
    ];
    assert_eq!(found, expected);
}

#[test]
fn texts_are_groups_of_eleven_digits() {
    let mut random = Xoshiro256::new(3);
    let (c, pad) = (digits(&mut random, 10), digits(&mut random, 5));
    assert_eq!((c.len(), pad.len()), (119, 59));
    let is_group = |group: &str| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit());
    assert!(c.split('-').all(is_group) && pad.split('-').all(is_group));
    assert_ne!(digits(&mut random, 10), c);
}
