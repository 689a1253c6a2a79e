"""Trained policies: loads policy files, lists the policies that the package ships, and makes pools of partners.

The core reads and plays a `ColorNetwork` without recurrence (`src/nn/policy`); `own` and `foreign` read the other
files.
"""

from starmine.policies.load import TrainedPolicy, load_policy, shipped
from starmine.policies.pools import Member, Pool, pool

__all__ = ["Member", "Pool", "TrainedPolicy", "load_policy", "pool", "shipped"]
