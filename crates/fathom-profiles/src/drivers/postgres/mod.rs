//! The client side of PostgreSQL's protocol: one connection that waits ([`Connection`]), and many
//! that are driven together ([`crowd`]).
//!
//! Messages and authentication come from `postgres-protocol`. The loop around them is ours, since
//! it is the measured path: what the client spends is taken from the server on the same machine.

pub(crate) mod crowd;
mod inbox;
mod login;
mod socket;

use std::io::{self, Write};
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

pub(crate) use self::inbox::ServerError;
use self::inbox::{Inbox, Message};
use self::socket::{Socket, is_wait};
use super::call::LOOK;
use super::{Call, DriverError, Endpoint};

const EXPECTED: &str = "PostgreSQL";
/// Bytes sent at once of a copied table.
const CHUNK: usize = 64 << 10;

/// A logged-in connection that waits for each answer.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    inbox: Inbox,
    out: BytesMut,
    server: String,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// As long as [`Call::patience`]: the request takes no time by itself.
    Patience,
    /// Until the deadline: the server has much to do.
    Deadline,
}

/// What an answer holds beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Rows returned.
    pub(crate) rows: u64,
    /// The failure, if it is one.
    pub(crate) error: Option<ServerError>,
    /// `I` idle, `T` in a transaction, `E` in a failed one; 0 while the answer is not complete.
    pub(crate) status: u8,
}

impl Reply {
    /// Takes in a message; true at the end of the answer.
    pub(crate) fn take(&mut self, message: Message<'_>) -> bool {
        match message.tag {
            b'D' => self.rows += 1,
            b'E' => self.error = Some(ServerError::read(message.body)),
            b'Z' => self.status = message.body.first().copied().unwrap_or(b'I'),
            _ => {}
        }
        message.tag == b'Z'
    }
}

impl Connection {
    /// Connects and logs in.
    pub(crate) fn open(endpoint: &Endpoint, call: &Call<'_>) -> Result<Self, DriverError> {
        let server = endpoint.address.to_string();
        let opened = Socket::connect(&endpoint.address, call.longest_wait())
            .and_then(|socket| socket.set_wait(LOOK).map(|()| socket));
        let socket = opened.map_err(|source| DriverError::Connect {
            server: server.clone(),
            source,
        })?;
        let mut connection = Self {
            socket,
            inbox: Inbox::new(),
            out: BytesMut::with_capacity(1024),
            server,
        };
        login::log_in(&mut connection, endpoint, call)?;
        Ok(connection)
    }

    /// Runs statements whose rows do not matter.
    pub(crate) fn run(&mut self, sql: &str, call: &Call<'_>) -> Result<(), DriverError> {
        self.rows(sql, call, &mut |_| {})
    }

    /// Runs a query for one number: a count, a sum (null is 0).
    pub(crate) fn number(&mut self, sql: &str, call: &Call<'_>) -> Result<i64, DriverError> {
        let text = self.one(sql, Wait::Deadline, call)?;
        match text.as_str() {
            "" => Ok(0),
            text => text
                .parse()
                .map_err(|_| self.nonsense(sql, format!("\"{text}\" instead of a number"))),
        }
    }

    /// Runs a query for one text that takes the server no time.
    pub(crate) fn text(&mut self, sql: &str, call: &Call<'_>) -> Result<String, DriverError> {
        self.one(sql, Wait::Patience, call)
    }

    fn one(&mut self, sql: &str, wait: Wait, call: &Call<'_>) -> Result<String, DriverError> {
        let mut found = None;
        self.ask(sql, wait, call, &mut |row| {
            found = found.take().or_else(|| Some(first_text(row)));
        })?;
        found.ok_or_else(|| self.nonsense(sql, "no row".to_owned()))
    }

    /// Runs a query and hands each row over, as it came.
    pub(crate) fn rows(
        &mut self,
        sql: &str,
        call: &Call<'_>,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), DriverError> {
        self.ask(sql, Wait::Deadline, call, each)
    }

    fn ask(
        &mut self,
        sql: &str,
        wait: Wait,
        call: &Call<'_>,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), DriverError> {
        frontend::query(sql, &mut self.out)
            .map_err(|error| self.nonsense(sql, error.to_string()))?;
        self.send(sql, call)?;
        self.finish(sql, wait, call, each)
    }

    /// Has the server prepare a named statement.
    pub(crate) fn prepare(
        &mut self,
        name: &str,
        sql: &str,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        frontend::parse(name, sql, [], &mut self.out)
            .map_err(|error| self.nonsense(sql, error.to_string()))?;
        frontend::sync(&mut self.out);
        self.send(sql, call)?;
        self.finish(sql, Wait::Patience, call, &mut |_| {})
    }

    /// Copies rows into a table: `more` adds lines to the text and says whether any are left.
    pub(crate) fn copy_in(
        &mut self,
        sql: &str,
        call: &Call<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), DriverError> {
        frontend::query(sql, &mut self.out)
            .map_err(|error| self.nonsense(sql, error.to_string()))?;
        self.send(sql, call)?;
        loop {
            let message = self.receive(sql, Wait::Patience, call)?;
            match message.tag {
                b'G' => break,
                b'E' => {
                    let error = ServerError::read(message.body);
                    return Err(self.refused(sql, error));
                }
                _ => {}
            }
        }
        let mut text = Vec::with_capacity(CHUNK + 4096);
        let mut are_left = true;
        while are_left && !self.has_answer() {
            call.check("filling the tables")?;
            text.clear();
            while are_left && text.len() < CHUNK {
                are_left = more(&mut text);
            }
            let encoded = frontend::CopyData::new(&text[..]);
            let data = encoded.map_err(|error| self.nonsense(sql, error.to_string()))?;
            data.write(&mut self.out);
            self.send(sql, call)?;
        }
        frontend::copy_done(&mut self.out);
        self.send(sql, call)?;
        self.finish(sql, Wait::Deadline, call, &mut |_| {})
    }

    /// Whether the server says something before it should: an error in the middle of a copy.
    fn has_answer(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut look = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut look, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Sends what is in `out`.
    fn send(&mut self, doing: &str, call: &Call<'_>) -> Result<(), DriverError> {
        let since = Instant::now();
        let mut sent = 0;
        while sent < self.out.len() {
            match (&self.socket).write(&self.out[sent..]) {
                Ok(written) => sent += written,
                Err(error) if is_wait(&error) => self.look(since, Wait::Patience, doing, call)?,
                Err(source) => return Err(self.lost(doing, source)),
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Waits for the next message.
    fn receive(
        &mut self,
        doing: &str,
        wait: Wait,
        call: &Call<'_>,
    ) -> Result<Message<'_>, DriverError> {
        // Asked twice, since a borrow that is returned lasts for the whole loop.
        let since = Instant::now();
        while !self
            .inbox
            .has_message()
            .map_err(|what| self.nonsense(doing, what))?
        {
            match self.inbox.fill(&self.socket) {
                Ok(0) => return Err(self.lost(doing, io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if is_wait(&error) => self.look(since, wait, doing, call)?,
                Err(source) => return Err(self.lost(doing, source)),
            }
        }
        let server = &self.server;
        let broken = |what: String| DriverError::Protocol {
            server: server.clone(),
            doing: shorten(doing),
            what,
            expected: EXPECTED,
        };
        self.inbox
            .next()
            .map_err(broken)?
            .ok_or_else(|| broken("half a message".to_owned()))
    }

    /// Takes messages to the end of the answer.
    fn finish(
        &mut self,
        doing: &str,
        wait: Wait,
        call: &Call<'_>,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), DriverError> {
        let mut reply = Reply::default();
        loop {
            let message = self.receive(doing, wait, call)?;
            if message.tag == b'D' {
                each(message.body);
            }
            if reply.take(message) {
                break;
            }
        }
        match reply.error {
            None => Ok(()),
            Some(error) => Err(self.refused(doing, error)),
        }
    }

    fn look(
        &self,
        since: Instant,
        wait: Wait,
        doing: &str,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        call.check("waiting for the server")?;
        let waited = since.elapsed();
        match wait {
            Wait::Patience if waited > call.patience => Err(DriverError::Stalled {
                server: self.server.clone(),
                doing: shorten(doing),
                waited,
            }),
            _ => Ok(()),
        }
    }

    fn lost(&self, doing: &str, source: io::Error) -> DriverError {
        DriverError::Lost {
            server: self.server.clone(),
            doing: shorten(doing),
            source,
        }
    }

    fn refused(&self, doing: &str, error: ServerError) -> DriverError {
        DriverError::Refused {
            server: self.server.clone(),
            doing: shorten(doing),
            code: error.code,
            message: error.message,
        }
    }

    fn nonsense(&self, doing: &str, what: String) -> DriverError {
        DriverError::Protocol {
            server: self.server.clone(),
            doing: shorten(doing),
            what,
            expected: EXPECTED,
        }
    }
}

/// The beginning of a statement, for a message.
fn shorten(doing: &str) -> String {
    match doing.char_indices().nth(60) {
        None => doing.to_owned(),
        Some((at, _)) => format!("{}...", &doing[..at]),
    }
}

/// The columns of a row: `None` is null. What is cut short ends the row.
pub(crate) fn columns(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = row.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        let Ok(length) = usize::try_from(length) else {
            rest = after;
            return Some(None);
        };
        let value = after.get(..length)?;
        rest = &after[length..];
        Some(Some(value))
    })
}

/// The first column as text; null and no column are empty.
fn first_text(row: &[u8]) -> String {
    let value = columns(row).next().flatten().unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}

#[cfg(test)]
mod tests;
