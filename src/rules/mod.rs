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

mod action_ids;
mod belief;
mod bit_set;
mod card;
mod card_set;
mod deck;
mod edition;
mod ending;
mod episode_seed;
mod error_text;
mod event;
mod hand;
mod hidden_cards;
mod hint;
mod hint_bits;
mod kind_set;
mod knowledge;
mod legality;
mod limits;
mod moves;
mod names;
mod notation;
mod outlook;
mod parameters;
mod position;
mod presets;
mod rating;
mod recorded_game;
mod recording;
mod rng;
mod seen_game;
mod select;
mod slot_set;
mod small_index;
mod state;
mod state_text;
mod tables;
mod unsupported_variant;
mod validate;
mod variant;
mod view;

#[cfg(test)]
mod random_variant;

pub(crate) use error_text::error_text;
pub(crate) use hand::Hand;
#[cfg(test)]
pub(crate) use random_variant::random_variant;
pub(crate) use select::{BitIndices, bit_counts, nth_set_bit_portable};

pub use belief::Belief;
pub use bit_set::SetIter;
pub(crate) use bit_set::bit_set;
pub use card::{Card, Rank, Suit};
pub use card_set::CardSet;
pub use deck::DeckError;
pub(crate) use deck::{Deck, ListedDeck, RandomDeck};
pub use edition::Edition;
pub use ending::Ending;
pub use episode_seed::EpisodeSeed;
pub use event::Event;
pub use hint::Hint;
pub(crate) use hint_bits::HintBits;
pub(crate) use kind_set::KindSet;
pub use knowledge::Knowledge;
pub(crate) use limits::MAX_CARD_KINDS;
pub use limits::{MAX_CARDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, MAX_RANKS};
pub use moves::{ActionId, ActionSet, Move, MoveError};
pub use names::UnknownNameError;
pub(crate) use names::named;
pub use notation::NotationError;
#[cfg(feature = "bots")]
pub(crate) use outlook::KindOutlook;
pub use outlook::Outlook;
pub(crate) use parameters::WideParameters;
pub use parameters::{LostGameScore, Parameters, VariantError};
pub(crate) use position::{Position, StoredPosition};
pub(crate) use presets::hle_preset;
pub use presets::{PRESETS, Preset, preset};
pub use rating::Rating;
pub use recorded_game::{GameCheck, RecordedGame};
pub use recording::{Recording, RecordingArrays, RecordingError};
pub use rng::GameRng;
pub(crate) use rng::{INCREMENT, MULTIPLIER, mix_seed, ticket_index};
#[cfg(test)]
pub(crate) use seen_game::tests::first_seen;
pub use seen_game::{Revealed, SeenGame, SeenGameError};
pub use slot_set::SlotSet;
pub use small_index::{IndexError, Offset, Seat, Slot};
pub use state::{State, StateError};
pub use unsupported_variant::UnsupportedVariantError;
pub(crate) use validate::PositionError;
pub use variant::Variant;
pub use view::{SeerView, View};
