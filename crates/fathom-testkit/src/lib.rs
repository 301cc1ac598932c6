//! Helpers for tests: golden files, redaction, fake clocks and file trees.
