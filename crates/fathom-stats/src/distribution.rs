//! Normal, Student t, noncentral t and binomial distributions, as the tests here need them.
//!
//! Normal and Student t come from `statrs`. Callers inside this crate vouch for the ranges.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::{gamma_ur, ln_gamma};

/// Above this many degrees of freedom Student t is the normal distribution to 7 digits.
const NORMAL_FROM_DF: f64 = 1e7;
/// Above this noncentrality exp(-delta^2/2) is near the smallest number there is.
const LARGE_NONCENTRALITY: f64 = 30.0;

/// P(Z <= z).
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// The z with P(Z <= z) = `p`, 0 < p < 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// P(|Z| >= |z|).
pub(crate) fn normal_two_sided_p(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// P(|T| >= |t|) with `df` degrees of freedom.
///
/// Through the incomplete beta function, so that small p values keep their digits
/// (Abramowitz & Stegun 26.7.1).
pub(crate) fn t_two_sided_p(t: f64, df: f64) -> f64 {
    assert!(df > 0.0, "degrees of freedom are positive");
    if df > NORMAL_FROM_DF {
        return normal_two_sided_p(t);
    }
    beta_reg(0.5 * df, 0.5, df / (df + t * t)).clamp(0.0, 1.0)
}

/// P(T >= t) with `df` degrees of freedom.
pub(crate) fn t_upper_p(t: f64, df: f64) -> f64 {
    let half = 0.5 * t_two_sided_p(t, df);
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The t with P(T <= t) = `p`, 0 < p < 1, `df` > 0.
pub(crate) fn t_quantile(p: f64, df: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a quantile lies between 0 and 1");
    if df > NORMAL_FROM_DF {
        return normal_quantile(p);
    }
    StudentsT::new(0.0, 1.0, df).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

/// Chance that a two-sided t test with critical value `critical` finds a difference of `delta`
/// standard errors: both tails of the noncentral t distribution.
pub(crate) struct PowerCurve {
    critical: f64,
    df: f64,
    start: IncompleteBeta,
}

impl PowerCurve {
    pub fn new(critical: f64, df: f64) -> Self {
        let x = critical * critical / (critical * critical + df);
        Self {
            critical,
            df,
            start: IncompleteBeta::new(0.5, 0.5 * df, x),
        }
    }

    /// The power at `delta` >= 0.
    ///
    /// In the sum of both tails of Lenth's series (1989, AS 243) the odd terms cancel; what is
    /// left is the noncentral F distribution: 1 - sum of Poisson(delta^2/2) weights times
    /// I_x(j + 1/2, df/2). For a large `delta`, where the weights vanish, by integration.
    pub fn at(&self, delta: f64) -> f64 {
        if delta > LARGE_NONCENTRALITY {
            // The other tail is beyond 30 standard deviations.
            return 1.0 - noncentral_t_integral(self.critical, self.df, delta);
        }
        let half = 0.5 * delta * delta;
        let mut weight = (-half).exp();
        let (mut weight_left, mut missed) = (1.0, 0.0);
        let mut beta = self.start;
        for j in 1..2000 {
            missed += weight * beta.value;
            weight_left -= weight;
            if weight_left * beta.value < 1e-15 || (f64::from(j) > half && weight < 1e-16) {
                break;
            }
            weight *= half / f64::from(j);
            beta.step();
        }
        (1.0 - missed).clamp(0.0, 1.0)
    }
}

/// P(T <= t), t > 0, of the noncentral t distribution with a large noncentrality.
///
/// T <= t if a standard normal Z and an independent chi square U satisfy U >= df ((Z + delta)/t)^2
/// or Z <= -delta: the mean over Z of the upper tail of U, by the trapezoid rule.
fn noncentral_t_integral(t: f64, df: f64, delta: f64) -> f64 {
    const STEP: f64 = 1.0 / 32.0;
    const REACH: i32 = 9 * 32;
    let tail = |z: f64| {
        let scaled = (z + delta) / t;
        let chi_square = df * scaled * scaled;
        if scaled <= 0.0 {
            1.0
        } else {
            gamma_ur(0.5 * df, 0.5 * chi_square)
        }
    };
    let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let points = (-REACH..=REACH).map(|i| f64::from(i) * STEP);
    points
        .map(|z| STEP * density(z) * tail(z))
        .sum::<f64>()
        .clamp(0.0, 1.0)
}

/// I_x(a, b) for rising a: I_x(a+1, b) = I_x(a, b) - x^a (1-x)^b / (a B(a, b)).
#[derive(Clone, Copy)]
struct IncompleteBeta {
    a: f64,
    b: f64,
    x: f64,
    value: f64,
    /// x^a (1-x)^b / (a B(a, b)).
    step: f64,
}

impl IncompleteBeta {
    fn new(a: f64, b: f64, x: f64) -> Self {
        let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
        let step = (a * x.ln() + b * (1.0 - x).ln() - ln_beta).exp() / a;
        Self {
            a,
            b,
            x,
            value: beta_reg(a, b, x),
            step,
        }
    }

    fn step(&mut self) {
        self.value = (self.value - self.step).max(0.0);
        self.step *= self.x * (self.a + self.b) / (self.a + 1.0);
        self.a += 1.0;
    }
}

/// Probabilities P(K = k), k = 0..=n, of a binomial count; `n` at most a few thousand.
pub(crate) fn binomial_pmf(n: u32, p: f64) -> Vec<f64> {
    let total = f64::from(n);
    let ln_choose = |k: f64| ln_gamma(total + 1.0) - ln_gamma(k + 1.0) - ln_gamma(total - k + 1.0);
    let at = |k: u32| {
        let k = f64::from(k);
        // 0 * ln 0 is 0 here.
        let power = |base: f64, e: f64| if e == 0.0 { 0.0 } else { e * base.ln() };
        (ln_choose(k) + power(p, k) + power(1.0 - p, total - k)).exp()
    };
    (0..=n).map(at).collect()
}

#[cfg(test)]
mod tests;
