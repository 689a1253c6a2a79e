//! The named variants: one row each.

use thiserror::Error;

use super::variant::Parameters;

/// A named variant.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that [`preset`] looks up.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    adjust: fn(&mut Parameters),
}

/// All presets. Each is the base game with some parameters changed.
pub const PRESETS: &[Preset] = &[
    Preset { name: "standard", summary: "the base game (HLE: Hanabi-Full)", adjust: |_| {} },
    Preset {
        name: "hard",
        summary: "two life tokens fewer: one mistake ends the game",
        adjust: |parameters| parameters.max_life_tokens = 1,
    },
    Preset {
        name: "easy",
        summary: "two information tokens more",
        adjust: |parameters| parameters.max_information_tokens = 10,
    },
    Preset {
        name: "empty-hints",
        summary: "hints that match no card are legal",
        adjust: |parameters| parameters.empty_hints = true,
    },
    Preset {
        name: "small",
        summary: "2 colours, hand of 2, 3 information tokens, 1 life (HLE: Hanabi-Small)",
        adjust: |parameters| {
            parameters.colors = 2;
            parameters.hand_size = Some(2);
            parameters.max_information_tokens = 3;
            parameters.max_life_tokens = 1;
        },
    },
    Preset {
        name: "very-small",
        summary: "1 colour, hand of 2, 3 information tokens, 1 life (HLE: Hanabi-Very-Small)",
        adjust: |parameters| {
            parameters.colors = 1;
            parameters.hand_size = Some(2);
            parameters.max_information_tokens = 3;
            parameters.max_life_tokens = 1;
        },
    },
];

/// A variant was asked for by a name that no preset has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("variant={name:?} is not known: expected one of {known}")]
pub struct UnknownVariant {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

/// The parameters of a preset, to be changed further or given to [`super::Variant::new`].
///
/// # Errors
/// [`UnknownVariant`], with the known names.
pub fn preset(name: &str) -> Result<Parameters, UnknownVariant> {
    let row = PRESETS.iter().find(|row| row.name == name).ok_or_else(|| {
        let known: Vec<&str> = PRESETS.iter().map(|row| row.name).collect();
        UnknownVariant { name: name.to_owned(), known: known.join(", ") }
    })?;
    let mut parameters = Parameters::default();
    (row.adjust)(&mut parameters);
    Ok(parameters)
}
