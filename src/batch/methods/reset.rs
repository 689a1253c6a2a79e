//! Deals new episodes outside a step.

use std::collections::BTreeMap;

use crate::batch::kernel::draw_order::DrawOrder;
use crate::batch::kernel::game::Game;
use crate::batch::methods::given_decks::GivenDecks;
use crate::batch::outputs::Outputs;
use crate::batch::partners::game::{MAX_DEALS, PartnerGame};
use crate::batch::step::Request;
use crate::batch::{Batch, BatchError, Seeds, reserve};
use crate::buffers::check_length;
use crate::rules::EpisodeSeed;
use crate::threads::is_stopped;

/// What a reset deals that may be refused or take long, not yet put into the batch: the games with
/// partners, or those with given decks, by their indices.
pub(crate) struct PreparedGames {
    partner_games: Vec<(usize, PartnerGame)>,
    given: Vec<(usize, Game)>,
    /// The given decks of all games after the reset.
    decks: Vec<Option<DrawOrder>>,
}

impl Batch {
    /// Deals new episodes in all games or in those of the mask, and writes the outputs of all
    /// games. With [`Seeds::Continue`] a new batch keeps its first deals.
    ///
    /// # Errors
    /// [`BatchError`] for a mask, seeds or buffers of a wrong length, or partners that leave the
    /// learner no turn; the batch is unchanged then.
    pub fn reset(
        &mut self,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        let prepared = self.deal(seeds, reset_mask, None)?;
        self.put_prepared(prepared, seeds, reset_mask, outputs)
    }

    /// As [`Batch::reset`], with given decks instead of random ones. Each deck counts as an episode of
    /// its game, which the seeds name; the episodes after it are dealt by the seeds. The decks of games
    /// that the mask leaves out are ignored.
    ///
    /// ```
    /// use starmine::batch::{Batch, GivenDecks, Options, Outputs, Seeds};
    /// use starmine::rules::{EpisodeSeed, State, Variant};
    ///
    /// let variant = Variant::default();
    /// let mut batch = Batch::new(variant.clone(), 64, 0, Options::default())?;
    /// let dealt = State::new(variant.clone(), EpisodeSeed::new(7));
    /// let deck: Vec<u8> = dealt.deck().iter().map(|&card| variant.card_index(card) as u8).collect();
    /// let decks = GivenDecks { cards: &deck.repeat(64), start_players: None };
    /// batch.reset_to_decks(decks, Seeds::Continue, None, Outputs::default())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError`] as [`Batch::reset`], for decks and start players that do not fit the variant, and
    /// for a batch with partners; the batch is unchanged then.
    pub fn reset_to_decks(
        &mut self,
        decks: GivenDecks<'_>,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        let prepared = self.deal(seeds, reset_mask, Some(decks))?;
        self.put_prepared(prepared, seeds, reset_mask, outputs)
    }

    /// Deals the games of a reset. Partners may take long for their first turns. The batch is unchanged.
    pub(crate) fn deal(
        &self,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        decks: Option<GivenDecks<'_>>,
    ) -> Result<PreparedGames, BatchError> {
        if let Some(mask) = reset_mask {
            check_length("reset_mask", mask.len(), self.num_envs())?;
            if !mask.contains(&true) {
                return Err(BatchError::EmptyResetMask);
            }
            if mask.contains(&false) {
                self.check_whole()?;
            }
        }
        if let Seeds::Each(seeds) = seeds {
            check_length("seed", seeds.len(), self.num_envs())?;
        }
        let num_envs = self.num_envs();
        let episode = |game| Some((game, self.episode_to_deal(game, seeds, reset_mask, decks)?));
        let episodes = || (0..num_envs).filter_map(episode);
        let capacity = |is_needed| if is_needed { episodes().count() } else { 0 };
        let mut prepared = PreparedGames {
            partner_games: reserve(capacity(self.has_partners()), num_envs)?,
            given: reserve(capacity(decks.is_some()), num_envs)?,
            decks: self.decks_to_change(decks.is_some())?,
        };
        if let Some(decks) = decks {
            self.check_decks(decks)?;
            for (game, seed) in episodes() {
                BatchError::check_stop()?;
                let dealt = decks.deal(game, &self.config.variant, seed);
                let (dealt, order) = dealt.map_err(|source| BatchError::Deck { game, source })?;
                prepared.decks[game] = Some(order);
                prepared.given.push((game, dealt));
            }
            return Ok(prepared);
        }
        for (game, seed) in episodes() {
            if self.has_partners() {
                prepared.partner_games.push((game, self.deal_with_partners(game, seed)?));
            } else if let Some(order) = prepared.decks.get_mut(game) {
                *order = None;
            }
        }
        Ok(prepared)
    }

    fn check_decks(&self, decks: GivenDecks<'_>) -> Result<(), BatchError> {
        if self.has_partners() {
            let refused = "decks are not allowed in a batch with partners";
            return Err(BatchError::Partners(refused.to_owned()));
        }
        let (num_envs, size) = (self.num_envs(), self.config.variant.deck_size());
        check_length("decks", decks.cards.len(), num_envs * usize::from(size))?;
        if let Some(start_players) = decks.start_players {
            check_length("start_players", start_players.len(), num_envs)?;
        }
        Ok(())
    }

    /// How many games have a given deck.
    pub(in crate::batch) fn games_with_given_decks(&self) -> usize {
        self.decks.iter().flatten().count()
    }

    /// A copy of the given decks, with memory for those of all games if some are to be dealt; none
    /// if no game has one.
    fn decks_to_change(&self, deals_decks: bool) -> Result<Vec<Option<DrawOrder>>, BatchError> {
        if self.decks.iter().all(Option::is_none) && !deals_decks {
            return Ok(Vec::new());
        }
        let mut decks = reserve(self.num_envs(), self.num_envs())?;
        decks.extend_from_slice(&self.decks);
        decks.resize(self.num_envs(), None);
        Ok(decks)
    }

    /// Resets with the deals of the same seeds and mask. If the call is stopped, all games have to be
    /// reset again.
    pub(crate) fn put_prepared(
        &mut self,
        prepared: PreparedGames,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        outputs.check(&self.config, self.num_envs())?;
        self.interrupt();
        if prepared.given.is_empty() && !self.has_partners() {
            for game in 0..self.num_envs() {
                if game.is_multiple_of(1 << 12) && is_stopped() {
                    break;
                }
                if let Some(episode) = self.episode_to_deal(game, seeds, reset_mask, None) {
                    self.put(game, &Game::new(&self.config.variant, episode));
                }
            }
        }
        for (game, dealt) in prepared.given {
            self.put(game, &dealt);
        }
        for (game, dealt) in prepared.partner_games {
            self.put(game, &dealt.game());
            self.partner_games[game] = dealt;
        }
        self.decks = prepared.decks;
        if let Seeds::Batch(seed) = seeds {
            self.seed = seed;
        }
        self.fresh = false;
        self.has_worlds &= reset_mask.is_some_and(|mask| mask.contains(&false));
        self.calls += 1;
        self.run(Request::Observe, outputs);
        self.interrupt_if_stopped()
    }

    /// The episode that a reset deals in a game; `None` if the game stays as it is.
    fn episode_to_deal(
        &self,
        game: usize,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        decks: Option<GivenDecks<'_>>,
    ) -> Option<EpisodeSeed> {
        if reset_mask.is_some_and(|mask| !mask[game]) {
            return None;
        }
        match seeds {
            Seeds::Continue if self.fresh => decks.map(|_| self.seeds[game].episode()),
            Seeds::Continue => Some(self.seeds[game].episode().next()),
            Seeds::Batch(seed) => Some(EpisodeSeed { seed, game: game as u64, episode: 0 }),
            Seeds::Each(seeds) => Some(EpisodeSeed { seed: seeds[game], game: 0, episode: 0 }),
        }
    }

    /// Deals this episode of a game with partners.
    pub(in crate::batch) fn deal_with_partners(
        &self,
        game: usize,
        seed: EpisodeSeed,
    ) -> Result<PartnerGame, BatchError> {
        let partners = &self.config.options.partners;
        let dealt = PartnerGame::new(partners, &self.config.variant, seed);
        BatchError::check_stop()?;
        if dealt.position().ending.is_some() {
            let names: BTreeMap<usize, Vec<String>> =
                partners.names().map(|(seat, names)| (seat.index(), names)).collect();
            return Err(BatchError::Partners(format!(
                "partners={names:?}: the partners ended {MAX_DEALS} deals of game {game} in a row before the learner's first turn: expected partners that leave the learner a turn"
            )));
        }
        Ok(dealt)
    }
}
