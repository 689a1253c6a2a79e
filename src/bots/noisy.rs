//! A bot whose moves are sometimes replaced by random ones.

use std::fmt;

use super::bot::{Bot, MoveValue, Turn, is_dropped};
use super::random::any_legal;
use crate::rules::{GameRng, Move, UnsupportedVariantError, Variant, View};

/// A probability, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise(f64);

impl Noise {
    /// A probability; `None` for a number that is not from 0 to 1.
    #[must_use]
    pub fn new(probability: f64) -> Option<Noise> {
        (0.0..=1.0).contains(&probability).then_some(Noise(probability))
    }

    /// The probability.
    #[must_use]
    pub const fn probability(self) -> f64 {
        self.0
    }
}

/// Plays as another bot, but replaces each of its moves, with some probability, by a uniformly
/// random legal one (epsilon-greedy play).
///
/// The other bot chooses in every turn and draws the same random numbers as without noise.
///
/// ```
/// use starmine::bots::{Noise, Noisy, Player};
/// use starmine::players::PlayerSpec;
/// use starmine::rules::Variant;
///
/// let smart = "smart".parse::<PlayerSpec>()?.bot(&Variant::default())?;
/// let player = Player::bot(Noisy::new(smart, Noise::new(0.1).ok_or("a probability")?));
/// // The same player by its text.
/// let player = "noisy: 0.1; smart".parse::<PlayerSpec>()?.player(&Variant::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Noisy {
    bot: Box<dyn Bot>,
    noise: Noise,
    rng: GameRng,
}

impl fmt::Debug for Noisy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Noisy").field("noise", &self.noise).finish_non_exhaustive()
    }
}

impl Noisy {
    /// The bot with this noise, before its first game.
    #[must_use]
    pub fn new(bot: Box<dyn Bot>, noise: Noise) -> Noisy {
        Noisy { bot, noise, rng: GameRng::for_samples(0) }
    }

    /// With the noise's probability a random move, which is played in place of the chosen one.
    fn random_move(&mut self, view: &View<'_>) -> Option<Move> {
        (self.rng.fraction() < self.noise.0).then(|| any_legal(view, &mut self.rng))
    }
}

impl Bot for Noisy {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        self.bot.check_variant(variant)
    }

    fn start(&mut self, view: &View<'_>, rng: GameRng) {
        self.rng = rng.independent();
        self.bot.start(view, rng);
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        self.bot.observe(turn);
    }

    fn observes(&self) -> bool {
        self.bot.observes()
    }

    fn searches(&self) -> bool {
        self.bot.searches()
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let chosen = self.bot.act(view);
        if is_dropped(&*self.bot) { chosen } else { self.random_move(view).unwrap_or(chosen) }
    }

    fn follow_turn(&mut self, view: &View<'_>) {
        self.bot.follow_turn(view);
        self.random_move(view);
    }

    fn values(&self) -> Option<&[MoveValue]> {
        self.bot.values()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::bots::{BOTS, GameRunner, GamesOptions, Player, bot, play_games};
    use crate::rules::{EpisodeSeed, Parameters, State};

    /// Players of this bot, whose moves are random with this probability if it is given.
    fn table(variant: &Variant, name: &str, noise: Option<f64>) -> Vec<Player> {
        let player = bot(name).unwrap().player(variant).unwrap();
        let player = match noise {
            Some(noise) => {
                Player::bot(Noisy::new(player.into_bot().unwrap(), Noise::new(noise).unwrap()))
            }
            None => player,
        };
        vec![player; variant.players().into()]
    }

    #[test]
    fn without_noise_it_is_the_bot_itself_and_with_probability_one_random_play() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        let play = |bot: &str, noise| {
            let table = table(&variant, bot, noise);
            let played = play_games(variant.clone(), &table, 0..200, GamesOptions::seeded(1));
            played.unwrap().outcomes
        };
        assert_eq!(play("van-den-bergh", Some(0.0)), play("van-den-bergh", None));
        assert_eq!(play("smart", Some(1.0)), play("piers", Some(1.0)));
        assert_ne!(play("smart", Some(0.05)), play("smart", None));
    }

    #[test]
    fn the_share_of_replaced_moves_is_the_probability() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        // A random move may be the one that it replaces, so it is compared with always random ones.
        let first = |noise, game| {
            let seed = EpisodeSeed { seed: 2, game, episode: 0 };
            let players = table(&variant, "smart", noise);
            let mut runner = GameRunner::new(variant.clone(), players, seed).unwrap();
            runner.play_bot().unwrap();
            runner.history()[0].played
        };
        let games = 4_000;
        let moved = |noise| {
            (0..games).filter(|&game| first(Some(noise), game) != first(None, game)).count()
        };
        let (all, some) = (moved(1.0) as f64, moved(0.25) as f64);
        assert!((some / all - 0.25).abs() < 0.03, "{some} of {all}");
    }

    /// Plays the first legal move, and notes the turns in which it was asked for a move.
    #[derive(Clone, Default)]
    struct Asked(Arc<AtomicUsize>);

    impl Bot for Asked {
        fn start(&mut self, _: &View<'_>, _: GameRng) {}

        fn act(&mut self, view: &View<'_>) -> Move {
            self.0.fetch_add(1, Ordering::Relaxed);
            view.legal_moves().next().unwrap()
        }

        fn follow_turn(&mut self, _: &View<'_>) {}
    }

    #[test]
    fn the_bot_follows_turns_that_are_known_and_the_noise_is_that_of_turns_that_it_plays() {
        let state = State::new(Variant::default(), EpisodeSeed::default());
        let view = state.view(state.current_player());
        for seed in 0..50 {
            let asked = Asked::default();
            let mut following = Noisy::new(Box::new(asked.clone()), Noise::new(0.5).unwrap());
            following.start(&view, GameRng::for_samples(seed));
            let mut acting = following.clone();
            for _ in 0..seed % 7 {
                following.follow_turn(&view);
            }
            assert_eq!(asked.0.load(Ordering::Relaxed), 0);
            for _ in 0..seed % 7 {
                acting.act(&view);
            }
            let next = |bot: &mut Noisy| [(); 8].map(|()| bot.act(&view));
            assert_eq!(next(&mut following), next(&mut acting));
        }
    }

    #[test]
    fn every_bot_plays_on_when_its_moves_are_replaced() {
        for kind in BOTS {
            for players in 2..=5 {
                let parameters = Parameters { players, ..Parameters::default() };
                let variant = Arc::new(Variant::new(parameters).unwrap());
                if !matches!(kind.player(&variant), Ok(Player::Bot(_))) {
                    continue;
                }
                let table = table(&variant, kind.name, Some(0.3));
                play_games(variant.clone(), &table, 0..50, GamesOptions::seeded(3))
                    .unwrap_or_else(|error| panic!("{}: {error}", kind.name));
            }
        }
    }
}
