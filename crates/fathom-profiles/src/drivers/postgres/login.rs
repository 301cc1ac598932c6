//! Logging in: no password, plain, MD5 or SCRAM-SHA-256.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use super::inbox::ServerError;
use super::{Connection, Wait};
use crate::drivers::{Call, DriverError, Endpoint};

const DOING: &str = "logging in";

/// Sends the greeting and answers what the server asks, until it is ready.
pub(super) fn log_in(
    connection: &mut Connection,
    endpoint: &Endpoint,
    call: &Call<'_>,
) -> Result<(), DriverError> {
    let facts = [
        ("user", endpoint.user.as_str()),
        ("database", endpoint.database.as_str()),
        ("application_name", "fathom"),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(facts, &mut connection.out)
        .map_err(|error| connection.nonsense(DOING, error.to_string()))?;
    connection.send(DOING, call)?;
    let mut scram = None;
    loop {
        let message = connection.receive(DOING, Wait::Patience, call)?;
        match message.tag {
            b'Z' => return Ok(()),
            b'E' => {
                let error = ServerError::read(message.body);
                return Err(connection.refused(DOING, error));
            }
            b'R' => {
                let body = message.body.to_vec();
                answer(connection, endpoint, &body, &mut scram)?;
                if !connection.out.is_empty() {
                    connection.send(DOING, call)?;
                }
            }
            _ => {}
        }
    }
}

/// Puts the answer to a request for authentication into the connection's output.
fn answer(
    connection: &mut Connection,
    endpoint: &Endpoint,
    body: &[u8],
    scram: &mut Option<ScramSha256>,
) -> Result<(), DriverError> {
    let Some((kind, data)) = body.split_first_chunk::<4>() else {
        return Err(connection.nonsense(DOING, "half a message".to_owned()));
    };
    let kind = i32::from_be_bytes(*kind);
    if kind == 0 {
        return Ok(());
    }
    let Some(password) = &endpoint.password else {
        return Err(connection.refused(DOING, asks_for_password()));
    };
    let sent = match (kind, scram.as_mut()) {
        (3, _) => frontend::password_message(password.as_bytes(), &mut connection.out),
        (5, _) => {
            let salt = data.first_chunk::<4>().copied().unwrap_or_default();
            let hash = md5_hash(endpoint.user.as_bytes(), password.as_bytes(), salt);
            frontend::password_message(hash.as_bytes(), &mut connection.out)
        }
        (10, _) => {
            let first = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
            let sent = frontend::sasl_initial_response(
                SCRAM_SHA_256,
                first.message(),
                &mut connection.out,
            );
            *scram = Some(first);
            sent
        }
        (11, Some(scram)) => scram
            .update(data)
            .and_then(|()| frontend::sasl_response(scram.message(), &mut connection.out)),
        (12, Some(scram)) => scram.finish(data),
        _ => {
            let what = format!("authentication method {kind}, which is not known here,");
            return Err(connection.nonsense(DOING, what));
        }
    };
    sent.map_err(|error| connection.nonsense(DOING, error.to_string()))
}

fn asks_for_password() -> ServerError {
    ServerError {
        code: "28P01".to_owned(),
        message: "the server asks for a password and none is given".to_owned(),
    }
}
