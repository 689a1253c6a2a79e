"""Whole games: who may hold a seat, what asks them for moves, and what they played.

`starmine.play_games` and `starmine.search` are the functions that most users need.
"""

from starmine._core import SeatedBot, bots, make_bot, rules
from starmine.games.endings import defeats
from starmine.games.failures import BotError, Failure
from starmine.games.games import Games
from starmine.games.play import play_games
from starmine.games.players import Player, Policy, PythonBot
from starmine.games.roster import RosterPlayer
from starmine.games.searches import HandBelief, SearchedAction, SearchResult, search
from starmine.games.seeds import EVALUATION_SEED
from starmine.games.seen_game import SeenGame
from starmine.games.turns import Turns
from starmine.policies.kinds import BotKind, RuleKind, bot, rule
from starmine.policies.variant_check import check_variant

__all__ = [
    "EVALUATION_SEED",
    "BotError",
    "BotKind",
    "Failure",
    "Games",
    "HandBelief",
    "Player",
    "Policy",
    "PythonBot",
    "RosterPlayer",
    "RuleKind",
    "SearchResult",
    "SearchedAction",
    "SeatedBot",
    "SeenGame",
    "Turns",
    "bot",
    "bots",
    "check_variant",
    "defeats",
    "make_bot",
    "play_games",
    "rule",
    "rules",
    "search",
]
