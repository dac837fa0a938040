"""The arguments for which `_range_end_references.py` writes references."""

from __future__ import annotations

import itertools
import random

FORMATS = {10: (-14, 15), 7: (-126, 127), 23: (-126, 127), 52: (-1022, 1023)}  # bits of a fraction: exponents


def real_points() -> list[float]:
    """Returns the limits of the formats, neighbors of 1, integers at the precision limit, and where exp overflows."""
    points = {0.25, 0.5, 1.0, 1.5, 1e4, 2.0**60, 2.0**64, 1e20, 1e30, 1e150, 1e160, 1e200}
    points.update(map(float, (2, 2.5, 3, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 20, 26, 40, 85, 88, 89, 100, 104, 128)))
    points.update(map(float, (200, 256, 300, 700, 709, 710, 745, 1000, 1024)))
    for bits, (lowest, highest) in FORMATS.items():
        step = 2.0**-bits
        points |= {step, step / 2, 1 - step / 2, 1 + step, 2 / step, 2 / step - 1, 2 / step + 2}
        points |= {2.0 ** (bits // 2), 2.0 ** -(bits // 2)}
        points |= {2.0**lowest, 2.0 ** (lowest - bits), 2.0**highest * (2 - step)}
    return sorted(itertools.chain(points, (-x for x in points)))


def pair_points() -> list[tuple[float, float]]:
    """Returns pairs of format limits and ordinary numbers."""
    points = {2.0**-10, 0.5, 1.0, 1 - 2.0**-11, 1 + 2.0**-10, 2.0, 3.5, 11.0, 100.0, 2048.0, 2.0**24, 2.0**64, 1e200}
    for bits, (lowest, highest) in FORMATS.items():
        points |= {2.0**lowest, 2.0**highest * (2 - 2.0**-bits)}
    signed = sorted(itertools.chain(points, (-x for x in points)))
    return random.Random(0).sample(list(itertools.product(signed, repeat=2)), 500)


def complex_points() -> list[complex]:
    """Returns numbers of all four quadrants whose parts differ widely in magnitude."""
    parts = [2.0**-100, 2.0**-10, 0.5, 1.0, 3.0, 30.0, 60.0, 100.0, 2.0**33, 2.0**66, 2.0**100]
    pairs = random.Random(0).sample(list(itertools.product(parts, repeat=2)), 60)
    points = [complex(a * sign, b * other) for a, b in pairs for sign in (1, -1) for other in (1, -1)]
    # The limits, and neighbors of singularities, next to parts of all magnitudes, with random signs.
    ends = [2.0**-1022, 2.0**-126, 2.0**-60, 1 - 2.0**-24, 1 + 2.0**-23, 2.0**60, 2.0**127, 2.0**600, 2.0**1023]
    rng = random.Random(1)
    for a, b in itertools.product([*ends, *parts[::2]], repeat=2):
        if a in ends or b in ends:
            points.append(complex(a * rng.choice([-1, 1]), b * rng.choice([-1, 1])))
    return points


def points_of_partials() -> dict[str, list[tuple[float, ...]]]:
    """Returns numbers of all magnitudes in the domain of each function of several arguments."""
    ends = [2.0**lowest for lowest, _ in FORMATS.values()]
    ends += [2.0**highest * (2 - 2.0**-bits) for bits, (_, highest) in FORMATS.items()]
    positive = sorted({*ends, 2.0**-10, 0.5, 1.0, 2.0, 3.5, 11.0, 100.0, 2048.0, 2.0**24, 2.0**64, 1e200})
    orders = [2.0**-20, 2.0**-10, 0.5, 1.0, 1 + 2.0**-10, 3.5, 11.0, 100.0, 104.0, 2048.0]
    near = [(a, a * (1 + shift)) for a in (11.0, 100.0, 2048.0, 4096.0) for shift in (-0.25, -(2.0**-5), 0.0, 2.0**-5)]
    shares = [*ends[:4:2], 2.0**-24, 2.0**-10, 0.25, 0.5, 1 - 2.0**-10, 1 - 2.0**-7, 1 - 2.0**-24]
    powers = [1 + 2.0**-23, 1 + 2.0**-10, 1.5, 2.0, 3.5, 11.0, 100.0, 2048.0]
    degrees = [0.0, 1.0, 2.0, 3.0, 5.0, 11.0, 20.0]
    gammas: list[tuple[float, ...]] = [*itertools.product(orders, positive), *near]
    # Numbers below 0, between the poles; from 2**52 on, all float64 numbers are poles.
    negative = [-(2.0**-14), -0.5, -0.75, -1 - 2.0**-10, -1.5, -9.125, -100.5, -1000.25, -12345.6875, -1000000.375]
    negative += [-(1e12 + 0.25), -(2.0**51) - 0.5]
    reflected = [*itertools.product([2.0, 3.0, 4.0, 7.0, 12.0], negative)]
    pairs = [*itertools.product([2.0**-10, 0.5, 1.0, 3.5, 100.0, 2048.0], repeat=2)]
    return {
        "igamma": gammas, "igammac": gammas, "zeta": [*itertools.product(powers, positive), *reflected],
        "polygamma": [*itertools.product(degrees, positive), *itertools.product(degrees[:-1], negative)],
        "betainc": [(*pair, x) for pair in pairs for x in shares],
    }  # fmt: skip


def vector_points(arity: int) -> list[tuple[float, ...]]:
    """Returns vectors with numbers of all magnitudes: mixed, of one magnitude, and close to each other."""
    rng = random.Random(arity)
    sizes = [2.0**-1022, 2.0**-126, 2.0**-14, 2.0**-10, 0.5, 1.0, 11.0, 100.0, 2048.0, 65504.0, 2.0**70, 2.0**127]
    sizes += [2.0**600, 2.0**1023]
    found: list[tuple[float, ...]] = []
    for size in sizes:
        found += [tuple([size * rng.choice([-1, -0.5, 0.25, 0.75, 1]) for _ in range(arity)]) for _ in range(3)]
        found.append(tuple([size] * arity))
    found += [tuple([rng.choice(sizes) * rng.choice([-1, 1]) for _ in range(arity)]) for _ in range(60)]
    return found
