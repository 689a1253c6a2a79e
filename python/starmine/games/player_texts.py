"""What the text of a player means: the same wherever a player can be given by a text."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starmine._core import StarmineError, Variant, _Player, _search_parts, bots
from starmine.policies.files import plays_through_torch, policy_text
from starmine.policies.foreign.files import is_foreign
from starmine.policies.load import POLICY_FILE, TrainedPolicy, load_own, load_policy, policy_file, shipped

if TYPE_CHECKING:
    from starmine.torch import ModulePolicy

FILE = re.compile(r"(?!rules:|policy:|noisy:|search:).*\.py(:[^:/\\]*)?")  # of a Python bot, as commands have it
PREFIX = re.compile(r"\s*(search:)?\s*(noisy:[^;]*;)?\s*(policy:)?")  # of a text before a path
START = 1 << 20  # bytes of a file that tell whose it is
NOISY, POLICY = "noisy:", "policy:"
NOT_OF_CORE = (
    "the core does not play it: expected a bot, or a policy whose network is a ColorNetwork without recurrence"
)
WITHOUT_PATH = ("rules:", "search:", NOISY)  # how texts begin that are no path of a policy


@dataclass(frozen=True)
class Noisy:
    """A player in Python with noise: with the probability `epsilon`, one of all legal moves replaces its own.

    Attributes:
        player: a bot, a policy or a factory, as `resolve_player` returns it.
        epsilon: the probability, 0 to 1.
    """

    player: Any
    epsilon: float

    @property
    def cheats(self) -> bool:
        """Whether the player sees its own hand."""
        return getattr(self.player, "cheats", False) is True

    @property
    def variant(self) -> Variant | None:
        """The rules that the player plays; None for a player that does not say it."""
        return getattr(self.player, "variant", None)

    def text_of(self, player: str) -> str:
        """The text of the player with noise, given the player's own."""
        return f"{NOISY} {self.epsilon}; {player}"


def player_of_text(text: str, place: str) -> Any:
    """The player that a text names; no other function reads the texts of players.

    | text | player |
    |---|---|
    | a name of `starmine.bots()` or `starmine.policies.shipped()` | this bot or policy |
    | a policy's file or a run's folder, perhaps with "policy:" before and "; sampled" after its path | this policy |
    | "rules: RULE; RULE; ..." | a list of rules |
    | "noisy: 0.1; PLAYER" | one of these, which moves at random with this probability |
    | "search: PLAYER; rollouts=1000; ..." | a search whose blueprint is one of the first three |

    Args:
        text: the text. The file of a policy is read now.
        place: of the argument, for messages.

    Returns:
        A player of the core; for a file that PyTorch plays its `ModulePolicy`, in a `Noisy` if it has noise.

    Raises:
        UnknownNameError: the text names no player, or a file that cannot be read.
        SerializationError: a policy file is damaged.
        StarmineError: the text names a Python file, or an option that its player does not have.
    """
    search = _search_parts(text)
    noise, inner = _noise_of(text if search is None else search[0])
    if FILE.fullmatch(inner):
        raise StarmineError(
            f"{place}={text!r} is not allowed: expected a bot's name. A Python bot is given as its class; the "
            "commands eval, play and generate take FILE.py:NAME, such as mybot.py:Student"
        )
    source = _source_of(inner)
    policy = None if source is None else _torch_policy(*source)
    if policy is None:
        named = inner if source is None else policy_text(source[0], ["sampled"] if source[1] else [])
        named = named if noise is None else f"{NOISY} {noise}; {named}"
        options = [] if search is None else search[1]
        return _Player("; ".join([named if search is None else f"search: {named}", *map("=".join, options)]))
    if search is not None:
        raise StarmineError(f"{place}={text!r} is not allowed: {NOT_OF_CORE}")
    if noise is None:
        return policy
    _Player(f"{NOISY} {noise}; random")  # refuses what is no probability
    return Noisy(policy, float(noise))


def names_player(text: str) -> bool:
    """Whether a text names a player, so that an "=" in it belongs to the player: to an option, a condition or a path.

    A text such as "smart=2" or "mine=smart" names none.
    """
    return text.startswith((*WITHOUT_PATH, POLICY)) or has_path(text)


def has_path(text: str) -> bool:
    """Whether a player's text has the path of a file or folder that exists; what follows the path has no "," or "="."""
    path = PREFIX.sub("", text)
    ends = [len(path), *(end.start() for end in re.finditer("[;:]", path))]
    return any(os.path.exists(_unquoted(path[:end].strip())) for end in ends if not {",", "="} & set(path[end:]))


def short_name(text: str) -> str:
    """What a player is called in tables.

    A run's folder and the policy in it are called by the folder's name, other files by their name without its ending,
    unless a bot or a shipped policy has this name. Such a path and all other texts are called by the whole text.
    """
    path, names = Path(text), (*bots(), *shipped())
    if text in names or text.startswith((*WITHOUT_PATH, POLICY)) or not path.exists():
        return text
    folder = path if path.is_dir() else path.parent
    short = folder.resolve().name if path.is_dir() or path.name == POLICY_FILE else path.stem
    return text if short in names else short


def own_policy(text: str, place: str) -> TrainedPolicy | ModulePolicy:
    """The trained policy of Starmine that a text names, by `load_own`.

    Raises:
        StarmineError: the text names another player.
        UnknownNameError, SerializationError: as `player_of_text`.
    """
    source = _source_of(text)
    if source is None:
        player_of_text(text, place)  # refuses a text that names no player
        raise StarmineError(
            f"{place}={text!r} is not allowed: expected a trained policy of Starmine, one of {', '.join(shipped())}, "
            "a policy's file or the folder of a run"
        )
    return load_own(*source)


def core_player(player: Any, place: str, given: Any) -> _Player:
    """A player, as `resolve_player` returns it, where only players of the core can play.

    Raises:
        StarmineError: it is another player.
    """
    if not isinstance(player, _Player):
        raise StarmineError(f"{place}={given!r} is not allowed: {NOT_OF_CORE}")
    return player


def _noise_of(text: str) -> tuple[str | None, str]:
    """The probability of noise as it is written, None without noise; and the text of the player that has it."""
    noise, semicolon, player = text.removeprefix(NOISY).partition(";")
    return (noise.strip(), player.strip()) if text.startswith(NOISY) and semicolon else (None, text)


def _source_of(text: str) -> tuple[str, bool] | None:
    """The name or the file of a policy in the text of a player, and whether it is sampled; None for other texts.

    A run's folder stands for the file of its policy. A text without "policy:" names a policy if it is the name of one,
    or a path: one with a folder, with an ending such as ".safetensors", or of a file that exists.
    """
    source = text.removeprefix(POLICY).strip()
    path, _, option = source.rpartition(";")
    if not path or os.path.exists(source):
        path, option = source, ""
    path, option = _unquoted(path.strip()), option.strip()
    has_ending = os.path.splitext(path)[1][1:].isidentifier()  # unlike "smart=0.5"
    is_named = path in shipped() or os.path.dirname(path) != "" or has_ending or os.path.exists(path)
    if text in bots() or text.startswith(WITHOUT_PATH) or not (is_named or text.startswith(POLICY)):
        return None
    if option not in ("", "sampled"):
        raise StarmineError(f'{text!r} has the option {option!r}: expected "sampled" or none')
    return path if path in shipped() else policy_file(path), bool(option)


def _unquoted(path: str) -> str:
    """A path, which may be in quotation marks, as the text of a loaded player has it."""
    try:
        value = json.loads(path)
    except ValueError:
        return path
    return value if isinstance(value, str) else path


def _torch_policy(path: str, sampled: bool) -> Any:
    """The policy of a file that PyTorch plays; None for other files, and where there is none."""
    if path in shipped() or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        start = file.read(START)
    is_for_torch = is_foreign(start) or plays_through_torch(start)
    return load_policy(path, sampled=sampled) if is_for_torch else None
