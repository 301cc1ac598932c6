//! The overview as a picture.

use super::canvas::{About, Anchor, Canvas, Medium, WIDTH, fitted};
use crate::number::rounded;
use crate::overview::{Cell, Overview, Standing, heat};
use crate::view::View;

const EACH: f64 = 18.0;
/// Share of the width for names of results.
const NAMES: f64 = 0.42;
/// Most columns with readable numbers.
const MOST_COLUMNS: usize = 20;

/// Draws the overview: a row a result, a column a system, the share of the best as number and
/// shade. Column heads are numbers, explained below, because names do not fit.
pub(crate) fn push_heat(out: &mut String, view: &View<'_>, overview: &Overview, medium: Medium) {
    let systems = view.systems.len().min(MOST_COLUMNS);
    let legend = EACH * systems as f64 * 0.9;
    let top = 24.0;
    let bottom = top + EACH * overview.rows.len() as f64;
    let heading = format!("{}: share of the best result", view.file.title);
    let description = format!(
        "{} results of {} systems; 1.00 is the best value of a row, lower is worse.",
        overview.rows.len(),
        view.systems.len()
    );
    let about = About {
        id: "overview",
        class: "heat",
        title: &heading,
        description: &description,
        heading: &heading,
        subtitle: "1.00 is best; underlined: first outside the uncertainty; =: cannot be told \
                   apart from the best",
        height: bottom + 10.0 + legend,
    };
    let mut canvas = Canvas::begin(out, medium, &about);
    let column = (1.0 - NAMES) / systems.max(1) as f64;
    for system in 0..systems {
        let at = NAMES + column * (system as f64 + 0.5);
        canvas.text(
            "k",
            at,
            top - 6.0,
            Anchor::Middle,
            &(system + 1).to_string(),
        );
    }
    for (place, row) in overview.rows.iter().enumerate() {
        let y = top + EACH * place as f64;
        let unit = &view.blocks[row.block].record.metric.unit;
        let name = format!("{}, {unit}", overview.name(row.block));
        let name = fitted(&name, WIDTH * NAMES - 8.0, 7.0);
        canvas.text("m", 0.0, y + 12.0, Anchor::Start, &name);
        for (system, cell) in row.cells.iter().take(systems).enumerate() {
            if let Some(cell) = cell {
                push_cell(
                    &mut canvas,
                    *cell,
                    NAMES + column * system as f64,
                    column,
                    y,
                );
            }
        }
    }
    for (system, known) in view.systems.iter().take(systems).enumerate() {
        let y = bottom + 20.0 + EACH * 0.9 * system as f64;
        let text = format!("{}  {}", system + 1, known.name);
        canvas.text("m", 0.0, y, Anchor::Start, &fitted(&text, WIDTH, 6.6));
    }
    canvas.end();
}

fn push_cell(canvas: &mut Canvas<'_>, cell: Cell, from: f64, width: f64, y: f64) {
    let Some(share) = cell.of_best else {
        let text = if cell.standing == Standing::Invalid {
            "invalid"
        } else {
            "failed"
        };
        canvas.text("f", from + width / 2.0, y + 12.5, Anchor::Middle, text);
        return;
    };
    let shade = match heat(share) {
        0 => "hb\" fill-opacity=\".45",
        1 => "hb\" fill-opacity=\".28",
        2 => "hb\" fill-opacity=\".12",
        3 => "hw\" fill-opacity=\".10",
        4 => "hw\" fill-opacity=\".22",
        5 => "hw\" fill-opacity=\".36",
        _ => "hw\" fill-opacity=\".5",
    };
    canvas.bar(shade, from, from + width, y, EACH - 1.0);
    let mut text = rounded(share, if share < 0.095 { 3 } else { 2 });
    if cell.standing == Standing::Tied {
        text.push('=');
    }
    canvas.text("n", from + width / 2.0, y + 12.5, Anchor::Middle, &text);
    if cell.standing == Standing::First {
        canvas.line(
            "x",
            from + width * 0.2,
            from + width * 0.8,
            y + 15.0,
            y + 15.0,
        );
    }
}
