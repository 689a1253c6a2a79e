//! Writes the extra outputs: card features, marginals and own hands. They are computed from a
//! [`Position`], which is read from the block for one game at a time.

use std::ops::Range;

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::GameLane;
use crate::batch::kernel::game::Game;
use crate::batch::kernel::lanes::Word;
use crate::batch::options::Observers;
use crate::batch::outputs::Outputs;
use crate::buffers::filled;
use crate::encode::{CARD_FEATURES, write_card_features, write_public_marginals};
use crate::rules::{EpisodeSeed, Position, Seat, View};

/// Writes the extra outputs of the games of a block, which are in its first lanes. `first` is the
/// place of lane 0.
#[inline(never)]
pub fn write_features(
    config: &BatchConfig,
    words: &[Word],
    first: GameLane,
    games: Range<usize>,
    outputs: &mut Outputs<'_>,
) {
    let variant = &config.variant;
    for (lane, game) in games.enumerate() {
        let read = Game::read(words, GameLane { lane, ..first }, variant, EpisodeSeed::default());
        let position = &read.position;
        match config.options.observers {
            Observers::Current => {
                write_row(config, position, position.current_player, game, outputs);
            }
            Observers::All => {
                let first = game * config.num_observers();
                for seat in variant.seats() {
                    write_row(config, position, seat, first + seat.index(), outputs);
                }
            }
        }
    }
}

/// Writes one observer's row of each extra output that has a buffer.
fn write_row(
    config: &BatchConfig,
    position: &Position,
    observer: Seat,
    row: usize,
    outputs: &mut Outputs<'_>,
) {
    let variant = &config.variant;
    let view = View::new(variant, position, observer);
    let slots = usize::from(variant.hand_size());
    let cards = usize::from(variant.players()) * slots;
    if let Some(features) = &mut outputs.card_features {
        let length = cards * CARD_FEATURES;
        let features = &mut features.lend().elements()[row * length..][..length];
        write_card_features(&view, filled(features, 0.0));
    }
    if let Some(marginals) = &mut outputs.public_marginals {
        let length = cards * variant.num_card_kinds();
        let marginals = &mut marginals.lend().elements()[row * length..][..length];
        write_public_marginals(&view, filled(marginals, 0.0));
    }
    if let Some(hands) = &mut outputs.own_hand {
        let hand = filled(&mut hands.lend().elements()[row * slots..][..slots], -1);
        let held = position.hands[observer.index()].cards();
        hand.iter_mut().zip(held).for_each(|(to, &card)| *to = card as i8);
    }
}
