"""Hanabi by text, for language models: prompts, replies, a player that asks a model, reports and training examples."""

from starmine.text.bot_conventions import conventions
from starmine.text.chat import ChatError, ChatPlayer
from starmine.text.endpoint import Endpoint
from starmine.text.exchange import Answer, Exchange
from starmine.text.export import examples, preferences, write_lines
from starmine.text.prompt import PROMPT_VERSION, PromptOptions, rules_prompt, table_prompt
from starmine.text.replies import Reply, parse_reply, read_move
from starmine.text.reports import PlayerReport, Regret, TextReport, report

__all__ = [
    "PROMPT_VERSION",
    "Answer",
    "ChatError",
    "ChatPlayer",
    "Endpoint",
    "Exchange",
    "PlayerReport",
    "PromptOptions",
    "Regret",
    "Reply",
    "TextReport",
    "conventions",
    "examples",
    "parse_reply",
    "preferences",
    "read_move",
    "report",
    "rules_prompt",
    "table_prompt",
    "write_lines",
]
