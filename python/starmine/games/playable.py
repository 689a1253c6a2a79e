"""Whether a game that goes on can still score: hanab.live ends a game that cannot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starmine._core import State
from starmine.games.games import Games


def nothing_playable(state: State) -> bool:
    """Whether no card that can still be played is the next one of its suit.

    The cards of the deck count, and those of all players who still have a turn.
    """
    players, turns = state.variant.players, state.view(0).turns_left
    seats = [(state.current_player + turn) % players for turn in range(players if turns is None else turns)]
    cards = state.deck[len(state.deck) - state.deck_size :]
    cards += [card for seat in seats for card in state.hands[seat]]
    return not any(card.rank == state.fireworks[card.suit] for card in cards)


def whole_games(games: Games) -> NDArray[np.bool_]:
    """Which games were played to their end, by the rules or because nothing more could be played: bool (G,).

    hanab.live ends games in which nothing more can be played; by our rules they have no ending. The other games
    stopped before their end, such as games that people gave up.
    """
    whole = games.endings > 0
    for game in np.flatnonzero(~whole).tolist():
        whole[game] = nothing_playable(games.state(game))
    return whole
