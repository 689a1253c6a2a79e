"""Everything in a training script but the algorithm: checkpoints, the log, evaluation, schedules, several processes.

`Run` ties them together. A learner is any object with `state_dict` and `load_state_dict`; the loop stays in the
script::

    learner = PPO(args)
    with Run("ppo", args, learner) as run:
        while run.begin_update():
            run.end_update(learner.update(run.fraction), steps=len(learner.rollout))

`examples/ppo.py` is a whole script. The parts can be used without `Run`. What a run writes into its folder is in
`folder` (the lock and config.json), `log` (log.jsonl, TensorBoard, the learning curve) and `checkpoint`.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401 - these five only for the error message
    import safetensors as _safetensors  # noqa: F401
    import tensorboard as _tensorboard  # noqa: F401
    import torch as _torch  # noqa: F401
    import tqdm as _tqdm  # noqa: F401
except ImportError as _missing:
    raise ImportError(f"starmine.training needs {_missing.name}: install starmine with the extra train") from _missing

from starmine.training.checkpoint import Learner
from starmine.training.distributed import (
    local_device,
    process_group,
    rank,
)
from starmine.training.evaluation import network_player, progress_games, show_game, write_partner_table
from starmine.training.games import (
    PROGRESS_SEED,
    FinishedGames,
    Partner,
    TrainingGames,
    read_partners,
    training_seed,
)
from starmine.training.learning import (
    Muon,
    Precision,
    WeightAverage,
    anneal,
    begin_with,
    by_device,
    check_finite,
    doubling_schedule,
    explore,
    flat_weights,
    matmul_dtype,
    sample_actions,
)
from starmine.training.run import OnUpdate, Run
from starmine.training.script import (
    Amount,
    Count,
    DivergedError,
    Range,
    ScriptArgs,
    Share,
    TrainingError,
    command_line,
    prepare_torch,
    refuse_without_effect,
)

__all__ = [
    "PROGRESS_SEED",
    "Amount",
    "Count",
    "DivergedError",
    "FinishedGames",
    "Learner",
    "Muon",
    "OnUpdate",
    "Partner",
    "Precision",
    "Range",
    "Run",
    "ScriptArgs",
    "Share",
    "TrainingError",
    "TrainingGames",
    "WeightAverage",
    "anneal",
    "begin_with",
    "by_device",
    "check_finite",
    "command_line",
    "doubling_schedule",
    "explore",
    "flat_weights",
    "local_device",
    "matmul_dtype",
    "network_player",
    "prepare_torch",
    "process_group",
    "progress_games",
    "rank",
    "read_partners",
    "refuse_without_effect",
    "sample_actions",
    "show_game",
    "training_seed",
    "write_partner_table",
]
