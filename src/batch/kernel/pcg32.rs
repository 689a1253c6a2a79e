//! The random number generator of [`GameRng`](crate::rules::GameRng), for eight games at once.

use super::lanes::{Isa, Lanes};
use crate::rules::{INCREMENT, MULTIPLIER};

/// The factor and the summand that advance a state by this many draws.
pub const fn jump(draws: usize) -> (u64, u64) {
    let (mut factor, mut summand, mut draw) = (1, 0, 0);
    while draw < draws {
        factor = MULTIPLIER.wrapping_mul(factor);
        summand = MULTIPLIER.wrapping_mul(summand).wrapping_add(INCREMENT);
        draw += 1;
    }
    (factor, summand)
}

/// The state after this jump.
pub const fn advance(state: u64, (factor, summand): (u64, u64)) -> u64 {
    state.wrapping_mul(factor).wrapping_add(summand)
}

/// The states after one draw.
#[inline(always)]
pub fn next_states<I: Isa>(isa: I, states: I::Lanes) -> I::Lanes {
    states.mul(isa.splat(MULTIPLIER)) + isa.splat(INCREMENT)
}

/// [`GameRng::below`](crate::rules::GameRng::below) for each lane; the states are not advanced.
#[inline(always)]
pub fn random_below<I: Isa>(isa: I, states: I::Lanes, bounds: I::Lanes) -> I::Lanes {
    let word = isa.splat(0xffff_ffff);
    let shifted = (states.shr(18) ^ states).shr(27) & word;
    let twice = shifted | shifted.shl(32);
    let numbers = twice.shr_each(states.shr(59)) & word;
    numbers.mul_halves(bounds).shr(32)
}

#[cfg(test)]
mod tests {
    use super::super::lanes::Word;
    use super::*;
    use crate::buffers::{InstructionSet, Task};
    use crate::rules::GameRng;

    struct Check;

    impl<I: Isa> Task<I> for Check {
        #[inline(always)]
        fn run(self, isa: I) {
            check(isa);
        }
    }

    #[inline(always)]
    fn check(isa: impl Isa) {
        let mut states = Word(std::array::from_fn(|lane| u64::MAX / (lane as u64 + 1)));
        let starts = states;
        let mut scalar = states.0.map(GameRng::from_state);
        for draw in 0..200 {
            let bounds = Word(std::array::from_fn(|lane| (draw + lane as u64) % 64 + 1));
            let mut numbers = Word::default();
            random_below(isa, isa.load(&states), isa.load(&bounds)).store(&mut numbers);
            next_states(isa, isa.load(&states)).store(&mut states);
            for (lane, scalar) in scalar.iter_mut().enumerate() {
                let expected = scalar.below(bounds.0[lane] as u32);
                assert_eq!(numbers.0[lane], u64::from(expected));
                assert_eq!(states.0[lane], scalar.state());
                assert_eq!(states.0[lane], advance(starts.0[lane], jump(draw as usize + 1)));
            }
        }
    }

    #[test]
    fn the_lanes_draw_what_the_crate_draws() {
        InstructionSet::available().for_each(|simd| simd.run(Check));
    }
}
