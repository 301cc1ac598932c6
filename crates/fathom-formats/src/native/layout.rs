use std::io;

use serde_json::ser::Formatter;

/// Containers nested up to this depth have one member a line.
const BROKEN_LEVELS: usize = 4;

/// Lines for the outer levels, none for the inner ones.
#[derive(Default)]
pub(super) struct Layout {
    depth: usize,
    has_members: bool,
}

impl Layout {
    fn break_line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        if self.depth <= BROKEN_LEVELS {
            writer.write_all(b"\n")?;
            for _ in 0..self.depth {
                writer.write_all(b" ")?;
            }
        }
        Ok(())
    }

    fn begin<W: ?Sized + io::Write>(&mut self, writer: &mut W, open: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_members = false;
        writer.write_all(open)
    }

    fn end<W: ?Sized + io::Write>(&mut self, writer: &mut W, close: &[u8]) -> io::Result<()> {
        let was_broken = self.depth <= BROKEN_LEVELS && self.has_members;
        self.depth -= 1;
        if was_broken {
            self.break_line(writer)?;
        }
        self.has_members = true;
        writer.write_all(close)
    }

    fn member<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.break_line(writer)
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.member(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.member(writer, first)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }
}
