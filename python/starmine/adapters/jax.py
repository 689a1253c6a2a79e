"""JAX: many games that are stepped inside `jit` and `lax.scan`, by ordered callbacks.

>>> import jax
>>> from starmine.adapters.jax import HanabiJaxEnv
>>> env = HanabiJaxEnv(8, players=2, autoreset_mode="SameStep")
>>> turn = env.reset(seed=0)
>>> turn = jax.jit(env.step)(turn.action_mask.argmax(axis=1))
>>> turn.obs.shape, turn.reward.shape
((8, 658), (8,))
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

import numpy as np

from starmine._core import ArrayError, StarmineError, Variant
from starmine._util.arrays import Array
from starmine._util.keywords import refuse_settings
from starmine.envs.layout import Layout
from starmine.envs.vector import HanabiVectorEnv

try:
    import jax
    from jax import numpy as jnp
    from jax.experimental import io_callback
except ImportError as _missing:
    raise ImportError("starmine.adapters.jax needs JAX: install starmine with the extra jax") from _missing


class Turn(NamedTuple):
    """What a reset or a step leads to: arrays of N games.

    Attributes:
        obs: (N, D) or (N, players, D), the observations, in the dtype of the environment.
        action_mask: bool (N, A), the legal actions of the seat to act.
        reward: float32 (N,), the team's; 0 after a reset.
        terminated: bool (N,), the games that ended in this step.
        truncated: bool (N,), all False.
        current_player: int32 (N,), the seat to act.
        score: int32 (N,), the score so far.
        final_score: int32 (N,), the score of the games that ended in this step, else 0.
        final_length: int32 (N,), the number of turns of these games, else 0.
        final_ending: int8 (N,), how these games ended, `starmine.endings()[k - 1]` for code k, else 0.
        illegal_action: bool (N,), whether an illegal action ended the game in this step.
    """

    obs: jax.Array
    action_mask: jax.Array
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    current_player: jax.Array
    score: jax.Array
    final_score: jax.Array
    final_length: jax.Array
    final_ending: jax.Array
    illegal_action: jax.Array


def seed_words(key: jax.Array) -> jax.Array:
    """The two halves of a 64-bit seed that a key of `jax.random` draws: uint32 (2,), the upper half first."""
    words: jax.Array = jax.random.bits(key, (2,), jnp.uint32)
    return words


def call_host(host: Callable[..., Any], returned: Any, *given: Any) -> Any:
    """Call a function on the host: inside of compiled code once, in the order of the program, and never left out.

    Args:
        host: gets the values of `given` as arrays of numpy, and returns arrays of numpy.
        returned: the shapes and dtypes of what it returns, a tree of `jax.ShapeDtypeStruct`.
        *given: trees of JAX's arrays.
    """
    return io_callback(lambda *given: host(*jax.tree.map(np.asarray, given)), returned, *given, ordered=True)


def joined(words: Array) -> Array:
    """The 64-bit seeds of halves (..., 2): uint64 (...)."""
    high, low = np.moveaxis(np.asarray(words, dtype=np.uint64), -1, 0)
    seeds: Array = high << np.uint64(32) | low
    return seeds


class HanabiJaxEnv:
    """Many games for JAX, in each of which the seat whose turn it is acts: one policy plays all seats.

    The games live on the host, outside of JAX's arrays. `reset` and `step` are ordered callbacks: inside `jit` and
    `lax.scan` they run once each, in the order of the program, and never again when compiled code is reused. JAX has
    no `vmap` for ordered callbacks, and these games need none: they are stepped together. A differentiated function
    may not contain a step.

    An error inside of compiled code reaches the caller as JAX's `JaxRuntimeError`, whose text has the message that
    the core gave, such as which games got an illegal action.

    Args:
        num_envs: number of games N, at least 1.
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        autoreset_mode: "SameStep", "NextStep" or "Disabled", as in `HanabiVectorEnv`; it has no default. With
            "SameStep" the last observation of an episode is not returned.
        dtype: as in `HanabiVectorEnv`. `jnp.unpackbits(turn.obs, axis=-1, count=D, bitorder="little")` unpacks
            "bits" inside `jit`, so that fewer bytes are moved.
        **settings: of `HanabiVectorEnv`, and parameters of the variant to change, such as `players=4`. `extra_outputs`
            and `render_mode` are not allowed, since a `Turn` holds neither.

    Raises:
        UnknownNameError, VariantError, TypeError: as `HanabiVectorEnv`.
        StarmineError: as `HanabiVectorEnv`, and for the two settings that are not allowed.
    """

    def __init__(
        self, num_envs: int = 1, variant: str | Variant = "standard", *, autoreset_mode: Any, **settings: Any
    ) -> None:
        refuse_settings(settings, ("extra_outputs", "render_mode"), "a Turn does not hold it")
        self._env = HanabiVectorEnv(num_envs, variant, autoreset_mode=autoreset_mode, **settings)
        self.variant: Variant = self._env.variant
        self.num_envs = num_envs
        outputs = self._env._batch.allocate()
        self.shapes = Turn(*(jax.ShapeDtypeStruct(outputs[name].shape, outputs[name].dtype) for name in Turn._fields))

    @property
    def layout(self) -> Layout:
        """The named sections of an observation."""
        return self._env.layout

    def reset(self, seed: Any = None, *, reset_mask: Any = None, decks: Any = None, start_players: Any = None) -> Turn:
        """Deal games anew.

        Args:
            seed: an integer or a key of `jax.random` seeds the batch, so that game i in episode k follows from
                (seed, i, k); N integers or N keys seed each game; None deals each game's next episode. Arrays of
                JAX are keys, since they may be unknown until the compiled code runs.
            reset_mask: bool (N,), the games to deal anew; None for all. A mask without any game deals none.
            decks: uint8 (N, deck_size), the decks to deal, as in `Batch.reset`.
            start_players: uint8 (N,), the seats that start with these decks.

        Raises:
            ArrayError: an array of another shape or dtype.
            StarmineError: a seed out of range.
            TypeError: a seed that is neither an integer nor a key.
            JaxRuntimeError: what only the values show, such as a deck that is not the variant's.
        """
        given: dict[str, Any] = {}
        if seed is not None:
            given["words"] = self._words(seed)
        if reset_mask is not None:
            given["reset_mask"] = self._checked("reset_mask", reset_mask, (self.num_envs,), np.bool_)
        if decks is not None:
            given["decks"] = self._checked("decks", decks, (self.num_envs, self.variant.deck_size), np.uint8)
        if start_players is not None:
            given["start_players"] = self._checked("start_players", start_players, (self.num_envs,), np.uint8)
        turn: Turn = call_host(self.reset_on_host, self.shapes, given)
        return turn

    def step(self, actions: Any) -> Turn:
        """Play one turn in every game.

        Args:
            actions: N integers.

        Raises:
            ArrayError: actions of another shape or dtype.
            JaxRuntimeError: an action that the rules refuse, with the text of `IllegalActionError`; no game has
                moved.
        """
        actions = self._checked("actions", actions, (self.num_envs,), np.integer)
        turn: Turn = call_host(self.step_on_host, self.shapes, actions)
        return turn

    @staticmethod
    def _checked(name: str, given: Any, shape: tuple[int, ...], kind: Any) -> jax.Array:
        if not isinstance(given, jax.Array) and np.asarray(given).dtype.kind in "iu":
            given = np.asarray(given)
            if kind is np.integer:
                given = given.clip(-1, 2**31 - 1)  # JAX would take the lower 32 bits of a larger number
        array = jnp.asarray(given)
        if array.shape != shape or not jnp.issubdtype(array.dtype, kind):
            wanted = {np.bool_: "bool", np.uint8: "uint8"}.get(kind, "integers")
            raise ArrayError(f"{name} is {array.dtype} {array.shape}: expected {wanted} {shape}")
        return array

    def _words(self, seed: Any) -> jax.Array:
        """The halves of the batch's seed, uint32 (2,), or of all games' seeds, uint32 (N, 2)."""
        if not isinstance(seed, jax.Array):
            return jnp.asarray(_halves(seed, self.num_envs))
        typed = jnp.issubdtype(seed.dtype, jax.dtypes.prng_key)
        shape = seed.shape if typed else seed.shape[:-1]
        raw = seed.dtype == jnp.uint32 and seed.ndim > 0
        if not typed and not raw:
            raise TypeError(f"seed is {seed.dtype} {seed.shape}: expected an integer of Python or a key of jax.random")
        if shape == ():
            return seed_words(seed)
        if shape != (self.num_envs,):
            raise ArrayError(f"seed has keys of shape {shape}: expected one key, or ({self.num_envs},)")
        words: jax.Array = jax.vmap(seed_words)(seed)
        return words

    def reset_on_host(self, given: dict[str, Array]) -> Turn:
        """The host's side of `reset`: its arguments, with the halves of the seeds as `words`."""
        mask, decks, starts = (given.get(name) for name in ("reset_mask", "decks", "start_players"))
        seed: Any = joined(given["words"]) if "words" in given else None
        seed = int(seed) if seed is not None and seed.ndim == 0 else seed
        none = mask is not None and not mask.any()
        out = self._env._observe() if none else self._env._deal(seed, mask, decks, starts)
        return Turn(*(out[name] for name in Turn._fields))

    def step_on_host(self, actions: Array) -> Turn:
        """The host's side of `step`."""
        out = self._env._play(actions)
        return Turn(*(out[name] for name in Turn._fields))

    def __repr__(self) -> str:
        return f"HanabiJaxEnv(num_envs={self.num_envs}, variant={self.variant!r})"


def _halves(seed: Any, games: int) -> Array:
    """The halves of an integer, uint32 (2,), or of one for each game, uint32 (N, 2).

    Raises:
        ArrayError: another number of integers.
        StarmineError: an integer that is not 0 to 2**64 - 1.
        TypeError: no integers.
    """
    if np.ndim(seed) > 0:
        if np.shape(seed) != (games,):
            raise ArrayError(f"seed has shape {np.shape(seed)}: expected one integer, or ({games},)")
        return np.stack([_halves(one, games) for one in seed])
    if isinstance(seed, bool | np.bool_):
        raise TypeError(f"seed={seed!r} is not allowed: expected an integer or a key of jax.random")
    try:
        number = index(seed.item() if isinstance(seed, np.ndarray) else seed)
    except TypeError:
        raise TypeError(f"seed={seed!r} is not allowed: expected an integer or a key of jax.random") from None
    if not 0 <= number < 2**64:
        raise StarmineError(f"seed={seed!r} is not allowed: expected 0 to 2**64 - 1")
    return np.array([number >> 32, number & 0xFFFFFFFF], dtype=np.uint32)
