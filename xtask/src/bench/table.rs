//! A comparison as a row: what, both sides, the median ratio and what it should be.

/// What a comparison should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The ratio of ours to the peer's, at least.
    RatioAtLeast(f64),
    /// The ratio of ours to the peer's, at most.
    RatioAtMost(f64),
    /// The ratio within 1 plus or minus this.
    RatioWithin(f64),
    /// Our own figure, at most; there is no peer.
    AtMost(f64),
    /// Only shown.
    None,
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is compared: `null engine, depth 32`.
    pub what: String,
    /// Unit of the figures: `ns/IO`.
    pub unit: &'static str,
    /// Our figures, one a pair.
    pub ours: Vec<f64>,
    /// The peer's, in the same order; empty when there is none.
    pub peer: Vec<f64>,
    /// The peer with its version; empty when there is none.
    pub peer_name: String,
    /// What should be reached.
    pub goal: Goal,
}

impl Row {
    /// Ratios of the pairs, sorted.
    pub fn ratios(&self) -> Vec<f64> {
        let pairs = self.ours.iter().zip(&self.peer);
        sorted(pairs.map(|(ours, peer)| ours / peer).collect())
    }

    /// The median ratio; `None` without a peer.
    pub fn ratio(&self) -> Option<f64> {
        (!self.peer.is_empty()).then(|| median(&self.ratios()))
    }

    /// Whether the goal was missed.
    pub fn is_missed(&self) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        let reached = match self.goal {
            Goal::RatioAtLeast(least) => ratio >= least,
            Goal::RatioAtMost(most) => ratio <= most,
            Goal::RatioWithin(share) => (ratio - 1.0).abs() <= share,
            Goal::AtMost(most) => median(&sorted(self.ours.clone())) <= most,
            Goal::None => true,
        };
        !reached
    }

    /// Prints the row as soon as it is measured.
    pub fn print(&self) {
        let ours = short(median(&sorted(self.ours.clone())));
        let versus = match self.ratio() {
            None => String::new(),
            Some(ratio) => {
                let ratios = self.ratios();
                let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
                format!(
                    "{:>9} {:<10} ratio {ratio:.3} ({low:.3}-{high:.3}, {} pairs)",
                    short(median(&sorted(self.peer.clone()))),
                    self.peer_name,
                    ratios.len()
                )
            }
        };
        let goal = match self.goal {
            Goal::RatioAtLeast(least) => format!(">= {least}"),
            Goal::RatioAtMost(most) => format!("<= {most}"),
            Goal::RatioWithin(share) => format!("1 +- {share}"),
            Goal::AtMost(most) => format!("<= {} {}", short(most), self.unit),
            Goal::None => "shown only".to_owned(),
        };
        let answer = match (self.goal, self.is_missed()) {
            (Goal::None, _) => "",
            (_, true) => "MISSED",
            (_, false) => "met",
        };
        println!(
            "  {:<48} {ours:>9} {:<8} {versus:<58} {goal:<14} {answer}",
            self.what, self.unit
        );
    }
}

/// The middle of sorted numbers; NaN when there are none.
pub fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// In ascending order.
pub fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}
