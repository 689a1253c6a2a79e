"""Games as a file records them, before and after they are checked against the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _outcomes
from starmine.trajectories import Trajectories

NOT_RECORDED = -1  # a score that the file does not tell
SHOWN = 5  # problems that a message lists
THREADS = 1  # which play some 20 million turns a second


@dataclass(frozen=True)
class RecordedGame:
    """A game as a file tells it. Nothing of it has been checked.

    Attributes:
        name: what the file calls it, such as an id.
        variant: the rules.
        deck: for each card suit * ranks + rank, the top card first.
        actions: the action ids.
        start_player: the seat that started.
        score: as recorded, or NOT_RECORDED.
        players: the players' names by seat; empty where the file has none.
    """

    name: str
    variant: Variant
    deck: Sequence[int]
    actions: Sequence[int]
    start_player: int = 0
    score: int = NOT_RECORDED
    players: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkippedGame:
    """A game that was left out.

    Attributes:
        index: its position in the file, from 0.
        name: what the file calls it.
        reason: why it was left out.
    """

    index: int
    name: str
    reason: str

    def __str__(self) -> str:
        """The game and the reason, in one line."""
        named = "" if self.name in ("", str(self.index)) else f" ({self.name})"
        return f"game {self.index}{named}: {self.reason}"


@dataclass(frozen=True)
class ReadGames:
    """What a reader has found: games whose arrays fit the variant, and others.

    Attributes:
        trajectories: G games; the rules have not been asked yet.
        indices: int64 (G,), their positions in the file.
        names: what the file calls them.
        recorded_scores: int64 (G,); NOT_RECORDED where the file tells none.
        players: the players' names by seat, for each game; empty tuples where the file has none.
        skipped: games that cannot be represented.
        suits: what the source calls the suits, in their order; empty where it has our names.
    """

    trajectories: Trajectories
    indices: NDArray[np.int64]
    names: tuple[str, ...]
    recorded_scores: NDArray[np.int64]
    players: tuple[tuple[str, ...], ...]
    skipped: tuple[SkippedGame, ...] = ()
    suits: tuple[str, ...] = ()

    @staticmethod
    def of(
        trajectories: Trajectories, recorded_scores: NDArray[np.int64] | None = None, names: Sequence[str] | None = None
    ) -> ReadGames:
        """Games of arrays, in their order."""
        count = len(trajectories)
        scores = np.full(count, NOT_RECORDED, np.int64) if recorded_scores is None else recorded_scores
        named = tuple(map(str, range(count))) if names is None else tuple(names)
        return ReadGames(trajectories, np.arange(count, dtype=np.int64), named, scores, ((),) * count)


@dataclass(frozen=True, repr=False)
class ImportedGames:
    """Games of a file that hold by the rules, and the reasons why others do not.

    Attributes:
        trajectories: G games.
        indices: int64 (G,), their positions in the file.
        names: what the file calls them.
        recorded_scores: int64 (G,), as the file tells them; -1 where it does not.
        players: the players' names by seat, for each game; empty tuples where the file has none.
        scores: uint8 (G,), by the variant's rules, those of unfinished games included.
        fireworks: uint8 (G,), the sums of the fireworks.
        endings: uint8 (G,), k for `starmine.endings()[k - 1]`; 0 for a game that stopped before its end.
        skipped: the games that were left out, in the order of the file.
        suits: what the source calls the suits, in their order, such as hanab.live's ("red", "yellow", "green", "blue",
            "purple"); empty where it has our names.
    """

    trajectories: Trajectories
    indices: NDArray[np.int64]
    names: tuple[str, ...]
    recorded_scores: NDArray[np.int64]
    players: tuple[tuple[str, ...], ...]
    scores: NDArray[np.uint8]
    fireworks: NDArray[np.uint8]
    endings: NDArray[np.uint8]
    skipped: tuple[SkippedGame, ...] = ()
    suits: tuple[str, ...] = ()

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self.trajectories.variant

    def __len__(self) -> int:
        """Number of games."""
        return len(self.trajectories)

    def __repr__(self) -> str:
        """Number of games and turns."""
        turns = len(self.trajectories.actions)
        return f"<ImportedGames: {len(self)} games, {turns} turns, {len(self.skipped)} skipped: {self.variant}>"


def assemble(games: Iterable[RecordedGame | SkippedGame], variant: Variant) -> ReadGames:
    """The games of a variant as arrays; those of others, and those that do not fit its arrays, as skipped.

    Args:
        games: in the order of the file.
        variant: the rules of all games.
    """
    kept: list[tuple[int, RecordedGame]] = []
    skipped: list[SkippedGame] = []
    for index, game in enumerate(games):
        if isinstance(game, SkippedGame):
            skipped.append(replace(game, index=index))
        elif problem := _misfit(game, variant):
            skipped.append(SkippedGame(index, game.name, problem))
        else:
            kept.append((index, game))
    lengths = [len(game.actions) for _, game in kept]
    decks = np.array([list(game.deck) for _, game in kept], np.uint8)
    return ReadGames(
        Trajectories(
            variant,
            decks.reshape(len(kept), variant.deck_size),
            np.array([game.start_player for _, game in kept], np.uint8),
            np.array([action for _, game in kept for action in game.actions], np.uint8),
            np.cumsum([0, *lengths]).astype(np.int64),
        ),
        np.array([index for index, _ in kept], np.int64),
        tuple(game.name for _, game in kept),
        np.array([game.score for _, game in kept], np.int64),
        tuple(game.players for _, game in kept),
        tuple(skipped),
    )


def _misfit(game: RecordedGame, variant: Variant) -> str | None:
    """Why a game cannot stand in the variant's arrays."""
    if game.variant != variant:
        return f"it is a game of {game.variant}: expected {variant}; other rules are read by variant=..."
    kinds = variant.colors * variant.ranks
    if len(game.deck) != variant.deck_size:
        return f"its deck has {len(game.deck)} cards: expected {variant.deck_size}"
    for place, card in enumerate(game.deck):
        if not 0 <= card < kinds:
            return f"deck[{place}]={card} is no card: expected 0 to {kinds - 1}"
    if not 0 <= game.start_player < variant.players:
        return f"seat {game.start_player} starts: expected 0 to {variant.players - 1}"
    if game.score != NOT_RECORDED and not 0 <= game.score <= variant.max_score:
        return f"its recorded score is {game.score}: expected 0 to {variant.max_score}"
    for turn, action in enumerate(game.actions):
        if not 0 <= action < variant.num_actions:
            return f"turn {turn}: action {action} does not exist: expected 0 to {variant.num_actions - 1}"
    return None


def check(games: ReadGames, on_error: str, source: str) -> ImportedGames:
    """Play the games by the rules.

    Args:
        games: as read.
        on_error: "raise", or "skip" to leave out the games that do not hold.
        source: what was read, for the message.

    Raises:
        StarmineError: a game cannot be represented, has a deck that is not the variant's, an illegal action or
            actions after its end, or a score that the rules do not give it; and games may not be skipped.
    """
    played = games.trajectories
    scores, fireworks, codes, problems, _ = _outcomes(
        played.variant, played.decks, played.start_players, played.actions, played.offsets, THREADS
    )
    told = games.recorded_scores
    holds = (problems == 0) & ((told == NOT_RECORDED) | (told == scores))
    broken = [
        SkippedGame(int(games.indices[game]), games.names[game], _reason(games, game))
        for game in np.flatnonzero(~holds).tolist()
    ]
    skipped = sorted([*games.skipped, *broken], key=lambda game: game.index)
    if skipped and on_error == "raise":
        listed = "; ".join(map(str, skipped[:SHOWN])) + ("; ..." if len(skipped) > SHOWN else "")
        total = len(played) + len(games.skipped)
        raise StarmineError(f"{source}: {len(skipped)} of {total} games do not hold: {listed}; they can be skipped")
    whole = np.flatnonzero(holds)
    return ImportedGames(
        played[whole] if broken else played,
        games.indices[whole],
        tuple(games.names[game] for game in whole.tolist()),
        told[whole],
        tuple(games.players[game] for game in whole.tolist()),
        scores=scores[whole],
        fireworks=fireworks[whole],
        endings=codes[whole],
        skipped=tuple(skipped),
        suits=games.suits,
    )


def _reason(games: ReadGames, game: int) -> str:
    """What is wrong with a game that does not hold."""
    played = games.trajectories
    actions = played.actions[played.offsets[game] : played.offsets[game + 1]].tolist()
    variant = played.variant
    kinds = variant.colors * variant.ranks
    unknown = np.flatnonzero(played.decks[game] >= kinds)
    if len(unknown):
        return f"deck[{unknown[0]}]={played.decks[game, unknown[0]]} is no card: expected 0 to {kinds - 1}"
    try:
        state = played.state(game, 0)
    except StarmineError as error:
        return str(error)
    for turn, action in enumerate(actions):
        if state.is_terminal:
            return f"it ends after {turn} turns: it has {len(actions)} actions"
        try:
            state.apply(action)
        except StarmineError as error:
            return f"turn {turn}: {error}"
    return f"its recorded score is {games.recorded_scores[game]}: the rules give it {state.score}"


def starting_at_seat_0(games: Trajectories) -> Trajectories:
    """The same games with the seats numbered from the one that started, for formats in which seat 0 always does.

    Hands are dealt whole and in the order of the seats, so the first cards of the decks change places.
    """
    if not games.start_players.any():
        return games
    players, hand = games.variant.players, games.variant.hand_size
    seats = (np.arange(players) + games.start_players[:, None].astype(np.int64)) % players
    dealt = (seats[:, :, None] * hand + np.arange(hand)).reshape(len(games), players * hand)
    decks = games.decks.copy()
    decks[:, : players * hand] = np.take_along_axis(games.decks, dealt, axis=1)
    return replace(games, decks=decks, start_players=np.zeros_like(games.start_players))
