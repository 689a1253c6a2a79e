//! The moves of a decision, with the scores of their roll-outs.

use crate::bots::MoveValue;
use crate::rules::Move;

/// A move is dropped when it is behind the best by this many standard errors of their difference.
const DROP_ERRORS: f64 = 2.5;

/// The scores of a move's roll-outs.
pub(super) struct Candidate {
    pub legal_move: Move,
    pub scores: Vec<f32>,
    /// What is added to the mean when moves are compared.
    bonus: f64,
}

impl Candidate {
    pub const fn new(legal_move: Move, bonus: f64) -> Candidate {
        Candidate { legal_move, scores: Vec::new(), bonus }
    }

    fn mean(&self) -> f64 {
        mean(self.scores.iter().map(|&score| f64::from(score)))
    }

    fn rated(&self) -> f64 {
        self.mean() + self.bonus
    }

    /// Whether this move's mean is below that of `best` by more than this number of standard errors
    /// of their difference. Both moves were played in the same deals.
    pub fn is_behind(&self, best: &Candidate, errors: f64) -> bool {
        let lead = best.bonus - self.bonus;
        let pairs = best.scores.iter().zip(&self.scores);
        let leads = pairs.map(|(best, own)| f64::from(best - own) + lead);
        mean(leads.clone()) > errors * standard_error(leads)
    }

    pub fn value(&self, is_kept: bool) -> MoveValue {
        MoveValue {
            candidate: self.legal_move,
            mean: if self.scores.is_empty() { f64::NAN } else { self.mean() },
            standard_error: standard_error(self.scores.iter().map(|&score| f64::from(score))),
            games: self.scores.len(),
            is_kept,
        }
    }
}

fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len().max(1) as f64;
    numbers.sum::<f64>() / count
}

fn standard_error(numbers: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let (count, mean) = (numbers.len() as f64, mean(numbers.clone()));
    let squares: f64 = numbers.map(|number| (number - mean).powi(2)).sum();
    if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { f64::INFINITY }
}

/// The index of the best candidate; on ties the first.
pub(super) fn best(kept: &[Candidate]) -> usize {
    let rated: Vec<f64> = kept.iter().map(Candidate::rated).collect();
    (1..kept.len()).fold(0, |best, index| if rated[index] > rated[best] { index } else { best })
}

/// Moves the candidates that are behind from one list to the other.
pub(super) fn drop_behind(kept: &mut Vec<Candidate>, dropped: &mut Vec<Candidate>) {
    let leader = &kept[best(kept)];
    let behind: Vec<bool> =
        kept.iter().map(|candidate| candidate.is_behind(leader, DROP_ERRORS)).collect();
    for index in (0..kept.len()).rev().filter(|&index| behind[index]) {
        dropped.push(kept.remove(index));
    }
}

/// Moves the worse half of the candidates from one list to the other. The blueprint's move stays.
pub(super) fn halve(kept: &mut Vec<Candidate>, dropped: &mut Vec<Candidate>, blueprint: Move) {
    let mut order: Vec<usize> = (0..kept.len()).collect();
    order.sort_by(|&one, &other| kept[other].rated().total_cmp(&kept[one].rated()));
    let mut is_better = vec![false; kept.len()];
    order[..kept.len().div_ceil(2)].iter().for_each(|&index| is_better[index] = true);
    for index in (0..kept.len()).rev() {
        if !is_better[index] && kept[index].legal_move != blueprint {
            dropped.push(kept.remove(index));
        }
    }
}
