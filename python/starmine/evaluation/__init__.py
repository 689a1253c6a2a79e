"""Self-play and cross-play of bots and policies, and tables with partners, on common decks.

`evaluate` plays the games and returns an `Evaluation`: `print` shows its tables, `table`, `pairing` and `difference`
give the numbers. With `output=` the games become a `starmine.data.Dataset`, with the tables as CSV, JSON and PNG, and a
pairing that is finished is not played again. `settings` says who meets whom, `run` plays the games, `folder` reads and
writes them, and `evaluation` sums them up; `matrix` is the table, `report` its text and CSV, `figure` its picture.
"""

from starmine.evaluation.evaluation import Evaluation, Pairing
from starmine.evaluation.matrix import Method, ScoreMatrix, TableCell
from starmine.evaluation.run import evaluate

__all__ = ["Evaluation", "Method", "Pairing", "ScoreMatrix", "TableCell", "evaluate"]
