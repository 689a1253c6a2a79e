use super::card::Card;
use super::card_set::CardSet;
use super::event::Event;
use super::knowledge::Knowledge;
use super::limits::MAX_CARD_KINDS;
use super::moves::{ActionSet, Move};
use super::outlook::Outlook;
use super::position::Position;
use super::variant::Variant;

/// How much a [`View`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// What a player sees: every hand but the own, and all hints.
    Seat,
    /// HLE's `seer`: as if every card had been hinted by colour and rank when it was dealt, the
    /// own ones too.
    Seer,
}

/// What one seat may see of a position. Encoders and bots get nothing else, so that they cannot
/// look at their own hand or at the deck. Offsets are relative to the observer, clockwise; offset
/// 0 is the observer.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    variant: &'a Variant,
    position: &'a Position,
    history: &'a [Event],
    observer: usize,
    sight: Sight,
}

impl<'a> View<'a> {
    /// What this seat sees of the position.
    ///
    /// # Panics
    /// When the variant has no such seat.
    #[must_use]
    pub fn new(variant: &'a Variant, position: &'a Position, observer: usize) -> View<'a> {
        assert!(observer < variant.players().into(), "no seat {observer}");
        View { variant, position, history: &[], observer, sight: Sight::Seat }
    }

    /// The same view with another sight.
    #[must_use]
    pub fn with_sight(self, sight: Sight) -> View<'a> {
        View { sight, ..self }
    }

    /// The same view with the turns that led to it.
    #[must_use]
    pub fn with_history(self, history: &'a [Event]) -> View<'a> {
        View { history, ..self }
    }

    /// The rules that are played.
    #[must_use]
    pub const fn variant(&self) -> &'a Variant {
        self.variant
    }

    /// The seat that this view belongs to.
    #[must_use]
    pub const fn observer(&self) -> usize {
        self.observer
    }

    /// The seat to act.
    #[must_use]
    pub const fn current_player(&self) -> usize {
        self.position.current_player()
    }

    /// The seat at this offset from the observer.
    #[must_use]
    #[inline]
    pub fn seat(&self, offset: usize) -> usize {
        self.variant.seat_after(self.observer, offset)
    }

    /// The offset of this seat from the observer.
    #[must_use]
    pub fn offset(&self, seat: usize) -> usize {
        let players = usize::from(self.variant.players());
        self.variant.seat_after(seat, players - self.observer)
    }

    /// Cards in the hand at this offset.
    #[must_use]
    #[inline]
    pub fn hand_size(&self, offset: usize) -> usize {
        self.position.hands[self.seat(offset)].size.into()
    }

    /// The cards of a teammate, the oldest first. Nothing for the observer's own hand.
    pub fn hand(&self, offset: usize) -> impl ExactSizeIterator<Item = Card> + use<'a> {
        let variant = self.variant;
        self.hand_indices(offset)
            .iter()
            .map(move |&index| variant.tables().card[usize::from(index)])
    }

    /// The cards of a teammate as card indices. Nothing for the observer's own hand.
    #[must_use]
    #[inline]
    pub fn hand_indices(&self, offset: usize) -> &'a [u8] {
        if offset == 0 {
            return &[];
        }
        self.position.hands[self.seat(offset)].cards()
    }

    /// What was hinted about each card of a hand, the oldest first, whatever the sight.
    #[must_use]
    #[inline]
    pub fn hints_about(&self, offset: usize) -> &'a [Knowledge] {
        let hand = &self.position.hands[self.seat(offset)];
        &hand.knowledge[..usize::from(hand.size)]
    }

    /// What the hints say about the card in this slot; of an absent card nothing at all.
    #[must_use]
    pub fn knowledge(&self, offset: usize, slot: usize) -> Knowledge {
        let hand = &self.position.hands[self.seat(offset)];
        match self.sight {
            Sight::Seat => hand.knowledge[slot],
            Sight::Seer if slot < hand.size.into() => {
                let card = self.variant.tables().card[usize::from(hand.cards[slot])];
                Knowledge::full(self.variant, card)
            }
            Sight::Seer => Knowledge::default(),
        }
    }

    /// Height of each firework, by suit.
    #[must_use]
    pub fn fireworks(&self) -> &'a [u8] {
        self.position.fireworks(self.variant)
    }

    /// Information tokens left.
    #[must_use]
    pub const fn information_tokens(&self) -> u8 {
        self.position.information_tokens()
    }

    /// Life tokens left.
    #[must_use]
    pub const fn life_tokens(&self) -> u8 {
        self.position.life_tokens()
    }

    /// Cards left in the deck.
    #[must_use]
    pub const fn deck_size(&self) -> u8 {
        self.position.deck_size()
    }

    /// Discarded copies of a card.
    #[must_use]
    pub fn discarded(&self, card: Card) -> u8 {
        self.position.discarded(self.variant, card)
    }

    /// All discarded copies as a set of `deck_size` bits: for each card in index order, as many
    /// bits as it has copies, filled from the lowest.
    #[must_use]
    pub const fn discards(&self) -> u64 {
        self.position.discards
    }

    /// Copies of each card, by index, that the observer does not see: those in its own hand and in
    /// the deck. All others are in the other hands, on the fireworks or discarded.
    #[must_use]
    pub(super) fn unseen(&self) -> [u8; MAX_CARD_KINDS] {
        let tables = self.variant.tables();
        let has = |kinds: u64, kind: usize| (kinds >> kind & 1) as u8;
        let mut unseen = std::array::from_fn(|kind| {
            has(tables.odd_copies, kind) + 2 * has(tables.several_copies, kind)
        });
        // No copy is seen twice in a position of a game, and others are no reason to overflow.
        let mut see = |card: usize| unseen[card] = u8::saturating_sub(unseen[card], 1);
        for offset in 1..self.variant.players().into() {
            self.hand_indices(offset).iter().for_each(|&card| see(card.into()));
        }
        for (suit, &height) in self.fireworks().iter().enumerate() {
            let lowest = suit * usize::from(self.variant.ranks());
            (lowest..lowest + usize::from(height)).for_each(&mut see);
        }
        CardSet(self.discards()).iter().for_each(|copy| see(tables.copy_card[copy].into()));
        unseen
    }

    /// The last turn that was played.
    #[must_use]
    pub fn last_event(&self) -> Option<Event> {
        self.position.last_event.map(|event| event.seen_by(self.observer))
    }

    /// The turns played so far, as far as they were recorded, the oldest first. The observer's own
    /// draws are hidden.
    pub fn history(&self) -> impl ExactSizeIterator<Item = Event> + use<'a> {
        let observer = self.observer;
        self.history.iter().map(move |event| event.seen_by(observer))
    }

    /// The actions that are legal for the observer now; none when another seat is to act.
    #[must_use]
    pub fn legal_actions(&self) -> ActionSet {
        if self.current_player() == self.observer {
            self.position.legal_actions(self.variant)
        } else {
            ActionSet::default()
        }
    }

    /// Whether this move is legal for the observer now.
    #[must_use]
    pub fn is_legal(&self, played: Move) -> bool {
        self.current_player() == self.observer && self.position.is_legal(self.variant, played)
    }

    /// What can still become of each kind of card.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        self.position.outlook(self.variant)
    }

    /// Turns that are left once the deck is empty, the one to come included; as many as there are
    /// seats before that. A game with the crowning piece has no last round.
    #[must_use]
    pub const fn last_turns(&self) -> u8 {
        self.position.last_turns
    }

    /// The game's score so far.
    #[must_use]
    pub fn score(&self) -> u8 {
        self.position.score(self.variant)
    }
}
