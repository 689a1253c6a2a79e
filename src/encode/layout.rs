//! The named sections of an observation.

use std::ops::Range;

/// A named run of bits in an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name, unique in its layout.
    pub name: &'static str,
    /// Its bits.
    pub range: Range<usize>,
    /// The sizes of its axes, the slowest first; their product is the section's length.
    pub shape: Vec<usize>,
}

/// The sections of an observation, in order and without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    sections: Vec<Section>,
}

impl Layout {
    /// The layout with a section of this shape appended.
    ///
    /// # Panics
    /// If it has a section of this name already, or more bits than a `usize` counts.
    #[must_use]
    pub fn with_section(mut self, name: &'static str, shape: &[usize]) -> Layout {
        assert!(self.section(name).is_none(), "two sections are named {name:?}");
        let start = self.len();
        let length = shape.iter().try_fold(1_usize, |length, &size| length.checked_mul(size));
        let end =
            length.and_then(|length| start.checked_add(length)).expect("the section is too long");
        self.sections.push(Section { name, range: start..end, shape: shape.to_vec() });
        self
    }

    /// The sections in order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section of this name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Bits in an observation.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sections.last().map_or(0, |section| section.range.end)
    }

    /// Whether an observation has no bits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// 64-bit words that hold an observation.
    #[must_use]
    pub fn words(&self) -> usize {
        self.len().div_ceil(64)
    }
}
