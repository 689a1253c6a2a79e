"""Policies that other libraries trained, as players: OBL, SAD and JaxMARL's networks, and AH2AC2's clones of people."""

from starmine.policies.foreign.files import FORMATS
from starmine.policies.foreign.load import load_foreign

__all__ = ["FORMATS", "load_foreign"]
