//! Pages that fill from top to bottom: headings, paragraphs, tables, charts.

use ttf_parser::Face;

/// A4 in points.
pub(super) const PAGE: (f32, f32) = (595.28, 841.89);
/// Free on every side.
pub(super) const MARGIN: f32 = 48.0;
/// Room for lines.
pub(super) const WIDTH: f32 = PAGE.0 - 2.0 * MARGIN;
/// Where a page ends; the page number stands below.
const BOTTOM: f32 = PAGE.1 - MARGIN - 10.0;
/// Height of a line in font sizes.
const LEADING: f32 = 1.32;

/// Which of the two fonts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Text.
    Regular,
    /// Headings and what leads.
    Bold,
}

/// Colours of the page, `#rrggbb` as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink(pub u8, pub u8, pub u8);

/// Text.
pub(super) const BLACK: Ink = Ink(0x1a, 0x20, 0x27);
/// Less important.
pub(super) const GREY: Ink = Ink(0x56, 0x61, 0x6d);
/// Lines of tables.
pub(super) const RULE: Ink = Ink(0xdb, 0xe1, 0xe6);
/// What failed.
pub(super) const RED: Ink = Ink(0xa8, 0x20, 0x1a);
/// The best of a row.
pub(super) const BLUE: Ink = Ink(0x00, 0x5a, 0x8d);

/// Something on a page.
pub(super) enum Item {
    /// A line of text with its baseline.
    Text {
        x: f32,
        y: f32,
        size: f32,
        weight: Weight,
        ink: Ink,
        text: String,
    },
    /// A filled rectangle.
    Box {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        ink: Ink,
    },
    /// A chart; index into the charts, at its size on the page.
    Chart {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        svg: String,
        id: String,
    },
}

/// A cell of a table.
#[derive(Clone)]
pub(super) struct Cell {
    /// Its text; wrapped to the column.
    pub text: String,
    /// Which font.
    pub weight: Weight,
    /// Which colour.
    pub ink: Ink,
    /// At the right end of the column.
    pub right: bool,
}

impl Cell {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            weight: Weight::Regular,
            ink: BLACK,
            right: false,
        }
    }

    /// A number.
    pub fn number(text: impl Into<String>) -> Self {
        Self {
            right: true,
            ..Self::new(text)
        }
    }
}

/// A table: shares of the width, a head that is repeated on every page, rows.
pub(super) struct Table {
    /// Widths of the columns as shares of the line; together at most 1.
    pub columns: Vec<f32>,
    /// Font size.
    pub size: f32,
    /// The head.
    pub head: Vec<Cell>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A place in the document for its outline.
pub(super) struct Bookmark {
    /// Its text.
    pub text: String,
    /// Page from 0.
    pub page: usize,
    /// Height on the page.
    pub y: f32,
}

/// The pages so far.
pub(super) struct Flow {
    faces: [Option<Face<'static>>; 2],
    /// Pages of items.
    pub pages: Vec<Vec<Item>>,
    /// Headings.
    pub bookmarks: Vec<Bookmark>,
    y: f32,
}

impl Flow {
    /// An empty first page.
    pub fn new() -> Self {
        Self {
            faces: super::FONTS.map(|font| Face::parse(font, 0).ok()),
            pages: vec![Vec::new()],
            bookmarks: Vec::new(),
            y: MARGIN,
        }
    }

    /// Starts a new page, unless the current one is empty.
    pub fn new_page(&mut self) {
        if self.pages.last().is_some_and(|page| !page.is_empty()) {
            self.pages.push(Vec::new());
        }
        self.y = MARGIN;
    }

    /// Leaves some room.
    pub fn skip(&mut self, points: f32) {
        self.y += points;
    }

    /// Goes to a new page when less than `points` are left.
    pub fn need(&mut self, points: f32) {
        if self.y + points > BOTTOM && self.y > MARGIN {
            self.new_page();
        }
    }

    /// A heading with an entry in the outline; `after` points must follow it on its page.
    pub fn heading(&mut self, text: &str, size: f32, after: f32) {
        self.need(size * LEADING + after);
        let page = self.pages.len() - 1;
        self.bookmarks.push(Bookmark {
            text: text.to_owned(),
            page,
            y: self.y,
        });
        self.paragraph(text, size, Weight::Bold, BLACK);
    }

    /// A paragraph, wrapped.
    pub fn paragraph(&mut self, text: &str, size: f32, weight: Weight, ink: Ink) {
        for line in self.wrapped(text, size, weight, WIDTH) {
            self.need(size * LEADING);
            self.y += size * LEADING;
            let y = self.y - size * (LEADING - 1.0);
            self.push(Item::Text {
                x: MARGIN,
                y,
                size,
                weight,
                ink,
                text: line,
            });
        }
    }

    /// A chart across the page; it is made smaller when it would not fit on an empty page.
    pub fn chart(&mut self, svg: String, id: String, width: f64, height: f64) {
        let room = BOTTOM - MARGIN;
        let mut scale = WIDTH / width as f32;
        if height as f32 * scale > room {
            scale = room / height as f32;
        }
        let (width, height) = (width as f32 * scale, height as f32 * scale);
        self.need(height);
        let y = self.y;
        self.push(Item::Chart {
            x: MARGIN,
            y,
            width,
            height,
            svg,
            id,
        });
        self.y += height + 4.0;
    }

    /// A table, over as many pages as it takes.
    pub fn table(&mut self, table: &Table) {
        let head = self.row_height(table, &table.head);
        let first = table
            .rows
            .first()
            .map_or(0.0, |row| self.row_height(table, row));
        self.need(head + first);
        self.table_row(table, &table.head, head);
        for row in &table.rows {
            let height = self.row_height(table, row);
            if self.y + height > BOTTOM && self.y > MARGIN + head {
                self.new_page();
                self.table_row(table, &table.head, head);
            }
            self.table_row(table, row, height);
        }
        self.y += 6.0;
    }

    fn row_height(&self, table: &Table, row: &[Cell]) -> f32 {
        if row.is_empty() {
            return 0.0;
        }
        let lines = row
            .iter()
            .zip(&table.columns)
            .map(|(cell, column)| self.cell_lines(table, cell, *column).len())
            .max()
            .unwrap_or(1);
        // A row higher than a page is cut by the page's end; the file itself has it all.
        (lines.max(1) as f32 * table.size * LEADING + 3.0).min(BOTTOM - MARGIN - 40.0)
    }

    fn cell_lines(&self, table: &Table, cell: &Cell, column: f32) -> Vec<String> {
        self.wrapped(&cell.text, table.size, cell.weight, column * WIDTH - 5.0)
    }

    fn table_row(&mut self, table: &Table, row: &[Cell], height: f32) {
        if row.is_empty() {
            return;
        }
        let mut x = MARGIN;
        let most_lines = ((height - 3.0) / (table.size * LEADING) + 0.01).floor() as usize;
        for (cell, column) in row.iter().zip(&table.columns) {
            let lines = self.cell_lines(table, cell, *column);
            for (place, text) in lines.into_iter().take(most_lines).enumerate() {
                let y = self.y + table.size * (LEADING * (place + 1) as f32 - 0.28);
                let x = match cell.right {
                    true => {
                        let width = self.width(&text, table.size, cell.weight);
                        x + column * WIDTH - 5.0 - width
                    }
                    false => x,
                };
                let (weight, ink) = (cell.weight, cell.ink);
                self.push(Item::Text {
                    x,
                    y,
                    size: table.size,
                    weight,
                    ink,
                    text,
                });
            }
            x += column * WIDTH;
        }
        self.y += height;
        let (y, width) = (self.y - 1.0, WIDTH * table.columns.iter().sum::<f32>());
        self.push(Item::Box {
            x: MARGIN,
            y,
            width,
            height: 0.4,
            ink: RULE,
        });
    }

    fn push(&mut self, item: Item) {
        if let Some(page) = self.pages.last_mut() {
            page.push(item);
        }
    }

    /// Width of a text in points.
    pub fn width(&self, text: &str, size: f32, weight: Weight) -> f32 {
        let Some(face) = &self.faces[weight as usize] else {
            return 0.0;
        };
        let units: u32 = text
            .chars()
            .map(|c| {
                let glyph = face.glyph_index(c).unwrap_or_default();
                u32::from(face.glyph_hor_advance(glyph).unwrap_or(0))
            })
            .sum();
        units as f32 * size / f32::from(face.units_per_em())
    }

    /// A text in lines of at most `room` points; words longer than that are broken.
    fn wrapped(&self, text: &str, size: f32, weight: Weight, room: f32) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        let mut used = 0.0;
        let blank = self.width(" ", size, weight);
        for word in text.split_whitespace() {
            let width = self.width(word, size, weight);
            if !line.is_empty() && used + blank + width > room {
                lines.push(std::mem::take(&mut line));
                used = 0.0;
            }
            if !line.is_empty() {
                line.push(' ');
                used += blank;
            }
            if width <= room {
                line.push_str(word);
                used += width;
                continue;
            }
            for c in word.chars() {
                let mut buffer = [0; 4];
                let width = self.width(c.encode_utf8(&mut buffer), size, weight);
                if !line.is_empty() && used + width > room {
                    lines.push(std::mem::take(&mut line));
                    used = 0.0;
                }
                line.push(c);
                used += width;
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }
}
