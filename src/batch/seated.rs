//! Games in which bots hold some of the seats: a step plays the learner's turn and then theirs, up
//! to the learner's next one.

use super::chunk::Chunk;
use super::finished::Finished;
use super::game::Game;
use super::lanes::{LANES, Word};
use super::options::AutoresetMode;
use super::shared::Shared;
use super::written::Written;
use crate::bots::Table;
use crate::rules::{EpisodeSeed, Position, Variant};

/// Episodes in a row that may pass without a turn of the learner before it is given up.
const MAX_SKIPPED: usize = 1000;

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
    finished: &mut Finished,
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
            finished.push(chunk.first + game, place.block, place.lane);
        };
        place.step(seated, action, written, keep);
        chunk.seeds[game] = seated.table.seed().into();
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
            written.note(self.lane, 0, None, false);
            deals = mode != AutoresetMode::Disabled;
        } else {
            let was_legal = seated.play(variant, action);
            let game = seated.game();
            let ended = game.position.ending().is_some();
            let reward = i64::from(game.position.score(variant)) - i64::from(before);
            let last = ended.then(|| shared.plan.sizes.counters(&game));
            written.note(self.lane, reward, last, !was_legal);
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
