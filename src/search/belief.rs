use super::blueprint::{Blueprint, WeighedHand, doubt, retain};
use super::parallel::map;
use super::particle::Particle;
use super::seen_game::{SeenGame, own_slot};
use crate::bots::Turn;
use crate::rules::{
    Belief, Event, GameRng, Hint, MAX_HAND_SIZE, Move, SlotSet, Variant, View, mix_seed,
};

/// Hands that are drawn for each hand that is wanted, before a refill gives up.
const DRAWS: usize = 10;

/// Hands drawn at a time.
const BLOCK: usize = 512;

/// Hands that a thread takes at a time.
const CHUNK: usize = 64;

/// A refill is due when the hands are worth fewer equally likely ones than this share of those wanted.
const WORN: f64 = 0.25;

/// Where the hands of a belief come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// They are all that are possible.
    Exact,
    /// They are a sample.
    Sampled,
}

/// What a seat believes about its own hand: given what it sees, and that its teammates play by a blueprint.
///
/// A teammate that searches makes other moves, too: each of them makes a hand that does not explain it less likely. In
/// that case no hand is dropped for a move.
///
/// The hands are all that are possible as soon as these are few enough, and else a weighted sample of them. A move that
/// the blueprint makes with none of them is taken for a mistake: it then says nothing, see
/// [`BlueprintBelief::unexplained`].
#[derive(Clone)]
pub struct BlueprintBelief {
    game: SeenGame,
    blueprint: Blueprint,
    particles: Vec<Particle>,
    source: Source,
    /// For each turn, whether it counts as a move by the blueprint.
    is_explained: Vec<bool>,
    /// A hand's likelihood is multiplied by this for each teammate's move that the hand does not explain. 0 drops the hand.
    mistake: f64,
    /// The number of hands wanted.
    wanted: usize,
    /// The seed of the next random numbers.
    seed: u64,
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
            game: SeenGame::new(view),
            blueprint: blueprint.clone(),
            particles: Vec::new(),
            source: Source::Sampled,
            is_explained: Vec::new(),
            mistake,
            wanted,
            seed,
        }
    }

    /// The possible hands as card indices with their probabilities. A sample may have a hand more than once.
    pub fn hands(&self) -> impl Iterator<Item = (&[u8], f64)> {
        let total = self.total();
        let size = self.hand_size();
        self.particles.iter().map(move |found| (&found.hand[..size], found.weight / total))
    }

    /// Where the hands come from.
    #[must_use]
    pub const fn source(&self) -> Source {
        self.source
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

    fn hand_size(&self) -> usize {
        self.game.hand_size(self.game.length())
    }

    fn total(&self) -> f64 {
        self.particles.iter().map(|found| found.weight).sum()
    }

    /// The number of equally likely hands that would be worth as much as these.
    fn worth(&self) -> f64 {
        let squares: f64 = self.particles.iter().map(|found| found.weight * found.weight).sum();
        if squares > 0.0 { self.total().powi(2) / squares } else { 0.0 }
    }

    fn next_seed(&mut self) -> u64 {
        self.seed = mix_seed(self.seed, 1);
        self.seed
    }

    /// Updates the belief with a turn.
    pub(super) fn observe(&mut self, turn: &Turn<'_>) {
        let index = self.game.length();
        self.game.add(turn);
        self.is_explained.push(true);
        let event = *self.game.event(index);
        let is_own = usize::from(event.seat) == self.game.observer();
        self.particles.retain(|found| fits(&found.hand, &event, is_own, turn));
        if is_own && event.card.is_some() {
            self.replace_card(own_slot(event.played), turn);
        } else if let (Some(_), true) = (event.drawn, self.source == Source::Sampled) {
            self.weigh_draw(turn);
        }
        let agrees = self.blueprint.follow(&self.game, index, &mut self.particles);
        if self.mistake > 0.0 {
            doubt(&mut self.particles, &agrees, self.mistake);
        } else if agrees.contains(&true) {
            retain(&mut self.particles, &agrees);
        } else if !agrees.is_empty() {
            self.explain(index, turn);
        }
        self.weigh_exactly(turn);
    }

    /// None of the hands explains a move. Others may, if these are a sample; else it is a mistake.
    fn explain(&mut self, index: usize, turn: &Turn<'_>) {
        let (kept, source) = (std::mem::take(&mut self.particles), self.source);
        if source == Source::Sampled {
            self.refill(&turn.after, &mut [self.blueprint.clone()]);
        }
        if self.particles.is_empty() {
            self.is_explained[index] = false;
            (self.particles, self.source) = (kept, source);
        }
    }

    /// An own card left the hand, and another may have come.
    fn replace_card(&mut self, slot: usize, turn: &Turn<'_>) {
        let (before, after) = (turn.before.hand_size(0), turn.after.hand_size(0));
        for found in &mut self.particles {
            found.hand.copy_within(slot + 1..before, slot);
            found.hand[before - 1] = 0;
        }
        if after < before {
            return;
        }
        let (newest, unseen) = (after - 1, turn.after.unseen());
        let kinds = turn.before.variant().num_card_kinds();
        let left = |hand: &[u8; MAX_HAND_SIZE], kind: usize| {
            let held =
                hand[..newest].iter().filter(|&&card| usize::from(card) == kind).count() as u8;
            unseen[kind].saturating_sub(held)
        };
        let exact: usize = match self.source {
            Source::Exact => {
                let kinds = |found: &Particle| {
                    (0..kinds).filter(|&kind| left(&found.hand, kind) > 0).count()
                };
                self.particles.iter().map(kinds).sum()
            }
            Source::Sampled => usize::MAX,
        };
        if exact <= self.wanted {
            let expand = |found: Particle| {
                let drawn: Vec<usize> =
                    (0..kinds).filter(|&kind| left(&found.hand, kind) > 0).collect();
                drawn.into_iter().map(move |kind| {
                    let mut found = found.clone();
                    found.hand[newest] = kind as u8;
                    found
                })
            };
            self.particles = self.particles.drain(..).flat_map(expand).collect();
            return;
        }
        if self.source == Source::Exact {
            self.particles = self.resampled(self.wanted);
            self.source = Source::Sampled;
        }
        let mut rng = GameRng::from_state(self.next_seed());
        self.particles.retain_mut(|found| {
            let total: u32 = (0..kinds).map(|kind| u32::from(left(&found.hand, kind))).sum();
            if total == 0 {
                return false;
            }
            let mut ticket = rng.below(total);
            let drawn = (0..kinds).find(|&kind| {
                let copies = u32::from(left(&found.hand, kind));
                let wins = ticket < copies;
                ticket = ticket.wrapping_sub(copies);
                wins
            });
            found.hand[newest] = drawn.expect("the ticket is below the sum") as u8;
            true
        });
    }

    /// A teammate drew a card: the fewer of its copies a hand holds, the likelier that was.
    fn weigh_draw(&mut self, turn: &Turn<'_>) {
        let Some(drawn) = turn.event.drawn else { return };
        let kind = turn.before.variant().card_index(drawn);
        let unseen = turn.before.unseen()[kind];
        let size = turn.before.hand_size(0);
        self.particles.retain_mut(|found| {
            let held = found.hand[..size].iter().filter(|&&card| usize::from(card) == kind).count();
            found.weight *= f64::from(unseen) - held as f64;
            found.weight > 0.0
        });
        // Only ratios matter.
        let most = self.particles.iter().map(|found| found.weight).fold(0.0, f64::max);
        self.particles.iter_mut().for_each(|found| found.weight /= most);
    }

    /// The weights of all possible hands: the numbers of choices of copies that make them.
    fn weigh_exactly(&mut self, turn: &Turn<'_>) {
        if self.source != Source::Exact {
            return;
        }
        let (unseen, size) = (turn.after.unseen(), turn.after.hand_size(0));
        self.particles.retain_mut(|found| {
            let mut left = unseen;
            found.weight = found.likelihood;
            for &card in &found.hand[..size] {
                let left = &mut left[usize::from(card)];
                found.weight *= f64::from(*left);
                *left = left.saturating_sub(1);
            }
            found.weight > 0.0
        });
    }

    /// So many draws from the hands by their weights, each with weight 1.
    fn resampled(&mut self, number: usize) -> Vec<Particle> {
        let step = self.total() / number as f64;
        let start = fraction(&mut GameRng::from_state(self.next_seed()));
        let (mut next, mut passed) = (start * step, 0.0);
        let mut drawn = Vec::with_capacity(number);
        for found in &self.particles {
            passed += found.weight;
            while next < passed && drawn.len() < number {
                drawn.push(Particle { weight: 1.0, ..found.clone() });
                next += step;
            }
        }
        drawn
    }

    /// Makes the belief good enough for a decision; afterwards it has at least one hand.
    pub(super) fn prepare(&mut self, view: &View<'_>, rooms: &mut [Blueprint]) {
        if self.source == Source::Exact && !self.particles.is_empty() {
            return;
        }
        if let Some(hands) = Belief::new(view).hands(self.wanted) {
            self.enumerate(&hands, rooms);
        } else if self.worth() < WORN * self.wanted as f64 {
            self.refill(view, rooms);
        }
        if self.particles.is_empty() {
            // Since a mistake, later moves were read wrongly: what remains is what everybody sees.
            let observer = self.game.observer();
            for turn in 0..self.game.length() {
                self.is_explained[turn] &= usize::from(self.game.event(turn).seat) == observer;
            }
            match Belief::new(view).hands(self.wanted) {
                Some(hands) => self.enumerate(&hands, rooms),
                None => self.refill(view, rooms),
            }
        }
    }

    /// Keeps those of all possible hands that explain the game.
    fn enumerate(&mut self, hands: &[([u8; MAX_HAND_SIZE], u64)], rooms: &mut [Blueprint]) {
        let hands: Vec<WeighedHand> =
            hands.iter().map(|&(hand, ways)| (hand, ways as f64)).collect();
        let found = map(rooms, hands.len(), CHUNK, |room, chunk| {
            room.replay(&self.game, &self.is_explained, self.mistake, &hands[chunk])
        });
        if !found.is_empty() {
            self.particles = found;
            self.source = Source::Exact;
        }
    }

    /// Draws possible hands that explain the game, until there are as many as wanted.
    fn refill(&mut self, view: &View<'_>, rooms: &mut [Blueprint]) {
        let belief = Belief::new(view);
        self.source = Source::Sampled;
        let seed = self.next_seed();
        let kept = (self.worth() as usize).min(self.wanted);
        self.particles = if kept == 0 { Vec::new() } else { self.resampled(kept) };
        for first in (0..self.wanted * DRAWS).step_by(BLOCK) {
            if self.particles.len() >= self.wanted {
                break;
            }
            let found = map(rooms, BLOCK, CHUNK, |room, chunk| {
                let draw = |index| {
                    let mut rng = GameRng::from_state(mix_seed(seed, (first + index) as u64));
                    Some((belief.sample(&mut rng)?, 1.0))
                };
                let mut rng = GameRng::from_state(mix_seed(!seed, (first + chunk.start) as u64));
                let hands: Vec<WeighedHand> = chunk.filter_map(draw).collect();
                let mut found = room.replay(&self.game, &self.is_explained, self.mistake, &hands);
                found.retain(|found| found.weight == 1.0 || fraction(&mut rng) < found.weight);
                found.iter_mut().for_each(|found| found.weight = 1.0);
                found
            });
            self.particles.extend(found);
        }
    }
}

/// A number from 0 to below 1.
pub(super) fn fraction(rng: &mut GameRng) -> f64 {
    rng.below_u64(1 << 53) as f64 / (1u64 << 53) as f64
}

/// Whether a hand before a turn is possible after what the turn showed.
fn fits(hand: &[u8; MAX_HAND_SIZE], event: &Event, is_own: bool, turn: &Turn<'_>) -> bool {
    let variant = turn.before.variant();
    match event.played {
        Move::Hint { offset, hint } => {
            let target = variant.seat_after(event.seat.into(), offset.into());
            target != turn.before.observer()
                || touched(variant, &hand[..turn.before.hand_size(0)], hint) == event.touched
        }
        played => match event.card {
            Some(card) if is_own => usize::from(hand[own_slot(played)]) == variant.card_index(card),
            _ => true,
        },
    }
}

/// The cards that a hint touches.
fn touched(variant: &Variant, hand: &[u8], hint: Hint) -> SlotSet {
    let matches =
        |&(_, &card): &(usize, &u8)| hint.matches(variant.tables().card[usize::from(card)]);
    SlotSet(hand.iter().enumerate().filter(matches).map(|(slot, _)| 1 << slot).sum())
}
