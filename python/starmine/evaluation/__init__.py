"""Self-play and cross-play of bots and policies, and tables with partners, on common decks.

`evaluate` plays the games and returns an `Evaluation`: `print` shows its tables, `table`, `pairing` and `difference`
give the numbers. With `output=` the games become a `starmine.data.Dataset`, with the tables as CSV, Markdown, JSON and
PNG, and a pairing that is finished is not played again. `results` has the plain data, and the writers stand above it:
`matrix` and `grid` make tables, `report`, `documents` and `figure` write them. `results_folder` reads the games that an
output folder has already, and `run` decides which games remain to be played.
"""

from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.matrix import Mean, Method, ScoreMatrix
from starmine.evaluation.pairing import Pairing
from starmine.evaluation.run import evaluate

__all__ = ["Evaluation", "Mean", "Method", "Pairing", "ScoreMatrix", "evaluate"]
