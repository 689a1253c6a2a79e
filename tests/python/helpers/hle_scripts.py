"""Scripts such as users of HLE have: they get HLE's modules, or `starmine.hle`'s, and must not notice which."""


def play_and_print(pyhanabi, parameters, choose, write):
    """Play a game of chosen moves and write down all that states, observations and encoders tell on the way."""
    assert pyhanabi.cdef_loaded()
    assert pyhanabi.lib_loaded()
    game = pyhanabi.HanabiGame(parameters)
    encoder = pyhanabi.ObservationEncoder(game, enc_type=pyhanabi.ObservationEncoderType.CANONICAL)
    write(game.parameter_string())
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
            state.deal_random_card()
            continue
        write(f"player {state.cur_player()}\n{state}")
        write(f"{state.information_tokens()} {state.life_tokens()} {state.fireworks()} {state.deck_size()}")
        write(f"{state.discard_pile()} {state.player_hands()}")
        seen = state.observation(state.cur_player())
        write(f"{seen}\n{seen.cur_player_offset()} {seen.observed_hands()} {seen.card_knowledge()}")
        write(f"{seen.discard_pile()} {seen.fireworks()} {seen.deck_size()} {seen.last_moves()}")
        write(f"{seen.information_tokens()} {seen.life_tokens()} {seen.legal_moves()}")
        for player in range(game.num_players()):
            write(f"{encoder.shape()} {encoder.encode(state.observation(player))}")
        move = choose(state.legal_moves())
        write(f"{move}")
        state.apply_move(move)
    write(f"{state}\n{state.score()} {state.end_of_game_status()!r} {state.move_history()}")


def run_agents(env, agents, episodes):
    """The actions and rewards of agents that all see their observation in each turn."""
    played = []
    for _ in range(episodes):
        observations, done = env.reset(), False
        while not done:
            action = None
            for seat, agent in enumerate(agents):
                observation = observations["player_observations"][seat]
                chosen = agent.act(observation)
                assert (chosen is None) == (observation["current_player"] != seat)
                action = chosen or action
            observations, reward, done, _ = env.step(action)
            played.append((action, reward, done))
    return played
