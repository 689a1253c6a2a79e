//! The bot that searches in each of its turns.

use std::fmt;
use std::sync::Arc;

use super::belief::BlueprintBelief;
use super::blueprint::Blueprint;
use super::decision::{Decision, search};
use super::error::SearchError;
use super::options::{Method, SearchOptions};
use crate::bots::{Bot, MoveValue, Turn, show_turns};
use crate::rules::{GameRng, Move, Seat, State, UnsupportedVariantError, Variant, View};

/// A searching teammate may leave the blueprint. The likelihood of each other move, relative to the
/// blueprint's move; see [`Method::Mirror`].
const MISTAKE_LIKELIHOOD: f64 = 0.02;

/// What messages call a blueprint that was not made of a text.
const GIVEN: &str = "the given bot";

/// A bot that searches in its seat, while its teammates play by a blueprint.
///
/// If several seats of a table search by [`Method::Single`], each of them assumes, wrongly, that the
/// others play the blueprint: its belief draws wrong conclusions from their moves, and its roll-outs
/// do not play as they do. [`Method::Mirror`] is made for several searching seats.
#[derive(Clone)]
pub struct Searcher {
    variant: Arc<Variant>,
    /// The blueprint's bot in the seat that searches.
    own: Box<dyn Bot>,
    blueprint: Blueprint,
    options: SearchOptions,
    rng: GameRng,
    belief: Option<BlueprintBelief>,
    /// What it found out in its last turn.
    values: Vec<MoveValue>,
}

impl fmt::Debug for Searcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Searcher").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Searcher {
    /// A bot before its first game. Where it asks the blueprint for moves of imagined games, the views
    /// have no history. An illegal move of the blueprint in an imagined game is a bug in the blueprint:
    /// the call that asked the searcher for its move panics.
    ///
    /// # Errors
    /// [`SearchError`] if the blueprint's moves are random, if it searches itself, if it does not
    /// support the variant, if it cannot value positions for a depth, or if an option is out of its
    /// range.
    pub fn new(
        blueprint: Box<dyn Bot>,
        variant: impl Into<Arc<Variant>>,
        options: SearchOptions,
    ) -> Result<Searcher, SearchError> {
        Searcher::with(blueprint, GIVEN, variant.into(), options)
    }

    /// As [`Searcher::new`], for a blueprint that messages call by this name.
    pub(crate) fn with(
        own: Box<dyn Bot>,
        name: &str,
        variant: Arc<Variant>,
        options: SearchOptions,
    ) -> Result<Searcher, SearchError> {
        options.check()?;
        if own.searches() {
            return Err(SearchError::Searches(name.to_owned()));
        }
        if !own.is_deterministic(&variant) {
            return Err(SearchError::Random(name.to_owned()));
        }
        own.check_variant(&variant)?;
        let blueprint = Blueprint::new(&*own, variant.players());
        if options.depth.is_some() && matches!(blueprint, Blueprint::Bots(_)) {
            return Err(SearchError::Valueless(name.to_owned()));
        }
        let rng = GameRng::for_samples(0);
        let (belief, values) = (None, Vec::new());
        Ok(Searcher { variant, own, blueprint, options, rng, belief, values })
    }

    /// Goes through a game of the searcher's variant up to its last turn, without searching.
    pub(super) fn catch_up(&mut self, state: &State, seat: Seat, seed: u64) {
        let mut start = state.dealt();
        self.start(&start.view(seat), GameRng::for_samples(seed));
        show_turns(self, seat, &mut start, state.history(), |searcher, view| {
            searcher.own.act(view);
        });
    }

    /// Searches for the seat to act in this state, whose past turns tell what it may believe. It uses
    /// what that seat sees. The seed draws the hands. Returns the decision, and what the seat believed
    /// about its own hand.
    ///
    /// Each call replays the game from its first turn. The game that the searcher plays as a [`Bot`]
    /// stays as it is. To search turn by turn, or where the deck is hidden from the caller, use the
    /// searcher as a [`Bot`]: it goes on from its last turn, with the views of a [`State`] or of a
    /// [`SeenGame`](crate::rules::SeenGame).
    ///
    /// # Errors
    /// [`SearchError`] if the game is over or has another variant.
    ///
    /// # Panics
    /// If the blueprint chooses an illegal move in a roll-out.
    pub fn decide(
        &self,
        state: &State,
        seed: u64,
    ) -> Result<(Decision, BlueprintBelief), SearchError> {
        self.check_variant(state.variant())?;
        if let Some(ending) = state.ending() {
            return Err(SearchError::GameOver(ending));
        }
        let mut searcher = self.clone();
        let seat = state.current_player();
        searcher.catch_up(state, seat, seed);
        let decision = searcher.choose(&state.view(seat))?;
        Ok((decision, searcher.belief.expect("a game has started")))
    }

    /// What the seat believed about its own hand in its last turn of the game that the searcher
    /// follows as a [`Bot`]. It has no hands before the first one. `None` before the first game.
    #[must_use]
    pub const fn belief(&self) -> Option<&BlueprintBelief> {
        self.belief.as_ref()
    }

    /// Searches for the seat to act in the followed game.
    ///
    /// # Errors
    /// [`SearchError::Stopped`] if the call is stopped. The seat may then be asked again, with other
    /// random hands.
    pub(super) fn choose(&mut self, view: &View<'_>) -> Result<Decision, SearchError> {
        let belief = self.belief.as_mut().expect("a game has started");
        belief.prepare(&mut self.options.workers(&self.blueprint))?;
        let mut rng = self.rng.clone();
        let seed = rng.below_u64(u64::MAX);
        let decision = search(view, belief, &*self.own, &self.options, seed)?;
        self.rng = rng;
        Ok(decision)
    }
}

impl Bot for Searcher {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        if *variant == *self.variant {
            return Ok(());
        }
        let expected = format!("the variant that the search was made for ({})", self.variant);
        Err(UnsupportedVariantError::new("search", variant, expected))
    }

    fn start(&mut self, view: &View<'_>, mut rng: GameRng) {
        let seed = rng.below_u64(u64::MAX);
        self.rng = rng;
        let mistake = match self.options.method {
            Method::Single { .. } => 0.0,
            Method::Mirror { .. } => MISTAKE_LIKELIHOOD,
        };
        let (blueprint, hands) = (&self.blueprint, self.options.hands);
        self.belief = Some(BlueprintBelief::new(view, blueprint, mistake, hands, seed));
        self.values.clear();
        self.own.start(view, GameRng::for_samples(0));
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        self.belief.as_mut().expect("a game has started").observe(turn);
        self.own.observe(turn);
    }

    fn searches(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let Ok(decision) = self.choose(view) else {
            // The call is stopped: this move is dropped, and the bot may be asked again.
            return self.own.clone().act(view);
        };
        // As in a game without search, where it is asked in each of its turns.
        self.own.act(view);
        self.values = decision.moves;
        decision.chosen
    }

    fn follow_turn(&mut self, view: &View<'_>) {
        // Later turns have the hands and the random numbers that follow a search in this one. If the call is
        // stopped, the next search finds the hands from the whole game.
        let belief = self.belief.as_mut().expect("a game has started");
        let _ = belief.prepare(&mut self.options.workers(&self.blueprint));
        self.rng.below_u64(u64::MAX);
        self.own.act(view);
    }

    fn values(&self) -> Option<&[MoveValue]> {
        Some(&self.values)
    }
}
