"""`tensorflow.python.trackable.data_structures`: a module's lists and dicts, here plain Python ones."""

from __future__ import annotations

from typing import Any


class TrackableDataStructure:
    """Has no instances here: modules track plain Python containers."""


class List(list[Any]):
    """A list of tracked values."""


class ListWrapper(list[Any]):
    """A list of tracked values."""


class _DictWrapper(dict[Any, Any]):
    """A dict of tracked values."""


class _TupleWrapper(tuple[Any, ...]):
    """A tuple of tracked values."""


class NoDependency:
    """A value that is not tracked as an attribute of a module."""

    def __init__(self, value: Any) -> None:
        self.value = value


def wrap_or_unwrap(value: Any) -> Any:
    """Unwraps a `NoDependency`; returns other values unchanged."""
    return value.value if isinstance(value, NoDependency) else value


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Same as `wrap_or_unwrap`: attributes need no wrapper."""
    return wrap_or_unwrap(value)
