use crate::result::Trial;
use crate::verdict::{Level, Reason, Verdict};

use super::{account, pace, reason, series};

/// The verdict of an entry: the worst its trials got, each reason once, with the number of trials
/// it holds for. A percentile that rests on too few samples is suspect where it is the metric, and
/// not mentioned where it is another.
pub fn judge_entry<'a>(metric: &str, trials: impl IntoIterator<Item = &'a Trial>) -> Verdict {
    let trials: Vec<&Trial> = trials
        .into_iter()
        .filter(|trial| trial.error.is_none())
        .collect();
    let mut verdict = Verdict::default();
    let mut reasons = Tally::default();
    let mut notes = Tally::default();
    for trial in &trials {
        verdict.level = verdict.level.max(trial.verdict.level);
        reasons.add(&trial.verdict.reasons);
        notes.add(&trial.verdict.notes);
    }
    verdict.reasons = reasons.finish(trials.len());
    verdict.notes = notes.finish(trials.len());
    verdict.notes.retain(|note| note.rule != "few-samples");
    few_samples(metric, &trials, &mut verdict);
    pace::closed_latency(metric, &trials, &mut verdict);
    series::first_trial(metric, &trials, &mut verdict);
    verdict
}

fn few_samples(metric: &str, trials: &[&Trial], verdict: &mut Verdict) {
    let weakest = trials
        .iter()
        .filter_map(|trial| account::too_few(metric, trial))
        .min_by_key(|(_, count)| *count);
    if let Some((p, count)) = weakest {
        let text = format!(
            "p{} of a trial rests on {count} samples; it needs {}.",
            account::short_p(p),
            account::needed(p)
        );
        let short = format!("{count} samples are too few");
        verdict.object(Level::Suspect, reason("few-samples", short, text));
    }
}

/// Reasons by rule, in the order they first came, with how often.
#[derive(Default)]
struct Tally(Vec<(Reason, usize)>);

impl Tally {
    fn add(&mut self, reasons: &[Reason]) {
        for reason in reasons {
            match self
                .0
                .iter_mut()
                .find(|(known, _)| known.rule == reason.rule)
            {
                Some((_, times)) => *times += 1,
                None => self.0.push((reason.clone(), 1)),
            }
        }
    }

    fn finish(self, trials: usize) -> Vec<Reason> {
        let with_share = |(mut reason, times): (Reason, usize)| {
            if times < trials {
                reason.short = format!("{} in {times} of {trials} trials", reason.short);
                reason.text = format!("{} Seen in {times} of {trials} trials.", reason.text);
            }
            reason
        };
        self.0.into_iter().map(with_share).collect()
    }
}
