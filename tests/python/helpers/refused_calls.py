"""Settings, actions, buffers, seeds and masks that batches and environments refuse."""

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from hostile_arrays import misaligned, read_only
from refusals import FEATURES, GAMES, HUGE, row

import starmine
from starmine import (
    ArrayError,
    Batch,
    HanabiEnv,
    HanabiVectorEnv,
    IllegalActionError,
    NotationError,
    StarmineError,
    UnknownNameError,
    Variant,
    VariantError,
)


def obs(*shape, dtype=np.float32, **settings):
    return np.zeros(shape or (GAMES, FEATURES), dtype, **settings)


def setting_rows():
    """Settings that `Batch`, `HanabiVectorEnv` and, where it has them, `HanabiEnv` refuse alike."""
    settings = [
        ("encoder", "nope", UnknownNameError, ['encoder="nope"', "canonical", "canonical-seer"]),
        ("encoder", 5, TypeError, ["encoder", "str"]),
        ("dtype", "float64", UnknownNameError, ['dtype="float64"', "float32", "float16", "uint8", "bits"]),
        ("dtype", None, TypeError, ["dtype", "str"]),
        ("observers", "none", UnknownNameError, ['observers="none"', "current", "all"]),
        ("observers", 2, TypeError, ["observers", "str"]),
        ("illegal_action", "ignore", UnknownNameError, ['illegal_action="ignore"', "raise", "terminate"]),
        ("illegal_action", False, TypeError, ["illegal_action", "str"]),
        ("seed", -1, StarmineError, ["seed=-1", "0 to 2**64 - 1"]),
        ("seed", 2**64, StarmineError, [f"seed={2**64}", "0 to 2**64 - 1"]),
        ("seed", HUGE, StarmineError, [f"seed={HUGE}", "0 to 2**64 - 1"]),
        ("seed", 1.5, TypeError, ["seed", "float"]),
        ("seed", "x", TypeError, ["seed", "str"]),
    ]
    vector_settings = [
        ("autoreset_mode", "sometimes", UnknownNameError, ['"sometimes"', "SameStep", "NextStep", "Disabled"]),
        ("autoreset_mode", 3, TypeError, ["autoreset_mode", "int"]),
        ("num_threads", 0, StarmineError, ["num_threads=0", "1 to 1024"]),
        ("num_threads", -1, StarmineError, ["num_threads=-1", "1 to 1024"]),
        ("num_threads", 1025, StarmineError, ["num_threads=1025", "1 to 1024"]),
        ("num_threads", HUGE, StarmineError, ["num_threads", str(HUGE)]),
        ("num_threads", 1.5, TypeError, ["num_threads", "float"]),
    ]
    for name, value, error, fragments in settings + vector_settings:
        chosen = {name: value}
        yield row(f"Batch {name}={value!r}", lambda t, c=chosen: Batch(t.variant, 2, **c), error, *fragments)
        yield row(f"vector {name}={value!r}", lambda t, c=chosen: HanabiVectorEnv(2, **c), error, *fragments)
    for name, value, error, fragments in settings:
        yield row(f"single {name}={value!r}", lambda t, c={name: value}: HanabiEnv(**c), error, *fragments)
    for value, error, fragments in [
        (0, StarmineError, ["num_envs=0", "1 to"]),
        (-1, StarmineError, ["num_envs=-1", "1 to"]),
        (10**12, StarmineError, [f"num_envs={10**12}", "1 to"]),
        (HUGE, StarmineError, ["num_envs", str(HUGE)]),
        (2.0, TypeError, ["num_envs", "float"]),
        ("2", TypeError, ["num_envs", "str"]),
    ]:
        yield row(f"Batch num_envs={value!r}", lambda t, n=value: Batch(t.variant, n), error, *fragments)
        yield row(f"vector num_envs={value!r}", lambda t, n=value: HanabiVectorEnv(n), error, *fragments)


ENVIRONMENT_ROWS = [
    row("Batch variant", lambda t: Batch("nope", 2), UnknownNameError, '"nope"', "standard"),
    row("vector variant", lambda t: HanabiVectorEnv(2, "nope"), UnknownNameError, '"nope"', "standard"),
    row("single variant", lambda t: HanabiEnv("nope"), UnknownNameError, '"nope"', "standard"),
    row("Batch variant 5", lambda t: Batch(5, 2), VariantError, "variant=5", "preset's name"),
    row("vector variant 5", lambda t: HanabiVectorEnv(2, 5), VariantError, "variant=5", "preset's name"),
    row("single variant 5", lambda t: HanabiEnv(5), VariantError, "variant=5", "preset's name"),
    row("vector players", lambda t: HanabiVectorEnv(2, players=9), VariantError, "players=9", "2 to 5"),
    row("vector plyers", lambda t: HanabiVectorEnv(2, plyers=3), TypeError, "plyers"),
    row("single plyers", lambda t: HanabiEnv(plyers=3), TypeError, "plyers"),
    row(
        "vector render",
        lambda t: HanabiVectorEnv(2, render_mode="ansi"),
        StarmineError,
        "render_mode='ansi'",
        "rgb_array",
    ),
    row("single render", lambda t: HanabiEnv(render_mode="x"), StarmineError, "render_mode='x'", "ansi", "human"),
    row("no render mode", lambda t: t.single.render(), StarmineError, "render_mode=None", "ansi"),
    row("render first", lambda t: HanabiEnv(render_mode="ansi").render(), ResetNeeded, "call reset first"),
    row("vector step first", lambda t: HanabiVectorEnv(2).step([5, 5]), ResetNeeded, "call reset first"),
    row("single step first", lambda t: HanabiEnv().step(5), ResetNeeded, "call reset first"),
    row("closed step", lambda t: t.closed.step(t.actions), ClosedEnvironmentError, "closed"),
    row("closed reset", lambda t: t.closed.reset(), ClosedEnvironmentError, "closed"),
    row("closed reset seed", lambda t: t.closed.reset(seed=1), ClosedEnvironmentError, "closed"),
    row("options 5", lambda t: t.env.reset(options=5), TypeError, "options", "5"),
    row("single float", lambda t: t.single.step(5.0), ArrayError, "float64", "a single integer"),
    row("single bool", lambda t: t.single.step(True), ArrayError, "bool", "a single integer"),
    row("single None", lambda t: t.single.step(None), ArrayError, "action is a NoneType", "a single integer"),
    row("single text", lambda t: t.single.step("5"), NotationError, '"5"', "play 2"),
    row("single two", lambda t: t.single.step([5, 5]), ArrayError, "shape", "2"),
    row("single none", lambda t: t.single.step([]), ArrayError, "shape", "0"),
    row(
        "single illegal",
        lambda t: t.single.step(99),
        IllegalActionError,
        "99",
        "5 (play slot 0), 6 (",
    ),
    row("single seed", lambda t: t.single.reset(seed=-1), StarmineError, "seed=-1", "0 to 2**64 - 1"),
    row("single seed text", lambda t: t.single.reset(seed="x"), TypeError, "seed", "str"),
]


class NoArray:
    """Says that it has DLPack and has not."""

    def __dlpack__(self, **settings):
        raise BufferError("no memory here")

    def __dlpack_device__(self):
        return (1, 0)


def hle_rows():
    """HLE's names are answered with ours."""
    names = {
        "Hanabi-Full": '"standard"',
        "Hanabi-Full-Minimal": 'encoder="canonical-minimal"',
        "Hanabi-Small": '"small"',
    }
    calls = {
        "preset": starmine.variant,
        "vector": lambda name: HanabiVectorEnv(2, name),
        "single": HanabiEnv,
        "registered": lambda name: gymnasium.make("starmine:Starmine/Hanabi-v0", variant=name),
        "registered vector": lambda name: gymnasium.make_vec("starmine:Starmine/Hanabi-v0", num_envs=2, variant=name),
        "played": lambda name: starmine.play_games(["smart", "smart"], games=1, variant=name),
        "evaluated": lambda name: starmine.evaluate(["smart"], games=1, variant=name),
    }
    for name, ours in names.items():
        for what, call in calls.items():
            fragments = (f"variant='{name}' is HLE's name", ours, "starmine.hle.variant")
            yield row(f"{what} {name}", lambda t, c=call, n=name: c(n), UnknownNameError, *fragments)
        ours = '"standard"' if "Full" in name else '"small"'
        for what, call in (
            ("Batch", lambda name: Batch(name, 2)),
            ("bot", lambda name: starmine.make_bot("smart", name)),
        ):
            yield row(f"{what} {name}", lambda t, c=call, n=name: c(n), UnknownNameError, f"did you mean {ours}?")
    kinds = {
        "Batch": lambda **kind: Batch("standard", 2, **kind),
        "Variant": Variant,
        "preset": lambda **kind: starmine.variant("small", **kind),
        "vector": lambda **kind: HanabiVectorEnv(2, **kind),
        "single": HanabiEnv,
    }
    for what, call in kinds.items():
        fragments = ("'observation_type'", "encoder='canonical-minimal', 'canonical' or 'canonical-seer'")
        yield row(f"{what} observation_type", lambda t, c=call: c(observation_type=1), TypeError, *fragments)


def action_rows():
    """Actions that `Batch.step`, `Batch.step_into` and `HanabiVectorEnv.step` refuse alike."""
    cases = [
        ("short", lambda: np.full(3, 5), ArrayError, ["[3]", "expected [4]"]),
        ("long", lambda: [5] * 5, ArrayError, ["[5]", "expected [4]"]),
        ("empty", lambda: [], ArrayError, ["[0]", "expected [4]"]),
        ("two axes", lambda: np.full((4, 1), 5), ArrayError, ["[4, 1]", "expected [4]"]),
        ("scalar", lambda: 5, ArrayError, ["[]", "expected [4]"]),
        ("None", lambda: None, ArrayError, ["actions is a NoneType", "an array of integers"]),
        ("text", lambda: "5555", ArrayError, ["actions", "expected [4]"]),
        ("texts", lambda: ["5"] * 4, ArrayError, ["<U1", "integers"]),
        ("dict", lambda: {0: 5}, ArrayError, ["actions is a dict", "an array of integers"]),
        ("ragged", lambda: [[5], [5, 5], 5, 5], ArrayError, ["actions", "array"]),
        ("float", lambda: np.full(4, 5.0), ArrayError, ["float64", "integers"]),
        ("float list", lambda: [5.0] * 4, ArrayError, ["float64", "integers"]),
        ("nan", lambda: np.full(4, np.nan, np.float32), ArrayError, ["float32", "integers"]),
        ("bool", lambda: np.ones(4, bool), ArrayError, ["bool", "integers"]),
        ("bool list", lambda: [True] * 4, ArrayError, ["bool", "integers"]),
        ("object", lambda: np.array([5, 5, 5, None]), ArrayError, ["object", "integers"]),
        ("huge", lambda: [HUGE] * 4, ArrayError, ["object", "integers"]),
        ("complex", lambda: np.full(4, 5j), ArrayError, ["complex128", "integers"]),
        ("date", lambda: np.full(4, 5, "m8[s]"), ArrayError, ["timedelta64", "integers"]),
        ("record", lambda: np.zeros(4, [("a", "i4")]), ArrayError, ["i4", "integers"]),
        ("no array", NoArray, ArrayError, ["actions", "no memory here"]),
        ("illegal", lambda: [5, 0, 5, 0], IllegalActionError, ["actions[1]=0", "actions[3]=0", "5 (play slot 0), 6 ("]),
        ("out of range", lambda: [5, 5, 20, 5], IllegalActionError, ["actions[2]=20", "5 (play slot 0), 6 ("]),
        ("negative", lambda: [5, 5, 5, -1], IllegalActionError, ["actions[3]=-1", "5 (play slot 0), 6 ("]),
        ("int64", lambda: [5, 5, 5, -(2**63)], IllegalActionError, [f"actions[3]={-(2**63)}", "5 (play slot 0), 6 ("]),
        ("uint64", lambda: np.full(4, 2**63, np.uint64), ArrayError, [f"actions has {2**63}", "2**63 - 1"]),
    ]
    for name, actions, error, fragments in cases:
        yield row(f"step {name}", lambda t, a=actions: t.batch.step(a()), error, *fragments)
        yield row(f"step_into {name}", lambda t, a=actions: t.batch.step_into(a()), error, *fragments)
        yield row(f"vector step {name}", lambda t, a=actions: t.env.step(a()), error, *fragments)
    yield row("after the end", lambda t: t.ended.step(t.actions), IllegalActionError, "actions[1]=5", "game 1 is over")
    yield row("no actions", lambda t: t.batch.step(), TypeError, "actions")


def buffer_rows():
    """Buffers that `step_into` and `reset_into` refuse alike."""
    shared = np.zeros(GAMES * FEATURES, np.float32)
    one = np.zeros(GAMES, np.float32)
    cases = [
        ("list", lambda: {"obs": [[0.0] * FEATURES] * GAMES}, ArrayError, ["obs", "list", "numpy array"]),
        ("torch-like", lambda: {"obs": NoArray()}, ArrayError, ["obs", "NoArray", "numpy array"]),
        ("rows", lambda: {"obs": obs(3, FEATURES)}, ArrayError, ["obs", "[3, 658]", "[4, 658]"]),
        ("flat", lambda: {"obs": obs(GAMES * FEATURES)}, ArrayError, ["obs", "[2632]", "[4, 658]"]),
        ("axis", lambda: {"obs": obs(1, GAMES, FEATURES)}, ArrayError, ["obs", "[1, 4, 658]", "[4, 658]"]),
        (
            "mask shape",
            lambda: {"action_mask": obs(4, 19, dtype=bool)},
            ArrayError,
            ["action_mask", "[4, 19]", "[4, 20]"],
        ),
        ("scalar", lambda: {"reward": np.zeros((), np.float32)}, ArrayError, ["reward", "[]", "[4]"]),
        ("obs float64", lambda: {"obs": obs(dtype=np.float64)}, ArrayError, ["obs", "float64", "float32"]),
        ("obs int32", lambda: {"obs": obs(dtype=np.int32)}, ArrayError, ["obs", "int32", "float32"]),
        ("obs object", lambda: {"obs": obs(dtype=object)}, ArrayError, ["obs", "object", "float32"]),
        (
            "mask uint8",
            lambda: {"action_mask": obs(4, 20, dtype=np.uint8)},
            ArrayError,
            ["action_mask", "uint8", "bool"],
        ),
        ("reward float64", lambda: {"reward": np.zeros(4)}, ArrayError, ["reward", "float64", "float32"]),
        ("score int64", lambda: {"score": np.zeros(4, np.int64)}, ArrayError, ["score", "int64", "int32"]),
        ("byte order", lambda: {"reward": np.zeros(4, ">f4")}, ArrayError, ["reward", ">f4", "float32"]),
        ("obs byte order", lambda: {"obs": obs(dtype=">f4")}, ArrayError, ["obs", ">f4", "float32"]),
        ("read-only", lambda: {"obs": read_only(obs())}, ArrayError, ["obs", "read-only", "writable"]),
        ("reward read-only", lambda: {"reward": read_only(obs(4))}, ArrayError, ["reward", "read-only", "writable"]),
        ("Fortran", lambda: {"obs": obs(order="F")}, ArrayError, ["obs", "not contiguous", "C order"]),
        ("every other", lambda: {"obs": obs(GAMES, 2 * FEATURES)[:, ::2]}, ArrayError, ["obs", "not contiguous"]),
        ("backwards", lambda: {"reward": obs(4)[::-1]}, ArrayError, ["reward", "not contiguous"]),
        ("one for all", lambda: {"reward": np.broadcast_to(obs(1), 4)}, ArrayError, ["reward"]),
        ("misaligned", lambda: {"reward": misaligned(4, np.float32)}, ArrayError, ["reward", "not aligned"]),
        ("obs misaligned", lambda: {"obs": misaligned((4, FEATURES), np.float32)}, ArrayError, ["not aligned"]),
        (
            "twice",
            lambda: {"terminated": (a := np.zeros(4, bool)), "truncated": a},
            ArrayError,
            ["truncated", "overlaps"],
        ),
        (
            "obs and mask",
            lambda: {"obs": shared.reshape(4, FEATURES), "action_mask": shared[:20].view(bool).reshape(4, 20)},
            ArrayError,
            ["action_mask", "overlaps", "separate memory"],
        ),
        (
            "obs and its tail",
            lambda: {"obs": shared.reshape(4, FEATURES), "reward": shared[-4:]},
            ArrayError,
            ["reward", "overlaps", "separate memory"],
        ),
        *overlap_cases(one),
        ("unknown name", lambda: {"observation": obs()}, TypeError, ["unexpected keyword", "'observation'"]),
        ("unknown None", lambda: {"rewards": None}, TypeError, ["unexpected keyword", "'rewards'"]),
        ("good and bad", lambda: {"reward": obs(4), "score": obs(4)}, ArrayError, ["score", "float32", "int32"]),
    ]
    for name, buffers, error, fragments in cases:
        yield row(f"step_into buffer {name}", lambda t, b=buffers: t.into(**b()), error, *fragments)
        yield row(f"reset_into buffer {name}", lambda t, b=buffers: t.batch.reset_into(7, **b()), error, *fragments)


def overlap_cases(memory):
    """Two arrays over one memory that do not share an owner that numpy knows of."""
    raw = bytearray(4 * GAMES)
    strided = np.lib.stride_tricks.as_strided
    pairs = {
        "frombuffer": lambda: (np.frombuffer(raw, np.float32), np.frombuffer(raw, np.int32)),
        "as_strided": lambda: (strided(memory), strided(memory.view(np.int32))),
        "from_dlpack": lambda: (np.from_dlpack(memory), np.from_dlpack(memory.view(np.int32))),
        "ctypes": lambda: (memory, np.ctypeslib.as_array(memory.ctypes.data_as(INT32_POINTER), (GAMES,))),
    }
    if not np.from_dlpack(memory).flags.writeable:
        del pairs["from_dlpack"]  # numpy 1 reads DLPack only
    for name, pair in pairs.items():
        buffers = lambda pair=pair: dict(zip(("reward", "score"), pair(), strict=True))  # noqa: E731
        yield f"overlap {name}", buffers, ArrayError, ["score", "overlaps", "separate memory"]


INT32_POINTER = np.ctypeslib.ctypes.POINTER(np.ctypeslib.ctypes.c_int32)


def reset_rows():
    """Seeds and masks that `Batch.reset` and `HanabiVectorEnv.reset` refuse alike."""
    seeds = [
        ("-1", -1, StarmineError, ["seed=-1", "0 to 2**64 - 1"]),
        ("2**64", 2**64, StarmineError, [f"seed={2**64}", "0 to 2**64 - 1"]),
        ("float", 1.5, TypeError, ["seed", "float"]),
        ("text", "abcd", TypeError, ["seed", "str"]),
        ("short", [1, 2], ArrayError, ["seed", "2", "expected 4"]),
        ("long", [1] * 5, ArrayError, ["seed", "5", "expected 4"]),
        ("none", [], ArrayError, ["seed", "0", "expected 4"]),
        ("negative", [1, 2, 3, -1], StarmineError, ["-1", "0 to 2**64 - 1"]),
        ("too large", [1, 2, 3, 2**64], StarmineError, [str(2**64), "0 to 2**64 - 1"]),
        ("floats", np.arange(4.0), TypeError, ["seed", "float"]),
        ("one float", [1, 2, 3, 1.5], TypeError, ["seed", "float"]),
        ("two axes", np.zeros((4, 2), int), TypeError, ["seed"]),
    ]
    for name, seed, error, fragments in seeds:
        yield row(f"reset seed {name}", lambda t, s=seed: t.batch.reset(s), error, *fragments)
        yield row(f"vector reset seed {name}", lambda t, s=seed: t.env.reset(seed=s), error, *fragments)
    masks = [
        ("list", [True] * 4, ["reset_mask", "list", "numpy array"]),
        ("bool", True, ["reset_mask", "bool", "numpy array"]),
        ("short", np.ones(3, bool), ["reset_mask", "[3]", "expected [4]"]),
        ("two axes", np.ones((4, 1), bool), ["reset_mask", "[4, 1]", "expected [4]"]),
        ("int", np.ones(4, int), ["reset_mask", "int64", "bool"]),
        ("int8", np.ones(4, np.int8), ["reset_mask", "int8", "bool"]),
        ("float", np.ones(4), ["reset_mask", "float64", "bool"]),
        ("none", np.zeros(4, bool), ["reset_mask", "all False", "at least one"]),
    ]
    for name, mask, fragments in masks:
        options = {"reset_mask": mask}
        yield row(f"reset mask {name}", lambda t, m=mask: t.batch.reset(3, m), ArrayError, *fragments)
        yield row(f"vector reset mask {name}", lambda t, o=options: t.env.reset(options=o), ArrayError, *fragments)


ROWS = [*setting_rows(), *ENVIRONMENT_ROWS, *hle_rows(), *action_rows(), *buffer_rows(), *reset_rows()]
