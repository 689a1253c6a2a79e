//! The trait of all bots.

use std::any::Any;

use crate::rules::{Event, GameRng, Move, SeenGame, UnsupportedVariantError, Variant, View};
use crate::threads::is_stopped;

/// One turn of a game, as one seat saw it.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The view before the turn.
    pub before: View<'a>,
    /// The move and its outcome. The observer's own draw is hidden.
    pub event: Event,
    /// The view after the turn.
    pub after: View<'a>,
}

impl<'a> Turn<'a> {
    /// The last turn of a game that somebody else runs; `None` before the first one.
    #[must_use]
    pub fn last_seen(game: &'a SeenGame) -> Option<Turn<'a>> {
        let last = game.history().len().checked_sub(1)?;
        Some(Turn::between(game.view_before(last), game.view_before(last + 1)))
    }

    /// The turn between two views of a seat.
    #[inline]
    pub(crate) fn between(before: View<'a>, after: View<'a>) -> Turn<'a> {
        Turn { before, event: after.last_event().expect("a turn was played"), after }
    }
}

/// The value of a legal move, as a bot has estimated it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveValue {
    /// The legal move that is valued.
    pub candidate: Move,
    /// The mean score of games that go on with it; NaN if the bot has played none.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// The number of these games: the move's roll-outs in a search.
    pub games: usize,
    /// Whether the move was still a candidate when a search ended.
    pub is_kept: bool,
}

/// A player in one seat.
///
/// A bot sees what its seat may see: every method gets a [`View`], which shows the teammates'
/// hands, all hints, the fireworks and the discards. It shows neither the seat's own hand nor the
/// deck. A bot that needs past turns must note them in [`Bot::observe`]: [`View::history`] lacks them
/// in the games that a [`Searcher`](crate::search::Searcher) imagines, so that a bot that reads it
/// plays differently there.
///
/// For each game, [`Bot::start`] is called once. Then each turn of this seat calls [`Bot::act`],
/// and each turn of any seat calls [`Bot::observe`]. An illegal move is not played: whole
/// games stop with a [`BotMoveError`](super::BotMoveError), a batch ends the game as forfeited, and a search panics.
///
/// A bot must implement `Clone`. Batches and searches copy bots in the middle of a game, and each
/// copy goes on by itself. A bot must be `Send` and `Sync` because games run on several threads.
///
/// ```
/// use starmine::bots::{Bot, GamesOptions, Player, Turn, play_games};
/// use starmine::rules::{
///     GameRng, Move, Parameters, Slot, UnsupportedVariantError, Variant, View,
/// };
///
/// /// Plays its oldest card after a hint to its seat, and otherwise does the first legal thing.
/// #[derive(Clone, Default)]
/// struct Eager {
///     is_hinted: bool,
/// }
///
/// impl Bot for Eager {
///     fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
///         if variant.hand_size() >= 4 {
///             return Ok(());
///         }
///         Err(UnsupportedVariantError::new("eager", variant, "hands of at least 4 cards"))
///     }
///
///     fn start(&mut self, _view: &View<'_>, _rng: GameRng) {
///         *self = Eager::default();
///     }
///
///     fn observe(&mut self, turn: &Turn<'_>) {
///         if let Move::Hint { offset, .. } = turn.event.played {
///             let (hinting, observer) = (turn.before.current_player(), turn.before.observer());
///             self.is_hinted = turn.before.variant().seat_after(hinting, offset) == observer;
///         }
///     }
///
///     fn act(&mut self, view: &View<'_>) -> Move {
///         let eager = Move::Play { slot: Slot::OLDEST };
///         let first = view.legal_moves().next().expect("the seat to act has a legal move");
///         if std::mem::take(&mut self.is_hinted) && view.is_legal(eager) { eager } else { first }
///     }
/// }
///
/// let variant = Variant::default();
/// let players = [Player::bot(Eager::default()), Player::bot(Eager::default())];
/// assert!(play_games(variant, &players, 0..10, GamesOptions::seeded(1)).is_ok());
/// let small = Variant::new(Parameters { hand_size: Some(3), ..Parameters::default() })?;
/// assert!(play_games(small, &players, 0..10, GamesOptions::seeded(1)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A bot also plays its seat at a table that somebody else runs, by what the table reveals to that
/// seat:
///
/// ```
/// use starmine::bots::{Bot, Turn};
/// use starmine::players::PlayerSpec;
/// use starmine::rules::{Card, EpisodeSeed, GameRng, Seat, SeenGame, State, Variant};
///
/// // The table. Elsewhere it is a server, which sends the moves and what they reveal.
/// let mut table = State::new(Variant::default(), EpisodeSeed::new(7));
/// let hand: Vec<Card> = table.hand(Seat::FIRST).collect();
///
/// let seat = Seat::ALL[1];
/// let mut game = SeenGame::new(Variant::default(), seat, &[hand], Seat::FIRST)?;
/// let mut bot = "smart".parse::<PlayerSpec>()?.bot(game.variant())?;
/// bot.start(&game.view(), GameRng::for_seat(EpisodeSeed::new(1), seat));
/// while game.ending().is_none() {
///     let played = if game.current_player() == seat {
///         bot.act(&game.view())
///     } else {
///         table.legal_moves().next().ok_or("a game that goes on has a legal move")?
///     };
///     let revealed = table.play(played)?.revealed_to(game.variant(), seat);
///     game.play(played, revealed)?;
///     if let Some(turn) = Turn::last_seen(&game) {
///         bot.observe(&turn);
///     }
/// }
/// assert_eq!(game.ending(), table.ending());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A type that is not `Clone` is refused:
///
/// ```compile_fail,E0277
/// use starmine::bots::Bot;
/// use starmine::rules::{GameRng, Move, Slot, View};
///
/// struct Eager;
///
/// impl Bot for Eager {
///     fn start(&mut self, _view: &View<'_>, _rng: GameRng) {}
///
///     fn act(&mut self, _view: &View<'_>) -> Move {
///         Move::Play { slot: Slot::OLDEST }
///     }
/// }
/// ```
pub trait Bot: BoxedClone + Send + Sync {
    /// Whether the bot can play this variant. Tables, batches and searches ask before the first game.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if it cannot.
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        let _ = variant;
        Ok(())
    }

    /// A new game starts, of a variant that [`Bot::check_variant`] has accepted. Before the first call
    /// the other methods that take a view may panic. The bot drops all state of earlier games; one
    /// without state has nothing to do. All random decisions must draw from `rng`: then the seed of a
    /// game determines all its moves.
    fn start(&mut self, view: &View<'_>, rng: GameRng);

    /// A turn was played, by this seat or another one.
    fn observe(&mut self, turn: &Turn<'_>) {
        let _ = turn;
    }

    /// Whether the bot needs [`Bot::observe`]. The calls are skipped if no bot at the table does.
    fn observes(&self) -> bool {
        true
    }

    /// Whether the moves in games of this variant depend on the game alone, and not on the generator
    /// of [`Bot::start`]. A search takes no other bot as its blueprint; the default is no.
    fn is_deterministic(&self, variant: &Variant) -> bool {
        let _ = variant;
        false
    }

    /// Whether the bot searches: then a move may take long, and the move of a stopped search is not
    /// played.
    fn searches(&self) -> bool {
        false
    }

    /// Chooses a move. It is this seat's turn, and the move must be legal, see [`View::is_legal`].
    fn act(&mut self, view: &View<'_>) -> Move;

    /// Follows a turn of this seat whose move is already known, as in a stored game: it takes the
    /// place of [`Bot::act`]. The bot changes its state as if it had been asked for a move.
    fn follow_turn(&mut self, view: &View<'_>) {
        self.act(view);
    }

    /// The values of the legal moves in this seat's last turn, empty before the first one. `None`
    /// for a bot that does not estimate values.
    fn values(&self) -> Option<&[MoveValue]> {
        None
    }
}

/// `Clone` for boxed [`Bot`]s. Every bot that is `Clone` has it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Bot`, because it is not `Clone`",
    label = "this bot cannot be copied",
    note = "derive it: `#[derive(Clone)]`"
)]
pub trait BoxedClone: Any {
    /// An independent copy in the same state.
    fn boxed_clone(&self) -> Box<dyn Bot>;

    /// Copies the state of this bot into another, without allocating memory if both are of one
    /// type.
    fn clone_onto(&self, bot: &mut Box<dyn Bot>);
}

impl Clone for Box<dyn Bot> {
    fn clone(&self) -> Box<dyn Bot> {
        (**self).boxed_clone()
    }

    fn clone_from(&mut self, other: &Box<dyn Bot>) {
        (**other).clone_onto(self);
    }
}

impl<B: Bot + Clone> BoxedClone for B {
    fn boxed_clone(&self) -> Box<dyn Bot> {
        Box::new(self.clone())
    }

    fn clone_onto(&self, bot: &mut Box<dyn Bot>) {
        match (&mut **bot as &mut dyn Any).downcast_mut::<B>() {
            Some(bot) => bot.clone_from(self),
            None => *bot = self.boxed_clone(),
        }
    }
}

/// Whether the move that a bot has just chosen is dropped, and the bot asked again: its search was stopped.
pub(crate) fn is_dropped(bot: &dyn Bot) -> bool {
    is_stopped() && bot.searches()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bots::{BOTS, Player};
    use crate::rules::{EpisodeSeed, Parameters, State, first_seen};

    /// A seat of a game that is played with the whole deck and once more by what the seat sees.
    struct TwiceSeated {
        bots: [Box<dyn Bot>; 2],
        seen: SeenGame,
    }

    #[test]
    fn every_bot_plays_alike_at_a_table_that_somebody_else_runs() {
        for kind in BOTS {
            for game in 0..12 {
                let players = 2 + (game % 4) as u8;
                let parameters = Parameters { players: players.into(), ..Parameters::default() };
                let variant = Arc::new(Variant::new(parameters).unwrap());
                let Ok(Player::Bot(bot)) = kind.player(&variant) else { continue };
                let seed = EpisodeSeed { seed: 6, game, episode: 0 };
                let mut state = State::new(variant.clone(), seed);
                let sit = |seat| {
                    let seen = first_seen(&state, seat);
                    let mut bots = [bot.clone(), bot.clone()];
                    bots[0].start(&state.view(seat), GameRng::for_seat(seed, seat));
                    bots[1].start(&seen.view(), GameRng::for_seat(seed, seat));
                    TwiceSeated { bots, seen }
                };
                let mut seats: Vec<TwiceSeated> = variant.seats().map(sit).collect();
                while state.ending().is_none() {
                    let seat = state.current_player();
                    let TwiceSeated { bots: [full, hidden], seen } = &mut seats[seat.index()];
                    let played = full.act(&state.view(seat));
                    assert_eq!(hidden.act(&seen.view()), played, "{}: {state}", kind.name);
                    let before = *state.position();
                    let event = state.play(played).unwrap();
                    for (seat, TwiceSeated { bots: [full, hidden], seen }) in
                        variant.seats().zip(&mut seats)
                    {
                        seen.play(played, event.revealed_to(&variant, seat)).unwrap();
                        let (earlier, _) = state.history().split_at(state.length() - 1);
                        let before = View::new(&variant, &before, seat).with_history(earlier);
                        full.observe(&Turn::between(before, state.view(seat)));
                        hidden.observe(&Turn::last_seen(seen).unwrap());
                    }
                }
            }
        }
    }
}
