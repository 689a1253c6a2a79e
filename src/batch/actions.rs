//! The actions of a step, in the two forms that callers have.

use crate::rules::ActionId;

/// An action of one game, as [`Batch::step`](super::Batch::step) takes it: an [`ActionId`], or an
/// `i64`, such as an array of a learner has it. A number that is not an id is an illegal action.
///
/// No other types implement it.
pub trait Action: sealed::ActionNumbers {}

impl Action for ActionId {}

impl Action for i64 {}

mod sealed {
    use crate::rules::ActionId;

    /// Actions that are numbers, or can be read as numbers.
    pub trait ActionNumbers: Copy {
        /// The numbers of these actions, in `memory` if they have another form.
        fn to_numbers<'a>(actions: &'a [Self], memory: &'a mut Vec<i64>) -> &'a [i64];
    }

    impl ActionNumbers for ActionId {
        fn to_numbers<'a>(actions: &'a [ActionId], memory: &'a mut Vec<i64>) -> &'a [i64] {
            memory.clear();
            memory.extend(actions.iter().map(|&action| i64::from(u8::from(action))));
            memory
        }
    }

    impl ActionNumbers for i64 {
        fn to_numbers<'a>(actions: &'a [i64], _: &'a mut Vec<i64>) -> &'a [i64] {
            actions
        }
    }
}
