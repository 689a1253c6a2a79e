"""A pool of partners: bots, noisy bots, shipped policies and the seeds of a repository, by name and with tags."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starmine._core import StarmineError, Variant, VariantError, _unknown_name, bot, bots
from starmine._core import variant as preset
from starmine._util.keywords import check_names, named_keywords
from starmine._util.rules import check_plays, plays_alike
from starmine.policies.load import POLICY_FILE, TrainedPolicy, load_own, shipped

if TYPE_CHECKING:
    from starmine.policies.torch_policy import TorchPolicy

SIZES = {f"{players}p": players for players in range(2, 6)}
NOT_IN_POOLS = ("random",)
# Not to be met in training, by default; the mixtures of docs/partners.md did not meet them.
HELD_OUT = ("fireflower", "information", "internal", "piers", "van-den-bergh")
ENTROPY = 0.05  # default of examples/ppo.py, whose files tell only arguments that differ from the defaults
# The source tree that the package is imported from; an installed package has none.
SOURCE = Path(__file__).parents[3]


@dataclass(frozen=True)
class Member:
    """A player of a pool and its tags.

    Attributes:
        name: in the pool.
        player: the text by which `play_games`, `evaluate`, `generate` and `partners` take it.
        kind: "bot", "noisy" for a bot whose moves are sometimes random, or "policy".
        method: of a policy how it was trained, as its file says, such as "IPPO"; None for bots.
        seed: of its training; None for bots.
        entropy: the weight of the entropy at the end of a policy's training; None for bots and for training without
            entropy.
        epsilon: of a noisy bot the probability of a random move; else 0.
        held_out: whether training is not to meet it.
    """

    name: str
    player: str
    kind: str
    method: str | None = None
    seed: int | None = None
    entropy: float | None = None
    epsilon: float = 0.0
    held_out: bool = False


TAGS = tuple(field.name for field in dataclasses.fields(Member))


class Pool(Mapping[str, str]):
    """Players by name: a mapping from names to texts, as `evaluate` takes it; see `pool`.

    Args:
        members: the players, each name once.
    """

    def __init__(self, members: Iterable[Member]) -> None:
        self.members: dict[str, Member] = {member.name: member for member in members}

    def __getitem__(self, name: str) -> str:
        """The text of a player.

        Raises:
            UnknownNameError: the pool has no such player.
        """
        return self._member(name).player

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def get(self, name: str, default: Any = None) -> Any:
        """The text of a player, or the default if the pool has no such player."""
        return self[name] if name in self.members else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __eq__(self, other: object) -> bool:
        return self.members == other.members if isinstance(other, Pool) else NotImplemented

    def only(self, names: Iterable[str]) -> Pool:
        """The pool of these players, in this order.

        Raises:
            UnknownNameError: the pool has no such player.
        """
        return Pool([self._member(name) for name in names])

    def where(self, **tags: Any) -> Pool:
        """The pool of the players that have these tags, such as `where(kind="policy", held_out=False)`.

        Raises:
            UnknownNameError: there is no such tag, see `Member`.
        """
        check_names("tag", tags, TAGS)
        wanted = tags.items()
        return Pool(
            [member for member in self.members.values() if all(getattr(member, tag) == value for tag, value in wanted)]
        )

    @property
    def held_out(self) -> list[str]:
        """The names of the players that training is not to meet."""
        return list(self.where(held_out=True))

    def _member(self, name: str) -> Member:
        found = self.members.get(name)
        if found is None:
            raise _unknown_name("player", str(name), list(self.members))
        return found

    def __repr__(self) -> str:
        return f"<Pool of {', '.join(self)}>"


@named_keywords
def pool(
    game: str | Variant = "2p",
    *,
    epsilon: float = 0.1,
    hold_out: Iterable[str] = HELD_OUT,
    results: str | os.PathLike[str] | None = None,
) -> Pool:
    """The players at hand for a game: bots, noisy bots, shipped policies, and in a clone the policies in `results`.

    If a shipped policy has a small version, as `ippo-2p` has `ippo-2p-small`, the pool has only the small one: its
    moves take about a third of the time, and our tables with partners were measured with it.

    Args:
        game: "2p" to "5p", the standard game of 2 to 5 players, or a `Variant`.
        epsilon: the probability of a random move of the noisy bots, `noisy-smart` and so on; 0 for a pool without them.
        hold_out: names of players that training is not to meet. A noisy bot is held out with its bot.
        results: the folder with the seeds, each as NAME/policy.safetensors. None for `results` in the source tree of
            the package; where it is missing, the pool has no seeds.

    Raises:
        UnknownNameError: there is no such game, or a name in `hold_out` is no player's.
        StarmineError: `epsilon` is not a probability, or there is no such folder.
        SerializationError: a file in the folder is not a policy of Starmine.

    >>> import starmine
    >>> partners = starmine.policies.pool("2p")
    >>> partners["noisy-smart"]
    'noisy: 0.1; smart'
    >>> list(partners.where(kind="bot", held_out=True))
    ['information', 'fireflower', 'piers', 'van-den-bergh', 'internal']
    >>> games = starmine.play_games(["ippo-2p", partners["smart"]], games=10)
    """
    rules = _rules(game)
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 <= epsilon <= 1:
        raise StarmineError(f"epsilon={epsilon!r} is not allowed: expected a probability from 0 to 1")
    names = bots_that_play(rules)
    members = [Member(name, name, "bot") for name in names]
    if epsilon:
        members += [Member(f"noisy-{name}", f"noisy: {epsilon}; {name}", "noisy", epsilon=epsilon) for name in names]
    trained = shipped()
    policies: dict[str, TrainedPolicy | TorchPolicy] = {
        name: load_own(name) for name in trained if f"{name}-small" not in trained
    }
    policies = {name: load_own(path) for name, path in seed_files(results).items()} | policies
    members += [_member(name, policy) for name, policy in policies.items() if plays_alike(policy.variant, rules)]
    held_out = {hold_out} if isinstance(hold_out, str) else set(hold_out)
    known = [*bots(), *policies, *(member.name for member in members)]
    for name in held_out.difference(known):
        raise _unknown_name("player", str(name), list(dict.fromkeys(known)))
    return Pool(
        dataclasses.replace(it, held_out=not held_out.isdisjoint([it.name, it.name.removeprefix("noisy-")]))
        for it in members
    )


def bots_that_play(rules: Variant) -> list[str]:
    """All bots that play a variant, except random ones and cheaters."""
    return [name for name in bots() if bot(name).is_player and name not in NOT_IN_POOLS and plays(name, rules)]


def plays(player: str, rules: Variant) -> bool:
    """Whether a bot plays a variant."""
    try:
        check_plays(rules, player)
    except VariantError:
        return False
    return True


def _rules(game: str | Variant) -> Variant:
    if isinstance(game, Variant):
        return game
    if game not in SIZES:
        raise _unknown_name("game", str(game), list(SIZES))
    return preset("standard", players=SIZES[game])


def seed_files(results: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """The policy files of a folder of results, by the names of their own folders; see `pool`.

    Raises:
        StarmineError: there is no such folder.
    """
    if results is not None and not Path(results).is_dir():
        raise StarmineError(f"results={os.fspath(results)!r} is not allowed: expected a folder")
    folder = SOURCE / "results" if results is None else Path(results)
    return {path.parent.name: path for path in sorted(folder.glob(f"*/{POLICY_FILE}"))}


def _member(name: str, policy: TrainedPolicy | TorchPolicy) -> Member:
    """A policy with the tags that its file tells."""
    told = policy.about.get("arguments", {})
    entropy = told.get("entropy_end", told.get("entropy_weight", ENTROPY))
    method = policy.about.get("method")
    learns = method is not None and ("PPO" in method)
    return Member(name, policy.bot, "policy", method, told.get("seed", 1), entropy if learns else None)
