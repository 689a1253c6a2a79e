//! Buffers for all outputs of a batch, which the batch allocates.

use std::any::Any;

use crate::batch::options::{Dtype, Observers};
use crate::batch::outputs::{ObservationBuffer, Outputs};
use crate::batch::{Axis, Batch, BatchError, for_each_output, reserve};
use crate::buffers::{BufferError, Element, WriteOnly};

macro_rules! define_output_buffers {
    (
        $(#[$obs_doc:meta])* obs: $obs_buffer:ty = Box<[T]>, [$($obs_axis:ident),*];
        $($(#[$doc:meta])* $name:ident: $buffer:ty = Box<[$element:ty]>, [$($axis:ident),*];)+
    ) => {
        /// Buffers for the results of a step or a reset, made by [`Batch::allocate`]. `T` is the type
        /// of the elements of observations. The elements of each game lie together, in the order of
        /// the games.
        ///
        /// ```
        /// # use starmine::batch::{Batch, Options, Outputs};
        /// # use starmine::rules::Variant;
        /// let variant = Variant::default();
        /// let mut batch = Batch::new(variant, 64, 1, Options::default())?;
        /// let mut buffers = batch.allocate::<f32>()?;
        /// let outputs = Outputs { score: None, ..buffers.outputs() }; // all but the scores
        /// batch.observe(outputs)?;
        /// for game in 0..64 {
        ///     let bits: f32 = buffers.row(game).iter().sum();
        ///     println!("{bits} of {} bits are set", batch.row_length());
        /// }
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub struct OutputBuffers<T> {
            num_envs: usize,
            dtype: Dtype,
            obs: Box<[T]>,
            $($name: Box<[$element]>,)+
        }

        /// The outputs of all games.
        impl<T> OutputBuffers<T> {
            $(#[$obs_doc])*
            #[must_use]
            pub fn obs(&self) -> &[T] {
                &self.obs
            }

            $($(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> &[$element] {
                &self.$name
            })+
        }

        impl<T: Element> OutputBuffers<T> {
            /// Lends the buffers, for one call. Those of extra outputs that are not among the options
            /// are left out.
            pub fn outputs(&mut self) -> Outputs<'_> {
                Outputs {
                    obs: observations(&mut self.obs, self.dtype),
                    $($name: lend(&mut self.$name),)+
                }
            }
        }

        impl Batch {
            /// Buffers for all outputs, filled as by [`Batch::observe`], with observations of the type that
            /// fits [`Options::dtype`](crate::batch::Options::dtype). Those of an
            /// [`ExtraOutput`](crate::batch::ExtraOutput) are empty if
            /// [`Options::extra_outputs`](crate::batch::Options::extra_outputs) lacks it.
            ///
            /// # Errors
            /// [`BatchError::Buffer`] for a type that does not fit the dtype, [`BatchError::Memory`]
            /// if there is no memory for the buffers.
            pub fn allocate<T: Element>(&mut self) -> Result<OutputBuffers<T>, BatchError> {
                let dtype = self.options().dtype;
                if observations::<T>(&mut Box::default(), dtype).is_none() {
                    let (name, found, expected) = ("obs", T::NAME, dtype.name());
                    return Err(BufferError::Dtype { name, found, expected }.into());
                }
                let mut buffers = OutputBuffers {
                    num_envs: self.num_envs(),
                    dtype,
                    obs: self.buffer("obs", &[$(Axis::$obs_axis),*])?,
                    $($name: self.buffer(stringify!($name), &[$(Axis::$axis),*])?,)+
                };
                self.observe(buffers.outputs())?;
                Ok(buffers)
            }
        }
    };
}

for_each_output!(define_output_buffers);

impl<T> OutputBuffers<T> {
    /// The observation of a game: its row, or the rows of all seats, one after another.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn row(&self, game: usize) -> &[T] {
        assert!(game < self.num_envs, "there is no game {game}");
        let width = self.obs.len() / self.num_envs;
        &self.obs[game * width..][..width]
    }
}

/// The buffer of observations for a call; `None` for elements that observations of this dtype do not have.
fn observations<T: Element>(rows: &mut Box<[T]>, dtype: Dtype) -> Option<ObservationBuffer<'_>> {
    fn lent<E: Element>(rows: &mut dyn Any) -> Option<WriteOnly<'_, E>> {
        rows.downcast_mut::<Box<[E]>>().map(|rows| WriteOnly::new(rows))
    }
    match dtype {
        Dtype::Float32 => lent(rows).map(ObservationBuffer::Float32),
        Dtype::Float16 => lent(rows).map(ObservationBuffer::Float16),
        Dtype::Uint8 => lent(rows).map(ObservationBuffer::Uint8),
        Dtype::Bits => lent(rows).map(ObservationBuffer::Bits),
    }
}

/// The buffer for a call; `None` for that of an extra output that the batch does not have.
fn lend<T: Copy>(elements: &mut [T]) -> Option<WriteOnly<'_, T>> {
    (!elements.is_empty()).then(|| WriteOnly::new(elements))
}

impl Batch {
    fn buffer<T: Copy + Default>(&self, name: &str, axes: &[Axis]) -> Result<Box<[T]>, BatchError> {
        let is_wanted = self.options().has_output(name);
        let length = if is_wanted { self.shape(axes).iter().product() } else { 0 };
        let mut elements = reserve(length, self.num_envs())?;
        elements.resize(length, T::default());
        Ok(elements.into_boxed_slice())
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

    use half::f16;

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
        fn check<T: Element + std::fmt::Debug + PartialEq>(dtype: Dtype) {
            for extra in [vec![], vec![ExtraOutput::OwnHand], ExtraOutput::ALL.to_vec()] {
                let mut batch = batch(dtype, extra.clone());
                let mut buffers = batch.allocate::<T>().unwrap();
                assert_eq!(buffers.own_hand.is_empty(), !extra.contains(&ExtraOutput::OwnHand));
                assert_eq!(
                    buffers.public_marginals.is_empty(),
                    !extra.contains(&ExtraOutput::Marginals)
                );
                let first = buffers.clone();
                assert!(first.action_mask.contains(&true));
                batch.observe(buffers.outputs()).unwrap();
                assert_eq!(buffers, first);
                batch.step(&[5; 20], buffers.outputs()).unwrap();
                assert_ne!(buffers.obs, first.obs);
                assert_ne!(buffers.current_player, first.current_player);
            }
        }
        check::<f32>(Dtype::Float32);
        check::<f16>(Dtype::Float16);
        check::<u8>(Dtype::Uint8);
        check::<u8>(Dtype::Bits);
    }

    #[test]
    fn the_type_of_observations_must_fit_the_dtype() {
        for (dtype, texts) in [
            (Dtype::Float32, ["", "float16", "uint8"]),
            (Dtype::Float16, ["float32", "", "uint8"]),
            (Dtype::Uint8, ["float32", "float16", ""]),
            (Dtype::Bits, ["float32", "float16", ""]),
        ] {
            let mut batch = batch(dtype, vec![]);
            let found = [
                batch.allocate::<f32>().err(),
                batch.allocate::<f16>().err(),
                batch.allocate::<u8>().err(),
            ];
            for (error, text) in found.into_iter().zip(texts) {
                let text = if text.is_empty() {
                    String::new()
                } else {
                    format!("obs has {text} elements: expected {}", dtype.name())
                };
                assert_eq!(error.map_or(String::new(), |error| error.to_string()), text);
            }
        }
    }

    #[test]
    fn a_game_has_the_rows_of_all_its_observers() {
        let mut batch = batch(Dtype::Uint8, vec![]);
        let mut buffers = batch.allocate::<u8>().unwrap();
        batch.observe(buffers.outputs()).unwrap();
        let rows = (0..20).flat_map(|game| buffers.row(game)).copied();
        assert!(rows.eq(buffers.obs.iter().copied()));
        assert_eq!(buffers.row(19).len(), batch.num_observers() * batch.row_length());
        assert!(std::panic::catch_unwind(|| buffers.row(20).len()).is_err());
    }

    #[test]
    fn an_output_without_a_buffer_is_not_written() {
        let mut batch = batch(Dtype::Bits, vec![]);
        let mut buffers = batch.allocate::<u8>().unwrap();
        assert!(buffers.outputs().own_hand.is_none() && buffers.outputs().reward.is_some());
        let untouched = buffers.clone();
        let outputs = Outputs { obs: None, action_mask: None, ..buffers.outputs() };
        batch.step(&[5; 20], outputs).unwrap();
        assert_eq!((&buffers.obs, &buffers.action_mask), (&untouched.obs, &untouched.action_mask));
        assert!(buffers.current_player.iter().all(|&seat| seat == 1));
    }

    #[test]
    fn legal_actions_are_those_of_the_mask() {
        let mut batch = batch(Dtype::Bits, vec![]);
        let mut buffers = batch.allocate::<u8>().unwrap();
        for _ in 0..100 {
            batch.observe(buffers.outputs()).unwrap();
            let width = batch.variant().num_actions();
            for (game, mask) in buffers.action_mask.chunks(width).enumerate() {
                let legal = batch.legal_actions(game);
                assert!((0..width).all(|action| mask[action] == (legal.bits() >> action & 1 == 1)));
            }
            let last = |game| batch.legal_actions(game).iter().last().unwrap();
            let actions: Vec<i64> = (0..batch.num_envs()).map(|game| last(game).into()).collect();
            batch.step(&actions, Outputs::default()).unwrap();
        }
    }
}
