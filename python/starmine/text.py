"""Text that the core and JSON can hold."""

from __future__ import annotations

from starmine._core import StarmineError


def check_text(place: str, text: object) -> None:
    """Refuse text that UTF-8 cannot encode, such as a lone surrogate.

    Args:
        place: of the argument, for the message.
        text: what was given; other types than text pass.

    Raises:
        StarmineError: the text cannot be encoded.
    """
    if not isinstance(text, str):
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = text[error.start]
        raise StarmineError(
            f"{place}={text!r} is not allowed: it has a lone surrogate, {found!r}, expected text that UTF-8 can encode"
        ) from None
