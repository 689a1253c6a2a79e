"""Self-play and cross-play of bots and policies, and tables with partners, on common decks."""

from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.matrix import Mean, Method, ScoreTable
from starmine.evaluation.pairing import Pairing
from starmine.evaluation.run import evaluate

__all__ = ["Evaluation", "Mean", "Method", "Pairing", "ScoreTable", "evaluate"]
