use proptest::prelude::*;

use super::*;

#[test]
fn names_lose_what_says_nothing() {
    for (from, to) in [
        ("AMD EPYC 7601 32-Core Processor", "AMD EPYC 7601 32-Core"),
        ("Intel(R) Core(TM) i9-7980XE CPU", "Intel Core i9-7980XE"),
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("ASUSTeK COMPUTER INC. PRIME X299-A", "ASUS PRIME X299-A"),
        (
            "Advanced Micro Devices, Inc. [AMD] Device 1450",
            "AMD Device 1450",
        ),
        (
            "Intel Corporation Sky Lake-E DMI3 Registers",
            "Intel Sky Lake-E DMI3 Registers",
        ),
        (
            "Broadcom Limited NetXtreme BCM5720 Gigabit Ethernet PCIe",
            "Broadcom Limited NetXtreme BCM5720 Gigabit PCIe",
        ),
        ("Grün\u{7}e  Wörter", "Gr n e W rter"),
        ("", ""),
    ] {
        assert_eq!(clean(from), to);
    }
}

#[test]
fn equal_items_are_counted() {
    let items = ["a", "b", "a", "", "c"].map(str::to_owned);
    assert_eq!(counted(&items), "2 x a + b + c");
    assert_eq!(counted(&[]), "");
}

proptest! {
    #[test]
    fn cleaned_names_stay_clean(text in "\\PC{0,80}") {
        let once = clean(&text);
        prop_assert!(once.is_ascii() && !once.contains("  "));
    }
}
