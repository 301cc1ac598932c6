use std::time::{Duration, Instant};

use fathom_base::Cancel;
use fathom_model::{HostEvidence, Observer, Witness};
use fathom_profiles::drivers::{Address, Call, DriverFigures, Endpoint, Options, driver};
use fathom_testkit::servers::Server;

/// Sees nothing.
pub struct Blind;

impl Observer for Blind {
    fn begin(&self) -> Box<dyn Witness> {
        Box::new(Blind)
    }
}

impl Witness for Blind {
    fn end(self: Box<Self>) -> HostEvidence {
        HostEvidence::default()
    }
}

/// Lets `act` work with a call of a minute at most.
pub fn with_call<T>(patience: Duration, cancel: &Cancel, act: impl FnOnce(&Call<'_>) -> T) -> T {
    act(&Call {
        cancel,
        deadline: Instant::now() + Duration::from_secs(100),
        patience,
        seed: 1,
        observer: &Blind,
        progress: &|_| {},
    })
}

pub fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().copied().collect()
}

pub fn socket_of(server: &Server, user: &str, database: &str) -> Endpoint {
    Endpoint {
        address: Address::Socket(server.socket.clone()),
        user: user.to_owned(),
        password: None,
        database: database.to_owned(),
    }
}

/// Prepares, runs and verifies; returns the figures and what was found right.
pub fn whole(
    id: &str,
    endpoint: &Endpoint,
    pairs: &[(&str, &str)],
) -> (DriverFigures, Vec<String>) {
    let (driver, options) = (driver(id).unwrap(), options(pairs));
    with_call(Duration::from_secs(30), &Cancel::new(), |call| {
        driver.prepare(endpoint, &options, call).unwrap();
        let figures = driver.run(endpoint, &options, call).unwrap();
        let found = driver.verify(endpoint, &options, &figures, call).unwrap();
        (figures, found)
    })
}
