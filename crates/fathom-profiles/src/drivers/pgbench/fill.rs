//! Makes the tables and fills them, in the order of `pgbench -i`: drop, create, generate, vacuum,
//! primary keys.

use std::io::Write as _;

use crate::drivers::postgres::Connection;
use crate::drivers::{Call, DriverError};

const ACCOUNTS: u64 = 100_000;
const TELLERS: u64 = 10;
/// From this scale on account numbers need eight bytes.
const WIDE_SCALE: u64 = 20_000;

pub(super) fn fill(
    connection: &mut Connection,
    scale: u64,
    call: &Call<'_>,
) -> Result<(), DriverError> {
    connection.run(
        "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers",
        call,
    )?;
    // What is copied into a table of the same transaction needs no log.
    connection.run("begin", call)?;
    create(connection, scale, call)?;
    generate(connection, scale, call)?;
    connection.run("commit", call)?;
    call.say("vacuum", None, String::new());
    for table in ["branches", "tellers", "accounts", "history"] {
        connection.run(&format!("vacuum analyze pgbench_{table}"), call)?;
    }
    call.say("primary keys", None, String::new());
    for (table, column) in [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")] {
        connection.run(
            &format!("alter table pgbench_{table} add primary key ({column})"),
            call,
        )?;
    }
    Ok(())
}

fn create(connection: &mut Connection, scale: u64, call: &Call<'_>) -> Result<(), DriverError> {
    let account = if scale >= WIDE_SCALE { "bigint" } else { "int" };
    let tables = [
        format!(
            "create table pgbench_history(tid int, bid int, aid {account}, delta int, \
             mtime timestamp, filler char(22))"
        ),
        "create table pgbench_tellers(tid int not null, bid int, tbalance int, filler char(84)) \
         with (fillfactor=100)"
            .to_owned(),
        format!(
            "create table pgbench_accounts(aid {account} not null, bid int, abalance int, \
             filler char(84)) with (fillfactor=100)"
        ),
        "create table pgbench_branches(bid int not null, bbalance int, filler char(88)) \
         with (fillfactor=100)"
            .to_owned(),
    ];
    for sql in &tables {
        connection.run(sql, call)?;
    }
    Ok(())
}

fn generate(connection: &mut Connection, scale: u64, call: &Call<'_>) -> Result<(), DriverError> {
    let lines = |count: u64, line: fn(u64, &mut Vec<u8>)| {
        let mut next = 0;
        move |text: &mut Vec<u8>| {
            line(next, text);
            next += 1;
            next < count
        }
    };
    connection.copy_in(
        "copy pgbench_branches (bid, bbalance) from stdin",
        call,
        &mut lines(scale, |n, text| put_line(text, &[n + 1, 0])),
    )?;
    connection.copy_in(
        "copy pgbench_tellers (tid, bid, tbalance) from stdin",
        call,
        &mut lines(scale * TELLERS, |n, text| {
            put_line(text, &[n + 1, n / TELLERS + 1, 0]);
        }),
    )?;
    let count = scale * ACCOUNTS;
    let mut next = 0;
    connection.copy_in(
        "copy pgbench_accounts (aid, bid, abalance, filler) from stdin",
        call,
        &mut |text| {
            put_account(text, next);
            next += 1;
            if next % ACCOUNTS == 0 {
                call.say("fill", Some(next as f64 / count as f64), String::new());
            }
            next < count
        },
    )
}

fn put_account(text: &mut Vec<u8>, number: u64) {
    // An empty text, which the column fills up with blanks.
    let _ = writeln!(text, "{}\t{}\t0\t", number + 1, number / ACCOUNTS + 1);
}

fn put_line(text: &mut Vec<u8>, numbers: &[u64]) {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let _ = writeln!(text, "{}", words.join("\t"));
}
