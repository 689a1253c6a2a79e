//! A batch as bytes, to be stored and resumed exactly.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::config::BatchConfig;
use super::kernel::block::block_words;
use super::kernel::game::Game;
use super::kernel::lanes::Word;
use super::options::{AutoresetMode, Dtype, IllegalAction, Observers, Options};
use super::partners::game::PartnerGame;
use super::partners::{Partners, PartnersError};
use super::{Batch, BatchError};
use crate::bots::{BotNameError, PolicyError};
use crate::encode;
use crate::rules::{
    Ending, EpisodeSeed, Parameters, PositionError, UnknownName, Variant, VariantError,
};

const MAGIC: &[u8] = b"starmine-batch";
/// The number of the stored format. It changes whenever earlier stored batches can no longer be
/// read.
const FORMAT: u8 = 4;

/// Why bytes cannot be resumed as a batch.
#[derive(Debug, Error)]
pub enum RecordError {
    /// They are not a stored batch.
    #[error("these bytes are not a stored batch")]
    NotABatch,
    /// They were stored by a version with another format.
    #[error(
        "the stored batch has format {found}: expected {FORMAT}, written by this version of starmine"
    )]
    Format {
        /// Its format.
        found: u8,
    },
    /// They cannot be parsed.
    #[error("the stored batch is damaged: {0}")]
    Damaged(#[from] postcard::Error),
    /// The checksum or the length does not match.
    #[error("the stored batch is damaged: its checksum does not match")]
    Checksum,
    /// The variant is not allowed.
    #[error("the stored batch is damaged: {0}")]
    Variant(#[from] VariantError),
    /// The encoder is not in the registry.
    #[error(transparent)]
    Encoder(#[from] UnknownName),
    /// A game breaks the rules.
    #[error("the stored batch is damaged: game {game}: {error}")]
    Game {
        /// Which game.
        game: usize,
        /// What is wrong with it.
        error: PositionError,
    },
    /// The replay of a game with partners differs from the stored game.
    #[error(
        "the stored batch is damaged, or its partners play differently in this version: game {game}"
    )]
    Replay {
        /// Which game.
        game: usize,
    },
    /// The file of a partner that is a policy cannot be read.
    #[error("the stored batch cannot be resumed: {0}")]
    Policy(#[from] PolicyError),
    /// The file of a partner that is a policy has changed.
    #[error(
        "the stored batch cannot be resumed: the policy of partner {name:?} has changed: expected a file with CRC-32 {expected:08x}, found {found:08x}"
    )]
    PolicyChanged {
        /// The partner.
        name: String,
        /// The checksum of the file with which the games were played.
        expected: u32,
        /// The checksum of the present file.
        found: u32,
    },
    /// The partners are not allowed.
    #[error("the stored batch is damaged: {0}")]
    Partners(#[from] PartnersError),
    /// The batch cannot be made.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

#[derive(Serialize, Deserialize)]
struct Record {
    parameters: Parameters,
    encoder: String,
    dtype: Dtype,
    observers: Observers,
    autoreset_mode: AutoresetMode,
    illegal_action: IllegalAction,
    num_threads: usize,
    seed: u64,
    fresh: bool,
    games: Vec<Game>,
    /// The partners by seat.
    partners: Vec<(usize, Vec<String>)>,
    /// The name of each partner that is a policy, and the CRC-32 of its file.
    checksums: Vec<(String, u32)>,
    /// The learner's actions in the current episode of each game; empty without partners.
    learner_actions: Vec<Vec<u8>>,
    /// The games that ended in the last step: their indices, and the games as they ended.
    finished: Vec<(usize, Game)>,
}

impl Record {
    /// The partners, checked to be the ones who played.
    fn read_partners(&self) -> Result<Partners, RecordError> {
        let mut partners = Partners::default();
        for (seat, names) in &self.partners {
            partners = partners.with(*seat, names).map_err(|error| match error {
                PartnersError::Bot(BotNameError::Policy(error)) => RecordError::Policy(error),
                error => RecordError::Partners(error),
            })?;
        }
        let found = partners.checksums();
        if found.len() != self.checksums.len() {
            return Err(RecordError::Checksum);
        }
        for ((name, found), &(_, expected)) in found.into_iter().zip(&self.checksums) {
            if found != expected {
                return Err(RecordError::PolicyChanged { name, expected, found });
            }
        }
        Ok(partners)
    }
}

impl Batch {
    /// Stores the batch as bytes, from which [`Batch::from_bytes`] resumes it exactly.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let options = &self.config.options;
        let record = Record {
            parameters: self.config.variant.parameters().clone(),
            encoder: options.encoder.name().to_owned(),
            dtype: options.dtype,
            observers: options.observers,
            autoreset_mode: options.autoreset_mode,
            illegal_action: options.illegal_action,
            num_threads: options.num_threads,
            seed: self.seed,
            fresh: self.fresh,
            games: (0..self.num_envs()).map(|game| self.take(game)).collect(),
            partners: options.partners.names().collect(),
            checksums: options.partners.checksums(),
            learner_actions: self
                .partner_games
                .iter()
                .map(|game| game.actions().to_vec())
                .collect(),
            finished: self.last_turns(),
        };
        let header = [MAGIC, &[FORMAT]].concat();
        let mut bytes = postcard::to_extend(&record, header).expect("a vector takes every byte");
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Resumes a stored batch.
    ///
    /// # Errors
    /// [`RecordError`] if the bytes are not a stored batch, have another format, or hold games that
    /// the rules do not allow.
    pub fn from_bytes(bytes: &[u8]) -> Result<Batch, RecordError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(RecordError::NotABatch)?;
        let (&found, rest) = rest.split_first().ok_or(RecordError::NotABatch)?;
        if found != FORMAT {
            return Err(RecordError::Format { found });
        }
        let (_, checksum) = bytes.split_last_chunk().ok_or(RecordError::NotABatch)?;
        let covered = &bytes[..bytes.len() - checksum.len()];
        if crc32fast::hash(covered) != u32::from_le_bytes(*checksum) {
            return Err(RecordError::Checksum);
        }
        let body = rest.strip_suffix(checksum).ok_or(RecordError::NotABatch)?;
        let (record, trailing): (Record, _) = postcard::take_from_bytes(body)?;
        if !trailing.is_empty() {
            return Err(RecordError::Checksum);
        }
        let variant = Arc::new(Variant::new(record.parameters.clone())?);
        for (game, stored) in record.games.iter().enumerate() {
            let check = stored.validate(&variant);
            check.map_err(|error| RecordError::Game { game, error })?;
        }
        for (game, stored) in &record.finished {
            let check = stored.validate(&variant);
            check.map_err(|error| RecordError::Game { game: *game, error })?;
        }
        let options = Options {
            partners: record.read_partners()?,
            encoder: encode::encoder(&record.encoder)?,
            dtype: record.dtype,
            observers: record.observers,
            autoreset_mode: record.autoreset_mode,
            illegal_action: record.illegal_action,
            num_threads: record.num_threads,
            simd: None,
        };
        let mut batch = Batch::new(variant, record.games.len(), record.seed, options)?;
        batch.fresh = record.fresh;
        for (index, game) in record.games.iter().enumerate() {
            batch.put(index, game);
        }
        batch.put_finished(&record.finished);
        batch.replay(&record)?;
        Ok(batch)
    }

    /// Replays the games with partners.
    fn replay(&mut self, record: &Record) -> Result<(), RecordError> {
        let BatchConfig { options, variant, .. } = &self.config;
        for (game, partner_game) in self.partner_games.iter_mut().enumerate() {
            let damaged = || RecordError::Replay { game };
            let stored = record.games.get(game).ok_or_else(damaged)?;
            let actions = record.learner_actions.get(game).ok_or_else(damaged)?;
            *partner_game = PartnerGame::replay(&options.partners, variant, stored.seed, actions)
                .ok_or_else(damaged)?;
            if partner_game.game() != *stored && stored.position.ending() == Some(Ending::Lost) {
                partner_game.forfeit();
            }
            if partner_game.game() != *stored {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// The games that ended in the last step, as they ended. Their seeds are not kept: nothing
    /// reads them.
    fn last_turns(&self) -> Vec<(usize, Game)> {
        let BatchConfig { plan, variant, .. } = &self.config;
        let mut block = vec![Word::default(); block_words(plan.sizes)];
        let place = self.place(0);
        let mut games = Vec::new();
        for ended in self.finished_games() {
            self.scratch[ended.thread].finished.restore(ended.index, &mut block, 0);
            games.push((ended.game, Game::take(&block, place, variant, EpisodeSeed::default())));
        }
        games
    }

    fn put_finished(&mut self, games: &[(usize, Game)]) {
        let BatchConfig { plan, variant, .. } = &self.config;
        let mut block = vec![Word::default(); block_words(plan.sizes)];
        let place = self.place(0);
        for (index, game) in games {
            game.put(&mut block, place, variant);
            self.scratch[0].finished.push(*index, &block, 0);
        }
    }
}
