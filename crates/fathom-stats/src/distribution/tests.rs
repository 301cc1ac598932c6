//! Tests of the distributions.

use super::*;
use crate::testing::near;

#[test]
fn t_quantiles_are_the_published_ones() {
    // stat_refs `t_quantiles_975`.
    for (df, expected) in [
        (1.0, 12.70620474),
        (2.0, 4.30265273),
        (3.0, 3.182446305),
        (4.0, 2.776445105),
        (5.0, 2.570581836),
        (6.0, 2.446911851),
        (7.0, 2.364624252),
        (8.0, 2.306004135),
        (9.0, 2.262157163),
        (10.0, 2.228138852),
        (14.0, 2.144786688),
        (19.0, 2.093024054),
        (29.0, 2.045229642),
        (59.0, 2.000995378),
        (99.0, 1.984216952),
    ] {
        near(t_quantile(0.975, df), expected);
        near(t_quantile(0.025, df), -expected);
    }
}

#[test]
fn t_quantiles_hold_for_any_degrees_of_freedom() {
    // scipy `stats.t.ppf`.
    for (p, df, expected) in [
        (0.975, 1.5, 6.016663104427929),
        (0.975, 7.4673, 2.3349547455163826),
        (0.8, 3.97, 0.9417896509654142),
        (0.995, 2.0, 9.924843200918287),
        (0.95, 250.5, 1.6509592329934293),
        (0.9995, 1.0, 636.6192487687897),
        (0.975, 12345.6, 1.9601561582595104),
        (0.6, 0.5, 0.3979754267847907),
    ] {
        near(t_quantile(p, df), expected);
    }
    near(t_quantile(0.975, 1e12), 1.959963984540054);
    // Cauchy: 1 / tan(pi * 5e-7).
    near(
        t_quantile(0.999_999_5, 1.0),
        1.0 / (std::f64::consts::PI * 5e-7).tan(),
    );
}

#[test]
fn t_tails_keep_their_digits() {
    // scipy `2 * stats.t.sf(|t|)`.
    for (t, df, expected) in [
        (6.352214042, 7.610012584, 0.0002717850179504754),
        (-0.567104964, 3.971020306, 0.6011629505577152),
        (40.0, 5.5, 5.4105099890461e-08),
        (1e-3, 3.0, 0.9992648949694609),
    ] {
        near(t_two_sided_p(t, df), expected);
        near(t_upper_p(t.abs(), df), expected / 2.0);
        near(t_upper_p(-t.abs(), df), 1.0 - expected / 2.0);
    }
    assert_eq!(t_two_sided_p(f64::INFINITY, 4.0), 0.0);
}

#[test]
fn normal_matches_scipy() {
    for (z, expected) in [
        (0.1, 0.920344325445942),
        (1.959963985, 0.04999999994623688),
        (6.0, 1.973175290075389e-09),
        (10.0, 1.523970604832094e-23),
    ] {
        near(normal_two_sided_p(z), expected);
        near(normal_cdf(-z), expected / 2.0);
    }
    for (p, expected) in [
        (0.001, -3.090232306167813),
        (0.3, -0.5244005127080409),
        (0.975, 1.959963984540054),
        (0.9999, 3.719016485455709),
    ] {
        near(normal_quantile(p), expected);
    }
}

#[test]
fn power_matches_scipy() {
    // scipy `stats.ncf.sf(t * t, 1, df, delta * delta)`.
    for (t, df, delta, expected) in [
        (2.776445105, 4.0, 3.5, 0.744870058999331),
        (2.1, 18.0, 2.9, 0.7833088320617257),
        (0.5, 7.3, 1.2, 0.8089466154517307),
        (1.0, 3.0, 0.5, 0.4405928768042313),
        (12.7, 1.0, 20.0, 0.8835718214747317),
        (1.96, 1000.0, 2.8, 0.7994582511662389),
        (33.0, 7.5, 29.9, 0.4232856951553633),
    ] {
        near(PowerCurve::new(t, df).at(delta), expected);
    }
    // Without a difference the power is the error, 5 %.
    near(PowerCurve::new(2.776445105, 4.0).at(0.0), 0.05);
}

#[test]
fn series_and_integral_agree() {
    for (t, df) in [(25.0, 1.0), (33.0, 7.5), (30.0, 200.0)] {
        near(
            1.0 - noncentral_t_integral(t, df, 30.0),
            PowerCurve::new(t, df).at(30.0),
        );
    }
    // scipy `stats.nct.cdf` and `integrate.quad`.
    near(noncentral_t_integral(90.0, 3.0, 60.0), 0.7211749914812898);
}

#[test]
fn binomial_probabilities_add_up() {
    for (n, p) in [(1, 0.5), (10, 0.99), (1000, 0.5), (1000, 0.999)] {
        near(binomial_pmf(n, p).iter().sum(), 1.0);
    }
    near(binomial_pmf(6, 0.5)[0], 1.0 / 64.0);
}
