"""The sections of an observation, by name and in order. The core makes them."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A named range of features in an observation, an element of a `Layout`.

    Attributes:
        name: the name.
        start: the first feature's index.
        stop: the index after the last.
        shape: the sizes of the section's axes; their product is `stop - start`.
    """

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]

    @property
    def slice(self) -> "slice[int, int, int]":
        """`slice(start, stop, 1)`, to index the last axis of observations."""
        return slice(self.start, self.stop, 1)

    def __len__(self) -> int:
        """Number of features."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Layout:
    """The named sections of an observation, in order.

    `env.layout`, `batch.layout` and `variant.layout(encoder)` return one. Iterating gives the sections, an index such
    as `layout["fireworks"]` one of them, and `len(layout)` the number of features in an observation.

    Attributes:
        sections: all sections in order.

    >>> import starmine
    >>> layout = starmine.Variant().layout("canonical")
    >>> len(layout), layout["fireworks"].slice
    (658, slice(167, 192, 1))
    """

    sections: tuple[Section, ...]

    def __iter__(self) -> Iterator[Section]:
        """The sections in order."""
        return iter(self.sections)

    def __getitem__(self, name: str) -> Section:
        """The section of this name."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(f"{name!r}: expected one of {', '.join(section.name for section in self.sections)}")

    def __len__(self) -> int:
        """Number of features in an observation."""
        return self.sections[-1].stop if self.sections else 0

    def __repr__(self) -> str:
        """A line for each section."""
        lines = [f"  {part.name} {part.start}:{part.stop} shape {part.shape}" for part in self.sections]
        return "\n".join([f"<Layout of {len(self)} features", *lines]) + ">"
