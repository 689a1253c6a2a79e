//! A batch as bytes, to be stored and resumed exactly.
//!
//! The bytes are a header, the [`Settings`] with the weights of partners, the games with their
//! number before them, the games that ended in the last step likewise, and a CRC-32. The checksum
//! finds accidents. Forged bytes with a valid checksum are refused if a field is out of its range,
//! or give a batch that plays by the rules. Its positions need not be reachable by any turns.

mod error;
mod game;
mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use error::FORMAT;
pub use error::SnapshotError;

use super::config::BatchConfig;
use super::kernel::block::block_words;
use super::kernel::game::Game;
use super::kernel::lanes::Word;
use super::options::{AutoresetMode, default_threads};
use super::partition::share_size;
use super::step::finished_games::FinishedGame;
use super::{Batch, BatchError, memory};
use crate::rules::EpisodeSeed;
use game::{StoredEnding, StoredGame, StoredPartnerGame};
use settings::Settings;

const MAGIC: &[u8] = b"starmine-batch";

impl Batch {
    /// Stores the batch as bytes, from which [`Batch::from_bytes`] resumes it exactly. The number
    /// of threads is not stored.
    ///
    /// # Errors
    /// [`BatchError::Memory`] if there is no memory for the bytes, [`BatchError::StoredDecks`] if
    /// games have given decks, [`BatchError::StoredWorlds`] after [`Batch::write_worlds`], and [`BatchError::StoredExternal`] if there are external partners.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BatchError> {
        self.check_whole()?;
        if self.has_worlds {
            return Err(BatchError::StoredWorlds);
        }
        let given = self.games_with_given_decks();
        if given > 0 {
            return Err(BatchError::StoredDecks(given));
        }
        let mut bytes = Vec::new();
        let no_memory = |error| memory(self.num_envs(), error);
        let mut append = |part: &[u8]| -> Result<(), BatchError> {
            BatchError::check_stop()?;
            bytes.try_reserve(part.len()).map_err(no_memory)?;
            bytes.extend_from_slice(part);
            Ok(())
        };
        self.store(&mut append)?;
        bytes.try_reserve(size_of::<u32>()).map_err(no_memory)?;
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Resumes a stored batch on this many threads; `None` for [`default_threads`].
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes are not a stored batch, have another format, or have a field
    /// that is out of its range.
    pub fn from_bytes(bytes: &[u8], num_threads: Option<usize>) -> Result<Batch, SnapshotError> {
        let (covered, mut rest) = check_envelope(bytes)?;
        let settings: Settings = read(&mut rest, "settings")?;
        let num_envs = read_count(&mut rest, "games")?;
        let num_threads = num_threads.unwrap_or_else(|| default_threads(num_envs));
        let options = settings.options(num_threads)?;
        let mut batch =
            Batch::without_games(settings.variant()?, num_envs, settings.seed, options)?;
        batch.fresh = settings.fresh;
        for index in 0..num_envs {
            BatchError::check_stop()?;
            batch.read_game(index, &mut rest)?;
        }
        let mut least = 0;
        for _ in 0..read_count(&mut rest, "finished")? {
            least = 1 + batch.read_finished(least, &mut rest)?;
        }
        batch.compare(covered)?;
        Ok(batch)
    }

    /// Passes all bytes but the checksum to `sink`, part by part.
    fn store<E: From<BatchError>>(
        &self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        sink(MAGIC)?;
        sink(&[FORMAT])?;
        put(&Settings::of(self)?, sink)?;
        put(&self.num_envs(), sink)?;
        for index in 0..self.num_envs() {
            match self.partner_games.get(index) {
                None => put(&StoredGame::of(&self.copy_game(index)), sink)?,
                Some(game) => put(&StoredPartnerGame::of(game), sink)?,
            }
        }
        put(&self.num_finished(), sink)?;
        for ending in self.last_turns()? {
            put(&ending, sink)?;
        }
        Ok(())
    }

    /// Reads the next game.
    fn read_game(&mut self, index: usize, rest: &mut &[u8]) -> Result<(), SnapshotError> {
        let refused = |error| SnapshotError::game("games", index, &error);
        let BatchConfig { options, variant, .. } = &self.config;
        if self.has_partners() {
            let stored: StoredPartnerGame = read(rest, "games")?;
            let restored = stored.restore(&options.partners, variant);
            BatchError::check_stop()?;
            let restored = restored.map_err(refused)?;
            self.put(index, &restored.game());
            self.partner_games.push(restored);
            return Ok(());
        }
        let stored: StoredGame = read(rest, "games")?;
        let game = stored.restore(variant).map_err(refused)?;
        let resets_at_once = options.autoreset_mode == AutoresetMode::SameStep;
        if resets_at_once && game.position.ending.is_some() {
            let field = format!("games[{index}].ending");
            return Err(SnapshotError::field(field, "autoreset would have dealt the next episode"));
        }
        self.put(index, &game);
        Ok(())
    }

    /// Reads a game that ended in the last step; its index is not below `least`.
    fn read_finished(&mut self, least: usize, rest: &mut &[u8]) -> Result<usize, SnapshotError> {
        let (index, stored): (usize, StoredEnding) = read(rest, "finished")?;
        if !(least..self.num_envs()).contains(&index) {
            return Err(SnapshotError::field("finished", "not the indices of games in order"));
        }
        let variant = &self.config.variant;
        let refused = |error| SnapshotError::game("finished", index, &error);
        let game = stored.restore(variant).map_err(refused)?;
        let mut block = vec![Word::default(); block_words(self.config.plan.sizes)];
        game.put(&mut block, self.place(0), variant);
        let share = share_size(self.num_envs(), self.scratch.len());
        self.scratch[index / share].finished.push(index, &block, 0);
        Ok(index)
    }

    /// The games that ended in the last step, as they ended, in ascending order.
    fn last_turns(&self) -> Result<impl Iterator<Item = (usize, StoredEnding)> + '_, BatchError> {
        let mut block = vec![Word::default(); block_words(self.config.plan.sizes)];
        let stored = move |ended: FinishedGame| {
            self.scratch[ended.thread].finished.restore(ended.index, &mut block, 0);
            let seed = EpisodeSeed::default();
            let game = Game::read(&block, self.place(0), &self.config.variant, seed);
            (ended.game, StoredEnding::of(&game))
        };
        Ok(self.finished_games()?.into_iter().map(stored))
    }

    /// Checks that the batch would be stored as these bytes: nothing follows, and no number is
    /// written in a longer form.
    fn compare(&self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let refused = || SnapshotError::field("bytes", "not the bytes that this batch stores");
        let mut rest = bytes;
        self.store::<SnapshotError>(&mut |part| {
            BatchError::check_stop()?;
            rest = rest.strip_prefix(part).ok_or_else(refused)?;
            Ok(())
        })?;
        if rest.is_empty() { Ok(()) } else { Err(refused()) }
    }
}

/// Checks the header and the checksum. Returns the bytes that the checksum covers, and those of
/// them that follow the header.
fn check_envelope(bytes: &[u8]) -> Result<(&[u8], &[u8]), SnapshotError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotABatch)?;
    let (&found, rest) = rest.split_first().ok_or(SnapshotError::NotABatch)?;
    if found != FORMAT {
        return Err(SnapshotError::Format { found });
    }
    let (body, checksum) = rest.split_last_chunk().ok_or(SnapshotError::NotABatch)?;
    let covered = &bytes[..bytes.len() - checksum.len()];
    if crc32fast::hash(covered) != u32::from_le_bytes(*checksum) {
        return Err(SnapshotError::Checksum);
    }
    Ok((covered, body))
}

fn put<T: Serialize, E>(item: &T, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    sink(&postcard::to_stdvec(item).expect("a vector takes every byte"))
}

fn read<'a, T: Deserialize<'a>>(
    rest: &mut &'a [u8],
    field: &'static str,
) -> Result<T, SnapshotError> {
    let parsed = postcard::take_from_bytes(rest);
    let (item, after) =
        parsed.map_err(|error| SnapshotError::Parse { field, source: error.into() })?;
    *rest = after;
    Ok(item)
}

/// Reads a number of elements, each of which takes at least a byte.
fn read_count(rest: &mut &[u8], field: &'static str) -> Result<usize, SnapshotError> {
    let count = read(rest, field)?;
    if count > rest.len() {
        return Err(SnapshotError::field(field, "more than there are bytes"));
    }
    Ok(count)
}
