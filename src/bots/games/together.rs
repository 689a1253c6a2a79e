//! Games side by side, so that policies are evaluated for many games at a time.

use std::sync::Arc;

use super::player::BotMoveError;
use super::runner::GameRunner;
use crate::bots::policy::PolicyBot;
use crate::nn::PolicyScratch;
use crate::threads::is_stopped;

/// Plays one turn of each of these games, in all of which a policy is to act.
fn play_policies(games: &mut [&mut GameRunner], waiting: &[usize], scratch: &mut PolicyScratch) {
    let acting = |game: usize, games: &mut [&mut GameRunner]| {
        let (bot, _) = games[game].policy_to_act().expect("a policy is to act");
        (bot.policy.clone(), game)
    };
    let mut waiting: Vec<_> = waiting.iter().map(|&game| acting(game, games)).collect();
    waiting.sort_by_key(|(policy, _)| Arc::as_ptr(policy));
    for alike in waiting.chunk_by(|(one, _), (other, _)| Arc::ptr_eq(one, other)) {
        let views = alike.iter().map(|&(_, game)| games[game].view(games[game].current_player()));
        let outputs = PolicyBot::evaluate(&alike[0].0, views, scratch);
        for (row, &(_, game)) in alike.iter().enumerate() {
            let (bot, view) = games[game].policy_to_act().expect("a policy is to act");
            let played = bot.choose(&outputs, row, view.variant());
            games[game].play_unchecked(played);
        }
    }
}

/// Lets the bots of many games play until each game has ended or an external player is to act,
/// unless the call is stopped. Policies are evaluated for all games that wait for them.
/// `failed` gets the games in which a bot chose an illegal move; the others go on.
pub(crate) fn run_together(
    games: &mut [&mut GameRunner],
    scratch: &mut PolicyScratch,
    mut failed: impl FnMut(usize, BotMoveError),
) {
    let mut open: Vec<usize> = (0..games.len()).collect();
    while !open.is_empty() && !is_stopped() {
        open.retain(|&index| {
            let game = &mut *games[index];
            if !game.has_policy() {
                game.run().unwrap_or_else(|error| failed(index, error));
                return false;
            }
            while game.policy_to_act().is_none() {
                match game.play_bot() {
                    Ok(true) => {}
                    Ok(false) => return false,
                    Err(error) => {
                        failed(index, error);
                        return false;
                    }
                }
            }
            true
        });
        play_policies(games, &open, scratch);
    }
}
