//! Deals new episodes outside a step.

use super::config::BatchConfig;
use super::kernel::game::Game;
use super::outputs::{Outputs, check_length};
use super::partners::game::{MAX_DEALS, PartnerGame};
use super::{Batch, BatchError, PartnersError, Seeds};
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
        if self.partner_games.is_empty() {
            for game in (0..self.num_envs()).filter(is_dealt) {
                let seed = episode(game, self.seeds[game].episode());
                self.put(game, &Game::new(&self.config.variant, seed));
            }
            return Ok(());
        }
        let games = (0..self.num_envs()).filter(is_dealt);
        let episodes = games.map(|game| (game, episode(game, self.seeds[game].episode())));
        for (game, dealt) in deal_with_partners(&self.config, episodes)? {
            self.put(game, &dealt.game());
            self.partner_games[game] = dealt;
        }
        Ok(())
    }
}

/// Deals these episodes of games with partners; none in a batch without partners.
pub(super) fn deal_with_partners(
    BatchConfig { variant, options, .. }: &BatchConfig,
    episodes: impl Iterator<Item = (usize, EpisodeSeed)>,
) -> Result<Vec<(usize, PartnerGame)>, PartnersError> {
    if options.partners.is_empty() {
        return Ok(Vec::new());
    }
    let deal = |(game, seed)| {
        let dealt = PartnerGame::new(&options.partners, variant, seed);
        match dealt.position().ending() {
            None => Ok((game, dealt)),
            Some(_) => {
                let partners = options.partners.names().collect();
                Err(PartnersError::NoTurn { partners, game, deals: MAX_DEALS })
            }
        }
    };
    episodes.map(deal).collect()
}
