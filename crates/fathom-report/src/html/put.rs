//! Markup in pieces: what is written in the source is markup, everything else is escaped.

use crate::markup::push_escaped;
use crate::number::push_integer;

/// Something that can be put on a page.
pub(super) trait Piece {
    /// Appends itself.
    fn put(self, out: &mut String);
}

impl Piece for &'static str {
    /// Markup as it stands in the source.
    fn put(self, out: &mut String) {
        out.push_str(self);
    }
}

/// A text of anybody.
pub(super) struct Text<'t>(pub &'t str);

impl Piece for Text<'_> {
    fn put(self, out: &mut String) {
        push_escaped(out, self.0);
    }
}

/// Markup made before.
pub(super) struct Markup<'t>(pub &'t str);

impl Piece for Markup<'_> {
    fn put(self, out: &mut String) {
        out.push_str(self.0);
    }
}

impl Piece for usize {
    fn put(self, out: &mut String) {
        push_integer(out, self as u64);
    }
}

/// Puts pieces one after the other.
macro_rules! put {
    ($out:expr, $($piece:expr),+ $(,)?) => {{
        $( $crate::html::put::Piece::put($piece, $out); )+
    }};
}
pub(super) use put;
