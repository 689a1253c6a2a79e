//! The partners: who holds the seats that the learner does not hold.

use serde::{Deserialize, Serialize};

use crate::batch::{BatchError, PartnersError};
use crate::bots::Player;
use crate::players::{PlayerSpec, PlayerSpecError, StoredPlayer};
use crate::rules::{EpisodeSeed, GameRng, RngPurpose, Seat, Variant};

/// The largest number of bots to draw from for one seat.
const MAX_CHOICES: usize = 64;

/// The partners of a seat, one of whom is drawn for each episode.
#[derive(Clone, Debug, Default)]
struct Mixture {
    /// Empty for a seat of the learner.
    partners: Vec<PlayerSpec>,
    /// The weight of each partner; empty if all are equally likely.
    weights: Vec<f64>,
}

impl Mixture {
    /// The index of the partner whom this generator draws.
    fn draw(&self, mut rng: GameRng) -> usize {
        if self.weights.is_empty() {
            return rng.below(self.partners.len() as u32) as usize;
        }
        let total: f64 = self.weights.iter().sum();
        let mut left = rng.fraction() * total;
        let is_drawn = |weight: &f64| {
            let found = left < *weight;
            left -= weight;
            found
        };
        // The weights are subtracted with rounding. If none wins, the last partner with a weight does.
        let last = || self.weights.iter().rposition(|&weight| weight > 0.0).unwrap_or_default();
        self.weights.iter().position(is_drawn).unwrap_or_else(last)
    }
}

/// Who plays the seats that the learner does not play. Each of these seats has a list of partners;
/// one of them is drawn for each episode.
///
/// A step is then the learner's turn and the turns of its partners up to the learner's next one, and
/// its reward is the sum of their rewards. Points that partners make before the learner's first turn
/// belong to the reward of that turn. An episode that ends before the learner has a turn is skipped.
/// After 1,000 such episodes in a row, a new batch, a reset and [`Batch::play_partners`](crate::batch::Batch::play_partners) are
/// refused, and a step leaves the game over. For a [`PlayerSpec::external`] the caller plays the turns.
///
/// ```
/// use starmine::batch::{Batch, Options, Partners};
/// use starmine::rules::{Seat, Variant};
///
/// let partners = Partners::default().with(Seat::ALL[1], vec!["smart".parse()?, "iggi".parse()?])?;
/// let options = Options { partners, ..Options::default() };
/// let batch = Batch::new(Variant::default(), 256, 1, options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Partners {
    /// The partners of each seat; none for the learner's seats.
    seats: Vec<Mixture>,
}

/// Partners as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredPartners {
    /// The partners by seat.
    pub seats: Vec<(Seat, Vec<StoredPlayer>)>,
    /// The weights of the partners by seat, where they are not equally likely.
    pub weights: Vec<(Seat, Vec<f64>)>,
}

impl StoredPartners {
    /// The partners.
    ///
    /// # Errors
    /// [`BatchError`] for partners that are not allowed, or for a policy that cannot be loaded.
    pub fn load(&self) -> Result<Partners, BatchError> {
        let mut partners = Partners::default();
        for (seat, stored) in &self.seats {
            let bots = stored.iter().map(StoredPlayer::load);
            let bots: Vec<PlayerSpec> = bots.collect::<Result<_, PlayerSpecError>>()?;
            let given = self.weights.iter().find(|(weighted, _)| weighted == seat);
            let weights =
                given.map_or_else(|| vec![1.0; bots.len()], |(_, weights)| weights.clone());
            partners = partners.with_weights(*seat, bots, weights)?;
        }
        Ok(partners)
    }
}

impl Partners {
    /// Sets the partners of a seat; one of them, each equally likely, is drawn for each episode.
    ///
    /// # Errors
    /// As [`Partners::with_weights`].
    pub fn with(self, seat: Seat, partners: Vec<PlayerSpec>) -> Result<Partners, PartnersError> {
        let weights = vec![1.0; partners.len()];
        self.with_weights(seat, partners, weights)
    }

    /// Sets the partners of a seat; one of them is drawn for each episode, with a probability in
    /// proportion to its weight.
    ///
    /// # Errors
    /// [`PartnersError`] for no partners or too many, for more or fewer weights than partners, and for
    /// weights that are negative, not finite, all 0, or too large to be added.
    pub fn with_weights(
        mut self,
        seat: Seat,
        partners: Vec<PlayerSpec>,
        weights: Vec<f64>,
    ) -> Result<Partners, PartnersError> {
        if !(1..=MAX_CHOICES).contains(&partners.len()) {
            let found = partners.len();
            return Err(PartnersError::Number { seat, found, most: MAX_CHOICES });
        }
        let total: f64 = weights.iter().sum();
        if weights.len() != partners.len()
            || weights.iter().any(|weight| weight.is_nan() || *weight < 0.0)
            || !(total.is_finite() && total > 0.0)
        {
            return Err(PartnersError::Weights { seat, weights });
        }
        let are_equal = weights.iter().all(|&weight| weight == weights[0]);
        let weights = if are_equal { Vec::new() } else { weights };
        if self.seats.len() <= seat.index() {
            self.seats.resize(seat.index() + 1, Mixture::default());
        }
        self.seats[seat.index()] = Mixture { partners, weights };
        Ok(self)
    }

    /// The same players, one for each seat, in all games. There is no learner: the caller plays the
    /// turns of external players, and no episode is skipped.
    pub(crate) fn without_learner(players: Vec<PlayerSpec>) -> Partners {
        let seat = |player| Mixture { partners: vec![player], weights: Vec::new() };
        Partners { seats: players.into_iter().map(seat).collect() }
    }

    /// Whether a partner searches.
    pub(crate) fn any_searches(&self) -> bool {
        self.all().any(PlayerSpec::searches)
    }

    /// Whether the learner plays all seats.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mixtures().next().is_none()
    }

    /// The seats with partners.
    fn mixtures(&self) -> impl Iterator<Item = (Seat, &Mixture)> {
        Seat::ALL.into_iter().zip(&self.seats).filter(|(_, mixture)| !mixture.partners.is_empty())
    }

    /// The seats with partners, each with its partners.
    pub fn seats(&self) -> impl Iterator<Item = (Seat, &[PlayerSpec])> {
        self.mixtures().map(|(seat, mixture)| (seat, &mixture.partners[..]))
    }

    /// The seats whose partners are not equally likely, each with their weights.
    pub fn weights(&self) -> impl Iterator<Item = (Seat, &[f64])> {
        let weighted = self.mixtures().filter(|(_, mixture)| !mixture.weights.is_empty());
        weighted.map(|(seat, mixture)| (seat, &mixture.weights[..]))
    }

    fn all(&self) -> impl Iterator<Item = &PlayerSpec> {
        self.seats.iter().flat_map(|mixture| &mixture.partners)
    }

    /// Whether the caller plays the turns of a partner.
    pub(crate) fn any_is_external(&self) -> bool {
        self.all().any(PlayerSpec::is_external)
    }

    /// The partners as they are stored; `None` if there are external partners.
    pub(in crate::batch) fn stored(&self) -> Option<StoredPartners> {
        if self.any_is_external() {
            return None;
        }
        let stored = |partners: &[PlayerSpec]| partners.iter().map(StoredPlayer::of).collect();
        let seats = self.seats().map(|(seat, partners)| (seat, stored(partners))).collect();
        let weights = self.weights().map(|(seat, weights)| (seat, weights.to_vec())).collect();
        Some(StoredPartners { seats, weights })
    }

    /// Whether a seat of the variant is left to a learner.
    pub(in crate::batch) fn leave_a_seat(&self, variant: &Variant) -> bool {
        variant.seats().any(|seat| !self.hold(seat))
    }

    /// Checks that a seat is left to a learner.
    pub(in crate::batch) fn check_learner(&self, variant: &Variant) -> Result<(), PartnersError> {
        if self.leave_a_seat(variant) {
            return Ok(());
        }
        Err(PartnersError::NoLearner(variant.players()))
    }

    /// Checks the seats and bots against a variant.
    pub(in crate::batch) fn check(&self, variant: &Variant) -> Result<(), BatchError> {
        let players = variant.players();
        if let Some((seat, _)) = self.mixtures().find(|(seat, _)| seat.index() >= players.into()) {
            return Err(PartnersError::Seat { seat, players }.into());
        }
        for partner in self.all() {
            partner.player(variant)?;
        }
        Ok(())
    }

    /// Draws the players of an episode.
    pub(in crate::batch) fn draw(&self, variant: &Variant, seed: EpisodeSeed) -> Vec<Player> {
        let drawn =
            |seat: Seat| self.seats.get(seat.index())?.partners.get(self.drawn(seat, seed)?);
        let player = |seat| match drawn(seat) {
            None => Player::External,
            Some(partner) => partner.player(variant).expect("checked when the batch was made"),
        };
        variant.seats().map(player).collect()
    }

    /// The index, among the partners of a seat, of the one who holds it in an episode; `None` if
    /// the learner does.
    pub(in crate::batch) fn drawn(&self, seat: Seat, seed: EpisodeSeed) -> Option<usize> {
        let mixture =
            self.seats.get(seat.index()).filter(|mixture| !mixture.partners.is_empty())?;
        Some(mixture.draw(GameRng::for_purpose(seed, RngPurpose::Partner(seat))))
    }

    /// Whether partners hold a seat.
    pub(in crate::batch) fn hold(&self, seat: Seat) -> bool {
        self.seats.get(seat.index()).is_some_and(|mixture| !mixture.partners.is_empty())
    }

    /// Whether all episodes have the same players.
    pub(in crate::batch) fn are_fixed(&self) -> bool {
        self.seats.iter().all(|mixture| mixture.partners.len() <= 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Batch, Options};

    const DRAWS: u64 = 20_000;

    fn seeds() -> impl Iterator<Item = EpisodeSeed> {
        (0..DRAWS).map(|game| EpisodeSeed { seed: 3, game, episode: game % 5 })
    }

    fn partners(weights: &[f64]) -> Result<Partners, PartnersError> {
        let bots = weights.iter().map(|_| "iggi".parse().unwrap()).collect();
        Partners::default().with_weights(Seat::ALL[1], bots, weights.to_vec())
    }

    #[test]
    fn equal_weights_draw_what_no_weights_draw() {
        for number in [1, 2, 5] {
            let drawn = partners(&vec![0.3; number]).unwrap();
            let bots = vec!["iggi".parse().unwrap(); number];
            let plain = Partners::default().with(Seat::ALL[1], bots).unwrap();
            for seed in seeds().take(2000) {
                let mut rng = GameRng::for_purpose(seed, RngPurpose::Partner(Seat::ALL[1]));
                let expected = Some(rng.below(number as u32) as usize);
                assert_eq!(drawn.drawn(Seat::ALL[1], seed), expected);
                assert_eq!(plain.drawn(Seat::ALL[1], seed), expected);
                assert_eq!(drawn.drawn(Seat::FIRST, seed), None);
                assert_eq!(drawn.drawn(Seat::ALL[4], seed), None);
            }
        }
    }

    #[test]
    fn partners_are_drawn_in_proportion_to_their_weights() {
        let weights = [2.0, 0.0, 1.0, 5.0, 0.0];
        let drawn = partners(&weights).unwrap();
        let mut counts = [0.0; 5];
        seeds().for_each(|seed| counts[drawn.drawn(Seat::ALL[1], seed).unwrap()] += 1.0);
        for (count, weight) in counts.into_iter().zip(weights) {
            let share: f64 = weight / 8.0;
            let error = (share * (1.0 - share) / DRAWS as f64).sqrt();
            assert!((count / DRAWS as f64 - share).abs() <= 4.0 * error, "{counts:?}");
        }
    }

    #[test]
    fn seats_beyond_the_table_are_not_seats_of_the_learner() {
        let bots = || vec!["iggi".parse().unwrap()];
        let partners = Partners::default().with(Seat::ALL[1], bots()).unwrap();
        let partners = partners.with(Seat::ALL[3], bots()).unwrap();
        let options = Options { partners, ..Options::default() };
        let refused = Batch::new(Variant::default(), 1, 0, options).unwrap_err().to_string();
        assert_eq!(refused, "partners: seat 3 is not allowed: expected 0 to 1");
    }

    #[test]
    fn a_partner_without_a_weight_is_refused() {
        let bots = vec!["iggi".parse().unwrap(), PlayerSpec::external()];
        for weights in [vec![], vec![1.0], vec![1.0; 3]] {
            let found =
                Partners::default().with_weights(Seat::ALL[1], bots.clone(), weights.clone());
            let refused = PartnersError::Weights { seat: Seat::ALL[1], weights };
            assert_eq!(found.unwrap_err(), refused);
        }
    }

    #[test]
    fn weights_that_are_no_weights_are_refused() {
        for weights in [
            &[1.0, -1.0][..],
            &[0.0, 0.0],
            &[f64::NAN, 1.0],
            &[f64::INFINITY, 1.0],
            &[f64::MAX, f64::MAX],
        ] {
            let error = partners(weights).unwrap_err();
            assert!(matches!(error, PartnersError::Weights { .. }), "{error}");
        }
    }
}
