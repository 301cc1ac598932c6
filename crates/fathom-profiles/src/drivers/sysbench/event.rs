//! What one client does: the statements of one event.

use fathom_stats::random::Xoshiro256;
use mysql::prelude::Queryable;
use mysql::{Conn, Params, Statement, Value};

use super::Settings;
use crate::drivers::DriverError;
use crate::drivers::mysql::{Failure, Server, guarded};

/// Which test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    ReadWrite,
    ReadOnly,
    WriteOnly,
    PointSelect,
    UpdateIndex,
    UpdateNonIndex,
}

impl Work {
    pub(super) const MENU: [(&'static str, Self); 6] = [
        ("oltp_read_write", Self::ReadWrite),
        ("oltp_read_only", Self::ReadOnly),
        ("oltp_write_only", Self::WriteOnly),
        ("oltp_point_select", Self::PointSelect),
        ("oltp_update_index", Self::UpdateIndex),
        ("oltp_update_non_index", Self::UpdateNonIndex),
    ];

    /// What an event is made of.
    pub(super) const fn groups(self) -> &'static [Group] {
        use Group::*;
        match self {
            Self::ReadWrite => &[
                Begin,
                PointSelects(10),
                Range(Kind::SimpleRange),
                Range(Kind::SumRange),
                Range(Kind::OrderRange),
                Range(Kind::DistinctRange),
                Update(Kind::UpdateIndex),
                Update(Kind::UpdateNonIndex),
                DeleteInsert,
                Commit,
            ],
            Self::ReadOnly => &[
                Begin,
                PointSelects(10),
                Range(Kind::SimpleRange),
                Range(Kind::SumRange),
                Range(Kind::OrderRange),
                Range(Kind::DistinctRange),
                Commit,
            ],
            Self::WriteOnly => &[
                Begin,
                Update(Kind::UpdateIndex),
                Update(Kind::UpdateNonIndex),
                DeleteInsert,
                Commit,
            ],
            Self::PointSelect => &[PointSelects(1)],
            Self::UpdateIndex => &[Update(Kind::UpdateIndex)],
            Self::UpdateNonIndex => &[Update(Kind::UpdateNonIndex)],
        }
    }
}

/// Statements that go to one table, which is drawn for each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Begin,
    PointSelects(u32),
    Range(Kind),
    Update(Kind),
    DeleteInsert,
    Commit,
}

/// A prepared statement of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Point,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    UpdateIndex,
    UpdateNonIndex,
    Delete,
    Insert,
}

const KINDS: usize = Kind::ALL.len();
/// Ids of a range select.
const RANGE: u64 = 100;

impl Kind {
    const ALL: [Self; 9] = [
        Self::Point,
        Self::SimpleRange,
        Self::SumRange,
        Self::OrderRange,
        Self::DistinctRange,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::Delete,
        Self::Insert,
    ];

    fn sql(self, table: u64) -> String {
        let of = |before: &str, after: &str| format!("{before} sbtest{table} {after}");
        match self {
            Self::Point => of("SELECT c FROM", "WHERE id=?"),
            Self::SimpleRange => of("SELECT c FROM", "WHERE id BETWEEN ? AND ?"),
            Self::SumRange => of("SELECT SUM(k) FROM", "WHERE id BETWEEN ? AND ?"),
            Self::OrderRange => of("SELECT c FROM", "WHERE id BETWEEN ? AND ? ORDER BY c"),
            Self::DistinctRange => of(
                "SELECT DISTINCT c FROM",
                "WHERE id BETWEEN ? AND ? ORDER BY c",
            ),
            Self::UpdateIndex => of("UPDATE", "SET k=k+1 WHERE id=?"),
            Self::UpdateNonIndex => of("UPDATE", "SET c=? WHERE id=?"),
            Self::Delete => of("DELETE FROM", "WHERE id=?"),
            Self::Insert => of("INSERT INTO", "(id, k, c, pad) VALUES (?, ?, ?, ?)"),
        }
    }
}

/// A client's prepared statements, by table and kind.
#[derive(Debug)]
pub(super) struct Statements(Vec<[Option<Statement>; KINDS]>);

impl Statements {
    /// Prepares, for each table, what the test uses.
    pub(super) fn prepare(
        server: &Server,
        connection: &mut Conn,
        settings: &Settings,
    ) -> Result<Self, DriverError> {
        let kinds = used(settings.work);
        let mut tables = Vec::new();
        for table in 1..=settings.tables {
            let mut row = [const { None }; KINDS];
            for kind in &kinds {
                let sql = kind.sql(table);
                let statement = server.ask(&sql, || connection.prep(&sql))?;
                row[*kind as usize] = Some(statement);
            }
            tables.push(row);
        }
        Ok(Self(tables))
    }
}

/// The kinds of statements of a test.
fn used(work: Work) -> Vec<Kind> {
    let of = |group: &Group| match group {
        Group::Begin | Group::Commit => Vec::new(),
        Group::PointSelects(_) => vec![Kind::Point],
        Group::Range(kind) | Group::Update(kind) => vec![*kind],
        Group::DeleteInsert => vec![Kind::Delete, Kind::Insert],
    };
    work.groups().iter().flat_map(of).collect()
}

/// A connected client.
#[derive(Debug)]
pub(super) struct Session {
    connection: Conn,
    statements: Statements,
    groups: &'static [Group],
    rows: u64,
    random: Xoshiro256,
}

impl Session {
    pub(super) fn new(
        connection: Conn,
        statements: Statements,
        settings: &Settings,
        random: Xoshiro256,
    ) -> Self {
        Self {
            connection,
            statements,
            groups: settings.work.groups(),
            rows: settings.rows,
            random,
        }
    }

    /// One event; counts the statements that the server carried out.
    pub(super) fn event(&mut self, queries: &mut u64) -> Result<(), Failure> {
        let groups = self.groups;
        guarded(|| {
            for group in groups {
                self.group(*group, queries)?;
            }
            Ok(())
        })
    }

    /// Undoes what an event has left.
    pub(super) fn roll_back(&mut self) -> Result<(), Failure> {
        guarded(|| self.connection.query_drop("ROLLBACK"))
    }

    fn group(&mut self, group: Group, queries: &mut u64) -> Result<(), mysql::Error> {
        match group {
            Group::Begin => self.say("BEGIN", queries),
            Group::Commit => self.say("COMMIT", queries),
            Group::PointSelects(count) => {
                let table = self.table();
                for _ in 0..count {
                    let id = self.id();
                    self.execute(table, Kind::Point, vec![id.into()], queries)?;
                }
                Ok(())
            }
            Group::Range(kind) => {
                let (table, id) = (self.table(), self.id());
                let values = vec![id.into(), (id + RANGE - 1).into()];
                self.execute(table, kind, values, queries)
            }
            Group::Update(Kind::UpdateNonIndex) => {
                let table = self.table();
                let c = digits(&mut self.random, 10);
                let values = vec![c.into(), self.id().into()];
                self.execute(table, Kind::UpdateNonIndex, values, queries)
            }
            Group::Update(kind) => {
                let (table, id) = (self.table(), self.id());
                self.execute(table, kind, vec![id.into()], queries)
            }
            Group::DeleteInsert => self.delete_insert(queries),
        }
    }

    /// Takes a row away and puts one of the same id in its place.
    fn delete_insert(&mut self, queries: &mut u64) -> Result<(), mysql::Error> {
        let (table, id, k) = (self.table(), self.id(), self.id());
        self.execute(table, Kind::Delete, vec![id.into()], queries)?;
        let c = digits(&mut self.random, 10);
        let pad = digits(&mut self.random, 5);
        let values = vec![id.into(), k.into(), c.into(), pad.into()];
        self.execute(table, Kind::Insert, values, queries)
    }

    fn say(&mut self, sql: &str, queries: &mut u64) -> Result<(), mysql::Error> {
        self.connection.query_drop(sql)?;
        *queries += 1;
        Ok(())
    }

    fn execute(
        &mut self,
        table: usize,
        kind: Kind,
        values: Vec<Value>,
        queries: &mut u64,
    ) -> Result<(), mysql::Error> {
        let statement = self.statements.0[table][kind as usize].as_ref();
        assert!(statement.is_some(), "what a test uses has been prepared");
        if let Some(statement) = statement {
            let rows = self
                .connection
                .exec_iter(statement, Params::Positional(values))?;
            for row in rows {
                row?;
            }
            *queries += 1;
        }
        Ok(())
    }

    fn table(&mut self) -> usize {
        self.random.below(self.statements.0.len() as u64) as usize
    }

    fn id(&mut self) -> u64 {
        1 + self.random.below(self.rows)
    }
}

/// Groups of eleven random digits, joined by `-`.
pub(super) fn digits(random: &mut Xoshiro256, groups: usize) -> String {
    let mut text = String::with_capacity(groups * 12);
    for group in 0..groups {
        if group > 0 {
            text.push('-');
        }
        // Eleven digits of one draw: 2^64 is large against 10^11.
        let mut number = random.below(100_000_000_000);
        let mut places = [b'0'; 11];
        for place in places.iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
        text.extend(places.map(char::from));
    }
    text
}
