"""What is promised to stay as it is, computed by the code as it stands: for the golden files in tests/data/compat."""

import zlib

import numpy as np

import starmine

SEEDS = (0, 7, 2**64 - 1)
PLAYERS = (2, 3, 4, 5)
DTYPES = ("uint8", "float32", "float16", "bits")
BATCHES = ("standard 2", "standard 5", "avalanche 3", "random start 3")
OUTPUTS = ("obs", "action_mask", "reward", "terminated", "score")
PARTNERS = {"batch": None, "batch-partners": {1: "smart"}}


def variants():
    """Every preset with every number of players that it allows, by a text, and one with a random start player."""
    found = {}
    for name in starmine.variants():
        for players in PLAYERS:
            try:
                found[f"{name} {players}"] = starmine.variant(name, players=players)
            except starmine.VariantError:
                continue
    return found | {"random start 3": starmine.Variant(players=3, random_start_player=True)}


def played_game(variant, seed):
    """A game by a fixed choice of actions: its deal, actions, results, and a checksum of each encoder's rows."""
    state = variant.new_game(seed=seed)
    sums = dict.fromkeys(starmine.encoders(), 0)
    hands = [" ".join(str(card) for card in hand) for hand in state.hands]
    start, actions, rewards = state.current_player, [], []
    while not state.is_terminal:
        for encoder in sums:
            for seat in range(variant.players):
                sums[encoder] = zlib.crc32(state.encode(seat, encoder=encoder).tobytes(), sums[encoder])
        legal = state.legal_actions()
        actions.append(int(legal[(5 * len(actions) + seed) % len(legal)]))
        rewards.append(int(state.apply(actions[-1])))
    return {
        **{"seed": seed, "start": start, "hands": hands, "actions": actions, "rewards": rewards},
        **{"score": state.score, "ending": state.ending, "observations": sums},
    }


def batch_sums(variant, dtype):
    """Checksums of the outputs of a batch over 100 steps, in which games end and are dealt anew."""
    batch = starmine.Batch(variant, num_envs=16, seed=11, dtype=dtype)
    return played_on(batch, 100)


def played_on(batch, steps):
    """A checksum of each output over some steps of legal actions that differ from step to step."""
    buffers, mask = batch.allocate(), batch.observe()["action_mask"]
    sums = dict.fromkeys(OUTPUTS, 0)
    for step in range(steps):
        actions = (np.roll(mask, -step, axis=1).argmax(axis=1) + step) % mask.shape[1]
        batch.step_into(actions, **buffers)
        mask = buffers["action_mask"]
        for output in sums:
            sums[output] = zlib.crc32(buffers[output].tobytes(), sums[output])
    return sums


def action_meanings(variant):
    """What each action id means."""
    return [variant.action_meaning(action) for action in range(variant.num_actions)]


def sections(variant, encoder):
    """The sections of an encoder's observations: name, first feature and shape."""
    return [[part.name, part.slice.start, list(part.shape)] for part in variant.layout(encoder)]


def halfway():
    """A game in progress."""
    state = variants()["avalanche 3"].new_game(seed=3)
    for turn in range(12):
        legal = state.legal_actions()
        state.apply(int(legal[7 * turn % len(legal)]))
    return state


def batch_halfway(partners):
    """A batch in progress, some of whose games are of a later episode."""
    batch = starmine.Batch(variants()["standard 2"], num_envs=4, seed=5, partners=partners)
    played_on(batch, 40)
    return batch


def policy_outputs(policy):
    """The logits and values of a policy for the first turns of games, as numbers that JSON keeps exactly."""
    batch = starmine.Batch(policy.variant, num_envs=4, seed=9, dtype="uint8", encoder=policy.encoder)
    played_on(batch, 5)
    logits, values, _ = policy.logits(batch.observe()["obs"])
    return {"logits": logits.astype(float).tolist(), "values": values.astype(float).tolist()}
