//! What drivers share that let several clients run.

use std::ops::Range;
use std::time::Duration;

/// CPU time of the calling thread.
pub(crate) fn cpu_of_thread() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}

/// Splits clients among threads as evenly as it goes; no thread is without a client.
pub(crate) fn spread(clients: usize, threads: usize) -> Vec<Range<usize>> {
    let threads = threads.clamp(1, clients.max(1));
    let edge = |thread: usize| clients * thread / threads;
    (0..threads)
        .map(|thread| edge(thread)..edge(thread + 1))
        .collect()
}

/// Counts an operation in the second it was completed in.
pub(crate) fn count_second(per_second: &mut Vec<u64>, since_start: Duration) {
    let second = usize::try_from(since_start.as_secs()).unwrap_or(usize::MAX);
    if let Some(slot) = per_second.get_mut(second) {
        *slot += 1;
    } else if second < MOST_SECONDS {
        per_second.resize(second + 1, 0);
        per_second[second] = 1;
    }
}

/// Seconds that are counted one by one: a week.
const MOST_SECONDS: usize = 7 * 24 * 3600;

/// Adds the counts of one client to those of all.
pub(crate) fn add_seconds(all: &mut Vec<u64>, one: &[u64]) {
    if one.len() > all.len() {
        all.resize(one.len(), 0);
    }
    for (sum, n) in all.iter_mut().zip(one) {
        *sum += n;
    }
}

/// A note on clients that failed, with the reasons of the first few kinds.
pub(crate) fn failure_note(failed: &[String], clients: usize) -> Option<String> {
    if failed.is_empty() {
        return None;
    }
    let mut kinds: Vec<&str> = failed.iter().map(String::as_str).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.truncate(3);
    let count = failed.len();
    Some(format!(
        "{count} of {clients} clients failed: {}",
        kinds.join("; ")
    ))
}
