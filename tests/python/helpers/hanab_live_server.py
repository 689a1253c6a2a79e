"""A stand-in for hanab.live's server, written from the messages that its source sends to the players of a table."""

import json

from starmine.data.formats.hanab_live_rules import game_rules


class Server:
    """One table: it plays by commands, and sends each seat what this seat may see.

    Attributes:
        state: the game.
        actions: all that has happened, with all cards.
    """

    def __init__(self, state, table=9):
        self.state, self.table = state, table
        self.hands, self.actions, self.dealt = [[] for _ in range(state.variant.players)], [], 0
        for seat in range(state.variant.players):
            for _ in range(state.variant.hand_size):
                self._draw(seat)

    def start(self, seat):
        suits, options = game_rules(self.state.variant)
        players = self.state.variant.players
        told = {"numPlayers": players, "startingPlayer": 0, "variantID": suits.number, "variantName": suits.name}
        told |= dict.fromkeys(("timed", "speedrun", "cardCycle", "deckPlays", "emptyClues", "allOrNothing"), False)
        init = {"playerNames": [f"player {seat}" for seat in range(players)], "ourPlayerIndex": seat}
        init |= {"spectating": False, "replay": False, "paused": False, "options": told | options}
        return [self._message("tableStart", replay=False), self._message("init", **init), self.list(seat)]

    def list(self, seat):
        return self._message("gameActionList", list=[scrubbed(action, seat) for action in self.actions])

    def play(self, command):
        """Take a command of the player to act. Returns for each seat the messages about it."""
        name, _, data = command.partition(" ")
        told, seat, first = json.loads(data), self.state.current_player, len(self.actions)
        assert (name, told["tableID"]) == ("action", self.table)
        if told["type"] in (0, 1):
            self._take_card(told["type"], told["target"], seat)
        else:
            offset = (told["target"] - seat) % self.state.variant.players
            hint = f"rank {told['value']}"
            if told["type"] == 2:
                hint = self.state.variant.action_meaning(2 * self.state.variant.hand_size + told["value"]).split()[-1]
            self.state.apply(f"hint +{offset} {hint}")
            touched = [self.hands[told["target"]][slot] for slot in self.state.history[-1].touched]
            clue = {"type": told["type"] - 2, "value": told["value"]}
            self._add("clue", clue=clue, giver=seat, list=touched, target=told["target"], turn=self.state.length - 1)
        score = sum(self.state.fireworks)
        self._add("status", clues=self.state.information_tokens, score=score, maxScore=self.state.variant.max_score)
        if self.state.is_terminal:
            condition = 2 if self.state.ending == "lost" else 1
            self._add("gameOver", endCondition=condition, playerIndex=-1, votes=None)
        player = -1 if self.state.is_terminal else self.state.current_player
        self._add("turn", num=self.state.length, currentPlayerIndex=player)
        return [
            [self._message("gameAction", action=scrubbed(action, seat)) for action in self.actions[first:]]
            for seat in range(self.state.variant.players)
        ]

    def _take_card(self, kind, order, seat):
        slot = self.hands[seat].index(order)
        self.state.apply(f"{'discard' if kind else 'play'} {slot}")
        event = self.state.history[-1]
        self.hands[seat].remove(order)
        card = {"playerIndex": seat, "order": order, "suitIndex": event.card.suit, "rank": event.card.rank + 1}
        if event.misplay:
            misplays = sum(event.misplay for event in self.state.history)
            self._add("strike", num=misplays, turn=self.state.length - 1, order=order)
        if kind == 0 and not event.misplay:
            self._add("play", **card)
        else:
            self._add("discard", **card, failed=event.misplay)
        if event.drawn is not None:
            self._draw(seat)

    def _draw(self, seat):
        card = self.state.deck[self.dealt]
        self._add("draw", playerIndex=seat, order=self.dealt, suitIndex=card.suit, rank=card.rank + 1)
        self.hands[seat].append(self.dealt)
        self.dealt += 1

    def _add(self, kind, **fields):
        self.actions.append({"type": kind, **fields})

    def _message(self, name, **data):
        return f"{name} {json.dumps({'tableID': self.table, **data})}"


def scrubbed(action, seat):
    """An action as it is sent to a seat, which does not see the cards that it draws."""
    if action["type"] == "draw" and action["playerIndex"] == seat:
        return {**action, "suitIndex": -1, "rank": -1}
    return action
