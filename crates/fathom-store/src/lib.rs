//! Result files, journals and the index on disk.
