use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_base::Nanos;

/// What clients and the sampler tell one another.
#[derive(Debug)]
pub(super) struct Shared {
    clients: Vec<ClientCell>,
    /// The warm-up is over; clients begin their counts anew.
    measures: AtomicBool,
    /// The time is over; clients stop.
    is_done: AtomicBool,
}

/// One client's numbers, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct ClientCell {
    bytes: AtomicU64,
    /// When the operation in flight began.
    last_start_ns: AtomicU64,
    /// Longest time between two starts since the last sample.
    longest_ns: AtomicU64,
}

impl Shared {
    pub(super) fn new(clients: u32) -> Self {
        Self {
            clients: (0..clients).map(|_| ClientCell::default()).collect(),
            measures: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        }
    }

    pub(super) fn client(&self, index: u32) -> &ClientCell {
        &self.clients[index as usize]
    }

    #[inline]
    pub(super) fn measures(&self) -> bool {
        self.measures.load(Ordering::Relaxed)
    }

    pub(super) fn measure(&self) {
        self.measures.store(true, Ordering::SeqCst);
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self) {
        self.is_done.store(true, Ordering::SeqCst);
    }

    /// Bytes of all clients so far.
    pub(super) fn bytes(&self) -> u64 {
        let all = self.clients.iter();
        all.map(|client| client.bytes.load(Ordering::Relaxed)).sum()
    }

    /// Whether every client has read or written something.
    pub(super) fn all_have_moved(&self) -> bool {
        let mut all = self.clients.iter();
        all.all(|client| client.bytes.load(Ordering::Relaxed) > 0)
    }

    /// The longest latency since the last sample: of operations that ended, and of those in flight.
    pub(super) fn take_longest(&self, now: Nanos) -> Nanos {
        let mut longest = Nanos::default();
        for client in &self.clients {
            let ended = Nanos::new(client.longest_ns.swap(0, Ordering::Relaxed));
            let started = Nanos::new(client.last_start_ns.load(Ordering::Relaxed));
            let in_flight = match started.as_u64() {
                0 => Nanos::default(),
                _ => now.since(started),
            };
            longest = longest.max(ended).max(in_flight);
        }
        longest
    }
}

impl ClientCell {
    /// An operation starts; the time since the one before counts as its latency.
    #[inline]
    pub(super) fn start(&self, now: Nanos) {
        let before = self.last_start_ns.load(Ordering::Relaxed);
        if before != 0 {
            let took = now.as_u64().saturating_sub(before);
            if took > self.longest_ns.load(Ordering::Relaxed) {
                self.longest_ns.store(took, Ordering::Relaxed);
            }
        }
        self.last_start_ns.store(now.as_u64(), Ordering::Relaxed);
    }

    /// Data was moved.
    #[inline]
    pub(super) fn add_bytes(&self, bytes: u64) {
        // Only this client writes it.
        let count = self.bytes.load(Ordering::Relaxed);
        self.bytes.store(count + bytes, Ordering::Relaxed);
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
