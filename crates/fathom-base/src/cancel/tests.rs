use super::Cancel;

#[test]
fn a_child_follows_its_parent_and_not_the_other_way() {
    let parent = Cancel::new();
    let (alone, follower) = (parent.child(), parent.child());
    alone.cancel();
    assert!(alone.is_cancelled() && !parent.is_cancelled() && !follower.is_cancelled());
    parent.clone().cancel();
    assert!(parent.is_cancelled() && follower.is_cancelled());
}
