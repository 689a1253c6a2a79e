"""Profiles of the property tests: `fast` unless --hypothesis-profile=slow asks for more.

conftest.py imports this module, so that the option knows the names.
"""

from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("fast", max_examples=40, **COMMON)
settings.register_profile("slow", max_examples=1000, **COMMON)
settings.load_profile("fast")
