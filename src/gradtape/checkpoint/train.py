"""`tf.train`: checkpoints and moving averages."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from ..core import errors, log_ignored
from ..core.type_hints import PathLike
from ..engine.run.signatures import signature_of
from ..state.archive import ArchiveReader
from ..state.file_systems import is_folder
from ..state.moving_average import ExponentialMovingAverage
from . import state
from .bundle import BundleReader
from .checkpoint import Checkpoint
from .files import open_checkpoint
from .manager import CheckpointManager
from .python_state import PythonState
from .sharding import MaxShardSizePolicy, ShardableTensor, ShardByTaskPolicy, ShardingCallback
from .state import CheckpointState

NAMESPACES = ("train", "train.experimental")
__all__ = [
    "Checkpoint", "CheckpointManager", "CheckpointOptions", "ExponentialMovingAverage", "MaxShardSizePolicy",
    "PythonState", "ShardByTaskPolicy", "ShardableTensor", "ShardingCallback", "checkpoints_iterator",
    "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint", "load_variable",
]  # fmt: skip

_SECONDS_BETWEEN_LOOKS = 1.0  # into a folder, as in TensorFlow


class CheckpointOptions:
    """Options for writing checkpoints.

    Args:
      experimental_write_callbacks: functions that are called after a checkpoint is written, with its path or without
        arguments.
      experimental_sharding_callback: a `tf.train.experimental.ShardingCallback`. Its shards are written to one file.
      save_format: "tf" for TensorFlow's files, an index and its data, or "npz" for one file that `numpy.load` reads.

    A checkpoint is written when `write` or `save` returns, also with `enable_async`. `experimental_skip_slot_variables`
    has no effect, which is logged.

    >>> import os, tempfile
    >>> options = tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path: print(os.path.basename(path))])
    >>> _ = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tempfile.mkdtemp() + "/ckpt", options)
    ckpt-1
    """

    __module__ = "gradtape.train"

    def __init__(
        self,
        experimental_io_device: Any = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
        *,
        save_format: Literal["tf", "npz"] = "tf",
    ) -> None:
        if save_format not in ("tf", "npz"):
            raise ValueError(f"save_format is 'tf' for TensorFlow's files, 'npz' for one archive; got {save_format!r}")
        for callback in experimental_write_callbacks or ():
            if len(signature_of(callback).parameters) > 1:
                raise AssertionError(f"A callback takes the path of the checkpoint, or nothing; got {callback}")
        log_ignored("train.CheckpointOptions", experimental_skip_slot_variables=experimental_skip_slot_variables)
        self.experimental_io_device = experimental_io_device
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback
        self.save_format = save_format

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({"save_format": "tf"} | state)  # older pickles have no format

    def __copy__(self) -> CheckpointOptions:
        found = CheckpointOptions()
        vars(found).update(vars(self), experimental_write_callbacks=copy.copy(self.experimental_write_callbacks))
        return found


def latest_checkpoint(checkpoint_dir: PathLike, latest_filename: str | None = None) -> str | None:
    """Returns the path of the latest checkpoint in a folder, or None.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.train.latest_checkpoint(folder) is None
    True
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/ckpt")
    >>> tf.train.latest_checkpoint(folder) == path
    True
    """
    return state.latest(os.fsdecode(checkpoint_dir), latest_filename or "checkpoint")


def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], Any] | None = None,
) -> Iterator[str]:
    """Yields the latest checkpoints of a folder as they appear, for evaluation during training.

    Args:
      min_interval_secs: minimum number of seconds between two checkpoints.
      timeout: seconds to wait for the next one; None waits forever. After that the iteration ends, unless
        `timeout_fn()` is false.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/ckpt")
    >>> list(tf.train.checkpoints_iterator(folder, timeout=0)) == [path]
    True
    """
    seen = None
    while True:
        until = None if timeout is None else time.monotonic() + timeout
        while (found := latest_checkpoint(checkpoint_dir)) is None or found == seen:
            if until is not None and time.monotonic() + _SECONDS_BETWEEN_LOOKS > until:
                break
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if found is None or found == seen:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start, seen = time.monotonic(), found
        yield found
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))


def get_checkpoint_state(checkpoint_dir: PathLike, latest_filename: str | None = None) -> CheckpointState | None:
    """Returns the contents of a folder's `checkpoint` file, or None if there is none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/ckpt")
    >>> tf.train.get_checkpoint_state(folder).model_checkpoint_path == path
    True
    """
    return state.read(os.fsdecode(checkpoint_dir), latest_filename or "checkpoint")


class CheckpointReader:
    """Reads the values of a checkpoint by key."""

    def __init__(self, reader: ArchiveReader | BundleReader) -> None:
        self._reader = reader

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns the shapes of the values."""
        return {name: list(self._reader.shape(name)) for name in self._reader.dtypes}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Returns the dtypes of the values."""
        return dict(self._reader.dtypes)

    def has_tensor(self, tensor_str: str) -> bool:
        """Returns whether there is a value with this key."""
        return tensor_str in self._reader.dtypes

    def get_tensor(self, tensor_str: str) -> Any:
        """Returns the value with this key as a NumPy array."""
        if not self.has_tensor(tensor_str):
            raise errors.NotFoundError(f"Key {tensor_str} not found in checkpoint")
        return self._reader.read(tensor_str).numpy()

    def debug_string(self) -> bytes:
        """Returns all keys with dtype and shape, one per line."""
        shapes = self.get_variable_to_shape_map()
        lines = [f"{name} ({self._reader.dtypes[name].name}) {shape}" for name, shape in sorted(shapes.items())]
        return "\n".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: PathLike) -> CheckpointReader:
    """Returns a reader of a checkpoint, or of the latest one in a folder.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """
    given = os.fsdecode(ckpt_dir_or_file)
    if is_folder(given):
        found = latest_checkpoint(given)
        if found is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {given}")
        given = found
    return CheckpointReader(open_checkpoint(given))


def load_variable(ckpt_dir_or_file: PathLike, name: str) -> np.ndarray[Any, Any]:
    """Returns one value of a checkpoint as a NumPy array.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    np.float32(1.0)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """Returns the keys and shapes of the values of a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(layers=[tf.Variable([1.0, 2.0])]).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.list_variables(path)
    [('_CHECKPOINTABLE_OBJECT_GRAPH', []), ('layers/0/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
