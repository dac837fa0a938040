"""`tensorflow.python.trackable.data_structures`: a module's lists and dicts, which here are Python's own."""

from __future__ import annotations

from typing import Any


class TrackableDataStructure:
    """No list or dict here is one: modules look into Python's own."""


class List(list[Any]):
    """A list of what is tracked."""


class ListWrapper(list[Any]):
    """A list of what is tracked."""


class _DictWrapper(dict[Any, Any]):
    """A dict of what is tracked."""


class _TupleWrapper(tuple[Any, ...]):
    """A tuple of what is tracked."""


class NoDependency:
    """A value that is not tracked, as the attribute of a module."""

    def __init__(self, value: Any) -> None:
        self.value = value


def wrap_or_unwrap(value: Any) -> Any:
    """The value, for nothing is wrapped."""
    return value.value if isinstance(value, NoDependency) else value


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """The value, for nothing is wrapped."""
    return wrap_or_unwrap(value)
