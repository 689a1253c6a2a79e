"""MAPPO on one page: what the critic sees, which seats count, its advantages, and that it trains and plays."""

import re

import numpy as np
import pytest

import starmine

torch = pytest.importorskip("torch")

import mappo  # noqa: E402


@pytest.mark.parametrize("players", [2, 4])
def test_it_trains_evaluates_and_returns_a_policy_that_plays(players, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(mappo, "MINIBATCH", 64)
    policy = mappo.main(updates=10, num_envs=8, games=20, players=players)
    printed = capsys.readouterr().out
    assert re.search(r"^update  10,     1,280 turns: score +\d+\.\d\d$", printed, re.MULTILINE)
    assert f"standard, players={players}, decks" in printed
    policy.save(tmp_path / "policy.safetensors")
    games = starmine.play_games([starmine.load_policy(tmp_path / "policy.safetensors"), *[policy] * (players - 1)], 4)
    assert (games.endings > 0).all()


def test_another_seed_has_other_weights_and_decks():
    one, other = mappo.MAPPO(8, seed=1), mappo.MAPPO(8, seed=2)
    assert (one.policy.trunk.weight != other.policy.trunk.weight).any()
    assert (one.bits != other.bits).any()


@pytest.mark.parametrize("seed", [0, 2**32, starmine.games.EVALUATION_SEED])
def test_it_does_not_train_on_the_decks_of_evaluations(seed):
    with pytest.raises(starmine.StarmineError):
        mappo.MAPPO(8, seed=seed)


def test_an_update_changes_the_weights_of_both_networks():
    trainer = mappo.MAPPO(32)
    before = [parameter.clone() for parameter in trainer.parameters]
    last_value, _ = trainer.collect()
    trainer.learn(trainer.advantages(last_value))
    changed = [bool((old != new).any()) for old, new in zip(before, trainer.parameters, strict=True)]
    critic = len(list(trainer.critic.parameters()))
    assert all(changed[-critic:])
    assert any(changed[:-critic])


def test_the_critic_sees_each_seats_observation_and_own_cards():
    trainer = mappo.MAPPO(3, players=4)
    world = trainer.worlds()
    for game in range(3):
        state = trainer.env.variant.new_game(seed=1, game=game)
        for seat, hand in enumerate(state.hands):
            row = np.asarray(state.encode(seat), dtype=np.uint8)
            bits = np.packbits(np.pad(row, (0, -len(row) % 64)), bitorder="little")
            expected = trainer.policy.read(bits[None])[0]
            assert torch.equal(world[game, seat, : trainer.seen], expected)
            cards = world[game, seat, trainer.seen :].view(len(hand), -1).argmax(1) - 1
            assert cards.tolist() == [card.suit * 5 + card.rank for card in hand]


def test_one_seat_of_each_game_acts_in_each_turn():
    trainer = mappo.MAPPO(8)
    trainer.collect()
    assert (trainer.acting.sum(2) == 1).all()
    started = ~trainer.terminated[:-1].bool()  # where the game goes on, the next seat acts
    assert torch.equal(trainer.acting[1:][started], trainer.acting[:-1].roll(1, dims=2)[started])


def test_the_policy_does_not_see_what_the_critic_sees():
    """Own cards change the values and nothing else."""
    trainer = mappo.MAPPO(16)
    world = trainer.worlds()
    other = world.clone()
    other[..., trainer.seen :] = other[..., trainer.seen :].roll(1, dims=2)
    assert (trainer.critic(world) != trainer.critic(other)).any()
    trainer.collect()
    before = trainer.log_prob.clone()
    again = mappo.MAPPO(16)
    worlds = again.worlds
    again.worlds = lambda: worlds() * (torch.arange(world.shape[2]) < again.seen)
    again.collect()
    assert torch.equal(again.log_prob, before)


def test_advantages_are_discounted_sums_of_differences_for_each_seat():
    trainer, generator = mappo.MAPPO(5), torch.Generator().manual_seed(0)
    trainer.value[:], trainer.reward[:] = (
        torch.rand(array.shape, generator=generator) for array in (trainer.value, trainer.reward)
    )
    trainer.terminated[:] = torch.rand(trainer.terminated.shape, generator=generator) < 0.3
    last_value = torch.rand(5, trainer.value.shape[2], generator=generator)
    found = trainer.advantages(last_value)
    values = torch.cat([trainer.value, last_value[None]]).double()
    steps, games, seats = trainer.value.shape
    for game, seat, start in np.ndindex(games, seats, steps):
        expected, weight = 0.0, 1.0
        for step in range(start, steps):
            discount = mappo.GAMMA * (1 - trainer.terminated[step, game].item())
            change = discount * values[step + 1, game, seat] - values[step, game, seat]
            expected += weight * (trainer.reward[step, game] + change)
            weight *= discount * mappo.LAMBDA
        assert found[start, game, seat].item() == pytest.approx(expected.item(), abs=1e-5)
