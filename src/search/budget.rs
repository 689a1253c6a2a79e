//! How the roll-outs of a decision are divided among the moves.

/// Positions that are sampled between two comparisons of the means.
const BLOCK: usize = 32;

/// The roll-outs of a decision. They are spent in rounds of equal size, after each of which the
/// worse half of the moves is dropped, so that most of them go to the few moves that may be best
/// (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", 2013).
pub(super) struct Budget {
    all: usize,
    pub left: usize,
    rounds: usize,
    /// The rounds after this one.
    later: usize,
}

impl Budget {
    pub fn new(all: usize, moves: usize) -> Budget {
        let rounds = moves.ilog2().max(1) as usize;
        Budget { all, left: all, rounds, later: rounds - 1 }
    }

    /// The roll-outs that are left to the later rounds.
    const fn due(&self) -> usize {
        let (of_round, rest) = (self.all / self.rounds, self.all % self.rounds);
        of_round * self.later + rest * self.later / self.rounds
    }

    /// The number of samples to take next, each with a roll-out of all these moves.
    pub fn block(&self, moves: usize) -> usize {
        let of_round = self.left.saturating_sub(self.due()).div_ceil(moves).max(1);
        BLOCK.min(of_round).min(self.left / moves)
    }

    /// Spends this many roll-outs. Returns whether they end a round other than the last.
    pub const fn spend(&mut self, rollouts: usize) -> bool {
        self.left -= rollouts;
        let ends = self.later > 0 && self.left <= self.due();
        self.later -= ends as usize;
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_of_roll_outs_is_divided_among_the_rounds() {
        let mut budget = Budget::new(usize::MAX, 20);
        let first = budget.left - budget.due();
        assert_eq!(first, usize::MAX / 4 + 1);
        assert!(budget.spend(first));
        assert_eq!(budget.block(10), BLOCK);
    }
}
