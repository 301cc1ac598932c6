//! All systems over all cases.

use fathom_model::ResultFile;

use super::ShowOptions;
use super::columns::{fit, push_left, push_right, push_wrapped, width};
use super::style::Tone;
use crate::clean;
use crate::number::rounded;
use crate::overview::{Overview, Score};
use crate::view::View;

/// Widest column of names.
const MOST_NAME: usize = 40;

/// How the systems of a file stand over all of its cases: geometric mean of the improvements over
/// the first system, one weight a case, with its 95 % interval where every case has one; and in
/// how many cases a system is first, outside the uncertainty of all others, or among those that
/// cannot be told apart from the best.
///
/// The file of a single system has nothing to say here, and the text says so.
pub fn standings(file: &ResultFile, options: ShowOptions) -> String {
    let view = View::of(file);
    let overview = Overview::of(&view);
    let mut out = String::new();
    if view.systems.len() < 2 || overview.rows.is_empty() {
        out.push_str("nothing to compare: fewer than two systems have results of the same case\n");
        return out;
    }
    let names: Vec<String> = view
        .systems
        .iter()
        .map(|system| clean::line(system.name))
        .collect();
    let columns = options.columns();
    let lines: Vec<[String; 5]> = overview
        .scores
        .iter()
        .enumerate()
        .map(|(place, score)| cells_of(place, score))
        .collect();
    let heads = ["mean", "95 %", "cases", "first", "among best"];
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            let cells = lines.iter().map(|line| width(&line[column]));
            cells.chain([heads[column].len()]).max().unwrap_or(0) + 2
        })
        .collect();
    let taken: usize = widths.iter().sum();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let name_width = name_width
        .max(6)
        .min(MOST_NAME)
        .min(columns.saturating_sub(taken));
    options.style().push(&mut out, Tone::Faint, |out| {
        push_left(out, "system", name_width);
        for (head, width) in heads.iter().zip(&widths) {
            push_right(out, head, *width);
        }
    });
    out.push('\n');
    for (name, line) in names.iter().zip(&lines) {
        push_left(&mut out, &fit(name, name_width), name_width);
        for (cell, width) in line.iter().zip(&widths) {
            push_right(&mut out, cell, *width);
        }
        out.push('\n');
    }
    let text = format!(
        "mean: geometric mean of the improvements over {}, one weight a case; first: outside the \
         uncertainty of all others, of {} cases",
        names[0],
        overview.rows.len()
    );
    options.style().push(&mut out, Tone::Faint, |out| {
        push_wrapped(out, &text, 0, 2, columns)
    });
    out.push('\n');
    super::show::trim_line_ends(&mut out);
    out
}

fn cells_of(place: usize, score: &Score) -> [String; 5] {
    let interval = score
        .improvement
        .filter(|_| place > 0)
        .map(|estimate| format!("{}-{}", rounded(estimate.low, 3), rounded(estimate.high, 3)));
    [
        score
            .improvement_alone
            .map(|mean| rounded(mean, 3))
            .unwrap_or_default(),
        interval.unwrap_or_default(),
        score.cases.to_string(),
        score.first.to_string(),
        (score.first + score.tied).to_string(),
    ]
}
