"""benchmarks/ab.py: rows of two commits beside each other."""

import ab


def test_ratios_are_taken_within_a_round():
    key = ("step", 2, 1024, "bits", 1, "{}")
    rounds = {key: [(10.0, 20.0), (100.0, 210.0), (1.0, 2.5), (1.0, 9.0), (1.0, 1.0)]}
    assert ab.beside(rounds) == [(key, 1.0, 9.0, 2.1, 2.0, 2.5)]
    text = ab.text_of("compare", ["x", "y"], rounds)
    assert "| step | 2 | 1024 | bits | 1 | 1 | 9 | 2.100 | 2.000 to 2.500 |" in text
