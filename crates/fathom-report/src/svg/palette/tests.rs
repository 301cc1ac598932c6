use super::*;

/// Linear light of `#rrggbb` (IEC 61966-2-1).
fn linear(colour: &str) -> [f64; 3] {
    std::array::from_fn(|i| {
        let byte = u8::from_str_radix(&colour[1 + 2 * i..3 + 2 * i], 16).unwrap();
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn apply(matrix: &[[f64; 3]; 3], colour: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        (0..3)
            .map(|j| matrix[i][j] * colour[j])
            .sum::<f64>()
            .clamp(0.0, 1.0)
    })
}

/// CIE L*a*b* under D65.
fn lab(colour: [f64; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    let white = [0.950_47, 1.0, 1.088_83];
    let f = |t: f64| {
        if t > 0.008_856 {
            t.cbrt()
        } else {
            7.787 * t + 16.0 / 116.0
        }
    };
    let [x, y, z]: [f64; 3] =
        std::array::from_fn(|i| f((0..3).map(|j| XYZ[i][j] * colour[j]).sum::<f64>() / white[i]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Machado, Oliveira & Fernandes 2009, severity 1.0.
const EYES: [(&str, [[f64; 3]; 3]); 4] = [
    (
        "normal",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanope",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranope",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanope",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

#[test]
fn colours_stay_apart_for_every_eye() {
    for theme in [&LIGHT, &DARK] {
        for (eye, matrix) in &EYES {
            for (i, a) in theme.systems.iter().enumerate() {
                for b in &theme.systems[..i] {
                    let (x, y) = (lab(apply(matrix, linear(a))), lab(apply(matrix, linear(b))));
                    let distance = (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>().sqrt();
                    assert!(
                        distance > 9.0,
                        "{a} and {b} are {distance:.1} apart for a {eye}"
                    );
                }
            }
        }
    }
}

fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour: &str| {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG 2.2: 4.5 for text, 3 for graphics.
#[test]
fn everything_has_contrast() {
    for theme in [&LIGHT, &DARK] {
        let of = |name: &str| {
            theme
                .variables
                .iter()
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
        };
        for name in ["ink", "muted", "accent", "good", "warn", "bad"] {
            for ground in ["bg", "panel"] {
                let ratio = contrast(of(name), of(ground));
                assert!(ratio >= 4.5, "{name} on {ground}: {ratio:.2}");
            }
        }
        for colour in theme.systems {
            assert!(contrast(colour, of("bg")) >= 3.0, "{colour}");
        }
    }
}

#[test]
fn rules_name_known_variables_only() {
    let mut out = String::new();
    push_rules(&mut out, &LIGHT, |_, value| value.to_owned());
    assert!(!out.contains('$') && out.contains(".c7{fill:#9a8c5a"));
}
