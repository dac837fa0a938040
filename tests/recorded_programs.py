"""Collects whole programs as recorded cases, and draws their data."""

import numpy as np


class Programs(list):
    """A list of cases; as a decorator, adds a function of `tf` that runs after the global seed is set."""

    def __call__(self, f):
        def seeded(tf):
            tf.random.set_seed(7)
            return f(tf)

        self.append((f.__name__, seeded))
        return f


def normal(*shape, seed=0, scale=1.0):
    """Draws normal numbers in float32."""
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)
