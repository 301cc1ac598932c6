use expect_test::expect;
use fathom_base::{Bytes, Nanos};
use fathom_model::{Implementation, ImplementationKind, OptionInfo, OptionKind, TestInfo, Word};

use super::*;

const WORDS: &[Word] = &[
    Word::plain("uniform"),
    Word::with_number("zipf", 0.1, 2.0, 1.2),
];

fn kinds(option: OptionInfo, expected: &str) {
    assert_eq!(kind_text(&option), expected);
}

#[test]
fn kinds_name_their_range_and_unit() {
    let option = |kind| OptionInfo::new("x", kind, "1", "help");
    let size = OptionKind::Size(Bytes::new(512), Bytes::MIB);
    kinds(option(size), "size, 512B to 1MiB");
    kinds(option(size).or_none(), "size, 512B to 1MiB, or none");
    kinds(option(OptionKind::Integer(1, 64)), "number, 1 to 64");
    kinds(option(OptionKind::Word(WORDS)), "uniform, zipf:0.1 to 2");
}

#[test]
fn times_are_said_no_more_precisely_than_they_are_known() {
    let check = |ms: u64, expected: &str| assert_eq!(about(Nanos::from_millis(ms)), expected);
    check(0, "0 s");
    check(340, "0.3 s");
    check(2_000, "2 s");
    check(9_949, "9.9 s");
    check(9_960, "10 s");
    check(43_100, "43 s");
    check(59_600, "60 s");
    check(60_000, "1 min 0 s");
    check(5_400_000, "1 h 30 min");
}

#[test]
fn wrapped_lines_stay_within_the_width_and_keep_long_words() {
    let check = |text: &str, expected: &str| assert_eq!(wrapped(text, 2, 24), expected);
    check("", "");
    check(
        "a sentence that does not fit one line",
        "  a sentence that does\n  not fit one line\n",
    );
    check(
        "aWordThatIsLongerThanAnyLineMayBe b",
        "  aWordThatIsLongerThanAnyLineMayBe\n  b\n",
    );
}

fn sample(kind: ImplementationKind, name: &str, options: Vec<OptionInfo>) -> TestInfo {
    TestInfo {
        id: "io",
        title: "Random and sequential I/O",
        summary: "Reads and writes blocks.",
        version: "1".to_owned(),
        implementation: Implementation {
            kind,
            name: name.to_owned(),
            version: "3.33".to_owned(),
        },
        options,
    }
}

fn options() -> Vec<OptionInfo> {
    vec![
        OptionInfo::new(
            "block-size",
            OptionKind::Size(Bytes::new(512), Bytes::MIB),
            "4KiB",
            "Bytes of an operation.",
        )
        .menu(&["4KiB", "64KiB"]),
        OptionInfo::new("cache", OptionKind::Choice, "cold", "State before a trial.")
            .choice("cold", "dropped and verified")
            .choice("any", ""),
    ]
}

#[test]
fn a_test_is_explained_with_what_another_implementation_lacks() {
    let native = sample(ImplementationKind::Native, "fathom", options());
    let mut fewer = options();
    fewer.pop();
    let program = sample(ImplementationKind::Program, "fio", fewer);
    expect![[r#"
        io: Random and sequential I/O
          Reads and writes blocks.

        implementations: native 3.33, fio 3.33 (workload version 1)

        options (fathom run io -o NAME=VALUE[,VALUE])

          block-size=4KiB
              Bytes of an operation.
              size, 512B to 1MiB
              values: 4KiB, 64KiB

          cache=cold
              State before a trial.
              one of the values
                cold: dropped and verified
                any
          fio 3.33 has no cache
    "#]]
    .assert_eq(&test_text(&[native, program], 60));
}

#[test]
fn the_reference_page_has_a_row_an_option() {
    let info = sample(ImplementationKind::Native, "fathom", options());
    expect![[r#"
        ## io: Random and sequential I/O (native)

        Reads and writes blocks.

        | option | default | accepts | values | meaning |
        |---|---|---|---|---|
        | `block-size` | `4KiB` | size, 512B to 1MiB | `4KiB`, `64KiB` | Bytes of an operation. |
        | `cache` | `cold` | one of the values | `cold` (dropped and verified), `any` | State before a trial. |

    "#]]
    .assert_eq(&test_markdown(&info));
}
