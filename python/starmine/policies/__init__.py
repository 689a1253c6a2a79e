"""Trained policies: loads policy files, lists the policies that the package ships, and makes pools of partners."""

from starmine.policies.load import TrainedPolicy, load_policy, shipped
from starmine.policies.pools import Member, Pool, pool

__all__ = ["Member", "Pool", "TrainedPolicy", "load_policy", "pool", "shipped"]
