"""`Checkpoint`: saves and restores the variables reachable from given objects."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

from ..core import dtypes, errors
from ..core.owners import Owner
from ..core.tensor import Tensor, wrap
from ..core.tracebacks import bounded
from ..engine.run import dispatch
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.signatures import signature_of
from ..state.file_systems import folder_of, is_folder, is_remote
from ..state.variable import Variable
from . import shared, state
from .object_graph import children, describe_objects, is_trackable, variable_of
from .restoration import InitializationOnlyStatus, restore_into
from .sharding import sharded_values


def _saved_value(variable: Variable) -> Tensor:
    """Returns the value of a variable, which later updates do not change, if possible without a copy."""
    if type(variable) is Variable:
        return variable._as_tensor()
    value: Any = variable.numpy()
    return wrap(value, variable.dtype)


def _as_stored(value: Tensor, variable: Variable) -> Tensor:
    """Returns the value of a variable in the dtype that a checkpoint has for it."""
    dtype = getattr(variable, "_checkpoint_dtype", None)
    return value if dtype is None else wrap(to_array(value).astype(dtype.numpy), dtype)


@bounded
class Checkpoint(Owner):
    """Saves and restores all variables owned by the objects given by name, or by one root object.

    A checkpoint consists of TensorFlow's files, an index and its data, or of one .npz file on request; see
    `tf.train.CheckpointOptions`. An interrupted `save` leaves earlier checkpoints intact, also under the same path.

    >>> import tempfile
    >>> step = tf.Variable(1)
    >>> checkpoint = tf.train.Checkpoint(step=step)
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> _ = step.assign(5)
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> int(step)
    1
    """

    __module__ = "gradtape.train"

    _root_or_reference: Any
    _save_counter: Variable | None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        vars(self).update(_root_or_reference=root, _save_counter=None)
        root = self._root
        for name, value in [("root", root)] * (root is not None) + sorted(kwargs.items()):
            if not is_trackable(value) and not isinstance(value, list | tuple | dict):
                raise ValueError(
                    f"`Checkpoint` was expecting {name} to be a trackable object (an object that owns variables), got "
                    f"{value!r}."
                )
        taken = {} if root is None else children(root)
        for name, value in sorted(kwargs.items()):
            if name in taken and taken[name] is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                )
            setattr(self, name, value)

    @property
    def _root(self) -> Any:
        """The object whose children are saved; it may have been given by a weak reference."""
        root = self._root_or_reference
        return root() if isinstance(root, weakref.ref) else root

    def _owned(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name not in ("_root_or_reference", "_save_counter")}
        counter = {} if self._save_counter is None else {"save_counter": self._save_counter}
        return (children(self._root) if self._root is not None else {}) | own | counter

    @property
    def _top(self) -> Any:
        """The root of the object graph: the checkpoint itself, unless its root is a variable."""
        return self._root if variable_of(self._root) is not None else self

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called; part of the names of checkpoints, and stored in them."""
        if self._save_counter is None:
            with dispatch.traced_by(None):
                counter = Variable(0, trainable=False, dtype=dtypes.int64, name="save_counter")
            vars(self)["_save_counter"] = counter
            self._was_set("save_counter", counter)
            return counter
        return self._save_counter

    def write(self, file_prefix: Any, options: Any = None) -> Any:
        """Write a checkpoint without counting it or updating the state file; return its path, for `read`.

        A function writes it in every call, with the values of that moment, and gets the path as a tensor.

        >>> import tempfile
        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.write(tempfile.mkdtemp() + "/ckpt")
        >>> [name for name, shape in tf.train.list_variables(path)]
        ['_CHECKPOINTABLE_OBJECT_GRAPH', 'v/.ATTRIBUTES/VARIABLE_VALUE']
        """
        with dispatch.traced_by(None):
            nodes, variables = describe_objects(self._top)
        names = {key: variable.name.removesuffix(":0") for key, variable in variables.items()}

        as_tensors = {key for key, variable in variables.items() if isinstance(variable, Variable)}

        def write(tensors: Sequence[Tensor]) -> list[Tensor]:
            prefix, *values = tensors
            path, folder = os.fsdecode(prefix.array[()]), folder_of(os.fsdecode(prefix.array[()]))
            if isinstance(file_prefix, Tensor) and not (is_remote(path) or is_folder(folder)):
                raise errors.NotFoundError(f"{folder}; No such file or directory")
            given = iter(values)
            named = {
                key: _as_stored(next(given), variable) if key in as_tensors else _saved_value(variable)
                for key, variable in variables.items()
            }
            policy = getattr(options, "experimental_sharding_callback", None)
            if policy is not None:
                named = sharded_values(policy, {key: wrap(to_array(x), x.dtype) for key, x in named.items()})
            as_archive = getattr(options, "save_format", "tf") == "npz"
            shared.write(path, shared.Contents(named, nodes, names), as_archive)
            for callback in getattr(options, "experimental_write_callbacks", None) or ():
                callback(path) if signature_of(callback).parameters else callback()
            return [prefix]

        prefix = to_tensor(file_prefix if isinstance(file_prefix, Tensor) else os.fsencode(file_prefix), dtypes.string)
        if dispatch.thread.trace is not None:
            from ..graph.control_flow.python_calls import traced_call

            values = [to_tensor(variables[key]) for key in variables if key in as_tensors]
            return traced_call(write, [prefix, *values], [dtypes.string], differentiable=False)[0]
        write([prefix, *(_saved_value(variables[key]) for key in variables if key in as_tensors)])
        return os.fsdecode(prefix.array[()])

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the checkpoint `<file_prefix>-<number>` and make it the latest of its folder.

        Returns the path, for `restore`.
        """
        if dispatch.thread.trace is not None:
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported, as save() modifies saving "
                "metadata in ways not supported by TensorFlow Operations. Consider using "
                "tf.train.Checkpoint.write(), a lower-level API which does not update metadata. "
                "tf.train.latest_checkpoint and related APIs will not "
                "see this checkpoint."
            )
        counter = self.save_counter
        before = int(counter)
        counter.assign(before + 1)
        try:
            path = self.write(f"{os.fsdecode(file_prefix)}-{before + 1}", options)
        except BaseException:
            counter.assign(before)
            raise
        if shared.leads():
            state.write(folder_of(path), path, [path])
        return path

    def read(self, save_path: Any, options: Any = None) -> Any:
        """Restore a checkpoint written by `write`; see `restore`."""
        return restore_into(save_path, self._top)

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Assign the values of a checkpoint to the variables; those created later, when they become attributes.

        The returned status can verify that everything was restored: `assert_consumed()`, `expect_partial()`,
        `assert_existing_objects_matched()`. If a shape or a dtype does not match, no variable is changed.
        """
        if save_path is None:
            return InitializationOnlyStatus()
        if self._top is self:
            _ = self.save_counter  # create it, so that it is restored too
        return self.read(save_path, options)

    def sync(self) -> None:
        """Do nothing: a checkpoint is written when `save` returns."""
