//! A game as one seat sees it, at a table that somebody else runs.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::rules::cards::card::Card;
use crate::rules::cards::deck::Deck;
use crate::rules::cards::hidden_cards::{SeenDeck, show_the_same, shuffle};
use crate::rules::cards::hint_bits::HintBits;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::game::position::Position;
use crate::rules::game::rng::GameRng;
use crate::rules::game::state::State;
use crate::rules::limits::MAX_PLAYERS;
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
    /// The cards in the observer's hand are placeholders, which no view reads.
    position: Position,
    /// The position before the last turn.
    earlier: Position,
    /// The position before the first turn.
    first: Position,
    /// The turns. Own draws are hidden.
    history: Vec<Event>,
}

/// What a turn reveals to one seat apart from the move itself. [`SeenGame::play`] takes it, and
/// [`Event::revealed_to`] gives it where the whole game is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revealed {
    /// Nothing: a hint to a teammate, or a teammate's play or discard when the deck was empty.
    Nothing,
    /// The card that the observer itself has played or discarded.
    OwnCard(Card),
    /// The card that a teammate has drawn after its play or discard.
    Drawn(Card),
    /// The slots of the observer's hand that a hint to it points out.
    Touched(SlotSet),
}

impl Event {
    /// What this turn reveals to a seat besides the move. The observer's own draw stays hidden.
    ///
    /// # Panics
    /// If the variant has no such seat, or not the teammate of a hint.
    #[must_use]
    pub fn revealed_to(&self, variant: &Variant, observer: Seat) -> Revealed {
        match (self.played, self.card, self.drawn) {
            (Move::Hint { offset, .. }, ..)
                if variant.seat_after(self.seat, offset) == observer =>
            {
                Revealed::Touched(self.touched)
            }
            (_, Some(card), _) if self.seat == observer => Revealed::OwnCard(card),
            (_, _, Some(card)) => Revealed::Drawn(card),
            _ => Revealed::Nothing,
        }
    }
}

/// What no game of the variant can show to the observer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SeenGameError {
    /// The variant has no such seat.
    #[error("seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat that was given.
        seat: Seat,
        /// The number of seats.
        players: u8,
    },
    /// More or fewer hands than teammates.
    #[error("hands has {found} entries: expected {expected}, one for each teammate")]
    Hands {
        /// The number of hands.
        found: usize,
        /// The number of teammates.
        expected: usize,
    },
    /// A first hand of another size than the variant's.
    #[error("the hand at offset {offset} has {found} cards: expected {expected}")]
    HandSize {
        /// The teammate.
        offset: Offset,
        /// The number of cards given.
        found: usize,
        /// The variant's hand size.
        expected: u8,
    },
    /// The variant has no such card.
    #[error("{0} is not a card of this variant")]
    Card(Card),
    /// The observer sees all copies of the card elsewhere.
    #[error("{0} is not left: the observer sees all its copies")]
    Copies(Card),
    /// The game is over.
    #[error("the game is over ({0}): expected one that goes on")]
    GameOver(Ending),
    /// The move is not legal.
    #[error("the move of seat {seat} is not legal: {meaning}")]
    Move {
        /// The seat to act.
        seat: Seat,
        /// The move.
        played: Move,
        /// The move in words.
        meaning: String,
    },
    /// The turn reveals something else.
    #[error("revealed={found:?} does not fit the turn: expected {expected}")]
    Revealed {
        /// What was given.
        found: Revealed,
        /// What the turn reveals.
        expected: &'static str,
    },
    /// The observer can hold no cards that fit.
    #[error("the observer can hold no cards that fit the hints and all cards that it has seen")]
    OwnHand,
}

/// The card that is drawn next, if one is.
struct NextCard(Option<u8>);

impl Deck for NextCard {
    fn draw(&mut self, _: &Variant) -> Option<u8> {
        self.0.take()
    }
}

/// A card that stands for one of the observer's cards before any hint.
const PLACEHOLDER: u8 = 0;

impl SeenGame {
    /// The game before its first turn. `hands` are the teammates' hands, that of the next seat
    /// first, each with its oldest card first.
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
            dealt[variant.seat_from(observer, offset).index()] = hand;
        }
        let mut position = Position::deal(&variant, start_player, &mut NextCard(None));
        for seat in variant.seats() {
            for slot in 0..usize::from(variant.hand_size()) {
                let drawn = match dealt[seat.index()].get(slot) {
                    Some(&card) => unseen_kind(&variant, &position, observer, card)?,
                    None => PLACEHOLDER,
                };
                position.deck_size -= 1;
                position.hands[seat.index()].push(drawn, HintBits::unhinted(&variant));
            }
        }
        let (earlier, first, history) = (position, position, Vec::new());
        Ok(SeenGame { variant, observer, position, earlier, first, history })
    }

    /// Plays one turn of the seat to act, with what the table reveals of it, and returns what the
    /// observer has seen happen.
    ///
    /// # Errors
    /// [`SeenGameError`] if the game is over, if the move is not legal, or if no game goes on like
    /// this. The game is unchanged then.
    pub fn play(&mut self, played: Move, revealed: Revealed) -> Result<Event, SeenGameError> {
        if let Some(ending) = self.position.ending {
            return Err(SeenGameError::GameOver(ending));
        }
        let mut position = self.position;
        let drawn = self.reveal(&mut position, played, revealed)?;
        let event = position.apply_unchecked(&self.variant, played, &mut NextCard(drawn));
        let view = View::new(&self.variant, &position, self.observer);
        if Belief::new(&view).num_hands() == 0 {
            return Err(SeenGameError::OwnHand);
        }
        let event = event.seen_by(self.observer);
        (self.earlier, self.position) = (self.position, position);
        self.history.push(event);
        Ok(event)
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
        let acting = self.position.current_player;
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
            let is_touched = touched.contains(Slot::at(slot));
            let known = hand.knowledge[slot].with_hint(&self.variant, hint, is_touched);
            let plausible = known.plausible_kinds(&self.variant).iter().next();
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

    /// The game with this own hand, the oldest card first, and the rest of the deck in random order:
    /// one way in which the hidden cards may lie, for roll-outs of a search. `None` if the hand is
    /// impossible. Hands of [`Belief::sample`] are possible.
    ///
    /// ```
    /// use starmine::rules::{Belief, Card, GameRng, Seat, SeenGame, State};
    ///
    /// fn sample(game: &SeenGame, rng: &mut GameRng) -> Option<State> {
    ///     let hand: Vec<Card> = Belief::new(&game.view()).sample(rng)?.collect();
    ///     game.with_hand(hand, rng)
    /// }
    /// ```
    #[must_use]
    pub fn with_hand(
        &self,
        hand: impl IntoIterator<Item = Card>,
        rng: &mut GameRng,
    ) -> Option<State> {
        let state = self.with_hidden(hand, |rest| shuffle(rest, rng))?;
        show_the_same(&state.view(self.observer), &self.view()).then_some(state)
    }

    /// The turns with this own hand; `order` puts the rest of the deck in order. `None` if there are no
    /// such cards, or if they do not allow the turns.
    fn with_hidden(
        &self,
        hand: impl IntoIterator<Item = Card>,
        order: impl FnOnce(&mut [Card]),
    ) -> Option<State> {
        let (variant, size) = (&self.variant, usize::from(self.variant.hand_size()));
        let seen = SeenDeck { variant, observer: self.observer, history: &self.history };
        let first_card = |at: usize| variant.card_at(self.first.hands[at / size].cards[at % size]);
        let deck = seen.deck(first_card, hand, order)?;
        State::of_turns(variant.clone(), deck, self.first.current_player, &self.history)
    }

    /// One game that the observer cannot tell from this one. [`State::with_fixed_hidden_cards`] gives the same of
    /// the game of the table.
    ///
    /// # Panics
    /// Never: [`SeenGame::play`] refuses turns that leave no possible hand.
    #[must_use]
    pub fn stand_in(&self) -> State {
        let belief = Belief::new(&self.view());
        let hand = belief.sample(&mut GameRng::for_samples(0)).expect("a hand is possible");
        self.with_hidden(hand, |_| ()).expect("the hand is possible")
    }

    /// What a seat sees of a game whose whole deck is known.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn of(state: &State, observer: Seat) -> SeenGame {
        let variant = state.variant();
        let start = state.first_turns(0).expect("every game has a start");
        let view = start.view(observer);
        let hands = variant.teammates().map(|offset| view.hand(offset).collect());
        let hands: Vec<Vec<Card>> = hands.collect();
        let game = SeenGame::new(variant.clone(), observer, &hands, start.start_player());
        let mut game = game.expect("the game was dealt");
        for event in state.history() {
            let revealed = event.revealed_to(variant, observer);
            game.play(event.played, revealed).expect("the turn was played");
        }
        game
    }

    /// The position, in which the observer's hand has placeholders.
    pub(crate) const fn position(&self) -> &Position {
        &self.position
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
    pub const fn current_player(&self) -> Seat {
        self.position.current_player
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.position.ending
    }

    /// The turns so far, the oldest first. Own draws are hidden.
    #[must_use]
    pub fn history(&self) -> &[Event] {
        &self.history
    }

    /// What the observer sees, the past turns included.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::new(&self.variant, &self.position, self.observer).with_history(&self.history)
    }

    /// The positions before and after the last turn; `None` before the first one. The observer's
    /// hand has placeholders in them.
    pub(crate) fn last_positions(&self) -> Option<(&Position, &Position)> {
        (!self.history.is_empty()).then_some((&self.earlier, &self.position))
    }
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
    let kind = variant.kind_of(card);
    let unseen = View::new(variant, position, observer).unseen()[kind];
    if unseen > 0 { Ok(kind as u8) } else { Err(SeenGameError::Copies(card)) }
}

/// Shows the seat and its view.
impl fmt::Debug for SeenGame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SeenGame").field("view", &self.view()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, GameRng, PRESETS, Parameters, State, random_variant};

    /// The game of a state before its first turn, as a seat sees it.
    pub(crate) fn first_seen(state: &State, observer: Seat) -> SeenGame {
        SeenGame::of(&state.first_turns(0).unwrap(), observer)
    }

    /// Plays a random game and compares what each seat sees of it with its view of the state.
    fn compare(variant: &Arc<Variant>, game: u64) {
        let mut state = State::new(variant.clone(), EpisodeSeed { seed: 4, game, episode: 0 });
        let mut rng = GameRng::for_samples(game);
        let mut seen: Vec<SeenGame> =
            variant.seats().map(|seat| first_seen(&state, seat)).collect();
        while state.ending().is_none() {
            let moves: Vec<Move> = state.legal_moves().collect();
            let event = state.play(*rng.pick(&moves).unwrap()).unwrap();
            for game in &mut seen {
                let seat = game.observer();
                let found = game.play(event.played, event.revealed_to(variant, seat));
                assert_eq!(found, Ok(event.seen_by(seat)), "{variant}");
                let (view, expected) = (game.view(), state.view(seat));
                assert_eq!(view.to_string(), expected.to_string());
                assert_eq!(view.legal_actions(), expected.legal_actions());
                assert_eq!(view.ending(), expected.ending());
                assert_eq!(view.last_turns(), expected.last_turns());
                let mut offsets = variant.seats().map(|seat| expected.offset(seat));
                assert!(offsets.all(|at| view.hand_hints(at) == expected.hand_hints(at)));
                assert_eq!(view.last_event(), expected.last_event());
                assert!(view.history().unwrap().eq(expected.history().unwrap()));
                let hand: Vec<Card> = Belief::new(&view).sample(&mut rng).unwrap().collect();
                let supposed = game.with_hand(hand.iter().copied(), &mut rng.clone()).unwrap();
                assert!(supposed.is_seen_alike(&state, seat));
                let of_state = state.with_hand(seat, hand.iter().copied(), &mut rng.clone());
                assert_eq!(of_state.as_ref(), Some(&supposed));
                assert_eq!(game.stand_in(), state.with_fixed_hidden_cards(seat));
                let more = hand.into_iter().chain([variant.card(0)]);
                assert!(game.with_hand(more, &mut rng).is_none());
            }
        }
        for game in &mut seen {
            let again = SeenGame::of(&game.stand_in(), game.observer());
            assert_eq!(again.history(), game.history());
            assert_eq!(again.view().to_string(), game.view().to_string());
            let over = SeenGameError::GameOver(state.ending().unwrap());
            let played = Move::Play { slot: Slot::OLDEST };
            assert_eq!(game.play(played, Revealed::Nothing), Err(over));
        }
    }

    #[test]
    fn a_seat_sees_the_game_of_the_table() {
        for row in PRESETS {
            for players in 2..=5 {
                let parameters = Parameters { players, ..row.parameters() };
                let Ok(variant) = Variant::new(parameters).map(Arc::new) else { continue };
                (0..5).for_each(|game| compare(&variant, game));
            }
        }
        let mut rng = GameRng::for_samples(0);
        for game in 0..400 {
            compare(&Arc::new(random_variant(|bound| rng.below(bound))), game);
        }
    }

    fn cards(text: &str) -> Vec<Card> {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    #[test]
    fn a_deal_that_cannot_be_is_refused() {
        let variant = Arc::new(Variant::default());
        let deal = |observer: usize, hands: &[&str], start: usize| {
            let hands: Vec<Vec<Card>> = hands.iter().map(|hand| cards(hand)).collect();
            let game =
                SeenGame::new(variant.clone(), Seat::ALL[observer], &hands, Seat::ALL[start]);
            game.map(|_| ()).unwrap_err().to_string()
        };
        let hand = "R1 R1 R1 B5 G2";
        assert_eq!(deal(2, &[hand], 0), "seat 2 is not allowed: expected 0 to 1");
        assert_eq!(deal(0, &[hand], 3), "seat 3 is not allowed: expected 0 to 1");
        assert_eq!(deal(0, &[], 0), "hands has 0 entries: expected 1, one for each teammate");
        let size = "the hand at offset 1 has 4 cards: expected 5";
        assert_eq!(deal(0, &["R1 R1 R1 B5"], 0), size);
        let copies = "B5 is not left: the observer sees all its copies";
        assert_eq!(deal(0, &["R1 R1 B5 B5 G2"], 0), copies);
        assert_eq!(deal(0, &["R1 R1 M1 B5 G2"], 0), "M1 is not a card of this variant");
    }

    #[test]
    fn a_turn_that_cannot_be_changes_nothing() {
        let variant = Variant::default();
        let hands = [cards("R1 R1 R1 B5 G2")];
        let mut game = SeenGame::new(variant, Seat::FIRST, &hands, Seat::FIRST).unwrap();
        let refused = |game: &mut SeenGame, played: &str, revealed| {
            let before = game.view().to_string();
            let error = game.play(played.parse().unwrap(), revealed).unwrap_err();
            assert_eq!(game.view().to_string(), before);
            error
        };
        let own = |card: &str| Revealed::OwnCard(card.parse().unwrap());
        let drawn = |card: &str| Revealed::Drawn(card.parse().unwrap());
        let touched = |slots: &[usize]| {
            Revealed::Touched(slots.iter().map(|&slot| Slot::ALL[slot]).collect())
        };
        let play = "play 0";
        assert!(matches!(refused(&mut game, "discard 0", own("R2")), SeenGameError::Move { .. }));
        assert!(matches!(
            refused(&mut game, "hint +1 white", Revealed::Nothing),
            SeenGameError::Move { .. }
        ));
        for revealed in [Revealed::Nothing, drawn("R2"), touched(&[0])] {
            let error = refused(&mut game, play, revealed);
            assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
        }
        assert_eq!(refused(&mut game, play, own("R1")), SeenGameError::Copies(cards("R1")[0]));
        assert_eq!(refused(&mut game, play, own("M1")), SeenGameError::Card(cards("M1")[0]));
        game.play(play.parse().unwrap(), own("R2")).unwrap();

        for revealed in [Revealed::Nothing, own("R2"), touched(&[0])] {
            let error = refused(&mut game, play, revealed);
            assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
        }
        assert_eq!(refused(&mut game, play, drawn("B5")), SeenGameError::Copies(cards("B5")[0]));
        let hint = "hint +1 red";
        assert!(matches!(refused(&mut game, hint, touched(&[])), SeenGameError::Move { .. }));
        assert_eq!(refused(&mut game, hint, touched(&[0, 5])), SeenGameError::OwnHand);
        let error = refused(&mut game, hint, Revealed::Nothing);
        assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
        // One R2, two R3, two R4 and one R5 are left; a rank hint then leaves too few of them.
        game.play(hint.parse().unwrap(), touched(&[0, 1])).unwrap();
        game.play("hint +1 blue".parse().unwrap(), Revealed::Nothing).unwrap();
        let rank = "hint +1 rank 2";
        assert_eq!(refused(&mut game, rank, touched(&[0, 1])), SeenGameError::OwnHand);
        game.play(rank.parse().unwrap(), touched(&[0])).unwrap();
        assert_eq!(refused(&mut game, "play 0", own("G2")), SeenGameError::OwnHand);
        assert_eq!(refused(&mut game, "play 2", own("R3")), SeenGameError::OwnHand);
        game.play("play 0".parse().unwrap(), own("R2")).unwrap();
    }
}
