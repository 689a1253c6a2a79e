//! What the tokens and the cards on the table say about the turns.

use crate::rules::position::Position;
use crate::rules::position_error::{PositionError, require};
use crate::rules::variant::Variant;

/// The numbers of turns of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub hints: u8,
    /// Plays and discards: turns that take a card from a hand.
    pub taken: u8,
    /// The cards drawn after the deal.
    pub drawn: u8,
    /// The latest turns, as many as may have been played after the deck ran out.
    pub without_deck: u8,
}

impl Tally {
    /// The turns that lead to these tokens and cards; `position`'s numbers are in their ranges.
    pub fn new(position: &Position, variant: &Variant, turns: u8) -> Result<Tally, PositionError> {
        let discarded = position.discards.count_ones() as u8;
        let taken = discarded + position.fireworks_sum();
        let misplays = variant.max_life_tokens() - position.life_tokens;
        require(misplays <= discarded, "life_tokens", "more misplays than discarded cards")?;
        require(taken <= turns, "length", "fewer turns than cards played and discarded")?;
        let hints = turns - taken;
        check_information(position, variant, hints, discarded - misplays)?;
        let drawn = taken.min(variant.dealt_deck_size());
        let left = variant.dealt_deck_size() - drawn;
        require(position.deck_size == left, "deck_size", "other than the cards that were drawn")?;
        let mut tally = Tally { hints, taken, drawn, without_deck: 0 };
        tally.without_deck = check_last_turns(position, variant, turns, tally)?;
        Ok(tally)
    }
}

/// A hint costs a token and a discard regains one; a play may regain one or two.
fn check_information(
    position: &Position,
    variant: &Variant,
    hints: u8,
    discards: u8,
) -> Result<(), PositionError> {
    let complete = |&&height: &&u8| height == variant.ranks();
    let mut most = position.fireworks(variant).iter().filter(complete).count() as i32;
    if variant.timed_display() {
        most += i32::from(position.fireworks_sum());
    }
    let spent =
        i32::from(variant.max_information_tokens()) - i32::from(position.information_tokens);
    let by_plays = i32::from(hints) - i32::from(discards) - spent;
    let possible = (0..=most).contains(&by_plays);
    require(possible, "information_tokens", "hints, discards and plays leave another number")
}

/// The number of turns that may have been played after the deck ran out.
fn check_last_turns(
    position: &Position,
    variant: &Variant,
    turns: u8,
    tally: Tally,
) -> Result<u8, PositionError> {
    let counted_down = variant.players() - position.last_turns;
    if position.deck_size > 0 || variant.crowning_piece() {
        require(counted_down == 0, "last_turns", "the last round has not begun")?;
        return Ok(if position.deck_size > 0 { 0 } else { turns - tally.drawn });
    }
    let before = turns.checked_sub(counted_down);
    // The deck may be empty from the deal on; otherwise the turn that emptied it was before.
    let possible = match tally.drawn {
        0 => before == Some(0),
        drawn => before.is_some_and(|before| before >= drawn),
    };
    require(possible, "last_turns", "too few turns for the last round")?;
    Ok(counted_down)
}
