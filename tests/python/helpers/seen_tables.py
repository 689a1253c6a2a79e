"""Tables that play a game by the moves of seats, each of which sits at its own `SeenGame`."""

from starmine.games import SeenGame


def seats_of(state):
    """The game of a state before its first turn, as each seat sees it."""
    players = range(state.variant.players)
    hands = [[None if seat == observer else hand for seat, hand in enumerate(state.hands)] for observer in players]
    return [SeenGame(state.variant, seat, hands[seat], state.start_player) for seat in players]


def told(event, observer):
    """What a table tells a seat of a turn besides the move: no more than the seat needs."""
    if event.target is not None:
        return {"touched": event.touched} if event.target == observer else {}
    if event.seat == observer:
        return {"card": event.card}
    return {} if event.drawn is None else {"drawn": event.drawn}


def play_on(state, seats):
    """Play a game to its end by the moves of its seats, which are told of the turns and see nothing else."""
    while not state.is_terminal:
        state.apply(seats[state.current_player].act())
        event = state.history[-1]
        for seat in seats:
            seat.apply(event.action, **told(event, seat.observer))


def played_by_seats(players, variant, seed, game):
    """The actions of a game in which every seat sits at its own `SeenGame`."""
    state = variant.new_game(seed=seed, game=game)
    seats = seats_of(state)
    for seat, player in zip(seats, players, strict=True):
        seat.seat(player, seed=seed, game=game)
    play_on(state, seats)
    assert all(seat.ending == state.ending for seat in seats)
    return [event.action for event in state.history]
