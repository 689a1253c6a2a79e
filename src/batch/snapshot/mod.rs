//! A batch as bytes, to be stored and resumed exactly.
//!
//! A game without partners is stored as its position, since its block has no history. A game with
//! partners is stored as the learner's actions and played again, since the memory of a bot does not
//! follow from a position.
//!
//! The bytes are a header, the [`Settings`] with the weights of partners, the number of games, the
//! games, and a CRC-32. The checksum finds accidents. Forged bytes with a valid checksum are refused
//! if a field is out of its range, or give a batch that plays by the rules. Its positions need not be
//! reachable by any turns.

mod game;
mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::config::BatchConfig;
use super::error::{DAMAGED, NotStoredError};
use super::options::{AutoresetMode, default_threads};
use super::{Batch, BatchError, Games, memory};
use crate::rules::PositionError;
use game::{StoredGame, StoredPartnerGame};
use settings::Settings;

const MAGIC: &[u8] = b"starmine-batch";

/// The number of the stored format. It changes whenever earlier stored batches can no longer be
/// read.
const FORMAT: u8 = 9;

impl Batch {
    /// Stores the batch as bytes, from which [`Batch::from_bytes`] resumes it exactly. The number
    /// of threads, the instruction set, the [`Batch::finished`] games, and what a step has played that began and did
    /// not end are not stored.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], [`BatchError::Memory`] if there is no memory for the bytes,
    /// [`BatchError::NotStored`] if games have given decks, after [`Batch::write_worlds`], and if there are external partners.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BatchError> {
        self.check_whole()?;
        if self.has_worlds {
            return Err(NotStoredError::Worlds.into());
        }
        let given = self.games.num_given_decks();
        if given > 0 {
            return Err(NotStoredError::GivenDecks(given).into());
        }
        let mut bytes = [MAGIC, &[FORMAT]].concat();
        self.append(&mut bytes, &Settings::of(self)?)?;
        self.append(&mut bytes, &self.num_envs())?;
        for index in 0..self.num_envs() {
            match &self.games {
                Games::Blocks(_) => {
                    self.append(&mut bytes, &StoredGame::of(&self.copy_game(index)))?;
                }
                Games::Tables(tables) => {
                    self.append(&mut bytes, &StoredPartnerGame::of(&tables[index]))?;
                }
            }
        }
        let checksum = crc32fast::hash(&bytes).to_le_bytes();
        bytes.try_reserve(checksum.len()).map_err(|error| memory(self.num_envs(), error))?;
        bytes.extend(checksum);
        Ok(bytes)
    }

    fn append<T: Serialize>(&self, bytes: &mut Vec<u8>, item: &T) -> Result<(), BatchError> {
        BatchError::check_stop()?;
        let part = postcard::to_stdvec(item).expect("a vector takes every byte");
        bytes.try_reserve(part.len()).map_err(|error| memory(self.num_envs(), error))?;
        bytes.extend(part);
        Ok(())
    }

    /// Resumes a stored batch on this many threads; `None` for [`default_threads`].
    ///
    /// # Errors
    /// [`BatchError::Stored`] if the bytes are not a stored batch, have another format, or have a field
    /// that is out of its range; otherwise as [`Batch::new`].
    pub fn from_bytes(bytes: &[u8], num_threads: Option<usize>) -> Result<Batch, BatchError> {
        let mut rest = check_envelope(bytes)?;
        let settings: Settings = read(&mut rest, "settings")?;
        let num_envs = read(&mut rest, "games")?;
        if num_envs > rest.len() {
            return Err(damaged("games: more than there are bytes"));
        }
        let options = settings.options(num_threads.unwrap_or_else(|| default_threads(num_envs)))?;
        let variant = settings.variant()?;
        let left = options.partners.check_learner(&variant).map_err(BatchError::from);
        let batch =
            left.and_then(|()| Batch::without_games(variant, num_envs, settings.seed, options));
        let mut batch = batch.map_err(|error| match error {
            BatchError::Number { .. } | BatchError::Partners(_) | BatchError::PartnerVariant(_) => {
                BatchError::stored(DAMAGED, error)
            }
            error => error,
        })?;
        batch.fresh = settings.fresh;
        for index in 0..num_envs {
            BatchError::check_stop()?;
            batch.read_game(index, &mut rest)?;
        }
        if rest.is_empty() { Ok(batch) } else { Err(damaged("bytes after the games")) }
    }

    /// Reads the next game.
    fn read_game(&mut self, index: usize, rest: &mut &[u8]) -> Result<(), BatchError> {
        let refused = |PositionError { field, problem }: PositionError| {
            damaged(&format!("games[{index}].{field}: {problem}"))
        };
        let BatchConfig { options, variant, .. } = &self.config;
        if let Games::Tables(tables) = &mut self.games {
            let stored: StoredPartnerGame = read(rest, "games")?;
            let restored = stored.restore(&self.config, &mut self.scratch[0]);
            BatchError::check_stop()?;
            let restored = restored.map_err(refused)?;
            self.seeds[index] = restored.seed().into();
            tables.push(restored);
            return Ok(());
        }
        let stored: StoredGame = read(rest, "games")?;
        let game = stored.restore(variant).map_err(refused)?;
        let resets_at_once = options.autoreset_mode == AutoresetMode::SameStep;
        if resets_at_once && game.position.ending.is_some() {
            let problem = "autoreset would have dealt the next episode";
            return Err(refused(PositionError { field: "ending", problem }));
        }
        self.put(index, &game, None);
        Ok(())
    }
}

/// The error for a field that is out of its range.
fn damaged(problem: &str) -> BatchError {
    BatchError::Stored { problem: format!("{DAMAGED}: {problem}"), source: None }
}

/// Checks the header and the checksum. Returns the bytes between them.
fn check_envelope(bytes: &[u8]) -> Result<&[u8], BatchError> {
    let refused = |problem: &str| BatchError::Stored { problem: problem.to_owned(), source: None };
    let no_batch = || refused("these bytes are not a stored batch");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(no_batch)?;
    let (&found, rest) = rest.split_first().ok_or_else(no_batch)?;
    if found != FORMAT {
        return Err(refused(&format!(
            "the stored batch has format {found}: expected {FORMAT}, written by this version of starmine"
        )));
    }
    let (body, checksum) = rest.split_last_chunk().ok_or_else(no_batch)?;
    if crc32fast::hash(&bytes[..bytes.len() - checksum.len()]) != u32::from_le_bytes(*checksum) {
        return Err(damaged("its checksum does not match"));
    }
    Ok(body)
}

fn read<'a, T: Deserialize<'a>>(rest: &mut &'a [u8], field: &str) -> Result<T, BatchError> {
    let parsed = postcard::take_from_bytes(rest);
    let (item, after) =
        parsed.map_err(|error| BatchError::stored(format!("{DAMAGED}: {field}"), error))?;
    *rest = after;
    Ok(item)
}
