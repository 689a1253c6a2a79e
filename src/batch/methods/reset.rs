//! Deals new episodes outside a step.

use crate::batch::games::Games;
use crate::batch::kernel::draw_order::DrawOrder;
use crate::batch::kernel::game::Game;
use crate::batch::methods::given_decks::GivenDecks;
use crate::batch::outputs::Outputs;
use crate::batch::step::Request;
use crate::batch::tables::partner_game::PartnerGame;
use crate::batch::{Batch, BatchError, PartnersError, Seeds, memory, reserve};
use crate::buffers::check_length;
use crate::rules::EpisodeSeed;
use crate::threads::is_stopped;

/// What a reset deals that may be refused or take long, not yet put into the batch.
pub(crate) enum Dealt {
    /// Nothing: random games are dealt when they are put.
    Random,
    /// Games with given decks, by their indices.
    Given(Vec<(usize, Game, DrawOrder)>),
    /// Games with partners, by their indices.
    Tables(Vec<(usize, PartnerGame)>),
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
        let dealt = self.deal(seeds, reset_mask, None)?;
        self.reset_to(dealt, seeds, reset_mask, outputs)
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
        let dealt = self.deal(seeds, reset_mask, Some(decks))?;
        self.reset_to(dealt, seeds, reset_mask, outputs)
    }

    /// Deals the games of a reset. Partners may take long for their first turns. The batch is unchanged.
    pub(crate) fn deal(
        &mut self,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        decks: Option<GivenDecks<'_>>,
    ) -> Result<Dealt, BatchError> {
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
        let episode = |game| {
            let seed = self.episode_to_deal(game, seeds, reset_mask, decks.is_some())?;
            Some((game, seed))
        };
        let episodes = || (0..num_envs).filter_map(episode);
        if let Some(decks) = decks {
            self.check_decks(decks)?;
            let mut given = reserve(episodes().count(), num_envs)?;
            for (game, seed) in episodes() {
                BatchError::check_stop()?;
                let dealt = decks.deal(game, &self.config.variant, seed);
                let (dealt, order) = dealt.map_err(|source| BatchError::Deck { game, source })?;
                given.push((game, dealt, order));
            }
            self.reserve_decks()?;
            return Ok(Dealt::Given(given));
        }
        if !self.has_partners() {
            return Ok(Dealt::Random);
        }
        let mut list = reserve(episodes().count(), num_envs)?;
        list.extend(episodes());
        Ok(Dealt::Tables(self.seat(&list)?))
    }

    fn check_decks(&self, decks: GivenDecks<'_>) -> Result<(), BatchError> {
        if self.has_partners() {
            return Err(PartnersError::Decks.into());
        }
        let (num_envs, size) = (self.num_envs(), self.config.variant.deck_size());
        check_length("decks", decks.cards.len(), num_envs * usize::from(size))?;
        if let Some(start_players) = decks.start_players {
            check_length("start_players", start_players.len(), num_envs)?;
        }
        Ok(())
    }

    /// Allocates memory for a given deck of each game.
    fn reserve_decks(&mut self) -> Result<(), BatchError> {
        let num_envs = self.num_envs();
        if let Games::Blocks(blocks) = &mut self.games {
            let reserved = blocks.decks.try_reserve_exact(num_envs - blocks.decks.len());
            reserved.map_err(|error| memory(num_envs, error))?;
            blocks.decks.resize(num_envs, None);
        }
        Ok(())
    }

    /// Resets with the deals of the same seeds and mask. If the call is stopped, all games have to be
    /// reset again.
    pub(crate) fn reset_to(
        &mut self,
        dealt: Dealt,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        outputs.check(&self.config, self.num_envs())?;
        self.interrupt();
        match dealt {
            Dealt::Random => self.put_random(seeds, reset_mask),
            Dealt::Given(given) => {
                for (game, dealt, order) in given {
                    self.put(game, &dealt, Some(order));
                }
            }
            Dealt::Tables(seated) => {
                for (game, table) in seated {
                    self.seeds[game] = table.seed().into();
                    if let Games::Tables(tables) = &mut self.games {
                        tables[game] = table;
                    }
                }
            }
        }
        if let Seeds::Batch(seed) = seeds {
            self.seed = seed;
        }
        self.fresh = false;
        self.has_worlds &= reset_mask.is_some_and(|mask| mask.contains(&false));
        self.num_calls += 1;
        self.run(Request::Observe, outputs);
        self.interrupt_if_stopped()
    }

    /// Deals random games, unless the call is stopped.
    fn put_random(&mut self, seeds: Seeds<'_>, reset_mask: Option<&[bool]>) {
        if let (None, Games::Blocks(blocks)) = (reset_mask, &mut self.games) {
            blocks.decks.clear(); // a step need not look for given decks
        }
        for game in 0..self.num_envs() {
            if game.is_multiple_of(1 << 12) && is_stopped() {
                return;
            }
            if let Some(episode) = self.episode_to_deal(game, seeds, reset_mask, false) {
                self.put(game, &Game::new(&self.config.variant, episode), None);
            }
        }
    }

    /// The episode that a reset deals in a game; `None` if the game stays as it is. A new batch has dealt its first
    /// episodes already, but not from given decks.
    fn episode_to_deal(
        &self,
        game: usize,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        has_deck: bool,
    ) -> Option<EpisodeSeed> {
        if reset_mask.is_some_and(|mask| !mask[game]) {
            return None;
        }
        match seeds {
            Seeds::Continue if self.fresh => has_deck.then(|| self.seeds[game].episode()),
            Seeds::Continue => Some(self.seeds[game].episode().next()),
            Seeds::Batch(seed) => Some(EpisodeSeed { seed, game: game as u64, episode: 0 }),
            Seeds::Each(seeds) => Some(EpisodeSeed { seed: seeds[game], game: 0, episode: 0 }),
        }
    }
}
