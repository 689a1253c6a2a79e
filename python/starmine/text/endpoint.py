"""Models behind an endpoint that speaks OpenAI's chat completions, as callables for `ChatPlayer`."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from starmine._core import StarmineError
from starmine._util.keywords import check_names
from starmine._util.numbers import is_number
from starmine.text.exchange import Answer, Messages
from starmine.text.loop import event_loop

# A tool that names a move, in the words of the prompts; `read_move` reads its arguments.
MOVE_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "make_move",
        "description": "Make your move.",
        "parameters": {
            "type": "object",
            "properties": {"move": {"type": "string", "description": 'Such as "play slot 0" or "hint seat 1 rank 1".'}},
            "required": ["move"],
            "additionalProperties": False,
        },
    },
}


class Endpoint:
    """Asks a model of an endpoint with OpenAI's chat completions, such as OpenAI's own, vLLM's, or Ollama's.

    It is async: with `concurrency` its calls run at the same time. The client of `openai` repeats calls that fail and
    ends those that take too long. It needs `pip install 'starmine[llm]'`.

    Args:
        model: its name.
        base_url: of the endpoint, such as "http://localhost:8000/v1"; None for what the environment variable
            `OPENAI_BASE_URL` says, or OpenAI's own.
        api_key: None for what the environment variable `OPENAI_API_KEY` says. A pickle does not contain it.
        tools: whether the model answers by a call of the tool `make_move`.
        prices: the cost of a million tokens, as (prompt, completion); the usage of each answer then has `cost`.
        timeout: seconds after which the client gives up an attempt.
        max_retries: how often the client repeats a call that fails, with growing waits.
        **parameters: more parameters of each request, such as `temperature=0`, `max_completion_tokens=2000` or
            `extra_body={...}`.

    Raises:
        ImportError: `openai` is not installed.
        UnknownNameError: the client does not know a parameter; what it does not know belongs into `extra_body`.
        StarmineError: an argument that is not allowed, or there is no key.

    Example:
        >>> from starmine.text import ChatPlayer, Endpoint
        >>> model = Endpoint("qwen3", base_url="http://localhost:8000/v1", api_key="none")  # doctest: +SKIP
        >>> player = ChatPlayer(model, name="qwen3", concurrency=16, fallback="random")  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        tools: bool = False,
        prices: tuple[float, float] | None = None,
        timeout: float = 600.0,
        max_retries: int = 2,
        **parameters: Any,
    ) -> None:
        for given in ("stream", "n", "messages"):
            if given in parameters:
                why = "each call sends the messages of a turn and asks for one whole answer"
                raise StarmineError(f"{given} is not a parameter of Endpoint: {why}")
        if prices is not None and (len(prices) != 2 or not all(is_number(price, 0) for price in prices)):
            raise StarmineError(f"prices={prices!r} is not allowed: expected two prices, of prompts and completions")
        self.model, self.base_url, self.api_key, self.tools = model, base_url, api_key, tools
        self.prices, self.timeout, self.max_retries, self.parameters = prices, timeout, max_retries, parameters
        self._client: Any = self._connected()
        check_names("parameter", parameters, inspect.signature(self._client.chat.completions.create).parameters)
        self._loop: asyncio.AbstractEventLoop | None = None

    def _connected(self) -> Any:
        try:
            import openai
        except ImportError as missing:
            raise ImportError("Endpoint needs openai: pip install 'starmine[llm]'") from missing
        try:
            return openai.AsyncOpenAI(
                base_url=self.base_url, api_key=self.api_key, timeout=self.timeout, max_retries=self.max_retries
            )
        except openai.OpenAIError as error:
            raise StarmineError(f"the endpoint cannot be used: {error}") from error

    def close(self) -> None:
        """Close the connections, which are otherwise kept until the program ends. A later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            asyncio.run_coroutine_threadsafe(client.close(), event_loop()).result()

    def __getstate__(self) -> dict[str, Any]:
        """All but the client and the key."""
        return vars(self) | {"_client": None, "_loop": None, "api_key": None}

    def __repr__(self) -> str:
        """The model and the endpoint; never the key."""
        return f"Endpoint({self.model!r}, base_url={self.base_url!r})"

    async def __call__(self, messages: Messages) -> Answer:
        """Ask the model.

        Raises:
            openai.OpenAIError: the call failed, and so did its repetitions.
        """
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop not in (None, loop):  # its connections belong to one loop
            self._client = self._connected()
        self._loop = loop
        chosen = {"tools": [MOVE_TOOL], "tool_choice": "required"} if self.tools else {}
        completion = await self._client.chat.completions.create(
            model=self.model, messages=messages, **(chosen | self.parameters)
        )
        if isinstance(completion, str):
            raise StarmineError("the endpoint answered text, not a completion: expected a base_url such as HOST/v1")
        if not completion.choices:
            raise StarmineError("the endpoint answered without a choice")
        message, reason = completion.choices[0].message, completion.choices[0].finish_reason
        complete = reason not in ("length", "content_filter")
        calls = [call.function for call in message.tool_calls or () if call.type == "function"]
        return Answer(
            text=message.content or "",
            tool_calls=[{"name": call.name, "arguments": call.arguments} for call in calls],
            usage=self._usage(completion.usage) | ({} if complete else {"cut_short": 1}),
            complete=complete,
        )

    def _usage(self, counts: Any) -> dict[str, float]:
        """The tokens of a call, and its cost."""
        if counts is None:
            return {}
        usage: dict[str, float] = {
            "prompt_tokens": counts.prompt_tokens or 0,
            "completion_tokens": counts.completion_tokens or 0,
        }
        details = counts.completion_tokens_details
        if details is not None and details.reasoning_tokens:
            usage["reasoning_tokens"] = details.reasoning_tokens
        if self.prices is not None:
            prompt, completion = self.prices
            usage["cost"] = (usage["prompt_tokens"] * prompt + usage["completion_tokens"] * completion) / 1e6
        return usage
