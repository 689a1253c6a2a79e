//! Text that is accepted as a stored state is a game that the rules allow, and is stored and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use starmine::rules::State;

fuzz_target!(|data: &[u8]| {
    let Ok(state) = serde_json::from_slice::<State>(data) else { return };
    let text = serde_json::to_vec(&state).expect("a state can be stored");
    assert_eq!(serde_json::from_slice::<State>(&text).expect("a stored state is read"), state);
    assert_eq!(state.legal_actions().iter().next().is_none(), state.ending().is_some());
});
