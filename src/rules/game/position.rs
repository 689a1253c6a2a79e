//! The core of a game in progress: hands, fireworks, tokens and turns, and how a move changes them.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::{Card, Suit};
use crate::rules::cards::deck::RandomDeck;
use crate::rules::cards::knowledge::Knowledge;
use crate::rules::cards::outlook::Outlook;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::game::hand::Hand;
use crate::rules::game::rng::GameRng;
use crate::rules::limits::{MAX_COLORS, MAX_PLAYERS};
use crate::rules::small_index::{Offset, Seat, Slot};
use crate::rules::turns::ending::Ending;
use crate::rules::turns::event::Event;
use crate::rules::turns::hint::Hint;
use crate::rules::turns::moves::Move;
use crate::rules::variants::parameters::LostGameScore;
use crate::rules::variants::variant::Variant;

/// The compact core of one game in progress, of fixed size: all that the rules need.
/// [`crate::rules::State`] adds the order of the deck and the history.
///
/// A position does not know its variant: every method takes the variant that it was dealt from. One that
/// was stored must be checked with [`Position::validate`] before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) hands: [Hand; MAX_PLAYERS],
    /// Discarded copies as a set in which each card's bits fill from the lowest.
    pub(crate) discards: u64,
    pub(crate) fireworks: [u8; MAX_COLORS],
    pub(crate) information_tokens: u8,
    pub(crate) life_tokens: u8,
    pub(crate) deck_size: u8,
    /// The seat to act. After the end: the seat that would have been next.
    pub(crate) current_player: Seat,
    /// Turns left once the deck is empty.
    pub(crate) last_turns: u8,
    /// How the game ended, or `None` while it is in progress.
    pub(crate) ending: Option<Ending>,
    pub(crate) last_event: Option<Event>,
}

impl Position {
    /// The position after the deal: seat 0's whole hand first, then seat 1's, and so on. `draw` takes
    /// the index of the top card from the deck.
    pub fn deal(
        variant: &Variant,
        start_player: Seat,
        mut draw: impl FnMut() -> Option<u8>,
    ) -> Position {
        let mut position = Position {
            hands: [Hand::default(); MAX_PLAYERS],
            discards: 0,
            fireworks: [0; MAX_COLORS],
            information_tokens: variant.max_information_tokens(),
            life_tokens: variant.max_life_tokens(),
            deck_size: variant.deck_size(),
            current_player: start_player,
            last_turns: variant.players(),
            ending: None,
            last_event: None,
        };
        for seat in variant.seats() {
            for _ in 0..variant.hand_size() {
                position.draw(variant, seat, &mut draw);
            }
        }
        position
    }

    fn draw(
        &mut self,
        variant: &Variant,
        seat: Seat,
        draw: impl FnOnce() -> Option<u8>,
    ) -> Option<Card> {
        let card = draw()?;
        self.deck_size -= 1;
        self.hands[seat.index()].push(card, Knowledge::unhinted(variant));
        Some(variant.card_unchecked(card))
    }

    /// Height of each firework, by suit.
    #[must_use]
    pub fn fireworks(&self, variant: &Variant) -> &[u8] {
        &self.fireworks[..usize::from(variant.colors())]
    }

    /// Discarded copies of a card.
    #[must_use]
    pub fn discarded(&self, variant: &Variant, card: Card) -> u8 {
        let field = variant.tables().copy_field[variant.card_index_unchecked(card)];
        (self.discards & field).count_ones() as u8
    }

    /// The cards in a seat's hand, the oldest first.
    pub fn hand<'a>(
        &'a self,
        variant: &'a Variant,
        seat: Seat,
    ) -> impl ExactSizeIterator<Item = Card> + 'a {
        let cards = self.hands[seat.index()].cards().iter();
        cards.map(|&card| variant.card_unchecked(card))
    }

    /// The sum of the heights of the fireworks, whether or not the game is lost.
    #[must_use]
    pub fn fireworks_sum(&self) -> u8 {
        self.fireworks.iter().sum()
    }

    /// The score: the sum of the fireworks, or 0 for a lost game unless the variant keeps its sum.
    #[must_use]
    pub fn score(&self, variant: &Variant) -> u8 {
        let forfeits = variant.lost_game_score() == LostGameScore::Zero;
        if forfeits && self.ending.is_some_and(Ending::is_defeat) {
            0
        } else {
            self.fireworks_sum()
        }
    }

    /// Which kinds of cards are playable, dead or critical.
    #[must_use]
    pub fn outlook(&self, variant: &Variant) -> Outlook {
        Outlook::new(variant, self.fireworks(variant), self.discards)
    }

    /// The turns left of the last round, the next one included; `None` until the deck is empty, and where there is no last
    /// round.
    #[must_use]
    pub fn turns_left(&self, variant: &Variant) -> Option<u8> {
        (self.deck_size == 0 && !variant.crowning_piece()).then_some(self.last_turns)
    }

    /// The most points that the game can still reach. Of each suit it counts the cards below the first one whose copies
    /// are all discarded, and one point at most for each turn on which a card can still be played. A game that is over
    /// reaches its score.
    #[must_use]
    pub fn reachable_score(&self, variant: &Variant) -> u8 {
        if self.ending.is_some() {
            return self.score(variant);
        }
        let played = self.fireworks_sum();
        let by_cards = variant.max_score() + played - self.outlook(variant).dead.len() as u8;
        let plays = if variant.crowning_piece() {
            u8::MAX
        } else {
            self.turns_left(variant).unwrap_or(self.deck_size + variant.players())
        };
        by_cards.min(played.saturating_add(plays))
    }

    /// The copies that are in no hand, not played and not discarded, as a deck.
    #[must_use]
    pub fn remaining_deck(&self, variant: &Variant, rng: GameRng) -> RandomDeck {
        let tables = variant.tables();
        let all = variant.tables().all_copies;
        let mut left = all & !self.discards;
        // Copies of a card are alike, so that any of them may be taken.
        let mut take = |card: usize| {
            let copies = tables.copy_field[card] & left;
            left ^= copies & copies.wrapping_neg();
        };
        for (suit, &height) in self.fireworks(variant).iter().enumerate() {
            let lowest = suit * usize::from(variant.ranks());
            (lowest..lowest + usize::from(height)).for_each(&mut take);
        }
        for hand in &self.hands[..variant.players().into()] {
            hand.cards().iter().for_each(|&card| take(card.into()));
        }
        RandomDeck { left, size: left.count_ones() as u8, rng }
    }

    /// Plays one turn. `draw` takes the index of the top card from the deck, if a card is drawn. The move
    /// must be legal: an illegal one leaves a meaningless position or panics, and is never undefined
    /// behaviour.
    pub fn apply_unchecked(
        &mut self,
        variant: &Variant,
        played: Move,
        draw: impl FnOnce() -> Option<u8>,
    ) -> Event {
        let seat = self.current_player;
        let deck_was_empty = self.deck_size == 0;
        let mut event = Event {
            seat,
            played,
            touched: SlotSet::default(),
            card: None,
            added: false,
            regained: 0,
            drawn: None,
        };
        match played {
            Move::Discard { slot } => self.discard(variant, slot, &mut event),
            Move::Play { slot } => self.play(variant, slot, None, &mut event),
            Move::AnnouncedPlay { slot, suit } => self.play(variant, slot, Some(suit), &mut event),
            Move::Hint { offset, hint } => {
                let target = variant.seat_after_unchecked(seat, offset);
                event.touched = self.hint(variant, target, hint);
            }
        }
        if event.card.is_some() {
            event.drawn = self.draw(variant, seat, draw);
        }
        self.last_turns -= u8::from(deck_was_empty && !variant.crowning_piece());
        self.current_player = variant.seat_after_unchecked(seat, Offset::NEXT);
        self.ending = self.find_ending(variant);
        self.last_event = Some(event);
        event
    }

    pub(in crate::rules) fn find_ending(&self, variant: &Variant) -> Option<Ending> {
        if self.life_tokens == 0 {
            Some(Ending::Lost)
        } else if self.fireworks_sum() == variant.max_score() {
            Some(Ending::Perfect)
        } else if variant.crowning_piece() {
            self.find_crowning_ending(variant)
        } else if self.last_turns == 0 {
            Some(Ending::DeckExhausted)
        } else {
            None
        }
    }

    #[inline(never)]
    fn find_crowning_ending(&self, variant: &Variant) -> Option<Ending> {
        if self.has_lost_indispensable_card(variant) {
            return Some(Ending::IndispensableCardLost);
        }
        // Only a player without cards can be without a legal action.
        let is_stuck = self.hands[self.current_player.index()].size == 0
            && self.legal_moves(variant).is_empty();
        is_stuck.then_some(Ending::NoLegalAction)
    }

    /// Whether all copies of a card are discarded that its firework still needs.
    fn has_lost_indispensable_card(&self, variant: &Variant) -> bool {
        // A played card has a copy in its firework, so that not all are discarded.
        self.discards & variant.tables().last_copies != 0
    }

    fn discard(&mut self, variant: &Variant, slot: Slot, event: &mut Event) {
        let index = self.hands[self.current_player.index()].remove(slot.index());
        self.add_discard(variant, index);
        event.card = Some(variant.card_unchecked(index));
        event.regained = self.regain(variant);
    }

    fn play(&mut self, variant: &Variant, slot: Slot, announced: Option<Suit>, event: &mut Event) {
        let index = self.hands[self.current_player.index()].remove(slot.index());
        let card = variant.card_unchecked(index);
        let height = &mut self.fireworks[card.suit.index()];
        event.card = Some(card);
        let announced_wrongly = announced.is_some_and(|suit| suit != card.suit);
        if usize::from(*height) == card.rank.index() && !announced_wrongly {
            *height += 1;
            event.added = true;
            if *height == variant.ranks() {
                event.regained = self.regain(variant);
            }
            if announced.is_some() {
                event.regained += self.regain(variant);
            }
        } else {
            self.life_tokens -= 1;
            self.add_discard(variant, index);
        }
    }

    fn add_discard(&mut self, variant: &Variant, index: u8) {
        let field = variant.tables().copy_field[usize::from(index)];
        let lowest_free = field & !self.discards;
        self.discards |= lowest_free & lowest_free.wrapping_neg();
    }

    fn regain(&mut self, variant: &Variant) -> u8 {
        let regained = u8::from(self.may_discard(variant));
        self.information_tokens += regained;
        regained
    }

    fn hint(&mut self, variant: &Variant, target: Seat, hint: Hint) -> SlotSet {
        self.information_tokens -= 1;
        let hand = &mut self.hands[target.index()];
        let mut touched = 0;
        for slot in 0..usize::from(hand.size) {
            let card = variant.card_unchecked(hand.cards[slot]);
            let matches = hint.matches(card);
            touched |= u8::from(matches) << slot;
            hand.knowledge[slot] = hand.knowledge[slot].with_hint(variant, hint, matches);
        }
        SlotSet(touched)
    }

    /// Ends the game as lost and takes all life tokens.
    pub fn forfeit(&mut self) {
        self.life_tokens = 0;
        self.ending = Some(Ending::Lost);
    }
}
