"""The bots, policies and rules that have a name, and what each says of itself."""

from dataclasses import dataclass

from starmine._core import _bot, _rule


@dataclass(frozen=True, slots=True)
class BotKind:
    """A bot of the registry.

    Attributes:
        name: the name that `play_games` and `partners` take.
        summary: one line about it.
        source: who published it.
        plays: the variants that it plays: "every", "base game", or "own variant" for a policy.
        is_player: False for a bot that cheats: it sees its own hand, and its score is an upper bound. True for a bot
            that sees only what its seat may see.
    """

    name: str
    summary: str
    source: str
    plays: str
    is_player: bool


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A rule that rule lists are made of.

    Attributes:
        name: its name in the text of a rule list.
        summary: one sentence about it.
        published: its name in the literature.
        takes_probability: whether a probability follows its name, as in "rules: play-probably-safe 0.6".
    """

    name: str
    summary: str
    published: str
    takes_probability: bool


def bot(name: str) -> BotKind:
    """Describes a bot, or a policy that comes with the package.

    Raises:
        UnknownNameError: there is no such bot.

    >>> import starmine
    >>> starmine.games.bot("random").plays
    'every'
    """
    return BotKind(*_bot(name))


def rule(name: str) -> RuleKind:
    """Describes a rule.

    Raises:
        UnknownNameError: there is no such rule.

    >>> import starmine
    >>> starmine.games.rule("discard-oldest").summary
    'Discard the oldest card.'
    """
    return RuleKind(*_rule(name))
