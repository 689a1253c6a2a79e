"""How the bot `smart` plays, in words for a prompt, so that a model knows what the moves of its partner mean."""

from __future__ import annotations

#: How the bot `smart` plays, as a text for `PromptOptions.conventions`.
SMART_CONVENTIONS = """\
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
