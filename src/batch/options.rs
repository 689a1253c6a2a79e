//! The settings of a batch.

use super::tables::partners::Partners;
use crate::buffers::InstructionSet;
use crate::encode::Encoder;
use crate::rules::named;

named!("dtype",
    /// The element type of observations.
    Dtype {
        /// One 32-bit float for each bit.
        Float32 = "float32",
        /// One 16-bit float for each bit.
        Float16 = "float16",
        /// One byte for each bit.
        Uint8 = "uint8",
        /// Eight bits in a byte, the first lowest, padded with zeros to whole 64-bit words.
        Bits = "bits",
    }
);

named!("observers",
    /// The seats whose observations are written.
    Observers {
        /// The seat to act: one row for each game.
        Current = "current",
        /// All seats: one row for each seat, in the order of the seats.
        All = "all",
    }
);

named!("autoreset_mode",
    /// When a finished game is dealt anew. The names are those of Gymnasium's `AutoresetMode`.
    AutoresetMode {
        /// In the step that ends it: the observation and the mask show the new game, the reward and the ending tell of
        /// the old one.
        SameStep = "SameStep",
        /// In the next step, which ignores the action and whose reward is 0.
        NextStep = "NextStep",
        /// Only by [`super::Batch::reset`].
        Disabled = "Disabled",
    }
);

named!("illegal_action",
    /// What an illegal action does.
    IllegalAction {
        /// It refuses the whole step: no game has moved.
        Raise = "raise",
        /// Its game ends as a lost game.
        Terminate = "terminate",
    }
);

named!("extra_outputs",
    /// An output that is written only if it is asked for.
    ExtraOutput {
        /// For each card the probabilities that it is playable, dead and critical.
        CardFeatures = "card_features",
        /// The V0 beliefs: the probability of each card in each slot.
        Marginals = "public_marginals",
        /// The cards of the observer's own hand.
        OwnHand = "own_hand",
    }
);

/// The settings of a batch.
#[derive(Clone, Debug)]
pub struct Options {
    /// The encoder of the observations.
    pub encoder: Encoder,
    /// The element type of observations.
    pub dtype: Dtype,
    /// The seats whose observations are written.
    pub observers: Observers,
    /// When a finished game is dealt anew.
    pub autoreset_mode: AutoresetMode,
    /// What an illegal action does.
    pub illegal_action: IllegalAction,
    /// The partners in the seats that the learner does not play; by default there are none.
    pub partners: Partners,
    /// The optional outputs that the batch has. In Rust each call writes those for which it has buffers.
    pub extra_outputs: Vec<ExtraOutput>,
    /// The number of threads that step the games; see [`MAX_THREADS`](crate::batch::MAX_THREADS).
    pub num_threads: usize,
    /// The instruction set of the games and their outputs; `None` for the one that the environment
    /// variable [`SIMD_VARIABLE`](crate::buffers::SIMD_VARIABLE) names, or else the fastest. Policies
    /// among the partners ignore this setting: they run on the instruction set of the environment variable, or
    /// else on the fastest.
    pub simd: Option<InstructionSet>,
}

/// The number of threads that suits a number of games: one for each 1,024 games, and at most one for
/// each core.
#[must_use]
pub fn default_threads(num_envs: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (num_envs / 1024).clamp(1, cores)
}

impl Options {
    /// Whether an output is among those of the batch: an extra output must be asked for.
    pub(crate) fn has_output(&self, name: &str) -> bool {
        let is_named = |output: &ExtraOutput| output.name() == name;
        !ExtraOutput::ALL.iter().any(is_named) || self.extra_outputs.iter().any(is_named)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            encoder: Encoder::Canonical,
            dtype: Dtype::Float32,
            observers: Observers::Current,
            autoreset_mode: AutoresetMode::SameStep,
            illegal_action: IllegalAction::Raise,
            partners: Partners::default(),
            extra_outputs: Vec::new(),
            num_threads: 1,
            simd: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Outputs;

    #[test]
    fn extra_outputs_are_rows_of_the_table_in_its_order() {
        let names: Vec<_> = ExtraOutput::ALL.iter().map(|output| output.name()).collect();
        let rows = Outputs::NAMES.iter().filter(|name| names.contains(name));
        assert!(rows.eq(&names));
    }
}
