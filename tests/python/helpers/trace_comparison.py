"""Plays a recorded game again in Starmine and compares every position with the record."""

import numpy as np

import starmine

# Column of the record: attribute of a Starmine state.
STATE_COLUMNS = {
    "scores": "score",
    "information_tokens": "information_tokens",
    "life_tokens": "life_tokens",
    "deck_sizes": "deck_size",
}


class DifferenceError(AssertionError):
    """Starmine differs from the record of a game."""


def actions_in(mask):
    """The actions of a legal action mask given as an integer."""
    return [action for action in range(mask.bit_length()) if mask >> action & 1]


def check(where, field, found, expected):
    """Raises DifferenceError unless found equals expected."""
    if found != expected:
        raise DifferenceError(f"{where}, {field}: starmine has {found!r}, HLE has {expected!r}")


def check_position(state, record, step, where):
    """Compares the state before the action of a step (or after the last one) with its row."""
    is_over = step == len(record["actions"])
    check(where, "is_terminal", bool(state.is_terminal), is_over)
    check(where, "ending", state.ending, record["ending"] if is_over else None)
    if not is_over:
        check(where, "current_player", int(state.current_player), record["current_player"][step])
    mask = np.flatnonzero(state.legal_action_mask()).tolist()
    check(where, "legal_action_mask", mask, actions_in(record["legal"][step]))
    for column, attribute in STATE_COLUMNS.items():
        check(where, attribute, int(getattr(state, attribute)), record[column][step])


def replay(variant, record, encoder, where, check_encoding):
    """Replays a record (a dict of columns, legal masks as integers), comparing each position and reward.

    `check_encoding(where, step, seat, encoding)` compares one seat's encoding with the record. `where` names the
    configuration and the game in messages.
    """
    state = variant.new_game(deck=record["deck"], start_player=record["start_player"])
    for step, action in enumerate([*record["actions"], None]):
        position = f"{where}, step {step}"
        check_position(state, record, step, position)
        for seat in range(variant.players):
            seat_position = f"{position}, seat {seat}"
            encoding = state.encode(seat, encoder=encoder)
            check(seat_position, "encoding dtype", encoding.dtype, np.dtype(np.uint8))
            check_encoding(seat_position, step, seat, encoding)
        if action is not None:
            check(position, f"reward of action {action}", float(state.apply(action)), float(record["rewards"][step]))


def variant_of(parameters):
    """The Starmine variant with the parameters of a recorded configuration."""
    return starmine.Variant(**parameters)
