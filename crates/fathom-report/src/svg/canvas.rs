//! Where charts are drawn: inside a page with per cent for lengths, or on a picture of a fixed
//! width.

use std::borrow::Cow;

use super::palette::{DARK, LIGHT, push_rules};
use crate::grouping::Paint;
use crate::markup::push_escaped;
use crate::number::{push_coordinate, push_share};

/// Width of a picture without its margins.
pub(crate) const WIDTH: f64 = 760.0;
/// Margin of a picture.
const MARGIN: f64 = 16.0;

/// What a chart is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A page of its own style, as wide as its column: lengths across are per cent.
    Page,
    /// A file with its own style.
    Picture,
    /// A file that is printed or rasterised: no dark colours.
    Print,
    /// A figure of a printed page, which has its own heading and margins.
    Figure,
}

/// Writes the elements of one chart.
pub(crate) struct Canvas<'o> {
    /// Where they go.
    pub out: &'o mut String,
    medium: Medium,
}

impl<'o> Canvas<'o> {
    /// Begins a chart of a height: the root element, title and description for those who cannot
    /// see it, and on pictures the style and a heading.
    pub fn begin(out: &'o mut String, medium: Medium, about: &About<'_>) -> Self {
        let mut canvas = Self { out, medium };
        let id = about.id;
        match medium {
            Medium::Page => {
                canvas.raw("<svg class=\"chart ");
                canvas.raw(about.class);
                canvas.raw("\" width=\"100%\" height=\"");
                canvas.number(about.height);
            }
            _ => canvas.begin_picture(about),
        }
        canvas.raw("\" role=\"img\" aria-labelledby=\"");
        push_escaped(canvas.out, id);
        canvas.raw("-t ");
        push_escaped(canvas.out, id);
        canvas.raw("-d\"><title id=\"");
        push_escaped(canvas.out, id);
        canvas.raw("-t\">");
        push_escaped(canvas.out, about.title);
        canvas.raw("</title><desc id=\"");
        push_escaped(canvas.out, id);
        canvas.raw("-d\">");
        push_escaped(canvas.out, about.description);
        canvas.raw("</desc>");
        if medium != Medium::Page {
            canvas.push_picture_head(about);
        }
        canvas
    }

    fn begin_picture(&mut self, about: &About<'_>) {
        let [left, top, width, height] = self.extent(about);
        self.raw("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart ");
        self.raw(about.class);
        self.raw("\" width=\"");
        self.number(width);
        self.raw("\" height=\"");
        self.number(height);
        self.raw("\" viewBox=\"");
        for (place, number) in [left, top, width, height].iter().enumerate() {
            if place > 0 {
                self.out.push(' ');
            }
            self.number(*number);
        }
    }

    /// Left, top, width and height of a picture with its margins and heading.
    fn extent(&self, about: &About<'_>) -> [f64; 4] {
        let (margin, heading) = match self.medium {
            Medium::Figure => (2.0, 0.0),
            _ => (MARGIN, heading_height(about)),
        };
        let (width, height) = (WIDTH + 2.0 * margin, about.height + heading + 2.0 * margin);
        [-margin, -margin - heading, width, height]
    }

    fn push_picture_head(&mut self, about: &About<'_>) {
        self.raw("<style>");
        push_rules(self.out, &LIGHT, |_, value| value.to_owned());
        self.raw(".chart .bg{fill:#ffffff}");
        if self.medium == Medium::Picture {
            self.raw("@media (prefers-color-scheme:dark){");
            push_rules(self.out, &DARK, |_, value| value.to_owned());
            self.raw(".chart .bg{fill:#15181c}}");
        }
        self.raw("</style>");
        let [left, top, width, height] = self.extent(about);
        for (before, number) in [
            ("<rect class=\"bg\" x=\"", left),
            ("\" y=\"", top),
            ("\" width=\"", width),
            ("\" height=\"", height),
        ] {
            self.raw(before);
            self.number(number);
        }
        self.raw("\"/>");
        if self.medium == Medium::Figure {
            return;
        }
        let top = 10.0 - heading_height(about);
        self.text(
            "h",
            0.0,
            top,
            Anchor::Start,
            &fitted(about.heading, WIDTH, 9.4),
        );
        for (line, text) in subtitle_lines(about.subtitle).iter().enumerate() {
            self.text(
                "s",
                0.0,
                top + 18.0 + 14.0 * line as f64,
                Anchor::Start,
                text,
            );
        }
    }

    /// Ends the chart.
    pub fn end(self) {
        self.out.push_str("</svg>");
    }

    /// The root element without title, for a piece inside a chart that stretches: coordinates run
    /// from 0 to 1000 across.
    pub fn begin_stretched(&mut self, y: f64, height: f64) {
        self.raw("<svg x=\"0\" y=\"");
        self.number(y);
        self.raw("\" width=\"");
        match self.medium {
            Medium::Page => self.raw("100%"),
            _ => self.number(WIDTH),
        }
        self.raw("\" height=\"");
        self.number(height);
        self.raw("\" viewBox=\"0 0 1000 ");
        self.number(height);
        self.raw("\" preserveAspectRatio=\"none\">");
    }

    /// Ends a stretched piece.
    pub fn end_stretched(&mut self) {
        self.raw("</svg>");
    }

    /// Appends markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Appends a coordinate.
    pub fn number(&mut self, value: f64) {
        push_coordinate(self.out, value);
    }

    /// Appends a length across, from a share of the width.
    pub fn across(&mut self, share: f64) {
        match self.medium {
            Medium::Page => push_share(self.out, share),
            _ => push_coordinate(self.out, share * WIDTH),
        }
    }

    /// A text.
    pub fn text(&mut self, class: &str, share: f64, y: f64, anchor: Anchor, text: &str) {
        self.text_beside(class, share, 0.0, y, anchor, text);
    }

    /// A text some units right of a place.
    pub fn text_beside(
        &mut self,
        class: &str,
        share: f64,
        dx: f64,
        y: f64,
        anchor: Anchor,
        text: &str,
    ) {
        self.raw("<text class=\"");
        self.raw(class);
        // Places at 0 are what is taken without an attribute.
        if share != 0.0 {
            self.raw("\" x=\"");
            self.across(share);
        }
        if dx != 0.0 {
            self.raw("\" dx=\"");
            self.number(dx);
        }
        self.raw("\" y=\"");
        self.number(y);
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.raw("\" text-anchor=\"middle"),
            Anchor::End => self.raw("\" text-anchor=\"end"),
        }
        self.raw("\">");
        push_escaped(self.out, text);
        self.raw("</text>");
    }

    /// A rectangle from one share of the width to another.
    pub fn bar(&mut self, class: &str, from: f64, to: f64, y: f64, height: f64) {
        self.raw("<rect class=\"");
        self.raw(class);
        if from != 0.0 {
            self.raw("\" x=\"");
            self.across(from);
        }
        self.raw("\" y=\"");
        self.number(y);
        self.raw("\" width=\"");
        self.across((to - from).max(0.0));
        self.raw("\" height=\"");
        self.number(height);
        self.raw("\"/>");
    }

    /// A dot.
    pub fn dot(&mut self, class: &str, share: f64, y: f64, radius: f64) {
        self.raw("<circle class=\"");
        self.raw(class);
        self.raw("\" cx=\"");
        self.across(share);
        self.raw("\" cy=\"");
        self.number(y);
        self.raw("\" r=\"");
        self.number(radius);
        self.raw("\"/>");
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: f64, to: f64, y1: f64, y2: f64) {
        self.raw("<line class=\"");
        self.raw(class);
        self.raw("\" x1=\"");
        self.across(from);
        self.raw("\" x2=\"");
        self.across(to);
        self.raw("\" y1=\"");
        self.number(y1);
        self.raw("\" y2=\"");
        self.number(y2);
        self.raw("\"/>");
    }
}

/// Where a text stands at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// Ends there.
    End,
}

/// What a chart says of itself.
pub(crate) struct About<'t> {
    /// Unique in its page.
    pub id: &'t str,
    /// A class that tells its kind.
    pub class: &'t str,
    /// What it shows.
    pub title: &'t str,
    /// Who leads, what the range is.
    pub description: &'t str,
    /// Heading of a picture.
    pub heading: &'t str,
    /// Line below it.
    pub subtitle: &'t str,
    /// Height of the drawing.
    pub height: f64,
}

fn heading_height(about: &About<'_>) -> f64 {
    18.0 + 14.0 * subtitle_lines(about.subtitle).len() as f64
}

/// At most three lines of about the width of a picture.
fn subtitle_lines(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let count = lines.len();
        let line = &mut lines[count - 1];
        if !line.is_empty() && estimated_width(line) + estimated_width(word) > WIDTH * 12.0 / 11.0 {
            if count == 3 {
                line.push_str(" …");
                break;
            }
            lines.push(fitted(word, WIDTH, 7.0).into_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&fitted(word, WIDTH, 7.0));
    }
    lines
}

/// Width of a text at 12 units, for a wide sans-serif font.
pub(crate) fn estimated_width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 3.9,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 4.6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 11.2,
        c if c.is_ascii_uppercase() => 8.4,
        c if c.is_ascii() => 7.5,
        c => 7.5 * unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) as f64,
    };
    text.chars().map(of).sum()
}

/// A text cut so that it fits, when a character takes `each` units.
pub(crate) fn fitted(text: &str, width: f64, each: f64) -> Cow<'_, str> {
    let most = (width / each).floor().max(4.0) as usize;
    match text.len() <= most && text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(crate::clean::line(&crate::text::fit(text, most))),
    }
}

/// The classes of a system's bars.
pub(crate) fn push_bar_class(out: &mut String, paint: Paint) {
    push_colour(out, paint);
    match paint.fill {
        0 => {}
        1 => out.push_str(" p1"),
        _ => out.push_str(" p2"),
    }
}

/// The classes of a system's curves.
pub(crate) fn push_line_class(out: &mut String, paint: Paint) {
    push_colour(out, paint);
    match paint.dash {
        0 => {}
        1 => out.push_str(" l1"),
        _ => out.push_str(" l2"),
    }
}

fn push_colour(out: &mut String, paint: Paint) {
    out.push('c');
    out.push(char::from(b'0' + paint.colour));
}
