//! Buffers for all outputs of a batch, which the batch allocates.

use half::f16;

use super::options::{Dtype, Observers};
use super::outputs::{ObservationBuffer, Outputs};
use super::{Axis, Batch, BatchError, for_each_output, reserve};
use crate::rules::{Ending, Seat};

/// Observations, rows of one game after another. The kind is the batch's dtype.
#[derive(Clone, Debug, PartialEq)]
pub enum Observations {
    /// 32-bit floats.
    Float32(Vec<f32>),
    /// 16-bit floats.
    Float16(Vec<f16>),
    /// A byte for each bit.
    Uint8(Vec<u8>),
    /// Packed bits, in whole 64-bit words.
    Bits(Vec<u8>),
}

impl Observations {
    /// Lends the rows, for one call.
    pub fn lend(&mut self) -> ObservationBuffer<'_> {
        match self {
            Observations::Float32(rows) => ObservationBuffer::Float32(rows),
            Observations::Float16(rows) => ObservationBuffer::Float16(rows),
            Observations::Uint8(rows) => ObservationBuffer::Uint8(rows),
            Observations::Bits(rows) => ObservationBuffer::Bits(rows),
        }
    }

    /// The rows as 32-bit floats, the default; `None` for another dtype.
    #[must_use]
    pub const fn as_float32(&self) -> Option<&[f32]> {
        match self {
            Observations::Float32(rows) => Some(rows.as_slice()),
            _ => None,
        }
    }

    /// The rows as 16-bit floats; `None` for another dtype.
    #[must_use]
    pub const fn as_float16(&self) -> Option<&[f16]> {
        match self {
            Observations::Float16(rows) => Some(rows.as_slice()),
            _ => None,
        }
    }

    /// The bytes of [`Observations::Uint8`] or [`Observations::Bits`]; `None` for floats.
    #[must_use]
    pub const fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Observations::Uint8(rows) | Observations::Bits(rows) => Some(rows.as_slice()),
            _ => None,
        }
    }

    const fn is_empty(&self) -> bool {
        match self {
            Observations::Float32(rows) => rows.is_empty(),
            Observations::Float16(rows) => rows.is_empty(),
            Observations::Uint8(rows) | Observations::Bits(rows) => rows.is_empty(),
        }
    }
}

/// An own buffer of one output.
trait OwnBuffer: Sized {
    /// What a call writes into.
    type Lent<'a>
    where
        Self: 'a;

    /// A buffer of this many elements, of a batch of this number of games.
    fn allocate(length: usize, dtype: Dtype, num_envs: usize) -> Result<Self, BatchError>;

    /// Lends the buffer; `None` if it is empty.
    fn lend_if_any(&mut self) -> Option<Self::Lent<'_>>;
}

impl<T: Copy + Default + 'static> OwnBuffer for Vec<T> {
    type Lent<'a> = &'a mut [T];

    fn allocate(length: usize, _: Dtype, num_envs: usize) -> Result<Vec<T>, BatchError> {
        let mut elements = reserve(length, num_envs)?;
        elements.resize(length, T::default());
        Ok(elements)
    }

    fn lend_if_any(&mut self) -> Option<&mut [T]> {
        (!self.is_empty()).then_some(self)
    }
}

impl OwnBuffer for Observations {
    type Lent<'a> = ObservationBuffer<'a>;

    fn allocate(length: usize, dtype: Dtype, num_envs: usize) -> Result<Observations, BatchError> {
        Ok(match dtype {
            Dtype::Float32 => Observations::Float32(OwnBuffer::allocate(length, dtype, num_envs)?),
            Dtype::Float16 => Observations::Float16(OwnBuffer::allocate(length, dtype, num_envs)?),
            Dtype::Uint8 => Observations::Uint8(OwnBuffer::allocate(length, dtype, num_envs)?),
            Dtype::Bits => Observations::Bits(OwnBuffer::allocate(length, dtype, num_envs)?),
        })
    }

    fn lend_if_any(&mut self) -> Option<ObservationBuffer<'_>> {
        (!self.is_empty()).then(|| self.lend())
    }
}

macro_rules! define_output_buffers {
    ($($(#[$doc:meta])* $name:ident: $buffer:ty = $own:ty, [$($axis:ident),*];)+) => {
        /// Buffers for the results of a step or a reset, made by [`Batch::allocate`]. The elements of
        /// each game lie together, in the order of the games.
        ///
        /// ```
        /// # use starmine::batch::{Batch, Options};
        /// # use starmine::rules::{Seat, Variant};
        /// let variant = Variant::default();
        /// let mut batch = Batch::new(variant, 64, 1, Options::default())?;
        /// let mut buffers = batch.allocate()?;
        /// buffers.action_mask.clear(); // without a buffer, the masks are not written
        /// batch.observe(buffers.outputs())?;
        /// assert_eq!((buffers.seat(0), buffers.ending(0)), (Seat::FIRST, None));
        /// let rows = buffers.obs.as_float32().ok_or("another dtype")?;
        /// for row in rows.chunks_exact(batch.row_length()) {
        ///     println!("{} of {} bits are set", row.iter().sum::<f32>(), row.len());
        /// }
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub struct OutputBuffers {
            $($(#[$doc])* pub $name: $own,)+
        }

        impl OutputBuffers {
            /// The seat to act in a game; after its end the seat that would have been next.
            ///
            /// # Panics
            /// If there is no such game, or its buffer is empty.
            #[must_use]
            pub fn seat(&self, game: usize) -> Seat {
                Seat::at(self.current_player[game] as usize)
            }

            /// How a game ended in this call; `None` if it did not.
            ///
            /// # Panics
            /// If there is no such game, or its buffer is empty.
            #[must_use]
            pub fn ending(&self, game: usize) -> Option<Ending> {
                Ending::from_code(self.final_ending[game])
            }

            /// Lends the buffers, for one call. An output whose buffer is empty is not written.
            pub fn outputs(&mut self) -> Outputs<'_> {
                Outputs { $($name: self.$name.lend_if_any(),)+ }
            }
        }

        impl Batch {
            /// Buffers for all outputs. Those of an [`ExtraOutput`](super::ExtraOutput) are empty if
            /// [`Options::extra_outputs`](super::Options::extra_outputs) lacks it.
            ///
            /// # Errors
            /// [`BatchError::Memory`] if there is no memory for them.
            pub fn allocate(&self) -> Result<OutputBuffers, BatchError> {
                Ok(OutputBuffers {
                    $($name: self.buffer(stringify!($name), &[$(Axis::$axis),*])?,)+
                })
            }
        }
    };
}

for_each_output!(define_output_buffers);

impl Batch {
    fn buffer<T: OwnBuffer>(&self, name: &str, axes: &[Axis]) -> Result<T, BatchError> {
        let is_wanted = self.options().has_output(name);
        let length = if is_wanted { self.shape(axes).iter().product() } else { 0 };
        T::allocate(length, self.options().dtype, self.num_envs())
    }

    /// The shape of an output's array. The first axis counts the games. The array lacks the axis of
    /// observers where only the seat to act is observed.
    pub(crate) fn shape(&self, axes: &[Axis]) -> Vec<usize> {
        let is_in_array =
            |axis: &Axis| *axis != Axis::Observers || self.options().observers == Observers::All;
        let axes = axes.iter().copied().filter(is_in_array);
        [self.num_envs()].into_iter().chain(axes.map(|axis| axis.length(&self.config))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::batch::{ExtraOutput, Options};
    use crate::rules::{Parameters, Variant};

    fn batch(dtype: Dtype, extra_outputs: Vec<ExtraOutput>) -> Batch {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        let observers = Observers::All;
        let options = Options { dtype, observers, extra_outputs, ..Options::default() };
        Batch::new(variant, 20, 3, options).unwrap()
    }

    #[test]
    fn allocated_buffers_fit_and_are_written() {
        for &dtype in Dtype::ALL {
            for extra in [vec![], vec![ExtraOutput::OwnHand], ExtraOutput::ALL.to_vec()] {
                let mut batch = batch(dtype, extra.clone());
                let mut buffers = batch.allocate().unwrap();
                assert_eq!(buffers.own_hand.is_empty(), !extra.contains(&ExtraOutput::OwnHand));
                assert_eq!(buffers.marginals.is_empty(), !extra.contains(&ExtraOutput::Marginals));
                let empty = buffers.clone();
                batch.observe(buffers.outputs()).unwrap();
                assert_ne!(buffers.obs, empty.obs);
                assert_ne!(buffers.action_mask, empty.action_mask);
            }
        }
    }

    #[test]
    fn an_output_without_elements_is_not_written() {
        let mut batch = batch(Dtype::Bits, vec![]);
        let mut buffers = batch.allocate().unwrap();
        buffers.obs = Observations::Bits(vec![]);
        buffers.reward.clear();
        assert!(buffers.outputs().obs.is_none() && buffers.outputs().reward.is_none());
        batch.step(&[5; 20], buffers.outputs()).unwrap();
        assert_eq!(buffers.current_player, [1; 20]);
    }

    #[test]
    fn outputs_are_lent_for_each_call() {
        let mut batch = batch(Dtype::Float32, vec![]);
        let mut buffers = batch.allocate().unwrap();
        let mut outputs = buffers.outputs();
        batch.observe(outputs.lend()).unwrap();
        batch.step(&[5; 20], outputs.lend()).unwrap();
        let mut other = batch.allocate().unwrap();
        batch.observe(other.outputs()).unwrap();
        assert_eq!((buffers.obs, buffers.action_mask), (other.obs, other.action_mask));
    }

    #[test]
    fn legal_actions_are_those_of_the_mask() {
        let mut batch = batch(Dtype::Bits, vec![]);
        let mut buffers = batch.allocate().unwrap();
        for _ in 0..100 {
            batch.observe(buffers.outputs()).unwrap();
            let width = batch.variant().num_actions();
            for (game, mask) in buffers.action_mask.chunks(width).enumerate() {
                let legal = batch.legal_actions(game);
                assert!((0..width).all(|action| mask[action] == (legal.bits() >> action & 1 == 1)));
            }
            let last = |game| batch.legal_actions(game).iter().last().unwrap();
            let ids: Vec<_> = (0..batch.num_envs()).map(last).collect();
            // Ids and their numbers are the same actions.
            let numbers: Vec<i64> = ids.iter().map(|&id| u8::from(id).into()).collect();
            let mut other = batch.try_clone().unwrap();
            other.step(&numbers, Outputs::default()).unwrap();
            batch.step(&ids, Outputs::default()).unwrap();
            assert_eq!(batch.to_bytes().unwrap(), other.to_bytes().unwrap());
        }
    }
}
