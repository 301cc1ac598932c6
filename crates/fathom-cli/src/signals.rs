//! Signals: the first one asks to stop, the second one ends at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_runner::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// Connects signals with a run for the rest of the process: Ctrl-C (SIGINT), SIGTERM and SIGHUP
/// stop it after cleaning up, a second one of the same kind ends the process at once with
/// 128 + its number; Ctrl-\ (SIGQUIT) skips the case under way.
///
/// # Errors
/// When the system refuses a handler.
pub fn connect(control: &Control) -> Result<(), Failure> {
    let refused = |error| Failure::unmet(format!("handle signals: {error}"));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let seen = Arc::new(AtomicBool::new(false));
        // In this order: the first signal arms what the second one fires.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))
            .map_err(refused)?;
        flag::register(signal, seen).map_err(refused)?;
        flag::register(signal, control.cancel.flag()).map_err(refused)?;
    }
    flag::register(SIGQUIT, control.skip_flag()).map_err(refused)?;
    Ok(())
}
