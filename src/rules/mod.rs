//! The rules of the game: parameters, cards, moves, one game in progress, and the view of one seat.
//!
//! Start with [`Variant`] (the immutable parameters), deal a [`State`] from it, and give [`View`]s
//! to encoders and bots. A [`SeenGame`] gives the views of one seat where somebody else runs the game.
//!
//! - A *kind* of card is a suit and a rank, a [`Card`]; most kinds have several *copies*. The *index*
//!   of a card counts the kinds, see [`Variant::card_index`].
//! - A card has a *suit*, and a hint names a *colour*. No two suits have the same
//!   colour. `colors` is the number of suits, as in HLE.
//! - A [`Move`] says what is done; an [`ActionId`] is its number in one variant.
//! - A [`Seat`] is counted from 0 around the table. An [`Offset`] is counted from a seat: from the
//!   mover in a hint, and from the observer in a view. A [`Slot`] is a place in a hand, the oldest
//!   card first.
//! - A *game* of a batch is played over and over; each time it is dealt is an *episode*, see
//!   [`EpisodeSeed`].
//!
//! ```
//! use starmine::rules::{EpisodeSeed, Move, Offset, Parameters, Seat, Slot, State, Variant, preset};
//!
//! let parameters = Parameters { players: 4, ..preset("avalanche")?.parameters() };
//! let mut state = State::new(Variant::new(parameters)?, EpisodeSeed::default());
//! let event = state.play(Move::Play { slot: Slot::OLDEST })?;
//! println!("seat {} played {:?}", event.seat, event.card);
//! println!("{} moves are legal for seat {}", state.legal_actions().len(), state.current_player());
//! // What the next seat sees of its own hand: nothing but the hints, of which there are none so far.
//! let view = state.view(Seat::ALL[1]);
//! assert_eq!((view.hand(Offset::OWN).len(), view.hand_size(Offset::OWN)), (0, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cards;
mod error_text;
mod game;
mod limits;
mod names;
mod small_index;
mod turns;
mod variants;
mod views;

pub(crate) use cards::select::{BitIndices, bit_counts, nth_set_bit_portable};
pub(crate) use error_text::error_text;
pub(crate) use game::hand::Hand;
#[cfg(test)]
pub(crate) use variants::random_variant::random_variant;

pub use cards::card::{Card, Rank, Suit};
pub use cards::card_set::CardSet;
pub use cards::deck::DeckError;
pub(crate) use cards::deck::RandomDeck;
pub use cards::knowledge::Knowledge;
pub use cards::outlook::Outlook;
pub use cards::slot_set::SlotSet;
pub use game::episode_seed::EpisodeSeed;
pub(crate) use game::position::Position;
pub(crate) use game::random_game::RandomGame;
pub use game::recorded_game::RecordedGame;
pub use game::recording::{Recording, RecordingArrays};
pub use game::recording_error::RecordingError;
pub use game::rng::GameRng;
pub(crate) use game::rng::{INCREMENT, MULTIPLIER, RngPurpose, mix_seed, ticket_index};
pub use game::state::State;
pub(crate) use game::validate::PositionError;
pub(crate) use limits::MAX_CARD_KINDS;
pub use limits::{MAX_CARDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, MAX_RANKS};
pub use names::UnknownNameError;
pub(crate) use names::{find_named, named};
pub use small_index::{IndexError, Offset, Seat, Slot};
pub use turns::ending::Ending;
pub use turns::event::Event;
pub use turns::hint::Hint;
pub use turns::moves::{ActionId, ActionSet, Move, MoveError};
pub use turns::notation::NotationError;
pub use variants::edition::Edition;
pub use variants::parameters::{LostGameScore, Parameters, VariantError};
pub(crate) use variants::presets::hle_preset;
pub use variants::presets::{PRESETS, Preset, preset};
pub use variants::rating::Rating;
pub use variants::switches::{SWITCHES, Switch};
pub use variants::unsupported_variant::UnsupportedVariantError;
pub use variants::variant::Variant;
pub use views::belief::Belief;
pub(crate) use views::seen_game::SupposedCards;
#[cfg(test)]
pub(crate) use views::seen_game::tests::first_seen;
pub use views::seen_game::{Revealed, SeenGame, SeenGameError};
pub use views::view::{SeerView, View};
