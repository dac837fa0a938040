"""Restoration: matches a stored object graph with the objects in memory and assigns values to matched variables.

Restoration may be deferred: objects that do not exist yet, such as the variables of a layer that has not been built,
are restored when they are set as an attribute of their owner, or added to a list or dict that is one. Owners keep
their pending restorations in `_restorations`.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import errors
from ..core.tensor import wrap
from ..core.tracebacks import bounded
from ..engine.run import dispatch
from ..state.archive import ArchiveReader
from ..state.variable import Variable
from .bundle import BundleReader
from .containers import WaitingDict, WaitingList
from .files import nodes_of, open_checkpoint
from .object_graph import ObjectNode, children, create_slot, describe_objects, is_trackable, owns_variables, variable_of

_WAITING: dict[type, Any] = {list: WaitingList, dict: WaitingDict}


def restore_into(save_path: Any, root: Any) -> CheckpointLoadStatus | NameBasedSaverStatus:
    """Restore a checkpoint into the objects below `root`; return the load status."""
    with open_checkpoint(save_path) as reader:
        nodes = nodes_of(reader)
        if nodes is None:
            return NameBasedSaverStatus(reader, root)
    restoration = Restoration(save_path, root, nodes)
    restoration.lay_over(root, 0)
    return CheckpointLoadStatus(restoration, root)


class MatchedObjects:
    """Objects by the numbers of their nodes.

    Owners are referenced weakly, because they hold the restoration: without a cycle, they are released with their last
    use, as in TensorFlow.
    """

    def __init__(self) -> None:
        self._references: dict[int, Callable[[], Any]] = {}

    def update(self, objects: dict[int, Any]) -> None:
        """Add objects."""
        self._references |= {number: _reference(value) for number, value in objects.items()}

    def get(self, number: int, default: Any = None) -> Any:
        """Returns the object of a node; None if it is no longer alive."""
        return self._references[number]() if number in self._references else default

    def __contains__(self, number: int) -> bool:
        return number in self._references

    def __len__(self) -> int:
        return len(self._references)

    def alive(self) -> dict[int, Any]:
        """Returns the objects that are alive."""
        found = {number: reference() for number, reference in self._references.items()}
        return {number: value for number, value in found.items() if value is not None}


def _reference(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value) if owns_variables(value) else lambda: value
    except TypeError:  # a class without weak references
        return lambda: value


class Restoration:
    """A checkpoint being restored into the objects below `root`."""

    def __init__(self, save_path: Any, root: Any, nodes: list[ObjectNode]) -> None:
        self.save_path = os.fsdecode(save_path)
        self._root = _reference(root)
        self.nodes = nodes
        self.matched = MatchedObjects()
        self._slots = [(number, slot) for number, node in enumerate(nodes) for slot in node.slots]

    @property
    def root(self) -> Any:
        """The object into which the checkpoint is restored; None if it is no longer alive."""
        return self._root()

    def lay_over(self, owner: Any, number: int) -> None:
        """Match an object and its descendants; either all matched variables get their values, or none."""
        found: dict[int, Any] = {}
        self._match(owner, number, found)
        self._match_slots(found)
        wanted = [
            (value, key)
            for number, value in found.items()
            if variable_of(value) is not None and (key := self.nodes[number].key) is not None
        ]
        if wanted:
            with open_checkpoint(self.save_path) as reader:
                _assign(reader, wanted)
        self.matched.update(found)
        for number, value in found.items():
            self._wait(value, number)
            self._await_attributes(value, number)

    def _match(self, owner: Any, number: int, found: dict[int, Any]) -> None:
        if number in found or self.matched.get(number, owner) is not owner:
            return  # as in TensorFlow, a second object under another name of the first keeps its value
        found[number] = owner
        present = children(owner)
        for name, child in self.nodes[number].children.items():
            if name in present and child not in self.matched:
                self._match(present[name], child, found)

    def _match_slots(self, found: dict[int, Any]) -> None:
        """Match slot variables whose optimizer and variable are both matched; the optimizer creates missing ones."""
        there = self.matched.alive() | found
        for number, slot in self._slots:
            if number in there and slot.of in there and slot.node not in there:
                created = create_slot(there[number], there[slot.of], slot.name)
                if created is not None:
                    found[slot.node] = created

    def _complete(self, number: int) -> bool:
        return all(child in self.matched for child in self.nodes[number].children.values())

    def _await_attributes(self, owner: Any, number: int) -> None:
        """Subscribe to incomplete lists and dicts, and to Keras variables without values."""
        for place in (owner, getattr(owner, "_root", None)):
            if not owns_variables(place) or isinstance(place, list | dict):
                continue
            for name, child in self.nodes[number].children.items():
                value = vars(place).get(name)
                exchangeable = type(value) in _WAITING and getattr(place, "_exchanges_containers", False)
                if exchangeable and not self._complete(child):
                    known = self.matched.get(child)
                    value = known if type(known) in _WAITING.values() else _WAITING[type(value)](value)
                    vars(place)[name] = value
                    self.matched.update({child: value})
                    self._wait(value, child)
                elif child not in self.matched and hasattr(type(value), "_gradtape_variable"):
                    vars(value).setdefault("_restorations", []).append((self, child))

    def _wait(self, owner: Any, number: int) -> None:
        """Register the restoration with an object that does not own all its stored children yet, or unregister it."""
        complete = self._complete(number)
        for waiter in (owner, getattr(owner, "_root", None)):
            if owns_variables(waiter):
                others = [entry for entry in vars(waiter).pop("_restorations", ()) if entry != (self, number)]
                waiting = others if complete else [*others, (self, number)]
                if waiting:
                    vars(waiter)["_restorations"] = waiting

    def was_set(self, number: int, name: str, value: Any) -> None:
        """Handle a new attribute of the owner of a node."""
        child = self.nodes[number].children.get(name)
        if child is None or child in self.matched:
            return
        if is_trackable(value):
            self.lay_over(value, child)
            self._wait(self.matched.get(number), number)
        self._await_attributes(self.matched.get(number), number)

    def again(self) -> None:
        """Match again, for objects added to lists and dicts in the meantime."""
        before, self.matched = self.matched, MatchedObjects()
        try:
            present: dict[int, Any] = {}
            self._match(self.root, 0, present)
        finally:
            self.matched = before
        for number, value in present.items():
            if number not in self.matched:
                self.lay_over(value, number)

    def missing(self) -> list[str]:
        """The keys of stored values that no variable has taken."""
        return [node.key for i, node in enumerate(self.nodes) if node.key is not None and i not in self.matched]

    def unmatched(self) -> list[Variable]:
        """The variables in memory without a value in the checkpoint."""
        given = {id(variable_of(value)) for value in self.matched.alive().values()}
        counter = variable_of(getattr(self.root, "_save_counter", None))
        known = given | {id(counter)}
        return [variable for variable in describe_objects(self.root)[1].values() if id(variable) not in known]


def _assign(reader: ArchiveReader | BundleReader, wanted: list[tuple[Any, str]]) -> None:
    """Assign the values of these keys to variables (ours or Keras'): all of them or, if one does not fit, none."""
    for held, key in wanted:
        _check(reader, held, key)
    for _, key in wanted:
        reader.verify(key)
    with dispatch.traced_by(None):
        for held, key in wanted:  # one value at a time is in memory beside the variables
            variable, value = variable_of(held), reader.read(key)
            assert variable is not None
            if value.dtype is not variable.dtype:
                value = wrap(np.asarray(value.array).astype(variable.dtype.numpy)[()], variable.dtype)
            variable.assign(value)


def _check(reader: ArchiveReader | BundleReader, held: Any, key: str) -> None:
    variable: Any = variable_of(held)
    if key not in reader.dtypes:
        raise errors.NotFoundError(f"Key {key} not found in checkpoint {reader.path}. Nothing was restored")
    shape, dtype = reader.shape(key), reader.dtypes[key]
    if not variable.shape.is_compatible_with(shape):
        raise ValueError(
            f"Received incompatible tensor with shape {shape} when attempting to restore variable with shape "
            f"{variable.shape} and name {variable.name}. The checkpoint {reader.path} has it as {key!r}; nothing was "
            "restored. Make the variable in that shape, or restore into an object without it"
        )
    # Keras counts in int64 on TensorFlow and in int32 elsewhere; its variables cast assigned values.
    counts = held is not variable and dtype.is_integer and variable.dtype.is_integer
    if dtype != variable.dtype and not counts:
        raise errors.InvalidArgumentError(
            f"tensor_name = {key}; expected dtype {variable.dtype.name} does not equal original dtype {dtype.name}. "
            "Nothing was restored"
        )


@bounded
class CheckpointLoadStatus:
    """The outcome of a restoration, with assertions about it."""

    def __init__(self, restoration: Restoration, root: Any) -> None:
        self._restoration = restoration
        self._root = root  # alive as long as this status, which may be asked about it

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` unless every value was restored and every variable has one."""
        self.assert_existing_objects_matched()
        missing = self._restoration.missing()
        if missing:
            raise AssertionError(
                f"{len(missing)} values of the checkpoint {self._restoration.save_path} were not restored, for there "
                f"are no such variables (yet): {', '.join(missing[:10])}{' ...' if len(missing) > 10 else ''}. Use "
                "expect_partial() if that is meant"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` if a variable has no value in the checkpoint."""
        self._restoration.again()
        unmatched = self._restoration.unmatched()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {min(10, len(unmatched))} of {len(unmatched)} unmatched "
                f"objects: {unmatched[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises `AssertionError` if nothing but the root matched."""
        self._restoration.again()
        if len(self._restoration.matched) <= 1 and len(self._restoration.nodes) > 1:
            if not children(self._root):
                raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Accept that some values are not restored."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: values are restored immediately."""

    run_restore_ops = initialize_or_restore


@bounded
class NameBasedSaverStatus:
    """The outcome of restoring a checkpoint without an object graph: variables are matched by name."""

    def __init__(self, reader: ArchiveReader | BundleReader, root: Any) -> None:
        named = [(variable, variable.name.removesuffix(":0")) for variable in describe_objects(root)[1].values()]
        _assign(reader, [(variable, name) for variable, name in named if name in reader.dtypes])
        counter = variable_of(getattr(root, "_save_counter", None))
        self._path = reader.path
        self._unmatched = [name for x, name in named if name not in reader.dtypes and x is not counter]

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises `AssertionError` if a variable has no value in the checkpoint."""
        if self._unmatched:
            raise AssertionError(
                f"Some objects had attributes which were not restored: the checkpoint {self._path} has values by name, "
                f"and none named {', '.join(self._unmatched[:10])}. tf.train.list_variables shows its names"
            )
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NameBasedSaverStatus:
        """Accept that some values are not restored."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: values are restored immediately."""

    run_restore_ops = initialize_or_restore


@bounded
class InitializationOnlyStatus:
    """The status when no checkpoint is given."""

    def _nothing(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = run_restore_ops = _nothing

    def expect_partial(self) -> InitializationOnlyStatus:
        """Do nothing."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: variables are initialized when they are created."""
