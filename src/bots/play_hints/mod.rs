//! Bots whose hints point out playable cards: `SimpleBot`, `ValueBot` and `HolmesBot` of Arthur
//! O'Dwyer's <https://github.com/Quuxplusone/Hanabi>.
//!
//! - `hand_notes`: what the whole table knows about each hand
//! - `play_hint`: the convention, and the choice of the best hint
//! - `warning`: `value` and `holmes` also warn before the last copy of a card is discarded
//! - `simple`, `value`, `holmes`: the bots

mod hand_notes;
mod holmes;
mod play_hint;
mod simple;
mod value;
mod warning;

pub use holmes::Holmes;
pub use simple::Simple;
pub use value::Value;
