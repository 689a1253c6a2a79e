//! A game without its past turns, whose cards are drawn at random.

use crate::rules::cards::deck::RandomDeck;
use crate::rules::game::episode_seed::EpisodeSeed;
use crate::rules::game::position::Position;
use crate::rules::game::rng::GameRng;
use crate::rules::turns::event::Event;
use crate::rules::turns::moves::Move;
use crate::rules::variants::variant::Variant;

/// A position and the deck with which the game goes on. It has no history, so that it is copied fast.
#[derive(Clone, Debug)]
pub(crate) struct RandomGame {
    pub position: Position,
    pub deck: RandomDeck,
}

impl RandomGame {
    /// Deals the game of this seed.
    pub fn deal(variant: &Variant, seed: EpisodeSeed) -> RandomGame {
        let (mut deck, start_player) = RandomDeck::new(variant, seed);
        let position = Position::deal(variant, start_player, || deck.draw(variant));
        RandomGame { position, deck }
    }

    /// The game goes on from a position. The generator draws the cards that are in no hand, not played
    /// and not discarded.
    pub fn resume(variant: &Variant, position: Position, rng: GameRng) -> RandomGame {
        let deck = position.remaining_deck(variant, rng);
        RandomGame { position, deck }
    }

    /// Plays one turn, see [`Position::apply_unchecked`].
    #[inline]
    pub fn play_unchecked(&mut self, variant: &Variant, played: Move) -> Event {
        let RandomGame { position, deck } = self;
        position.apply_unchecked(variant, played, || deck.draw(variant))
    }
}
