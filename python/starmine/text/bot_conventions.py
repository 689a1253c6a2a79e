"""How bots play, in words for a prompt, so that a model knows what the moves of its partner mean."""

from __future__ import annotations

from starmine._core import _unknown_name

SMART = """\
CONVENTIONS. Your partners play as the bot "smart". All hints and moves are heard by everybody, and everybody draws \
the conclusions below. Play by them too: your partners read your moves in the same way.
- A hint that makes some card of the hand known to be playable means just that. Any other hint promises a play: of \
the cards it points at, the newest one that may be playable is playable. Exceptions are the warning and the pass.
- The next discard of a seat is the card that it would discard if it had nothing better to do. A seat that knows a \
playable or a dead card (one that can never be played) has none. Else it is, among the cards not known to be \
critical (the last copy of a card that is still needed), the one that is most likely dead, on ties the oldest one; \
without a card that may be dead, the oldest one.
- Warning: a rank hint by the seat before yours that points at your next discard, where the card may be a critical \
one of this rank, means that this card is critical: keep it. It promises no play.
- No warning: while the deck has cards and there is an information token, any move of the seat before yours that is \
not a hint to you means that your next discard is not critical.
- Discarded on purpose: a seat that discards a card of which all know exactly what it is, and that it is playable, \
sees the same card as the newest one of another hand. If you do not see it there, it is your newest card: play it.
- Pass: with all information tokens available, a rank hint to the seat before its giver that points at the oldest \
card means nothing.
- What such a partner does in its turn, the first that applies: it keeps the next seat from discarding a critical \
card, by a hint for a play or a warning; it discards on purpose; it plays a card that it knows to be playable; it \
gives the hint for a play that rules out most; with at most 3 cards in the deck (1 if a life token is lost) it plays \
the card that is most likely playable; it discards a card that it knows to be dead, or its next discard; if it may \
not discard, it passes. With an empty deck, plays come first."""

INFO = """\
CONVENTIONS. Your partners play as the bot "info", by hat guessing: each hint is a message to all other seats, not \
only about the cards it points at. Everybody keeps track of what is commonly known about each hand: the hints, the \
messages, and which cards are gone. A card is open if it is neither known exactly nor certainly dead (never \
playable).
- Numbers of hints: each other seat in turn, from the one after the giver, has its own numbers, the next seat's \
following on. Within a seat they depend on the open card of its hand with the most possible suits and ranks \
together, on ties the oldest one: 0 for a rank hint that points at it, 1 for a colour hint that points at it, 2 for \
a hint that misses it. If no suit and no rank is possible for all cards of the hand, a rank hint that misses it is 2 \
and a colour hint that misses it is 3. (When much is known about a hand, its hints can carry more numbers, by the \
suit or rank that they name.) The number of possible messages is the sum over these seats.
- Meaning: the message is the sum of one number for each receiver, modulo the number of possible messages. You see \
the other hands, so you can subtract their numbers; the rest is yours.
- Your number answers questions about your open cards. They are ordered by how likely they are playable, on ties the \
oldest first. Unless you know a playable card, the first questions are about the cards that are playable with a \
chance of at least 1/5: is it playable? (0 no, 1 yes). The next questions ask which kind a card is. Each question \
divides the number of messages by its number of answers, rounded down; the questions end when this falls to 1. The \
first question has the highest weight.
- Example: with two players and nothing known, the hints have the numbers 0 to 2, and the only question is whether \
your oldest card is playable. A colour hint that points at your oldest card says yes; a rank hint that points at it \
says no.
- Discards: if at least two cards of a seat are commonly known to be useless (dead, or a known copy of another known \
card of the hand), a discard of one of them is a message, too: its place among these cards, from 0, out of their number.
- What such a partner does in its turn, the first that applies: it plays a card that it knows to be playable; while \
the deck is large and a life token can be spared, it plays a card that is either playable or dead, with a chance of \
more than 3/4 to be playable; with all information tokens it gives a hint; late in the game, if somebody else holds \
a playable card and there is a token, it gives a hint; it discards a useless card; earlier in the game, if somebody \
else holds a playable card and there is a token, it gives a hint; it discards the card that it needs least."""

CONVENTIONS = {"smart": SMART, "info": INFO}


def conventions(bot: str) -> str:
    """How a bot plays, as a text for `PromptOptions.conventions`.

    Args:
        bot: "smart" or "info".

    Raises:
        UnknownNameError: there is no text for this bot.

    Example:
        >>> import starmine
        >>> options = starmine.text.PromptOptions(conventions=starmine.text.conventions("smart"))
    """
    if bot not in CONVENTIONS:
        raise _unknown_name("conventions", str(bot), list(CONVENTIONS))
    return CONVENTIONS[bot]
