"""What the adapter uses of `verifiers` 0.1.14 and of its `datasets`, after the library's source.

The library asks for older versions of `fsspec` and `regex` than the test environment has.
"""

from types import SimpleNamespace


class Message(SimpleNamespace):
    """A message, whose fields are attributes and items alike."""

    def __getitem__(self, name):
        return getattr(self, name)


class Rubric:
    """Reward functions with their weights; a metric has the weight 0."""

    def __init__(self, funcs):
        self.funcs, self.weights = list(funcs), [1.0] * len(funcs)

    def add_metric(self, func, weight=0.0):
        self.funcs.append(func)
        self.weights.append(weight)

    def scores(self, state):
        """The reward, and each function's value."""
        values = {func.__name__: func(state) for func in self.funcs}
        return sum(weight * value for weight, value in zip(self.weights, values.values(), strict=True)), values


class MultiTurnEnv:
    """An environment of several turns."""

    def __init__(self, dataset, rubric, max_turns=-1):
        self.dataset, self.rubric, self.max_turns = dataset, rubric, max_turns

    def get_dataset(self):
        return self.dataset


datasets = SimpleNamespace(Dataset=SimpleNamespace(from_list=list))


async def rollout(env, row, reply):
    """The state after the library's loop of a rollout, in which `reply` answers the messages."""
    state = {"trajectory": [], "final_env_response": None, "info": row["info"], "prompt": normalized(row["prompt"])}
    await env.setup_state(state)
    while state["final_env_response"] is None and not 0 < env.max_turns <= len(state["trajectory"]):
        prompt = normalized(await env.get_prompt_messages(state))
        if state["final_env_response"] is None:
            completion = [Message(role="assistant", content=reply(prompt))]
            state["trajectory"].append({"prompt": prompt, "completion": completion})
    return state


def normalized(messages):
    return [Message(**message) if isinstance(message, dict) else message for message in messages]
