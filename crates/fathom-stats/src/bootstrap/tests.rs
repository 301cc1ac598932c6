//! Tests of the bootstrap.

use super::*;
use crate::testing::{C, near, sample, within};

const VALUES: [f64; 12] = [
    12.1, 11.7, 13.5, 12.8, 19.2, 11.9, 12.2, 14.1, 12.6, 13.3, 12.0, 15.8,
];
const OTHERS: [f64; 8] = [13.0, 12.2, 14.4, 13.9, 18.0, 13.1, 12.9, 15.5];

fn plan(method: Method) -> Plan {
    Plan {
        resamples: 10_000,
        seed: 42,
        method,
        confidence: Confidence::P95,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn intervals_agree_with_scipy() {
    // scipy `stats.bootstrap` with 200,000 resamples; the tolerance is its spread over seeds at
    // 10,000.
    let found = bootstrap(&sample(&VALUES), mean, plan(Method::Percentile)).unwrap();
    within(found.low, 12.4417, 0.06);
    within(found.high, 14.7333, 0.06);
    let found = bootstrap(
        &sample(&VALUES),
        mean,
        plan(Method::BiasCorrectedAccelerated),
    )
    .unwrap();
    within(found.low, 12.6, 0.06);
    within(found.high, 15.21, 0.12);
    near(found.value, mean(&VALUES));
    let ratio = |a: &[f64], b: &[f64]| mean(b) / mean(a);
    let two = plan(Method::BiasCorrectedAccelerated);
    let found = bootstrap_two(&sample(&VALUES), &sample(&OTHERS), ratio, two).unwrap();
    within(found.low, 0.9267, 0.008);
    within(found.high, 1.1813, 0.008);
}

#[test]
fn all_resamples_of_three_values_have_the_known_quantiles() {
    // stat_refs `exact_bootstrap_mean_C`: the reason why three values are refused below.
    let mut means = Vec::new();
    for x in C {
        for y in C {
            for z in C {
                means.push((x + y + z) / 3.0);
            }
        }
    }
    let means = sample(&means);
    near(means.population_standard_deviation(), 2.0_f64.sqrt());
    near(means.quantile(0.025), 97.65);
    near(means.quantile(0.975), 102.35);
}

#[test]
fn the_seed_fixes_the_interval() {
    let with = |seed| {
        let plan = Plan {
            seed,
            ..plan(Method::BiasCorrectedAccelerated)
        };
        bootstrap(&sample(&VALUES), mean, plan).unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn too_little_is_refused() {
    let few = bootstrap(&sample(&VALUES[..7]), mean, plan(Method::Percentile)).unwrap_err();
    assert_eq!(
        few.to_string(),
        "a bootstrap needs at least 8 values, got 7"
    );
    let one = Plan {
        resamples: 1,
        ..plan(Method::Percentile)
    };
    assert!(bootstrap(&sample(&VALUES), mean, one).is_err());
    let nan = bootstrap(&sample(&VALUES), |_| f64::NAN, plan(Method::Percentile));
    assert!(nan.is_err());
}

#[test]
fn equal_values_have_an_interval_of_no_width() {
    for method in [Method::Percentile, Method::BiasCorrectedAccelerated] {
        let found = bootstrap(&sample(&[4.0; 9]), mean, plan(method)).unwrap();
        assert_eq!((found.low, found.high), (4.0, 4.0));
    }
}
