"""Which game of an evaluation a stored game is, and which of its moves the fallback of a chat player has chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starmine._core import StarmineError
from starmine.data.metadata import FORGED, Metadata
from starmine.games.pairings import TURNS, pairings_of

if TYPE_CHECKING:
    from starmine.data.dataset import Dataset

KEY = "evaluation"  # of what a file's metadata say about the evaluation
ID = "id"  # of the evaluation's folder, there


class Origin(NamedTuple):
    """A game of an evaluation.

    Attributes:
        evaluation: the id of the folder, as transcripts have it.
        pairing: "PLAYER with PARTNER".
        game: its number in its pairing, as transcripts have it.
        seed: of the decks.
        fallback_turns: the numbers of the turns, from 0, in which a fallback has chosen the move.
    """

    evaluation: str | None
    pairing: str
    game: int
    seed: int | None
    fallback_turns: frozenset[int]


def evaluated(metadata: Metadata) -> tuple[str | None, dict[tuple[str, str, int], list[int]]]:
    """What a file of an evaluation says of its games.

    Returns:
        The id of the evaluation, and by player, partner and game the turns of a fallback.

    Raises:
        StarmineError: the metadata are damaged.
    """
    names = [str(player["name"]) for player in metadata.players]
    turns: dict[tuple[str, str, int], list[int]] = {}
    try:
        for told in metadata.extra["pairings"]:
            player, partner = told["cell"]
            for calls in told["calls"].values():
                if len(calls[TURNS]) != calls["fallbacks"]:
                    raise ValueError(f"{len(calls[TURNS])} turns of {calls['fallbacks']} moves of a fallback")
                for game, turn in calls[TURNS]:
                    turns.setdefault((names[player], names[partner], game), []).append(turn)
        return metadata.extra[KEY].get(ID), turns
    except FORGED as error:
        raise StarmineError(f"the metadata of an evaluation are damaged ({type(error).__name__}: {error})") from error


def origins_of(data: Dataset) -> list[Origin | None]:
    """The origin of each game of a data set; None for those of no evaluation.

    Raises:
        StarmineError: the metadata of a file are damaged.
    """
    names = [str(player["name"]) for player in data.players]
    known = [evaluated(metadata) if KEY in metadata.extra else None for metadata in data.metadata]
    if not any(known):
        return [None] * len(data)
    origins: list[Origin | None] = []
    for place, group in enumerate(data.row_groups()):
        told, games = known[group.file], data.read(place, optional=False)
        if told is None or games.index is None:
            origins += [None] * group.games
            continue
        (evaluation, turns), seed = told, data.metadata[group.file].seed
        columns = *pairings_of(games.players), games.index
        for one, other, game in zip(*(column.tolist() for column in columns), strict=True):
            player, partner = names[one], names[other]
            fallback = frozenset(turns.get((player, partner, game), ()))
            origins.append(Origin(evaluation, f"{player} with {partner}", game, seed, fallback))
    return origins
