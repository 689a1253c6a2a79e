"""HLE's dictionary of what one seat sees."""

from __future__ import annotations

from typing import Any

from starmine.hle.observations import HanabiObservation, ObservationEncoder


def observation_dict(seen: HanabiObservation, encoder: ObservationEncoder) -> dict[str, Any]:
    """The dictionary of an observation, with HLE's keys in HLE's order. The caller owns all its lists."""
    position, observer = seen._position, seen._observer
    rules, legal = position.rules, position.legal(observer)
    return {
        "current_player": position.current_player,
        "current_player_offset": seen.cur_player_offset(),
        "life_tokens": position.life_tokens,
        "information_tokens": position.information_tokens,
        "num_players": rules.variant.players,
        "deck_size": position.deck_size,
        "fireworks": dict(zip(rules.letters, position.fireworks, strict=True)),
        "legal_moves": [rules.move_dictionaries[action].copy() for action in legal],
        "legal_moves_as_int": [*legal],
        "observed_hands": [[rules.shown[card].copy() for card in hand] for hand in position.hand_numbers(observer)],
        "discard_pile": [rules.shown[card].copy() for card in position.discard_numbers()],
        "card_knowledge": [[card.copy() for card in hand] for hand in position.hinted(observer)],
        "vectorized": encoder.encode(seen),
        "pyhanabi": seen,
    }
