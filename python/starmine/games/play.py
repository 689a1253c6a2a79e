"""Whole games of bots, bots written in Python, and policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.numbers import check_number, check_threads
from starmine.games.games import Games
from starmine.games.play_table import play_table
from starmine.games.players import Player, resolve_player
from starmine.games.roster import distinct_players
from starmine.games.seeds import EVALUATION_SEED, MOST_GAMES
from starmine.games.variants import resolve_variant


def resolve_table(players: Sequence[Any], variant: str | Variant) -> Variant:
    """The variant; a preset gets as many seats as there are players."""
    if isinstance(players, str) or not isinstance(players, Sequence):
        raise StarmineError(f"players={players!r} is not allowed: expected a sequence with an entry for each seat")
    if isinstance(variant, str):
        return resolve_variant(variant, {"players": len(players)})
    resolved = resolve_variant(variant, {})
    if len(players) != resolved.players:
        raise StarmineError(
            f"players has {len(players)} entries: expected {resolved.players}, one for each seat of this variant"
        )
    return resolved


def play_games(
    players: Sequence[Player],
    games: int = 1000,
    seed: int = EVALUATION_SEED,
    variant: str | Variant = "standard",
    num_threads: int | None = None,
    first_game: int = 0,
) -> Games:
    """Play whole games.

    The deck of game i depends only on the seed and i, whoever plays. It is the first deck of game i of a
    `starmine.Batch` with this seed.

    Args:
        players: one for each seat, text or an object as listed below. One object may play several seats.
        games: number of games, at least 1.
        seed: 0 to 2**64 - 1. The default is reserved for evaluations: games to learn from need another seed.
        variant: a text as `starmine.variant` takes it, with as many seats as there are players, or a `Variant`.
        num_threads: threads for games in which bots hold all seats; None for one for each core.
        first_game: the index of the first game.

    Returns:
        The games with their decks and actions, some 160 bytes a game. Above ten million games use
        `starmine.data.generate`, which stores them.

    Text is one of these:

    - a bot's name, see `starmine.bots()`;
    - a list of rules, such as "rules: play-safe; hint-playable; discard-oldest", see `starmine.games.rules()`;
    - the name of a trained policy, see `starmine.policies.shipped()`;
    - a policy file, such as "policy: mine.safetensors"; "policy: mine.safetensors; sampled" samples its moves;
    - "noisy: 0.1; BOT", one of these that with probability 0.1 draws from all legal moves, perhaps its own;
    - "search: BLUEPRINT; rollouts=1000", a search; see `starmine.search`.

    Objects are one of these:

    - the result of `starmine.load_policy`;
    - the result of `starmine.make_bot`. Only its text counts: it plays as that text does, in any seat;
    - a `starmine.games.PythonBot`: an object with `act(view)`, or a class, of which each game and seat gets an object;
    - a `starmine.games.Policy`: an object with `act_batch(turns)`, or a class or a function without arguments that
      makes one for each seat;
    - a torch module, which is called as `module(observations, action_mask)`; see `starmine.torch.ModulePolicy`.

    Raises:
        UnknownNameError: there is no such bot, preset, encoder or policy file.
        SerializationError: a policy file is damaged or inconsistent.
        VariantError: a bot does not play the variant.
        StarmineError: a number out of range, a number of players that is not the variant's, or a policy that sees its
            own hand and does not say so.
        BotError: a player raised an exception or chose an illegal move; it holds all games. Its cause
            is the exception of the first game in which a player raised one.

    >>> import starmine
    >>> games = starmine.play_games(["random", "random"], games=100)
    >>> games.scores.shape
    (100,)
    """
    games = check_number("games", games, 1, MOST_GAMES)
    first_game = check_number("first_game", first_game, 0, MOST_GAMES)
    seed, num_threads = check_number("seed", seed, 0, 2**64 - 1), check_threads(num_threads)
    rules = resolve_table(players, variant)
    seats = [resolve_player(player, f"players[{seat}]") for seat, player in enumerate(players)]
    rows, _, roster = distinct_players(players, seats)
    return play_table(rules, seats, games, seed, first_game, num_threads, seated=(rows, roster))
