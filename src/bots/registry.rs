//! The bots by name: one row each.

use super::bot::Bot;
use super::games::player::Player;
use super::information::Information;
use super::play_hints::{Holmes, Simple, Value};
use super::random::Random;
use super::rule_list::{self, RuleList};
use super::smart::Smart;
use crate::nn::POLICIES;
use crate::rules::{
    PRESETS, Preset, UnknownNameError, UnsupportedVariantError, Variant, find_named,
};

/// A row of [`BOTS`]: what is known of a bot.
#[derive(Clone, Copy, Debug)]
pub struct BotKind {
    /// The name, as [`bot`] takes it.
    pub name: &'static str,
    /// One line of description.
    pub summary: &'static str,
    /// The publication or repository of the original. Empty if there is none.
    pub source: &'static str,
    /// The constructor. `None` for the cheater, which is not a [`Bot`].
    make: Option<fn() -> Box<dyn Bot>>,
}

/// All bots of the crate. A [`PlayerSpec`](crate::players::PlayerSpec) makes players of their names.
pub const BOTS: &[BotKind] = &[
    BotKind {
        name: "random",
        summary: "any legal action, each as likely as the others",
        source: "",
        make: Some(|| Box::new(Random::default())),
    },
    BotKind {
        name: "simple",
        summary: "hints point out playable cards; otherwise the oldest card is discarded",
        source: "SimpleBot of Quuxplusone/Hanabi",
        make: Some(|| Box::new(Simple::default())),
    },
    BotKind {
        name: "value",
        summary: "simple, and warns before a last copy is discarded",
        source: "ValueBot of Quuxplusone/Hanabi",
        make: Some(|| Box::new(Value::default())),
    },
    BotKind {
        name: "holmes",
        summary: "value, and infers what cards are from all that the table knows",
        source: "HolmesBot of Quuxplusone/Hanabi",
        make: Some(|| Box::new(Holmes::default())),
    },
    BotKind {
        name: "smart",
        summary: "hints promise a playable card or warn of a critical one",
        source: "SmartBot of Quuxplusone/Hanabi",
        make: Some(|| Box::new(Smart::default())),
    },
    BotKind {
        name: "information",
        summary: "hat guessing: hints and discards tell every other seat something about its hand",
        source: "the information strategy of WuTheFWasThat/hanabi.rs",
        make: Some(|| Box::new(Information::default())),
    },
    BotKind {
        name: "iggi",
        summary: "plays what it knows, hints what is playable, else discards the oldest card",
        source: WALTON_RIVERS,
        make: Some(|| listed(rule_list::IGGI)),
    },
    BotKind {
        name: "piers",
        summary: "iggi with a taste for good odds, and for any odds in the last round",
        source: WALTON_RIVERS,
        make: Some(|| listed(rule_list::PIERS)),
    },
    BotKind {
        name: "van-den-bergh",
        summary: "plays and discards by probability, hints useful, then useless cards",
        source: "van den Bergh et al. 2016, by Walton-Rivers et al. 2017",
        make: Some(|| listed(rule_list::VAN_DEN_BERGH)),
    },
    BotKind {
        name: "outer",
        summary: "plays and discards what it knows, hints what others were not told",
        source: "Osawa 2015, by Walton-Rivers et al. 2017",
        make: Some(|| listed(rule_list::OUTER)),
    },
    BotKind {
        name: "internal",
        summary: "plays and discards what it knows, hints whatever others were told",
        source: "Osawa 2015, by Walton-Rivers et al. 2017",
        make: Some(|| listed(rule_list::INTERNAL)),
    },
    BotKind {
        name: "flawed",
        summary: "plays at poor odds: a partner to adapt to",
        source: WALTON_RIVERS,
        make: Some(|| listed(rule_list::FLAWED)),
    },
    BotKind {
        name: "cheater",
        summary: "sees all hands: an upper bound",
        source: "the cheating strategy of WuTheFWasThat/hanabi.rs",
        make: None,
    },
];

const WALTON_RIVERS: &str = "Walton-Rivers et al. 2017";

/// A bot that follows one of the published rule lists.
fn listed(rules: &[&str]) -> Box<dyn Bot> {
    Box::new(RuleList::parse(rules).expect("the published lists are valid"))
}

impl BotKind {
    /// Whether the bot sees all hands.
    #[must_use]
    pub const fn cheats(&self) -> bool {
        self.make.is_none()
    }

    /// Whether the bot plays every preset, and not only the base game, in which players, start player,
    /// score of lost games and edition are free.
    #[must_use]
    pub fn plays_every_preset(&self) -> bool {
        let plays = |row: &Preset| {
            Variant::new(row.parameters()).is_ok_and(|variant| self.player(&variant).is_ok())
        };
        PRESETS.iter().all(plays)
    }

    /// A new player for this variant. Others take [`PlayerSpec`](crate::players::PlayerSpec).
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the bot does not support the variant.
    pub(crate) fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariantError> {
        let player = self.make.map_or(Player::Cheater, |make| Player::Bot(make()));
        player.check_variant(variant)?;
        Ok(player)
    }
}

/// The row of [`BOTS`] with this name. A [`PlayerSpec`](crate::players::PlayerSpec) makes players.
///
/// # Errors
/// [`UnknownNameError`] if there is none.
pub fn bot(name: &str) -> Result<&'static BotKind, UnknownNameError> {
    find_named("bot", BOTS, |kind| kind.name, name)
}

/// As [`bot`], where a shipped policy may be named too: the error lists both.
pub(crate) fn bot_or_policy(name: &str) -> Result<&'static BotKind, UnknownNameError> {
    bot(name).map_err(|error| {
        let policies = POLICIES.iter().map(|policy| policy.name.to_owned());
        UnknownNameError::new("bot", name, error.known.into_iter().chain(policies))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bots::{GameRunner, GamesError, GamesOptions, SeatedPlayer, play_games};
    use crate::rules::{EpisodeSeed, GameRng, Parameters, State, preset, random_variant};

    /// Plays games with the bot in all seats, and in every other seat beside `random`.
    fn play(kind: &BotKind, variant: &Arc<Variant>, games: u64) {
        let Ok(player) = kind.player(variant) else { return };
        let random = bot("random").unwrap().player(variant).unwrap();
        for others in 0..3 {
            let seats = 0..usize::from(variant.players());
            let is_other = |seat: usize| others > 0 && seat % 2 == others - 1;
            let seat = |seat| if is_other(seat) { random.clone() } else { player.clone() };
            let players: Vec<Player> = seats.map(seat).collect();
            let played = play_games(variant.clone(), &players, 0..games, GamesOptions::seeded(5));
            if let Err(error) = played {
                panic!("{}: {error} ({variant})", kind.name);
            }
        }
    }

    #[test]
    fn a_table_refuses_a_bot_of_another_variant() {
        let base = Variant::default();
        let other = Variant::new(preset("avalanche").unwrap().parameters()).unwrap();
        for kind in BOTS {
            let players = vec![kind.player(&base).unwrap(); 2];
            let played = play_games(other.clone(), &players, 0..1, GamesOptions::seeded(1));
            let seated = GameRunner::new(other.clone(), players, EpisodeSeed::new(1));
            if kind.plays_every_preset() {
                assert!(played.is_ok() && seated.is_ok(), "{}", kind.name);
                continue;
            }
            let error = seated.unwrap_err();
            assert_eq!(played.unwrap_err(), error);
            let state = State::new(other.clone(), EpisodeSeed::new(1));
            let player = kind.player(&base).unwrap();
            let answer = SeatedPlayer::new(player, state.current_player(), 1).act(&state);
            assert!(matches!(answer, Err(GamesError::Variant { .. })), "{answer:?}");
            let source = std::error::Error::source(&error).unwrap().to_string();
            assert!(source.contains(&format!("bot={:?}", kind.name)), "{source}");
        }
    }

    #[test]
    fn bots_play_legal_moves_in_their_variants_also_beside_random_players() {
        let presets = PRESETS
            .iter()
            .flat_map(|row| (2..=5).map(|players| Parameters { players, ..row.parameters() }));
        for variant in presets.filter_map(|parameters| Variant::new(parameters).ok()) {
            BOTS.iter().for_each(|kind| play(kind, &Arc::new(variant.clone()), 8));
        }
        let mut rng = GameRng::for_samples(0);
        for _ in 0..100 {
            let variant = random_variant(|bound| rng.below(bound));
            BOTS.iter().for_each(|kind| play(kind, &Arc::new(variant.clone()), 4));
        }
    }
}
