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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    sections: Vec<Section>,
}

impl Layout {
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

/// Lines sections up one after another.
#[derive(Clone, Debug, Default)]
pub struct LayoutBuilder {
    sections: Vec<Section>,
}

impl LayoutBuilder {
    /// Appends a section of this shape.
    #[must_use]
    pub fn section(mut self, name: &'static str, shape: &[usize]) -> LayoutBuilder {
        let start = self.sections.last().map_or(0, |section| section.range.end);
        let length: usize = shape.iter().product();
        self.sections.push(Section { name, range: start..start + length, shape: shape.to_vec() });
        self
    }

    /// The finished layout.
    #[must_use]
    pub fn build(self) -> Layout {
        Layout { sections: self.sections }
    }
}
