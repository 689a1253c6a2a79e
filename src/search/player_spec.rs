//! Players by their text: a bot, or a search such as `search: smart; rollouts=1000`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::options::{Method, STEP, SearchOptionError, SearchOptions};
use super::search_text::{SearchText, SeveralSearchesError};
use super::searcher::{BlueprintError, Searcher};
use crate::bots::{
    BotSpec, BotSpecError, FindPolicy, Player, UnsupportedVariantError, find_policy,
};
use crate::rules::{UnknownNameError, Variant};

/// The options, as they are written after the blueprint.
const OPTIONS: [&str; 8] =
    ["rollouts", "milliseconds", "hands", "depth", "threshold", "method", "step", "seats"];

/// A player of a table parsed from its text: a bot, see [`BotSpec`], or one that searches, such as
/// `search: smart; rollouts=10000`.
///
/// After the blueprint, which is any bot whose moves are not random, these options may follow:
/// - `rollouts`, `milliseconds`, `hands`, `depth` and `threshold`, see [`SearchOptions`];
/// - `method=mirror`, with which several seats may search, and its `step`, see [`Method::Mirror`];
/// - `seats=all`, which allows several seats of a table to search. Each of them then assumes,
///   wrongly, that the others follow the blueprint.
///
/// ```
/// use starmine::rules::{Parameters, Variant};
/// use starmine::search::PlayerSpec;
///
/// let player: PlayerSpec = "search: smart; rollouts=1000".parse()?;
/// assert!(player.player(&Variant::new(Parameters::default())?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum PlayerSpec {
    /// A bot.
    Bot(BotSpec),
    /// A bot that searches.
    Search(SearchSpec),
}

/// A blueprint and how to search with it.
#[derive(Clone, Debug)]
pub struct SearchSpec {
    blueprint: BotSpec,
    options: SearchOptions,
    /// Whether other seats of the table may search too.
    in_all_seats: bool,
}

/// A text that specifies no player.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayerSpecError {
    /// The text of the bot or of the blueprint is not valid.
    #[error(transparent)]
    Bot(#[from] BotSpecError),
    /// The blueprint cannot be used.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
    /// No option has this name.
    #[error(transparent)]
    Option(#[from] UnknownNameError),
    /// An option with a wrong value.
    #[error(transparent)]
    Value(#[from] SearchOptionError),
    /// An option that is given twice.
    #[error("{0} is given twice in a search: expected each option once")]
    Twice(String),
}

impl PlayerSpec {
    /// A new player for this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the bot does not support the variant.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariantError> {
        match self {
            PlayerSpec::Bot(spec) => spec.player(variant),
            PlayerSpec::Search(spec) => Ok(Player::Bot(Box::new(spec.searcher(variant, 1)?))),
        }
    }

    /// The bot, or the blueprint of one that searches.
    #[must_use]
    pub const fn bot(&self) -> &BotSpec {
        match self {
            PlayerSpec::Bot(spec) => spec,
            PlayerSpec::Search(spec) => &spec.blueprint,
        }
    }

    /// The same player, with another text for its policy.
    pub(crate) fn with_source(&self, source: &str) -> PlayerSpec {
        match self {
            PlayerSpec::Bot(spec) => PlayerSpec::Bot(spec.with_source(source)),
            PlayerSpec::Search(spec) => {
                let blueprint = spec.blueprint.with_source(source);
                PlayerSpec::Search(SearchSpec { blueprint, ..spec.clone() })
            }
        }
    }

    /// Parses a text; `find` finds its policy.
    ///
    /// # Errors
    /// [`PlayerSpecError`] if the text specifies no player.
    pub(crate) fn parse(text: &str, find: &FindPolicy<'_>) -> Result<PlayerSpec, PlayerSpecError> {
        match SearchText::of(text) {
            Some(text) => Ok(PlayerSpec::Search(SearchSpec::parse(&text, find)?)),
            None => Ok(PlayerSpec::Bot(BotSpec::parse(text, find)?)),
        }
    }

    /// Whether it searches.
    #[must_use]
    pub const fn searches(&self) -> bool {
        matches!(self, PlayerSpec::Search(_))
    }

    /// Checks that at most one seat of a table searches, unless all of those that do allow it.
    ///
    /// # Errors
    /// [`SeveralSearchesError`] otherwise.
    pub fn check_table<'a>(
        seats: impl Iterator<Item = Option<&'a PlayerSpec>>,
    ) -> Result<(), SeveralSearchesError> {
        SearchText::check_table(seats.map(|spec| match spec {
            Some(PlayerSpec::Search(spec)) => Some(spec.in_all_seats),
            _ => None,
        }))
    }
}

impl SearchSpec {
    /// Checks that a blueprint can be searched with. `in_all_seats` allows other seats of the table
    /// to search too, which [`Method::Mirror`] always does.
    ///
    /// # Errors
    /// [`BlueprintError`] for a blueprint whose moves are random, that sees its own hand, or that
    /// cannot value positions for a depth.
    pub fn new(
        blueprint: BotSpec,
        options: SearchOptions,
        in_all_seats: bool,
    ) -> Result<SearchSpec, BlueprintError> {
        if blueprint.cheats() {
            return Err(BlueprintError::Open(blueprint.to_string()));
        }
        if !blueprint.is_deterministic() {
            return Err(BlueprintError::Random(blueprint.to_string()));
        }
        if options.depth.is_some() && !blueprint.has_values() {
            return Err(BlueprintError::Valueless(blueprint.to_string()));
        }
        let in_all_seats = in_all_seats || matches!(options.method, Method::Mirror { .. });
        Ok(SearchSpec { blueprint, options, in_all_seats })
    }

    /// A new searcher for this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the blueprint does not support the variant.
    #[expect(clippy::missing_panics_doc, reason = "the blueprint was checked before")]
    pub fn searcher(
        &self,
        variant: &Variant,
        num_threads: usize,
    ) -> Result<Searcher, UnsupportedVariantError> {
        let blueprint = self.blueprint.player(variant)?;
        let searcher = Searcher::new(&blueprint, variant, self.options, num_threads);
        Ok(searcher.expect("checked by `new`"))
    }

    /// Checks the parts of a text.
    fn parse(text: &SearchText<'_>, find: &FindPolicy<'_>) -> Result<SearchSpec, PlayerSpecError> {
        let mut options = SearchOptions::default();
        let mut method = "single";
        for (index, &(name, value)) in text.options.iter().enumerate() {
            if text.options[..index].iter().any(|&(earlier, _)| earlier == name) {
                return Err(PlayerSpecError::Twice(name.to_owned()));
            }
            match name {
                "rollouts" => set(&mut options, value, SearchOptions::with_rollouts)?,
                "milliseconds" => set(&mut options, value, SearchOptions::with_milliseconds)?,
                "hands" => set(&mut options, value, SearchOptions::with_hands)?,
                "depth" => set(&mut options, value, SearchOptions::with_depth)?,
                "threshold" => set(&mut options, value, SearchOptions::with_threshold)?,
                "method" => method = value,
                "step" => set(&mut options, value, |options, step| {
                    options.with_method(Method::Mirror { step })
                })?,
                "seats" if value == "all" => {}
                "seats" => return Err(SearchOptionError::new("seats", value, "all").into()),
                _ => return Err(UnknownNameError::new("option", name, OPTIONS).into()),
            }
        }
        let step = match options.method {
            Method::Single => None,
            Method::Mirror { step } => Some(step),
        };
        let options = options.with_method(Method::from_name(method, step)?)?;
        let blueprint = BotSpec::parse(text.blueprint, find)?;
        Ok(SearchSpec::new(blueprint, options, text.in_all_seats())?)
    }
}

/// Sets an option to the number in a text.
fn set<T: FromStr + From<i8>>(
    options: &mut SearchOptions,
    value: &str,
    with: impl Fn(SearchOptions, T) -> Result<SearchOptions, SearchOptionError>,
) -> Result<(), SearchOptionError> {
    // Text that is not a number becomes -1, which every option refuses.
    let number = value.parse().unwrap_or(T::from(-1));
    let changed = with(*options, number);
    *options =
        changed.map_err(|error| SearchOptionError { value: format!("{value:?}"), ..error })?;
    Ok(())
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        PlayerSpec::parse(text, &find_policy)
    }
}

impl fmt::Display for PlayerSpec {
    /// As it is parsed. Options that have their defaults are left out; `{:#}` has some of these
    /// too.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SearchSpec { blueprint, options, in_all_seats } = match self {
            PlayerSpec::Bot(spec) => return spec.fmt(formatter),
            PlayerSpec::Search(spec) => spec,
        };
        let SearchOptions { rollouts, milliseconds, hands, depth, threshold, method } = *options;
        let usual = SearchOptions::default();
        let has_all = formatter.alternate();
        write!(formatter, "{} {blueprint}", SearchText::PREFIX)?;
        if has_all || rollouts != usual.rollouts {
            write!(formatter, "; rollouts={rollouts}")?;
        }
        if let Some(milliseconds) = milliseconds {
            write!(formatter, "; milliseconds={milliseconds}")?;
        }
        if has_all || hands != usual.hands {
            write!(formatter, "; hands={hands}")?;
        }
        if let Some(depth) = depth {
            write!(formatter, "; depth={depth}")?;
        }
        if threshold != usual.threshold || has_all && method == Method::Single {
            write!(formatter, "; threshold={threshold}")?;
        }
        if let Method::Mirror { step } = method {
            write!(formatter, "; method=mirror")?;
            if step != STEP {
                write!(formatter, "; step={step}")?;
            }
        } else if *in_all_seats {
            write!(formatter, "; seats=all")?;
        }
        Ok(())
    }
}
