use fathom_base::{SplitMix64, seed_for};

/// The table all rows go into: no key, no index.
pub(super) const CREATE_TABLE: &str = "CREATE TABLE pts1 ('I' SMALLINT NOT NULL, \
'DT' TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, 'F1' VARCHAR(4) NOT NULL, \
'F2' VARCHAR(16) NOT NULL);";

/// The statements of one connection, the same in each version of the work: a running number, the
/// time of the insertion, four and sixteen digits.
pub(super) fn statements(rows: u32) -> Vec<String> {
    let mut random = SplitMix64::new(seed_for(1, "sqlite rows"));
    (1..=rows)
        .map(|number| {
            let four = 1000 + random.below(9000);
            let sixteen = 1_000_000_000_000_000 + random.below(9_000_000_000_000_000);
            format!(
                "INSERT INTO 'pts1' ('I', 'DT', 'F1', 'F2') VALUES \
                 ('{number}', CURRENT_TIMESTAMP, '{four}', '{sixteen}');"
            )
        })
        .collect()
}
