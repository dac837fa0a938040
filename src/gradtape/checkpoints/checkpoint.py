"""`Checkpoint`: saves the variables that are reached from some objects, and restores them."""

from __future__ import annotations

import os
from typing import Any

from ..core import dtypes
from ..core.owners import Owner
from ..core.tensor import wrap
from ..engine.run import dispatch
from ..state.variable import Variable
from . import shared, state
from .object_graph import children, described, is_trackable, variable_of
from .restoration import InitializationOnlyStatus, restored


class Checkpoint(Owner):
    """The objects given by name, or one object as the root, to save and restore with all variables they own.

    A checkpoint is one .npz file. It is there whole, or not at all: an interrupted `save` leaves the ones before.

    >>> import gradtape as tf, tempfile
    >>> step = tf.Variable(1)
    >>> checkpoint = tf.train.Checkpoint(step=step)
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> _ = step.assign(5)
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> int(step)
    1
    """

    _root: Any
    _save_counter: Variable | None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        vars(self).update(_root=None, _save_counter=None)
        for name, value in [("root", root)] * (root is not None) + sorted(kwargs.items()):
            if not is_trackable(value) and not isinstance(value, list | tuple | dict):
                raise ValueError(
                    f"`Checkpoint` was expecting {name} to be a trackable object (an object that owns variables), got "
                    f"{value!r}."
                )
        vars(self)["_root"] = root
        taken = {} if root is None else children(root)
        for name, value in sorted(kwargs.items()):
            if name in taken and taken[name] is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                )
            setattr(self, name, value)

    def _owned(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name not in ("_root", "_save_counter")}
        counter = {} if self._save_counter is None else {"save_counter": self._save_counter}
        return (children(self._root) if self._root is not None else {}) | own | counter

    @property
    def _top(self) -> Any:
        """Where the graph begins: a root that is a variable has nothing beside it."""
        return self._root if variable_of(self._root) is not None else self

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called; it goes into the names of checkpoints, and is stored with them."""
        if self._save_counter is None:
            with dispatch.traced_by(None):
                counter = Variable(0, trainable=False, dtype=dtypes.int64, name="save_counter")
            vars(self)["_save_counter"] = counter
            self._was_set("save_counter", counter)
            return counter
        return self._save_counter

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes a checkpoint, without counting or noting it; returns its path, for `read`.

        >>> import gradtape as tf, tempfile
        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.write(tempfile.mkdtemp() + "/ckpt")
        >>> [name for name, shape in tf.train.list_variables(path)]
        ['v/.ATTRIBUTES/VARIABLE_VALUE']
        """
        prefix = os.fsdecode(file_prefix)
        with dispatch.traced_by(None):
            nodes, variables = described(self._top)
            values = {key: wrap(variable.numpy(), variable.dtype) for key, variable in variables.items()}
        shared.write(prefix, values, {"objects": [node if node.slots else node[:2] for node in nodes]})
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Writes the checkpoint `<file_prefix>-<number>`, which is the latest of its folder from now on.

        Returns the path, for `restore`.
        """
        counter = self.save_counter
        before = int(counter)
        counter.assign(before + 1)
        try:
            path = self.write(f"{os.fsdecode(file_prefix)}-{before + 1}")
        except BaseException:
            counter.assign(before)
            raise
        if shared.leads():
            state.write(os.path.dirname(path), path, [path])
        return path

    def read(self, save_path: Any, options: Any = None) -> Any:
        """Restores what `write` has written; see `restore`."""
        return restored(save_path, self._top)

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Gives the variables the values of a checkpoint; those that are made later, when they become attributes.

        The object returned can be asked whether everything was restored: `assert_consumed()`, `expect_partial()`,
        `assert_existing_objects_matched()`. Where a shape or a dtype does not fit, nothing is changed.
        """
        if save_path is None:
            return InitializationOnlyStatus()
        if self._top is self:
            _ = self.save_counter  # from now on it is there, and is restored too
        return self.read(save_path, options)

    def sync(self) -> None:
        """Checkpoints are written when `save` returns."""
