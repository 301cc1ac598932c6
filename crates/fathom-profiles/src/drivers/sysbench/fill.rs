//! Makes the tables and fills them.

use std::fmt::Write as _;

use fathom_base::seed_for;
use fathom_stats::random::Xoshiro256;
use mysql::Conn;

use super::event::digits;
use crate::drivers::mysql::Server;
use crate::drivers::{Call, DriverError};

/// Rows of one INSERT: about half a megabyte.
const BATCH: u64 = 2500;

pub(super) fn fill(
    server: &Server,
    connection: &mut Conn,
    tables: u64,
    rows: u64,
    call: &Call<'_>,
) -> Result<(), DriverError> {
    for table in 1..=tables {
        server.run(connection, &format!("DROP TABLE IF EXISTS sbtest{table}"))?;
        let create = format!(
            "CREATE TABLE sbtest{table} (id INTEGER NOT NULL AUTO_INCREMENT, \
             k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB"
        );
        server.run(connection, &create)?;
        let seed = seed_for(call.seed, &format!("sysbench table {table}"));
        let mut random = Xoshiro256::new(seed);
        let mut filled = 0;
        while filled < rows {
            call.check("filling the tables")?;
            let batch = BATCH.min(rows - filled);
            server.run(connection, &insert(table, batch, rows, &mut random))?;
            filled += batch;
            let done = (table - 1) as f64 + filled as f64 / rows as f64;
            call.say("fill", Some(done / tables as f64), String::new());
        }
        server.run(
            connection,
            &format!("CREATE INDEX k_{table} ON sbtest{table}(k)"),
        )?;
    }
    Ok(())
}

fn insert(table: u64, batch: u64, rows: u64, random: &mut Xoshiro256) -> String {
    let mut sql = format!("INSERT INTO sbtest{table}(k, c, pad) VALUES");
    for row in 0..batch {
        let comma = if row > 0 { "," } else { "" };
        let k = 1 + random.below(rows);
        let (c, pad) = (digits(random, 10), digits(random, 5));
        // Writing to a string cannot fail.
        let _ = write!(sql, "{comma}({k},'{c}','{pad}')");
    }
    sql
}
