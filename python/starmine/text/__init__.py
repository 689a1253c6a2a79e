"""Hanabi by text, for language models.

`rules_prompt` and `table_prompt` write what a seat sees, and `read_move` reads the move of a reply.
`ChatPlayer` asks a model for its moves in any seat; `Endpoint` is a model behind an OpenAI-compatible server.
A transcript keeps every call.
`examples`, `preferences` and `write_lines` turn stored games into training examples.
"""

from starmine.text.bot_conventions import conventions
from starmine.text.chat import ChatError, ChatPlayer
from starmine.text.endpoint import Endpoint
from starmine.text.exchange import Answer, Exchange
from starmine.text.export import examples, preferences, write_lines
from starmine.text.prompt import PROMPT_VERSION, PromptOptions, rules_prompt, table_prompt
from starmine.text.replies import read_move

__all__ = [
    "PROMPT_VERSION",
    "Answer",
    "ChatError",
    "ChatPlayer",
    "Endpoint",
    "Exchange",
    "PromptOptions",
    "conventions",
    "examples",
    "preferences",
    "read_move",
    "rules_prompt",
    "table_prompt",
    "write_lines",
]
