//! What a client does: one transaction after the other.

use std::fmt::Write as _;
use std::time::Instant;

use bytes::{BufMut, BytesMut};
use fathom_base::seed_for;
use fathom_stats::Histogram;
use fathom_stats::random::Xoshiro256;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::Settings;
use crate::drivers::clients::count_second;
use crate::drivers::postgres::Reply;
use crate::drivers::postgres::crowd::{Next, Script, Window};

/// Which transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    TpcbLike,
    SimpleUpdate,
    SelectOnly,
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Simple,
    Extended,
    Prepared,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin,
    UpdateAccount,
    SelectAccount,
    UpdateTeller,
    UpdateBranch,
    InsertHistory,
    End,
}

/// A value of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Account,
    Teller,
    Branch,
    Delta,
}

impl Mode {
    pub(super) const MENU: [(&'static str, Self); 3] = [
        ("tpcb-like", Self::TpcbLike),
        ("simple-update", Self::SimpleUpdate),
        ("select-only", Self::SelectOnly),
    ];

    /// Its statements, in order.
    pub(super) const fn steps(self) -> &'static [Step] {
        use Step::*;
        match self {
            Self::TpcbLike => &[
                Begin,
                UpdateAccount,
                SelectAccount,
                UpdateTeller,
                UpdateBranch,
                InsertHistory,
                End,
            ],
            Self::SimpleUpdate => &[Begin, UpdateAccount, SelectAccount, InsertHistory, End],
            Self::SelectOnly => &[SelectAccount],
        }
    }

    /// What every connection prepares.
    pub(super) fn prepared(self, protocol: Protocol) -> Vec<(&'static str, &'static str)> {
        match protocol {
            Protocol::Prepared => self.steps().iter().map(|s| (s.name(), s.sql())).collect(),
            Protocol::Simple | Protocol::Extended => Vec::new(),
        }
    }
}

impl Protocol {
    pub(super) const MENU: [(&'static str, Self); 3] = [
        ("simple", Self::Simple),
        ("extended", Self::Extended),
        ("prepared", Self::Prepared),
    ];
}

impl Step {
    /// Name of the prepared statement.
    const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::UpdateAccount => "update_account",
            Self::SelectAccount => "select_account",
            Self::UpdateTeller => "update_teller",
            Self::UpdateBranch => "update_branch",
            Self::InsertHistory => "insert_history",
            Self::End => "end",
        }
    }

    /// Its text, with `$1` for the first of [`Step::variables`].
    const fn sql(self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::UpdateAccount => {
                "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"
            }
            Self::SelectAccount => "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
            Self::UpdateTeller => {
                "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2"
            }
            Self::UpdateBranch => {
                "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2"
            }
            Self::InsertHistory => {
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)"
            }
            Self::End => "END",
        }
    }

    const fn variables(self) -> &'static [Variable] {
        use Variable::*;
        match self {
            Self::Begin | Self::End => &[],
            Self::UpdateAccount => &[Delta, Account],
            Self::SelectAccount => &[Account],
            Self::UpdateTeller => &[Delta, Teller],
            Self::UpdateBranch => &[Delta, Branch],
            Self::InsertHistory => &[Teller, Branch, Account, Delta],
        }
    }
}

/// The numbers of one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Draw {
    account: i64,
    branch: i64,
    teller: i64,
    delta: i64,
}

impl Draw {
    /// Uniform over the tables; the amount over -5000 to 5000.
    pub(super) fn new(random: &mut Xoshiro256, scale: u64) -> Self {
        let mut one_to = |most: u64| i64::try_from(1 + random.below(most)).unwrap_or(1);
        Self {
            account: one_to(scale * 100_000),
            branch: one_to(scale),
            teller: one_to(scale * 10),
            delta: one_to(10_001) - 5001,
        }
    }

    const fn value(&self, variable: Variable) -> i64 {
        match variable {
            Variable::Account => self.account,
            Variable::Teller => self.teller,
            Variable::Branch => self.branch,
            Variable::Delta => self.delta,
        }
    }
}

/// A client.
#[derive(Debug)]
pub(super) struct Transactions {
    steps: &'static [Step],
    protocol: Protocol,
    scale: u64,
    random: Xoshiro256,
    window: Option<Window>,
    draw: Draw,
    /// Statement that is under way; behind the last one none is.
    at: usize,
    began: Option<Instant>,
    /// A failed transaction is being rolled back.
    is_rolling_back: bool,
    text: String,
    /// Transactions that were committed.
    pub(super) committed: u64,
    /// Transactions that the server gave up because of others.
    pub(super) failed: u64,
    pub(super) latencies: Histogram,
    pub(super) per_second: Vec<u64>,
}

impl Transactions {
    pub(super) fn new(settings: &Settings, seed: u64, number: usize) -> Self {
        Self {
            steps: settings.mode.steps(),
            protocol: settings.protocol,
            scale: settings.scale,
            random: Xoshiro256::new(seed_for(seed, &format!("pgbench client {number}"))),
            window: None,
            draw: Draw::default(),
            at: 0,
            began: None,
            is_rolling_back: false,
            text: String::new(),
            committed: 0,
            failed: 0,
            latencies: Histogram::new(),
            per_second: Vec::new(),
        }
    }

    /// Begins the next transaction, unless the time is over.
    fn begin_next(&mut self, now: Instant, out: &mut BytesMut) -> Next {
        if self.window.is_none_or(|window| now >= window.end) {
            return Next::Done;
        }
        self.draw = Draw::new(&mut self.random, self.scale);
        self.began = Some(now);
        self.at = 0;
        self.put(out)
    }

    fn complete(&mut self, now: Instant) {
        self.committed += 1;
        let took = self
            .began
            .map_or_else(Default::default, |began| now - began);
        self.latencies
            .record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        if let Some(window) = self.window {
            count_second(
                &mut self.per_second,
                now.saturating_duration_since(window.start),
            );
        }
    }

    /// Puts the statement that is due.
    fn put(&mut self, out: &mut BytesMut) -> Next {
        let step = self.steps[self.at];
        let put = match self.protocol {
            Protocol::Simple => {
                write_simple(step, &self.draw, &mut self.text);
                frontend::query(&self.text, out).map_err(|error| error.to_string())
            }
            Protocol::Extended => frontend::parse("", step.sql(), [], out)
                .map_err(|error| error.to_string())
                .and_then(|()| put_bound("", step, &self.draw, out)),
            Protocol::Prepared => put_bound(step.name(), step, &self.draw, out),
        };
        match put {
            Ok(()) => Next::Send,
            Err(why) => Next::Fail(why),
        }
    }
}

impl Script for Transactions {
    fn begin(&mut self, window: Window) {
        self.window = Some(window);
    }

    fn next(&mut self, reply: Option<Reply>, now: Instant, out: &mut BytesMut) -> Next {
        let Some(reply) = reply else {
            return self.begin_next(now, out);
        };
        match reply.error {
            Some(error) if error.asks_for_retry() => {
                self.failed += 1;
                if reply.status == b'E' {
                    self.is_rolling_back = true;
                    return match frontend::query("ROLLBACK", out) {
                        Ok(()) => Next::Send,
                        Err(error) => Next::Fail(error.to_string()),
                    };
                }
                return self.begin_next(now, out);
            }
            Some(error) => {
                let doing = self.steps[self.at].name();
                return Next::Fail(format!("{doing}: {} ({})", error.message, error.code));
            }
            None => {}
        }
        if std::mem::take(&mut self.is_rolling_back) {
            return self.begin_next(now, out);
        }
        self.at += 1;
        if self.at < self.steps.len() {
            return self.put(out);
        }
        self.complete(now);
        self.begin_next(now, out)
    }
}

/// The statement with its values in the text.
pub(super) fn write_simple(step: Step, draw: &Draw, text: &mut String) {
    text.clear();
    let mut rest = step.sql();
    let mut variables = step.variables().iter();
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        if let Some(variable) = variables.next() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}", draw.value(*variable));
        }
        // No statement has more than nine values.
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
}

/// Binds, describes and executes a prepared statement with its values as text, as libpq does.
fn put_bound(name: &str, step: Step, draw: &Draw, out: &mut BytesMut) -> Result<(), String> {
    let values = step
        .variables()
        .iter()
        .map(|variable| draw.value(*variable));
    let text = |value: i64, out: &mut BytesMut| {
        write_decimal(value, out);
        Ok(IsNull::No)
    };
    frontend::bind("", name, [], values, text, [0], out)
        .map_err(|_| "a value does not fit into a message".to_owned())?;
    frontend::describe(b'P', "", out).map_err(|error| error.to_string())?;
    frontend::execute("", 0, out).map_err(|error| error.to_string())?;
    frontend::sync(out);
    Ok(())
}

fn write_decimal(value: i64, out: &mut BytesMut) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.put_u8(b'-');
    }
    out.put_slice(&digits[at..]);
}
