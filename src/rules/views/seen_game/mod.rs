//! A game as one seat sees it, at a table that somebody else runs.

mod revealed;
mod suppose;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::sync::Arc;

pub use self::revealed::{Revealed, SeenGameError};
pub(crate) use self::suppose::SupposedCards;
use crate::rules::cards::card::Card;
use crate::rules::cards::knowledge::Knowledge;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::game::position::Position;
use crate::rules::game::state::State;
use crate::rules::limits::{MAX_CARDS, MAX_HAND_SIZE, MAX_PLAYERS};
use crate::rules::small_index::{Offset, Seat, Slot};
use crate::rules::turns::ending::Ending;
use crate::rules::turns::event::Event;
use crate::rules::turns::hint::Hint;
use crate::rules::turns::moves::Move;
use crate::rules::variants::variant::Variant;
use crate::rules::views::belief::Belief;
use crate::rules::views::view::View;

/// A game as one seat sees it, at a table that somebody else runs: a server that hides this seat's
/// hand, or a table of real cards.
///
/// It starts with the teammates' hands and takes each turn with what the table reveals of it, see
/// [`Revealed`]. It refuses what no game of the variant can show. Its [`SeenGame::view`] is the one
/// that a [`State`](crate::rules::State) with the whole deck would give, so that encoders and bots take it.
///
/// ```
/// use starmine::rules::{Card, Move, Parameters, Revealed, Seat, SeenGame, Slot, SlotSet, Variant};
///
/// let variant = Variant::new(Parameters { players: 2, ..Parameters::default() })?;
/// let hand = ["R1", "R2", "B3", "W4", "G5"].map(|card| card.parse::<Card>());
/// let hand = hand.into_iter().collect::<Result<Vec<_>, _>>()?;
/// // This is seat 1. It sees the hand of seat 0, which starts.
/// let mut game = SeenGame::new(variant, Seat::ALL[1], &[hand], Seat::FIRST)?;
/// let touched = SlotSet::from_iter([Slot::ALL[0], Slot::ALL[2]]);
/// game.play("hint +1 rank 1".parse()?, Revealed::Touched(touched))?;
/// let event = game.play(Move::Play { slot: Slot::OLDEST }, Revealed::OwnCard("R1".parse()?))?;
/// assert!(event.added);
/// game.play(Move::Discard { slot: Slot::OLDEST }, Revealed::Drawn("W1".parse()?))?;
/// println!("{}", game.view());
/// // The other card that the hint has touched is a 1 as well.
/// let played = Move::Play { slot: Slot::ALL[1] };
/// assert!(game.play(played, Revealed::OwnCard("Y4".parse()?)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SeenGame {
    variant: Arc<Variant>,
    observer: Seat,
    /// The positions before the first turn and after each turn. The cards in the observer's hand are
    /// placeholders, which no view reads.
    positions: Vec<Position>,
    /// The turns. Own draws are hidden.
    history: Vec<Event>,
    /// The observer's hand in each position.
    own_hands: Vec<OwnHand>,
    /// The cards of the deck that the observer has seen, the top card first.
    seen_cards: [Option<u8>; MAX_CARDS],
}

/// The places in the deck, from the top, where the cards in the observer's hand were.
#[derive(Clone, Copy, Debug, Default)]
struct OwnHand {
    places: [u8; MAX_HAND_SIZE],
    size: usize,
}

impl OwnHand {
    fn push(&mut self, place: usize) {
        self.places[self.size] = place as u8;
        self.size += 1;
    }

    fn remove(&mut self, slot: Slot) -> usize {
        let place = self.places[slot.index()];
        self.places.copy_within(slot.index() + 1..self.size, slot.index());
        self.size -= 1;
        place.into()
    }

    fn places(&self) -> impl Iterator<Item = usize> + Clone {
        self.places[..self.size].iter().map(|&place| place.into())
    }
}

/// A card that stands for one of the observer's cards before any hint.
const PLACEHOLDER: u8 = 0;

impl SeenGame {
    /// The game before its first turn. `hands` has one hand for each teammate, beginning with the
    /// next seat; each hand begins with its oldest card.
    ///
    /// # Errors
    /// [`SeenGameError`] if the variant has no such seat, or if the hands are not those of a deal.
    pub fn new(
        variant: impl Into<Arc<Variant>>,
        observer: Seat,
        hands: &[Vec<Card>],
        start_player: Seat,
    ) -> Result<SeenGame, SeenGameError> {
        let variant = variant.into();
        let players = variant.players();
        for seat in [observer, start_player] {
            if seat.index() >= players.into() {
                return Err(SeenGameError::Seat { seat, players });
            }
        }
        let expected = usize::from(players) - 1;
        if hands.len() != expected {
            return Err(SeenGameError::Hands { found: hands.len(), expected });
        }
        let mut dealt: [&[Card]; MAX_PLAYERS] = [&[]; MAX_PLAYERS];
        for (offset, hand) in variant.teammates().zip(hands) {
            let (found, expected) = (hand.len(), variant.hand_size());
            if found != usize::from(expected) {
                return Err(SeenGameError::HandSize { offset, found, expected });
            }
            dealt[variant.seat_after_unchecked(observer, offset).index()] = hand;
        }
        let mut position = Position::deal(&variant, start_player, || None);
        for seat in variant.seats() {
            for slot in 0..usize::from(variant.hand_size()) {
                let drawn = match dealt[seat.index()].get(slot) {
                    Some(&card) => unseen_kind(&variant, &position, observer, card)?,
                    None => PLACEHOLDER,
                };
                position.deck_size -= 1;
                position.hands[seat.index()].push(drawn, Knowledge::unhinted(&variant));
            }
        }
        Ok(SeenGame::start(variant.clone(), &View::new(&variant, &position, observer)))
    }

    /// The game before its first turn, of which a seat sees this.
    pub(crate) fn start(variant: Arc<Variant>, view: &View<'_>) -> SeenGame {
        let (observer, hand_size) = (view.observer(), usize::from(variant.hand_size()));
        let mut seen_cards = [None; MAX_CARDS];
        for offset in variant.teammates() {
            let first = variant.seat_after_unchecked(observer, offset).index() * hand_size;
            let hand = view.hand_indices(offset).iter().map(|&card| Some(card));
            seen_cards[first..].iter_mut().zip(hand).for_each(|(seen, card)| *seen = card);
        }
        let mut own = OwnHand::default();
        let first = observer.index() * hand_size;
        (0..view.hand_size(Offset::OWN)).for_each(|slot| own.push(first + slot));
        let (positions, history, own_hands) = (vec![without_hand(view)], Vec::new(), vec![own]);
        SeenGame { variant, observer, positions, history, own_hands, seen_cards }
    }

    /// Adds a turn, after which the observer sees this.
    pub(crate) fn add(&mut self, event: Event, after: &View<'_>) {
        let (event, is_own) = (event.seen_by(self.observer), event.seat == self.observer);
        let mut own = self.own_hand();
        if let (Some(slot), Some(card)) = (event.played.slot(), event.card) {
            if is_own {
                self.seen_cards[own.remove(slot)] =
                    Some(self.variant.card_index_unchecked(card) as u8);
            }
            let place = self.num_drawn();
            let has_drawn = after.deck_size() < self.position().deck_size;
            if has_drawn && is_own {
                own.push(place);
            } else if has_drawn {
                self.seen_cards[place] =
                    event.drawn.map(|card| self.variant.card_index_unchecked(card) as u8);
            }
        }
        self.positions.push(without_hand(after));
        self.history.push(event);
        self.own_hands.push(own);
    }

    /// The number of cards that were drawn so far, those of the deal included.
    fn num_drawn(&self) -> usize {
        usize::from(self.variant.deck_size() - self.position().deck_size)
    }

    fn own_hand(&self) -> OwnHand {
        *self.own_hands.last().expect("the start is there")
    }

    /// Plays one turn of the seat to act, with what the table reveals of it, and returns what the
    /// observer has seen happen.
    ///
    /// # Errors
    /// [`SeenGameError`] if the game is over, if the move is not legal, or if no game goes on like
    /// this. The game is unchanged then.
    pub fn play(&mut self, played: Move, revealed: Revealed) -> Result<Event, SeenGameError> {
        if let Some(ending) = self.ending() {
            return Err(SeenGameError::GameOver(ending));
        }
        let (variant, mut position) = (self.variant.clone(), *self.position());
        let drawn = self.reveal(&mut position, played, revealed)?;
        let event = position.apply_unchecked(&variant, played, || drawn);
        let view = View::new(&variant, &position, self.observer);
        if Belief::new(&view).num_hands() == 0 {
            return Err(SeenGameError::OwnHand);
        }
        self.add(event, &view);
        Ok(event.seen_by(self.observer))
    }

    /// Checks a move and what it reveals, puts cards that fit it into the observer's hand, and
    /// returns the card that is drawn after it.
    fn reveal(
        &self,
        position: &mut Position,
        played: Move,
        revealed: Revealed,
    ) -> Result<Option<u8>, SeenGameError> {
        let (variant, seat) = (&*self.variant, position.current_player);
        let wrong = |expected| Err(SeenGameError::Revealed { found: revealed, expected });
        if let Some(hint) = self.own_hint(played) {
            let Revealed::Touched(touched) = revealed else {
                return wrong("the slots that the hint touches");
            };
            self.touch(position, hint, touched)?;
        }
        if !position.is_legal(variant, played) {
            let meaning = variant.edition().meaning(played);
            return Err(SeenGameError::Move { seat, played, meaning });
        }
        let has_drawn = position.deck_size > 0;
        match (played.slot(), revealed) {
            (None, Revealed::Touched(_)) if self.own_hint(played).is_some() => Ok(None),
            (None, Revealed::Nothing) => Ok(None),
            (None, _) => wrong("nothing, since the observer sees whom the hint is for"),
            (Some(slot), Revealed::OwnCard(card)) if seat == self.observer => {
                self.show(position, slot, card)?;
                Ok(has_drawn.then_some(PLACEHOLDER))
            }
            (Some(_), _) if seat == self.observer => {
                wrong("the card that left the observer's hand")
            }
            (Some(_), Revealed::Drawn(card)) if has_drawn => {
                unseen_kind(variant, position, self.observer, card).map(Some)
            }
            (Some(_), _) if has_drawn => wrong("the card that the teammate has drawn"),
            (Some(_), Revealed::Nothing) => Ok(None),
            (Some(_), _) => wrong("nothing, since the deck is empty"),
        }
    }

    /// The hint of a move if it is for the observer.
    fn own_hint(&self, played: Move) -> Option<Hint> {
        let Move::Hint { offset, hint } = played else { return None };
        let acting = self.current_player();
        let is_own =
            acting != self.observer && offset == self.variant.offset_between(acting, self.observer);
        is_own.then_some(hint)
    }

    /// Puts cards into the observer's hand of which the hint touches these.
    fn touch(
        &self,
        position: &mut Position,
        hint: Hint,
        touched: SlotSet,
    ) -> Result<(), SeenGameError> {
        let hand = &mut position.hands[self.observer.index()];
        if !touched.is_subset(SlotSet::first_slots(hand.size.into())) {
            return Err(SeenGameError::OwnHand);
        }
        for slot in 0..usize::from(hand.size) {
            let is_touched = touched.contains(Slot::new_unchecked(slot));
            let known = hand.knowledge[slot].with_hint(&self.variant, hint, is_touched);
            let plausible = known.plausible(&self.variant).iter().next();
            hand.cards[slot] = plausible.ok_or(SeenGameError::OwnHand)? as u8;
        }
        Ok(())
    }

    /// Puts the card into a slot of the observer's hand.
    fn show(&self, position: &mut Position, slot: Slot, card: Card) -> Result<(), SeenGameError> {
        let kind = unseen_kind(&self.variant, position, self.observer, card)?;
        let hand = &mut position.hands[self.observer.index()];
        if !hand.knowledge[slot.index()].is_plausible(&self.variant, card) {
            return Err(SeenGameError::OwnHand);
        }
        hand.cards[slot.index()] = kind;
        Ok(())
    }

    /// What a seat sees of a game whose whole deck is known.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn of(state: &State, observer: Seat) -> SeenGame {
        let mut played = state.dealt();
        let mut game = SeenGame::start(state.variant().clone(), &played.view(observer));
        for event in state.history() {
            played.play_unchecked(event.played);
            game.add(*event, &played.view(observer));
        }
        game
    }

    /// The game as it was after its first turns; `None` if it has fewer.
    #[must_use]
    pub fn first_turns(&self, turns: usize) -> Option<SeenGame> {
        let mut game = SeenGame {
            variant: self.variant.clone(),
            observer: self.observer,
            history: self.history.get(..turns)?.to_vec(),
            positions: self.positions[..=turns].to_vec(),
            own_hands: self.own_hands[..=turns].to_vec(),
            seen_cards: self.seen_cards,
        };
        let later = game.num_drawn()..MAX_CARDS;
        for place in later.chain(game.own_hand().places()) {
            game.seen_cards[place] = None;
        }
        Some(game)
    }

    /// What the observer saw before a turn, or sees after the last one.
    pub(crate) fn view_before(&self, turn: usize) -> View<'_> {
        View::new(&self.variant, &self.positions[turn], self.observer)
            .with_history(&self.history[..turn])
    }

    /// The current position, in which the observer's hand has placeholders.
    pub(crate) fn position(&self) -> &Position {
        self.positions.last().expect("the start is there")
    }

    /// The variant of the game.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The seat that sees the game.
    #[must_use]
    pub const fn observer(&self) -> Seat {
        self.observer
    }

    /// The seat to act. After the end: the seat that would have been next.
    #[must_use]
    pub fn current_player(&self) -> Seat {
        self.position().current_player
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.position().ending
    }

    /// The turns so far, the oldest first. Own draws are hidden.
    #[must_use]
    pub fn history(&self) -> &[Event] {
        &self.history
    }

    /// What the observer sees, the past turns included.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.view_before(self.history.len())
    }
}

/// The position with placeholders in the observer's hand.
fn without_hand(view: &View<'_>) -> Position {
    view.position_with_hand(&[PLACEHOLDER; MAX_HAND_SIZE][..view.hand_size(Offset::OWN)])
}

/// The kind of a card of which the observer does not see all copies yet.
fn unseen_kind(
    variant: &Variant,
    position: &Position,
    observer: Seat,
    card: Card,
) -> Result<u8, SeenGameError> {
    if !variant.has_card(card) {
        return Err(SeenGameError::Card(card));
    }
    let kind = variant.card_index_unchecked(card);
    let unseen = View::new(variant, position, observer).unseen()[kind];
    if unseen > 0 { Ok(kind as u8) } else { Err(SeenGameError::Copies(card)) }
}

/// Shows the seat and its view.
impl fmt::Debug for SeenGame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SeenGame").field("view", &self.view()).finish_non_exhaustive()
    }
}
