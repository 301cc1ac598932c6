//! When a case gets another trial: intervals, time, bytes.
//!
//! - The smallest number of trials is done whatever the budgets say.
//! - Beyond it, a case is done when a look (after 3, 5, 8, 12, 20 or 30 trials) finds every metric
//!   known as well as wanted, or when its own budget would be exceeded by another trial.
//! - A trial beyond the smallest number is only begun when it can be expected to end within the
//!   budget of the run, with the trials the other cases are still owed; else its case is done.
//!   A trial is expected to take as long as those of its case have taken on average.
//! - Groups that follow one another share the time that is left by what they are expected to take.
//! - A trial, also one of the smallest number, is only begun when the write limit leaves room for
//!   it. It is expected to write a quarter more than the most that one of its case has written,
//!   and before the first one what the test estimates at most.

use fathom_base::Nanos;
use fathom_model::{PlannedCase, StopReason, Trial};
use fathom_stats::stopping::{Decision, Progress, STANDARD_LOOKS, StoppingOptions, StoppingRule};
use fathom_stats::{Confidence, Sample};

use super::Session;

/// Failures in a row after which a case is given up.
const FAILURES_LIMIT: u32 = 3;

/// Bytes a trial has written: by the test's own count or the kernel's of this process, whichever
/// is more; the estimate where neither is known, or where the trial failed.
pub(super) fn written_by(planned: &PlannedCase, trial: &Trial) -> u64 {
    let io = trial.evidence.io.as_ref().map(|io| io.written_bytes);
    let host = trial.evidence.host.as_ref();
    let own = host.and_then(|host| host.own_written_bytes);
    let seen = io.max(own).filter(|_| trial.error.is_none());
    seen.unwrap_or(planned.trial_bytes.as_u64())
}

impl Session<'_> {
    /// Time the run has taken, all sessions together.
    pub(super) fn elapsed(&self) -> Nanos {
        let now = self.runner.clock.now();
        self.spent_before.plus(now.since(self.began))
    }

    /// When a group has used up its share of the run's budget.
    pub(super) fn share_of(&self, group: u32) -> Option<Nanos> {
        let budget = self.header.run_budget?;
        let elapsed = self.elapsed();
        let left = budget.since(elapsed).as_u64();
        let owed = |of: &dyn Fn(u32) -> bool| -> u64 {
            let open = self.open_cases(None).into_iter();
            open.filter(|case| of(self.header.cases[*case].group))
                .map(|case| self.owed(case).as_u64().max(1))
                .fold(0, u64::saturating_add)
        };
        let own = owed(&|other| other == group);
        let all = owed(&|other| other >= group).max(1);
        let share = u128::from(left) * u128::from(own) / u128::from(all);
        Some(elapsed.plus(Nanos::new(u64::try_from(share).unwrap_or(u64::MAX))))
    }

    /// Why a case must not have another trial now.
    pub(super) fn forbidden(&self, case: usize) -> Option<StopReason> {
        if let Some(limit) = self.header.write_limit {
            let more = self.expected_bytes(case);
            let is_beyond = self.written.saturating_add(more) > limit.as_u64();
            if more > 0 && is_beyond {
                return Some(StopReason::WriteLimit);
            }
        }
        let is_owed = self.states[case].attempts < self.header.min_trials;
        let end = self.group_end.filter(|_| !is_owed)?;
        let group = self.header.cases[case].group;
        let others = self.open_cases(Some(group)).into_iter();
        let owed = others
            .filter(|other| *other != case)
            .map(|other| self.owed_trials(other))
            .fold(Nanos::default(), Nanos::plus);
        let after = self.elapsed().plus(self.expected_time(case)).plus(owed);
        (after > end).then_some(StopReason::RunBudget)
    }

    /// Whether the write limit leaves room for the preparation of a case.
    pub(super) fn may_prepare(&self, case: usize) -> bool {
        let bytes = self.header.cases[case].prepare_bytes.as_u64();
        let after = self.written.saturating_add(bytes);
        let limit = self.header.write_limit;
        bytes == 0 || limit.is_none_or(|limit| after <= limit.as_u64())
    }

    /// Whether a case is done, after a trial of it.
    pub(super) fn decision(&self, case: usize) -> Option<StopReason> {
        let state = &self.states[case];
        if state.failures_in_a_row >= FAILURES_LIMIT {
            return Some(StopReason::Failing);
        }
        let planned = &self.header.cases[case];
        let steers = planned.metrics.iter().any(|metric| metric.steers);
        if !steers && state.attempts >= self.header.min_trials {
            return Some(StopReason::Deterministic);
        }
        let samples = state.samples();
        let samples: Vec<&Sample> = samples.iter().collect();
        let progress = Progress {
            trials: state.attempts,
            spent: state.spent.as_duration(),
        };
        match self.rule().map(|rule| rule.decide(&samples, progress)) {
            Some(Decision::Continue { .. }) => None,
            Some(Decision::Stop(reason)) => Some(match reason {
                fathom_stats::stopping::StopReason::GoalReached => StopReason::GoalReached,
                fathom_stats::stopping::StopReason::BudgetSpent => StopReason::CaseBudget,
                fathom_stats::stopping::StopReason::LastLook => StopReason::MaxTrials,
            }),
            // Settings a journal from elsewhere may hold and a plan never does.
            None => (state.attempts >= self.header.max_trials).then_some(StopReason::MaxTrials),
        }
    }

    fn rule(&self) -> Option<StoppingRule> {
        let header = &self.header;
        let below = STANDARD_LOOKS.iter().copied();
        let mut looks: Vec<u32> = below.filter(|look| *look < header.max_trials).collect();
        looks.push(header.max_trials);
        let options = StoppingOptions {
            looks,
            goal_percent: header.goal_percent,
            min_trials: header.min_trials,
            budget: header.case_budget.map(Nanos::as_duration),
            confidence: Confidence::P95,
        };
        StoppingRule::new(options).ok()
    }

    /// Time the rest of the smallest number of trials takes.
    fn owed_trials(&self, case: usize) -> Nanos {
        let attempts = self.states[case].attempts;
        let trials = u64::from(self.header.min_trials.saturating_sub(attempts));
        let each = self.expected_time(case).as_u64();
        Nanos::new(each.saturating_mul(trials))
    }

    /// Likewise, with the preparation.
    fn owed(&self, case: usize) -> Nanos {
        let prepare = match self.states[case].is_prepared {
            true => Nanos::default(),
            false => self.header.cases[case].prepare_time,
        };
        prepare.plus(self.owed_trials(case))
    }

    fn expected_time(&self, case: usize) -> Nanos {
        let measured = self.states[case].mean_time();
        measured.unwrap_or(self.header.cases[case].trial_time)
    }

    fn expected_bytes(&self, case: usize) -> u64 {
        let estimate = self.header.cases[case].trial_bytes.as_u64();
        match self.states[case].written_most {
            Some(most) => most.saturating_add(most / 4),
            None => estimate,
        }
    }
}
