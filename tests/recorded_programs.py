"""Collects whole programs as recorded cases, and draws their data."""

import numpy as np


class Programs(list):
    """A list of cases; as a decorator, adds a function of `tf`, which returns a value to compare."""

    def __call__(self, f):
        self.append((f.__name__, f))
        return f


class SeededPrograms(list):
    """A list of cases; as a decorator, adds a function of `tf` that runs after the global seed is set."""

    def __call__(self, f):
        def seeded(tf):
            tf.random.set_seed(7)
            return f(tf)

        self.append((f.__name__, seeded))
        return f


def error_of(f, *args, **kwargs):
    """Returns the class of the exception that a call raises, or its result."""
    try:
        return f(*args, **kwargs)
    except Exception as error:
        return type(error).__name__


def says(text, f, *args, **kwargs):
    """Returns the class of the exception, and whether its text contains `text`."""
    try:
        return ["no error", f(*args, **kwargs)]
    except Exception as error:
        return [type(error).__name__, text in str(error)]


class Counted:
    """A function that counts the runs of its Python code."""

    def __init__(self, tf, body=lambda *args, **kwargs: args[0] if args else None, **options):
        self.runs = 0
        self._body = body
        self.f = tf.function(self._run, autograph=False, **options)

    def _run(self, *args, **kwargs):
        self.runs += 1
        return self._body(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.f(*args, **kwargs)


def normal(*shape, seed=0, scale=1.0):
    """Draws normal numbers in float32."""
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)
