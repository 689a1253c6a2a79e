//! Bots that are lists of rules: the first rule that applies makes the move.
//!
//! The rules and six of the lists are those of Walton-Rivers, Williams, Bartle, Perez-Liebana and
//! Lucas, "Evaluating and modelling Hanabi-playing agents" (2017), which took one list from van den
//! Bergh, Hommelberg, Kosters and Spieksma, "Aspects of the cooperative card game Hanabi" (2016) and
//! one rule from Osawa, "Solving Hanabi: estimating hands by opponent's actions in cooperative game
//! with incomplete information" (2015). They play as the public implementation in
//! `MBlogs/mcts-hanabi` (from `rocanaan/hanabi-ad-hoc-learning`) does.
//!
//! To add a rule, write its function (`play.rs`, `hint.rs`, `discard.rs`) and its row in
//! [`RULES`]. To add a list, write it in `lists.rs` and its line in [`BOTS`](super::BOTS).

mod condition;
mod counts;
mod discard;
mod hint;
mod lists;
mod piles;
mod play;
mod rule;
mod scene;
#[cfg(test)]
mod tests;

pub use lists::{FLAWED, IGGI, INTERNAL, OUTER, PIERS, VAN_DEN_BERGH};
pub use rule::{RULES, Rule, RuleError, RuleKind, UnknownRule, rule};

use self::piles::{Gone, Piles};
use self::scene::Scene;
use super::bot::Bot;
use super::random::any_legal;
use crate::rules::{EpisodeSeed, GameRng, Move, View};

/// Makes the move of the first rule that applies, and any legal one where none does. Plays every
/// variant.
#[derive(Clone, Debug)]
pub struct RuleList {
    rules: Vec<Rule>,
    piles: Piles,
    gone: Gone,
    rng: GameRng,
}

impl RuleList {
    /// A bot with these rules, the most important first. It waits for its first game.
    #[must_use]
    pub fn new(rules: &[Rule]) -> RuleList {
        RuleList {
            rules: rules.to_vec(),
            piles: Piles::default(),
            gone: Gone::default(),
            rng: GameRng::new(EpisodeSeed::default()),
        }
    }

    /// A bot with the rules of these texts, the most important first. It waits for its first game.
    ///
    /// # Errors
    /// [`RuleError`] of the first text that is no rule.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<RuleList, RuleError> {
        let rules: Result<Vec<Rule>, RuleError> =
            texts.iter().map(|text| text.as_ref().parse()).collect();
        Ok(RuleList::new(&rules?))
    }

    /// The rules, the most important first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Bot for RuleList {
    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.piles = Piles::default();
        self.gone = Gone::default();
        self.rng = rng;
    }

    fn observes(&self) -> bool {
        false
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.piles.catch_up(view);
        let mut scene = Scene::new(view, &self.piles, &mut self.gone, &mut self.rng);
        let chosen = self.rules.iter().find_map(|rule| rule.apply(&mut scene));
        debug_assert!(chosen.is_none_or(|chosen| view.is_legal(chosen)), "{chosen:?}");
        chosen.unwrap_or_else(|| any_legal(view, &mut self.rng))
    }
}
