//! A batch as bytes, to be stored and resumed exactly.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::config::BatchConfig;
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
/// Changes whenever stored batches of the version before can no longer be read.
const FORMAT: u8 = 4;

/// Bytes that are not a stored batch, or not one that this version can resume.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Not a stored batch at all.
    #[error("these bytes are not a stored batch")]
    NotABatch,
    /// Stored by another version.
    #[error(
        "the stored batch has format {found}: expected {FORMAT}, written by this version of starmine"
    )]
    Format {
        /// Its format.
        found: u8,
    },
    /// Cut short or garbled.
    #[error("the stored batch is damaged: {0}")]
    Damaged(#[from] postcard::Error),
    /// Bytes that its checksum does not cover.
    #[error("the stored batch is damaged: its checksum does not match")]
    Checksum,
    /// A variant that cannot be.
    #[error("the stored batch is damaged: {0}")]
    Variant(#[from] VariantError),
    /// An encoder that is not in the registry.
    #[error(transparent)]
    Encoder(#[from] UnknownName),
    /// A game that cannot be.
    #[error("the stored batch is damaged: game {game}: {error}")]
    Game {
        /// Which game.
        game: usize,
        /// What is wrong with it.
        error: PositionError,
    },
    /// A game with partners that does not come out as stored when it is played again.
    #[error(
        "the stored batch is damaged, or its partners play otherwise in this version: game {game}"
    )]
    Replay {
        /// Which game.
        game: usize,
    },
    /// A partner is a policy whose file is gone or no longer one.
    #[error("the stored batch cannot be resumed: {0}")]
    Policy(#[from] PolicyError),
    /// A partner is a policy whose file is another one by now.
    #[error(
        "the stored batch cannot be resumed: the policy of partner {name:?} has changed: expected a file with CRC-32 {expected:08x}, found {found:08x}"
    )]
    PolicyChanged {
        /// The partner.
        name: String,
        /// The checksum of the file that it played.
        expected: u32,
        /// That of the file as it is.
        found: u32,
    },
    /// Partners who cannot be.
    #[error("the stored batch is damaged: {0}")]
    Partners(#[from] PartnersError),
    /// The batch could not be made.
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
    /// Of each partner whose play lies in a file, the CRC-32 of that.
    checksums: Vec<(String, u32)>,
    /// Where there are partners, the learner's actions in the episode of each game.
    learner_actions: Vec<Vec<u8>>,
    /// The games that ended in the last step, as they ended, by their index.
    finished: Vec<(usize, Game)>,
}

impl Record {
    /// The partners, who must be those who played.
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
    /// The batch as bytes, from which [`Batch::from_bytes`] resumes it exactly.
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

    /// A stored batch.
    ///
    /// # Errors
    /// [`RecordError`] when the bytes are not a stored batch, are of another format, or hold games
    /// that the rules do not allow.
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

    /// Plays the games with partners again.
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

    /// The games that ended in the last step, as they ended.
    fn last_turns(&self) -> Vec<(usize, Game)> {
        let BatchConfig { plan, variant, .. } = &self.config;
        let mut block = vec![Word::default(); plan.sizes.block_words()];
        let mut games = Vec::new();
        for ended in self.finished_games() {
            self.threads[ended.thread].finished.restore(ended.index, &mut block, 0);
            // The episode is not kept, as nobody asks for it.
            let last = plan.sizes.take(&block, 0, self.step, variant, EpisodeSeed::default());
            games.push((ended.game, last));
        }
        games
    }

    fn put_finished(&mut self, games: &[(usize, Game)]) {
        let BatchConfig { plan, variant, .. } = &self.config;
        let mut block = vec![Word::default(); plan.sizes.block_words()];
        for (index, game) in games {
            plan.sizes.put(&mut block, 0, self.step, variant, game);
            self.threads[0].finished.push(*index, &block, 0);
        }
    }
}
