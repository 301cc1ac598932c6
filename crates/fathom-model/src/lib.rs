//! The vocabulary: systems, cases, results, verdicts, events and the contracts between crates.
