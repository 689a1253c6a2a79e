use serde::{Deserialize, Serialize};

use super::card::{Card, Suit};
use super::deck::Deck;
use super::ending::Ending;
use super::event::Event;
use super::hint::Hint;
use super::knowledge::Knowledge;
use super::limits::{MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS};
use super::moves::{ActionSet, Move};
use super::outlook::Outlook;
use super::slot_set::SlotSet;
use super::variant::{LostGameScore, Variant};

/// The cards of one seat, the oldest first, each with what hints have said about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hand {
    pub knowledge: [Knowledge; MAX_HAND_SIZE],
    pub cards: [u8; MAX_HAND_SIZE],
    pub size: u8,
}

impl Hand {
    fn push(&mut self, card: u8, knowledge: Knowledge) {
        let slot = usize::from(self.size);
        self.cards[slot] = card;
        self.knowledge[slot] = knowledge;
        self.size += 1;
    }

    fn remove(&mut self, slot: usize) -> u8 {
        let card = self.cards[slot];
        // Each slot from the removed one on takes its successor. A plain loop over all slots beats
        // `copy_within`, which calls into the C library for a few bytes.
        for index in 0..MAX_HAND_SIZE - 1 {
            let from = index + usize::from(index >= slot);
            self.cards[index] = self.cards[from];
            self.knowledge[index] = self.knowledge[from];
        }
        self.size -= 1;
        self.cards[usize::from(self.size)] = 0;
        self.knowledge[usize::from(self.size)] = Knowledge::default();
        card
    }

    pub(crate) fn cards(&self) -> &[u8] {
        &self.cards[..usize::from(self.size)]
    }
}

/// The compact core of one game in progress: all that the rules need, of fixed size, without the
/// deck's order and the history, which [`super::State`] adds.
///
/// A position does not know its variant: every method takes the variant that it was dealt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub(crate) hands: [Hand; MAX_PLAYERS],
    /// Discarded copies as a set in which each card's bits fill from the lowest.
    pub(crate) discards: u64,
    pub(crate) fireworks: [u8; MAX_COLORS],
    pub(crate) information_tokens: u8,
    pub(crate) life_tokens: u8,
    pub(crate) deck_size: u8,
    pub(crate) current_player: u8,
    /// Turns that are left once the deck is empty.
    pub(crate) last_turns: u8,
    pub(crate) ending: Option<Ending>,
    pub(crate) last_event: Option<Event>,
}

impl Position {
    /// The position after the deal: seat 0's whole hand first, then seat 1's, and so on.
    pub fn deal(variant: &Variant, start_player: u8, deck: &mut impl Deck) -> Position {
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
        for seat in 0..usize::from(variant.players()) {
            for _ in 0..variant.hand_size() {
                position.draw(variant, seat, deck);
            }
        }
        position
    }

    fn draw(&mut self, variant: &Variant, seat: usize, deck: &mut impl Deck) -> Option<Card> {
        let card = deck.draw(variant)?;
        self.deck_size -= 1;
        self.hands[seat].push(card, Knowledge::unhinted(variant));
        Some(variant.tables().card[usize::from(card)])
    }

    /// The seat to act. After the end: the seat that would have been next.
    #[must_use]
    pub const fn current_player(&self) -> usize {
        self.current_player as usize
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The last turn that was played, or `None` before the first.
    #[must_use]
    pub const fn last_event(&self) -> Option<&Event> {
        self.last_event.as_ref()
    }

    /// Information tokens left.
    #[must_use]
    pub const fn information_tokens(&self) -> u8 {
        self.information_tokens
    }

    /// Life tokens left.
    #[must_use]
    pub const fn life_tokens(&self) -> u8 {
        self.life_tokens
    }

    /// Cards left in the deck.
    #[must_use]
    pub const fn deck_size(&self) -> u8 {
        self.deck_size
    }

    /// Height of each firework, by suit.
    #[must_use]
    pub fn fireworks(&self, variant: &Variant) -> &[u8] {
        &self.fireworks[..usize::from(variant.colors())]
    }

    /// Discarded copies of a card.
    #[must_use]
    pub fn discarded(&self, variant: &Variant, card: Card) -> u8 {
        let field = variant.tables().copy_field[variant.card_index(card)];
        (self.discards & field).count_ones() as u8
    }

    /// The cards in a seat's hand, the oldest first.
    pub fn hand<'a>(
        &'a self,
        variant: &'a Variant,
        seat: usize,
    ) -> impl ExactSizeIterator<Item = Card> + 'a {
        let cards = self.hands[seat].cards().iter();
        cards.map(|&card| variant.tables().card[usize::from(card)])
    }

    /// The sum of the fireworks' heights, however the game stands.
    #[must_use]
    pub fn fireworks_sum(&self) -> u8 {
        self.fireworks.iter().sum()
    }

    /// The score: the fireworks' sum, and of a lost game what the variant says.
    #[must_use]
    pub fn score(&self, variant: &Variant) -> u8 {
        let forfeits = variant.lost_game_score() == LostGameScore::Zero;
        if forfeits && self.ending.is_some_and(Ending::is_defeat) {
            0
        } else {
            self.fireworks_sum()
        }
    }

    /// The actions that are legal now; none once the game is over.
    #[must_use]
    pub fn legal_actions(&self, variant: &Variant) -> ActionSet {
        if self.ending.is_some() { ActionSet::default() } else { self.legal_moves(variant) }
    }

    /// Whether the player to act may make this move: what [`Position::legal_actions`] says of its
    /// action, without asking about all others.
    #[must_use]
    pub fn is_legal(&self, variant: &Variant, played: Move) -> bool {
        let size = self.hands[self.current_player()].size;
        let information = self.information_tokens;
        self.ending.is_none()
            && match played {
                Move::Discard { slot } => {
                    slot < size && information < variant.max_information_tokens()
                }
                Move::Play { slot } => slot < size,
                Move::AnnouncedPlay { slot, suit } => {
                    slot < size && variant.timed_display() && suit.index() < variant.colors().into()
                }
                Move::Hint { offset, hint } => {
                    information > 0
                        && (1..variant.players()).contains(&offset)
                        && self.is_legal_hint(variant, offset, hint)
                }
            }
    }

    fn is_legal_hint(&self, variant: &Variant, offset: u8, hint: Hint) -> bool {
        let target = variant.seat_after(self.current_player(), offset.into());
        let hand = self.hands[target].cards();
        let exists = match hint {
            Hint::Color(suit) => suit.index() < variant.colors().into(),
            Hint::Rank(rank) => rank.index() < variant.ranks().into(),
        };
        let matches = |&card: &u8| hint.matches(variant.tables().card[usize::from(card)]);
        let may_be_empty = variant.empty_hints() && !hand.is_empty();
        exists && (may_be_empty || hand.iter().any(matches))
    }

    /// What can still become of each kind of card.
    #[must_use]
    pub fn outlook(&self, variant: &Variant) -> Outlook {
        Outlook::new(variant, self.fireworks(variant), self.discards)
    }

    /// The legal actions of a game that goes on.
    fn legal_moves(&self, variant: &Variant) -> ActionSet {
        let hand = &self.hands[self.current_player()];
        let slots = (1u128 << hand.size) - 1;
        let mut legal = slots << variant.hand_size();
        if variant.timed_display() {
            let all = (1u128 << (hand.size * variant.colors())) - 1;
            legal |= all << variant.announced_play_base();
        }
        if self.information_tokens < variant.max_information_tokens() {
            legal |= slots;
        }
        if self.information_tokens > 0 {
            legal |= self.legal_hints(variant);
        }
        ActionSet(legal)
    }

    fn legal_hints(&self, variant: &Variant) -> u128 {
        let (mut colors, mut ranks) = (0u64, 0u64);
        let players = usize::from(variant.players());
        let mut seat = self.current_player();
        for other in 0..players - 1 {
            seat = variant.seat_after(seat, 1);
            let color_shift = other * usize::from(variant.colors());
            let rank_shift = other * usize::from(variant.ranks());
            let hand = self.hands[seat].cards();
            if variant.empty_hints() && !hand.is_empty() {
                colors |= ((1 << variant.colors()) - 1) << color_shift;
                ranks |= ((1 << variant.ranks()) - 1) << rank_shift;
            }
            for &index in hand {
                let card = variant.tables().card[usize::from(index)];
                colors |= 1 << (color_shift + card.suit.index());
                ranks |= 1 << (rank_shift + card.rank.index());
            }
        }
        u128::from(colors) << variant.color_hint_base()
            | u128::from(ranks) << variant.rank_hint_base()
    }

    /// Plays one turn. The caller owes a legal move; another one leaves a position without
    /// meaning, or panics, but is never undefined behaviour.
    pub fn apply_unchecked(
        &mut self,
        variant: &Variant,
        played: Move,
        deck: &mut impl Deck,
    ) -> Event {
        let seat = self.current_player();
        let deck_was_empty = self.deck_size == 0;
        let mut event = Event {
            seat: seat as u8,
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
                let target = variant.seat_after(seat, offset.into());
                event.touched = self.hint(variant, target, hint);
            }
        }
        if event.card.is_some() {
            event.drawn = self.draw(variant, seat, deck);
        }
        self.last_turns -= u8::from(deck_was_empty && !variant.crowning_piece());
        self.current_player = variant.seat_after(seat, 1) as u8;
        self.ending = self.find_ending(variant);
        self.last_event = Some(event);
        event
    }

    pub(super) fn find_ending(&self, variant: &Variant) -> Option<Ending> {
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
        let is_stuck =
            self.hands[self.current_player()].size == 0 && self.legal_moves(variant).is_empty();
        is_stuck.then_some(Ending::NoLegalAction)
    }

    /// Whether all copies of a card that its firework still needs are discarded.
    fn has_lost_indispensable_card(&self, variant: &Variant) -> bool {
        let tables = variant.tables();
        (0..variant.num_card_kinds()).any(|index| {
            let card = tables.card[index];
            let needed = usize::from(self.fireworks[card.suit.index()]) <= card.rank.index();
            needed && tables.copy_field[index] & !self.discards == 0
        })
    }

    fn discard(&mut self, variant: &Variant, slot: u8, event: &mut Event) {
        let index = self.hands[self.current_player()].remove(slot.into());
        self.add_discard(variant, index);
        event.card = Some(variant.tables().card[usize::from(index)]);
        event.regained = self.regain(variant);
    }

    fn play(&mut self, variant: &Variant, slot: u8, announced: Option<Suit>, event: &mut Event) {
        let index = self.hands[self.current_player()].remove(slot.into());
        let card = variant.tables().card[usize::from(index)];
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
        let regained = u8::from(self.information_tokens < variant.max_information_tokens());
        self.information_tokens += regained;
        regained
    }

    fn hint(&mut self, variant: &Variant, target: usize, hint: Hint) -> SlotSet {
        self.information_tokens -= 1;
        let hand = &mut self.hands[target];
        let mut touched = 0;
        for slot in 0..usize::from(hand.size) {
            let card = variant.tables().card[usize::from(hand.cards[slot])];
            let matches = hint.matches(card);
            touched |= u8::from(matches) << slot;
            hand.knowledge[slot] = hand.knowledge[slot].told(variant, hint, matches);
        }
        SlotSet(touched)
    }

    /// Ends the game as lost, whatever its state: every life token is gone.
    pub fn forfeit(&mut self) {
        self.life_tokens = 0;
        self.ending = Some(Ending::Lost);
    }
}
