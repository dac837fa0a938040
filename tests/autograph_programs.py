"""Collects programs with Python control flow on tensors: each is a function of `x`, run for several `x`.

The programs read `tf`, the library under test, from their module.
"""


def run(tf, f, make):
    """Returns the results of `f`, prepared by `make`, for successive values."""
    f.__globals__["tf"] = tf
    made = make(f)
    return [made(tf.constant(x)) for x in ([3, 4], [1, 9], [6, 2])]


class Programs(dict):
    """Programs by name; as a decorator, adds one that returns a value."""

    def __call__(self, f):
        self[f.__name__] = f
        return f

    def cases(self):
        """Returns the recorded cases: each program traced by `tf.function`."""
        return [(name, lambda tf, f=f: run(tf, f, tf.function)) for name, f in self.items()]
