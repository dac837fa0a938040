"""`tf.compat.v1.train`: checkpoints of variables by their names, their files, and graphs with their collections."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from gradtape.api.runtime.graphs import default
from gradtape.api.version import GIT_VERSION, VERSION
from gradtape.checkpoint import files, state
from gradtape.checkpoint.bundle import write_bundle
from gradtape.checkpoint.train import load_checkpoint
from gradtape.core.errors import NotFoundError
from gradtape.core.type_hints import PathLike, TensorLike
from gradtape.state.file_systems import folder_of, is_folder, is_remote, remove
from gradtape.state.variable import Variable

from ...protos.generated import find_among, message_class

NAMESPACES = ("compat.v1.train",)
__all__ = [
    "Saver", "SaverDef", "checkpoint_exists", "export_meta_graph", "get_checkpoint_mtimes", "remove_checkpoint",
    "update_checkpoint_state",
]  # fmt: skip

SaverDef: type[Any]

__getattr__ = find_among(["SaverDef"])


class Saver:
    """Saves and restores variables by their names; the arguments `sess` are ignored, as there are no sessions.

    >>> import tempfile
    >>> v = tf.Variable(1.0, name="v")
    >>> saver = tf.compat.v1.train.Saver([v])
    >>> path = saver.save(None, tempfile.mkdtemp() + "/model", global_step=7)
    >>> v.assign(2.0) and saver.restore(None, path)
    >>> v.numpy()
    np.float32(1.0)
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, var_list: Sequence[Variable] | Mapping[str, Variable] | None = None, reshape: bool = False,
        sharded: bool = False, max_to_keep: int | None = 5, keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None, restore_sequentially: bool = False, saver_def: Any = None, builder: Any = None,
        defer_build: bool = False, allow_empty: bool = False, write_version: int = 2, pad_step_number: bool = False,
        save_relative_paths: bool = False, filename: str | None = None,
    ) -> None:  # fmt: skip
        if var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
            )
        if not var_list and not allow_empty:
            raise ValueError("No variables to save")
        self._variables = _by_name(var_list)
        self._reshape, self._pads = reshape, pad_step_number
        self._most = max_to_keep
        self._seconds = keep_checkpoint_every_n_hours * 3600
        self._next_kept = time.time() + self._seconds
        self._checkpoints: list[tuple[str, float]] = []

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that have not been deleted, the oldest first."""
        return [path for path, _ in self._checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Sets the checkpoints, and when they were saved."""
        self._checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Continues with existing checkpoints, which may be deleted later."""
        found = [(path, files.newest(path)) for path in checkpoint_paths]
        self._checkpoints = [(path, files.modified(file)) for path, file in found if file is not None]

    def save(
        self, sess: Any, save_path: PathLike, global_step: TensorLike | None = None,
        latest_filename: str | None = None, meta_graph_suffix: str = "meta", write_meta_graph: bool = True,
        write_state: bool = True, strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> str:  # fmt: skip
        """Writes a checkpoint that TensorFlow can read, deletes the oldest beyond `max_to_keep`; returns its path."""
        path = os.fsdecode(save_path)
        if global_step is not None:
            step = int(global_step)  # type: ignore[arg-type]
            path = f"{path}-{step:08d}" if self._pads else f"{path}-{step}"
        folder = folder_of(path)
        if not is_remote(path) and not is_folder(folder):
            raise ValueError(f"Parent directory of {path} doesn't exist, can't save.")
        write_bundle(path, {name: variable.read_value() for name, variable in self._variables.items()})
        if write_state:
            self._note(path)
            state.write(folder, path, self.last_checkpoints, name=latest_filename or "checkpoint")
        return path

    def _note(self, path: str) -> None:
        """Appends a checkpoint to the list and deletes those that need not be kept."""
        self._checkpoints = [entry for entry in self._checkpoints if entry[0] != path]
        self._checkpoints.append((path, time.time()))
        while self._most and len(self._checkpoints) > self._most:
            oldest, saved = self._checkpoints.pop(0)
            if saved > self._next_kept:
                self._next_kept += self._seconds
            else:
                files.remove(oldest)

    def restore(self, sess: Any, save_path: PathLike) -> None:
        """Assigns the values of a checkpoint to the variables."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fsdecode(save_path)
        if not files.exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        reader = load_checkpoint(path)
        for name, variable in self._variables.items():
            value = reader.get_tensor(name)
            variable.assign(value.reshape(variable.shape.as_list()) if self._reshape else value)


def _by_name(variables: Sequence[Variable] | Mapping[str, Variable]) -> dict[str, Variable]:
    """Returns the variables by the names that checkpoints have."""
    if isinstance(variables, Mapping):
        return dict(variables)
    found: dict[str, Variable] = {}
    for variable in variables:
        name = variable.name.removesuffix(":0")
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = variable
    return found


def checkpoint_exists(checkpoint_prefix: PathLike) -> bool:
    """Returns whether there is a checkpoint at this path, gradtape's or TensorFlow's.

    >>> tf.compat.v1.train.checkpoint_exists("/none/such")
    False
    """
    return files.exists(os.fsdecode(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """Returns the modification times of existing checkpoints, in seconds.

    >>> tf.compat.v1.train.get_checkpoint_mtimes(["/none/such"])
    []
    """
    found = [files.newest(os.fsdecode(prefix)) for prefix in checkpoint_prefixes]
    return [files.modified(path) for path in found if path is not None]


def remove_checkpoint(
    checkpoint_prefix: PathLike, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.compat.v1.train.remove_checkpoint(path)
    >>> tf.compat.v1.train.checkpoint_exists(path)
    False
    """
    files.remove(os.fsdecode(checkpoint_prefix))
    with suppress(NotFoundError):
        remove(f"{os.fsdecode(checkpoint_prefix)}.{meta_graph_suffix}")


def update_checkpoint_state(
    save_dir: PathLike, model_checkpoint_path: PathLike, all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:  # fmt: skip
    """Writes the `checkpoint` file of a folder: the latest checkpoint and all existing ones.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(folder + "/ckpt")
    >>> tf.compat.v1.train.update_checkpoint_state(folder, path)
    >>> tf.train.latest_checkpoint(folder) == path
    True
    """
    latest = os.fsdecode(model_checkpoint_path)
    paths = [os.fsdecode(path) for path in all_model_checkpoint_paths or []]
    times = list(all_model_checkpoint_timestamps or [])
    if latest not in paths:
        paths.append(latest)
    if times and len(times) != len(paths):
        raise ValueError(
            f"Length of timestamps (if provided) must match checkpoint paths. Got {len(times)} and {len(paths)}."
        )
    state.write(os.fsdecode(save_dir), latest, paths, times, last_preserved_timestamp, latest_filename or "checkpoint")


def export_meta_graph(
    filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
    collection_list: Any = None, as_text: bool = False, graph: Any = None, export_scope: Any = None,
    clear_devices: bool = False, clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
    save_debug_info: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Returns a `MetaGraphDef` with the current graph or a `GraphDef`, and writes it to a file.

    >>> with tf.Graph().as_default():
    ...     _ = tf.compat.v1.placeholder(tf.float32, [2], name="x")
    ...     [node.name for node in tf.compat.v1.train.export_meta_graph().graph_def.node]
    ['x']
    """
    found = message_class("MetaGraphDef")()
    if graph_def is None:
        graph_def = (default.graph if graph is None else graph).as_graph_def(add_shapes=True)
    found.graph_def.CopyFrom(graph_def)
    if meta_info_def is not None:
        found.meta_info_def.CopyFrom(meta_info_def)
    found.meta_info_def.tensorflow_version = VERSION
    found.meta_info_def.tensorflow_git_version = GIT_VERSION
    if saver_def is not None:
        found.saver_def.CopyFrom(saver_def)
    if clear_devices:
        for node in found.graph_def.node:
            node.device = ""
    if filename:
        with open(filename, "wb") as file:
            file.write(str(found).encode() if as_text else found.SerializeToString())
    return found
