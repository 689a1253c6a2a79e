"""A game at a terminal: the board as text, moves typed, advice, take back, and where the points went."""

from __future__ import annotations

from collections.abc import Callable

from starmine._core import IllegalActionError, NotationError, StarmineError
from starmine.look.analysis import mistakes, verdict
from starmine.look.table import Table

HELP = """\
Moves: play 2, discard 0, hint 1 red, hint 2 3, or the number of a move in the list. Slot 0 is the oldest card, and 1 in
a hint is the seat after yours (+1).
  moves       the legal moves with their numbers
  hint        what a bot would do in your place; hint smart asks another bot
  undo        take back your last move and what followed it
  board       the board once more
  log         all turns
  quit        leave the game"""
WATCHING = "Enter for the next turn, all to go on to the end, log, quit: "

Ask = Callable[[str], str]
Say = Callable[[str], None]


class Terminal:
    """Lets a person play, or watch, a table's game.

    Args:
        table: the game.
        adviser: the bot that `hint` asks.
        ask: shows a prompt and returns the line that was typed; raises EOFError when there is no more.
        say: shows a text.
    """

    def __init__(self, table: Table, adviser: str = "smart", ask: Ask = input, say: Say = print) -> None:
        self.table, self.adviser = table, adviser
        self.ask, self.say = ask, say

    def play(self) -> bool:
        """Play the game, and tell at its end where the points went.

        Returns:
            Whether the game was played to its end.
        """
        self.say(f"{', '.join(self.seats())}. {self.table.variant}")
        goes_on = self._watch() if self.table.seat is None else self._sit()
        if self.table.is_over:
            self.say(self.summary())
        return goes_on

    def seats(self) -> list[str]:
        """Who sits where, such as "seat 1: smart"."""
        return [f"seat {seat}: {name}" for seat, name in enumerate(self.table.names)]

    def board(self) -> str:
        """The board as the person sees it; with all cards for a watcher, and at the end."""
        table = self.table
        return str(table.state if table.seat is None or table.is_over else table.view)

    def moves(self) -> str:
        """The legal moves with their numbers."""
        view = self.table.view
        texts = [view.variant.action_meaning(action) for action in view.legal_actions()]
        numbered = [f"{number:3} {text}" for number, text in enumerate(texts, 1)]
        width = max(map(len, numbered)) + 2
        columns = max(1, 100 // width)
        rows = [numbered[start : start + columns] for start in range(0, len(numbered), columns)]
        return "\n".join("".join(f"{text:{width}}" for text in row).rstrip() for row in rows)

    def summary(self) -> str:
        """All cards of a game that is over, its score, and where the points went."""
        state, variant = self.table.state, self.table.variant
        ending = (state.ending or "").replace("_", " ")
        times = len(self.table.taken_back)
        back = f"; {times} moves were taken back" if times else ""
        lines = [
            "",
            str(state),
            "",
            f"Score {state.score} of {variant.max_score} after {state.length} turns ({ending}{back}). "
            f"Seed {self.table.seed}.",
            verdict(state, self.table.shown_names),
        ]
        lost = mistakes(state, self.table.shown_names)
        lines.append("Where the points went:" if lost else "No point was given away.")
        for mistake in lost:
            points = f"-{mistake.points}" if mistake.points else ""
            lines.append(f"  turn {mistake.turn:3} {points:>4}  {mistake.text}")
        return "\n".join(lines)

    def _watch(self) -> bool:
        """Show a game of partners, turn by turn."""
        waits = True
        while not self.table.is_over:
            self.say("\n" + self.board())
            word = self._asked(WATCHING) if waits else ""
            if word is None or word == "all":
                waits = False
            elif word == "quit":
                return False
            elif word == "log":
                self._log(0)
                continue
            self._partner()
        return True

    def _sit(self) -> bool:
        """Let the person play against the partners."""
        table = self.table
        while True:
            while not table.is_over and not table.waits:
                self._partner()
            if table.is_over:
                return True
            self.say("\n" + self.board() + "\n" + self.moves())
            turns, backs = len(table.history), len(table.taken_back)
            while (len(table.history), len(table.taken_back)) == (turns, backs):
                words = self._asked("your move (help): ")
                if words in (None, "quit", "exit"):
                    return False
                self._answer(words or "")

    def _asked(self, prompt: str) -> str | None:
        """A line with single spaces; None at the end of the input."""
        try:
            return " ".join(self.ask(prompt).split())
        except EOFError:
            self.say("")
            return None

    def _partner(self) -> None:
        """Let a partner play, and show its turn."""
        self.table.play_partner()
        self._log(len(self.table.history) - 1)

    def _log(self, first: int) -> None:
        """Show the turns from this one on, with the players' names."""
        for turn, event in enumerate(self.table.history[first:], first + 1):
            self.say(f"turn {turn}, {self.table.shown_names[event.seat]}: {str(event).partition(': ')[2]}")

    def _answer(self, words: str) -> None:
        """Do what the person has typed; what is not allowed is said, and nothing changes."""
        command, _, rest = words.partition(" ")
        shown = {"help": lambda: HELP, "?": lambda: HELP, "moves": self.moves, "board": self.board}
        try:
            if not words:
                return
            if words.lower() in shown:
                self.say(shown[words.lower()]())
            elif words.lower() == "log":
                self._log(0)
            elif words.lower() == "undo":
                self.table.take_back()
            elif command.lower() == "hint" and not rest[:1].isdigit() and rest[:1] != "+":
                bot = rest or self.adviser
                self.say(f"{bot} would: {self.table.variant.action_meaning(self.table.advice(bot))}")
            else:
                self.table.act(self._action(words))
                self._log(len(self.table.history) - 1)
        except StarmineError as refusal:
            self.say(str(refusal))

    def _named(self, words: str) -> int:
        """The legal action that words such as "play 2", "hint 1 red" or "hint +1 red" name."""
        view = self.table.view
        text = words.lower()
        if text.startswith("hint ") and text[5:6].isdigit():
            text = f"hint +{text[5:]}"  # the notation of moves, with the sign that people leave out
        try:
            action = view.variant.action(text)
            problem = "" if action in view.legal_actions() else "is not legal"
        except NotationError:
            problem = "cannot be read"
        except IllegalActionError:  # a move of other variants
            problem = "is not legal"
        if problem:
            moves = [view.variant.action_meaning(legal) for legal in view.legal_actions()]
            raise StarmineError(f"{words!r} {problem}: expected one of {moves}")
        return action

    def _action(self, words: str) -> int:
        """The action that a move or its number in the list names."""
        actions = self.table.view.legal_actions()
        if not words.isdecimal():
            return self._named(words)
        if not 1 <= int(words) <= len(actions):
            raise StarmineError(f"there is no move {words}: expected 1 to {len(actions)}")
        return actions[int(words) - 1]
