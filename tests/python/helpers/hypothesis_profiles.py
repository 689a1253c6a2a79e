"""Profiles of the property tests: `fast` has the same cases in every run, `slow` has more, which differ.

conftest.py imports this module, so that the option knows the names.
"""

from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("fast", max_examples=40, derandomize=True, **COMMON)
settings.register_profile("slow", max_examples=1000, **COMMON)
settings.load_profile("fast")
