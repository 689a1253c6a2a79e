"""What the texts of bots that search say, such as `search: smart; rollouts=1000`."""

from __future__ import annotations

from collections.abc import Iterable

SEARCH = "search:"


def searches(bot: str) -> bool:
    """Whether a bot searches."""
    return bot.startswith(SEARCH)


def may_all_search(seats: Iterable[str]) -> bool:
    """Whether these bots may hold the seats of a table: at most one searches, or all that do allow others to."""
    searching = [bot for bot in seats if searches(bot)]
    return len(searching) < 2 or all("seats=all" in options(bot) for bot in searching)


def blueprint_of(bot: str) -> str:
    """The text of the blueprint of a bot that searches."""
    parts = bot.removeprefix(SEARCH).split(";")
    return ";".join(parts[: len(parts) - len(options(bot))]).strip()


def options(bot: str) -> list[str]:
    """The options of a bot that searches: words with values after its blueprint."""
    found: list[str] = []
    for part in reversed(bot.split(";")[1:]):
        name, is_option, value = (text.strip() for text in part.partition("="))
        if not is_option or " " in name:
            break
        found.insert(0, f"{name}={value}")
    return found
