"""Everything in a training script but the algorithm: checkpoints, the log, evaluation, schedules, several processes.

`Run` ties them together. A learner is any object with `state_dict` and `load_state_dict`; the loop stays in the
script::

    learner = PPO(args)
    with Run("ppo", args, learner) as run:
        while run.begin_update():
            run.end_update(learner.update(run.fraction), steps=len(learner.rollout))

`examples/ppo.py` is a whole script. The parts can be used without `Run`.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401 - these five only for the error message
    import safetensors as _safetensors  # noqa: F401
    import tensorboard as _tensorboard  # noqa: F401
    import torch as _torch  # noqa: F401
    import tqdm as _tqdm  # noqa: F401
except ImportError as _missing:
    raise ImportError(f"starmine.training needs {_missing.name}: pip install 'starmine[train]'") from _missing

from starmine.training.average import WeightAverage
from starmine.training.checkpoint import Checkpoint, Progress, load_checkpoint, save_checkpoint
from starmine.training.curve import draw_learning_curve
from starmine.training.deals import draw_deals
from starmine.training.distributed import (
    all_gather,
    local_device,
    process_count,
    process_group,
    rank,
)
from starmine.training.errors import DivergedError, TrainingError
from starmine.training.evaluation import (
    PROGRESS_SEED,
    network_player,
    progress_games,
    show_game,
    training_seed,
    write_partner_table,
)
from starmine.training.finite import check_finite
from starmine.training.flat import flat_weights
from starmine.training.inference import sample_actions
from starmine.training.log import Log
from starmine.training.partners import Outputs, Partner, PartnerArgs, TrainingGames, read_partners
from starmine.training.precision import Precision, matmul_dtype
from starmine.training.run import Learner, OnUpdate, Run, RunArgs
from starmine.training.schedule import Schedule, anneal, doubled
from starmine.training.scores import FinishedGames
from starmine.training.script import ScriptArgs, command_line
from starmine.training.signals import StopSignals
from starmine.training.start import begin_with

__all__ = [
    "PROGRESS_SEED",
    "Checkpoint",
    "DivergedError",
    "FinishedGames",
    "Learner",
    "Log",
    "OnUpdate",
    "Outputs",
    "Partner",
    "PartnerArgs",
    "Precision",
    "Progress",
    "Run",
    "RunArgs",
    "Schedule",
    "ScriptArgs",
    "StopSignals",
    "TrainingError",
    "TrainingGames",
    "WeightAverage",
    "all_gather",
    "anneal",
    "begin_with",
    "check_finite",
    "command_line",
    "doubled",
    "draw_deals",
    "draw_learning_curve",
    "flat_weights",
    "load_checkpoint",
    "local_device",
    "matmul_dtype",
    "network_player",
    "process_count",
    "process_group",
    "progress_games",
    "rank",
    "read_partners",
    "sample_actions",
    "save_checkpoint",
    "show_game",
    "training_seed",
    "write_partner_table",
]
