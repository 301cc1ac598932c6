//! The binary as a person and a script meet it.

mod bench;
mod compare;
mod crash;
mod documents;
mod measure;
mod results;
mod targets;
mod words;
