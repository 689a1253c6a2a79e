//! The one driver of bots. It lets them play in many games side by side, so that policies are evaluated for
//! many games at a time.

use std::borrow::BorrowMut;
use std::sync::Arc;

use super::player::BotMoveError;
use super::runner::{BotTurns, GameRunner};
use crate::bots::policy::PolicyBot;
use crate::nn::PolicyScratch;
use crate::rules::View;
use crate::threads::is_stopped;

/// Memory of [`advance`], which is used again. Policies allocate some in addition.
#[derive(Debug, Default)]
pub(crate) struct AdvanceScratch {
    /// The indices of the games in which bots are to play. [`advance`] removes them.
    pub open: Vec<usize>,
    /// The games in which a policy is to act, each after the address of the policy.
    waiting: Vec<(usize, usize)>,
    policies: PolicyScratch,
}

/// Lets bots play in the open games, unless the call is stopped. Policies are evaluated for all games
/// that wait for them. `failed` gets the games in which a bot chose an illegal move, which is not played;
/// the other games go on.
pub(crate) fn advance<G: BorrowMut<GameRunner>>(
    games: &mut [G],
    turns: BotTurns,
    scratch: &mut AdvanceScratch,
    mut failed: impl FnMut(usize, &mut G, BotMoveError),
) {
    while !scratch.open.is_empty() && !is_stopped() {
        scratch.open.retain(|&index| {
            let game = &mut games[index];
            game.borrow_mut().run_to_policy(turns).unwrap_or_else(|error| {
                failed(index, game, error);
                false
            })
        });
        play_policies(games, scratch);
        if turns == BotTurns::One {
            break;
        }
    }
    scratch.open.clear();
}

/// Plays one turn of each open game; in all of them a policy is to act.
fn play_policies<G: BorrowMut<GameRunner>>(games: &mut [G], scratch: &mut AdvanceScratch) {
    let AdvanceScratch { open, waiting, policies } = scratch;
    waiting.clear();
    waiting.extend(open.iter().map(|&game| {
        let (bot, _) = policy_to_act(&mut games[game]);
        (Arc::as_ptr(&bot.policy).addr(), game)
    }));
    waiting.sort_unstable();
    for alike in waiting.chunk_by(|(one, _), (other, _)| one == other) {
        let policy = policy_to_act(&mut games[alike[0].1]).0.policy.clone();
        let views = alike.iter().map(|&(_, game)| {
            let runner = games[game].borrow();
            runner.view(runner.current_player())
        });
        let outputs = PolicyBot::evaluate(&policy, views, policies);
        for (row, &(_, game)) in alike.iter().enumerate() {
            let (bot, view) = policy_to_act(&mut games[game]);
            let played = bot.choose(&outputs, row, view.variant());
            games[game].borrow_mut().play_unchecked(played);
        }
    }
}

fn policy_to_act<G: BorrowMut<GameRunner>>(game: &mut G) -> (&mut PolicyBot, View<'_>) {
    game.borrow_mut().policy_to_act().expect("a policy is to act")
}
