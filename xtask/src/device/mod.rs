//! The known-answer device: a file system with one file whose requests take as long as a model says,
//! and go wrong as asked. Any program can be measured on it, and its answer compared with the truth.

use std::path::Path;

use anyhow::{Context, Result, bail};
use fathom_base::Bytes;

mod fuse;
pub mod model;

pub use fuse::Device;
pub use model::{Model, Service};

/// How `cargo xtask device` is used.
const USAGE: &str = "\
usage: cargo xtask device DIRECTORY MODEL [--size 1GiB] [--seed 1] [--faults N] [--bad OFFSET] [--sync TIME]
  MODEL: constant:5ms  bimodal:5ms,50ms,2%  stall:1ms,2500ms,2s  bucket:1000/s,1  cache:64MiB,100us,10ms
  --faults N: one of N writes to the second half is lost, torn, misdirected or flipped, in turn";

/// `cargo xtask device`: mounts a device until it is unmounted.
pub fn device(words: &[&str]) -> Result<()> {
    let [directory, model, rest @ ..] = words else {
        bail!("{USAGE}");
    };
    let service: Service = model.parse()?;
    let mut size = Bytes::GIB;
    let mut model = Model::new(service, 1);
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let value = *words
            .next()
            .with_context(|| format!("{word} needs a value\n{USAGE}"))?;
        match *word {
            "--size" => size = value.parse().context("--size")?,
            "--seed" => model = Model::new(service, value.parse().context("--seed")?),
            "--faults" => model.fault_every = value.parse().context("--faults")?,
            "--bad" => model.bad_offset = Some(value.parse().context("--bad")?),
            "--sync" => model.sync = value.parse().context("--sync")?,
            _ => bail!("unknown option {word}\n{USAGE}"),
        }
    }
    let device = Device::mount(Path::new(directory), size.as_u64(), model)?;
    let file = device.file();
    let file = file.display();
    println!("{file} until umount {file} {directory}");
    device.wait();
    Ok(())
}
