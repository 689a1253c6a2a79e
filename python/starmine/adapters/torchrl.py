"""TorchRL: many games as one batched environment.

>>> from torchrl.envs import ActionMask, TransformedEnv
>>> from starmine.adapters.torchrl import HanabiTorchRLEnv
>>> env = TransformedEnv(HanabiTorchRLEnv(8, players=2), ActionMask())
>>> env.rollout(100, break_when_any_done=False)["next", "action_mask"].shape
torch.Size([8, 100, 20])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from starmine._core import Batch, StarmineError, Variant
from starmine._util.arrays import Array
from starmine._util.keywords import named_keywords, refuse_settings
from starmine.envs.vector import HanabiVectorEnv, observation_box
from starmine.games.seeds import game_seed

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as _missing:
    raise ImportError("starmine.adapters.torchrl needs TorchRL: pip install 'starmine[torchrl]'") from _missing


class HanabiTorchRLEnv(EnvBase):
    """Many games for TorchRL, in each of which the seat whose turn it is acts: one policy plays all seats.

    The batch size is [N]. Its keys:
        observation: (N, D) in the dtype of `dtype`, what the seat to act sees.
        action_mask: bool (N, A), its legal actions, for the transform `ActionMask`. After the end all are
            True, since TorchRL can draw from no empty mask.
        turn: int64 (N,), the seat to act.
        card_features, marginals, own_hand: the `extra_outputs`, if they are asked for, in the form of `Batch`.
        action: int64 (N,).
        reward: float32 (N, 1), the team's.
        done, terminated, truncated: bool (N, 1).

    Ended games are reset by the caller with `_reset`, as `rollout` and collectors do. All games step at once: one
    that `_step` leaves out must be over. With the transform `ActionMask`, `rollout` without a policy draws legal
    actions. `check_env_specs` of the bare environment, and collectors with `policy=None` or `RandomPolicy` even with
    `ActionMask`, draw without masks and need `illegal_action="terminate"`.

    Args:
        num_envs: number of games N, at least 1.
        variant: a `Variant`, or a preset's name.
        device: where the tensors are; the games stay on the CPU.
        **settings: those of `HanabiVectorEnv`, but for `autoreset_mode`, `observers` and `render_mode`, and parameters
            of the variant to change, such as `players=4`.

    Raises:
        StarmineError: a setting that is not allowed; otherwise as `HanabiVectorEnv`.
    """

    def __init__(self, num_envs: int = 1, variant: Any = "standard", *, device: Any = None, **settings: Any) -> None:
        refuse_settings(settings, ("autoreset_mode", "observers", "render_mode"), "TorchRL takes one form only")
        # Games that a step leaves out are over; "NextStep" lets them pass their end.
        self._games = HanabiVectorEnv(num_envs, variant, autoreset_mode="NextStep", **settings)
        self.variant: Variant = self._games.variant
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        self._next_seed: int | None = None
        self._over = np.ones(num_envs, dtype=bool)
        self._mask: Array | None = None
        self._make_specs()

    def _make_specs(self) -> None:
        count, actions, device = self.batch_size[0], self.variant.num_actions, self.device
        box = observation_box(self.batch)
        kind = torch.from_numpy(np.empty(0, dtype=box.dtype)).dtype
        self._extra = self.batch.extra_outputs
        found = self.batch.allocate()
        extra = {name: torch.from_numpy(found[name]) for name in self._extra}
        self.observation_spec = Composite(
            observation=Bounded(0, int(box.high.max()), shape=(count, *box.shape), dtype=kind, device=device),
            action_mask=Binary(actions, shape=(count, actions), dtype=torch.bool, device=device),
            turn=Categorical(self.variant.players, shape=(count,), dtype=torch.int64, device=device),
            **{name: Unbounded(array.shape, dtype=array.dtype, device=device) for name, array in extra.items()},
            shape=(count,),
            device=device,
        )
        self.action_spec = Categorical(actions, shape=(count,), dtype=torch.int64, device=device)
        self.reward_spec = Unbounded(shape=(count, 1), dtype=torch.float32, device=device)
        ends = {
            name: Categorical(2, shape=(count, 1), dtype=torch.bool, device=device)
            for name in ("done", "terminated", "truncated")
        }
        self.full_done_spec = Composite(**ends, shape=(count,), device=device)

    @property
    def batch(self) -> Batch:
        """The batch that holds the games."""
        return self._games.batch

    def _tensors(self, out: dict[str, Array], done: Array, reward: Array | None = None) -> TensorDict:
        """The outputs of the batch as TorchRL's entries; they share memory with new arrays, which nobody else has."""
        self._mask = out["action_mask"]
        entries = {
            "observation": torch.from_numpy(out["obs"]),
            "action_mask": torch.from_numpy(out["action_mask"] | done[:, None]),
            "turn": torch.from_numpy(out["current_player"]).long(),
            "done": torch.from_numpy(done[:, None].copy()),
            "terminated": torch.from_numpy(done[:, None].copy()),
            "truncated": torch.zeros(len(done), 1, dtype=torch.bool),
            **{name: torch.from_numpy(out[name]) for name in self._extra},
        }
        if reward is not None:
            entries["reward"] = torch.from_numpy(reward[:, None])
        result = TensorDict(entries, batch_size=self.batch_size)
        return result if self.device is None else result.to(self.device)

    @named_keywords
    def _reset(
        self,
        tensordict: TensorDictBase | None = None,
        *,
        seed: Any = None,
        decks: Any = None,
        start_players: Any = None,
    ) -> TensorDict:
        """Deals the games of `_reset`, or all, anew.

        Args:
            tensordict: None, or with `_reset`, bool (N, 1) or (N,).
            seed: as in `Batch.reset`; None for that of `set_seed` if it was called before, else the next episodes.
            decks: as in `Batch.reset`.
            start_players: as in `Batch.reset`.
        """
        given = None if tensordict is None else tensordict.get("_reset", None)
        mask = None if given is None or given.all() else given.reshape(self.batch_size).cpu().numpy()
        if mask is not None and not mask.any():
            return self._tensors(self._games._observe(), self._over)
        takes_seed = seed is None and mask is None
        out = self._games._deal(self._next_seed if takes_seed else seed, mask, decks, start_players)
        self._next_seed = None if takes_seed else self._next_seed
        self._over = self._over & ~mask if mask is not None else np.zeros_like(self._over)
        return self._tensors(out, self._over)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        """Plays one turn in every game.

        Raises:
            IllegalActionError: an action that the rules refuse; no game has moved.
            StarmineError: a game that is over and has not been reset, or one in play that is left out.
        """
        given = tensordict.get("_step", None)
        left_out = np.zeros_like(self._over) if given is None else ~given.reshape(self.batch_size).cpu().numpy()
        if (over := np.flatnonzero(self._over & ~left_out)).size:
            raise StarmineError(f"games {over[:8].tolist()} are over: reset them first")
        if (in_play := np.flatnonzero(left_out & ~self._over)).size:
            raise StarmineError(f"games {in_play[:8].tolist()} are in play: they cannot be left out of a step")
        actions = tensordict["action"].cpu().numpy()
        if left_out.any():
            assert self._mask is not None
            actions = np.where(left_out, self._mask.argmax(axis=1), actions)
        out = self._games._play(actions)
        reward = np.where(left_out, 0, out["reward"]) if left_out.any() else out["reward"]
        self._over = out["terminated"] | left_out
        return self._tensors(out, self._over, reward)

    def _set_seed(self, seed: int | None) -> None:
        """Seeds the batch at the next reset of all games: game i in episode k follows from (seed, i, k).

        Raises:
            StarmineError: a seed out of range.
            TypeError: a seed that is not an integer.
        """
        self._next_seed = game_seed(seed)

    def extra_repr(self) -> str:
        """The number of games and the variant, which PyTorch's `repr` of a module asks for."""
        return f"num_envs={self.batch_size[0]}, variant={self.variant!r}"
