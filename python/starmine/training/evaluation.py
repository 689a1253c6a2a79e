"""Evaluation of policies on whole games."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine.games.endings import defeats
from starmine.games.play import play_games
from starmine.games.players import Player, is_bot, is_policy
from starmine.games.results import BotError
from starmine.games.turns import Turns
from starmine.look import replay_html
from starmine.training.distributed import rank
from starmine.training.scores import Scores

Outputs: TypeAlias = dict[str, NDArray[Any]]
"""What `Batch.observe` and `Batch.step` return."""

Act: TypeAlias = Callable[[Outputs], NDArray[np.int64]]
"""Chooses actions int64 (N,) from "obs" uint8 (N, bytes), packed bits, "action_mask" bool (N, A), and "current_player"
(N,). It is called for all games in every turn, so that it may keep hidden states."""

# Of the games that measure a run's progress, the first seed that `training_seed` refuses. Final evaluations have
# `starmine.games.seeds.EVALUATION_SEED`: a run that is chosen by its progress is not evaluated on the same decks.
PROGRESS_SEED = 2**32


def training_seed(seed: int) -> int:
    """The seed of this process's training games, apart from those of all other processes and of evaluations.

    Seed 0 deals the decks of the published tables, 2**32 those of `evaluate_policy`, and a seed between 2**32 and 2**40
    those of `starmine eval`; nothing trains on these.

    Args:
        seed: of the training run, 1 to 2**32 - 1.

    Raises:
        StarmineError: another seed.
    """
    if not 1 <= seed < PROGRESS_SEED:
        why = "evaluations play the decks of the others"
        raise StarmineError(f"seed={seed} is not allowed in training: expected 1 to {PROGRESS_SEED - 1:,}; {why}")
    return seed + (rank() << 40)


def evaluate_policy(
    act: Act | Player,
    variant: Variant,
    games: int,
    *,
    encoder: str = "canonical",
    partners: Mapping[int, Player] | None = None,
    seed: int = PROGRESS_SEED,
) -> Scores:
    """Play each game to its end; the same seed deals the same games to every policy.

    Args:
        act: the policy, new at the start of all games; or a player, as `play_games` takes it.
        variant: the rules; what a lost game scores does not matter.
        games: number of games, N.
        encoder: of the policy's observations.
        partners: bots by seat; the policy plays all other seats.
        seed: of the games.

    Raises:
        StarmineError: an argument that `play_games` refuses.
        BotError: the policy chose an illegal action.
        Exception: whatever the policy raises.
    """
    player = _player(act, games, variant, encoder)
    seats = [(partners or {}).get(seat, player) for seat in range(variant.players)]
    try:
        played = play_games(seats, games, seed, variant)
    except BotError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from None
    return Scores(
        kept=played.fireworks.astype(np.float64),
        lost=np.isin(played.endings, defeats()),
        perfect=played.fireworks == variant.max_score,
    )


def _player(act: Act | Player, games: int, variant: Variant, encoder: str) -> Any:
    """A player of games that begin now."""
    if isinstance(act, str) or is_policy(act) or is_bot(act):
        return act
    return _Player(cast("Act", act), games, variant.num_actions, encoder)


class _Player:
    """A policy that plays what `act` chooses, asked for all games in every turn; the rows of ended games are zeros."""

    dtype = "bits"

    def __init__(self, act: Act, games: int, num_actions: int, encoder: str) -> None:
        self.act, self.games, self.num_actions, self.encoder = act, games, num_actions, encoder

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        """The actions of the games that go on."""
        obs = np.zeros((self.games, turns.obs.shape[1]), np.uint8)
        mask, seat = np.zeros((self.games, self.num_actions), np.bool_), np.zeros(self.games, np.int32)
        obs[turns.game], mask[turns.game], seat[turns.game] = turns.obs, turns.action_mask, turns.seat
        return self.act({"obs": obs, "action_mask": mask, "current_player": seat})[turns.game]


def random_policy(seed: int = PROGRESS_SEED) -> Act:
    """Plays uniformly random legal actions."""
    rng = np.random.default_rng(seed)
    return lambda outputs: (rng.random(outputs["action_mask"].shape) * outputs["action_mask"]).argmax(1)


def show_game(
    act: Act | Player,
    variant: Variant,
    encoder: str = "canonical",
    seed: int = PROGRESS_SEED,
    *,
    replay: Path | None = None,
    partner: Player | None = None,
) -> None:
    """Print one game: a line a turn, with the table after it.

    Args:
        act: the policy, new at the start of the game; or a player, as `play_games` takes it.
        variant: the rules.
        encoder: of the policy's observations.
        seed: of the game.
        replay: where to write the game as a page to step through; None for no page.
        partner: holds all seats but the first; None for the policy in all seats.
    """
    rules = Variant(**variant.parameters() | {"lost_game_score": "zero"})
    player = _player(act, 1, variant, encoder)
    others = player if partner is None else partner
    played = play_games([player] + [others] * (variant.players - 1), 1, seed, rules, record=True).trajectories
    state = rules.new_game(seed=seed)
    print(f"\nOne game, played greedily:\n{state}\n")
    for action in played.actions.tolist():
        state.apply(action)
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")
    if replay is not None:
        replace_file(replay, replay_html(state, title="A greedy game").encode())
        print(f"to step through it, open {replay}")
