//! One decision: roll-outs of each legal move from sampled hands, and the choice by their mean
//! scores.

use std::time::Instant;

use super::belief::BlueprintBelief;
use super::blueprint::Blueprint;
use super::budget::Budget;
use super::candidate::{Candidate, best, drop_behind, halve};
use super::error::SearchError;
use super::options::{Method, SearchOptions};
use super::parallel::map;
use super::particle::Particle;
use super::rollout::Start;
use crate::bots::{Bot, MoveValue};
use crate::rules::{GameRng, Move, Offset, RandomGame, View, mix_seed};

/// Samples that a thread takes at a time.
const CHUNK: usize = 16;

/// The fewest samples after which a move is dropped.
const MIN_SAMPLES: usize = 32;

/// The best move is played if it leads the blueprint's move by more than this many standard errors
/// of their difference. With few roll-outs the best mean is often luck.
const LEAD_ERRORS: f64 = 1.0;

/// The golden ratio's fraction: its multiples spread evenly over the unit interval, however many
/// there are.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The move to make: the blueprint's, unless the best one is clearly better.
    pub chosen: Move,
    /// The move of the blueprint.
    pub blueprint: Move,
    /// The legal moves with the mean scores of their roll-outs, in the order of their actions. All have
    /// no roll-outs if nothing was searched, see
    /// [`SearchOptions::rollouts`](super::SearchOptions::rollouts).
    pub moves: Vec<MoveValue>,
}

/// Searches for the best move of the observer of a view, who is to act: the move of the highest
/// mean score over games that are played to the end by the blueprint in all seats, see [`Method`].
///
/// All moves get the same hands and decks. Moves that fall behind are dropped, and after each round
/// the worse half is dropped too. Without a limit of time the result is the same for any number of
/// threads.
///
/// # Errors
/// [`SearchError::Stopped`] if the call is stopped.
pub(super) fn search(
    view: &View<'_>,
    belief: &BlueprintBelief,
    own: &dyn Bot,
    options: &SearchOptions,
    seed: u64,
) -> Result<Decision, SearchError> {
    let started = Instant::now();
    let is_over = || options.time_limit.is_some_and(|limit| started.elapsed() >= limit);
    let variant = view.variant();
    let mut own = own.boxed_clone();
    let blueprint = own.act(view);
    let moves: Vec<Move> = view.legal_moves().collect();
    let mut workers = options.workers(belief.blueprint());
    let bonuses = bonuses(&mut workers[0], view, &moves, blueprint, options);
    let candidate = |(&played, bonus)| Candidate::new(played, bonus);
    let mut kept: Vec<Candidate> = moves.iter().zip(bonuses).map(candidate).collect();
    let mut dropped = Vec::new();
    let draw = Draw::new(belief.particles(), seed);
    let mut budget = Budget::new(options.rollouts as usize, kept.len());
    let mut samples = 0;
    while kept.len() > 1 && budget.left >= kept.len() && !is_over() {
        let block = budget.block(kept.len());
        let scores = map(&mut workers, block, CHUNK, |worker, chunk| {
            let drawn: Vec<Sample<'_>> =
                chunk.map(|index| draw.sample(view, samples + index)).collect();
            let moves: Vec<Move> = kept.iter().map(|candidate| candidate.legal_move).collect();
            scores(worker, view, &drawn, &moves, &*own, options.depth)
        })?;
        for scores in scores {
            kept.iter_mut().zip(scores).for_each(|(candidate, score)| candidate.scores.push(score));
        }
        samples += block;
        let ends_round = budget.spend(block * kept.len());
        if samples >= MIN_SAMPLES {
            drop_behind(&mut kept, &mut dropped);
        }
        if ends_round {
            halve(&mut kept, &mut dropped, blueprint);
        }
    }
    let kept_moves = kept.iter().map(|candidate| candidate.value(true));
    let dropped_moves = dropped.iter().map(|candidate| candidate.value(false));
    let mut moves: Vec<MoveValue> = kept_moves.chain(dropped_moves).collect();
    moves.sort_by_key(|value| variant.move_to_action(value.candidate));
    Ok(Decision { chosen: choose(&kept, blueprint), blueprint, moves })
}

/// The best of the moves that were kept, or the blueprint's if that is not surely worse.
fn choose(kept: &[Candidate], blueprint: Move) -> Move {
    let best = &kept[best(kept)];
    let expected = kept.iter().find(|candidate| candidate.legal_move == blueprint);
    let is_luck = expected.is_some_and(|expected| !expected.is_behind(best, LEAD_ERRORS));
    if is_luck { blueprint } else { best.legal_move }
}

/// What is added to the mean of each move when moves are compared.
fn bonuses(
    worker: &mut Blueprint,
    view: &View<'_>,
    moves: &[Move],
    blueprint: Move,
    options: &SearchOptions,
) -> Vec<f64> {
    match options.method {
        Method::Single { threshold } => {
            let bonus = |&played| if played == blueprint { threshold } else { 0.0 };
            moves.iter().map(bonus).collect()
        }
        // The step of mirror descent multiplies the probability of a move by the exponential of
        // `step` times its value.
        Method::Mirror { step } => {
            let logits = worker.log_probabilities(view, moves, blueprint);
            logits.into_iter().map(|logit| logit / step).collect()
        }
    }
}

/// Hands by their weights.
struct Draw<'a> {
    particles: &'a [Particle],
    /// The sum of the weights up to each hand.
    sums: Vec<f64>,
    seed: u64,
    /// Where the even spread starts.
    start: f64,
}

/// A hand, and a game in which the searching seat holds it.
type Sample<'a> = (&'a Particle, RandomGame);

impl<'a> Draw<'a> {
    fn new(particles: &'a [Particle], seed: u64) -> Draw<'a> {
        let add = |sum: &mut f64, particle: &Particle| {
            *sum += particle.weight;
            Some(*sum)
        };
        let sums = particles.iter().scan(0.0, add).collect();
        let start = GameRng::from_state(seed).fraction();
        Draw { particles, sums, seed, start }
    }

    /// The hand of a sample, and the game with it and a deck.
    fn sample(&self, view: &View<'_>, index: usize) -> Sample<'a> {
        let place = (self.start + index as f64 * GOLDEN).fract();
        let passed = place * self.sums.last().expect("a belief has hands");
        let drawn = self.sums.partition_point(|&sum| sum <= passed);
        let particle = &self.particles[drawn.min(self.particles.len() - 1)];
        let position = view.position_with_hand(&particle.hand[..view.hand_size(Offset::OWN)]);
        let rng = GameRng::from_state(mix_seed(self.seed, index as u64));
        (particle, RandomGame::resume(view.variant(), position, rng))
    }
}

/// For each sample the scores of all moves.
fn scores<'a>(
    worker: &mut Blueprint,
    view: &View<'_>,
    samples: &'a [Sample<'a>],
    moves: &[Move],
    own: &'a dyn Bot,
    depth: Option<u32>,
) -> Vec<Vec<f32>> {
    let start = |((particle, game), &first): (&'a Sample<'a>, &Move)| Start {
        game,
        first,
        bots: &particle.bots,
        observer: view.observer(),
        own,
    };
    let pairs = samples.iter().flat_map(|sample| moves.iter().map(move |first| (sample, first)));
    let starts: Vec<Start<'_>> = pairs.map(start).collect();
    let scores = worker.play(view.variant(), &starts, depth);
    scores.chunks(moves.len()).map(<[f32]>::to_vec).collect()
}
