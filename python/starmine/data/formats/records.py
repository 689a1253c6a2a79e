"""Games as a file records them, before and after they are checked against the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, endings
from starmine._util.equality import equal_by_value
from starmine.data.metadata import merged_players, names_by_seat
from starmine.data.outcomes import outcomes
from starmine.data.table import GameTable
from starmine.games.trajectories import Trajectories

NOT_RECORDED = -1  # a score that the file does not tell
SHOWN = 5  # problems that a message lists
THREADS = 1  # which play some 20 million turns a second
NAMELESS = "unknown"  # a player whose name is not recorded


@dataclass(frozen=True)
class RecordedGame:
    """A game as a file tells it. Nothing of it has been checked.

    Attributes:
        name: what the file calls it, such as an id; "" where it has no name.
        variant: the rules.
        deck: for each card suit * ranks + rank, the top card first.
        actions: the action ids.
        start_player: the seat that started.
        score: as recorded, or NOT_RECORDED.
        players: the players' names by seat; empty where the file has none.
        suits: what the file calls the suits, in their order; empty where it has our names or none.
    """

    name: str
    variant: Variant
    deck: Sequence[int]
    actions: Sequence[int]
    start_player: int = 0
    score: int = NOT_RECORDED
    players: tuple[str, ...] = ()
    suits: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkippedGame:
    """A game that was left out, or a file or a part of a file in which no game could be read.

    Attributes:
        index: the game's position in the source, from 0.
        name: the game's name in the file; "" for none.
        reason: why it was left out.
        place: if the source has several files, the name of the file, with the game's position in it; else "".
    """

    index: int
    name: str
    reason: str
    place: str = ""

    def __str__(self) -> str:
        """The game and the reason, in one line."""
        named = "" if self.name in ("", str(self.index)) else f" ({self.name})"
        return f"{self.place or f'game {self.index}'}{named}: {self.reason}"


@dataclass(frozen=True)
class OtherRules:
    """Games of other rules than those that are read.

    Attributes:
        skipped: where they are, and the message for those who did not ask for one variant.
        variant: their rules.
        games: their number.
    """

    skipped: SkippedGame
    variant: Variant
    games: int = 1


@equal_by_value
@dataclass(frozen=True, kw_only=True)
class ReadGames:
    """What a reader returns: games whose arrays fit the variant, parsed, not yet replayed; and games of other rules.

    Attributes:
        table: the games. Their outcomes are not known yet.
        roster: the players' table.
        indices: int64 (G,), the positions of the games in the file, from 0.
        recorded_scores: int64 (G,), the scores in the file; NOT_RECORDED for none.
        skipped: the games that cannot be read.
        suits: as `ImportedGames.suits`.
        others: games of other rules.
        is_unreadable: whether this is a file that cannot be read; `skipped` then tells why.
    """

    table: GameTable
    roster: list[dict[str, Any]]
    indices: NDArray[np.int64]
    recorded_scores: NDArray[np.int64]
    skipped: tuple[SkippedGame, ...] = ()
    suits: tuple[str, ...] = ()
    others: tuple[OtherRules, ...] = ()
    is_unreadable: bool = False

    @staticmethod
    def of(
        trajectories: Trajectories,
        recorded_scores: NDArray[np.int64] | None = None,
        names: Sequence[str] | None = None,
        players: Sequence[tuple[str, ...]] | None = None,
    ) -> ReadGames:
        """Games of arrays, in their order, and what the source tells of them: scores, names, players by seat."""
        count, unknown = len(trajectories), (NAMELESS,) * trajectories.variant.players
        seats = [of_game or unknown for of_game in players or [()] * count]
        roster, _ = merged_players([[{"name": name, "hash": None} for name in dict.fromkeys(chain(*seats))]])
        rows = {player["name"]: row for row, player in enumerate(roster)}
        seated = np.array([[rows[name] for name in of_game] for of_game in seats], np.int16)
        table = GameTable(
            trajectories,
            np.arange(count, dtype=np.uint64),
            seed=None,
            index=None,
            episode=None,
            scores=np.zeros(count, np.uint8),
            fireworks=np.zeros(count, np.uint8),
            endings=np.zeros(count, np.uint8),
            players=seated.reshape(count, len(unknown)),
            names=np.array([""] * count if names is None else list(names), np.object_),
        )
        scores = np.full(count, NOT_RECORDED, np.int64) if recorded_scores is None else recorded_scores
        return ReadGames(table=table, roster=roster, indices=np.arange(count), recorded_scores=scores)

    @staticmethod
    def of_table(table: GameTable, roster: list[dict[str, Any]]) -> ReadGames:
        """Games of a table and its players' table, each called as its source calls it, or by its running number.

        Without a players' table the players have no names.
        """
        if not roster:
            roster, table = [{"name": NAMELESS, "hash": None}], replace(table, players=np.zeros_like(table.players))
        names = [""] * len(table) if table.names is None else table.names
        called = [str(name) or str(number) for name, number in zip(names, table.game.tolist(), strict=True)]
        table = replace(table, names=np.array(called, np.object_))
        indices, scores = np.arange(len(table)), table.scores.astype(np.int64)
        return ReadGames(table=table, roster=roster, indices=indices, recorded_scores=scores)

    @staticmethod
    def of_other_rules(variant: Variant, given: Variant, games: int) -> ReadGames:
        """A file whose games all have other rules than `variant`."""
        others = (OtherRules(SkippedGame(0, "", _other_rules(given, variant)), given, games),) if games else ()
        return replace(_arrays([], variant), others=others)

    @staticmethod
    def unreadable(reason: str, variant: Variant | None) -> ReadGames:
        """A file that cannot be read."""
        skipped = (SkippedGame(0, "", reason),)
        return replace(_arrays([], variant or Variant()), skipped=skipped, is_unreadable=True)

    @property
    def entries(self) -> int:
        """The number of games of all kinds."""
        return len(self.indices) + len(self.skipped) + sum(other.games for other in self.others)


@equal_by_value
@dataclass(frozen=True, kw_only=True, repr=False)
class ImportedGames:
    """The valid games of a source, as `read_games` returns them, and the reasons why other games were left out.

    Attributes:
        table: the games, with their outcomes by the variant's rules. A game without a name in the file has its position
            as its name.
        roster: the players' table, as `Dataset.players`; a player without a name in the file is called "unknown".
        indices: int64 (G,), the positions of the games in the source, from 0. Several files count as one sequence.
        skipped: the games that were left out, in the order of the source.
        suits: the source's names of the suits, in their order, such as hanab.live's ("red", "yellow", "green", "blue",
            "purple"); empty if they are ours: red, yellow, green, white, blue.
        other_rules: number of games that were left out because they have other rules than the argument `variant` of
            `read_games`.
    """

    table: GameTable
    roster: list[dict[str, Any]]
    indices: NDArray[np.int64]
    skipped: tuple[SkippedGame, ...] = ()
    suits: tuple[str, ...] = ()
    other_rules: int = 0

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self.table.variant

    @property
    def trajectories(self) -> Trajectories:
        """The decks, start players and actions."""
        return self.table.trajectories

    @property
    def scores(self) -> NDArray[np.uint8]:
        """The scores by the rules, those of unfinished games included: uint8 (G,)."""
        return self.table.scores

    @property
    def endings(self) -> NDArray[np.uint8]:
        """The endings, as `GameTable.endings`; 0 for a game that stopped before its end: uint8 (G,)."""
        return self.table.endings

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the games, made anew at each access."""
        return tuple(map(str, self.table.names if self.table.names is not None else ()))

    @property
    def players(self) -> tuple[tuple[str, ...], ...]:
        """The players' names by seat, for each game, made anew at each access; empty where the file has no names."""
        seats = names_by_seat(self.roster, self.table.players)
        return tuple(() if set(of_game) == {NAMELESS} else of_game for of_game in seats)

    def chosen(self, games: NDArray[np.int64]) -> ImportedGames:
        """The games at some positions, int64 (K,) from 0 to G - 1, of this object."""
        return replace(self, table=self.table[games], indices=self.indices[games])

    def without(self, skipped: Sequence[SkippedGame]) -> ImportedGames:
        """All games except the `skipped` ones, whose `index` is a position in this object, as `write_games` has it."""
        left = [game.index for game in skipped]
        return self.chosen(np.setdiff1d(np.arange(len(self)), left)) if left else self

    def __len__(self) -> int:
        """Number of games."""
        return len(self.table)

    def __repr__(self) -> str:
        """Number of games and turns."""
        turns = len(self.trajectories.actions)
        return f"<ImportedGames: {len(self)} games, {turns} turns, {len(self.skipped)} skipped: {self.variant}>"


def read_each(
    entries: Iterable[Any],
    game_of: Callable[[Any], RecordedGame],
    variant: Variant | None,
    name_of: Callable[[Any], str] = lambda entry: "",
) -> ReadGames:
    """Read the entries of a file as games; skip those that cannot be read or do not fit the variant's arrays.

    Args:
        entries: of a game each, or the reason why there is none.
        game_of: reads an entry.
        variant: the rules; None for those of the first game.
        name_of: what an entry calls its game, which may not be readable.
    """
    kept: list[tuple[int, RecordedGame]] = []
    skipped: list[SkippedGame] = []
    others: list[OtherRules] = []
    for index, entry in enumerate(entries):
        name = name_of(entry)
        try:
            if isinstance(entry, StarmineError):
                raise entry
            game = game_of(entry)
            name, variant = game.name, game.variant if variant is None else variant
            if game.variant == variant:
                _check_fits(game)
                kept.append((index, game))
            else:
                others.append(OtherRules(SkippedGame(index, name, _other_rules(game.variant, variant)), game.variant))
        except StarmineError as error:
            skipped.append(SkippedGame(index, name, str(error)))
    return replace(_arrays(kept, variant or Variant()), skipped=tuple(skipped), others=tuple(others))


def _arrays(games: list[tuple[int, RecordedGame]], variant: Variant) -> ReadGames:
    """Games with their positions in the file, as arrays."""
    lengths = [len(game.actions) for _, game in games]
    decks = np.array([list(game.deck) for _, game in games], np.uint8)
    played = Trajectories(
        variant,
        decks.reshape(len(games), variant.deck_size),
        np.array([game.start_player for _, game in games], np.uint8),
        np.array([action for _, game in games for action in game.actions], np.uint8),
        np.cumsum([0, *lengths]).astype(np.int64),
    )
    scores = np.array([game.score for _, game in games], np.int64)
    return replace(
        ReadGames.of(played, scores, [game.name for _, game in games], [game.players for _, game in games]),
        indices=np.array([index for index, _ in games], np.int64),
        suits=common_suits([game.suits for _, game in games]),
    )


def common_suits(suits: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """What all games call the suits; empty where they differ."""
    distinct = set(suits)
    return distinct.pop() if len(distinct) == 1 else ()


def _other_rules(given: Variant, expected: Variant) -> str:
    """What is said of a game of other rules."""
    return f"it is a game of {given}: expected {expected}; variant=... chooses the rules"


def _check_fits(game: RecordedGame) -> None:
    """Refuse a game that cannot stand in its variant's arrays."""
    variant = game.variant
    kinds = variant.colors * variant.ranks
    if len(game.deck) != variant.deck_size:
        raise StarmineError(f"its deck has {len(game.deck)} cards: expected {variant.deck_size}")
    for place, card in enumerate(game.deck):
        if not 0 <= card < kinds:
            raise StarmineError(f"deck[{place}]={card} is no card: expected 0 to {kinds - 1}")
    if not 0 <= game.start_player < variant.players:
        raise StarmineError(f"seat {game.start_player} starts: expected 0 to {variant.players - 1}")
    if game.score != NOT_RECORDED and not 0 <= game.score <= variant.max_score:
        raise StarmineError(f"its recorded score is {game.score}: expected 0 to {variant.max_score}")
    for turn, action in enumerate(game.actions):
        if not 0 <= action < variant.num_actions:
            expected = f"expected 0 to {variant.num_actions - 1}"
            raise StarmineError(f"turn {turn}: action {action} does not exist: {expected}")


def check(games: ReadGames, on_error: str, source: str) -> ImportedGames:
    """Play the games of one source by the rules, as `check_all` does."""
    return check_all([("", games)], on_error, source)


def check_all(
    parts: Sequence[tuple[str, ReadGames]], on_error: str, source: str, one_variant: bool = False
) -> ImportedGames:
    """Play games by the rules.

    Args:
        parts: where games stand, for messages, and the games as read; at least one part.
        on_error: "raise", or "skip" to leave out the games that do not hold.
        source: what was read, for the message.
        one_variant: whether games of other rules are left out without being an error.
    """
    checked: list[ImportedGames] = []
    skipped: list[SkippedGame] = []
    others: list[OtherRules] = []
    first = 0
    for place, games in parts:
        played, broken = _played(games)
        wrong = [other.skipped for other in games.others if not one_variant]
        others += games.others
        for game in sorted([*games.skipped, *broken, *wrong], key=lambda game: game.index):
            where = place if not place or games.entries == 1 else f"{place}, game {game.index}"
            skipped.append(replace(game, index=first + game.index, place=where))
        if len(played) or not checked:
            checked.append(replace(played, indices=played.indices + first))
        first += games.entries
    left = sum(other.games for other in others) if one_variant else 0
    if left and left == first:
        held = "; ".join(dict.fromkeys(str(other.variant) for other in others))
        raise StarmineError(f"{source}: variant={checked[0].variant} is not allowed: the file has {held}")
    if skipped and on_error == "raise":
        refuse(skipped, first, source, sum(games.is_unreadable for _, games in parts), len(parts))
    return _joined(checked, skipped, left)


def refuse(skipped: Sequence[SkippedGame], total: int, source: str, unreadable: int = 0, files: int = 1) -> NoReturn:
    """Refuse games of a source that has `total` entries, of which some are unreadable ones of its `files`."""
    listed = "; ".join(map(str, skipped[:SHOWN])) + ("; ..." if len(skipped) > SHOWN else "")
    told = [f"{unreadable} of {files} files cannot be read"] if unreadable else []
    if games := len(skipped) - unreadable:
        told.append(f"{games} of {total - unreadable} games do not hold")
    raise StarmineError(f"{source}: {' and '.join(told)}: {listed}; they can be skipped")


def _played(games: ReadGames) -> tuple[ImportedGames, list[SkippedGame]]:
    """The games of a part that hold by the rules, and the others."""
    table, told = games.table, games.recorded_scores
    by_rules = outcomes(table.trajectories, THREADS)
    scores, codes, problems = by_rules.scores, by_rules.endings, by_rules.problems
    reasons = {game: by_rules.describe(game, table.trajectories) for game in np.flatnonzero(problems).tolist()}
    # hanab.live gives 0 to a lost game, and to one that its players stopped.
    may_be_zero = np.isin(codes, (0, endings().index("lost") + 1))
    holds = (told == NOT_RECORDED) | (told == scores) | ((told == 0) & may_be_zero)
    for game in np.flatnonzero((problems == 0) & ~holds).tolist():
        reasons[game] = f"its recorded score is {told[game]}: the rules give it {scores[game]}"
    table = replace(table, scores=scores, fireworks=by_rules.fireworks, endings=codes)
    imported = ImportedGames(table=table, roster=games.roster, indices=games.indices, suits=games.suits)
    names = imported.names
    broken = [SkippedGame(int(games.indices[game]), names[game], reason) for game, reason in reasons.items()]
    return imported.chosen(np.setdiff1d(np.arange(len(table)), list(reasons))) if broken else imported, broken


def _joined(parts: list[ImportedGames], skipped: list[SkippedGame], other_rules: int) -> ImportedGames:
    """The games of several parts; those without a name are called by their positions."""
    held = [part for part in parts if len(part)] or parts[:1]
    roster, rows = merged_players([part.roster for part in held])
    tables = [replace(part.table, players=of[part.table.players]) for part, of in zip(held, rows, strict=True)]
    indices = np.concatenate([part.indices for part in held])
    names = [name or str(index) for name, index in zip(chain(*(part.names for part in held)), indices, strict=True)]
    table = replace(
        GameTable.concatenate(tables),
        game=np.arange(len(indices), dtype=np.uint64),
        names=np.array(names, np.object_),
    )
    suits = common_suits(part.suits for part in held)
    return ImportedGames(
        table=table, roster=roster, indices=indices, skipped=tuple(skipped), suits=suits, other_rules=other_rules
    )


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
