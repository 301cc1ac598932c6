//! Options of a job as identity: what is work, not what it is called or where it lies.

use fathom_model::Options;

/// Options that do not change the work.
const NOT_WORK: [&str; 27] = [
    "name",
    "description",
    "directory",
    "filename",
    "filename_format",
    "group_reporting",
    "new_group",
    "stonewall",
    "wait_for_previous",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "write_iolog",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_offset",
    "log_compression",
    "log_store_compressed",
    "log_unix_epoch",
    "per_job_logs",
    "percentile_list",
    "status-interval",
    "opendir",
    "unlink",
];

/// Other names of an option.
const ALIASES: [(&str, &str); 6] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("numjob", "numjobs"),
    ("filesize_max", "filesize"),
    ("timeout", "runtime"),
    ("iodepth_batch_submit", "iodepth_batch"),
];

/// What fio takes when an option is not given.
const DEFAULTS: [(&str, &str); 4] = [
    ("rw", "read"),
    ("bs", "4k"),
    ("iodepth", "1"),
    ("numjobs", "1"),
];

/// Options of a case, and the names of those that are fio's defaults.
pub(super) fn canonical(options: &[(String, String)]) -> (Options, Vec<&'static str>) {
    let mut canonical = Options::default();
    for (name, value) in options {
        let name = ALIASES
            .iter()
            .find(|(other, _)| other == name)
            .map_or(name.as_str(), |a| a.1);
        if !NOT_WORK.contains(&name) {
            canonical.set(name, canonical_value(name, value));
        }
    }
    let mut defaulted = Vec::new();
    for (name, value) in DEFAULTS {
        if canonical.get(name).is_none() {
            canonical.set(name, value);
            defaulted.push(name);
        }
    }
    (canonical, defaulted)
}

fn canonical_value(name: &str, value: &str) -> String {
    let value = value.trim();
    // A flag without value is on.
    if value.is_empty() {
        return "1".to_owned();
    }
    let is_number = value.bytes().all(|b| b.is_ascii_digit());
    if is_number && value.len() > 1 {
        let trimmed = value.trim_start_matches('0');
        return if trimmed.is_empty() { "0" } else { trimmed }.to_owned();
    }
    match (name, value) {
        ("rw", "readwrite") => "rw".to_owned(),
        _ => value.to_lowercase(),
    }
}

/// Bytes of `4k`, `1m`, `4096`; fio counts in powers of two.
pub(super) fn block_bytes(text: &str) -> Option<u64> {
    let text = text.split([',', '-']).next()?.trim().to_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// `randread 4k, iodepth 32, numjobs 4`.
pub(super) fn label(job: &str, options: Option<&Options>) -> String {
    let Some(options) = options else {
        return job.to_owned();
    };
    let get = |name| options.get(name).unwrap_or_default();
    let mut label = format!("{} {}", get("rw"), get("bs"));
    for name in ["iodepth", "numjobs"] {
        if get(name) != "1" {
            label.push_str(&format!(", {name} {}", get(name)));
        }
    }
    for name in ["ioengine", "rwmixread", "fsync", "fdatasync"] {
        if !get(name).is_empty() {
            label.push_str(&format!(", {name} {}", get(name)));
        }
    }
    label
}
