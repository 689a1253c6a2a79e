"""Evaluation of policies on whole games."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, StarmineError, Variant
from starmine.durable import replace_file
from starmine.look import replay_html
from starmine.outcomes import defeats
from starmine.training.distributed import rank
from starmine.training.scores import Scores

Outputs: TypeAlias = dict[str, NDArray[Any]]
"""What `Batch.observe` and `Batch.step` return."""

Act: TypeAlias = Callable[[Outputs], NDArray[np.int64]]
"""Chooses actions int64 (N,) from "obs" uint8 (N, bytes), packed bits, "action_mask" bool (N, A), and "current_player"
(N,). It is called for all games in every turn, so that it may keep hidden states."""

EVALUATION_SEED = 2**32  # the first that `training_seed` refuses


def training_seed(seed: int) -> int:
    """The seed of this process's training games, apart from those of all other processes and of evaluations.

    Seed 0 deals the decks of `starmine eval`, 2**32 those of `evaluate_policy`; nothing trains on these, nor on those
    between 2**32 and 2**40.

    Args:
        seed: of the training run, 1 to 2**32 - 1.

    Raises:
        StarmineError: another seed.
    """
    if not 1 <= seed < EVALUATION_SEED:
        why = "evaluations play the decks of the others"
        raise StarmineError(f"seed={seed} is not allowed in training: expected 1 to {EVALUATION_SEED - 1:,}; {why}")
    return seed + (rank() << 40)


def partner_seats(partner: str | None, players: int) -> dict[int, str]:
    """The `partners` of a batch whose seats are all held by one bot, except seat 0; none without a partner."""
    return {} if partner is None else dict.fromkeys(range(1, players), partner)


def evaluate_policy(
    act: Act,
    variant: Variant,
    games: int,
    *,
    encoder: str = "canonical",
    partners: Mapping[int, str] | None = None,
    seed: int = EVALUATION_SEED,
) -> Scores:
    """Play each game to its end; the same seed deals the same games to every policy.

    Args:
        act: the policy, new at the start of all games.
        variant: the rules; what a lost game scores does not matter.
        games: number of games, N.
        encoder: of the policy's observations.
        partners: bots by seat; the policy plays all other seats.
        seed: of the games.

    Raises:
        StarmineError: an argument that `Batch` refuses.
        IllegalActionError: the policy chose an illegal action.
    """
    keeping = Variant(**variant.parameters() | {"lost_game_score": "fireworks"})
    batch = Batch(keeping, games, seed=seed, encoder=encoder, dtype="bits", partners=dict(partners or {}))
    outputs = batch.observe()
    kept, endings, running = np.zeros(games), np.zeros(games, np.int8), np.ones(games, np.bool_)
    while running.any():
        outputs = batch.step(act(outputs))
        ended = running & outputs["terminated"]  # only the first game of each environment counts
        kept[ended], endings[ended] = outputs["final_score"][ended], outputs["final_ending"][ended]
        running &= ~ended
    return Scores(kept, np.isin(endings, defeats()), kept == variant.max_score)


def random_policy(seed: int = EVALUATION_SEED) -> Act:
    """Plays uniformly random legal actions."""
    rng = np.random.default_rng(seed)
    return lambda outputs: (rng.random(outputs["action_mask"].shape) * outputs["action_mask"]).argmax(1)


def show_game(
    act: Act,
    variant: Variant,
    encoder: str = "canonical",
    seed: int = EVALUATION_SEED,
    *,
    replay: Path | None = None,
) -> None:
    """Print one game in which the policy plays all seats: a line a turn, with the table after it.

    Args:
        act: the policy.
        variant: the rules.
        encoder: of the policy's observations.
        seed: of the game.
        replay: where to write the game as a page to step through; None for no page.
    """
    state = Variant(**variant.parameters() | {"lost_game_score": "zero"}).new_game(seed=seed)
    print(f"\nOne game, played greedily:\n{state}\n")
    while not state.is_terminal:
        bits = np.packbits(state.encode(state.current_player, encoder=encoder), bitorder="little")
        obs = np.pad(bits, (0, -len(bits) % 8))[None]
        seat, mask = np.array([state.current_player]), state.legal_action_mask()[None]
        state.apply(int(act({"obs": obs, "action_mask": mask, "current_player": seat})[0]))
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")
    if replay is not None:
        replace_file(replay, replay_html(state, title="A greedy game").encode())
        print(f"to step through it, open {replay}")
