"""Partners for training and evaluation: bots, shipped policies and the policies of runs, by name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from starmine._core import StarmineError, Variant, VariantError, _Player, _unknown_name, bots
from starmine._core import variant as preset
from starmine.policies.kinds import bot
from starmine.policies.load import POLICY_FILE, TrainedPolicy, load_own, shipped
from starmine.policies.variant_check import check_variant

if TYPE_CHECKING:
    from starmine.torch import ModulePolicy

SIZES = {f"{players}p": players for players in range(2, 6)}
NOT_IN_POOLS = ("random",)
# Not to be met in training, by default; the mixtures of results/runs.csv did not meet them.
HELD_OUT = ("internal", "piers", "value", "van-den-bergh")


def pool(
    game: str | Variant = "2p",
    *,
    hold_out: Iterable[str] = HELD_OUT,
    results: str | os.PathLike[str] | None = None,
) -> tuple[dict[str, str], dict[str, str]]:
    """The partners at hand for a game: bots, shipped policies, and the policies of the runs in a folder.

    `random` and bots that see all hands are left out.

    If a shipped policy has a small version, as `ippo-2p` has `ippo-2p-small`, only the small one is a partner: its
    moves take about a third of the time, and our tables with partners were measured with it.

    Args:
        game: "2p" to "5p", the standard game of 2 to 5 players, or a `Variant`.
        hold_out: names of players that training is not to meet.
        results: a folder of runs, whose policies are NAME/policy.safetensors; a clone of the repository has `results`.

    Returns:
        The players to meet and the players that are held out, each as texts by name, as `evaluate` takes them.

    Raises:
        UnknownNameError: there is no such game, or a name in `hold_out` is none of the players here.
        StarmineError: there is no such folder, or a run has the name of a bot or of a shipped policy.
        SerializationError: a file in the folder is not a policy of Starmine.

    >>> import starmine
    >>> met, held_out = starmine.policies.pool("2p")
    >>> list(held_out)
    ['value', 'piers', 'van-den-bergh', 'internal']
    >>> games = starmine.play_games(["ippo-2p", met["smart"]], games=10)
    """
    variant = _variant(game)
    trained = shipped()
    policies: dict[str, TrainedPolicy | ModulePolicy] = {
        name: load_own(name) for name in trained if f"{name}-small" not in trained
    }
    if results is not None:
        runs = _policies_of_runs(results)
        for name in sorted({*bots(), *trained} & runs.keys()):
            raise StarmineError(
                f"{runs[name]}: {name!r} is also a bot or a shipped policy: expected another folder's name"
            )
        policies = {name: load_own(path) for name, path in runs.items()} | policies
    players = {name: name for name in bots_that_play(variant)}
    players |= {name: str(policy.bot) for name, policy in policies.items() if variant._plays_alike(policy.variant)}
    held_out = {hold_out} if isinstance(hold_out, str) else set(hold_out)
    known = [*bots(), *policies]
    for name in held_out.difference(known):
        raise _unknown_name("player", str(name), known)
    met = {name: player for name, player in players.items() if name not in held_out}
    return met, {name: player for name, player in players.items() if name in held_out}


def bots_that_play(variant: Variant) -> list[str]:
    """All bots that play a variant, except random ones and cheaters."""
    return [name for name in bots() if bot(name).is_player and name not in NOT_IN_POOLS and plays(name, variant)]


def plays(player: str, variant: Variant) -> bool:
    """Whether a bot plays a variant."""
    try:
        check_variant(_Player(player), variant)
    except VariantError:
        return False
    return True


def _variant(game: str | Variant) -> Variant:
    if isinstance(game, Variant):
        return game
    if game not in SIZES:
        raise _unknown_name("game", str(game), list(SIZES))
    return preset("standard", players=SIZES[game])


def _policies_of_runs(results: str | os.PathLike[str]) -> dict[str, Path]:
    """The policy files of the runs in a folder, by the names of the runs.

    Raises:
        StarmineError: there is no such folder.
    """
    if not Path(results).is_dir():
        raise StarmineError(f"results={os.fspath(results)!r} is not allowed: expected a folder")
    return {path.parent.name: path for path in sorted(Path(results).glob(f"*/{POLICY_FILE}"))}
