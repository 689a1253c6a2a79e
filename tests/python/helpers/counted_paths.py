"""Counts of all legal sequences of actions from a position ("perft"), of a Starmine state or an oracle game."""

from collections import Counter


def count_paths(state, depth):
    """A Counter for each length from 1 to the depth, over all legal sequences of that many actions.

    "paths" counts the sequences, "score" sums the scores that they lead to, and an ending's name counts the
    sequences whose last action ends the game so.
    """
    rows = [Counter() for _ in range(depth)]
    visit(state, rows, 0)
    return rows


def visit(state, rows, length):
    """Counts the sequences that go on from a position after `length` actions."""
    row = rows[length]
    for action in state.legal_actions():
        after = state.copy()
        after.apply(action)
        row["paths"] += 1
        row["score"] += after.score
        if after.ending is not None:
            row[after.ending] += 1
        elif length + 1 < len(rows):
            visit(after, rows, length + 1)
