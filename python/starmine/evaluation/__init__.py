"""Self-play and cross-play of bots and policies on common decks."""

from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.pairing import Pairing
from starmine.evaluation.run import evaluate

__all__ = ["Evaluation", "Pairing", "evaluate"]
