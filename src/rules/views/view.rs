//! What one seat sees of a game, and the view of HLE's seer, who also sees its own hand.

use std::fmt::{self, Debug, Formatter};

use crate::rules::cards::card::{Card, Suit};
use crate::rules::cards::card_set::CardSet;
use crate::rules::cards::knowledge::Knowledge;
use crate::rules::cards::outlook::Outlook;
use crate::rules::game::hand::Hand;
use crate::rules::game::position::Position;
use crate::rules::limits::MAX_CARD_KINDS;
use crate::rules::small_index::{Offset, Seat, Slot};
use crate::rules::turns::ending::Ending;
use crate::rules::turns::event::Event;
use crate::rules::turns::moves::{ActionSet, Move};
use crate::rules::variants::variant::{Variant, beyond_the_table};
use crate::rules::views::table_facts::table_facts;

/// What one seat may see of a position. Encoders and bots get only views, so they cannot read
/// their own hand or the deck. Offsets are relative to the observer, clockwise; offset 0 is the
/// observer. A [`State`](crate::rules::State) gives views, and so does a [`SeenGame`](crate::rules::SeenGame), which
/// knows no deck.
///
/// ```
/// use starmine::rules::{EpisodeSeed, Offset, Seat, State, Variant};
///
/// let variant = Variant::default();
/// let state = State::new(variant, EpisodeSeed::new(7));
/// let view = state.view(Seat::FIRST);
/// assert_eq!(view.hand_size(Offset::OWN), 5);
/// assert_eq!(view.hand(Offset::NEXT).len(), 5);
/// assert_eq!(view.hand(Offset::OWN).len(), 0, "the observer does not see its own cards");
/// # Ok::<(), starmine::rules::VariantError>(())
/// ```
///
/// A view has no way to its own hand, and none to a [`SeerView`]:
///
/// ```compile_fail,E0624
/// # use starmine::rules::{EpisodeSeed, Seat, State, Variant};
/// # let variant = Variant::default();
/// # let state = State::new(variant, EpisodeSeed::default());
/// let hand = state.view(Seat::FIRST).position_with_hand(&[0; 5]);
/// ```
///
/// ```compile_fail,E0308
/// # use starmine::encode::Encoder;
/// # use starmine::rules::{EpisodeSeed, Seat, State, Variant};
/// # let variant = Variant::default();
/// # let state = State::new(variant, EpisodeSeed::default());
/// # let mut words = [0; 11];
/// Encoder::CanonicalSeer.encode_into(&state.view(Seat::FIRST), &mut words);
/// ```
///
/// ```
/// # use starmine::encode::Encoder;
/// # use starmine::rules::{EpisodeSeed, Seat, State, Variant};
/// # let variant = Variant::default();
/// # let state = State::new(variant, EpisodeSeed::default());
/// # let mut words = [0; 11];
/// Encoder::CanonicalSeer.encode_into(&state.seer_view(Seat::FIRST), &mut words);
/// ```
#[derive(Clone, Copy)]
pub struct View<'a> {
    variant: &'a Variant,
    position: &'a Position,
    history: Option<&'a [Event]>,
    observer: Seat,
}

impl<'a> View<'a> {
    /// The view of this seat.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[inline]
    pub(crate) fn new(variant: &'a Variant, position: &'a Position, observer: Seat) -> View<'a> {
        assert!(observer.index() < variant.players().into(), "no seat {observer}");
        View { variant, position, history: None, observer }
    }

    /// The same view with the turns that led to it.
    #[must_use]
    #[inline]
    pub(crate) fn with_history(self, history: &'a [Event]) -> View<'a> {
        View { history: Some(history), ..self }
    }

    /// The view of another seat of the variant. Only those who show games to bots may ask for it.
    #[must_use]
    #[cfg(feature = "bots")]
    #[inline]
    pub(crate) fn of_seat(self, observer: Seat) -> View<'a> {
        debug_assert!(observer.index() < self.variant.players().into(), "no seat {observer}");
        View { observer, ..self }
    }

    /// The variant of the game.
    #[must_use]
    pub const fn variant(&self) -> &'a Variant {
        self.variant
    }

    /// The seat that this view belongs to.
    #[must_use]
    pub const fn observer(&self) -> Seat {
        self.observer
    }

    /// The seat at this offset from the observer.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    #[must_use]
    #[inline]
    pub fn seat(&self, offset: Offset) -> Seat {
        if offset.index() >= self.variant.players().into() {
            beyond_the_table();
        }
        self.variant.seat_after_unchecked(self.observer, offset)
    }

    /// The offset of this seat from the observer.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn offset(&self, seat: Seat) -> Offset {
        self.variant.offset_between(self.observer, seat)
    }

    /// Cards in the hand at this offset.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    #[must_use]
    #[inline]
    pub fn hand_size(&self, offset: Offset) -> usize {
        self.hand_at(offset).size.into()
    }

    /// The cards of a teammate, the oldest first. Nothing for the observer's own hand.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    pub fn hand(&self, offset: Offset) -> impl ExactSizeIterator<Item = Card> + use<'a> {
        let variant = self.variant;
        let hand = if offset == Offset::OWN { &[] } else { self.hand_at(offset).cards() };
        hand.iter().map(move |&index| variant.card_unchecked(index))
    }

    #[inline]
    fn hand_at(&self, offset: Offset) -> &'a Hand {
        &self.position.hands[self.seat(offset).index()]
    }

    /// The cards of a teammate as card indices. Nothing for the observer's own hand. The offset is
    /// below the number of players.
    #[must_use]
    #[inline]
    pub(crate) fn hand_indices(&self, offset: Offset) -> &'a [u8] {
        if offset == Offset::OWN {
            return &[];
        }
        self.position.hands[self.variant.seat_after_unchecked(self.observer, offset).index()]
            .cards()
    }

    /// The cards of a teammate as card indices, the oldest first, and what the hints say about each.
    /// The offset is below the number of players.
    #[inline]
    pub(crate) fn teammate_cards(
        &self,
        offset: Offset,
    ) -> impl Iterator<Item = (u8, Knowledge)> + use<'a> {
        debug_assert!(offset != Offset::OWN);
        let hand =
            &self.position.hands[self.variant.seat_after_unchecked(self.observer, offset).index()];
        hand.cards().iter().copied().zip(hand.knowledge)
    }

    /// What the hints say about each card of a hand, the oldest first.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    #[must_use]
    #[inline]
    pub fn hand_knowledge(&self, offset: Offset) -> &'a [Knowledge] {
        let hand = self.hand_at(offset);
        &hand.knowledge[..usize::from(hand.size)]
    }

    /// What the hints say about the card in this slot; `None` if the hand has none there.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    #[must_use]
    #[inline]
    pub fn knowledge(&self, offset: Offset, slot: Slot) -> Option<Knowledge> {
        self.hand_knowledge(offset).get(slot.index()).copied()
    }

    /// Whether an information token is left for a hint.
    #[must_use]
    pub const fn may_hint(&self) -> bool {
        self.position.may_hint()
    }

    /// Whether an information token is missing, so that a discard is legal.
    #[must_use]
    pub const fn may_discard(&self) -> bool {
        self.position.may_discard(self.variant)
    }

    /// Whether a misplay would leave a life token, so that the game goes on.
    #[must_use]
    pub const fn may_misplay(&self) -> bool {
        self.position.life_tokens > 1
    }

    /// Discarded copies of a card.
    ///
    /// # Panics
    /// If the variant does not have the card.
    #[must_use]
    pub fn discarded(&self, card: Card) -> u8 {
        assert!(self.variant.has_card(card), "the variant does not have {card}");
        self.position.discarded(self.variant, card)
    }

    /// All discarded copies as a set of `deck_size` bits: for each card in index order, as many
    /// bits as it has copies, filled from the lowest.
    #[must_use]
    pub(crate) const fn discards(&self) -> u64 {
        self.position.discards
    }

    /// The number of copies of each card, by card index, that the observer does not see: those in
    /// its own hand and in the deck.
    #[must_use]
    pub(crate) fn unseen(&self) -> [u8; MAX_CARD_KINDS] {
        let tables = self.variant.tables();
        let has = |kinds: u64, kind: usize| (kinds >> kind & 1) as u8;
        let mut unseen = std::array::from_fn(|kind| {
            has(tables.copies_ones, kind) + 2 * has(tables.copies_twos, kind)
        });
        // In a game each copy is seen once. Subtraction saturates for positions that no game
        // reaches.
        let mut see = |card: usize| unseen[card] = u8::saturating_sub(unseen[card], 1);
        for offset in self.variant.teammates() {
            self.hand_indices(offset).iter().for_each(|&card| see(card.into()));
        }
        for (suit, &height) in self.fireworks().iter().enumerate() {
            let lowest = suit * usize::from(self.variant.ranks());
            (lowest..lowest + usize::from(height)).for_each(&mut see);
        }
        CardSet(self.discards()).iter().for_each(|copy| see(tables.copy_card[copy].into()));
        unseen
    }

    /// The position if the observer held these cards, as card indices: what a teammate would see
    /// then.
    ///
    /// # Panics
    /// If the observer holds more or fewer cards.
    #[must_use]
    pub(crate) fn position_with_hand(&self, hand: &[u8]) -> Position {
        let mut position = *self.position;
        let own = &mut position.hands[self.observer.index()];
        own.cards[..usize::from(own.size)].copy_from_slice(hand);
        if let Some(event) = &mut position.last_event
            && event.seat == self.observer
            && event.drawn.is_some()
        {
            // The last card drawn is the newest one.
            event.drawn = hand.last().map(|&card| self.variant.card_unchecked(card));
        }
        position
    }

    /// The last turn that was played.
    #[must_use]
    #[inline]
    pub fn last_event(&self) -> Option<Event> {
        self.position.last_event.map(|event| event.seen_by(self.observer))
    }

    /// The turns that led to the position, the oldest first. The observer's own draws are hidden.
    ///
    /// `None` where turns are not kept: in the views of a batch and of a [`SeerView`], and in the supposed
    /// games of a search. A bot that needs past turns there keeps what it is told by
    /// `Bot::observe`.
    #[must_use]
    pub fn history(&self) -> Option<impl ExactSizeIterator<Item = Event> + use<'a>> {
        let observer = self.observer;
        Some(self.history?.iter().map(move |event| event.seen_by(observer)))
    }

    /// Whether another view shows the same turns and teammates' hands.
    pub(in crate::rules) fn shows_the_same(&self, other: &View<'_>) -> bool {
        let turns = |view: &View<'a>| view.history().into_iter().flatten();
        self.variant == other.variant
            && turns(self).eq(other.history().into_iter().flatten())
            && self.variant.teammates().all(|at| self.hand_indices(at) == other.hand_indices(at))
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

    /// The moves that are legal for the observer now; none when another seat is to act.
    pub fn legal_moves(&self) -> impl ExactSizeIterator<Item = Move> + use<'a> {
        let moves = &self.variant.tables().moves;
        self.legal_actions().iter().map(|action| moves[action.index()])
    }

    /// Whether this move is legal for the observer now.
    #[must_use]
    #[inline]
    pub fn is_legal(&self, candidate: Move) -> bool {
        self.current_player() == self.observer && self.position.is_legal(self.variant, candidate)
    }

    /// The turns left of the last round, the next one included; `None` until the deck is empty, and where there is no last
    /// round.
    #[must_use]
    pub fn turns_left(&self) -> Option<u8> {
        self.position.turns_left(self.variant)
    }

    /// The most points that the game can still reach, as far as discards and turns tell.
    #[must_use]
    pub fn reachable_score(&self) -> u8 {
        self.position.reachable_score(self.variant)
    }
}

table_facts!(View<'a>, 'a, 'a);

/// Shows what the seat sees, as [`View`]'s `Display` does.
impl Debug for View<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "View of seat {}: {self}", self.observer)
    }
}

/// A position with nothing hidden from the observer but the deck: HLE's `seer`. Encoders that show
/// the observer's own hand get it; bots, searches and policies never do.
#[derive(Clone, Copy, Debug)]
pub struct SeerView<'a>(View<'a>);

/// Two views are equal if they show the same position to the same seat, whatever turns led to it.
impl PartialEq for SeerView<'_> {
    fn eq(&self, other: &SeerView<'_>) -> bool {
        let (View { variant, position, observer, .. }, other) = (self.0, other.0);
        variant == other.variant && position == other.position && observer == other.observer
    }
}

impl<'a> SeerView<'a> {
    /// The seer's view of this seat.
    ///
    /// # Panics
    /// If the variant has no such seat.
    pub(crate) fn new(
        variant: &'a Variant,
        position: &'a Position,
        observer: Seat,
    ) -> SeerView<'a> {
        SeerView(View::new(variant, position, observer))
    }

    /// What the observer sees without this privilege.
    #[must_use]
    pub const fn seat_view(&self) -> &View<'a> {
        &self.0
    }

    /// The cards of a hand, the oldest first, also those of the observer's own hand.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    pub fn hand(&self, offset: Offset) -> impl ExactSizeIterator<Item = Card> + use<'a> {
        let View { variant, position, .. } = self.0;
        position.hand(variant, self.0.seat(offset))
    }

    /// The knowledge of the card in this slot as if its colour and its rank had been hinted; `None`
    /// if the hand has no card there.
    ///
    /// # Panics
    /// If the offset is not below the number of players.
    #[must_use]
    pub fn knowledge(&self, offset: Offset, slot: Slot) -> Option<Knowledge> {
        let View { variant, position, .. } = self.0;
        let hand = &position.hands[self.0.seat(offset).index()];
        let card = *hand.cards().get(slot.index())?;
        Some(Knowledge::full(variant, variant.card_unchecked(card)))
    }
}
