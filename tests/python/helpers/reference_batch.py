"""A reference implementation of batches with single states and without threads."""

import numpy as np

import starmine

CODES = {name: code for code, name in enumerate(starmine.endings(), start=1)}


class Game:
    """One game of the reference: a state, and whether an illegal action has ended it."""

    def __init__(self, variant, seed, game, episode=0):
        self.seed = (variant, seed, game)
        self.episode = episode
        self.state = variant.new_game(seed=seed, game=game, episode=episode)
        self.forfeited = False

    def next(self):
        """The next episode of this game."""
        return Game(*self.seed, self.episode + 1)

    @property
    def is_over(self):
        return self.forfeited or self.state.is_terminal

    @property
    def score(self):
        keeps = self.state.variant.lost_game_score == "fireworks"
        return self.state.score if keeps or not self.forfeited else 0

    @property
    def result(self):
        """Score, length and ending's code of a game that is over."""
        if self.forfeited:
            return self.score, self.state.length + 1, CODES["lost"]
        return self.score, self.state.length, CODES[self.state.ending]

    def mask(self):
        if self.forfeited:
            return np.zeros(self.state.variant.num_actions, dtype=bool)
        return self.state.legal_action_mask()

    def observation(self, observer, encoder):
        row = self.state.encode(observer, encoder)
        if self.forfeited:
            # A game that an illegal action ended has no life token left.
            row[self.state.variant.layout(encoder)["life_tokens"].slice] = 0
        return row


class ReferenceBatch:
    """The same calls as `starmine.Batch`; observations are uint8 rows of features."""

    def __init__(self, variant, num_envs, *, encoder, observers, autoreset_mode, illegal_action, seed):
        self.variant, self.encoder, self.observers = variant, encoder, observers
        self.autoreset_mode, self.illegal_action = autoreset_mode, illegal_action
        self.games = [Game(variant, seed, index) for index in range(num_envs)]
        self.finished = []
        self.fresh = True

    def reset(self, seed=None, mask=None):
        # The first reset without a seed keeps the games as they were dealt.
        keep = self.fresh and seed is None
        for index, game in enumerate(self.games):
            if keep or (mask is not None and not mask[index]):
                continue
            if seed is None:
                self.games[index] = game.next()
            elif isinstance(seed, int):
                self.games[index] = Game(self.variant, seed, index)
            else:
                self.games[index] = Game(self.variant, seed[index], 0)
        self.finished, self.fresh = [], False
        return self.observe()

    def observe(self):
        return self.outputs([{} for _ in self.games])

    def illegal_rows(self, actions):
        """The games for which these actions are refused."""
        return [
            index
            for index, (game, action) in enumerate(zip(self.games, actions, strict=True))
            if self.is_refused(game, action)
        ]

    def is_refused(self, game, action):
        if game.is_over:
            return self.autoreset_mode == "Disabled"
        return self.illegal_action == "raise" and action not in game.state.legal_actions()

    def step(self, actions):
        self.finished, self.fresh = [], False
        outcomes = [self.step_game(index, action) for index, action in enumerate(actions)]
        return self.outputs(outcomes)

    def step_game(self, index, action):
        game = self.games[index]
        if game.is_over:
            self.games[index] = game.next()
            return {}
        before = game.score
        outcome = {"illegal_action": action not in game.state.legal_actions()}
        if outcome["illegal_action"]:
            game.forfeited = True
        else:
            game.state.apply(action)
        outcome["reward"] = game.score - before
        if game.is_over:
            outcome["terminated"] = True
            outcome["final_score"], outcome["final_length"], outcome["final_ending"] = game.result
            if self.autoreset_mode == "SameStep":
                self.finished.append((index, self.rows(game)))
                self.games[index] = game.next()
        return outcome

    def rows(self, game):
        if self.observers == "current":
            return game.observation(game.state.current_player, self.encoder)
        return np.stack([game.observation(seat, self.encoder) for seat in range(self.variant.players)])

    def outputs(self, outcomes):
        def column(name, dtype):
            return np.array([outcome.get(name, 0) for outcome in outcomes], dtype=dtype)

        return {
            "obs": np.stack([self.rows(game) for game in self.games]),
            "action_mask": np.stack([game.mask() for game in self.games]),
            "reward": column("reward", np.float32),
            "terminated": column("terminated", bool),
            "truncated": np.zeros(len(self.games), dtype=bool),
            "current_player": np.array([game.state.current_player for game in self.games], dtype=np.int32),
            "score": np.array([game.score for game in self.games], dtype=np.int32),
            "final_score": column("final_score", np.int32),
            "final_length": column("final_length", np.int32),
            "final_ending": column("final_ending", np.int8),
            "illegal_action": column("illegal_action", bool),
        }


def features(obs, dtype, length):
    """A batch's observations as uint8 features; bits beyond the features must be 0."""
    if dtype != "bits":
        assert np.isin(obs, (0, 1)).all()
        return obs.astype(np.uint8)
    bits = np.unpackbits(obs, axis=-1, bitorder="little")
    assert not bits[..., length:].any()
    return bits[..., :length]


def assert_same_outputs(found, expected, batch):
    """Checks all outputs of a batch against those of a reference."""
    assert list(found) == list(expected)
    for name, array in expected.items():
        if name == "obs":
            rows = features(found["obs"], batch.dtype, len(batch.layout))
            np.testing.assert_array_equal(rows, array, err_msg="obs")
        else:
            assert found[name].dtype == array.dtype, name
            np.testing.assert_array_equal(found[name], array, err_msg=name)
