//! The turns that a call plays in games with partners.

use crate::batch::config::BatchConfig;
use crate::batch::options::AutoresetMode;
use crate::batch::step::chunk::Chunk;
use crate::batch::step::scratch::Scratch;
use crate::batch::tables::partner_game::PartnerGame;
use crate::bots::{BotTurns, advance};
use crate::threads::is_stopped;

/// What a call plays in games with partners.
#[derive(Clone, Copy)]
pub enum TableRequest<'a> {
    /// The learner's turn in every game, with these actions. A game that is over is dealt anew instead. If
    /// all partners are bots, they play up to the learner's next turn.
    LearnerTurn(&'a [i64]),
    /// The turn of an external partner or of a bot in each game of the mask `moving`.
    PartnerTurns { actions: &'a [i64], moving: &'a [bool], turns: BotTurns },
}

impl TableRequest<'_> {
    /// Plays the turns in a group of games.
    pub fn play(self, config: &BatchConfig, group: &mut Chunk<'_>, scratch: &mut Scratch) {
        let Chunk { first, tables, seeds, .. } = group;
        let turns = self.play_actions(config, tables, *first, &mut scratch.bots.open);
        play_on(config, tables, *first, turns, scratch);
        for (seed, table) in seeds.iter_mut().zip(tables.iter()) {
            if seed.episode() != table.seed() {
                *seed = table.seed().into();
            }
        }
    }

    /// Plays the actions, and opens the games in which bots are to play. Returns how far they play; `None` if
    /// they do not.
    fn play_actions(
        self,
        config: &BatchConfig,
        tables: &mut [PartnerGame],
        first: usize,
        open: &mut Vec<usize>,
    ) -> Option<BotTurns> {
        let partners = &config.options.partners;
        open.clear(); // a bot that panicked has left some
        let mut turns = (!partners.any_is_external()).then_some(BotTurns::UntilExternal);
        for (index, table) in tables.iter_mut().enumerate() {
            let game = first + index;
            match self {
                TableRequest::LearnerTurn(actions) => table.begin_step(actions[game], partners),
                TableRequest::PartnerTurns { actions, moving, turns: wanted } => {
                    turns = Some(wanted);
                    if !moving[game] || table.is_over() {
                        continue;
                    }
                    if !table.runner.waits_for_bot() {
                        table.play(actions[game]);
                        if wanted == BotTurns::One {
                            continue;
                        }
                    }
                }
            }
            if turns.is_some() && table.runner.waits_for_bot() {
                open.push(index);
            }
        }
        turns
    }
}

/// Lets bots play in the open games. A game that has ended is dealt anew, with autoreset `SameStep` or if the learner
/// had no turn in it, until its partners leave the learner a turn, at most [`MAX_DEALS`](crate::batch::tables::partner_game::MAX_DEALS) times; the last of these deals may be over.
/// `first` is the index of the first game.
pub fn play_on(
    config: &BatchConfig,
    tables: &mut [PartnerGame],
    first: usize,
    turns: Option<BotTurns>,
    scratch: &mut Scratch,
) {
    let options = &config.options;
    let has_learner = options.partners.leave_a_seat(&config.variant);
    loop {
        if let Some(turns) = turns {
            advance(tables, turns, &mut scratch.bots, |_, table, error| table.fail(error));
        }
        if !has_learner || is_stopped() {
            return;
        }
        for (index, table) in tables.iter_mut().enumerate() {
            let is_dealt_anew = if table.keep_result() {
                let is_same_step = options.autoreset_mode == AutoresetMode::SameStep;
                if is_same_step {
                    scratch.keep_finished(first + index, &table.game(), &config.variant);
                }
                is_same_step
            } else {
                table.is_skipped() && !table.is_stuck()
            };
            if is_dealt_anew {
                table.deal_next(&options.partners);
                if turns == Some(BotTurns::UntilExternal) && table.runner.waits_for_bot() {
                    scratch.bots.open.push(index);
                }
            }
        }
        if scratch.bots.open.is_empty() {
            return;
        }
    }
}
