//! Deals new episodes outside a step.

use std::sync::atomic::AtomicBool;

use super::kernel::game::Game;
use super::outputs::{Outputs, check_length};
use super::partners::game::{Deals, MAX_DEALS, PartnerGame};
use super::{Batch, BatchError, Options, PartnersError, Seeds, memory, reserve};
use crate::bots::check_headroom;
use crate::rules::EpisodeSeed;

impl Batch {
    /// Deals new episodes in all games or in those of the mask, and writes the outputs of all
    /// games.
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
        let deals = self.deal_until(&AtomicBool::new(false), seeds, reset_mask)?;
        self.reset_to(deals, seeds, reset_mask, outputs)
    }

    /// Deals the games with partners of a reset with these seeds and this mask, unless `stop` is
    /// set meanwhile: partners may take long for their first turns. The batch is unchanged.
    pub(crate) fn deal_until(
        &self,
        stop: &AtomicBool,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
    ) -> Result<Deals, BatchError> {
        if let Some(mask) = reset_mask {
            check_length("reset_mask", mask.len(), self.num_envs())?;
            if !mask.contains(&true) {
                return Err(BatchError::EmptyResetMask);
            }
        }
        if let Seeds::Each(seeds) = seeds {
            check_length("seed", seeds.len(), self.num_envs())?;
        }
        if !self.has_partners() {
            return Ok(Deals(Vec::new()));
        }
        let episode = |game| Some((game, self.episode_to_deal(game, seeds, reset_mask)?));
        let episodes = || (0..self.num_envs()).filter_map(episode);
        let mut dealt = reserve(episodes().count(), self.num_envs())?;
        for (game, seed) in episodes() {
            BatchError::if_set(stop)?;
            dealt.push((game, self.deal_with_partners(game, seed)?));
        }
        Ok(Deals(dealt))
    }

    /// Resets with the deals of the same seeds and mask.
    pub(crate) fn reset_to(
        &mut self,
        deals: Deals,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        outputs.check(&self.config, self.num_envs())?;
        if !self.has_partners() {
            for game in 0..self.num_envs() {
                if let Some(episode) = self.episode_to_deal(game, seeds, reset_mask) {
                    self.put(game, &Game::new(&self.config.variant, episode));
                }
            }
        }
        for (game, dealt) in deals.0 {
            self.put(game, &dealt.game());
            self.partner_games[game] = dealt;
        }
        if let Seeds::Batch(seed) = seeds {
            self.seed = seed;
        }
        self.fresh = false;
        self.calls += 1;
        self.run(None, false, outputs);
        Ok(())
    }

    /// The episode that a reset deals in a game; `None` if the game stays as it is.
    fn episode_to_deal(
        &self,
        game: usize,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
    ) -> Option<EpisodeSeed> {
        if reset_mask.is_some_and(|mask| !mask[game]) {
            return None;
        }
        match seeds {
            Seeds::Continue if self.fresh => None,
            Seeds::Continue => Some(self.seeds[game].episode().next()),
            Seeds::Batch(seed) => Some(EpisodeSeed { seed, game: game as u64, episode: 0 }),
            Seeds::Each(seeds) => Some(EpisodeSeed { seed: seeds[game], game: 0, episode: 0 }),
        }
    }

    /// Deals this episode of a game with partners.
    pub(super) fn deal_with_partners(
        &self,
        game: usize,
        seed: EpisodeSeed,
    ) -> Result<PartnerGame, BatchError> {
        self.check_headroom_before(game)?;
        let Options { partners, .. } = &self.config.options;
        let dealt = PartnerGame::new(partners, &self.config.variant, seed);
        if dealt.position().ending().is_some() {
            let partners = partners.names().collect();
            return Err(PartnersError::NoTurn { partners, game, deals: MAX_DEALS }.into());
        }
        Ok(dealt)
    }

    /// Checks that there is memory for the next games with partners: at every sixteenth, since so
    /// many need less than is asked for.
    pub(super) fn check_headroom_before(&self, game: usize) -> Result<(), BatchError> {
        if game.is_multiple_of(16) { self.check_headroom() } else { Ok(()) }
    }

    /// Checks that there is memory for what cannot report that it has run out.
    pub(super) fn check_headroom(&self) -> Result<(), BatchError> {
        check_headroom().map_err(|source| memory(self.num_envs(), source))
    }
}
