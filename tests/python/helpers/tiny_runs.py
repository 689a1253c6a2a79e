"""Training runs of a linear layer: three updates take some hundredths of a second."""


def tiny_args(out, **given):
    """Arguments for three updates of one step each, with a checkpoint after each, except for those given by name."""
    from starmine.training import ScriptArgs

    return ScriptArgs(out=out, **({"total_steps": 3, "checkpoint_seconds": 0.0} | given))


class Weights:
    """A learner with weights and an optimizer."""

    def __init__(self, width=40):
        import torch

        torch.manual_seed(1)
        self.network = torch.nn.Linear(width, width)
        self.optimizer = torch.optim.Adam(self.network.parameters())

    def update(self):
        self.optimizer.zero_grad()
        self.network(self.network.weight).sum().backward()
        self.optimizer.step()
        return {}

    def state_dict(self):
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state):
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])


class Walk:
    """A learner that adds random numbers, without an optimizer, whose first use in a process takes seconds."""

    def __init__(self):
        import torch

        torch.manual_seed(1)
        self.weight = torch.zeros(3)

    def update(self):
        import torch

        self.weight = self.weight + torch.rand(3)
        return {"weight": float(self.weight.sum())}

    def state_dict(self):
        return {"weight": self.weight}

    def load_state_dict(self, state):
        self.weight = state["weight"]


def train(out, learner=None, **given):
    """Train for three updates of one step each; the learner."""
    from starmine.training import Run

    learner = learner or Weights()
    with Run("weights", tiny_args(out, **given), learner) as run:
        while run.begin_update():
            run.end_update(learner.update(), steps=1)
    return learner
