//! The game: parameters, cards, moves, one game in progress, and what one seat may see of it.
//!
//! Start with [`Variant`] (the immutable parameters), deal a [`State`] from it, and hand out
//! [`View`]s. [`Position`] is the compact core of a state, which a batch holds by the thousand.

mod belief;
mod board;
mod card;
mod card_set;
mod deck;
mod edition;
mod ending;
mod event;
mod hint;
mod knowledge;
mod limits;
mod moves;
mod notation;
mod outlook;
mod position;
mod presets;
mod rating;
mod rng;
mod select;
mod set_operators;
mod slot_set;
mod state;
mod tables;
mod validate;
mod variant;
mod view;

pub(crate) use position::Hand;
pub(crate) use select::{bit_counts, nth_set_bit_portable};
pub(crate) use set_operators::set_operators;

pub use belief::Belief;
pub use card::{Card, Rank, Suit};
pub use card_set::CardSet;
pub use deck::{Deck, DeckError, EpisodeSeed, ListedDeck, RandomDeck};
pub use edition::Edition;
pub use ending::Ending;
pub use event::Event;
pub use hint::Hint;
pub use knowledge::Knowledge;
pub use limits::{MAX_CARDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, MAX_RANKS};
pub use moves::{ActionSet, Move, MoveError};
pub use notation::NotationError;
pub use outlook::Outlook;
pub use position::Position;
pub use presets::{PRESETS, Preset, UnknownVariant, preset};
pub use rating::Rating;
pub use rng::GameRng;
pub(crate) use rng::{INCREMENT, mix_seed};
pub use slot_set::SlotSet;
pub use state::{State, StateError};
pub use validate::PositionError;
pub use variant::{LostGameScore, Parameters, Variant, VariantError};
pub use view::{Sight, View};
