//! The settings of a batch.

use thiserror::Error;

use super::kernel::simd::Simd;
use super::partners::Partners;
use crate::encode::{CANONICAL, Encoder};

/// A name that is not a value of its setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{setting}={name:?} is not allowed: expected {allowed}")]
pub struct UnknownOption {
    /// The setting.
    pub setting: &'static str,
    /// The given name.
    pub name: String,
    /// The allowed names.
    pub allowed: String,
}

macro_rules! named_options {
    ($(#[$doc:meta])* $type:ident, $setting:literal, $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All values.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name in Python.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }

            /// The value of this name.
            ///
            /// # Errors
            /// [`UnknownOption`], with the allowed names.
            pub fn from_name(name: &str) -> Result<$type, UnknownOption> {
                $type::ALL.iter().find(|value| value.name() == name).copied().ok_or_else(|| UnknownOption {
                    setting: $setting,
                    name: name.to_owned(),
                    allowed: [$($name),+].join(", "),
                })
            }
        }
    };
}

named_options!(
    /// The element type of observations.
    Dtype, "dtype",
    /// One 32-bit float for each bit.
    Float32 = "float32",
    /// One 16-bit float for each bit.
    Float16 = "float16",
    /// One byte for each bit.
    Uint8 = "uint8",
    /// Eight bits in a byte, the first lowest, padded with zeros to whole 64-bit words.
    Bits = "bits"
);

named_options!(
    /// The seats whose observations are written.
    Observers, "observers",
    /// The seat to act: one row for each game.
    Current = "current",
    /// All seats: one row for each seat, in the order of the seats.
    All = "all"
);

named_options!(
    /// When a finished game is dealt anew. The names are those of Gymnasium's `AutoresetMode`.
    AutoresetMode, "autoreset_mode",
    /// In the step that ends it: the outputs are those of the new game.
    SameStep = "SameStep",
    /// In the next step, which ignores the action and whose reward is 0.
    NextStep = "NextStep",
    /// Only by [`super::Batch::reset`].
    Disabled = "Disabled"
);

named_options!(
    /// What an illegal action does.
    IllegalAction, "illegal_action",
    /// The whole step is refused with an error.
    Raise = "raise",
    /// That game ends as a lost game.
    Terminate = "terminate"
);

/// The settings of a batch.
#[derive(Clone)]
pub struct Options {
    /// The encoder of the observations.
    pub encoder: &'static dyn Encoder,
    /// The element type of observations.
    pub dtype: Dtype,
    /// The seats whose observations are written.
    pub observers: Observers,
    /// When a finished game is dealt anew.
    pub autoreset_mode: AutoresetMode,
    /// What an illegal action does.
    pub illegal_action: IllegalAction,
    /// The bots in the seats that the learner does not play; by default there are none.
    pub partners: Partners,
    /// The number of threads that step the games, the calling thread included.
    pub num_threads: usize,
    /// The instruction set; `None` for the one that the environment variable
    /// [`SIMD_VARIABLE`](super::SIMD_VARIABLE) names, or else the fastest.
    pub simd: Option<Simd>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            encoder: &CANONICAL,
            dtype: Dtype::Float32,
            observers: Observers::Current,
            autoreset_mode: AutoresetMode::SameStep,
            illegal_action: IllegalAction::Raise,
            partners: Partners::default(),
            num_threads: 1,
            simd: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Options")
            .field("encoder", &self.encoder.name())
            .field("dtype", &self.dtype)
            .field("observers", &self.observers)
            .field("autoreset_mode", &self.autoreset_mode)
            .field("illegal_action", &self.illegal_action)
            .field("partners", &self.partners)
            .field("num_threads", &self.num_threads)
            .field("simd", &self.simd)
            .finish()
    }
}
