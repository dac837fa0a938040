"""`tensorflow.python.trackable.data_structures`: lists, dicts and tuples that belong to a trackable object.

They are Python's containers with the properties of a layer: its weights, losses and layers are those of the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradtape.core.owners import Owner, Trackable
from gradtape.state.variable import Variable


class NoDependency:
    """A value that is not tracked as an attribute of an object."""

    def __init__(self, value: Any) -> None:
        self.value = value


class TrackableDataStructure(Owner):
    """A container of tracked values, which are the children of the object."""

    trainable = True

    @property
    def _values(self) -> Iterable[Any]:
        return list(self.values() if isinstance(self, Mapping) else self)  # type: ignore[arg-type]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        items = self.items() if isinstance(self, Mapping) else enumerate(self._values)
        return {str(key): value for key, value in items}

    @property
    def layers(self) -> list[Any]:
        """The layers among the elements and in the containers among them."""
        return list(_layers(self._values))

    def _of_modules(self, name: str) -> list[Any]:
        found = (x for x in _elements(self._values) if hasattr(type(x), "trainable_variables"))
        return [x for module in found for x in getattr(module, name)]

    def _own_variables(self, trainable: bool | None) -> list[Variable]:
        found = [x for x in _elements(self._values) if isinstance(x, Variable)]
        return [x for x in found if trainable is None or x.trainable == trainable]

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable weights of the elements."""
        if not self.trainable:
            return []
        return self._own_variables(True) + self._of_modules("trainable_variables")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other weights of the elements."""
        rest = self._own_variables(False) + self._of_modules("non_trainable_variables")
        return rest if self.trainable else self._own_variables(True) + self._of_modules("trainable_variables") + rest

    @property
    def weights(self) -> list[Any]:
        """The weights of the elements."""
        return self.trainable_weights + self.non_trainable_weights

    variables, trainable_variables, non_trainable_variables = weights, trainable_weights, non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers among the elements."""
        return [x for layer in self.layers for x in layer.losses]

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers among the elements."""
        return [x for layer in self.layers for x in layer.updates]


def _elements(values: Iterable[Any]) -> Iterator[Any]:
    """Yields the elements of nested containers."""
    for value in values:
        if isinstance(value, Mapping):
            yield from _elements(value.values())
        elif isinstance(value, list | tuple):
            yield from _elements(value)
        else:
            yield value


def _layers(values: Iterable[Any]) -> Iterator[Any]:
    return (x for x in _elements(values) if hasattr(type(x), "trainable_weights") and hasattr(type(x), "losses"))


class List(TrackableDataStructure, list[Any]):
    """A list of tracked values."""

    def __init__(self, *values: Any) -> None:
        list.__init__(self, [wrap_or_unwrap(value) for value in values])

    def append(self, value: Any) -> None:
        """Appends a value, which becomes a child."""
        super().append(wrap_or_unwrap(value))
        self._was_set(str(len(self) - 1), self[-1])

    def extend(self, values: Iterable[Any]) -> None:
        """Appends several values."""
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc, override]
        self.extend(values)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)

    __hash__ = object.__hash__  # type: ignore[assignment]


class ListWrapper(List):
    """A list of tracked values, made of a plain list."""

    def __init__(self, wrapped_list: Iterable[Any]) -> None:
        super().__init__(*wrapped_list)

    @property
    def _storage(self) -> list[Any]:
        return self


class _DictWrapper(TrackableDataStructure, dict[Any, Any]):
    """A dict of tracked values, made of a plain dict."""

    def __init__(self, wrapped_dict: Mapping[Any, Any] | None = None) -> None:
        dict.__init__(self, {key: wrap_or_unwrap(value) for key, value in (wrapped_dict or {}).items()})

    @property
    def __wrapped__(self) -> dict[Any, Any]:
        return dict(self)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, wrap_or_unwrap(value))
        self._was_set(str(key), self[key])

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Returns the value of a key, which is set to the default if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets several values."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)

    __hash__ = object.__hash__  # type: ignore[assignment]


class _TupleWrapper(TrackableDataStructure, tuple[Any, ...]):
    """A tuple of tracked values, made of a plain one."""

    def __new__(cls, values: Iterable[Any]) -> _TupleWrapper:
        return tuple.__new__(cls, [wrap_or_unwrap(value) for value in values])

    __hash__ = tuple.__hash__


def wrap_or_unwrap(value: Any) -> Any:
    """Unwraps a `NoDependency`; makes a list or dict a tracked one; returns other values unchanged."""
    if isinstance(value, NoDependency):
        return value.value
    if type(value) is list:
        return ListWrapper(value)
    if type(value) is dict:
        return _DictWrapper(value)
    if type(value) is tuple and any(map(_is_tracked, _elements(value))):
        return _TupleWrapper(value)
    return value


def _is_tracked(value: Any) -> bool:
    return isinstance(value, Trackable)


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Wraps a value that is assigned to an attribute of a trackable object, and makes it a child."""
    vars(trackable)["_names_all_children"] = True
    tracks = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if tracks and _is_tracked(value):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value
