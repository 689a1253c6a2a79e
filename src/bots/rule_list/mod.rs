//! Bots that are lists of rules: the first rule that applies makes the move.
//!
//! The rules and the six published lists come from Walton-Rivers, Williams, Bartle, Perez-Liebana
//! and Lucas, "Evaluating and modelling Hanabi-playing agents", 2017. That paper took one list from
//! van den Bergh, Hommelberg, Kosters and Spieksma, "Aspects of the cooperative card game Hanabi",
//! 2016, and two lists and one rule from Osawa, "Solving Hanabi: estimating hands by opponent's actions in
//! cooperative game with incomplete information", 2015. The behaviour is that of the public
//! implementation in `MBlogs/mcts-hanabi` (from `rocanaan/hanabi-ad-hoc-learning`).
//!
//! - `rule`: the table of rules, and their texts; `condition`: conditions such as `life_tokens > 1`
//! - `play_rules`, `hint_rules`, `discard_rules`: the functions of the rules
//! - `context`: what a rule sees and shares with the other rules of a turn; `open_cards`: the
//!   fireworks and the discard pile
//! - `published_lists`: the six published lists
//!
//! To add a rule, write its function (`play_rules`, `hint_rules` or `discard_rules`) and its row in
//! [`RULES`]. To add a list, write it in `published_lists` and add its row to
//! [`BOTS`](super::BOTS).

mod condition;
mod context;
mod discard_rules;
mod hint_rules;
mod open_cards;
mod play_rules;
mod published_lists;
mod rule;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use published_lists::{FLAWED, IGGI, INTERNAL, OUTER, PIERS, VAN_DEN_BERGH};
pub use rule::{RULES, Rule, RuleError, RuleKind, rule};

use self::context::RuleContext;
use self::open_cards::{GoneCopies, OpenCards};
use super::bot::Bot;
use super::random::any_legal;
use crate::rules::{GameRng, Move, Variant, View};

/// Makes the move of the first rule that applies, or a random legal move if none does. Supports
/// every variant.
#[derive(Clone, Debug)]
pub struct RuleList {
    /// Shared by the copies for games and for imagined hands.
    rules: Arc<[Rule]>,
    open: OpenCards,
    gone: GoneCopies,
    rng: GameRng,
}

impl RuleList {
    /// A bot with these rules, in descending priority, before its first game.
    #[must_use]
    pub fn new(rules: &[Rule]) -> RuleList {
        RuleList {
            rules: rules.into(),
            open: OpenCards::default(),
            gone: GoneCopies::default(),
            rng: GameRng::for_samples(0),
        }
    }

    /// A bot with the rules of these texts, in descending priority, before its first game.
    ///
    /// # Errors
    /// The [`RuleError`] of the first text that cannot be parsed.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<RuleList, RuleError> {
        let rules: Result<Vec<Rule>, RuleError> =
            texts.iter().map(|text| text.as_ref().parse()).collect();
        Ok(RuleList::new(&rules?))
    }

    /// The rules, in descending priority.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether some rule applies in every turn. Otherwise the list makes random moves.
    fn covers_all_turns(&self, variant: &Variant) -> bool {
        let has = |name: &str| self.rules.iter().any(|rule| rule.always_applies(name));
        let (plays, hints) = (has("play-probably-safe"), has("hint-most"));
        let discards = has("discard-oldest") || has("discard-probably-useless");
        // With a crowning piece hands become empty: a seat without a card only hints, and a hint needs a teammate's card.
        if variant.crowning_piece() {
            return plays && hints;
        }
        // A discard is legal if a token is missing, and a hint if there is one and a teammate has a card; hands of one
        // card are empty after a play in the last round.
        plays
            || variant.max_information_tokens() > 0 && variant.hand_size() > 1 && hints && discards
    }
}

impl Bot for RuleList {
    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.open = OpenCards::default();
        self.gone = GoneCopies::default();
        self.rng = rng;
    }

    fn observes(&self) -> bool {
        false
    }

    fn is_deterministic(&self, variant: &Variant) -> bool {
        let draws = self.rules.iter().any(|rule| rule.kind().draws);
        !draws && self.covers_all_turns(variant)
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.open.update(view);
        let mut context = RuleContext::new(view, &self.open, &mut self.gone, &mut self.rng);
        let chosen = self.rules.iter().find_map(|rule| rule.apply(&mut context));
        debug_assert!(chosen.is_none_or(|chosen| view.is_legal(chosen)), "{chosen:?}");
        chosen.unwrap_or_else(|| any_legal(view, &mut self.rng))
    }
}
