//! Popularity of blocks: which rank is drawn.

use rand::distr::Distribution as _;
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::unit_interval;

/// Draws ranks below a length, the most popular being 0.
#[derive(Clone, Debug)]
pub(crate) enum Skew {
    /// All the same.
    Uniform,
    /// Zipf's law.
    Zipf(Zipf<f64>),
    /// Self-similar with this exponent.
    Pareto { exponent: f64 },
}

impl Skew {
    /// Zipf's law for `len` ranks; `None` if `theta` is not above 0.
    pub(crate) fn zipf(len: u64, theta: f64) -> Option<Self> {
        let valid = theta > 0.0 && theta.is_finite();
        valid
            .then(|| Zipf::new(len as f64, theta).ok())
            .flatten()
            .map(Self::Zipf)
    }

    /// The self-similar law of Gray et al. (SIGMOD 1994): rank `len * u^(ln h / ln(1 - h))`.
    pub(crate) fn pareto(h: f64) -> Self {
        Self::Pareto {
            exponent: h.ln() / (1.0 - h).ln(),
        }
    }

    #[inline(always)]
    pub(crate) fn rank(&self, len: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        let rank = match self {
            Self::Uniform => return super::below(random, len),
            Self::Zipf(zipf) => (zipf.sample(random) as u64).saturating_sub(1),
            Self::Pareto { exponent } => {
                (len as f64 * unit_interval(random).powf(*exponent)) as u64
            }
        };
        rank.min(len - 1)
    }
}
