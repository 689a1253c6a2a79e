"""Trained policies: loads policy files, lists the policies that the package ships, and makes a pool of partners.

The core reads and plays a `ColorNetwork` without recurrence (`src/nn/policy`); `own` and `foreign` read the other
files.
"""

from starmine.policies.load import TrainedPolicy, load_policy, shipped
from starmine.policies.pools import pool

__all__ = ["TrainedPolicy", "load_policy", "pool", "shipped"]
