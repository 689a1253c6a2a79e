"""Models of chat players that stand for language models."""


def legal_moves(messages):
    """The legal moves of a prompt."""
    lines = messages[1]["content"].split("Your legal moves:")[1].splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def first_move(messages):
    return f"MOVE: {legal_moves(messages)[0]}"


class Cautious:
    def act(self, view):
        return view.legal_actions()[0]
