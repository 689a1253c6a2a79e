"""Trained policies: loads policy files, and lists the policies that the package ships."""

from starmine.policies.load import TrainedPolicy, load_policy, shipped

__all__ = ["TrainedPolicy", "load_policy", "shipped"]
