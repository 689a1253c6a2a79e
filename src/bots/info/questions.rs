//! The questions about a hand that a number answers.

use super::board::Board;
use super::copies::Copies;
use super::hand::Hand;

/// A question about the card in one slot: to which group it belongs. Some kinds are dealt to the
/// first groups in turn; all others are the last group.
#[derive(Clone, Copy, Debug)]
struct Question {
    slot: usize,
    /// How many groups the dealt kinds make.
    groups: u8,
    /// How many answers there are: one more when there are others.
    answers: u8,
    /// All copies of the dealt kinds.
    dealt: Copies,
}

impl Question {
    const NONE: Question = Question { slot: 0, groups: 1, answers: 1, dealt: Copies::NONE };

    /// Whether the card is playable: 1 if it is.
    fn playable(slot: usize, board: &Board) -> Question {
        Question { slot, groups: 1, answers: 2, dealt: Copies::ALL - board.playable }
    }

    /// What the card is, as far as so many answers can tell; the dead are one group. Not all
    /// copies are dead.
    fn kind(slot: usize, copies: Copies, answers: u32, board: &Board) -> Question {
        let dealt = copies - board.dead;
        let others = u32::from(copies.meets(board.dead));
        let groups = dealt.kinds().len().min(answers - others);
        Question { slot, groups: groups as u8, answers: (groups + others) as u8, dealt }
    }

    /// The answer if all copies of the card are these.
    fn answer(&self, card: Copies) -> u32 {
        if !card.meets(self.dealt) {
            u32::from(self.groups.min(self.answers - 1))
        } else if self.groups == 1 {
            0
        } else {
            self.dealt.kinds().below(card).len() % u32::from(self.groups)
        }
    }

    /// What is left of the copies that may be in the slot.
    fn note(&self, hand: &mut Hand, answer: u32) {
        let Some(copies) = hand.slots_mut().get_mut(self.slot) else { return };
        if answer == u32::from(self.groups) {
            *copies -= self.dealt;
        } else if self.groups == 1 {
            *copies &= self.dealt;
        } else {
            *copies &= every(self.dealt.kinds(), answer, self.groups).whole();
        }
    }
}

/// The kinds of which the number, counted from 0, has this remainder.
fn every(kinds: Copies, remainder: u32, divisor: u8) -> Copies {
    let mut rest = kinds.0;
    let mut chosen = 0;
    let mut wait = remainder;
    while rest != 0 {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        if wait == 0 {
            chosen |= lowest;
            wait = divisor.into();
        }
        wait -= 1;
    }
    Copies(chosen)
}

/// The slots that hold neither a known card nor a dead one.
struct Candidates {
    copies: [Copies; 5],
    /// First those that are most likely playable, then the oldest: [`rating`]s.
    ratings: [u32; 5],
    len: usize,
    /// How many are playable with a chance of a fifth or more; none if any slot of the hand is
    /// known to be playable.
    plays: usize,
}

/// One part in so many copies, as a fixed-point number.
const PART: [u64; 64] = {
    let mut parts = [0; 64];
    let mut copies = 1;
    while copies < parts.len() {
        parts[copies] = (1 << 32) / copies as u64 + 1;
        copies += 1;
    }
    parts
};

/// A number that is larger for likelier slots, and of equal ones for older slots.
fn rating(slot: usize, playable: u32, total: u32) -> u32 {
    // Parts are rounded by less than tells the chances of different sets of 50 copies apart.
    let chance = ((u64::from(playable) << 14) * PART[total as usize % 64]) >> 32;
    (chance as u32) << 3 | (7 - slot as u32)
}

impl Candidates {
    #[inline]
    fn of(hand: &Hand, board: &Board) -> Candidates {
        let mut candidates = Candidates { copies: hand.all(), ratings: [0; 5], len: 0, plays: 0 };
        let mut is_play_known = false;
        for (slot, &copies) in hand.slots().iter().enumerate() {
            is_play_known |= copies.is_certainly(board.playable);
            if copies.is_empty() || copies.is_one_kind() || copies.is_certainly(board.dead) {
                continue;
            }
            let (playable, total) = ((copies & board.playable).len(), copies.len());
            candidates.plays += usize::from(playable * 5 >= total);
            candidates.insert(rating(slot, playable, total));
        }
        if is_play_known {
            candidates.plays = 0;
        }
        candidates
    }

    fn insert(&mut self, rating: u32) {
        let mut new = rating;
        for place in &mut self.ratings[..=self.len] {
            (*place, new) = (new.max(*place), new.min(*place));
        }
        self.len += 1;
    }

    fn slot(&self, place: usize) -> usize {
        7 - (self.ratings[place] & 7) as usize
    }

    /// Asks the questions that a number below `modulus` answers: first whether the likeliest cards
    /// are playable, unless one is known to be, then what they are. Everybody can tell from what
    /// everybody knows.
    #[inline]
    fn ask(&self, modulus: u32, board: &Board, mut put: impl FnMut(Question)) {
        let mut rest = modulus;
        for number in 0..self.plays + self.len {
            let question = if number < self.plays {
                Question::playable(self.slot(number), board)
            } else {
                let slot = self.slot(number - self.plays);
                Question::kind(slot, self.copies[slot], rest, board)
            };
            put(question);
            rest /= u32::from(question.answers);
            if rest <= 1 {
                return;
            }
        }
    }
}

/// What everybody knows once all have seen the answers of a hand of these card indices, which are
/// this number.
pub(super) fn note_cards(hand: &mut Hand, cards: &[u8], modulus: u32, board: &Board) -> u32 {
    let mut number = 0;
    Candidates::of(hand, board).ask(modulus, board, |question| {
        let answer = question.answer(card_of(cards, question.slot));
        question.note(hand, answer);
        number = number * u32::from(question.answers) + answer;
    });
    number
}

/// What is known once the answers are this number; nothing new when no answers are.
pub(super) fn note_number(hand: &mut Hand, number: u32, modulus: u32, board: &Board) {
    // Each question at least halves the modulus, which is below 64.
    let mut list = [Question::NONE; 6];
    let (mut len, mut product) = (0, 1);
    Candidates::of(hand, board).ask(modulus, board, |question| {
        if let Some(place) = list.get_mut(len) {
            *place = question;
            product *= u32::from(question.answers);
            len += 1;
        }
    });
    let mut rest = number;
    if rest >= product {
        return;
    }
    for question in &list[..len] {
        product /= u32::from(question.answers);
        question.note(hand, rest / product);
        rest %= product;
    }
}

fn card_of(cards: &[u8], slot: usize) -> Copies {
    cards.get(slot).map_or(Copies::NONE, |&index| Copies::of_kind(index.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_in_the_order_of_the_chances() {
        let all = || (2..=50).flat_map(|total| (0..=total).map(move |playable| (playable, total)));
        for (playable, total) in all() {
            for (other_playable, other_total) in all() {
                let older = rating(1, playable, total) > rating(2, other_playable, other_total);
                assert_eq!(older, playable * other_total >= other_playable * total);
            }
        }
    }
}
