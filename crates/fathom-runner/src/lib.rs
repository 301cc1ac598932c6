//! Plan, run loop, repetition, resume, monitor and cancellation.
