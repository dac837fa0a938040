"""`tensorflow.python.trackable.data_structures`: lists, dicts and tuples that belong to a trackable object.

They behave as Python's containers with the properties of a layer: its weights, losses and layers are those of the
elements. A wrapper shares its elements with the list or dict that it wraps, in both directions; as in TensorFlow, what
changed behind its back, or otherwise than by appending, cannot be saved in a checkpoint.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any

from gradtape.core.owners import NoDependency, Owner, Trackable
from gradtape.state.variable import Variable


class TrackableDataStructure(Owner):
    """A container of tracked values, which are the children of the object."""

    trainable = True

    @property
    def _values(self) -> list[Any]:
        return list(self)  # type: ignore[call-overload]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        self._check_saveable()
        return {str(index): value for index, value in enumerate(self._values)}

    @property
    def layers(self) -> list[Any]:
        """The layers among the elements and in the containers among them."""
        return list(_layers(self._values))

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable weights of the elements: first those of layers and containers, then variables."""
        return _weights(self._values, True) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other weights of the elements."""
        rest = _weights(self._values, False)
        return rest if self.trainable else _weights(self._values, True) + rest

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


def _layers(values: Iterable[Any]) -> Iterator[Any]:
    """Yields the layers in nested containers."""
    for value in values:
        if isinstance(value, Mapping):
            yield from _layers(value.values())
        elif isinstance(value, list | tuple):
            yield from _layers(value)
        elif hasattr(type(value), "trainable_weights") and hasattr(type(value), "losses"):
            yield value


def _weights(values: Iterable[Any], trainable: bool) -> list[Any]:
    """Returns the weights of layers and containers among the values, and then the variables among them."""
    name = "trainable_variables" if trainable else "non_trainable_variables"
    found: list[Any] = []
    variables = []
    for value in values:
        if isinstance(value, Variable):
            variables += [value] if value.trainable == trainable else []
        elif hasattr(type(value), name):
            found += getattr(value, name)
        elif isinstance(value, Mapping):
            found += _weights(value.values(), trainable)
        elif isinstance(value, list | tuple):
            found += _weights(value, trainable)
    return found + variables


def _same(a: list[Any], b: list[Any]) -> bool:
    """Returns whether two lists contain the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class List(TrackableDataStructure, list[Any]):
    """A list of tracked values, which are in `_storage`; the list that it inherits from is for `isinstance` only."""

    def __init__(self, *args: Any) -> None:
        self._storage = self._make_storage(*args)
        self._was_mutated = self._was_modified_elsewhere = False
        self._storage[:] = [wrap_or_unwrap(value) for value in self._storage]
        self._snapshot = list(self._storage)

    def _make_storage(self, *args: Any) -> list[Any]:
        return list(*args)

    def _begin(self, mutates: bool = False) -> None:
        """Notes, before a change, that others have changed the list, or that elements are replaced or moved."""
        self._was_modified_elsewhere |= not _same(self._storage, self._snapshot)
        self._was_mutated |= mutates and any(map(_is_tracked, self._storage))

    def _end(self) -> None:
        self._snapshot = list(self._storage)

    def _check_saveable(self) -> None:
        self._begin()
        what = "an element was replaced, deleted or moved" if self._was_mutated else "the wrapped list was modified"
        if self._was_mutated or self._was_modified_elsewhere:
            raise ValueError(
                f"Unable to save the object {self!r} (a list wrapper constructed to track trackable TensorFlow "
                f"objects): {what}{'' if self._was_mutated else ' outside the wrapper'}, which breaks restoration on "
                "object creation. Append to the attribute of the object, or wrap the list in a NoDependency object"
            )

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        changed = self._storage[key]
        self._begin(mutates=any(map(_is_tracked, changed)) if isinstance(key, slice) else _is_tracked(changed))
        self._storage[key] = [wrap_or_unwrap(x) for x in value] if isinstance(key, slice) else wrap_or_unwrap(value)
        self._end()
        if not isinstance(key, slice):
            self._was_set(str(range(len(self))[key]), self._storage[key])

    def __delitem__(self, key: Any) -> None:
        self._begin(mutates=True)
        del self._storage[key]
        self._end()

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._storage)

    # These call the methods above, where those of a list would read the list that is inherited from.
    clear: Any = MutableSequence.clear
    count: Any = MutableSequence.count
    index: Any = MutableSequence.index
    pop: Any = MutableSequence.pop
    remove: Any = MutableSequence.remove
    reverse: Any = MutableSequence.reverse
    __contains__: Any = MutableSequence.__contains__
    __reversed__: Any = MutableSequence.__reversed__

    def insert(self, index: Any, value: Any) -> None:
        """Inserts a value before the one at an index."""
        value = wrap_or_unwrap(value)
        self._begin(mutates=True)
        self._was_mutated |= _is_tracked(value)
        self._storage.insert(index, value)
        self._end()

    def append(self, value: Any) -> None:
        """Appends a value, which becomes a child."""
        self._begin()
        self._storage.append(wrap_or_unwrap(value))
        self._end()
        self._was_set(str(len(self) - 1), self[-1])

    def extend(self, values: Iterable[Any]) -> None:
        """Appends several values."""
        for value in list(values):
            self.append(value)

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sorts the list."""
        self._begin(mutates=True)
        self._storage.sort(key=key, reverse=reverse)
        self._end()

    def copy(self) -> Any:
        """Returns a wrapper of a copy of the list."""
        return type(self)(list(self._storage))

    __copy__ = copy

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc, override]
        self.extend(values)
        return self

    def __imul__(self, count: Any) -> Any:
        if count <= 0:
            self.clear()
        else:
            self.extend(self._storage * (count - 1))
        return self

    def __add__(self, other: Any) -> Any:
        return self._storage + getattr(other, "_storage", other)

    def __radd__(self, other: Any) -> Any:
        return other + self._storage

    def __mul__(self, count: Any) -> Any:
        return self._storage * count

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Any:
        return self._storage == getattr(other, "_storage", other)

    def __ne__(self, other: object) -> Any:
        return self._storage != getattr(other, "_storage", other)

    def __lt__(self, other: Any) -> Any:
        return self._storage < getattr(other, "_storage", other)

    def __le__(self, other: Any) -> Any:
        return self._storage <= getattr(other, "_storage", other)

    def __gt__(self, other: Any) -> Any:
        return self._storage > getattr(other, "_storage", other)

    def __ge__(self, other: Any) -> Any:
        return self._storage >= getattr(other, "_storage", other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._storage!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._storage,)


class ListWrapper(List):
    """A list of tracked values that shares its elements with a plain list."""

    def _make_storage(self, wrapped_list: Iterable[Any]) -> list[Any]:
        return wrapped_list if type(wrapped_list) is list else list(wrapped_list)


class _DictWrapper(TrackableDataStructure, MutableMapping[Any, Any]):
    """A dict of tracked values that shares its elements with a plain dict.

    It is no subclass of `dict`, since C code would read that, but is an instance of it according to `isinstance`.
    """

    def __init__(self, wrapped_dict: Any = None) -> None:
        storage = wrapped_dict if isinstance(wrapped_dict, dict) else dict(wrapped_dict or {})
        self.__wrapped__: dict[Any, Any] = getattr(storage, "__wrapped__", storage)
        self._was_modified_elsewhere = False
        for key, value in self.__wrapped__.items():
            self.__wrapped__[key] = wrap_or_unwrap(value)
        self._snapshot = self._entries()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return dict

    @property
    def _values(self) -> list[Any]:
        return [self.__wrapped__[key] for key in self._keys()]

    def _keys(self) -> list[Any]:
        """Returns the keys, in order where they have one."""
        try:
            return sorted(self.__wrapped__)
        except TypeError:
            return list(self.__wrapped__)

    def _entries(self) -> list[Any]:
        return [x for entry in self.__wrapped__.items() for x in entry]

    def _begin(self) -> None:
        """Notes, before a change, that others have changed the dict."""
        self._was_modified_elsewhere |= not _same(self._entries(), self._snapshot)

    def _check_saveable(self) -> None:
        self._begin()
        if self._was_modified_elsewhere:
            raise ValueError(
                f"Unable to save the object {self!r} (a dictionary wrapper constructed automatically on attribute "
                "assignment): the wrapped dictionary was modified outside the wrapper, which breaks restoration on "
                "object creation. Set keys of the attribute of the object, or wrap the dictionary in a NoDependency "
                "object"
            )

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        self._check_saveable()
        return {str(key): value for key, value in self.__wrapped__.items()}

    def __getitem__(self, key: Any) -> Any:
        return self.__wrapped__[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._begin()
        self.__wrapped__[key] = wrap_or_unwrap(value)
        self._snapshot = self._entries()
        self._was_set(str(key), self[key])

    def __delitem__(self, key: Any) -> None:
        self._begin()
        del self.__wrapped__[key]
        self._snapshot = self._entries()

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__wrapped__)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self.__wrapped__)

    def copy(self) -> Any:
        """Returns a wrapper of a copy of the dict."""
        return _DictWrapper(self.__wrapped__.copy())

    __copy__ = copy

    def __or__(self, other: Any) -> Any:
        return self.__wrapped__ | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.__wrapped__

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        return self.__wrapped__ == getattr(other, "__wrapped__", other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"DictWrapper({self.__wrapped__!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _DictWrapper, (self.__wrapped__,)


class _TupleWrapper(TrackableDataStructure):
    """A tuple of tracked values, made of a plain or named one: an instance of its class, too."""

    def __new__(cls, values: Iterable[Any]) -> Any:
        kind: Any = type(values) if isinstance(values, tuple) else tuple
        wrapper = type(cls.__name__, (cls, kind), {"__hash__": kind.__hash__, "__eq__": kind.__eq__})
        return tuple.__new__(wrapper, [wrap_or_unwrap(value) for value in values])

    def __init__(self, values: Iterable[Any]) -> None:
        super().__init__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        values = tuple(self._values)
        kind = type(self).__bases__[1]
        return _TupleWrapper, (values if kind is tuple else kind(*values),)


def wrap_or_unwrap(value: Any) -> Any:
    """Unwraps a `NoDependency`; makes a list, dict or tuple a tracked one; returns other values unchanged."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    if type(value) is list:
        return ListWrapper(value)
    if type(value) in (dict, OrderedDict):
        return _DictWrapper(value)
    if isinstance(value, tuple) and _has_tracked(value):
        return _TupleWrapper(value)
    return value


def _is_tracked(value: Any) -> bool:
    return isinstance(value, Trackable)


def _has_tracked(values: tuple[Any, ...]) -> bool:
    """Returns whether a tuple contains what is tracked: objects, or lists and dicts, which may change."""
    return any(
        isinstance(x, NoDependency | Trackable) or type(x) in (dict, OrderedDict, list)
        or (isinstance(x, tuple) and _has_tracked(x)) for x in values
    )  # fmt: skip


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Wraps a value that is assigned to an attribute of a trackable object, and makes it a child."""
    vars(trackable)["_names_all_children"] = True
    tracks = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if tracks and _is_tracked(value):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value
