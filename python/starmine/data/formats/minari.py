"""Export to Minari, the format of offline reinforcement learning of the Farama Foundation.

Minari knows no seats: an episode is one stream of what the current player saw. An episode of T turns has T + 1
observations and action masks, of which the last ones are those of the finished game, T actions and T rewards. The mask
is `infos["action_mask"]`, the player's seat `infos["current_player"]`.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, StarmineError
from starmine._util.durable import sync_folder
from starmine._util.later import library
from starmine.data.formats.records import ImportedGames
from starmine.games.trajectories import Trajectories

ROOT = "MINARI_DATASETS_PATH"  # environment variable: the folder of all data sets
OUTPUTS = ("obs", "action_mask", "current_player")
ID = re.compile(r"[A-Za-z0-9][\w-]*-v\d+", re.ASCII)  # as Minari takes them, without a namespace
AT_ONCE = 512  # games whose observations are in memory together


def write(games: ImportedGames, path: Path, encoder: str = "canonical", dtype: str = "uint8", **metadata: Any) -> None:
    """Write a data set, whose id is the last part of the path.

    `minari.MinariDataset(path / "data")` reads it; so does `minari.load_dataset(id)` where the environment variable
    MINARI_DATASETS_PATH names the folder around it.

    Args:
        games: what is written.
        path: of the data set's folder, which must not exist.
        encoder: of the observations.
        dtype: of the observations: "uint8", "float16" or "float32".
        **metadata: of the data set, as Minari takes them: `author`, `author_email`, `code_permalink`,
            `algorithm_name`, `description`.

    Raises:
        StarmineError: the folder exists, or its name is no id, or there is no game, no such encoder or dtype.
        ImportError: Minari or h5py is not installed.
        OSError: the data set cannot be written.
    """
    # Minari would ask for h5py in the middle.
    _, minari = (library(name, "the format minari needs Minari and h5py", "minari") for name in ("h5py", "minari"))
    path = path.absolute()
    if path.exists():
        raise StarmineError(f"{path}: it exists: expected a new folder")
    if ID.fullmatch(path.name) is None:
        raise StarmineError(f"{path.name!r} is no id of a data set: expected NAME-vNUMBER, such as hanabi-smart-v0")
    if len(games) == 0:
        raise StarmineError("there is no game: Minari has no data set without episodes")
    settings = {
        "data_format": "hdf5",
        "algorithm_name": ", ".join(dict.fromkeys(name for names in games.players for name in names)) or None,
        "description": f"Games of Hanabi, {games.variant}: what the current player saw, encoder {encoder}",
        **_spaces(games, encoder, dtype),
        **metadata,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with _folder_aside(path) as aside:
        made = None
        for first in range(0, len(games), AT_ONCE):
            played = games.trajectories[first : first + AT_ONCE]
            episodes = list(_episodes(played, first, encoder, dtype))
            if made is not None:
                made.storage.update_episodes(episodes)
                continue
            with warnings.catch_warnings():  # Minari warns of all metadata that are not given
                warnings.filterwarnings("ignore", message=".* is (set to )?None", category=UserWarning)
                made = minari.create_dataset_from_buffers(path.name, episodes, **settings)
        (aside / path.name).replace(path)
    sync_folder(path.parent)


@contextmanager
def _folder_aside(path: Path) -> Iterator[Path]:
    """A folder beside the path for all data sets of the block, which is removed after it."""
    prefix = f".{path.name}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent, ignore_cleanup_errors=True) as aside:
        earlier = os.environ.get(ROOT)
        os.environ[ROOT] = aside
        try:
            yield Path(aside)
        finally:
            if earlier is None:
                del os.environ[ROOT]
            else:
                os.environ[ROOT] = earlier


def _spaces(games: ImportedGames, encoder: str, dtype: str) -> dict[str, Any]:
    from gymnasium.spaces import Box, Discrete

    features = len(games.variant.layout(encoder))
    kinds: dict[str, type[np.generic]] = {"uint8": np.uint8, "float16": np.float16, "float32": np.float32}
    if dtype not in kinds:
        raise StarmineError(f"dtype={dtype!r} is not allowed: expected one of {list(kinds)}")
    box: Any = Box
    return {
        "observation_space": box(0, 1, (features,), kinds[dtype]),
        "action_space": Discrete(games.variant.num_actions),
    }


def _episodes(games: Trajectories, first: int, encoder: str, dtype: str) -> Iterator[Any]:
    """The episodes of games, whose ids begin with `first`."""
    from minari.data_collector import EpisodeBuffer

    rows = games.replay([*OUTPUTS, "reward", "terminated"], encoder=encoder, dtype=dtype)
    last = _final_rows(games, encoder, dtype)
    for game in range(len(games)):
        turns = slice(games.offsets[game], games.offsets[game + 1])
        seen = {name: np.concatenate([rows[name][turns], last[name][game : game + 1]]) for name in OUTPUTS}
        terminations = rows["terminated"][turns]
        truncations = np.zeros_like(terminations)
        if len(truncations) and not terminations[-1]:
            truncations[-1] = True
        yield EpisodeBuffer(
            id=first + game,
            observations=seen["obs"],
            actions=games.actions[turns].astype(np.int64),
            rewards=rows["reward"][turns],
            terminations=terminations,
            truncations=truncations,
            infos={"action_mask": seen["action_mask"], "current_player": seen["current_player"]},
        )


def _final_rows(games: Trajectories, encoder: str, dtype: str) -> dict[str, NDArray[Any]]:
    """What the player to act would see after each game's last turn; no action is legal in a finished game."""
    batch = Batch(games.variant, len(games), encoder=encoder, dtype=dtype)
    rows = {name: array for name, array in batch.allocate().items() if name in OUTPUTS}
    for game in range(len(games)):
        state = games.state(game)
        seat = state.current_player
        rows["obs"][game] = state.view(seat).encode(encoder)
        rows["action_mask"][game] = False
        if not state.is_terminal:
            rows["action_mask"][game, state.legal_actions()] = True
        rows["current_player"][game] = seat
    return rows
