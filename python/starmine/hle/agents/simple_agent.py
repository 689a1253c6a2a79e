"""HLE's agent of three rules."""

from __future__ import annotations

from typing import Any

from starmine.hle.rl_env import Agent


class SimpleAgent(Agent):
    """Plays a hinted card, else hints the colour of a playable card, else gets rid of its oldest card.

    Attributes:
        config: of the games.
        max_information_tokens: the entry "information_tokens" of the configuration, by default 8. With fewer tokens
            the oldest card is discarded, otherwise it is played.
    """

    def __init__(self, config: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        """An agent for the games of a configuration."""
        self.config = config
        self.max_information_tokens = config.get("information_tokens", 8)

    @staticmethod
    def playable_card(card: dict[str, Any], fireworks: dict[str, int]) -> bool:
        """Whether a card is the next one of its stack."""
        return bool(fireworks[card["color"]] == card["rank"])

    def act(self, observation: dict[str, Any]) -> dict[str, Any] | None:
        """The move for an observation; None when another seat is to act."""
        if observation["current_player_offset"] != 0:
            return None
        own = observation["card_knowledge"][0]
        hinted = [slot for slot, known in enumerate(own) if (known["color"], known["rank"]) != (None, None)]
        if hinted:
            return {"action_type": "PLAY", "card_index": hinted[0]}
        tokens = observation["information_tokens"]
        hint = self._hint(observation) if tokens > 0 else None
        last_resort = "DISCARD" if tokens < self.max_information_tokens else "PLAY"
        return hint or {"action_type": last_resort, "card_index": 0}

    def _hint(self, observation: dict[str, Any]) -> dict[str, Any] | None:
        """The colour of the first playable card, of the nearest seat, whose colour has not been hinted."""
        for offset in range(1, observation["num_players"]):
            hand, knowledge = observation["observed_hands"][offset], observation["card_knowledge"][offset]
            for card, known in zip(hand, knowledge, strict=True):
                if known["color"] is None and self.playable_card(card, observation["fireworks"]):
                    return {"action_type": "REVEAL_COLOR", "color": card["color"], "target_offset": offset}
        return None
