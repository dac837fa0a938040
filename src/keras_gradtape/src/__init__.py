"""The interface of a Keras backend, which Keras imports; `layer`, `trainer` and `export` beside it belong to it, too.

Keras calls it a pluggable backend. Older versions get it from `keras_3_15`. The names are imported when Keras asks for
them: a module of this package that is imported before Keras imports Keras, which then imports them.
"""

from typing import Any

__all__ = [
    "IS_THREAD_SAFE", "SUPPORTS_COMPLEX_DTYPES", "SUPPORTS_GRADIENT", "SUPPORTS_RAGGED_TENSORS",
    "SUPPORTS_SPARSE_TENSORS", "Variable", "compute_output_spec", "device_scope", "distribution_lib", "name_scope",
    "ops", "random", "rnn",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import interface

        return getattr(interface, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
