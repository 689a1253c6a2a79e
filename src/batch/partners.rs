//! Games in which bots hold some of the seats: a step plays the learner's turn and then theirs,
//! up to the learner's next one.

use thiserror::Error;

use super::buffers::Written;
use super::chunk::Chunk;
use super::game::Game;
use super::lanes::{LANES, Word};
use super::options::AutoresetMode;
use super::shared::Shared;
use crate::bots::{BotName, BotNameError, Player, Table, UnsupportedVariant};
use crate::rules::{Chance, EpisodeSeed, MAX_PLAYERS, Position, Variant};

/// Most bots that one seat is drawn from.
const MAX_CHOICES: usize = 64;
/// Episodes in a row that may pass without a turn of the learner before it is given up.
const MAX_SKIPPED: usize = 1000;

/// Who holds the seats that are not the learner's: for each such seat the bots of which one is
/// drawn for each episode, each as likely as the others.
#[derive(Clone, Debug, Default)]
pub struct Partners {
    /// By seat; nobody in the seats that are played from outside.
    seats: Vec<Vec<BotName>>,
}

/// Partners who cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartnersError {
    /// A text that says no bot.
    #[error("partners: {0}")]
    Bot(#[from] BotNameError),
    /// A bot that does not play the variant.
    #[error("partners: {0}")]
    Variant(#[from] UnsupportedVariant),
    /// A seat that the table does not have.
    #[error("partners: seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat.
        seat: usize,
        /// How many there are.
        players: u8,
    },
    /// No seat is left for the learner.
    #[error("partners hold all {players} seats: expected at least one seat without a partner")]
    Full {
        /// How many seats there are.
        players: u8,
    },
    /// Nobody to draw from, or too many.
    #[error("partners: {found} bots for seat {seat}: expected 1 to {MAX_CHOICES}")]
    Choices {
        /// The seat.
        seat: usize,
        /// How many were given.
        found: usize,
    },
}

impl Partners {
    /// Puts one of these bots into a seat, in each episode another one.
    ///
    /// # Errors
    /// [`PartnersError`] for a name that no bot has, for no name, or for too many.
    pub fn with(mut self, seat: usize, names: &[String]) -> Result<Partners, PartnersError> {
        if !(1..=MAX_CHOICES).contains(&names.len()) {
            return Err(PartnersError::Choices { seat, found: names.len() });
        }
        if seat >= MAX_PLAYERS {
            return Err(PartnersError::Seat { seat, players: MAX_PLAYERS as u8 });
        }
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, Vec::new());
        }
        let bots = names.iter().map(|name| name.parse());
        self.seats[seat] = bots.collect::<Result<_, BotNameError>>()?;
        Ok(self)
    }

    /// Whether every seat is the learner's.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.iter().all(Vec::is_empty)
    }

    /// The seats with partners, and the names that each is drawn from.
    pub fn names(&self) -> impl Iterator<Item = (usize, Vec<String>)> + '_ {
        let seats = self.seats.iter().enumerate().filter(|(_, bots)| !bots.is_empty());
        seats.map(|(seat, bots)| (seat, bots.iter().map(BotName::to_string).collect()))
    }

    pub(super) fn check(&self, variant: &Variant) -> Result<(), PartnersError> {
        let players = variant.players();
        if let Some((seat, _)) = self.names().find(|(seat, _)| *seat >= players.into()) {
            return Err(PartnersError::Seat { seat, players });
        }
        if self.names().count() == usize::from(players) {
            return Err(PartnersError::Full { players });
        }
        for bot in self.seats.iter().flatten() {
            bot.player(variant)?;
        }
        Ok(())
    }

    /// The players of an episode.
    fn draw(&self, variant: &Variant, seed: EpisodeSeed) -> Vec<Player> {
        let draw = |seat: usize| match self.seats.get(seat).map(Vec::as_slice) {
            None | Some([]) => Player::Outside,
            Some(bots) => {
                // The seats' own numbers are the bots'.
                let mut chance = Chance::of_seat(seed, MAX_PLAYERS + seat);
                let drawn = chance.below(bots.len() as u32) as usize;
                bots[drawn].player(variant).expect("checked when the batch was made")
            }
        };
        (0..usize::from(variant.players())).map(draw).collect()
    }

    /// Whether each episode has the same players.
    fn are_fixed(&self) -> bool {
        self.seats.iter().all(|bots| bots.len() <= 1)
    }
}

/// A game with partners.
#[derive(Clone, Debug)]
pub(super) struct Seated {
    table: Table,
    /// The learner's actions in this episode, from which the game can be played again.
    actions: Vec<u8>,
}

impl Seated {
    /// Deals this episode, and lets the partners play up to the learner's first turn.
    pub fn exactly(shared: &Shared, seed: EpisodeSeed) -> Seated {
        let players = shared.options.partners.draw(&shared.variant, seed);
        let table = Table::new(shared.variant.clone(), players, seed);
        // No game has more turns.
        let mut game = Seated { table, actions: Vec::with_capacity(u8::MAX.into()) };
        game.run();
        game
    }

    /// Deals this episode, or the first one after it in which the learner has a turn.
    pub fn new(shared: &Shared, seed: EpisodeSeed) -> Seated {
        let mut game = Seated::exactly(shared, seed);
        game.skip(shared);
        game
    }

    /// Deals another episode, as [`Seated::new`] does.
    pub fn deal(&mut self, shared: &Shared, seed: EpisodeSeed) {
        self.start(shared, seed);
        self.skip(shared);
    }

    fn start(&mut self, shared: &Shared, seed: EpisodeSeed) {
        let partners = &shared.options.partners;
        self.actions.clear();
        if partners.are_fixed() {
            self.table.start(seed);
        } else {
            let players = partners.draw(&shared.variant, seed);
            self.table = Table::new(shared.variant.clone(), players, seed);
        }
        self.run();
    }

    /// Goes on to the next episode as long as the partners end it before the learner has a turn. In
    /// a game where they always do, the learner finds it over.
    fn skip(&mut self, shared: &Shared) {
        for _ in 0..MAX_SKIPPED {
            if self.table.ending().is_none() {
                return;
            }
            self.start(shared, self.table.seed().next());
        }
    }

    /// Lets the partners play.
    fn run(&mut self) {
        if let Err(error) = self.table.run() {
            // A mistake in a bot. There is no way back in the middle of a step.
            debug_assert!(false, "{error}");
            self.table.forfeit();
        }
    }

    /// Plays the learner's action, then the partners. Says whether the action was legal; if not, the
    /// game is lost.
    pub fn play(&mut self, variant: &Variant, action: i64) -> bool {
        let position = self.table.position();
        let played = variant.action_to_move(action).ok();
        let Some(played) = played.filter(|&played| position.is_legal(variant, played)) else {
            self.table.forfeit();
            return false;
        };
        self.actions.push(action as u8);
        self.table.apply(played);
        self.run();
        true
    }

    /// The table as it stands.
    pub const fn position(&self) -> &Position {
        self.table.position()
    }

    /// The game as a batch exchanges it.
    pub fn game(&self) -> Game {
        Game {
            position: *self.table.position(),
            deck: self.table.deck().clone(),
            seed: self.table.seed(),
            length: self.table.length() as u8,
        }
    }

    /// The learner's actions in this episode.
    pub fn actions(&self) -> &[u8] {
        &self.actions
    }

    /// Plays an episode again. Only the actions need to be believed: `None` when they are not
    /// legal.
    pub fn replay(shared: &Shared, seed: EpisodeSeed, actions: &[u8]) -> Option<Seated> {
        let mut game = Seated::exactly(shared, seed);
        for &action in actions {
            let is_over = game.table.ending().is_some();
            if is_over || !game.play(&shared.variant, action.into()) {
                return None;
            }
        }
        Some(game)
    }

    /// Ends the game as lost, as an illegal action does.
    pub fn forfeit(&mut self) {
        self.table.forfeit();
    }
}

/// Plays a step in the games from `first` on, and puts them into their blocks as they are seen
/// after it.
#[inline(never)]
pub(super) fn play_seated(
    shared: &Shared,
    after: usize,
    chunk: &mut Chunk<'_>,
    first: usize,
    actions: &[i64],
    results: &mut [Written],
) {
    let size = shared.plan.sizes.block_words();
    for (index, &action) in actions.iter().enumerate() {
        let game = first + index;
        let block = &mut chunk.blocks[game / LANES * size..][..size];
        let place = Place { shared, after, block, lane: game % LANES };
        let seated = &mut chunk.seated[game];
        let written = &mut results[index / LANES];
        let keep = |place: &Place<'_>| {
            chunk.finished.push(chunk.first + game, place.block, place.lane);
        };
        place.step(seated, action, written, keep);
        chunk.seeds[game] = seated.table.seed();
    }
}

/// Where a game lies in its block.
struct Place<'a> {
    shared: &'a Shared,
    after: usize,
    block: &'a mut [Word],
    lane: usize,
}

impl Place<'_> {
    fn put(&mut self, game: &Game) {
        let Shared { plan, variant, .. } = self.shared;
        plan.sizes.put(self.block, self.lane, self.after, variant, game);
    }

    /// Plays a step of one game; `keep` is told of a game that ended and is about to be dealt anew.
    fn step(
        mut self,
        seated: &mut Seated,
        action: i64,
        written: &mut Written,
        mut keep: impl FnMut(&Place<'_>),
    ) {
        let (shared, variant) = (self.shared, &self.shared.variant);
        let mode = shared.options.autoreset_mode;
        let mut deals = false;
        let before = seated.position().score(variant);
        if seated.position().ending().is_some() {
            written.note_waiting(self.lane, shared.plan.sizes.counters(&seated.game()));
            deals = mode != AutoresetMode::Disabled;
        } else {
            let was_legal = seated.play(variant, action);
            let game = seated.game();
            let ended = game.position.ending().is_some();
            let reward = i64::from(game.position.score(variant)) - i64::from(before);
            let counters = shared.plan.sizes.counters(&game);
            written.note(self.lane, reward, counters, ended, !was_legal);
            if ended && mode == AutoresetMode::SameStep {
                self.put(&game);
                keep(&self);
                deals = true;
            }
        }
        if deals {
            seated.deal(shared, seated.table.seed().next());
        }
        self.put(&seated.game());
    }
}
