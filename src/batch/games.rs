//! The games of a batch, in one of two forms.

use std::collections::TryReserveError;
use std::ops::Range;

use super::kernel::block::{Field, GameLane, block_words, clear_block, count, counter, ending};
use super::kernel::draw_order::DrawOrder;
use super::kernel::game::Game;
use super::kernel::lanes::{LANES, Word};
use super::kernel::variant::Constants;
use super::tables::partner_game::PartnerGame;
use crate::buffers::try_with_capacity;
use crate::rules::{ActionId, ActionSet, EpisodeSeed, Position, Seat, Variant};
use crate::threads::is_stopped;

/// The games of a batch.
#[derive(Debug)]
pub enum Games {
    /// Without partners: games of the kernel.
    Blocks(Blocks),
    /// With partners: games of the rules engine.
    Tables(Vec<PartnerGame>),
}

/// Games of the kernel, eight in a block.
#[derive(Debug)]
pub struct Blocks {
    /// The blocks, one after another.
    pub words: Vec<Word>,
    /// The number of words of a block.
    size: usize,
    /// The given deck of each game; empty if no game has one.
    pub decks: Vec<Option<DrawOrder>>,
    /// The index of the acting player's hand in all blocks: the number of steps modulo the number of players.
    pub acting_hand: usize,
}

impl Blocks {
    /// Memory for this many games.
    pub fn new(num_envs: usize, constants: Constants) -> Result<Blocks, TryReserveError> {
        let size = block_words(constants);
        let length = num_envs.div_ceil(LANES) * size;
        let mut words = try_with_capacity(length)?;
        words.resize(length, Word::default());
        words.chunks_mut(size).for_each(clear_block);
        Ok(Blocks { words, size, decks: Vec::new(), acting_hand: 0 })
    }

    /// The words of the block that a game is in.
    fn block(&self, game: usize) -> Range<usize> {
        let first = game / LANES * self.size;
        first..first + self.size
    }

    /// Where a game lies in its block.
    fn place(&self, game: usize) -> GameLane {
        GameLane { lane: game % LANES, acting_hand: self.acting_hand }
    }

    /// A field of one game.
    fn field(&self, game: usize, field: Field) -> u64 {
        self.words[self.block(game)][field as usize].0[game % LANES]
    }

    /// Replaces one game.
    pub fn put(&mut self, index: usize, game: &Game, variant: &Variant) {
        let (place, words) = (self.place(index), self.block(index));
        game.put(&mut self.words[words], place, variant);
    }
}

impl Games {
    /// A copy of one game, which is in this episode.
    pub fn game(&self, index: usize, variant: &Variant, seed: EpisodeSeed) -> Game {
        match self {
            Games::Blocks(blocks) => {
                Game::read(&blocks.words[blocks.block(index)], blocks.place(index), variant, seed)
            }
            Games::Tables(tables) => tables[index].game(),
        }
    }

    /// The position of one game.
    pub fn position(&self, index: usize, variant: &Variant) -> Position {
        match self {
            Games::Blocks(_) => self.game(index, variant, EpisodeSeed::default()).position,
            Games::Tables(tables) => *tables[index].position(),
        }
    }

    /// The legal actions of the seat to act in a game; none if the game is over.
    pub fn legal_actions(&self, index: usize) -> ActionSet {
        match self {
            Games::Blocks(blocks) => {
                let [low, high] = [Field::LowActions, Field::HighActions]
                    .map(|field| u128::from(blocks.field(index, field)));
                ActionSet(high << 64 | low)
            }
            Games::Tables(tables) => tables[index].legal_actions(),
        }
    }

    /// Whether an action is legal in a game that goes on.
    pub fn is_legal(&self, index: usize, action: i64) -> bool {
        match self {
            Games::Blocks(_) => {
                let id = usize::try_from(action).ok().and_then(ActionId::new);
                id.is_some_and(|action| self.legal_actions(index).contains(action))
            }
            Games::Tables(tables) => tables[index].legal_move(action).is_some(),
        }
    }

    /// The seat to act in a game; `None` if the game is over.
    pub fn to_act(&self, index: usize) -> Option<Seat> {
        match self {
            Games::Blocks(blocks) => {
                let counters = blocks.field(index, Field::Counters);
                let seat = Seat::new_unchecked(count(counters, counter::PLAYER).into());
                ending(counters).is_none().then_some(seat)
            }
            Games::Tables(tables) => {
                let position = tables[index].position();
                position.ending.is_none().then_some(position.current_player)
            }
        }
    }

    /// The games with partners; none in a batch without partners.
    pub fn tables(&self) -> &[PartnerGame] {
        match self {
            Games::Blocks(_) => &[],
            Games::Tables(tables) => tables,
        }
    }

    /// How many games have a given deck.
    pub fn num_given_decks(&self) -> usize {
        match self {
            Games::Blocks(blocks) => blocks.decks.iter().flatten().count(),
            Games::Tables(_) => 0,
        }
    }

    /// The index of the acting player's hand in all blocks.
    pub const fn acting_hand(&self) -> usize {
        match self {
            Games::Blocks(blocks) => blocks.acting_hand,
            Games::Tables(_) => 0,
        }
    }

    /// Counts a step that was played at a table of this many players.
    pub const fn count_step(&mut self, players: usize) {
        if let Games::Blocks(blocks) = self {
            blocks.acting_hand = (blocks.acting_hand + 1) % players;
        }
    }

    pub fn try_clone(&self) -> Result<Games, TryReserveError> {
        Ok(match self {
            Games::Blocks(blocks) => {
                let mut words = try_with_capacity(blocks.words.len())?;
                words.extend_from_slice(&blocks.words);
                let mut decks = try_with_capacity(blocks.decks.len())?;
                decks.extend_from_slice(&blocks.decks);
                Games::Blocks(Blocks { words, decks, ..*blocks })
            }
            Games::Tables(tables) => {
                let mut copies = try_with_capacity(tables.len())?;
                copies.extend(tables.iter().take_while(|_| !is_stopped()).cloned());
                Games::Tables(copies)
            }
        })
    }
}
