use expect_test::{Expect, expect};
use fathom_model::ResultFile;

use super::*;
use crate::{FormatError, import};

/// Cases with their options, and every metric with its values.
fn summary(file: &ResultFile) -> String {
    let mut lines = Vec::new();
    for case in &file.cases {
        let options: Vec<String> = case
            .options
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let extra = serde_json::to_string(&case.extra).unwrap();
        lines.push(format!(
            "[{}] {} {} {extra}",
            case.label,
            case.implementation,
            options.join(" ")
        ));
        for record in file.results.iter().filter(|record| record.case == case.id) {
            let entries: Vec<String> = record
                .entries
                .iter()
                .map(|e| {
                    let value = e
                        .value
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    let samples = e.samples.len();
                    let error = e.error.as_deref().unwrap_or_default();
                    format!("{} {value} ({samples}) {error}", e.system)
                        .trim()
                        .to_owned()
                })
                .collect();
            let mark = if record.metric.is_primary { "*" } else { " " };
            lines.push(format!(
                "{mark}{} {}: {}",
                record.metric.id,
                record.metric.unit,
                entries.join(", ")
            ));
        }
    }
    for warning in &file.origin.as_ref().unwrap().warnings {
        lines.push(format!("! {}: {}", warning.place, warning.text));
    }
    lines.join("\n")
}

#[track_caller]
fn check(content: &str, expect: &Expect) -> ResultFile {
    let file = import(content.as_bytes(), "out.txt").unwrap();
    expect.assert_eq(&summary(&file));
    file
}

#[track_caller]
fn refused(content: &str, name: &str) -> String {
    import(content.as_bytes(), name).unwrap_err().to_string()
}

const READ: &str = r#"{
  "fio version" : "fio-3.36-17-gabc",
  "timestamp" : 1700000000,
  "jobs" : [
    { "jobname" : "t", "groupid" : 0, "error" : 0, "elapsed" : 10,
      "job options" : { "rw" : "randread", "iodepth" : "032", "filename" : "/dev/x" },
      "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "bw" : 400, "iops" : 100.0,
                 "runtime" : 10000, "total_ios" : 1000,
                 "lat_ns" : { "mean" : 5500.0 },
                 "clat_ns" : { "mean" : 5000.0, "percentile" : { "50.000000" : 4000, "99.000000" : 9000,
                   "0.00" : 0, "0.00" : 0 } } },
      "write" : { "io_bytes" : 0, "bw" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 0 } }
  ]
}
"#;

#[test]
fn a_job_becomes_a_case_with_the_metrics_of_our_own_test() {
    let file = check(
        READ,
        &expect![[r#"
            [randread 4k, iodepth 32] fio 3.36 iodepth=32 rw=randread bs=4k numjobs=1 {"defaults_of_fio":["bs","numjobs"],"filename":"/dev/x","job":"t"}
             bandwidth MB/s: out 0.4096 (1)
            *iops IOPS: out 100 (1)
             latency-mean us: out 5.5 (1)
             latency-p50 us: out 4 (1)
             latency-p99 us: out 9 (1)"#]],
    );
    let trial = &file.runs[0].trials[0];
    assert_eq!(trial.started.unix_ms(), 1_699_999_990_000);
    assert_eq!(trial.duration_ns, 10_000_000_000);
    assert_eq!(trial.extra["read"]["runtime"], 10_000);
}

#[test]
fn latencies_of_a_job_held_to_a_rate_are_refused() {
    let held = READ.replace("\"iodepth\"", "\"rate_iops\" : \"100\", \"iodepth\"");
    let file = import(held.as_bytes(), "out.txt").unwrap();
    for record in &file.results {
        let is_latency = record.metric.id.starts_with("latency");
        let verdict = &record.entries[0].verdict;
        let refused = verdict.reasons.iter().any(|r| r.rule == "closed-loop");
        assert_eq!(refused, is_latency, "{}", record.metric.id);
    }
}

#[test]
fn the_rest_of_a_file_does_not_hinder_the_json() {
    let noisy = format!(
        "\nfio: terminating on signal 2\nnote {{ this is no json }}\n{}\nfio: io_u error\n",
        READ.replacen("  \"jobs\"", "fio: message in the middle {\n  \"jobs\"", 1)
    );
    let file = import(noisy.as_bytes(), "out.txt").unwrap();
    assert_eq!(file.results.len(), 5);
    assert!(file.logs["fio messages"].contains("message in the middle"));
    assert!(file.results[0].entries[0].error.is_none());
}

#[test]
fn a_failed_job_has_no_number_and_keeps_the_reason() {
    let failed = format!(
        "fio: io_u error on file /dev/x: Input/output error: read offset=4096\n{}",
        READ.replace("\"error\" : 0", "\"error\" : 5")
    );
    let file = import(failed.as_bytes(), "out.txt").unwrap();
    let entry = &file.results[1].entries[0];
    assert_eq!(entry.value, None);
    assert_eq!(
        entry.error.as_deref(),
        Some("fio error 5: fio: io_u error on file /dev/x: Input/output error: read offset=4096")
    );
}

#[test]
fn documents_are_trials_and_states_of_one_run_are_not() {
    let later = READ.replace("1700000000", "1700000020");
    let two_runs = import(format!("{READ}{later}").as_bytes(), "a").unwrap();
    assert_eq!(two_runs.runs[0].trials.len(), 2);
    assert_eq!(two_runs.results[1].entries[0].samples.len(), 2);

    let state = later
        .replace("10000", "30000")
        .replace("\"total_ios\" : 1000", "\"total_ios\" : 3000");
    let one_run = import(format!("{READ}{state}").as_bytes(), "a").unwrap();
    assert_eq!(one_run.runs[0].trials.len(), 1);
    assert_eq!(one_run.runs[0].trials[0].extra["read"]["runtime"], 30_000);
    assert!(
        one_run.origin.unwrap().warnings[0]
            .text
            .contains("states of a run in progress")
    );
}

#[test]
fn threads_of_a_job_are_one_trial() {
    let job = r#"{"jobname":"t","groupid":0,"error":0,"job options":{"rw":"read","bs":"1m","numjobs":"2"},
        "read":{"bw_bytes":BW,"iops":IO,"total_ios":IO,"runtime":1000,
        "clat_ns":{"mean":MEAN,"percentile":{"50.000000":5}}}}"#;
    let part = |bw: &str, io: &str, mean: &str| {
        job.replace("BW", bw)
            .replace("IO", io)
            .replace("MEAN", mean)
    };
    let document = format!(
        "{{\"fio version\":\"fio-3.1\",\"jobs\":[{},{}]}}",
        part("1000000", "100", "4000"),
        part("3000000", "300", "8000")
    );
    check(
        &document,
        &expect![[r#"
            [read 1m, numjobs 2] fio 3.1 bs=1m numjobs=2 rw=read iodepth=1 {"defaults_of_fio":["iodepth"],"job":"t"}
            *bandwidth MB/s: out 4 (1)
             iops IOPS: out 400 (1)
             latency-mean us: out 7 (1)
            ! job t: 2 entries of one job are one trial; their percentiles cannot be pooled without histograms (json+) and are left out"#]],
    );
}

#[test]
fn rates_of_old_versions_are_in_kib_or_bytes() {
    let old = |io: &str, bw: &str, runtime: &str| {
        format!(
            "{{\"fio version\":\"fio-2.18\",\"jobs\":[{{\"jobname\":\"f\",\"error\":0,\"read\":{{\
             \"io_bytes\":{io},\"bw\":{bw},\"iops\":0.25,\"runtime\":{runtime},\"total_ios\":1,\
             \"lat\":{{\"mean\":12.5}}}}}}]}}"
        )
    };
    let rate = |content: String| {
        let file = import(content.as_bytes(), "a").unwrap();
        let of = |id: &str| {
            let record = file
                .results
                .iter()
                .find(|record| record.metric.id == id)
                .unwrap();
            record.entries[0].value.as_ref().unwrap().value()
        };
        (of("bandwidth") * 1e6, of("latency-mean"))
    };
    // A floppy: 1024 bytes in 4 s, which bw rounds to 0 KiB/s.
    assert_eq!(rate(old("1024", "0", "4000")), (256.0, 12.5));
    // io_bytes counts KiB: 17568 KiB in 60.013 s are 292 KiB/s.
    let (bytes, _) = rate(old("17568", "292", "60013"));
    assert!((bytes / 1024.0 - 292.7).abs() < 0.1, "{bytes}");
}

#[test]
fn reports_for_people_are_read_in_the_units_of_each_line() {
    check(
        "rand: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32\n\
         fio-3.33\n\
         rand: (groupid=0, jobs=4): err= 0: pid=1: Wed Nov 22 09:23:35 2023\n  \
           read: IOPS=345k, BW=1346MiB/s (1411MB/s)(6229MiB/4628msec)\n    \
            clat (usec): min=1, max=5, avg= 3.50, stdev=1\n     \
             lat (nsec): min=1, max=5, avg=3900.10, stdev=1\n    \
            clat percentiles (usec):\n     \
             |  1.00th=[   30], 50.00th=[   70],\n     \
             | 99.00th=[  460], 99.90th=[ 4015]\n   \
           bw (  KiB/s): min=282816, max=377080, per=24.99%, avg=344438.00, stdev=35329.77, samples=36\n   \
           iops        : min=70704, max=94270, avg=86109.50, stdev=8832.44, samples=36\n  \
           write: IOPS=73, BW=299KiB/s (306kB/s)(1384KiB/4628msec)\n  \
           cpu          : usr=1.55%, sys=17.00%, ctx=16647, majf=0, minf=23\n     \
             issued rwts: total=1594624,338,0,0 short=0,0,0,0 dropped=0,0,0,0\n\
         Run status group 0 (all jobs):\n",
        &expect![[r#"
            [randrw 4k, iodepth 32, numjobs 4, ioengine libaio] fio 3.33 rw=randrw bs=4k ioengine=libaio iodepth=32 numjobs=4 {"job":"rand"}
             bandwidth MB/s: out 1411.689472 (1)
            *iops IOPS: out 344633.102852204 (1)
             read-bandwidth MB/s: out 1411.383296 (1)
             read-iops IOPS: out 344560.06914433884 (1)
             read-latency-mean us: out 3.9001 (1)
             read-latency-p50 us: out 70 (1)
             read-latency-p99 us: out 460 (1)
             read-latency-p99.9 us: out 4015 (1)
             write-bandwidth MB/s: out 0.306176 (1)
             write-iops IOPS: out 73.03370786516854 (1)"#]],
    );
}

#[test]
fn reports_of_fio_2_are_read() {
    check(
        "seq: (groupid=0, jobs=1): err= 0: pid=7: Sat Apr  1 19:30:59 2017\n  \
           read : io=17568KB, bw=299763B/s, iops=73, runtime= 60013msec\n    \
            lat (msec): min=2, max=26, avg=13.65, stdev= 3.95\n",
        &expect![[r#"
            [seq] fio  job=seq {"job":"seq"}
             bandwidth MB/s: out 0.299763 (1)
            *iops IOPS: out 73 (1)
             latency-mean us: out 13650 (1)"#]],
    );
}

#[test]
fn logs_need_a_name_that_says_what_is_logged() {
    let log = "500, 1234, 0, 4096\n1000, 1250, 1, 4096, 8192, 0x0000\n";
    let file = import(log.as_bytes(), "dir/x_bw.1.log").unwrap();
    let units: Vec<_> = file
        .results
        .iter()
        .map(|r| (r.metric.id.as_str(), r.metric.unit.as_str()))
        .collect();
    assert_eq!(
        units,
        [("read-bandwidth", "KiB/s"), ("write-bandwidth", "KiB/s")]
    );
    assert_eq!(file.systems[0].identifier, "x_bw.1");
    assert!(refused(log, "x.log").contains("name it as fio does"));
    assert!(refused(log, "x_clat_hist.1.log").contains("histogram logs are not read"));
    assert!(
        refused("500, x1, 0, 4096\n", "x_bw.log").contains("not a result file of a known kind")
    );
    let broken = "500, 1, 0, 4096\n1, 2, 0, 4\n1, 2, 0, 4\n1, 2, 0, 4\n1, 2, 0, 4\n1, 2, 9, 4\n";
    assert!(refused(broken, "x_bw.log").contains("line 6: the third column is no direction"));
}

#[test]
fn what_fio_did_not_finish_is_refused_with_its_place() {
    let cut = &READ[..READ.len() / 2];
    let error = refused(&format!("fio: message\n{cut}"), "x");
    assert!(error.contains("x: fio JSON output, line 9"), "{error}");
    assert!(error.contains("jobs[0]"), "{error}");
    let messages = "fio: pid=1, err=84/file:io_u.c:2141, func=io_u_queued_complete, error=Invalid";
    assert!(refused(messages, "x").contains("only errors and no result"));
    let nothing = "{\"fio version\": \"fio-3.1\", \"jobs\": []}";
    assert!(refused(nothing, "x").contains("there is no job in it"));
    assert!(matches!(
        read_json(b"{}").unwrap_err(),
        FormatError::Unsupported { .. }
    ));
}

#[test]
fn the_same_output_read_twice_is_the_same_trial() {
    let (a, b) = (
        import(READ.as_bytes(), "a").unwrap(),
        import(READ.as_bytes(), "a").unwrap(),
    );
    assert_eq!(a.runs[0].trials[0].id, b.runs[0].trials[0].id);
    let merged = fathom_model::merge::merge(&[&a, &b]).unwrap();
    assert_eq!(merged.runs[0].trials.len(), 1);
}
