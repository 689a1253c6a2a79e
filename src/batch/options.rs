use thiserror::Error;

use super::kernel::simd::Simd;
use super::partners::Partners;
use crate::encode::{CANONICAL, Encoder};

/// A setting was asked for by a name that it does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{setting}={name:?} is not allowed: expected {allowed}")]
pub struct UnknownOption {
    /// The setting.
    pub setting: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
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

            /// The name that Python sees.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }

            /// The value of this name.
            ///
            /// # Errors
            /// [`UnknownOption`], with the names that there are.
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
    /// The form of an observation's elements.
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
    /// Whose observations are written.
    Observers, "observers",
    /// Those of the seat to act: one row for each game.
    Current = "current",
    /// Those of every seat, by seat index.
    All = "all"
);

named_options!(
    /// When a finished game is dealt anew. The names are those of Gymnasium's `AutoresetMode`.
    AutoresetMode, "autoreset_mode",
    /// In the step that ends it: the outputs show the new game.
    SameStep = "SameStep",
    /// In the step after, whose action is ignored and whose reward is 0.
    NextStep = "NextStep",
    /// Only by [`super::Batch::reset`].
    Disabled = "Disabled"
);

named_options!(
    /// What an illegal action does.
    IllegalAction, "illegal_action",
    /// The whole step is refused.
    Raise = "raise",
    /// That game ends as a lost game.
    Terminate = "terminate"
);

/// The settings of a batch.
#[derive(Clone)]
pub struct Options {
    /// Turns views into observations.
    pub encoder: &'static dyn Encoder,
    /// The form of an observation's elements.
    pub dtype: Dtype,
    /// Whose observations are written.
    pub observers: Observers,
    /// When a finished game is dealt anew.
    pub autoreset_mode: AutoresetMode,
    /// What an illegal action does.
    pub illegal_action: IllegalAction,
    /// Who holds the seats that are not the learner's: nobody, unless they are given.
    pub partners: Partners,
    /// Threads that share the games, the caller's own where it is 1.
    pub num_threads: usize,
    /// The instructions to run on; `None` for those that the environment names, else the best.
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
