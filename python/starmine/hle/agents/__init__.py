"""The agents of HLE's package `agents`: `RandomAgent` and `SimpleAgent`."""
