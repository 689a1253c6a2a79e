"""The oracle's observations, bit by bit as in the rules, section 8."""

ENCODERS = ["canonical", "canonical-minimal", "canonical-seer"]


def one_hot(index, size):
    """A list with a 1 at the index; all 0 for None."""
    return [1 if position == index else 0 for position in range(size)]


def thermometer(value, size):
    """A list that begins with as many 1 as the value."""
    return [1 if position < value else 0 for position in range(size)]


def card_bits(rules, card):
    """One-hot, by colour and rank; all 0 for no card."""
    return one_hot(None if card is None else card.color * rules.ranks + card.rank, rules.colors * rules.ranks)


def observation(game, seat, encoder):
    """What a seat sees, as a list of 0 and 1."""
    bits = hands(game, seat) + board(game) + discards(game) + last_action(game, seat)
    if encoder == "canonical":
        bits += knowledge(game, seat, hinted_bits)
    elif encoder == "canonical-seer":
        bits += knowledge(game, seat, revealed_bits)
    else:
        assert encoder == "canonical-minimal"
    if game.rules.timed_display:
        bits += announced_color(game)
    return bits


def in_order(game, seat):
    """All hands, the observer's first."""
    return [game.held[(seat + offset) % game.rules.players] for offset in range(game.rules.players)]


def hands(game, seat):
    """Section 8, 1: the cards of the others, and whose hand misses a card."""
    rules = game.rules
    bits = []
    for hand in in_order(game, seat)[1:]:
        for slot in range(rules.hand_size):
            bits += card_bits(rules, hand[slot].card if slot < len(hand) else None)
    for hand in in_order(game, seat):
        bits.append(1 if len(hand) < rules.hand_size else 0)
    return bits


def board(game):
    """Section 8, 2: deck, fireworks, tokens."""
    rules = game.rules
    bits = thermometer(game.deck_size, rules.deck_total - rules.players * rules.hand_size)
    for height in game.fireworks:
        bits += one_hot(height - 1, rules.ranks)
    bits += thermometer(game.information_tokens, rules.max_information_tokens)
    bits += thermometer(game.life_tokens, rules.max_life_tokens)
    return bits


def discards(game):
    """Section 8, 3: how many copies of each card are discarded."""
    rules = game.rules
    bits = []
    for color in range(rules.colors):
        for rank in range(rules.ranks):
            bits += thermometer(game.discard_pile.count((color, rank)), rules.copies[color][rank])
    return bits


def last_action(game, seat):
    """Section 8, 4: the last action of any player."""
    rules = game.rules
    players, hand_size = rules.players, rules.hand_size
    last = game.last_action
    if last is None:
        return [0] * (2 * players + 4 + rules.colors + rules.ranks + 2 * hand_size + rules.colors * rules.ranks + 2)
    action = last["action"]
    is_play = action.kind in ("play", "announced play")
    is_color_hint, is_rank_hint = action.kind == "color hint", action.kind == "rank hint"
    bits = one_hot((last["seat"] - seat) % players, players)
    bits += [int(is_play), int(action.kind == "discard"), int(is_color_hint), int(is_rank_hint)]
    bits += one_hot((last["target"] - seat) % players if "target" in last else None, players)
    bits += one_hot(action.color if is_color_hint else None, rules.colors)
    bits += one_hot(action.rank, rules.ranks)
    bits += [1 if slot in last.get("touched", []) else 0 for slot in range(hand_size)]
    bits += one_hot(action.slot, hand_size)
    bits += card_bits(rules, last.get("card"))
    bits += [int(last.get("added", False)), int(last.get("regained", 0) > 0)]
    return bits


def knowledge(game, seat, bits_of):
    """Section 8, 5: what is known about each card, the observer's hand first."""
    rules = game.rules
    bits = []
    for hand in in_order(game, seat):
        for held in hand:
            bits += bits_of(rules, held)
        for _ in range(rules.hand_size - len(hand)):
            bits += [0] * (rules.colors * rules.ranks + rules.colors + rules.ranks)
    return bits


def hinted_bits(rules, held):
    """Plausible cards by hints alone, colour hinted, rank hinted."""
    bits = []
    for color_is_plausible in held.plausible_colors:
        for rank_is_plausible in held.plausible_ranks:
            bits.append(1 if color_is_plausible and rank_is_plausible else 0)
    return bits + one_hot(held.hinted_color, rules.colors) + one_hot(held.hinted_rank, rules.ranks)


def revealed_bits(rules, held):
    """The knowledge of a card as if its colour and rank had been hinted."""
    card = held.card
    return card_bits(rules, card) + one_hot(card.color, rules.colors) + one_hot(card.rank, rules.ranks)


def announced_color(game):
    """Section 8, 6: the colour that the last action announced."""
    last = game.last_action
    is_announced = last is not None and last["action"].kind == "announced play"
    return one_hot(last["action"].color if is_announced else None, game.rules.colors)
