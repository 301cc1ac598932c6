//! Units, clocks, atomic file writes and child processes.
