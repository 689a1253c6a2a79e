"""What a board in a browser shows, to be compared with the engine."""

READ = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const rows = all('.sm-seat').map((row) => [row.dataset.seat, [...row.querySelectorAll('.sm-card')]]);
  const shown = (card) => card.querySelector('.sm-back') ? null
    : card.querySelector('.sm-face > small').textContent + card.querySelector('.sm-face > b').textContent;
  const told = (card) => [...card.querySelectorAll('.sm-hint')].map((mark) => mark.textContent);
  const number = (label) => all('.sm-stat').find((stat) => stat.querySelector('.sm-label').textContent === label)
    .querySelector('.sm-number')?.firstChild.textContent;
  const dots = (kind) => all(`${kind} .sm-dot:not(.sm-spent)`).length;
  return {
    hands: Object.fromEntries(rows.map(([seat, cards]) => [seat, cards.map(shown)])),
    told: Object.fromEntries(rows.map(([seat, cards]) => [seat, cards.map(told)])),
    acting: all('.sm-acting').map((row) => Number(row.dataset.seat)),
    fireworks: all('.sm-stack b').map((height) => Number(height.textContent)),
    discards: Object.fromEntries(all('.sm-kind').map(
      (kind) => [kind.dataset.kind, kind.querySelectorAll('.sm-gone').length])),
    critical: all('.sm-last-copy').map((kind) => kind.dataset.kind),
    information: dots('.sm-information'), lives: dots('.sm-life'),
    score: Number(number('Score')), deck: Number(number('Deck')), turn: Number(number('Turn')),
  };
}"""


def drawn_board(page):
    """The numbers, cards and marks of the page's only board."""
    return page.evaluate(READ)


def expected_board(state, seat=None):
    """What the board of a state must show, as a seat sees it or open; without the text of the last turn."""
    variant = state.variant
    letters = {card.suit: str(card)[0] for card in state.deck}
    gone = [str(card) for card in state.discard_pile]
    hands = {str(at): [None if at == seat else str(card) for card in hand] for at, hand in enumerate(state.hands)}

    def told(at, slot):
        known = state.view(at).knowledge(0, slot)
        color = [] if known.color is None else [letters[known.color]]
        return color + ([] if known.rank is None else [str(known.rank + 1)])

    kinds = [letters[suit] + str(rank + 1) for suit in range(variant.colors) for rank in range(variant.ranks)]
    return {
        "hands": hands,
        "told": {str(at): [told(at, slot) for slot in range(len(hand))] for at, hand in enumerate(state.hands)},
        "acting": [] if state.is_terminal else [state.current_player],
        "fireworks": state.fireworks,
        "discards": {kind: gone.count(kind) for kind in kinds},
        "information": state.information_tokens,
        "lives": state.life_tokens,
        "score": state.score,
        "deck": state.deck_size,
        "turn": state.length,
    }
