use super::copies::Copies;
use super::hand::{Hand, Prospects, SLOTS};
use super::shares::Shares;
use crate::rules::CardSet;

/// Most that a question can ask: a move says at most one of 16 things.
const MOST: usize = 15;

/// Asks of slots in turn whether their card is one of some. The answer is the number of the first
/// for which that is so, counted from 1, or 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    asked: [(usize, Copies); MOST],
    size: usize,
}

impl Question {
    /// No question yet.
    pub const fn new() -> Question {
        Question { asked: [(0, Copies::NONE); MOST], size: 0 }
    }

    /// Becomes what the team wants to know next about a hand of which this is known, with so many
    /// answers at most. False when there is nothing to be known.
    pub fn advance(&mut self, hand: &Hand, prospects: &Prospects, answers: usize) -> bool {
        self.size = 0;
        if answers < 2 {
            return false;
        }
        let chances = Chances::of(hand, prospects);
        if !chances.knows_playable {
            self.ask_all(chances.playable, prospects.playable, answers);
            if !chances.knows_dead {
                self.ask_all(chances.dead, prospects.dead, answers);
            }
        }
        if self.size == 0 {
            if let Some(slot) = chances.probably_playable() {
                self.ask(slot, prospects.playable);
            } else if let Some(slot) = chances.least_dead() {
                self.ask_kind(slot, hand.slots[slot], prospects, answers);
            }
        }
        self.size > 0
    }

    fn ask(&mut self, slot: usize, cards: Copies) {
        self.asked[self.size] = (slot, cards);
        self.size += 1;
    }

    /// Whether these slots are playable, or dead. When there is no room for all, the likely ones
    /// are asked. The unlikely ones come first: a late yes says no for all before.
    fn ask_all(&mut self, mut likely: Shares, cards: Copies, answers: usize) {
        likely.keep_highest(answers - 1 - self.size);
        for (slot, _) in likely.iter() {
            self.ask(slot, cards);
        }
    }

    /// Which card it is: those that can still be played are dealt out in turn to as many answers
    /// as there may be. All dead ones share the last answer.
    fn ask_kind(&mut self, slot: usize, card: Copies, prospects: &Prospects, answers: usize) {
        let dead = card & prospects.dead;
        let alive = (card - dead).kinds();
        let groups = alive.len().min(answers - usize::from(!dead.is_empty()));
        let mut kinds = [0; MOST + 1];
        for (place, kind) in alive.iter().enumerate() {
            kinds[place % groups] |= 1 << kind;
        }
        for &group in &kinds[1..groups] {
            self.ask(slot, Copies::of(CardSet(group)));
        }
        if !dead.is_empty() {
            self.ask(slot, prospects.dead);
        }
    }

    fn asked(&self) -> &[(usize, Copies)] {
        &self.asked[..self.size]
    }

    /// Number of answers that there are.
    pub fn answers(&self) -> usize {
        self.size + 1
    }

    /// The answer for a hand of these cards.
    pub fn answer(&self, cards: &[u8]) -> usize {
        let holds = |&(slot, among): &(usize, Copies)| {
            cards.get(slot).is_some_and(|&card| among.kinds().contains(card.into()))
        };
        self.asked().iter().position(holds).map_or(0, |first| first + 1)
    }

    /// What the answer says about the hand.
    pub fn learn(&self, answer: usize, hand: &mut Hand) {
        let denied = if answer == 0 { self.size } else { answer - 1 };
        for &(slot, cards) in &self.asked[..denied] {
            hand.slots[slot] -= cards;
        }
        if let Some(&(slot, cards)) = self.asked().get(denied) {
            hand.slots[slot] &= cards;
        }
    }
}

/// What is known about the cards of a hand, as far as questions depend on it.
#[derive(Default)]
struct Chances {
    knows_playable: bool,
    knows_dead: bool,
    /// The slots of which something that matters can be learned.
    open: [bool; SLOTS],
    /// How likely each open slot is playable, if it may be.
    playable: Shares,
    /// How likely each open slot is dead, if it may be.
    dead: Shares,
}

impl Chances {
    fn of(hand: &Hand, prospects: &Prospects) -> Chances {
        let mut chances = Chances::default();
        for (slot, &card) in hand.cards().iter().enumerate() {
            chances.knows_playable |= card.is_subset(prospects.playable);
            let is_dead = card.is_subset(prospects.dead);
            chances.knows_dead |= is_dead;
            chances.open[slot] = !is_dead && !card.is_one_kind();
            if chances.open[slot] {
                chances.playable.add(slot, (card & prospects.playable).len(), card.len());
                chances.dead.add(slot, (card & prospects.dead).len(), card.len());
            }
        }
        chances
    }

    /// The open slot that is playable with a probability nearest to 0.7, if there is one not too
    /// far from that.
    fn probably_playable(&self) -> Option<usize> {
        let distances = self.playable.iter().map(|(slot, share)| ((share - 0.7).abs(), slot));
        let near = distances.filter(|&(distance, _)| distance < 0.2);
        let nearest = near.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        nearest.map(|(_, slot)| slot)
    }

    /// The open slot that is the least likely dead.
    fn least_dead(&self) -> Option<usize> {
        let may_be_dead = |slot| self.dead.iter().any(|(other, _)| other == slot);
        let never = (0..SLOTS).find(|&slot| self.open[slot] && !may_be_dead(slot));
        never.or_else(|| self.dead.iter().next().map(|(slot, _)| slot))
    }
}
