"""Policies that other libraries trained, as players: OBL, SAD and JaxMARL's networks."""

from starmine.policies.foreign.files import FORMATS, save_sad
from starmine.policies.foreign.load import load_foreign, sad_policy

__all__ = ["FORMATS", "load_foreign", "sad_policy", "save_sad"]
