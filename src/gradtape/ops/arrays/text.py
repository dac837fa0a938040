"""Strings: object arrays of bytes, processed by Python functions. Derivatives end here."""

from __future__ import annotations

import numpy as np

from ...engine.registry.families import constant
from ...engine.registry.op import sample

_WORDS = np.array([b"tape", b"", b"gradient"], dtype=object)


def each(function, dtype=object):
    """Lifts a function of single elements to one of broadcast arrays with results of `dtype`."""

    def of_arrays(*arrays):
        results = np.frompyfunc(function, len(arrays), 1)(*arrays)
        return np.asarray(results, dtype=object).astype(dtype)  # NumPy's string dtypes would drop trailing zero bytes

    return of_arrays


def _text(xp, *inputs, function):
    return function(*(np.array(x, dtype=object) if isinstance(x, bytes) else np.asarray(x) for x in inputs))


map_text = constant(
    "map_text", _text,
    samples=[sample(_WORDS, function=each(len, np.int32)), sample(_WORDS, function=each(bytes.upper))],
)  # fmt: skip
cut_text = constant(
    "cut_text", _text, shaped_by_values=True,
    samples=[sample(np.array(b"a b", dtype=object), function=lambda x: np.array(x.item().split(), dtype=object))],
)  # fmt: skip
