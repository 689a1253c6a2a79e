//! What a searching seat believes about its own hand: weighted hands that explain its teammates'
//! moves.

mod refill;

use std::fmt;
use std::sync::Arc;

use super::blueprint::{Blueprint, TurnSet, WeighedHand, doubt, retain};
use super::error::SearchError;
use super::parallel::map;
use super::particle::Particle;
use crate::bots::Turn;
use crate::rules::{
    Belief, Card, Event, GameRng, MAX_CARD_KINDS, MAX_HAND_SIZE, Move, Offset, SeenGame, View,
    mix_seed, ticket_index,
};

/// Hands that a thread takes at a time.
const CHUNK: usize = 64;

/// A refill draws new hands when the effective sample size falls below this fraction of the wanted
/// number of hands.
const MIN_EFFECTIVE_SHARE: f64 = 0.25;

/// Hands whose likelihood is below this fraction of the largest likelihood are dropped.
const MIN_LIKELIHOOD: f64 = 1e-7;

/// The hands that a seat may hold, given what it sees, if its teammates play by a blueprint.
///
/// Teammates that search deviate from the blueprint. A hand that does not explain such a move is
/// then kept and becomes less likely.
///
/// The belief has all possible hands if they are few enough, and otherwise a weighted sample.
///
/// A move that the blueprint makes with none of the hands counts as a mistake and is ignored; all
/// other moves still count, see [`BlueprintBelief::unexplained`]. Mistakes are found turn by turn
/// from the first turn: a move is a mistake if no possible hand explains it together with all
/// earlier moves that are not mistakes.
#[derive(Clone)]
pub struct BlueprintBelief {
    game: Arc<SeenGame>,
    blueprint: Blueprint,
    particles: Vec<Particle>,
    /// Whether the hands are all possible ones, and not a sample.
    is_exact: bool,
    /// For each turn, whether it counts as a move by the blueprint.
    is_explained: Vec<bool>,
    /// The number of turns that the hands have followed.
    followed: usize,
    /// Whether the belief had no hands in some turn of the searching seat. The moves before that
    /// turn were then not compared with the blueprint's.
    has_gap: bool,
    /// A hand's likelihood is multiplied by this for each teammate's move that the hand does not
    /// explain. 0 drops the hand.
    mistake: f64,
    /// The number of hands wanted.
    wanted: usize,
    /// The seed of the first random numbers, and that of the next ones.
    first_seed: u64,
    seed: u64,
}

impl fmt::Debug for BlueprintBelief {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BlueprintBelief")
            .field("hands", &self.particles.len())
            .field("is_exact", &self.is_exact)
            .finish_non_exhaustive()
    }
}

impl BlueprintBelief {
    /// The belief at the start of a game.
    pub(super) fn new(
        view: &View<'_>,
        blueprint: &Blueprint,
        mistake: f64,
        wanted: usize,
        seed: u64,
    ) -> BlueprintBelief {
        BlueprintBelief {
            game: Arc::new(SeenGame::start(Arc::new(view.variant().clone()), view)),
            blueprint: blueprint.clone(),
            particles: Vec::new(),
            is_exact: false,
            is_explained: Vec::new(),
            followed: 0,
            has_gap: false,
            mistake,
            wanted,
            first_seed: seed,
            seed,
        }
    }

    /// The possible hands, the oldest card first, with their probabilities. A sample may have a
    /// hand more than once.
    pub fn hands(&self) -> impl Iterator<Item = (Vec<Card>, f64)> {
        let cards = |hand: &[u8]| {
            hand.iter().map(|&card| self.game.variant().card_unchecked(card)).collect()
        };
        self.hand_indices().map(move |(hand, share)| (cards(hand), share))
    }

    /// As [`BlueprintBelief::hands`], with card indices.
    pub(crate) fn hand_indices(&self) -> impl Iterator<Item = (&[u8], f64)> {
        let total = self.total();
        let size = self.game.view_before(self.followed).hand_size(Offset::OWN);
        self.particles.iter().map(move |particle| (&particle.hand[..size], particle.weight / total))
    }

    /// Whether the hands are all possible ones, and not a sample.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The turns of teammates that the blueprint does not explain.
    pub fn unexplained(&self) -> impl Iterator<Item = usize> {
        (0..self.is_explained.len()).filter(|&turn| !self.is_explained[turn])
    }

    pub(super) const fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    pub(super) fn particles(&self) -> &[Particle] {
        &self.particles
    }

    fn total(&self) -> f64 {
        self.particles.iter().map(|particle| particle.weight).sum()
    }

    /// The effective sample size: the number of equally likely hands with the same variance.
    fn effective_size(&self) -> f64 {
        let squares: f64 =
            self.particles.iter().map(|particle| particle.weight * particle.weight).sum();
        if squares > 0.0 { self.total().powi(2) / squares } else { 0.0 }
    }

    fn next_seed(&mut self) -> u64 {
        self.seed = mix_seed(self.seed, 1);
        self.seed
    }

    /// Adds a turn to the game. The hands follow it in the next call of
    /// [`BlueprintBelief::prepare`].
    pub(super) fn observe(&mut self, turn: &Turn<'_>) {
        Arc::make_mut(&mut self.game).add(turn.event, &turn.after);
    }

    /// Follows the turns since the last decision and makes the belief good enough for the next one;
    /// afterwards it has at least one hand.
    ///
    /// # Errors
    /// [`SearchError::Stopped`] if the call is stopped. The belief then has no hands, and the next call computes it
    /// from the whole game.
    pub(super) fn prepare(&mut self, workers: &mut [Blueprint]) -> Result<(), SearchError> {
        let prepared = self.follow_game(workers);
        if prepared.is_err() {
            self.particles.clear();
            self.is_exact = false;
            self.is_explained.fill(true);
            self.has_gap = true;
        }
        prepared
    }

    fn follow_game(&mut self, workers: &mut [Blueprint]) -> Result<(), SearchError> {
        while self.followed < self.game.history().len() {
            self.follow_turn(workers)?;
        }
        if self.is_exact && !self.particles.is_empty() {
            return Ok(());
        }
        let belief = Belief::new(&self.game.view_before(self.followed));
        if let Some(hands) = belief.hands(self.wanted) {
            let weighed = hands.into_iter().map(|(hand, ways)| (hand, ways as f64));
            return self.enumerate(&weighed.collect::<Vec<_>>(), workers);
        }
        if self.effective_size() < MIN_EFFECTIVE_SHARE * self.wanted as f64 {
            self.refill(&self.game.clone(), 1.0, workers)?;
        }
        if self.particles.is_empty() && self.has_gap {
            self.retrace(workers)?;
        }
        if self.particles.is_empty() {
            self.refill_despite_mistakes(workers)?;
        }
        SearchError::check_stop()
    }

    /// Updates the hands with the next turn.
    fn follow_turn(&mut self, workers: &mut [Blueprint]) -> Result<(), SearchError> {
        let index = self.followed;
        let is_own = self.game.history()[index].seat == self.game.observer();
        self.followed += 1;
        self.is_explained.resize(self.followed, true);
        if self.particles.is_empty() {
            self.has_gap |= is_own;
            return Ok(());
        }
        let is_last = self.followed == self.game.history().len();
        let game = if is_last {
            self.game.clone()
        } else {
            Arc::new(first_turns(&self.game, self.followed))
        };
        let (event, turn) = (
            &game.history()[index],
            Turn::between(game.view_before(index), game.view_before(index + 1)),
        );
        self.particles.retain(|particle| fits(&particle.hand, event, is_own, &turn));
        if is_own && let Some(slot) = event.played.slot() {
            self.replace_card(slot.index(), &turn);
        } else if event.drawn.is_some() && !self.is_exact {
            self.weigh_draw(&turn);
        }
        let agrees = self.blueprint.follow(&game, index, &mut self.particles)?;
        if self.mistake > 0.0 {
            doubt(&mut self.particles, &agrees, self.mistake);
        } else if agrees.contains(&true) {
            retain(&mut self.particles, &agrees);
        } else if !agrees.is_empty() {
            self.explain(&game, workers)?;
        }
        self.weigh_exactly(&turn);
        Ok(())
    }

    /// None of the hands explains the last move of the game so far. If the hands are a sample,
    /// other hands may explain it; if they are all hands, the move is a mistake.
    fn explain(&mut self, game: &SeenGame, workers: &mut [Blueprint]) -> Result<(), SearchError> {
        let (kept, is_exact) = (std::mem::take(&mut self.particles), self.is_exact);
        if !is_exact {
            self.refill(game, 1.0, workers)?;
        }
        if self.particles.is_empty() {
            self.is_explained[game.history().len() - 1] = false;
            (self.particles, self.is_exact) = (kept, is_exact);
        }
        Ok(())
    }

    /// A card of the searching seat left its hand, and another may have come.
    fn replace_card(&mut self, slot: usize, turn: &Turn<'_>) {
        let (before, after) =
            (turn.before.hand_size(Offset::OWN), turn.after.hand_size(Offset::OWN));
        for particle in &mut self.particles {
            particle.hand.copy_within(slot + 1..before, slot);
            particle.hand[before - 1] = 0;
        }
        if after < before {
            return;
        }
        let draw = OwnDraw {
            kinds: turn.before.variant().num_card_kinds(),
            unseen: turn.after.unseen(),
            newest: after - 1,
        };
        if self.is_exact {
            let hands = self.particles.iter().map(|particle| draw.possible(&particle.hand).count());
            if hands.sum::<usize>() <= self.wanted {
                let before = std::mem::take(&mut self.particles);
                self.particles = before.iter().flat_map(|particle| draw.each(particle)).collect();
                return;
            }
            self.particles = self.resampled(self.wanted);
            self.is_exact = false;
        }
        let mut rng = GameRng::from_state(self.next_seed());
        self.particles.retain_mut(|particle| draw.sample(&mut particle.hand, &mut rng));
    }

    /// A teammate drew a card: the fewer of its copies a hand holds, the likelier that was.
    fn weigh_draw(&mut self, turn: &Turn<'_>) {
        let Some(drawn) = turn.event.drawn else { return };
        let kind = turn.before.variant().card_index_unchecked(drawn);
        let unseen = turn.before.unseen()[kind];
        let size = turn.before.hand_size(Offset::OWN);
        self.particles.retain_mut(|particle| {
            let held =
                particle.hand[..size].iter().filter(|&&card| usize::from(card) == kind).count();
            particle.weight *= f64::from(unseen) - held as f64;
            particle.weight > 0.0
        });
        // Only ratios matter.
        let most = self.particles.iter().map(|particle| particle.weight).fold(0.0, f64::max);
        self.particles.iter_mut().for_each(|particle| particle.weight /= most);
    }

    /// The weights of all possible hands: the numbers of choices of copies that make them.
    fn weigh_exactly(&mut self, turn: &Turn<'_>) {
        if !self.is_exact {
            return;
        }
        let (unseen, size) = (turn.after.unseen(), turn.after.hand_size(Offset::OWN));
        self.particles.retain_mut(|particle| {
            let mut left = unseen;
            particle.weight = particle.likelihood;
            for &card in &particle.hand[..size] {
                let left = &mut left[usize::from(card)];
                particle.weight *= f64::from(*left);
                *left = left.saturating_sub(1);
            }
            particle.weight > 0.0
        });
    }

    /// Draws this number of hands by their weights; each then has weight 1.
    fn resampled(&mut self, number: usize) -> Vec<Particle> {
        let step = self.total() / number as f64;
        let start = GameRng::from_state(self.next_seed()).fraction();
        let (mut next, mut passed) = (start * step, 0.0);
        let mut drawn = Vec::with_capacity(number);
        for particle in &self.particles {
            passed += particle.weight;
            while next < passed && drawn.len() < number {
                drawn.push(Particle { weight: 1.0, ..particle.clone() });
                next += step;
            }
        }
        drawn
    }

    /// Keeps those of all possible hands that explain the game.
    fn enumerate(
        &mut self,
        hands: &[WeighedHand],
        workers: &mut [Blueprint],
    ) -> Result<(), SearchError> {
        let game = self.game.clone();
        // Mistakes among a sample of hands need not be mistakes among all of them.
        if self.unexplained().next().is_some() {
            self.find_mistakes(hands, workers)?;
        }
        let mut particles = self.replayed(&game, hands, MIN_LIKELIHOOD, workers)?;
        if self.mistake > 0.0 {
            let likelihood = |particle: &Particle| particle.likelihood;
            let mut most = particles.iter().map(likelihood).fold(0.0, f64::max);
            if particles.is_empty() {
                most = self.find_mistakes(hands, workers)?;
            }
            if most < 1.0 {
                particles = self.replayed(&game, hands, MIN_LIKELIHOOD * most, workers)?;
            }
        } else if particles.is_empty() {
            self.find_mistakes(hands, workers)?;
            particles = self.replayed(&game, hands, MIN_LIKELIHOOD, workers)?;
        }
        (self.particles, self.is_exact) = (particles, true);
        Ok(())
    }

    /// Those of some hands that explain the game with a likelihood of at least `least`.
    fn replayed(
        &self,
        game: &SeenGame,
        hands: &[WeighedHand],
        least: f64,
        workers: &mut [Blueprint],
    ) -> Result<Vec<Particle>, SearchError> {
        map(workers, hands.len(), CHUNK, |worker, chunk| {
            worker.replay(game, &self.is_explained, self.mistake, least, &hands[chunk])
        })
    }

    /// Finds out which moves of the whole game are mistakes, if these are the possible hands. With
    /// a `mistake` above 0 it marks none. Returns the likelihood of the likeliest hand.
    fn find_mistakes(
        &mut self,
        hands: &[WeighedHand],
        workers: &mut [Blueprint],
    ) -> Result<f64, SearchError> {
        let game = self.game.clone();
        let mut left = map(workers, hands.len(), CHUNK, |worker, chunk| {
            worker.deviations(&game, &hands[chunk])
        })?;
        if self.mistake > 0.0 {
            let fewest = left.iter().map(|turns| turns.len()).min();
            return Ok(self.mistake.powi(fewest.unwrap_or(0) as i32));
        }
        for turn in 0..game.history().len() {
            let explains = |turns: &TurnSet| !turns.contains(turn);
            self.is_explained[turn] = left.iter().any(explains);
            if self.is_explained[turn] {
                left.retain(explains);
            }
        }
        Ok(1.0)
    }

    /// Follows the game from its first turn, as a seat does that searches in each of its turns.
    fn retrace(&mut self, workers: &mut [Blueprint]) -> Result<(), SearchError> {
        let game = &self.game;
        let mut walked = BlueprintBelief {
            particles: Vec::new(),
            is_exact: false,
            is_explained: Vec::new(),
            followed: 0,
            has_gap: false,
            seed: self.first_seed,
            ..self.clone()
        };
        let turns = game.history().iter().enumerate();
        for (turn, _) in turns.filter(|(_, event)| event.seat == game.observer()) {
            walked.game = Arc::new(first_turns(game, turn));
            walked.follow_game(workers)?;
        }
        walked.game = game.clone();
        walked.follow_game(workers)?;
        *self = walked;
        Ok(())
    }
}

/// The game as it was before a turn.
fn first_turns(game: &SeenGame, turn: usize) -> SeenGame {
    game.first_turns(turn).expect("the turn was played")
}

/// A card that the searching seat drew. It may be any card that is not seen and not in the hand.
struct OwnDraw {
    /// The number of kinds of cards.
    kinds: usize,
    /// The number of copies of each card that the seat could not see before the draw.
    unseen: [u8; MAX_CARD_KINDS],
    /// The slot of the card.
    newest: usize,
}

impl OwnDraw {
    /// The copies of a kind that may be drawn to this hand.
    fn left(&self, hand: &[u8; MAX_HAND_SIZE], kind: usize) -> u8 {
        let held = hand[..self.newest].iter().filter(|&&card| usize::from(card) == kind).count();
        self.unseen[kind].saturating_sub(held as u8)
    }

    /// The kinds that may be drawn to this hand.
    fn possible(&self, hand: &[u8; MAX_HAND_SIZE]) -> impl Iterator<Item = usize> {
        (0..self.kinds).filter(|&kind| self.left(hand, kind) > 0)
    }

    /// The hand with each card that may be drawn.
    fn each(&self, before: &Particle) -> impl Iterator<Item = Particle> {
        self.possible(&before.hand).map(|kind| {
            let mut particle = before.clone();
            particle.hand[self.newest] = kind as u8;
            particle
        })
    }

    /// Draws one of the copies that are left to this hand, each as likely as the others. Returns
    /// `false` if there is none.
    fn sample(&self, hand: &mut [u8; MAX_HAND_SIZE], rng: &mut GameRng) -> bool {
        let copies = |kind| u64::from(self.left(hand, kind));
        let total: u64 = (0..self.kinds).map(copies).sum();
        if total == 0 {
            return false;
        }
        let ticket = rng.below(total as u32).into();
        let drawn = ticket_index((0..self.kinds).map(copies), ticket);
        hand[self.newest] = drawn.expect("the ticket is below the sum") as u8;
        true
    }
}

/// Whether a hand before a turn is possible after what the turn showed.
fn fits(hand: &[u8; MAX_HAND_SIZE], event: &Event, is_own: bool, turn: &Turn<'_>) -> bool {
    let variant = turn.before.variant();
    match event.played {
        Move::Hint { offset, hint } => {
            let target = variant.seat_after_unchecked(event.seat, offset);
            target != turn.before.observer()
                || hint.touched(
                    hand[..turn.before.hand_size(Offset::OWN)]
                        .iter()
                        .map(|&card| variant.card_unchecked(card)),
                ) == event.touched
        }
        played => match (played.slot(), event.card) {
            (Some(slot), Some(card)) if is_own => {
                usize::from(hand[slot.index()]) == variant.card_index_unchecked(card)
            }
            _ => true,
        },
    }
}
