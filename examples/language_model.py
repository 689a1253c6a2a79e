"""A language model plays Hanabi, and its moves become training examples.

    pip install openai
    python examples/language_model.py --model qwen3 --base-url http://localhost:8000/v1 --partner smart --games 16

The model answers at any endpoint with OpenAI's chat completions, such as that of vLLM, of Ollama or OpenAI's own. The
client reads a key from the environment variable `OPENAI_API_KEY`; a server without keys takes any text. The client
also repeats calls that fail, and ends those that take too long.

`transcript.jsonl` in the folder `--out` gets a line for each call, as soon as it ends. `examples.jsonl` gets a line for
each move that the model named itself: its messages with its reply, the game and the score. Replies that name no move
and moves of the fallback are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import tyro

import starmine
from starmine.text import SMART_CONVENTIONS, ChatPlayer, PromptOptions


@dataclass
class Args:
    """Let a language model play, and write its moves as training examples."""

    model: str
    """name of the model"""
    base_url: str | None = None
    """of the endpoint, such as http://localhost:8000/v1; None for OpenAI's own"""
    partner: str | None = None
    """a bot or a policy in seat 1; None for the model itself"""
    conventions: bool = False
    """explain the conventions of the bot `smart` in the prompt"""
    variant: str = "standard"
    """a preset, with parameters after it (standard, max_life_tokens=4)"""
    games: int = 16
    """number of games"""
    seed: int = 1
    """of the decks; evaluations use 0 and 5000000000"""
    concurrency: int = 16
    """the most calls at the same time"""
    fallback: str = "random"
    """the bot that plays where the model names no legal move"""
    max_tokens: int = 4096
    """of a reply"""
    timeout: float = 600
    """seconds of a call"""
    out: Path = Path("runs/language-model")
    """new folder of the two files"""


class Model:
    """Asks a model, and counts its tokens."""

    def __init__(self, client: openai.OpenAI, args: Args) -> None:
        self.client, self.args = client, args
        self.prompt_tokens: list[int] = []  # of each call
        self.completion_tokens: list[int] = []

    def __call__(self, messages: list[Any]) -> str:
        """The reply to chat messages."""
        completion = self.client.chat.completions.create(
            model=self.args.model, messages=messages, max_completion_tokens=self.args.max_tokens
        )
        if completion.usage is not None:
            self.prompt_tokens.append(completion.usage.prompt_tokens)
            self.completion_tokens.append(completion.usage.completion_tokens)
        choice = completion.choices[0]
        text = choice.message.content or ""
        return text if choice.finish_reason != "length" else f"{text}\n(This reply was cut off.)"


def examples(player: ChatPlayer, games: starmine.games.Games) -> Iterator[dict[str, Any]]:
    """The moves that a player's replies named, as chat messages, with the score of the game."""
    for said in player.exchanges:
        if said.outcome == "move" and said.game is not None:
            reply = {"role": "assistant", "content": said.reply}
            place = {"game": said.game, "turn": said.turn, "seat": said.seat}
            yield {"messages": [*said.messages, reply], "score": int(games.scores[said.game]), **place}


def main(args: Args) -> None:
    """Play the games and write the files."""
    transcript = args.out / "transcript.jsonl"
    if transcript.exists():
        raise SystemExit(f"{transcript} has the calls of other games: expected a new folder --out")
    args.out.mkdir(parents=True, exist_ok=True)
    with openai.OpenAI(base_url=args.base_url, timeout=args.timeout) as client:
        model = Model(client, args)
        player = ChatPlayer(
            model,
            name=args.model,
            options=PromptOptions(conventions=SMART_CONVENTIONS if args.conventions else None),
            concurrency=args.concurrency,
            fallback=args.fallback,
            transcript=transcript,
        )
        games = starmine.play_games([player, args.partner or player], args.games, seed=args.seed, variant=args.variant)
    lines = [json.dumps(example) + "\n" for example in examples(player, games)]
    (args.out / "examples.jsonl").write_text("".join(lines))
    outcomes = Counter(said.outcome for said in player.exchanges)
    print(games.summary())
    print(f"replies {dict(outcomes)}, moves of the fallback {player.fallbacks}")
    print(f"{sum(model.prompt_tokens)} tokens of prompts, {sum(model.completion_tokens)} tokens of completions")
    print(f"{len(lines)} examples in {args.out / 'examples.jsonl'}")


if __name__ == "__main__":
    main(tyro.cli(Args))
