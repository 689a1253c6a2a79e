"""Bots that choose the moves of recorded HLE games: one for variety, one that peeks to reach high scores."""

from collections import Counter


class UniformBot:
    """Uniformly random legal moves: short games that are mostly lost."""

    def __init__(self, generator):
        self.generator = generator

    def __call__(self, table, mask):
        return int(self.generator.choice(mask.nonzero()[0]))


class PeekingBot:
    """Looks at all hands, its own included: long games, completed fireworks, perfect scores, last rounds.

    Each game has its own rate of slips (uniformly random moves) and its own liking for hints.
    """

    def __init__(self, generator):
        self.generator = generator
        self.slip_rate = generator.choice([0.0, 0.02, 0.1])
        self.hint_rate = generator.choice([0.2, 0.5, 0.8])
        self.any_legal_move = UniformBot(generator)

    def __call__(self, table, mask):
        if self.generator.random() < self.slip_rate:
            return self.any_legal_move(table, mask)
        legal = mask.nonzero()[0]
        hand_size = table.variant["hand_size"]
        hints = legal[legal >= 2 * hand_size]
        slot = self.slot_to_play(table)
        if slot is not None:
            return hand_size + slot
        if len(hints) and self.generator.random() < self.hint_rate:
            return int(self.generator.choice(hints))
        if mask[0]:
            return self.slot_to_discard(table)
        if len(hints):
            return int(self.generator.choice(hints))
        return self.any_legal_move(table, mask)

    def slot_to_play(self, table):
        """The playable card of lowest rank, if there is one."""
        fireworks = table.fireworks()
        hand = table.hand(table.current_player)
        playable = [(rank, slot) for slot, (suit, rank) in enumerate(hand) if rank == fireworks[suit]]
        return min(playable)[1] if playable else None

    def slot_to_discard(self, table):
        """The least useful card: dead, then held twice, then not critical, then of high rank."""
        fireworks = table.fireworks()
        remaining = Counter(table.complete_deck)
        remaining.subtract(table.discard_pile())
        held = Counter(card for seat in range(table.variant["players"]) for card in table.hand(seat))

        def loss(slot_and_card):
            suit, rank = slot_and_card[1]
            if any(remaining[suit, lower] == 0 for lower in range(fireworks[suit], rank)) or rank < fireworks[suit]:
                return 0, 0
            if held[suit, rank] > 1:
                return 1, -rank
            return (2 if remaining[suit, rank] > 1 else 3), -rank

        hand = table.hand(table.current_player)
        return min(enumerate(hand), key=loss)[0]
