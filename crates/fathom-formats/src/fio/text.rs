//! The normal output of fio, for people.

use fathom_model::ResultFile;
use serde_json::Value;

use super::build;
use super::job::{Document, Flow, Job, version};
use crate::{Format, FormatError};

/// Whether a text is an output of fio: the line of a direction with its rate.
pub fn is_report(text: &str) -> bool {
    text.lines()
        .take(5000)
        .any(|line| Direction::of_line(line).is_some())
}

/// Reads the normal output of fio 2.0 and later.
///
/// Rates come from the summary line of each direction, which is the total over the job's threads;
/// the sampled minima and averages below it are of single threads and are kept as facts only.
///
/// # Errors
/// [`FormatError::Unsupported`] when there is no such line, with the messages that are there
/// instead.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let (text, _) = crate::text::decode(bytes);
    let text = crate::text::without_ansi(&text);
    let mut report = Report::default();
    for line in text.lines() {
        report.line(line);
    }
    report.close();
    build::file(Format::FioText, vec![report.document], report.messages)
}

#[derive(Default)]
struct Report {
    document: Document,
    messages: Vec<String>,
    /// Options by job name, from the lines at the start.
    options: Vec<(String, Vec<(String, String)>)>,
    job: Option<Job>,
    direction: Option<&'static str>,
    percentile_unit_us: Option<f64>,
}

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// `  read: IOPS=345k, BW=1346MiB/s (1411MB/s)(6229MiB/4628msec)`.
struct Direction<'a> {
    name: &'static str,
    rest: &'a str,
}

impl<'a> Direction<'a> {
    fn of_line(line: &'a str) -> Option<Self> {
        let line = line.trim();
        for name in DIRECTIONS {
            let Some(rest) = line.strip_prefix(name) else {
                continue;
            };
            let Some(rest) = rest.trim_start().strip_prefix(':') else {
                continue;
            };
            let rest = rest.trim_start();
            if rest.starts_with("IOPS=") || rest.starts_with("io=") {
                return Some(Self { name, rest });
            }
        }
        None
    }

    fn flow(&self) -> Flow {
        let field = |name: &str| {
            self.rest
                .split([',', ' ', '('])
                .find_map(|part| part.trim().strip_prefix(name))
        };
        let spaced = |name: &str| {
            let after = &self.rest[self.rest.find(name)? + name.len()..];
            after.split(',').next().map(str::trim)
        };
        let runtime = spaced("runtime=").or_else(|| {
            self.rest
                .rsplit_once('/')
                .map(|(_, after)| after.split(')').next().unwrap_or(after))
        });
        Flow {
            iops: field("IOPS=")
                .or(field("iops="))
                .and_then(count)
                .unwrap_or_default(),
            bytes_per_second: field("BW=")
                .or(field("bw="))
                .and_then(bytes_per_second)
                .unwrap_or_default(),
            runtime_ms: runtime
                .and_then(|text| text.trim().strip_suffix("msec"))
                .and_then(|ms| ms.trim().parse().ok())
                .unwrap_or_default(),
            ..Flow::default()
        }
    }
}

/// `73`, `48.2k`, `1.2M`.
fn count(text: &str) -> Option<f64> {
    let (number, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'm' | b'M' => (&text[..text.len() - 1], 1e6),
        b'g' | b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let number: f64 = number.parse().ok()?;
    (number >= 0.0 && number.is_finite()).then_some(number * factor)
}

/// `299MiB/s`; what fio 2 calls MB/s is MiB/s as well.
fn bytes_per_second(text: &str) -> Option<f64> {
    let text = text.trim().strip_suffix("/s")?;
    let digits = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let number: f64 = text[..digits].parse().ok()?;
    let factor = match text[digits..]
        .trim_end_matches("iB")
        .trim_end_matches('B')
        .trim()
    {
        "" => 1.0,
        "k" | "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        "T" => 1024.0_f64.powi(4),
        _ => return None,
    };
    Some(number * factor)
}

/// Microseconds in `nsec`, `usec`, `msec`.
fn time_unit_us(text: &str) -> Option<f64> {
    match text.trim() {
        "nsec" | "ns" => Some(1e-3),
        "usec" | "us" => Some(1.0),
        "msec" | "ms" => Some(1e3),
        "sec" | "s" => Some(1e6),
        _ => None,
    }
}

/// The unit in the parenthesis of `clat (usec): min=...`.
fn unit_in(text: &str) -> Option<&str> {
    let (_, after) = text.split_once('(')?;
    after.split_once(')').map(|(unit, _)| unit.trim())
}

/// `avg=103.54` of a line of statistics.
fn statistic(line: &str, name: &str) -> Option<f64> {
    let after = &line[line.find(name)? + name.len()..];
    count(after.split(',').next()?.trim())
}

impl Report {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(version_text) = trimmed.strip_prefix("fio-") {
            self.document.version = version(version_text);
        } else if let Some((name, rest)) = trimmed.split_once(": (g=") {
            self.read_options(name, rest);
        } else if let Some((name, rest)) = trimmed.split_once(": (groupid=") {
            self.begin_job(name, rest);
        } else if let Some(direction) = Direction::of_line(line) {
            self.begin_direction(&direction);
        } else if trimmed.starts_with("fio:") || trimmed.contains("verify failed") {
            self.messages.push(trimmed.to_owned());
        } else if let Some(rest) = trimmed.strip_prefix("Run status group") {
            let _ = rest;
            self.close();
        } else {
            self.read_detail(trimmed);
        }
    }

    /// `rw=randread, bs=(R) 4096B-4096B, (W) ..., ioengine=libaio, iodepth=32`.
    fn read_options(&mut self, name: &str, rest: &str) {
        let (_, rest) = rest.split_once("):").unwrap_or(("", rest));
        let mut options = Vec::new();
        for part in rest.split(", ") {
            let Some((key, value)) = part.trim().split_once('=') else {
                continue;
            };
            let value = match key {
                "bs" => block_size(value),
                _ => value.trim().to_owned(),
            };
            options.push((key.trim().to_owned(), value));
        }
        self.options.push((name.trim().to_owned(), options));
    }

    /// `0, jobs=4): err= 0: pid=123: ...`.
    fn begin_job(&mut self, name: &str, rest: &str) {
        self.close();
        let number = |text: Option<&str>| -> u64 {
            let digits = text.unwrap_or_default().trim_start();
            let end = digits.bytes().take_while(u8::is_ascii_digit).count();
            digits[..end].parse().unwrap_or_default()
        };
        let jobs = number(rest.split("jobs=").nth(1));
        let known = self.options.iter().find(|(known, _)| known == name.trim());
        let options = known.map(|(_, options)| {
            let mut options = options.clone();
            if jobs > 1 {
                options.push(("numjobs".to_owned(), jobs.to_string()));
            }
            options
        });
        self.job = Some(Job {
            name: name.trim().to_owned(),
            group: number(Some(rest)),
            error: number(rest.split("err=").nth(1)),
            options,
            ..Job::default()
        });
    }

    fn begin_direction(&mut self, direction: &Direction<'_>) {
        // Reads, writes and trims of a job follow in this order.
        let order = |name: &str| DIRECTIONS.iter().position(|known| *known == name);
        if self
            .direction
            .is_some_and(|last| order(last) >= order(direction.name))
        {
            self.close();
        }
        let number = self.document.jobs.len() + 1;
        let job = self.job.get_or_insert_with(|| Job {
            name: format!("job {number}"),
            ..Job::default()
        });
        let flow = direction.flow();
        job.elapsed_ms = job.elapsed_ms.max(flow.runtime_ms);
        *flow_of(job, direction.name) = flow;
        self.direction = Some(direction.name);
        self.percentile_unit_us = None;
    }

    fn read_detail(&mut self, line: &str) {
        let (Some(job), Some(direction)) = (&mut self.job, self.direction) else {
            return;
        };
        if line.starts_with("lat (") && line.contains("avg=") || line.starts_with("clat (") {
            let flow = flow_of(job, direction);
            let unit = unit_in(line).and_then(time_unit_us);
            let mean = statistic(line, "avg=")
                .zip(unit)
                .map(|(mean, unit)| mean * unit);
            // The total latency follows the completion latency and replaces it.
            flow.latency_mean_us = mean.or(flow.latency_mean_us);
        } else if line.contains("percentiles (") {
            self.percentile_unit_us = unit_in(line).and_then(time_unit_us);
        } else if let (Some(list), Some(unit)) = (line.strip_prefix('|'), self.percentile_unit_us) {
            let flow = flow_of(job, direction);
            flow.percentiles.extend(percentiles(list, unit));
        } else if line.starts_with("bw (") {
            let rate = unit_in(line).zip(statistic(line, "avg="));
            let bytes = rate.and_then(|(unit, mean)| bytes_per_second(&format!("{mean}{unit}")));
            if let Some(bytes) = bytes {
                let key = format!("{direction}_sampled_bytes_per_second");
                job.facts.insert(key, Value::from(bytes));
            }
        } else if line.starts_with("iops") {
            if let Some(mean) = statistic(line, "avg=") {
                job.facts
                    .insert(format!("{direction}_sampled_iops"), Value::from(mean));
            }
        } else if line.starts_with("cpu ") {
            job.facts.insert("cpu".to_owned(), line.into());
        } else if let Some(totals) = line.strip_prefix("issued") {
            read_issued(totals, job);
        }
    }

    fn close(&mut self) {
        self.direction = None;
        self.document.jobs.extend(self.job.take());
    }
}

fn flow_of<'j>(job: &'j mut Job, direction: &str) -> &'j mut Flow {
    match direction {
        "read" => &mut job.read,
        "write" => &mut job.write,
        "trim" => &mut job.trim,
        _ => &mut job.mixed,
    }
}

/// `(R) 4096B-4096B` or `4K-4K/4K-4K/4K-4K`.
fn block_size(text: &str) -> String {
    let text = text.trim().trim_start_matches("(R)").trim();
    let first = text.split(['-', '/', ',']).next().unwrap_or(text);
    match first.strip_suffix('B').unwrap_or(first) {
        bytes if bytes.parse::<u64>().is_ok_and(|n| n % 1024 == 0 && n > 0) => {
            format!("{}k", bytes.parse::<u64>().unwrap_or_default() / 1024)
        }
        other => other.to_lowercase(),
    }
}

/// ` 1.00th=[   30],  5.00th=[   35]`.
fn percentiles(list: &str, unit_us: f64) -> impl Iterator<Item = (f64, f64)> {
    list.split("],").filter_map(move |part| {
        let (percent, value) = part.split_once("th=[")?;
        let value = value.trim_end_matches(']').trim();
        Some((
            percent.trim().parse().ok()?,
            value.parse::<f64>().ok()? * unit_us,
        ))
    })
}

/// `rwts: total=16142,16281,0,0 short=...` or `    : total=r=1594624/w=0/d=0, ...`: more exact
/// than the three digits of the rate.
fn read_issued(text: &str, job: &mut Job) {
    let Some((_, totals)) = text.split_once("total=") else {
        return;
    };
    let totals = totals.split(' ').next().unwrap_or_default();
    let numbers = totals
        .split([',', '/'])
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.trim_start_matches(|c: char| c.is_alphabetic() || c == '=')
                .parse::<f64>()
        });
    for (direction, number) in ["read", "write", "trim"].into_iter().zip(numbers) {
        let flow = flow_of(job, direction);
        let Ok(operations) = number else { continue };
        flow.operations = operations;
        let exact = operations * 1000.0 / flow.runtime_ms;
        // Only where it is the printed rate with more digits.
        if flow.iops > 0.0 && exact.is_finite() && (exact / flow.iops - 1.0).abs() < 0.01 {
            flow.iops = exact;
        }
    }
}
