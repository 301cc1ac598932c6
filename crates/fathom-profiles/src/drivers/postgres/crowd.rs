//! Many clients on few threads: each thread polls the sockets of its share, as pgbench does.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use fathom_model::HostEvidence;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

use super::socket::is_wait;
use super::{Connection, Reply};
use crate::drivers::call::LOOK;
use crate::drivers::clients::{cpu_of_thread, spread};
use crate::drivers::{Call, DriverError, Endpoint};

/// What one client does.
pub(crate) trait Script: Send {
    /// Called once, when all clients are connected.
    fn begin(&mut self, window: Window);

    /// Says what follows an answer (`None` at first), and puts the request into `out`.
    fn next(&mut self, reply: Option<Reply>, now: Instant, out: &mut BytesMut) -> Next;
}

/// What a client does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Sends what it put out and waits for the answer.
    Send,
    /// Does nothing until then.
    Wait(Instant),
    /// Has done its share.
    Done,
    /// Cannot go on.
    Fail(String),
}

/// When it is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Clients begin.
    pub(crate) start: Instant,
    /// Operations count from here: later than `start` by the ramp.
    pub(crate) measure: Instant,
    /// No operation begins after this.
    pub(crate) end: Instant,
}

/// How many, where, how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) clients: usize,
    pub(crate) threads: usize,
    pub(crate) ramp: Duration,
    pub(crate) duration: Duration,
    /// Statements that every connection prepares: name and text.
    pub(crate) statements: &'a [(&'a str, &'a str)],
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome<S> {
    /// The scripts of the clients that connected.
    pub(crate) scripts: Vec<S>,
    /// Why clients failed, in no order; those that never connected first.
    pub(crate) failed: Vec<String>,
    /// How many of them never connected.
    pub(crate) never_connected: usize,
    /// Time to connect all.
    pub(crate) connecting: Duration,
    /// From the start of measuring until the last client was done.
    pub(crate) elapsed: Duration,
    /// CPU time of the threads.
    pub(crate) cpu: Duration,
    /// The observer's view of the window.
    pub(crate) host: Option<HostEvidence>,
}

/// Connects the clients, lets them run and collects them.
pub(crate) fn run<S: Script>(
    plan: &Plan<'_>,
    call: &Call<'_>,
    make: impl Fn(usize) -> S + Sync,
) -> Result<Outcome<S>, DriverError> {
    call.say("connect", None, String::new());
    let began = Instant::now();
    let connected = connect_all(plan, call)?;
    let connecting = began.elapsed();
    let mut failed = Vec::new();
    let mut shares = Vec::new();
    for share in connected {
        let mut clients = Vec::new();
        for (number, result) in share {
            match result {
                Ok(connection) => clients.push(Client::new(connection, make(number))),
                Err(error) => failed.push(error.to_string()),
            }
        }
        shares.push(clients);
    }
    let never_connected = failed.len();
    if never_connected == plan.clients {
        return Err(no_client(plan, failed));
    }
    let mut outcome = carry_out(plan, call, shares)?;
    outcome.connecting = connecting;
    outcome.never_connected = never_connected;
    failed.append(&mut outcome.failed);
    outcome.failed = failed;
    if outcome.failed.len() == plan.clients {
        return Err(no_client(plan, outcome.failed));
    }
    Ok(outcome)
}

fn no_client(plan: &Plan<'_>, failed: Vec<String>) -> DriverError {
    DriverError::NoClient {
        server: plan.endpoint.address.to_string(),
        clients: plan.clients,
        first: failed.into_iter().next().unwrap_or_default(),
    }
}

type Connected = Vec<(usize, Result<Connection, DriverError>)>;

/// Connects on as many threads as will run. That a client cannot connect is no error here, but to
/// be cancelled is.
fn connect_all(plan: &Plan<'_>, call: &Call<'_>) -> Result<Vec<Connected>, DriverError> {
    let shares = spread(plan.clients, plan.threads);
    let connected: Vec<Connected> = std::thread::scope(|scope| {
        let share = |numbers: std::ops::Range<usize>| {
            let one = |number| (number, connect_one(plan, call));
            scope.spawn(move || numbers.map(one).collect())
        };
        let threads: Vec<_> = shares.into_iter().map(share).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Connected>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    call.check("connecting the clients")?;
    Ok(connected)
}

fn connect_one(plan: &Plan<'_>, call: &Call<'_>) -> Result<Connection, DriverError> {
    call.check("connecting the clients")?;
    let mut connection = Connection::open(plan.endpoint, call)?;
    for (name, sql) in plan.statements {
        connection.prepare(name, sql, call)?;
    }
    connection.out.clear();
    let polled = connection.socket.set_polled();
    polled.map_err(|source| connection.lost("connecting", source))?;
    Ok(connection)
}

/// One thread's part of the outcome.
#[derive(Debug)]
struct Part<S> {
    scripts: Vec<S>,
    failed: Vec<String>,
    ended: Instant,
    cpu: Duration,
}

fn carry_out<S: Script>(
    plan: &Plan<'_>,
    call: &Call<'_>,
    shares: Vec<Vec<Client<S>>>,
) -> Result<Outcome<S>, DriverError> {
    let barrier = Barrier::new(shares.len() + 1);
    let window = OnceLock::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (barrier, window, stop) = (&barrier, &window, &stop);
        let member = |clients: Vec<Client<S>>| {
            scope.spawn(move || {
                barrier.wait();
                let window = *window.get_or_init(|| start_now(plan));
                let part = Polling::new(clients, window, call).and_then(|p| p.run(stop));
                if part.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                part
            })
        };
        let threads: Vec<_> = shares.into_iter().map(member).collect();
        let early = plan.ramp.is_zero().then(|| call.observer.begin());
        let window = *window.get_or_init(|| start_now(plan));
        barrier.wait();
        let is_over = || threads.iter().all(|thread| thread.is_finished());
        let witness = early.or_else(|| {
            wait_until(window.measure, &is_over);
            Some(call.observer.begin())
        });
        report(call, window, &is_over);
        let host = witness.map(|witness| witness.end());
        let mut parts = Vec::new();
        for thread in threads {
            let part = thread.join();
            parts.push(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(gather(parts, window, host))
    })
}

fn start_now(plan: &Plan<'_>) -> Window {
    let start = Instant::now();
    let measure = start + plan.ramp;
    Window {
        start,
        measure,
        end: measure + plan.duration,
    }
}

fn wait_until(moment: Instant, is_over: &dyn Fn() -> bool) {
    while !is_over() {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// Reports progress until all threads are done.
fn report(call: &Call<'_>, window: Window, is_over: &dyn Fn() -> bool) {
    let whole = window.end.saturating_duration_since(window.measure);
    while !is_over() {
        let done = window.measure.elapsed().as_secs_f64();
        let fraction = (done / whole.as_secs_f64()).min(1.0);
        call.say("measure", Some(fraction), String::new());
        wait_until(Instant::now() + LOOK, is_over);
    }
}

fn gather<S>(parts: Vec<Part<S>>, window: Window, host: Option<HostEvidence>) -> Outcome<S> {
    let mut outcome = Outcome {
        scripts: Vec::new(),
        failed: Vec::new(),
        never_connected: 0,
        connecting: Duration::ZERO,
        elapsed: Duration::ZERO,
        cpu: Duration::ZERO,
        host,
    };
    for part in parts {
        outcome.scripts.extend(part.scripts);
        outcome.failed.extend(part.failed);
        outcome.cpu += part.cpu;
        let elapsed = part.ended.saturating_duration_since(window.measure);
        outcome.elapsed = outcome.elapsed.max(elapsed);
    }
    outcome
}

/// A client of a thread.
#[derive(Debug)]
struct Client<S> {
    connection: Connection,
    reply: Reply,
    script: S,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// An answer is awaited.
    Asking,
    /// It rests until then.
    Resting(Instant),
    /// It is done or has failed.
    Over,
}

impl<S: Script> Client<S> {
    fn new(connection: Connection, script: S) -> Self {
        Self {
            connection,
            reply: Reply::default(),
            script,
            state: State::Asking,
        }
    }

    /// Lets the script go on and sends what it asks for.
    fn go_on(&mut self, reply: Option<Reply>, now: Instant, call: &Call<'_>) -> Result<(), String> {
        self.state = match self.script.next(reply, now, &mut self.connection.out) {
            Next::Send => {
                self.send(call)?;
                State::Asking
            }
            Next::Wait(until) => State::Resting(until),
            Next::Done => State::Over,
            Next::Fail(why) => return Err(why),
        };
        Ok(())
    }

    /// A request is shorter than any socket's buffer, so waiting here is an exception.
    fn send(&mut self, call: &Call<'_>) -> Result<(), String> {
        let connection = &mut self.connection;
        let mut sent = 0;
        let since = Instant::now();
        while sent < connection.out.len() {
            match (&connection.socket).write(&connection.out[sent..]) {
                Ok(written) => sent += written,
                Err(error) if is_wait(&error) => {
                    let look = &mut [PollFd::new(&connection.socket, PollFlags::OUT)];
                    let _ = poll(look, Some(&timespec(LOOK)));
                    connection
                        .look(since, super::Wait::Patience, "sending a request", call)
                        .map_err(|error| error.to_string())?;
                }
                Err(source) => return Err(connection.lost("sending", source).to_string()),
            }
        }
        connection.out.clear();
        Ok(())
    }

    /// Takes what has come; goes on when it is the whole answer.
    fn receive(&mut self, call: &Call<'_>) -> Result<(), String> {
        let connection = &mut self.connection;
        match connection.inbox.fill(&connection.socket) {
            Ok(0) => {
                let source = io::ErrorKind::UnexpectedEof.into();
                // What the server said last tells more than that it left.
                return Err(match self.reply.error.take() {
                    Some(error) => connection.refused("working", error).to_string(),
                    None => connection.lost("working", source).to_string(),
                });
            }
            Ok(_) => {}
            Err(error) if is_wait(&error) => return Ok(()),
            Err(source) => return Err(connection.lost("working", source).to_string()),
        }
        loop {
            let inbox = &mut self.connection.inbox;
            let is_whole = match inbox.next() {
                Ok(Some(message)) => self.reply.take(message),
                Ok(None) => return Ok(()),
                Err(what) => return Err(self.connection.nonsense("working", what).to_string()),
            };
            if is_whole {
                let reply = std::mem::take(&mut self.reply);
                self.go_on(Some(reply), Instant::now(), call)?;
            }
        }
    }
}

/// A thread's loop.
struct Polling<'a, S> {
    clients: Vec<Client<S>>,
    failed: Vec<String>,
    epoll: std::os::fd::OwnedFd,
    call: &'a Call<'a>,
    window: Window,
    /// Clients that are not over.
    left: usize,
    heard: Instant,
}

impl<'a, S: Script> Polling<'a, S> {
    fn new(
        clients: Vec<Client<S>>,
        window: Window,
        call: &'a Call<'a>,
    ) -> Result<Self, DriverError> {
        let poll_error = |source: rustix::io::Errno| DriverError::File {
            doing: "watch the sockets of the clients:",
            path: "epoll".to_owned(),
            source: source.into(),
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(poll_error)?;
        for (number, client) in clients.iter().enumerate() {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::add(
                &epoll,
                &client.connection.socket,
                data,
                epoll::EventFlags::IN,
            )
            .map_err(poll_error)?;
        }
        Ok(Self {
            left: clients.len(),
            clients,
            failed: Vec::new(),
            epoll,
            call,
            window,
            heard: Instant::now(),
        })
    }

    fn run(mut self, stop: &AtomicBool) -> Result<Part<S>, DriverError> {
        let before = cpu_of_thread();
        for number in 0..self.clients.len() {
            self.clients[number].script.begin(self.window);
            self.step(number, |client, call| {
                client.go_on(None, Instant::now(), call)
            });
        }
        let mut events: Vec<epoll::Event> = Vec::with_capacity(self.clients.len().max(1));
        let mut looked = Instant::now();
        while self.left > 0 {
            let wait = self.wake_up();
            events.clear();
            match epoll::wait(
                &self.epoll,
                spare_capacity(&mut events),
                Some(&timespec(wait)),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(DriverError::File {
                        doing: "wait for the clients:",
                        path: "epoll".to_owned(),
                        source: error.into(),
                    });
                }
            }
            for event in &events {
                let data = event.data;
                let number = usize::try_from(data.u64()).unwrap_or(usize::MAX);
                if number < self.clients.len() {
                    self.step(number, Client::receive);
                }
            }
            let now = Instant::now();
            if !events.is_empty() {
                self.heard = now;
            }
            if now.duration_since(looked) >= LOOK {
                looked = now;
                self.look(now, stop)?;
            }
        }
        Ok(Part {
            cpu: cpu_of_thread().saturating_sub(before),
            ended: Instant::now(),
            scripts: self
                .clients
                .into_iter()
                .map(|client| client.script)
                .collect(),
            failed: self.failed,
        })
    }

    /// Does something to a client that is not over, and puts it aside when it is after that.
    fn step(
        &mut self,
        number: usize,
        act: impl FnOnce(&mut Client<S>, &Call<'_>) -> Result<(), String>,
    ) {
        let client = &mut self.clients[number];
        if client.state == State::Over {
            return;
        }
        if let Err(why) = act(client, self.call) {
            self.failed.push(why);
            client.state = State::Over;
        }
        if client.state == State::Over {
            self.left -= 1;
            // It is closed with the client in any case.
            let _ = epoll::delete(&self.epoll, &client.connection.socket);
        }
    }

    /// Lets go on whose rest is over; says how long the next one rests.
    fn wake_up(&mut self) -> Duration {
        let mut wait = LOOK;
        if self
            .clients
            .iter()
            .all(|client| !matches!(client.state, State::Resting(_)))
        {
            return wait;
        }
        let now = Instant::now();
        for number in 0..self.clients.len() {
            let State::Resting(until) = self.clients[number].state else {
                continue;
            };
            if until <= now {
                self.step(number, |client, call| client.go_on(None, now, call));
            } else {
                wait = wait.min(until - now);
            }
        }
        wait
    }

    /// Ends the thread when nothing is to be expected any more.
    fn look(&self, now: Instant, stop: &AtomicBool) -> Result<(), DriverError> {
        self.call.check("running the clients")?;
        if stop.load(Ordering::Relaxed) {
            return Err(DriverError::Cancelled);
        }
        let waited = now.duration_since(self.heard);
        let asking = self
            .clients
            .iter()
            .find(|client| client.state == State::Asking);
        match asking {
            Some(client) if waited > self.call.patience => Err(DriverError::Stalled {
                server: client.connection.server.clone(),
                doing: "running the clients".to_owned(),
                waited,
            }),
            _ => Ok(()),
        }
    }
}

fn timespec(wait: Duration) -> Timespec {
    // Whole milliseconds are what epoll knows; rounded up, so that a rest is really over.
    let millis = wait.as_nanos().div_ceil(1_000_000).max(1);
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    Timespec {
        tv_sec: millis / 1000,
        tv_nsec: millis % 1000 * 1_000_000,
    }
}
