"""A recurrent policy for tests: a GRU with a hidden state for each seat of each game."""

import copy

import numpy as np
import torch


class Recurrent:
    """Plays by a random GRU whose hidden state is that of the row's game and seat."""

    def __init__(self, features, actions, seed=0, all_turns=False):
        generator = torch.Generator().manual_seed(seed)

        def weights(*shape):
            return torch.randn(shape, generator=generator)

        self.all_turns = all_turns
        self.cell, self.head = torch.nn.GRUCell(features, 16), torch.nn.Linear(16, actions)
        with torch.no_grad():
            for parameter in [*self.cell.parameters(), *self.head.parameters()]:
                parameter.copy_(weights(*parameter.shape))
        self.hidden = {}

    def session(self):
        own = copy.copy(self)
        own.hidden = {}
        return own

    def reset(self, games, seats):
        for key in zip(games.tolist(), seats.tolist(), strict=True):
            self.hidden[key] = torch.zeros(16)

    @torch.no_grad()
    def act_batch(self, turns):
        keys = list(zip(turns.game.tolist(), turns.seat.tolist(), strict=True))
        hidden = self.cell(torch.from_numpy(turns.obs).float(), torch.stack([self.hidden[key] for key in keys]))
        self.hidden.update(zip(keys, hidden, strict=True))
        return np.where(turns.action_mask, self.head(hidden).numpy(), -np.inf).argmax(axis=1)


def recurrent(variant, **settings):
    """A policy for a variant; equal settings make policies with equal weights."""
    return Recurrent(len(variant.layout()), variant.num_actions, **settings)
