//! A result file as a printed report: the summary table first, then systems, charts and notes.

use fathom_model::{Direction, ResultFile};
use krilla::color::rgb;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::text::{Font, TextDirection};
use krilla::{Document, destination::XyzDestination};
use krilla_svg::{SurfaceExt, SvgSettings};
use resvg::usvg;

use super::flow::{
    BLACK, BLUE, Cell, Flow, GREY, Ink, Item, MARGIN, PAGE, RED, Table, WIDTH, Weight,
};
use super::{ExportError, FONTS, options, tree_of};
use crate::anchors::anchors_of;
use crate::clean;
use crate::number::{count, push_value, rounded};
use crate::overview::{Overview, Standing, pts_name};
use crate::sayings::{Kind, Said};
use crate::svg::{Medium, bars_height, curves_of, push_bars, push_lines};
use crate::text::{PERCENTILES, other_text, percentile_text, target_text};
use crate::view::{Block, View};

/// Most systems side by side in the summary table.
const SUMMARY_COLUMNS: usize = 10;
/// Most bars of one chart, so that it stays readable on a page.
const MOST_BARS: usize = 36;

/// A result file as a PDF document of A4 pages: the summary table first, then the systems, a
/// section a result with its charts, and the notes. Text is real text with embedded fonts.
///
/// The same file gives the same bytes; the document carries no date.
///
/// # Errors
/// [`ExportError::Pdf`] or [`ExportError::Svg`], faults of this crate.
pub fn pdf(file: &ResultFile) -> Result<Vec<u8>, ExportError> {
    let view = View::of(file);
    let overview = Overview::of(&view);
    let mut flow = Flow::new();
    push_title(&mut flow, &view);
    push_summary(&mut flow, &view, &overview);
    push_systems(&mut flow, &view);
    push_results(&mut flow, &view);
    push_notes(&mut flow, &view);
    write(flow, &title_of(file))
}

fn title_of(file: &ResultFile) -> String {
    match file.title.trim() {
        "" => "Untitled result".to_owned(),
        title => clean::line(title),
    }
}

fn push_title(flow: &mut Flow, view: &View<'_>) {
    flow.heading(&title_of(view.file), 19.0, 60.0);
    let description = clean::line(&view.file.description);
    if !description.trim().is_empty() {
        flow.skip(3.0);
        flow.paragraph(&description, 10.0, Weight::Regular, BLACK);
    }
    flow.skip(2.0);
    let generator = &view.file.generator;
    let by = match generator.name.as_str() {
        "" => String::new(),
        name => format!(", written by {name} {}", generator.version),
    };
    let text = format!(
        "{} systems, {} results{}",
        view.systems.len(),
        view.blocks.len(),
        clean::line(&by)
    );
    flow.paragraph(&text, 8.5, Weight::Regular, GREY);
}

/// The value of every system in every result, in the words of the overview table of the Phoronix
/// Test Suite; the best value is marked only where it leads outside the uncertainty.
fn push_summary(flow: &mut Flow, view: &View<'_>, overview: &Overview) {
    flow.skip(12.0);
    flow.heading("Summary", 13.0, 40.0);
    if view.blocks.is_empty() {
        flow.paragraph(
            "There are no results in this file.",
            9.0,
            Weight::Regular,
            BLACK,
        );
        return;
    }
    let note = "Bold: first, outside the uncertainty of all others. A small mark = means it cannot \
                be told apart from the best. (More is better unless the unit is followed by \
                \u{2193}.)";
    flow.paragraph(note, 7.5, Weight::Regular, GREY);
    flow.skip(4.0);
    let places: Vec<usize> = (0..view.systems.len()).collect();
    // Tables of about equal width.
    let tables = places.len().div_ceil(SUMMARY_COLUMNS).max(1);
    for systems in places.chunks(places.len().div_ceil(tables).max(1)) {
        flow.table(&summary_table(view, overview, systems));
    }
    if view.systems.len() > 1 {
        push_scores(flow, view, overview);
    }
}

fn summary_table(view: &View<'_>, overview: &Overview, systems: &[usize]) -> Table {
    let names = 0.30;
    let column = ((1.0 - names) / systems.len() as f32).min(0.22);
    let mut columns = vec![names];
    columns.extend(systems.iter().map(|_| column));
    let mut head = vec![Cell::new("")];
    head.extend(systems.iter().map(|place| Cell {
        ink: GREY,
        right: true,
        ..Cell::new(clean::line(view.systems[*place].name))
    }));
    let standings: std::collections::HashMap<usize, &crate::overview::OverviewRow> =
        overview.rows.iter().map(|row| (row.block, row)).collect();
    let rows = view.blocks.iter().enumerate().map(|(place, block)| {
        let mut row = vec![Cell::new(summary_name(block))];
        row.extend(systems.iter().map(|system| {
            let standing = standings.get(&place).and_then(|row| row.cells[*system]);
            summary_cell(block, *system, standing.map(|cell| cell.standing))
        }));
        row
    });
    let size = if systems.len() > 6 { 6.2 } else { 7.4 };
    Table {
        columns,
        size,
        head,
        rows: rows.collect(),
    }
}

fn summary_name(block: &Block<'_>) -> String {
    let name = block.label().map_or_else(|| pts_name(block), str::to_owned);
    let arrow = match block.record.metric.direction {
        Direction::LowerIsBetter => " \u{2193}",
        _ => "",
    };
    clean::line(&format!("{name}, {}{arrow}", block.record.metric.unit))
}

fn summary_cell(block: &Block<'_>, system: usize, standing: Option<Standing>) -> Cell {
    let Some(row) = block.rows.iter().find(|row| row.system as usize == system) else {
        return Cell::number("");
    };
    let Some(value) = row.value else {
        let (text, ink) = match row.failure() {
            Some(_) => ("failed".to_owned(), RED),
            None => (other_text(row, block), BLACK),
        };
        return Cell {
            ink,
            ..Cell::number(text)
        };
    };
    let mut text = String::new();
    push_value(&mut text, value, block.decimals);
    let (weight, ink) = match standing {
        Some(Standing::First) => (Weight::Bold, BLUE),
        Some(Standing::Tied) => {
            text.push('=');
            (Weight::Regular, BLACK)
        }
        Some(Standing::Invalid) => {
            text.push_str(" invalid");
            (Weight::Regular, RED)
        }
        _ => (Weight::Regular, BLACK),
    };
    Cell {
        weight,
        ink,
        ..Cell::number(text)
    }
}

fn push_scores(flow: &mut Flow, view: &View<'_>, overview: &Overview) {
    if overview.scores.iter().all(|score| score.cases == 0) {
        return;
    }
    flow.skip(8.0);
    let text = format!(
        "Over all cases, one weight each: geometric mean of the improvements over {}",
        clean::line(view.systems[0].name)
    );
    flow.need(60.0);
    flow.paragraph(&text, 9.0, Weight::Bold, BLACK);
    let grey = |text: &str| Cell {
        ink: GREY,
        ..Cell::number(text)
    };
    let head = vec![
        Cell {
            ink: GREY,
            ..Cell::new("System")
        },
        grey("Mean"),
        grey("95 % interval"),
        grey("Cases"),
        grey("First"),
        grey("Among the best"),
    ];
    let rows = overview.scores.iter().enumerate().map(|(place, score)| {
        let interval = score.improvement.filter(|_| place > 0);
        vec![
            Cell::new(clean::line(view.systems[place].name)),
            Cell::number(
                score
                    .improvement_alone
                    .map(|mean| rounded(mean, 3))
                    .unwrap_or_default(),
            ),
            Cell::number(interval.map_or_else(String::new, |estimate| {
                format!(
                    "{} to {}",
                    rounded(estimate.low, 3),
                    rounded(estimate.high, 3)
                )
            })),
            Cell::number(score.cases.to_string()),
            Cell::number(score.first.to_string()),
            Cell::number((score.first + score.tied).to_string()),
        ]
    });
    let columns = vec![0.40, 0.10, 0.18, 0.09, 0.09, 0.14];
    flow.table(&Table {
        columns,
        size: 7.8,
        head,
        rows: rows.collect(),
    });
}

fn push_systems(flow: &mut Flow, view: &View<'_>) {
    if view.file.systems.is_empty() {
        return;
    }
    flow.skip(12.0);
    flow.heading("Systems", 13.0, 60.0);
    for system in &view.file.systems {
        if let Some(target) = &system.target {
            let text = format!("{}: {}", system.identifier, target_text(target));
            flow.paragraph(&clean::line(&text), 8.0, Weight::Regular, BLACK);
        }
    }
    let conditions = &view.conditions;
    if view.file.systems.len() > 1 && !conditions.differing.is_empty() {
        flow.skip(4.0);
        flow.paragraph("Conditions that differ", 9.0, Weight::Bold, BLACK);
        flow.table(&differing_table(view));
    }
    if !conditions.common.is_empty() {
        flow.skip(4.0);
        let title = match view.file.systems.len() {
            1 => "Conditions",
            _ => "The same for all",
        };
        flow.need(40.0);
        flow.paragraph(title, 9.0, Weight::Bold, BLACK);
        let rows = conditions.common.iter().map(|condition| {
            let name = Cell {
                ink: GREY,
                ..Cell::new(clean::line(&condition.name))
            };
            vec![name, Cell::new(clean::line(&condition.value))]
        });
        let columns = vec![0.24, 0.76];
        let rows = rows.collect();
        flow.table(&Table {
            columns,
            size: 7.8,
            head: Vec::new(),
            rows,
        });
    }
}

/// One row a condition and value, with the systems that have it.
fn differing_table(view: &View<'_>) -> Table {
    let grey = |text: &str| Cell {
        ink: GREY,
        ..Cell::new(text)
    };
    let mut rows = Vec::new();
    for condition in &view.conditions.differing {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        for (system, value) in view.file.systems.iter().zip(&condition.values) {
            let value = value.as_deref().unwrap_or("not known");
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, names)) => names.push(&system.identifier),
                None => values.push((value, vec![&system.identifier])),
            }
        }
        for (place, (value, names)) in values.iter().enumerate() {
            let name = if place == 0 {
                clean::line(&condition.name)
            } else {
                String::new()
            };
            rows.push(vec![
                Cell::new(name),
                Cell::new(clean::line(value)),
                Cell::new(clean::line(&names.join(", "))),
            ]);
        }
    }
    let head = vec![grey("Condition"), grey("Value"), grey("Systems")];
    Table {
        columns: vec![0.18, 0.40, 0.42],
        size: 7.4,
        head,
        rows,
    }
}

fn push_results(flow: &mut Flow, view: &View<'_>) {
    let anchors = anchors_of(view);
    let mut place = 0;
    for case in view.blocks.chunk_by(|_, next| next.continues) {
        if place == 0 {
            flow.new_page();
        } else {
            flow.skip(14.0);
        }
        let Some(first) = case.first() else { continue };
        flow.heading(
            &clean::line(&first.heading()),
            12.0,
            24.0 + figure_height(first),
        );
        let description = clean::line(&first.record.description);
        if !description.trim().is_empty() {
            flow.paragraph(&description, 8.0, Weight::Regular, GREY);
        }
        let mut said = Said::default();
        for (block, anchor) in case.iter().zip(&anchors[place..]) {
            push_block(flow, view, block, anchor, &mut said);
        }
        place += case.len();
    }
}

fn push_block(flow: &mut Flow, view: &View<'_>, block: &Block<'_>, anchor: &str, said: &mut Said) {
    if block.continues {
        flow.skip(6.0);
        flow.need(14.0 + figure_height(block));
        flow.paragraph(&clean::line(block.metric_name()), 8.5, Weight::Bold, BLACK);
    }
    if block.is_bars() {
        for start in (0..block.rows.len()).step_by(MOST_BARS) {
            let end = (start + MOST_BARS).min(block.rows.len());
            let mut svg = String::new();
            let id = format!("{anchor}-{start}");
            push_bars(&mut svg, view, block, &id, start..end, Medium::Figure);
            push_chart(flow, svg, id);
        }
    }
    for (place, curves) in curves_of(view, block).iter().enumerate() {
        let mut svg = String::new();
        let id = format!("{anchor}-l{place}");
        push_lines(&mut svg, curves, &id, &block.heading(), "", Medium::Figure);
        push_chart(flow, svg, id);
    }
    if block.stands {
        push_latency(flow, view, block);
    }
    push_sayings(flow, view, block, said);
}

/// About how high the first chart of a block is on the page, to keep its heading with it.
fn figure_height(block: &Block<'_>) -> f32 {
    let height = match block.is_bars() {
        true => bars_height(block.rows.len().min(MOST_BARS)),
        false => 300.0,
    };
    (height as f32 * 0.66).min(600.0)
}

/// Takes the size of a chart from its root element.
fn push_chart(flow: &mut Flow, svg: String, id: String) {
    let number = |name: &str| {
        let start = svg.find(&format!(" {name}=\""))? + name.len() + 3;
        let end = svg[start..].find('"')?;
        svg[start..start + end].parse::<f64>().ok()
    };
    if let (Some(width), Some(height)) = (number("width"), number("height")) {
        flow.chart(svg, id, width, height);
    }
}

fn push_latency(flow: &mut Flow, view: &View<'_>, block: &Block<'_>) {
    let mut rows = Vec::new();
    for row in &block.rows {
        for (name, histogram) in row.histograms() {
            let mut cells = vec![
                Cell::new(clean::line(&view.row_name(row))),
                Cell::new(clean::line(name)),
            ];
            let percentiles = PERCENTILES.iter();
            cells.extend(
                percentiles.map(|(_, percent)| Cell::number(percentile_text(&histogram, *percent))),
            );
            let max = fathom_base::Nanos::new(histogram.max().unwrap_or(0)).rough();
            cells.extend([Cell::number(max), Cell::number(count(histogram.count()))]);
            rows.push(cells);
        }
    }
    if rows.is_empty() {
        return;
    }
    let grey = |text: &str| Cell {
        ink: GREY,
        ..Cell::number(text)
    };
    let mut head = vec![
        Cell {
            ink: GREY,
            ..Cell::new("Latency over all trials")
        },
        Cell {
            ink: GREY,
            ..Cell::new("operation")
        },
    ];
    head.extend(PERCENTILES.iter().map(|(name, _)| grey(name)));
    head.extend([grey("max"), grey("count")]);
    let mut columns = vec![0.26, 0.11];
    columns.extend([0.09; 7]);
    flow.table(&Table {
        columns,
        size: 7.2,
        head,
        rows,
    });
}

/// Failures, objections, notes and gaps, a paragraph each.
fn push_sayings(flow: &mut Flow, view: &View<'_>, block: &Block<'_>, said: &mut Said) {
    for saying in said.news_of(view, block) {
        let (word, ink) = match saying.kind {
            Kind::Note => ("", GREY),
            kind => (kind.word(), RED),
        };
        let text = match word {
            "" => format!("{}: {}", saying.names, saying.text),
            word => format!("{}: {word}, {}", saying.names, saying.text),
        };
        flow.paragraph(&clean::line(&text), 7.8, Weight::Regular, ink);
    }
    for row in block
        .rows
        .iter()
        .filter(|row| row.value.is_none() && row.failure().is_none())
    {
        let text = format!("{}: {}", view.row_name(row), other_text(row, block));
        flow.paragraph(&clean::line(&text), 7.8, Weight::Regular, BLACK);
    }
}

fn push_notes(flow: &mut Flow, view: &View<'_>) {
    if !view.absent.is_empty() {
        flow.skip(14.0);
        flow.heading("Not measured", 13.0, 40.0);
        for absent in &view.absent {
            let text = format!("{} on {}: {}", absent.label, absent.system, absent.reason);
            flow.paragraph(&clean::line(&text), 8.5, Weight::Regular, BLACK);
        }
    }
    let warnings = view
        .file
        .origin
        .as_deref()
        .map(|origin| origin.warnings.as_slice());
    let warnings = warnings.unwrap_or_default();
    if !warnings.is_empty() {
        flow.skip(14.0);
        flow.heading("What could not be read", 13.0, 40.0);
        for warning in warnings {
            let text = format!("{}: {}", warning.place, warning.text);
            flow.paragraph(&clean::line(&text), 8.0, Weight::Regular, BLACK);
        }
    }
    flow.skip(14.0);
    flow.need(40.0);
    let text = "How to read it: a bar is the mean of all trials, the frame around its end the 95 % \
                interval of that mean, SE its standard error with N trials. Nothing is ranked \
                inside its uncertainty. A hollow bar is a number that does not mean what it seems \
                to mean; the reason stands below it.";
    flow.paragraph(text, 7.5, Weight::Regular, GREY);
}

/// Puts the pages into a document.
fn write(flow: Flow, title: &str) -> Result<Vec<u8>, ExportError> {
    let fonts: Vec<Font> = FONTS
        .iter()
        .filter_map(|font| Font::new(font.to_vec().into(), 0))
        .collect();
    let [regular, bold] = fonts.as_slice() else {
        return Err(ExportError::Pdf {
            reason: "the embedded fonts cannot be read".to_owned(),
        });
    };
    let mut document = Document::new();
    document.set_metadata(
        Metadata::new()
            .title(title.to_owned())
            .language("en".to_owned())
            .creator("Fathom".to_owned()),
    );
    let options = options();
    let count = flow.pages.len();
    for (number, items) in flow.pages.iter().enumerate() {
        let settings = PageSettings::from_wh(PAGE.0, PAGE.1).unwrap_or_default();
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        let mut sheet = Sheet {
            surface: &mut surface,
            fonts: [regular, bold],
            options: &options,
        };
        for item in items {
            sheet.draw(item)?;
        }
        let text = format!("{} / {count}", number + 1);
        let x = MARGIN + WIDTH - flow.width(&text, 8.0, Weight::Regular);
        sheet.text(x, PAGE.1 - MARGIN + 6.0, 8.0, Weight::Regular, GREY, &text);
        let foot = crate::text::fit(title, 90);
        sheet.text(
            MARGIN,
            PAGE.1 - MARGIN + 6.0,
            8.0,
            Weight::Regular,
            GREY,
            &foot,
        );
        surface.finish();
        page.finish();
    }
    let mut outline = Outline::new();
    for bookmark in flow.bookmarks {
        let place = XyzDestination::new(bookmark.page, Point::from_xy(MARGIN, bookmark.y));
        outline.push_child(OutlineNode::new(bookmark.text, place));
    }
    document.set_outline(outline);
    document.finish().map_err(|error| ExportError::Pdf {
        reason: error.to_string(),
    })
}

/// A page being drawn.
struct Sheet<'s, 'p> {
    surface: &'s mut Surface<'p>,
    fonts: [&'s Font; 2],
    options: &'s usvg::Options<'static>,
}

impl Sheet<'_, '_> {
    fn draw(&mut self, item: &Item) -> Result<(), ExportError> {
        match item {
            Item::Text {
                x,
                y,
                size,
                weight,
                ink,
                text,
            } => {
                self.text(*x, *y, *size, *weight, *ink, text);
            }
            Item::Box {
                x,
                y,
                width,
                height,
                ink,
            } => {
                let mut path = PathBuilder::new();
                if let Some(rect) = Rect::from_xywh(*x, *y, *width, *height) {
                    path.push_rect(rect);
                }
                if let Some(path) = path.finish() {
                    self.surface.set_fill(Some(fill(*ink)));
                    self.surface.draw_path(&path);
                }
            }
            Item::Chart {
                x,
                y,
                width,
                height,
                svg,
                id,
            } => {
                let tree = tree_of(id, svg, self.options)?;
                self.surface
                    .push_transform(&Transform::from_translate(*x, *y));
                if let Some(size) = Size::from_wh(*width, *height) {
                    let settings = SvgSettings {
                        embed_text: true,
                        ..SvgSettings::default()
                    };
                    self.surface.draw_svg(&tree, size, settings);
                }
                self.surface.pop();
            }
        }
        Ok(())
    }

    fn text(&mut self, x: f32, y: f32, size: f32, weight: Weight, ink: Ink, text: &str) {
        self.surface.set_fill(Some(fill(ink)));
        let font = self.fonts[weight as usize].clone();
        let start = Point::from_xy(x, y);
        self.surface
            .draw_text(start, font, size, text, false, TextDirection::Auto);
    }
}

fn fill(ink: Ink) -> Fill {
    Fill {
        paint: rgb::Color::new(ink.0, ink.1, ink.2).into(),
        opacity: NormalizedF32::ONE,
        rule: krilla::paint::FillRule::NonZero,
    }
}
