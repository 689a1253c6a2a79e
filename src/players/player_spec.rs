//! A player that was loaded, from which players for any variant are made.

use std::sync::Arc;

use super::error::PlayerSpecError;
use super::policy_source::NamedPolicy;
use crate::bots::{Bot, BotKind, Noise, Noisy, Player, PolicyBot, RuleList};
use crate::nn::{MoveChoice, Policy};
use crate::rules::{UnsupportedVariantError, Variant};
use crate::search::{SearchError, SearchOptions, Searcher};

/// A bot with all its parameters and weights, or a search with one, parsed from its text, which is
/// one of:
/// - the name of a bot, see [`BOTS`](crate::bots::BOTS), or of a shipped policy, see
///   [`POLICIES`](crate::nn::POLICIES);
/// - a rule list, such as `rules: play-safe; hint-playable; discard-oldest`;
/// - a policy file, such as `policy: runs/mine.safetensors` or `policy: runs/mine.safetensors;
///   sampled`. A path that begins or ends with a space or contains a semicolon is written as a JSON
///   string, with `\u003b` for the semicolon;
/// - one of these with noise, such as `noisy: 0.1; smart`: with probability 0.1 a random legal move
///   replaces the bot's;
/// - a search, such as `search: smart; rollouts=10000`.
///
/// [`PlayerSpec::external`] has no text: the caller plays its turns.
///
/// The blueprint of a search is any of the others whose moves are not random and that does not see its
/// own hand. These options may follow it:
/// - `rollouts`, `milliseconds`, `hands`, `depth` and `threshold`, see [`SearchOptions`];
/// - `method=mirror`, which is made for several searching seats, and its `step`, see
///   [`Method::Mirror`](crate::search::Method::Mirror).
///
/// ```
/// use starmine::players::PlayerSpec;
/// use starmine::rules::{Parameters, Variant};
///
/// let spec: PlayerSpec = "search: smart; rollouts=1000".parse()?;
/// assert!(spec.searches());
/// assert!(spec.player(&Variant::new(Parameters::default())?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlayerSpec(pub(super) Spec);

/// The forms of a player.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    /// A bot of the registry.
    Kind(&'static BotKind),
    Rules(RuleList),
    Policy(NamedPolicy),
    /// One of the three above with random moves in between.
    Noisy(Noise, Box<PlayerSpec>),
    /// A search with one of the first three.
    Search {
        blueprint: Box<PlayerSpec>,
        options: SearchOptions,
    },
    External,
}

/// By text and weights: two files of one name may hold different policies.
impl PartialEq for PlayerSpec {
    fn eq(&self, other: &PlayerSpec) -> bool {
        let [one, two] = [self, other].map(|spec| spec.policy().map(|policy| policy.bytes()));
        one == two && self.to_string() == other.to_string()
    }
}

impl Eq for PlayerSpec {}

impl PlayerSpec {
    /// A policy that was read from a file, or that is shipped. `source` is the path of its file, or
    /// its name.
    #[must_use]
    pub fn of_policy(source: &str, policy: Arc<Policy>, choice: MoveChoice) -> PlayerSpec {
        PlayerSpec(Spec::Policy(NamedPolicy { source: source.to_owned(), policy, choice }))
    }

    /// A player outside this crate, such as one in another language: the caller plays its turns.
    #[must_use]
    pub const fn external() -> PlayerSpec {
        PlayerSpec(Spec::External)
    }

    /// Whether the caller plays its turns.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        matches!(self.0, Spec::External)
    }

    /// The player with noise: with this probability a random legal move replaces its own.
    ///
    /// # Errors
    /// [`PlayerSpecError::NoisyText`] for a player that has noise, that searches, or that is external.
    pub fn with_noise(self, noise: Noise) -> Result<PlayerSpec, PlayerSpecError> {
        match self.0 {
            Spec::Kind(_) | Spec::Rules(_) | Spec::Policy(_) => {
                Ok(PlayerSpec(Spec::Noisy(noise, Box::new(self))))
            }
            _ => Err(PlayerSpecError::NoisyText(self.to_string())),
        }
    }

    /// The player that searches with this one as its blueprint.
    ///
    /// # Errors
    /// [`SearchError`] for an option that is out of its range, for a time limit of another number than
    /// 1 to 1,000,000,000 milliseconds, which a text cannot have, and for a blueprint whose moves are
    /// random, that sees its own hand, that searches itself, that is external, or that cannot value
    /// positions for a depth.
    pub fn with_search(self, options: SearchOptions) -> Result<PlayerSpec, SearchError> {
        options.check_text()?;
        if self.cheats() {
            return Err(SearchError::Open(self.to_string()));
        }
        let of_policy = |policy: &Arc<Policy>| policy.variant().clone();
        let variant = self.policy().map_or_else(Variant::default, of_policy);
        Searcher::with(self.bot(&variant)?, &self.to_string(), variant.into(), options)?;
        Ok(PlayerSpec(Spec::Search { blueprint: Box::new(self), options }))
    }

    /// A new player for this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the bot does not support the variant.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariantError> {
        match &self.0 {
            Spec::Kind(kind) => kind.player(variant),
            Spec::Rules(list) => Ok(Player::bot(list.clone())),
            Spec::Policy(NamedPolicy { policy, choice, .. }) => {
                let named = |error| UnsupportedVariantError { name: self.to_string(), ..error };
                let bot = PolicyBot::new(policy.clone(), *choice, variant).map_err(named)?;
                Ok(Player::bot(bot))
            }
            Spec::Noisy(noise, spec) => Ok(Player::bot(Noisy::new(spec.bot(variant)?, *noise))),
            Spec::Search { blueprint, options } => {
                Ok(Player::bot(searcher(blueprint, variant, *options)?))
            }
            Spec::External => Ok(Player::External),
        }
    }

    /// A new bot for this variant, for what takes a bot: a [`Searcher`] or [`Noisy`].
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the bot does not support the variant, or if the player is external
    /// or the cheater, which sees all hands.
    pub fn bot(&self, variant: &Variant) -> Result<Box<dyn Bot>, UnsupportedVariantError> {
        self.player(variant)?.into_bot().ok_or_else(|| {
            let expected = "a bot that sees no more than its seat";
            UnsupportedVariantError::new(&self.to_string(), variant, expected)
        })
    }

    /// A new searcher for this variant; `None` for a player that does not search.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the blueprint does not support the variant, or if its moves are
    /// random there.
    pub fn searcher(&self, variant: &Variant) -> Result<Option<Searcher>, UnsupportedVariantError> {
        match &self.0 {
            Spec::Search { blueprint, options } => searcher(blueprint, variant, *options).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether it sees all hands.
    #[must_use]
    pub fn cheats(&self) -> bool {
        matches!(self.0, Spec::Kind(kind) if kind.cheats())
    }

    /// Whether it searches.
    #[must_use]
    pub const fn searches(&self) -> bool {
        matches!(self.0, Spec::Search { .. })
    }

    /// The policy, also of a player with noise and of a search; `None` for other bots.
    #[must_use]
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        Some(&self.named_policy()?.policy)
    }

    pub(super) fn named_policy(&self) -> Option<&NamedPolicy> {
        match &self.0 {
            Spec::Kind(_) | Spec::Rules(_) | Spec::External => None,
            Spec::Policy(named) => Some(named),
            Spec::Noisy(_, bot) | Spec::Search { blueprint: bot, .. } => bot.named_policy(),
        }
    }

    /// The same player, with another text for its policy.
    pub(crate) fn with_source(&self, source: &str) -> PlayerSpec {
        let mut changed = self.clone();
        let mut inner = &mut changed;
        loop {
            match &mut inner.0 {
                Spec::Kind(_) | Spec::Rules(_) | Spec::External => return changed,
                Spec::Policy(named) => {
                    source.clone_into(&mut named.source);
                    return changed;
                }
                Spec::Noisy(_, bot) | Spec::Search { blueprint: bot, .. } => inner = bot,
            }
        }
    }
}

fn searcher(
    blueprint: &PlayerSpec,
    variant: &Variant,
    options: SearchOptions,
) -> Result<Searcher, UnsupportedVariantError> {
    // The rest was checked when the search was made.
    let expected = "a blueprint with a rule that always applies: without information tokens, only \
                    \"play-probably-safe 0\" does";
    Searcher::new(blueprint.bot(variant)?, variant.clone(), options)
        .map_err(|_| UnsupportedVariantError::new(&blueprint.to_string(), variant, expected))
}
