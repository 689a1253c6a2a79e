//! Deals new episodes outside a step.

use super::kernel::game::Game;
use super::outputs::{Outputs, check_length};
use super::partners::game::{MAX_DEALS, PartnerGame};
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
        let num_envs = self.num_envs();
        if let Some(mask) = reset_mask {
            check_length("reset_mask", mask.len(), num_envs)?;
            if !mask.contains(&true) {
                return Err(BatchError::EmptyResetMask);
            }
        }
        if let Seeds::Each(seeds) = seeds {
            check_length("seed", seeds.len(), num_envs)?;
        }
        outputs.check(&self.config, num_envs)?;
        if !(self.fresh && matches!(seeds, Seeds::Continue)) {
            self.deal_episodes(seeds, reset_mask)?;
        }
        if let Seeds::Batch(seed) = seeds {
            self.seed = seed;
        }
        self.fresh = false;
        self.calls += 1;
        self.run(None, false, outputs);
        Ok(())
    }

    /// Deals new episodes in all games or in those of the mask.
    fn deal_episodes(&mut self, seeds: Seeds<'_>, mask: Option<&[bool]>) -> Result<(), BatchError> {
        let is_dealt = |game: &usize| mask.is_none_or(|mask| mask[*game]);
        let episode = |game: usize, current: EpisodeSeed| match seeds {
            Seeds::Continue => current.next(),
            Seeds::Batch(seed) => EpisodeSeed { seed, game: game as u64, episode: 0 },
            Seeds::Each(seeds) => EpisodeSeed { seed: seeds[game], game: 0, episode: 0 },
        };
        if !self.has_partners() {
            for game in (0..self.num_envs()).filter(is_dealt) {
                let seed = episode(game, self.seeds[game].episode());
                self.put(game, &Game::new(&self.config.variant, seed));
            }
            return Ok(());
        }
        let games = || (0..self.num_envs()).filter(is_dealt);
        let mut dealt = reserve(games().count(), self.num_envs())?;
        for game in games() {
            let seed = episode(game, self.seeds[game].episode());
            dealt.push(self.deal_with_partners(game, seed)?);
        }
        for (game, dealt) in (0..self.num_envs()).filter(is_dealt).zip(dealt) {
            self.put(game, &dealt.game());
            self.partner_games[game] = dealt;
        }
        Ok(())
    }

    /// Deals this episode of a game with partners.
    pub(super) fn deal_with_partners(
        &self,
        game: usize,
        seed: EpisodeSeed,
    ) -> Result<PartnerGame, BatchError> {
        self.check_headroom()?;
        let Options { partners, .. } = &self.config.options;
        let dealt = PartnerGame::new(partners, &self.config.variant, seed);
        if dealt.position().ending().is_some() {
            let partners = partners.names().collect();
            return Err(PartnersError::NoTurn { partners, game, deals: MAX_DEALS }.into());
        }
        Ok(dealt)
    }

    /// Checks that there is memory for one more game with partners.
    pub(super) fn check_headroom(&self) -> Result<(), BatchError> {
        check_headroom().map_err(|source| memory(self.num_envs(), source))
    }
}
