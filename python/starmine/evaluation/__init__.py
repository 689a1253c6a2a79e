"""Self-play and cross-play of bots and policies, and tables with partners, on common decks."""

from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.pairing import Pairing
from starmine.evaluation.run import evaluate
from starmine.evaluation.tables import Mean, Method, ScoreTable

__all__ = ["Evaluation", "Mean", "Method", "Pairing", "ScoreTable", "evaluate"]
