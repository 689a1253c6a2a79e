"""Replays: one HTML file, which works without a network, to step through games."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from starmine._core import StarmineError, State, _Player
from starmine.games.games import Games
from starmine.games.player_texts import core_player, own_policy, player_of_text, short_name
from starmine.look.analysis import mistakes, verdict
from starmine.look.frame import Frame, frame_of
from starmine.look.shapes import browser_file
from starmine.look.words import move_in_words, told_apart
from starmine.policies.load import TrainedPolicy
from starmine.policies.variant_check import check_variant

if TYPE_CHECKING:
    from starmine.torch import ModulePolicy

# Each imports only what stands before it.
SCRIPTS = ("suits.js", "elements.js", "words.js", "arrow.js", "board.js", "curves.js", "replay.js")
STYLES = ("board.css", "replay.css", "colors.css")
MOST_GAMES = 200  # of a replay: some 100 KB each
OF_GAME = ("format", "variant", "suits", "names", "observer", "start_player")  # fields that all frames of a game share
OF_CARD = ("card", "number", "color", "rank", "belief")

ReplaySource: TypeAlias = Games | State | Sequence[State]


def thoughts(policy: TrainedPolicy | ModulePolicy, state: State) -> list[dict[str, Any]]:
    """What a policy thinks before each turn of a game, for the seat to act, as `frame_of` takes it."""
    check_variant(policy, state.variant)
    position = state.variant.new_game(deck=state.deck, start_player=state.start_player)
    memories: list[Any] = [None] * state.variant.players
    moves = []
    for event in [*state.history, None]:
        if position.is_terminal:
            break
        seat = position.current_player
        logits, values, memories[seat] = policy.logits(position.encode(seat, policy.encoder)[None], memories[seat])
        if np.isnan(values[0]):
            raise StarmineError(f"policy={policy!r} gives no probabilities and values: expected a policy of Starmine")
        logits = np.where(position.legal_action_mask(), logits[0].astype(np.float64), -np.inf)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        shown = [int(action) for action in np.argsort(-shares)[:6] if shares[action]]
        shown += [event.action] if event is not None and event.action not in shown else []
        moves.append(
            {
                "name": Path(policy.name).stem,  # a file's without its folders
                "probabilities": {action: round(float(shares[action]), 4) for action in shown},
                "value": round(float(values[0]), 3),
                "choice": int(logits.argmax()),
            }
        )
        if event is not None:
            position.apply(event.action)
    return moves


def replay_data(
    games: ReplaySource,
    names: Sequence[str] | Sequence[Sequence[str]] | None = None,
    suits: Sequence[str] | Sequence[Sequence[str]] | None = None,
    titles: Sequence[str] | None = None,
    compare: str | None = None,
    policy: str | TrainedPolicy | ModulePolicy | None = None,
    beliefs: bool = True,
) -> dict[str, Any]:
    """What a replay shows, as data for JSON: the games with a frame for each turn, and their mistakes.

    Args, Raises: as `replay_html`, without its title.
    """
    states = _states(games)
    seats = _names_of_each("names", names, states)
    shown_suits = _names_of_each("suits", suits, states)
    shown_titles = _of_each("titles", titles, states)
    if isinstance(policy, str):
        policy = own_policy(policy, "policy")
    elif not isinstance(policy, TrainedPolicy | None) and (
        not hasattr(getattr(policy, "module", None), "state_width")
        or policy.all_turns  # a user's module, or one that sees all turns
    ):
        raise StarmineError(f"policy={policy!r} is not allowed: expected a policy of Starmine")
    bot = None
    if compare is not None:
        bot = core_player(player_of_text(compare, "compare"), "compare", compare)
    replays = []
    for index, (state, title) in enumerate(zip(states, shown_titles, strict=True)):
        game = _game(state, seats[index] or None, shown_suits[index] or None, bot, policy, beliefs)
        if compare is not None:
            game["compare"] = {"name": short_name(compare), "actions": game["compare"]}
        replays.append({"title": f"Game {index}" if title is None else str(title), **game})
    return {"format": 1, "games": replays}


def replay_html(
    games: ReplaySource,
    *,
    title: str = "Hanabi",
    names: Sequence[str] | Sequence[Sequence[str]] | None = None,
    suits: Sequence[str] | Sequence[Sequence[str]] | None = None,
    titles: Sequence[str] | None = None,
    compare: str | None = None,
    policy: str | TrainedPolicy | ModulePolicy | None = None,
    beliefs: bool = True,
) -> str:
    """A page to step through games: one file without references to others.

    Args:
        games: `Games`, a state whose past turns are shown, or several;
            200 games at most.
        title: of the page.
        names: of the seats; for all games, or a list for each.
        suits: the names of the suits, as `frame_of` takes them; for all games, or a list for each. An empty list stands
            for those of the variant's edition.
        titles: of the games; None for "Game 0" and so on.
        compare: a bot, or a policy that the core plays, by its name or file; the turns on which it would have played
            something else are marked.
        policy: a trained policy of Starmine, or its name or file, whose action probabilities and values are shown.
        beliefs: whether to show what the owners of the cards believe.

    Raises:
        StarmineError: the games were not recorded, are none or too many, or break the rules; or there is another number
            of names, suits or titles.
        UnknownNameError: there is no such bot, policy or suit.
        VariantError: the bot or the policy does not play the variant.

    >>> import starmine
    >>> games = starmine.play_games(["smart", "smart"], games=2)
    >>> page = starmine.look.replay_html(games, compare="holmes", title="smart")
    """
    return page(replay_data(games, names, suits, titles, compare, policy, beliefs), title)


def page(data: dict[str, Any], title: str) -> str:
    """The HTML of a replay's data."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{html.escape(str(title))}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n"
        f'<main id="replay"></main>\n<script type="application/json" id="games">{text}</script>\n'
        f'<script type="module">\n{script()}'
        'replay(document.getElementById("replay"), JSON.parse(document.getElementById("games").textContent), '
        "{ page: true });\n</script>\n</body>\n</html>\n"
    )


def style() -> str:
    """The style sheets of the board and of the replay."""
    return "".join(browser_file(name) for name in STYLES)


def script() -> str:
    """The scripts of the board and of the replay, as one without imports and exports."""
    lines = []
    for name in SCRIPTS:
        for line in browser_file(name).splitlines():
            if not line.startswith("import "):
                lines.append(line.removeprefix("export "))
    return "\n".join(lines) + "\n"


def _states(games: ReplaySource) -> list[State]:
    """The games as states after their last turns."""
    if isinstance(games, State):
        return [games]
    if not isinstance(games, Games):
        if isinstance(games, str) or not isinstance(games, Sequence):
            raise StarmineError(f"games is a {type(games).__name__}: expected recorded games, a State or several")
        for index, state in enumerate(games):
            if not isinstance(state, State):
                raise StarmineError(f"games[{index}] is a {type(state).__name__}: expected a State")
    if not 0 < len(games) <= MOST_GAMES:
        raise StarmineError(f"there are {len(games)} games: expected 1 to {MOST_GAMES}; choose some, as in games[:20]")
    return [games.state(game) for game in range(len(games))] if isinstance(games, Games) else list(games)


def _of_each(argument: str, given: Sequence[Any] | None, states: list[State]) -> Sequence[Any]:
    """What is given for each game; None for each where nothing is given."""
    if given is None:
        return [None] * len(states)
    if len(given) != len(states):
        raise StarmineError(f"there are {len(given)} {argument}: expected one for each of the {len(states)} games")
    return given


def _names_of_each(
    argument: str, given: Sequence[str] | Sequence[Sequence[str]] | None, states: list[State]
) -> Sequence[Any]:
    """The names of the seats or of the suits of each game: the same ones for all, or a list for each."""
    is_shared = given is not None and all(isinstance(name, str) for name in given)
    return _of_each(argument, [given] * len(states) if is_shared else given, states)


def _game(
    state: State,
    names: Sequence[str] | None,
    suits: Sequence[str] | None,
    bot: _Player | None,
    policy: TrainedPolicy | ModulePolicy | None,
    beliefs: bool,
) -> dict[str, Any]:
    """A game: what all its frames share, the frames, the curves and the marks."""
    variant = state.variant
    position = variant.new_game(deck=state.deck, start_player=state.start_player)
    thought = [] if policy is None else thoughts(policy, state)
    first, frames, reach, would = frame_of(position, names=names, suits=suits), [], [], []
    apart = told_apart(first["names"])
    told: dict[int, list[Any]] = {}
    for turn in range(state.length + 1):
        now = thought[turn] if turn < len(thought) else None
        frame = frame_of(position, names=apart, suits=suits, policy=now, beliefs=beliefs, legal=False)
        told |= {card["number"]: card["told"] for hand in frame["hands"] for card in hand}
        frames.append(_brief(frame))
        reach.append(position.view(0).reachable_score)
        if turn < state.length:
            if bot is not None:
                would.append(position.suggest(bot))
            position.apply(state.history[turn].action)
    moves = [variant.move(action) for action in range(variant.num_actions)]
    data = {
        **{name: first[name] for name in OF_GAME},
        "seats": apart,
        "moves": [
            [move_in_words(move, first["suits"], apart, seat) for move in moves] for seat in range(variant.players)
        ],
        "frames": frames,
        "told": told,
        "actions": [event.action for event in state.history],
        "reachable": reach,
        "mistakes": [asdict(mistake) for mistake in mistakes(state, apart, suits)],
        "verdict": verdict(state, apart, suits),
        "score": state.score,
        "ending": state.ending,
    }
    if bot is not None:
        data["compare"] = would
    if policy is not None:
        data["values"] = [one["value"] for one in thought]
    return data


def _brief(frame: Frame) -> Frame:
    """A frame without what the game tells once."""
    kept = {name: value for name, value in frame.items() if name not in (*OF_GAME, "legal")}
    kept["hands"] = [[_brief_card(card) for card in hand] for hand in frame["hands"]]
    return kept


def _brief_card(card: dict[str, Any]) -> dict[str, Any]:
    """A card of a replay's frame: its `told` is the game's, and its belief has three digits."""
    kept = {name: card[name] for name in OF_CARD}
    if card["belief"] is not None:
        kept["belief"] = [round(share, 3) or 0 for share in card["belief"]]
    return kept
