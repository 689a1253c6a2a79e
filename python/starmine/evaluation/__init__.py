"""Self-play and cross-play of bots and policies, and tables with partners, on common decks.

`evaluate` plays the games and returns an `Evaluation`: `print` shows its tables, `table`, `pairing` and `difference`
give the numbers. With `output=` the games become a `starmine.data.Dataset`, with the tables as CSV, JSON and PNG, and a
pairing that is finished is not played again. `pairings` says who meets whom, `statistics` sums up each pairing's games,
`results` has the plain data and `matrix` its table; `report` writes text and CSV, `figure` the picture.
`results_folder` reads the games that an output folder has, and `run` plays the others.
"""

from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.matrix import Method, ScoreMatrix, TableCell
from starmine.evaluation.run import evaluate
from starmine.evaluation.statistics import Pairing

__all__ = ["Evaluation", "Method", "Pairing", "ScoreMatrix", "TableCell", "evaluate"]
