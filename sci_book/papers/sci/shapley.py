"""Shapley values from the table of all coalitions: what each player adds, averaged over orders.

A coalition's value may be an array: the value is linear, so a player's share can be taken row by
row and averaged afterwards.
"""

from collections.abc import Sequence
from math import comb

import numpy as np

Coalition = tuple[str, ...]


def coalitions(players: Sequence[str]) -> list[Coalition]:
    """All 2^k subsets: number m holds player i where bit i of m is set; the first is empty."""
    return [
        tuple(name for place, name in enumerate(players) if number >> place & 1)
        for number in range(1 << len(players))
    ]


def weights(players: int) -> np.ndarray:
    """[players, 2^players], so that weights @ values of all coalitions are the Shapley values.

    phi_i = sum over S without i of |S|! (k - |S| - 1)! / k! * (v(S + i) - v(S)): one pass over the
    2^k coalitions, in the order of `coalitions`, instead of the k! orders of arrival.
    """
    numbers = np.arange(1 << players)
    sizes = np.array([int(number).bit_count() for number in numbers])
    matrix = np.empty((players, len(numbers)))
    for player in range(players):
        inside = (numbers >> player & 1).astype(bool)
        ways = np.array([comb(players - 1, int(size)) for size in sizes - inside])
        matrix[player] = np.where(inside, 1.0, -1.0) / (players * ways)
    return matrix
