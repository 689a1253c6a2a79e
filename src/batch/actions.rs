//! The actions of a step, in the two forms that callers have.

use crate::rules::ActionId;
pub(crate) use list::Actions;

/// An action of one game, as [`Batch::step`](super::Batch::step) takes it: an [`ActionId`], or an
/// `i64`, such as an array of a learner has it. A number that is not an id is an illegal action.
///
/// No other types implement it.
pub trait Action: list::Listed {}

impl Action for ActionId {}

impl Action for i64 {}

mod list {
    use crate::batch::kernel::lanes::{LANES, Word};
    use crate::rules::ActionId;

    /// The actions of some games.
    #[derive(Clone, Copy, Debug)]
    pub enum Actions<'a> {
        Ids(&'a [ActionId]),
        Numbers(&'a [i64]),
    }

    /// What has lists of actions.
    pub trait Listed: Copy {
        fn list(actions: &[Self]) -> Actions<'_>;
    }

    impl Listed for ActionId {
        fn list(actions: &[ActionId]) -> Actions<'_> {
            Actions::Ids(actions)
        }
    }

    impl Listed for i64 {
        fn list(actions: &[i64]) -> Actions<'_> {
            Actions::Numbers(actions)
        }
    }

    impl<'a> Actions<'a> {
        #[inline(always)]
        pub const fn len(self) -> usize {
            match self {
                Actions::Ids(ids) => ids.len(),
                Actions::Numbers(numbers) => numbers.len(),
            }
        }

        /// The number of one action.
        pub fn number(self, index: usize) -> i64 {
            match self {
                Actions::Ids(ids) => u8::from(ids[index]).into(),
                Actions::Numbers(numbers) => numbers[index],
            }
        }

        /// The actions from one index on, at most so many.
        #[inline(always)]
        pub fn part(self, first: usize, most: usize) -> Actions<'a> {
            match self {
                Actions::Ids(ids) => Actions::Ids(part(ids, first, most)),
                Actions::Numbers(numbers) => Actions::Numbers(part(numbers, first, most)),
            }
        }

        /// The actions of a block, of at most eight games. Lanes without a game get an action that
        /// does not exist.
        #[inline(always)]
        pub fn word(self) -> Word {
            match self {
                Actions::Ids(ids) => word(ids, |id| id.index() as u64),
                Actions::Numbers(numbers) => word(numbers, |number| number as u64),
            }
        }
    }

    #[inline(always)]
    fn part<T>(all: &[T], first: usize, most: usize) -> &[T] {
        &all[first..(first + most).min(all.len())]
    }

    #[inline(always)]
    fn word<T: Copy>(actions: &[T], number: impl Fn(T) -> u64) -> Word {
        if let Ok(actions) = <&[T; LANES]>::try_from(actions) {
            return Word(actions.map(number));
        }
        let mut word = Word([u64::MAX; LANES]);
        for (word, &action) in word.0.iter_mut().zip(actions) {
            *word = number(action);
        }
        word
    }
}
