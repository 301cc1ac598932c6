//! What a plan takes: time, bytes written, space; and which cases can be prepared together.
//!
//! All cases that fit on the target together are prepared together and interleaved, so that drift
//! hits all alike. Where they do not fit, they are split into groups that follow one another; a
//! case that must not share the machine is a group of its own. Laying files out again for every
//! trial would need less space, but would write many times as much and start every trial on a
//! drive that is busy with what was just written.

use fathom_base::{Bytes, Nanos};
use fathom_model::{Estimate, Host, PlannedCase, RunHeader, TargetInfo};

use super::expand::Draft;
use crate::registry::Registry;

/// Space left free on the target for its own needs (metadata, journal).
const SPARE: u64 = 64 << 20;
/// Files left free likewise.
const SPARE_INODES: u64 = 64;

/// What a plan takes altogether. Times and bytes are estimates by the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Cases that can run.
    pub cases: usize,
    /// Cases that cannot.
    pub unavailable: usize,
    /// Groups that follow one another.
    pub groups: u32,
    /// Time of the preparation and the smallest number of trials.
    pub time_least: Nanos,
    /// Time when no case ends early.
    pub time_most: Nanos,
    /// Bytes written by the preparation.
    pub prepare_bytes: Bytes,
    /// Bytes written at most by the preparation and the smallest number of trials.
    pub bytes_least: Bytes,
    /// Bytes written at most when no case ends early.
    pub bytes_most: Bytes,
    /// Space taken on the target at the same time.
    pub space: Bytes,
    /// Files that exist at the same time.
    pub inodes: u64,
}

/// A case with its estimate.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub planned: PlannedCase,
    estimate: Estimate,
}

/// Asks the tests: metrics, needs, estimates.
pub(super) fn resolved(drafts: Vec<Draft>, registry: &Registry, host: &Host) -> Vec<Resolved> {
    let resolve = |draft: Draft| {
        let mut planned = PlannedCase {
            case: draft.case,
            title: draft.title,
            metrics: Vec::new(),
            unavailable: draft.unavailable,
            trial_time: Nanos::default(),
            prepare_time: Nanos::default(),
            trial_bytes: Bytes::default(),
            prepare_bytes: Bytes::default(),
            group: 0,
        };
        let test = registry.for_case(&planned.case);
        let Some(test) = test.filter(|_| planned.unavailable.is_none()) else {
            return Resolved {
                planned,
                estimate: Estimate::default(),
            };
        };
        planned.metrics = test.metrics(&planned.case);
        planned.unavailable = unmet(&test.check(host, &planned.case));
        let estimate = test.estimate(host, &planned.case).unwrap_or_else(|error| {
            planned.unavailable.get_or_insert(error.to_string());
            Estimate::default()
        });
        planned.trial_time = estimate.trial_time;
        planned.prepare_time = estimate.prepare_time;
        planned.trial_bytes = estimate.trial_bytes;
        planned.prepare_bytes = estimate.prepare_bytes;
        Resolved { planned, estimate }
    };
    drafts.into_iter().map(resolve).collect()
}

/// The reason in one text; `None` when every need is met.
pub(crate) fn unmet(needs: &[fathom_model::Unmet]) -> Option<String> {
    let texts: Vec<String> = needs
        .iter()
        .map(|need| match need.hint.as_str() {
            "" => need.what.clone(),
            hint => format!("{} ({hint})", need.what),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The most that is taken at the same time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    space: u64,
    inodes: u64,
    groups: u32,
}

#[derive(Debug, Default)]
struct Group {
    space: u64,
    inodes: u64,
    is_exclusive: bool,
    /// Layouts that are there already: number, space, inodes, time and bytes of laying out.
    layouts: Vec<Layout>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    number: u64,
    space: u64,
    inodes: u64,
    time: Nanos,
    bytes: Bytes,
}

impl Group {
    fn layout(&self, number: Option<u64>) -> Layout {
        let known = number.and_then(|number| self.layouts.iter().find(|l| l.number == number));
        known.copied().unwrap_or_default()
    }

    /// Space and inodes with one more case.
    fn with(&self, estimate: &Estimate) -> (u64, u64) {
        let there = self.layout(estimate.layout);
        let more = estimate.space.as_u64().saturating_sub(there.space);
        let more_inodes = estimate.inodes.saturating_sub(there.inodes);
        (
            self.space.saturating_add(more),
            self.inodes.saturating_add(more_inodes),
        )
    }

    /// Takes a case in; what an earlier case lays out for it is not counted again.
    fn take(&mut self, case: &mut Resolved) {
        let there = self.layout(case.estimate.layout);
        (self.space, self.inodes) = self.with(&case.estimate);
        let estimate = &case.estimate;
        if let Some(number) = estimate.layout {
            self.layouts.retain(|layout| layout.number != number);
            self.layouts.push(Layout {
                number,
                space: estimate.space.as_u64().max(there.space),
                inodes: estimate.inodes.max(there.inodes),
                time: estimate.prepare_time.max(there.time),
                bytes: estimate.prepare_bytes.max(there.bytes),
            });
        }
        let planned = &mut case.planned;
        planned.prepare_time = estimate.prepare_time.since(there.time);
        let bytes = estimate.prepare_bytes.as_u64();
        planned.prepare_bytes = Bytes::new(bytes.saturating_sub(there.bytes.as_u64()));
    }
}

/// Room on the target.
struct Room {
    space: u64,
    inodes: u64,
}

impl Room {
    fn of(target: &TargetInfo) -> Self {
        let unlimited = Self {
            space: u64::MAX,
            inodes: u64::MAX,
        };
        match &target.mount {
            // A file system that tells no size (some in user space) cannot be planned for.
            Some(mount) if mount.size_bytes > 0 => Self {
                space: mount.available_bytes.saturating_sub(SPARE),
                inodes: mount
                    .available_inodes
                    .map_or(u64::MAX, |inodes| inodes.saturating_sub(SPARE_INODES)),
            },
            _ => unlimited,
        }
    }

    fn holds(&self, (space, inodes): (u64, u64)) -> bool {
        space <= self.space && inodes <= self.inodes
    }

    /// Why a case does not fit even alone.
    fn shortage(&self, estimate: &Estimate) -> Option<String> {
        if estimate.space.as_u64() > self.space {
            return Some(format!(
                "it needs {} on the target, where {} are free ({} of it are left alone)",
                estimate.space.rough(),
                Bytes::new(self.space.saturating_add(SPARE)).rough(),
                Bytes::new(SPARE).rough()
            ));
        }
        (estimate.inodes > self.inodes).then(|| {
            format!(
                "it needs {} files on the target, where {} more are possible",
                estimate.inodes, self.inodes
            )
        })
    }
}

/// Puts every case into the first group it fits in, in the order of the plan.
pub(super) fn assign_groups(
    cases: &mut [Resolved],
    target: &TargetInfo,
    notes: &mut Vec<String>,
) -> Taken {
    let room = Room::of(target);
    let mut groups: Vec<Group> = Vec::new();
    for case in cases {
        if case.planned.unavailable.is_none() {
            case.planned.unavailable = room.shortage(&case.estimate);
        }
        if case.planned.unavailable.is_some() {
            continue;
        }
        let is_exclusive = case.estimate.exclusive;
        let fits = |group: &Group| {
            !is_exclusive && !group.is_exclusive && room.holds(group.with(&case.estimate))
        };
        let at = groups.iter().position(fits).unwrap_or_else(|| {
            groups.push(Group {
                is_exclusive,
                ..Group::default()
            });
            groups.len() - 1
        });
        groups[at].take(case);
        case.planned.group = u32::try_from(at).unwrap_or(u32::MAX);
    }
    let shared = groups.iter().filter(|group| !group.is_exclusive).count();
    if shared > 1 {
        notes.push(format!(
            "the files of all cases do not fit on the target together; they are measured in \
             {shared} groups, one after the other, instead of all in turn"
        ));
    }
    Taken {
        space: groups.iter().map(|group| group.space).max().unwrap_or(0),
        inodes: groups.iter().map(|group| group.inodes).max().unwrap_or(0),
        groups: u32::try_from(groups.len()).unwrap_or(u32::MAX),
    }
}

/// Adds up the plan.
pub(super) fn totals(header: &RunHeader, taken: Taken) -> Totals {
    let (runs, rest): (Vec<_>, Vec<_>) = header
        .cases
        .iter()
        .partition(|planned| planned.unavailable.is_none());
    let sum = |of: fn(&PlannedCase) -> u64| {
        let all = runs.iter().map(|planned| of(planned));
        all.fold(0, u64::saturating_add)
    };
    let prepare_bytes = sum(|planned| planned.prepare_bytes.as_u64());
    let prepare_time = sum(|planned| planned.prepare_time.as_u64());
    let round_bytes = sum(|planned| planned.trial_bytes.as_u64());
    let round_time = sum(|planned| planned.trial_time.as_u64());
    let least = u64::from(header.min_trials);
    let time_least = prepare_time.saturating_add(round_time.saturating_mul(least));
    let bytes_least = prepare_bytes.saturating_add(round_bytes.saturating_mul(least));
    let spare = header
        .run_budget
        .map(|budget| budget.as_u64().saturating_sub(time_least));
    let (more_time, more_bytes) = further(header, &runs, spare);
    let mut bytes_most = bytes_least.saturating_add(more_bytes);
    if let Some(limit) = header.write_limit {
        bytes_most = bytes_most.min(limit.as_u64());
    }
    Totals {
        cases: runs.len(),
        unavailable: rest.len(),
        groups: taken.groups,
        time_least: Nanos::new(time_least),
        time_most: Nanos::new(time_least.saturating_add(more_time)),
        prepare_bytes: Bytes::new(prepare_bytes),
        bytes_least: Bytes::new(bytes_least),
        bytes_most: Bytes::new(bytes_most),
        space: Bytes::new(taken.space),
        inodes: taken.inodes,
    }
}

/// Time and bytes of trials beyond the smallest number, at most: the cases that write fastest are
/// taken to use up the time that is left.
fn further(header: &RunHeader, runs: &[&PlannedCase], spare: Option<u64>) -> (u64, u64) {
    let mut order: Vec<&&PlannedCase> = runs.iter().collect();
    let rate = |planned: &PlannedCase| {
        planned.trial_bytes.as_u64() as f64 / planned.trial_time.as_u64().max(1) as f64
    };
    order.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let mut left = spare.unwrap_or(u64::MAX);
    let (mut time, mut bytes) = (0_u64, 0_u64);
    for planned in order {
        let each = planned.trial_time.as_u64().max(1);
        let trials = most_trials(header, planned)
            .saturating_sub(u64::from(header.min_trials))
            .min(left / each);
        left = left.saturating_sub(trials.saturating_mul(each));
        time = time.saturating_add(trials.saturating_mul(each));
        bytes = bytes.saturating_add(trials.saturating_mul(planned.trial_bytes.as_u64()));
    }
    (time, bytes)
}

/// Trials of a case at most, by their number and by the budget of the case.
fn most_trials(header: &RunHeader, planned: &PlannedCase) -> u64 {
    let most = u64::from(header.max_trials);
    match header.case_budget {
        None => most,
        Some(budget) => {
            let fit = budget.as_u64() / planned.trial_time.as_u64().max(1);
            most.min(fit.max(u64::from(header.min_trials)))
        }
    }
}
