//! A table of shares by two factors as a picture.

use std::collections::BTreeMap;

use super::Look;
use super::canvas::{About, Anchor, Canvas, WIDTH, fitted};
use crate::number::rounded;
use crate::overview::heat;

const EACH: f64 = 24.0;
const TOP: f64 = 26.0;
/// Share of the width for names of rows.
const NAMES: f64 = 0.4;

/// Draws it: a row for what else differs, a column a level, the share as number and shade.
pub(crate) fn push_factor_heat(
    out: &mut String,
    (title, id): (&str, &str),
    levels: &[String],
    rows: &[String],
    shares: &BTreeMap<(usize, usize), f64>,
    look: Look,
) {
    let about = About {
        id,
        class: "heat",
        title,
        description: "Geometric mean over all cases of the share of the best value; 1.00 is best \
                      in every case, lower is worse.",
        heading: title,
        subtitle: "geometric mean over all cases; 1.00 is best everywhere",
        height: TOP + EACH * rows.len() as f64 + 8.0,
    };
    let mut canvas = Canvas::begin(out, look.medium(), &about);
    let column = (1.0 - NAMES) / levels.len().max(1) as f64;
    for (place, level) in levels.iter().enumerate() {
        let at = NAMES + column * (place as f64 + 0.5);
        let name = fitted(level, WIDTH * column - 6.0, 6.6);
        canvas.text("k", at, TOP - 8.0, Anchor::Middle, &name);
    }
    for (row, name) in rows.iter().enumerate() {
        let y = TOP + EACH * row as f64;
        let name = fitted(name, WIDTH * NAMES - 8.0, 6.8);
        canvas.text("m", 0.0, y + 15.0, Anchor::Start, &name);
        for level in 0..levels.len() {
            let from = NAMES + column * level as f64;
            let middle = from + column / 2.0;
            match shares.get(&(row, level)) {
                Some(share) => {
                    canvas.bar(shade(*share), from, from + column, y, EACH - 1.0);
                    canvas.text("n", middle, y + 15.5, Anchor::Middle, &rounded(*share, 2));
                }
                None => canvas.text("f", middle, y + 15.5, Anchor::Middle, "-"),
            }
        }
    }
    canvas.end();
}

fn shade(share: f64) -> &'static str {
    match heat(share) {
        0 => "hb\" fill-opacity=\".45",
        1 => "hb\" fill-opacity=\".28",
        2 => "hb\" fill-opacity=\".12",
        3 => "hw\" fill-opacity=\".10",
        4 => "hw\" fill-opacity=\".22",
        5 => "hw\" fill-opacity=\".36",
        _ => "hw\" fill-opacity=\".5",
    }
}
