//! The terse format: one line a job, fields separated by semicolons, meaning by position.

use fathom_model::ResultFile;
use serde_json::Value;

use super::build;
use super::job::{Document, Flow, Job, version};
use crate::{Format, FormatError, Place};

/// Fields of a direction: totals 4, submission latency 4, completion latency 4, percentiles 20,
/// total latency 4, bandwidth samples 5.
const FLOW_FIELDS: usize = 41;
/// Version 5 adds one field to the bandwidth samples and five of IOPS samples.
const FLOW_FIELDS_V5: usize = 47;

/// Reads terse output, versions 2 to 5.
///
/// Sizes are KiB, rates KiB/s, run times milliseconds and latencies microseconds in all of them,
/// also where the JSON of the same fio has nanoseconds.
///
/// # Errors
/// [`FormatError::Syntax`] with the line and field.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let (text, _) = crate::text::decode(bytes);
    let text = crate::text::without_ansi(&text);
    let mut documents: Vec<Document> = Vec::new();
    let mut messages = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        match terse_version(line) {
            None if line.is_empty() => {}
            None => messages.push(line.to_owned()),
            Some(terse) => {
                let (fio, job) = parse(line, terse, at + 1)?;
                match documents.last_mut() {
                    Some(document) if document.version == fio => document.jobs.push(job),
                    _ => documents.push(Document {
                        version: fio,
                        jobs: vec![job],
                        ..Document::default()
                    }),
                }
            }
        }
    }
    build::file(Format::FioTerse, documents, messages)
}

/// The version of a terse line: it begins with it and has many fields.
pub(super) fn terse_version(line: &str) -> Option<u32> {
    let (first, rest) = line.split_once(';')?;
    let terse: u32 = first.parse().ok()?;
    let is_long = rest.bytes().filter(|b| *b == b';').count() > 2 * FLOW_FIELDS;
    ((2..=5).contains(&terse) && is_long).then_some(terse)
}

struct Fields<'a> {
    list: Vec<&'a str>,
    at: usize,
    line: usize,
}

impl<'a> Fields<'a> {
    fn text(&mut self) -> Result<&'a str, FormatError> {
        let text = self.list.get(self.at).copied();
        self.at += 1;
        text.ok_or_else(|| self.error("the line ends too early"))
    }

    fn number(&mut self) -> Result<f64, FormatError> {
        let text = self.text()?;
        text.trim_end_matches('%')
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| self.error(&format!("\"{text}\" is no number")))
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
    }

    fn error(&self, what: &str) -> FormatError {
        FormatError::Syntax {
            format: Format::FioTerse,
            place: Place::line(self.line).with_path(format!("field {}", self.at)),
            what: what.to_owned(),
        }
    }
}

fn parse(line: &str, terse: u32, number: usize) -> Result<(String, Job), FormatError> {
    let mut fields = Fields {
        list: line.split(';').collect(),
        at: 1,
        line: number,
    };
    let fio = match terse {
        2 => String::new(),
        _ => version(fields.text()?),
    };
    let name = fields.text()?.to_owned();
    let group = fields.number()? as u64;
    let error = fields.number()? as u64;
    let flow_fields = if terse >= 5 {
        FLOW_FIELDS_V5
    } else {
        FLOW_FIELDS
    };
    // Behind the directions stands the share of the processor, the first field with a per cent
    // sign at such a place; how many directions there are depends on the version of fio.
    let is_cpu = |at: usize| {
        fields
            .list
            .get(at)
            .is_some_and(|field| field.ends_with('%'))
    };
    let directions = (2..=3)
        .find(|count| is_cpu(fields.at + count * flow_fields))
        .ok_or_else(|| fields.error("the fields are not those of this terse version"))?;
    let mut flows = Vec::new();
    for _ in 0..directions {
        flows.push(flow(&mut fields, flow_fields)?);
    }
    let mut job = Job {
        name,
        group,
        error,
        elapsed_ms: flows.iter().map(|flow| flow.runtime_ms).fold(0.0, f64::max),
        ..Job::default()
    };
    let mut flows = flows.into_iter();
    job.read = flows.next().unwrap_or_default();
    job.write = flows.next().unwrap_or_default();
    job.trim = flows.next().unwrap_or_default();
    for name in ["usr_cpu", "sys_cpu", "ctx", "majf", "minf"] {
        job.facts
            .insert(name.to_owned(), Value::from(fields.number()?));
    }
    Ok((fio, job))
}

fn flow(fields: &mut Fields<'_>, flow_fields: usize) -> Result<Flow, FormatError> {
    let start = fields.at;
    let kib = fields.number()?;
    let bandwidth_kib = fields.number()?;
    let iops = fields.number()?;
    let runtime_ms = fields.number()?;
    fields.skip(8);
    let mut percentiles = Vec::new();
    for _ in 0..20 {
        let text = fields.text()?;
        let (percent, latency) = text
            .split_once("%=")
            .ok_or_else(|| fields.error("expected a percentile"))?;
        if let (Ok(percent), Ok(latency)) = (percent.parse::<f64>(), latency.parse::<f64>())
            && percent > 0.0
        {
            percentiles.push((percent, latency));
        }
    }
    fields.skip(2);
    let mean_us = fields.number()?;
    fields.at = start + flow_fields;
    // The integer rates lose up to one; totals and time are exact.
    let bytes_per_second = match runtime_ms > 0.0 && kib > 0.0 {
        true => kib * 1024.0 * 1000.0 / runtime_ms,
        false => bandwidth_kib * 1024.0,
    };
    let is_idle = iops <= 0.0 && bandwidth_kib <= 0.0;
    Ok(Flow {
        operations: iops * runtime_ms / 1000.0,
        iops,
        bytes_per_second: if is_idle { 0.0 } else { bytes_per_second },
        runtime_ms,
        latency_mean_us: Some(mean_us).filter(|mean| *mean > 0.0),
        percentiles: if is_idle { Vec::new() } else { percentiles },
        bins: Vec::new(),
    })
}
