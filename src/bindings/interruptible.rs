//! Calls that take long and check for signals such as Ctrl-C.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use pyo3::prelude::*;

use crate::bindings::errors::StarmineError;
use crate::bots::SeatedPlayer;
use crate::rules::State;
use crate::threads::{Stop, stoppable};

/// How often a call checks for signals.
const PERIOD: Duration = Duration::from_millis(100);

/// Makes a call on another thread and without the interpreter, while this thread waits and checks for
/// signals, which Python handles on its main thread alone. A call that a signal interrupts ends early.
///
/// # Errors
/// `StarmineError` if the thread cannot be started, and what a signal's handler raised, such as
/// `KeyboardInterrupt`; the result of the call is dropped then.
pub fn interruptible<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (stop, mut signal) = (Stop::default(), Ok(()));
    let finished = py.detach(|| {
        let (sender, receiver) = sync_channel(1);
        scope(|scope| {
            let (own, worker) = (stop.clone(), Builder::new().name("starmine-call".to_owned()));
            let call = move || sender.send(stoppable(Some(own), call));
            let worker = worker.spawn_scoped(scope, call)?;
            while signal.is_ok() {
                match receiver.recv_timeout(PERIOD) {
                    Err(RecvTimeoutError::Timeout) => {
                        signal = Python::attach(|py| py.check_signals());
                    }
                    Ok(result) => return Ok(Some(result)),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            stop.set();
            match worker.join() {
                Ok(_) => Ok(None),
                Err(panic) => resume_unwind(panic),
            }
        })
    });
    let finished = finished.map_err(|error: std::io::Error| {
        StarmineError::new_err(format!("the thread of the call could not be started: {error}"))
    })?;
    signal.map(|()| finished.expect("a call that was not interrupted has a result"))
}

/// Makes a call that takes long only if `is_long`; another one is made on this thread. Neither keeps the interpreter.
///
/// # Errors
/// As [`interruptible`].
pub fn detached<T: Send>(
    is_long: bool,
    py: Python<'_>,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if is_long { interruptible(py, call) } else { Ok(py.detach(call)) }
}

/// Asks a player for the move in a game without the interpreter, and looks for signals if that may take long.
///
/// # Errors
/// As [`SeatedPlayer::act`], and as [`interruptible`]; the player may then be asked again.
pub fn ask(py: Python<'_>, player: &mut SeatedPlayer, state: &State) -> PyResult<usize> {
    let is_long = player.searches();
    let played = detached(is_long, py, || player.act(state))??;
    Ok(state.variant().move_to_action(played).expect("a legal move has an action").index())
}
