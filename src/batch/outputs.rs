//! The outputs of a step or a reset: the table of them, and the buffers that they are written to.

use half::f16;

use crate::batch::config::BatchConfig;
use crate::batch::options::Dtype;
use crate::buffers::{BufferError, WriteOnly, check_length};
use crate::encode::CARD_FEATURES;

/// Where observations go, rows of one game after another. The kind must be the batch's dtype.
#[derive(Debug)]
pub enum ObservationBuffer<'a> {
    /// 32-bit floats.
    Float32(WriteOnly<'a, f32>),
    /// 16-bit floats.
    Float16(WriteOnly<'a, f16>),
    /// A byte for each bit.
    Uint8(WriteOnly<'a, u8>),
    /// Packed bits, in whole 64-bit words.
    Bits(WriteOnly<'a, u8>),
}

impl<'a> ObservationBuffer<'a> {
    fn dtype(&self) -> Dtype {
        match self {
            ObservationBuffer::Float32(_) => Dtype::Float32,
            ObservationBuffer::Float16(_) => Dtype::Float16,
            ObservationBuffer::Uint8(_) => Dtype::Uint8,
            ObservationBuffer::Bits(_) => Dtype::Bits,
        }
    }

    fn len(&self) -> usize {
        match self {
            ObservationBuffer::Float32(row) => row.len(),
            ObservationBuffer::Float16(row) => row.len(),
            ObservationBuffer::Uint8(row) | ObservationBuffer::Bits(row) => row.len(),
        }
    }

    fn split_at(self, middle: usize) -> (ObservationBuffer<'a>, ObservationBuffer<'a>) {
        macro_rules! split {
            ($kind:ident, $row:expr) => {{
                let (left, right) = $row.split_at(middle);
                (ObservationBuffer::$kind(left), ObservationBuffer::$kind(right))
            }};
        }
        match self {
            ObservationBuffer::Float32(row) => split!(Float32, row),
            ObservationBuffer::Float16(row) => split!(Float16, row),
            ObservationBuffer::Uint8(row) => split!(Uint8, row),
            ObservationBuffer::Bits(row) => split!(Bits, row),
        }
    }
}

impl<'a> From<&'a mut [f32]> for ObservationBuffer<'a> {
    fn from(rows: &'a mut [f32]) -> ObservationBuffer<'a> {
        ObservationBuffer::Float32(rows.into())
    }
}

impl<'a> From<&'a mut [f16]> for ObservationBuffer<'a> {
    fn from(rows: &'a mut [f16]) -> ObservationBuffer<'a> {
        ObservationBuffer::Float16(rows.into())
    }
}

/// An axis of an output's array. The first axis of every output counts the games; these follow it. The names give a
/// buffer its length here and an array its shape in Python, from one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The actions of the variant.
    Actions,
    /// The seats whose observations are written. The array lacks this axis where only the seat to
    /// act is observed.
    Observers,
    /// The elements of one observation row.
    RowElements,
    /// The hands, by offset from the observer.
    Hands,
    /// The slots of a full hand.
    Slots,
    /// The kinds of cards.
    CardKinds,
    /// The features of a card.
    CardFeatures,
}

impl Axis {
    #[inline(always)]
    pub(in crate::batch) fn length(self, config: &BatchConfig) -> usize {
        match self {
            Axis::Actions => config.variant.num_actions(),
            Axis::Observers => config.num_observers(),
            Axis::RowElements => config.row_length(),
            Axis::Hands => config.variant.players().into(),
            Axis::Slots => config.variant.hand_size().into(),
            Axis::CardKinds => config.variant.num_card_kinds(),
            Axis::CardFeatures => CARD_FEATURES,
        }
    }
}

/// The table of outputs. A row has the output's name, the type of a caller's buffer, the type of an array (`T` is
/// the type of observations), and the axes of one game's elements. An output without axes has one element for each
/// game. `$use` is a macro that takes all rows.
///
/// From it come [`Outputs`] and its checks, and in Python the keyword arguments, the arrays and the dictionary. What writes an output is in
/// `step/result.rs`, or in `rows`.
macro_rules! for_each_output {
    ($use:ident) => {
        $use! {
            /// Observations: for each game one row, or one for each seat.
            obs: ObservationBuffer<'a> = Box<[T]>, [Observers, RowElements];
            /// Whether each action is legal for the seat to act.
            action_mask: WriteOnly<'a, bool> = Box<[bool]>, [Actions];
            /// The change of the score in this step; with [`Partners`](crate::batch::Partners) also by their
            /// turns.
            reward: WriteOnly<'a, f32> = Box<[f32]>, [];
            /// Whether the game ended in this step.
            terminated: WriteOnly<'a, bool> = Box<[bool]>, [];
            /// Always false: no game is cut short.
            truncated: WriteOnly<'a, bool> = Box<[bool]>, [];
            /// The seat to act next.
            current_player: WriteOnly<'a, i32> = Box<[i32]>, [];
            /// The score of the game as it stands now.
            score: WriteOnly<'a, i32> = Box<[i32]>, [];
            /// The final score of the game that ended in this step, else 0.
            final_score: WriteOnly<'a, i32> = Box<[i32]>, [];
            /// The turns of the game that ended in this step, else 0.
            final_length: WriteOnly<'a, i32> = Box<[i32]>, [];
            /// The code of the ending of the game that ended in this step, else 0; see
            /// [`Ending::from_code`](crate::rules::Ending::from_code).
            final_ending: WriteOnly<'a, i8> = Box<[i8]>, [];
            /// Whether an illegal action of the learner ended the game in this step.
            illegal_action: WriteOnly<'a, bool> = Box<[bool]>, [];
            /// For each card the probabilities that it is playable, dead and critical; see
            /// [`write_card_features`](crate::encode::write_card_features).
            card_features: WriteOnly<'a, f32> = Box<[f32]>, [Observers, Hands, Slots, CardFeatures];
            /// The V0 beliefs: the probability of each card in each slot; see
            /// [`write_public_marginals`](crate::encode::write_public_marginals).
            public_marginals: WriteOnly<'a, f32> = Box<[f32]>, [Observers, Hands, Slots, CardKinds];
            /// The cards of the observer's own hand as card indices; -1 for an absent card.
            own_hand: WriteOnly<'a, i8> = Box<[i8]>, [Observers, Slots];
        }
    };
}

macro_rules! define_outputs {
    ($($(#[$doc:meta])* $name:ident: $buffer:ty = $own:ty, [$($axis:ident),*];)+) => {
        /// The caller's buffers for the results of a step or a reset. An output whose buffer is
        /// `None` is not written. The elements of each game lie together, in the order of the games.
        #[derive(Debug, Default)]
        pub struct Outputs<'a> {
            $($(#[$doc])* pub $name: Option<$buffer>,)+
        }

        impl<'a> Outputs<'a> {
            /// The names of all outputs, in the order of the table.
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Checks that these are buffers for the outputs of this many games.
            pub(in crate::batch) fn check(&self, config: &BatchConfig, games: usize) -> Result<(), BufferError> {
                if let Some(found) = self.obs.as_ref().map(ObservationBuffer::dtype) {
                    let expected = config.options.dtype;
                    if found != expected {
                        let (name, found, expected) = ("obs", found.name(), expected.name());
                        return Err(BufferError::Dtype { name, found, expected });
                    }
                }
                $(if let Some(buffer) = &self.$name {
                    let expected = games $(* Axis::$axis.length(config))*;
                    check_length(stringify!($name), buffer.len(), expected)?;
                })+
                Ok(())
            }

            /// Splits off the outputs of the first games.
            pub(in crate::batch) fn split_at(self, games: usize, config: &BatchConfig) -> (Outputs<'a>, Outputs<'a>) {
                $(let $name = self
                    .$name
                    .map(|all| all.split_at(games $(* Axis::$axis.length(config))*))
                    .unzip();)+
                (Outputs { $($name: $name.0,)+ }, Outputs { $($name: $name.1,)+ })
            }
        }
    };
}

for_each_output!(define_outputs);

impl Outputs<'_> {
    /// Whether there is a buffer for any [`ExtraOutput`](crate::batch::ExtraOutput).
    #[inline(always)]
    pub(in crate::batch) const fn have_features(&self) -> bool {
        self.card_features.is_some() || self.public_marginals.is_some() || self.own_hand.is_some()
    }
}

pub(crate) use for_each_output;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Batch, Options};
    use crate::rules::Variant;

    #[test]
    fn the_type_of_observations_must_fit_the_dtype() {
        for &dtype in Dtype::ALL {
            let options = Options { dtype, ..Options::default() };
            let mut batch = Batch::new(Variant::default(), 2, 3, options).unwrap();
            let length = 2 * batch.row_length();
            let (mut bytes, mut halves) = (vec![0; length], vec![f16::ZERO; length]);
            let mut floats = vec![0.0; length];
            for found in Dtype::ALL {
                let obs = match found {
                    Dtype::Float32 => floats.as_mut_slice().into(),
                    Dtype::Float16 => halves.as_mut_slice().into(),
                    Dtype::Uint8 => ObservationBuffer::Uint8(WriteOnly::new(&mut bytes)),
                    Dtype::Bits => ObservationBuffer::Bits(WriteOnly::new(&mut bytes)),
                };
                let written = batch.observe(Outputs { obs: Some(obs), ..Outputs::default() });
                assert_eq!(written.is_ok(), *found == dtype);
            }
        }
    }
}
