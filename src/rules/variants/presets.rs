//! The named variants: one row each.

use crate::rules::names::{UnknownNameError, find_named};
use crate::rules::variants::edition::Edition;
use crate::rules::variants::parameters::Parameters;

/// A named variant.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that [`preset`] looks up.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    adjust: fn(&mut Parameters),
}

impl Preset {
    /// The parameters of the preset, to be changed further or given to [`crate::rules::Variant::new`].
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        (self.adjust)(&mut parameters);
        parameters
    }
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
        name: "avalanche",
        summary: "avalanche of colours: a sixth, multicoloured suit with one copy of each rank",
        adjust: |parameters| {
            parameters.colors = 6;
            let mut copies = vec![vec![3, 2, 2, 2, 1]; 5];
            copies.push(vec![1; 5]);
            parameters.copies = Some(copies);
        },
    },
    Preset {
        name: "crowning-piece",
        summary: "no last round: the game goes on until it is perfect or cannot be any more",
        adjust: |parameters| parameters.crowning_piece = true,
    },
    Preset {
        name: "timed-display",
        summary: "a play may announce its colour, which regains an information token",
        adjust: |parameters| parameters.timed_display = true,
    },
    Preset {
        name: "traditional",
        summary: "playing cards: 4 suits with 2 copies of each rank, hand of 4, 6 information tokens",
        adjust: |parameters| {
            parameters.colors = 4;
            parameters.copies = Some(vec![vec![2; 5]; 4]);
            parameters.hand_size = Some(4);
            parameters.max_information_tokens = 6;
            parameters.edition = Edition::Traditional;
        },
    },
    Preset {
        name: "mini",
        summary: "3 colours, 3 ranks, hand of 3: a quick game",
        adjust: |parameters| {
            parameters.colors = 3;
            parameters.ranks = 3;
            parameters.hand_size = Some(3);
        },
    },
    Preset {
        name: "mini-aht",
        summary: "as mini, with 2 copies of the middle and the lowest rank and 5 information tokens (jax-aht)",
        adjust: |parameters| {
            parameters.colors = 3;
            parameters.ranks = 3;
            parameters.copies = Some(vec![vec![2, 2, 1]; 3]);
            parameters.hand_size = Some(3);
            parameters.max_information_tokens = 5;
        },
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

/// HLE's names of presets, each with our name.
const HLE_NAMES: &[(&str, &str)] = &[
    ("Hanabi-Full", "standard"),
    ("Hanabi-Full-CardKnowledge", "standard"),
    ("Hanabi-Full-Minimal", "standard"),
    ("Hanabi-Small", "small"),
    ("Hanabi-Very-Small", "very-small"),
];

/// Our name of the preset that has this name in HLE.
#[must_use]
pub(crate) fn hle_preset(name: &str) -> Option<&'static str> {
    HLE_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|&(_, ours)| ours)
}

/// The preset of this name. The error for a name of HLE suggests ours.
///
/// # Errors
/// [`UnknownNameError`] if no preset has the name.
pub fn preset(name: &str) -> Result<&'static Preset, UnknownNameError> {
    find_named("variant", PRESETS, |row| row.name, name).map_err(|error| {
        let nearest = hle_preset(name).map(Box::from).or(error.nearest);
        UnknownNameError { nearest, ..error }
    })
}
