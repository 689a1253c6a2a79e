//! A bot in one seat of games that somebody else runs.

use std::fmt;

use super::player::{BotMoveError, GamesError, Player};
use super::seats::show_turns;
use crate::rules::{EpisodeSeed, Event, GameRng, Move, Seat, State};

/// A bot in one seat, which is shown a game as it stands and answers with a move.
///
/// The bot is told of every turn of a game, from the first one. In the past turns of its seat it
/// changes its state as if it had been asked for a move, whoever has played the turn. So its answer
/// depends on the game alone, not on how often it was asked.
///
/// A state is of the same game as the state before if it has the same deck, or if the seat saw it go
/// on from that state. Any other state begins the next game.
#[derive(Clone)]
pub struct SeatedPlayer {
    player: Player,
    seat: Seat,
    seed: u64,
    followed: Option<FollowedGame>,
}

/// The game that a bot follows, as far as it has been told of it.
#[derive(Clone)]
struct FollowedGame {
    /// The number of games before it.
    game: u64,
    state: State,
    /// What the bot has chosen in the turn that comes next, if it was asked.
    chosen: Option<Move>,
}

impl fmt::Debug for SeatedPlayer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SeatedPlayer")
            .field("seat", &self.seat)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl SeatedPlayer {
    /// Whether the player searches: then a move may take longer than a tenth of a second.
    pub(crate) fn searches(&self) -> bool {
        matches!(&self.player, Player::Bot(bot) if bot.searches())
    }

    /// A player in a seat of its variant. In the k-th game that it is shown, it draws the random
    /// numbers of game k of this seed.
    #[must_use]
    pub const fn new(player: Player, seat: Seat, seed: u64) -> SeatedPlayer {
        SeatedPlayer { player, seat, seed, followed: None }
    }

    /// The move in a game of the player's variant.
    ///
    /// # Errors
    /// [`GamesError`] if the seat is not to act, if the player is [`Player::External`] or does
    /// not support the variant, or if the bot chose an illegal move.
    pub fn act(&mut self, state: &State) -> Result<Move, GamesError> {
        if let Some(ending) = state.ending() {
            return Err(GamesError::Over(ending));
        }
        let acting = state.position().current_player;
        if acting != self.seat {
            return Err(GamesError::Seat { acting, seat: self.seat });
        }
        let is_same = |game: &FollowedGame| game.state.variant() == state.variant();
        if !self.followed.as_ref().is_some_and(is_same) {
            let refused = |source| GamesError::Variant { seat: self.seat, source };
            self.player.check_variant(state.variant()).map_err(refused)?;
        }
        if matches!(self.player, Player::External) {
            return Err(GamesError::External);
        }
        let mut followed = self.game_of(state);
        self.catch_up(&mut followed, state.history());
        let view = followed.state.view(self.seat);
        if followed.chosen.is_none() {
            followed.chosen = self.player.choose(&view, followed.state.position());
        }
        let checked = match followed.chosen {
            Some(played) => BotMoveError::check(&view, played).map(|()| played).map_err(Into::into),
            None => Err(GamesError::Stopped),
        };
        self.followed = Some(followed);
        checked
    }

    /// The game that a state is of: the followed game if the state goes on from it, or else a game that begins. In
    /// a state that was stored, the cards that the seat cannot see may be others. Such a state goes on from the
    /// followed game if the seat saw the same turns.
    fn game_of(&mut self, state: &State) -> FollowedGame {
        let Some(followed) = self.followed.take() else { return self.begin(0, state) };
        let is_same_deal = followed.state.variant() == state.variant()
            && followed.state.deck() == state.deck()
            && followed.state.start_player() == state.start_player();
        if is_same_deal {
            let goes_on = state.history().starts_with(followed.state.history());
            return if goes_on { followed } else { self.begin(followed.game, state) };
        }
        match state.first_turns(followed.state.length()) {
            Some(start) if start.is_seen_alike(&followed.state, self.seat) => {
                FollowedGame { state: start, ..followed }
            }
            _ => self.begin(followed.game + 1, state),
        }
    }

    /// The start of the state's game, of which the bot is told as number `game` of those that it is
    /// shown.
    fn begin(&mut self, game: u64, state: &State) -> FollowedGame {
        let state = state.dealt();
        if let Player::Bot(bot) = &mut self.player {
            let seed = EpisodeSeed { seed: self.seed, game, episode: 0 };
            bot.start(&state.view(self.seat), GameRng::for_seat(seed, self.seat));
        }
        FollowedGame { game, state, chosen: None }
    }

    /// The seed of the bot's random numbers.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// The game that the bot follows, as far as it has been told of it, and the number of games
    /// before it.
    pub(crate) fn followed(&self) -> Option<(u64, &State)> {
        self.followed.as_ref().map(|followed| (followed.game, &followed.state))
    }

    /// Follows a game of the player's variant up to its last turn, after this number of other
    /// games.
    pub(crate) fn resume(&mut self, game: u64, state: &State) {
        let mut followed = self.begin(game, state);
        self.catch_up(&mut followed, state.history());
        self.followed = Some(followed);
    }

    /// Shows the rest of a game to the bot. It goes through the turns of its seat in which it was not
    /// asked.
    fn catch_up(&mut self, followed: &mut FollowedGame, history: &[Event]) {
        let FollowedGame { state, chosen, .. } = followed;
        if state.length() == history.len() {
            return;
        }
        let mut was_asked = chosen.take().is_some();
        if let Player::Bot(bot) = &mut self.player {
            show_turns(&mut **bot, self.seat, state, history, |bot, view| {
                if !std::mem::take(&mut was_asked) {
                    bot.follow_turn(view);
                }
            });
        }
        for event in &history[state.length()..] {
            state.play_unchecked(event.played);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::bot;
    use crate::rules::{Parameters, SeenGame, Variant};

    #[test]
    fn games_with_one_deck_and_two_variants_are_two_games() {
        let [scarce, plenty] = [1, 8].map(|max_information_tokens| {
            Variant::new(Parameters { max_information_tokens, ..Parameters::default() }).unwrap()
        });
        let player = bot("iggi").unwrap().player(&scarce).unwrap();
        let mut seated = SeatedPlayer::new(player.clone(), Seat::FIRST, 3);
        seated.act(&State::new(scarce, EpisodeSeed::new(7))).unwrap();
        let mut state = State::new(plenty, EpisodeSeed::new(7));
        for _ in 0..2 {
            let hint = state.legal_actions().iter().find(|action| action.index() >= 10).unwrap();
            state.apply(hint).unwrap();
        }
        let other = SeatedPlayer::new(player, Seat::FIRST, 3).act(&state);
        assert_eq!(seated.act(&state), other);
    }

    #[test]
    fn a_game_that_was_stored_goes_on_and_another_deal_is_the_next_game() {
        let patient = Parameters { max_life_tokens: 8, ..Parameters::default() };
        let (variant, seat) = (Variant::new(patient).unwrap(), Seat::FIRST);
        let player = bot("random").unwrap().player(&variant).unwrap();
        let [mut plain, mut stored] = [(); 2].map(|()| SeatedPlayer::new(player.clone(), seat, 3));
        let game = |seated: &SeatedPlayer| seated.followed().unwrap().0;
        let mut state = State::new(variant.clone(), EpisodeSeed::new(7));
        let start = state.clone();
        for turn in 0..4 {
            let seen = SeenGame::of(&state, seat).stand_in();
            assert_ne!(seen.deck(), state.deck());
            let played = plain.act(&state).unwrap();
            let shown = if turn % 2 == 0 { &seen } else { &state };
            assert_eq!((stored.act(shown), game(&stored)), (Ok(played), 0));
            state.play(played).unwrap();
            let other = state.legal_moves().last().unwrap();
            state.play(other).unwrap();
        }
        let first = SeatedPlayer::new(player, seat, 3).act(&start);
        assert_eq!((plain.act(&start), game(&plain)), (first, 0));
        plain.act(&State::new(variant, EpisodeSeed::new(8))).unwrap();
        assert_eq!(game(&plain), 1);
        plain.act(&state).unwrap();
        assert_eq!(game(&plain), 2);
    }
}
