"""Hanabi by text, for language models.

`rules_prompt` and `table_prompt` write what a seat sees, and `read_move` reads the move of a reply. `move_text` says
a move in the words of a prompt.
`ChatPlayer` asks a model for its moves in any seat: a function of chat messages that returns a reply.
A transcript keeps every call. The script `examples/language_model.py` asks an endpoint and writes training examples.
"""

from starmine.text.bot_conventions import SMART_CONVENTIONS
from starmine.text.chat import ChatError, ChatPlayer
from starmine.text.facts import move_text
from starmine.text.prompt import PROMPT_VERSION, PromptOptions, rules_prompt, table_prompt
from starmine.text.replies import read_move
from starmine.text.transcript import Exchange

__all__ = [
    "PROMPT_VERSION",
    "SMART_CONVENTIONS",
    "ChatError",
    "ChatPlayer",
    "Exchange",
    "PromptOptions",
    "move_text",
    "read_move",
    "rules_prompt",
    "table_prompt",
]
