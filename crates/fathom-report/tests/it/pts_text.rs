use fathom_report::text;

use crate::corpus::{oracle, oracle_input};
use crate::golden::assert_same;

#[test]
fn bars_equal_the_oracle_to_the_byte() {
    for name in ["edge", "seed000", "seed002"] {
        for width in [79, 80, 120] {
            let Some(expected) = oracle(&format!("{name}.text.w{width}.txt")) else {
                return;
            };
            let Some(file) = oracle_input(name) else {
                return;
            };
            assert_same(
                &text::pts(&file, width),
                &expected,
                &format!("{name} at {width}"),
            );
        }
    }
}
