"""Two hundred seeded games that every adapter plays: the same choices, so the same scores, lengths and masks."""

import numpy as np

import starmine

GAMES = 200
SEEDS = list(range(1000, 1000 + GAMES))
# Points of lost games stay, so that the scores of random games differ; a hand of five is PettingZoo's default.
SETTINGS = {"players": 3, "lost_game_score": "fireworks"}
VARIANT = starmine.Variant(**SETTINGS)


def choose(game, turn, mask):
    """A legal action that depends on the game, the turn and the mask alone; 0 where none is legal."""
    legal = np.flatnonzero(mask)
    return int(legal[(game * 7919 + turn * turn * 31 + turn) % len(legal)]) if len(legal) else 0


class Record:
    """Scores, lengths and masks of each game's first episode."""

    def __init__(self):
        self.scores = [0.0] * GAMES
        self.lengths = [0] * GAMES
        self.masks = [[] for _ in range(GAMES)]
        self.over = np.zeros(GAMES, dtype=bool)

    def action(self, game, mask):
        """The game's next action; its mask is written down unless the episode is over."""
        if not self.over[game]:
            self.masks[game].append(np.asarray(mask).astype(bool).tolist())
        return choose(game, self.lengths[game], mask)

    def turn(self, game, reward, done):
        """What the action led to."""
        if not self.over[game]:
            self.scores[game] += float(reward)
            self.lengths[game] += 1
            self.over[game] = bool(done)

    def actions(self, masks):
        """`action` for all games."""
        return np.array([self.action(game, mask) for game, mask in enumerate(masks)])

    def turns(self, rewards, done):
        """`turn` for all games."""
        for game in range(GAMES):
            self.turn(game, rewards[game], done[game])

    def __eq__(self, other):
        return (self.scores, self.lengths, self.masks) == (other.scores, other.lengths, other.masks)

    __hash__ = None


def played_by_states():
    """The record of the core's own games."""
    record = Record()
    for game, seed in enumerate(SEEDS):
        state = VARIANT.new_game(seed=seed)
        while not state.is_terminal:
            reward = state.apply(record.action(game, state.legal_action_mask()))
            record.turn(game, reward, state.is_terminal)
    return record
