use half::f16;
use thiserror::Error;

use super::config::BatchConfig;
use super::options::Dtype;
use crate::rules::Named;

/// An array that does not have the length it should have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} has {found} elements: expected {expected}")]
pub struct BufferError {
    /// Which array.
    pub name: &'static str,
    /// Its length.
    pub found: String,
    /// The length it should have.
    pub expected: String,
}

pub(super) fn check_length(
    name: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), BufferError> {
    if found == expected {
        return Ok(());
    }
    Err(BufferError { name, found: found.to_string(), expected: expected.to_string() })
}

/// Where observations go, rows of one game after another. The kind must be the batch's dtype.
#[derive(Debug)]
pub enum ObservationBuffer<'a> {
    /// 32-bit floats.
    Float32(&'a mut [f32]),
    /// 16-bit floats.
    Float16(&'a mut [f16]),
    /// A byte for each bit.
    Uint8(&'a mut [u8]),
    /// Packed bits, in whole 64-bit words.
    Bits(&'a mut [u8]),
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

    pub(super) fn check(&self, config: &BatchConfig, games: usize) -> Result<(), BufferError> {
        let expected = games * config.observers() * config.row_length();
        let wanted = config.options.dtype;
        if self.dtype() != wanted {
            let found = self.dtype().name().to_owned();
            return Err(BufferError { name: "obs", found, expected: wanted.name().to_owned() });
        }
        check_length("obs", self.len(), expected)
    }

    fn split_at(self, middle: usize) -> (ObservationBuffer<'a>, ObservationBuffer<'a>) {
        macro_rules! split {
            ($kind:ident, $row:expr) => {{
                let (left, right) = $row.split_at_mut(middle);
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

macro_rules! outputs {
    ($($(#[$doc:meta])* $name:ident: $type:ty),+ $(,)?) => {
        /// The caller's buffers for the results of a step or a reset; what is `None` is not
        /// written. Each has one element for each game, but for the two with their own note.
        #[derive(Debug, Default)]
        pub struct Outputs<'a> {
            /// Observations: for each game one row, or one for each seat.
            pub obs: Option<ObservationBuffer<'a>>,
            /// Whether each action is legal: for each game as many elements as there are actions.
            pub action_mask: Option<&'a mut [bool]>,
            $($(#[$doc])* pub $name: Option<&'a mut [$type]>,)+
        }

        impl<'a> Outputs<'a> {
            pub(super) fn check(&self, config: &BatchConfig, games: usize) -> Result<(), BufferError> {
                if let Some(obs) = &self.obs {
                    obs.check(config, games)?;
                }
                if let Some(mask) = &self.action_mask {
                    check_length("action_mask", mask.len(), games * config.variant.num_actions())?;
                }
                $(if let Some(buffer) = &self.$name {
                    check_length(stringify!($name), buffer.len(), games)?;
                })+
                Ok(())
            }

            /// Splits off the outputs of the first games.
            pub(super) fn split_at(self, games: usize, config: &BatchConfig) -> (Outputs<'a>, Outputs<'a>) {
                let row = games * config.observers() * config.row_length();
                let (obs, obs_rest) = self.obs.map(|obs| obs.split_at(row)).unzip();
                let mask = games * config.variant.num_actions();
                let (action_mask, mask_rest) = self.action_mask.map(|all| all.split_at_mut(mask)).unzip();
                $(let $name = self.$name.map(|all| all.split_at_mut(games)).unzip();)+
                (
                    Outputs { obs, action_mask, $($name: $name.0,)+ },
                    Outputs { obs: obs_rest, action_mask: mask_rest, $($name: $name.1,)+ },
                )
            }
        }
    };
}

outputs! {
    /// The change of the score.
    reward: f32,
    /// Whether the game ended in this step.
    terminated: bool,
    /// Always false: no game is cut short.
    truncated: bool,
    /// The seat to act next.
    current_player: i32,
    /// The score of the game as it stands now.
    score: i32,
    /// The final score of the game that ended in this step, else 0.
    final_score: i32,
    /// The turns of the game that ended in this step, else 0.
    final_length: i32,
    /// How the game that ended in this step did: the ending's code, else 0.
    final_ending: i8,
    /// Whether an illegal action ended the game in this step.
    illegal_action: bool,
}
