"""The numbers by which a policy tells the games of its users apart."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import WeakSet

from starmine._core import StarmineError

_LOCK = Lock()


class GameNumbers:
    """Numbers for the games of one user of a policy, such as an environment. The games of its other users have others.

    A policy with hidden states has one for each number and seat. Its users must therefore not have the same
    numbers at the same time. The numbers of a user are free again once this object is gone.

    Args:
        policy: the policy.
        count: how many games the user has.

    Attributes:
        first: the number of the first game; the others follow.
    """

    def __init__(self, policy: Any, count: int) -> None:
        self._policy, self._count, self.first = policy, count, 0
        with _LOCK:
            for other in sorted(_users(policy), key=lambda other: other.first):
                if self._overlaps(other):
                    self.first = other.first + other._count
            _users(policy).add(self)

    def _overlaps(self, other: GameNumbers) -> bool:
        return self.first < other.first + other._count and other.first < self.first + self._count

    def __getstate__(self) -> tuple[Any, int, int]:
        return self._policy, self._count, self.first

    def __setstate__(self, state: tuple[Any, int, int]) -> None:
        """The numbers stay the same in a copy, whose policy is a copy as well."""
        self._policy, self._count, self.first = state
        with _LOCK:
            if any(self._overlaps(other) for other in _users(self._policy)):
                raise StarmineError(
                    f"{self._policy!r} keeps hidden states, and is the same object in the copy of its user: expected "
                    "an object that is copied, or that has a method session()"
                )
            _users(self._policy).add(self)


# By the id of a policy. A user holds its policy, so an id means the same policy as long as it has a user.
_USERS: dict[int, WeakSet[GameNumbers]] = {}


def _users(policy: Any) -> WeakSet[GameNumbers]:
    """The users of a policy that are alive."""
    for key in [key for key, users in _USERS.items() if not users]:
        del _USERS[key]
    return _USERS.setdefault(id(policy), WeakSet())
