"""Trained policies: loading them, and those that the package ships."""

from starmine.policies.load import TrainedPolicy, load_policy, shipped

__all__ = ["TrainedPolicy", "load_policy", "shipped"]
