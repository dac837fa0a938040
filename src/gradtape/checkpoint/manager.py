"""`CheckpointManager`: numbered checkpoints of one object in a folder; old ones are deleted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from ..core.tracebacks import bounded
from ..state import archive
from . import files, shared, state
from .bundle import DATA, INDEX
from .checkpoint import Checkpoint
from .shared import ENDING


@bounded
class CheckpointManager:
    """Saves a `Checkpoint` under increasing numbers and keeps the last `max_to_keep`.

    >>> import tempfile, os
    >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']

    Args:
      max_to_keep: how many checkpoints to keep; None for all of them.
      keep_checkpoint_every_n_hours: of the checkpoints to be deleted, keep one per this many hours permanently.
      step_counter: a variable that counts steps; `checkpoint_interval` is the least number of steps between saves.
      init_fn: called by `restore_or_initialize` if there is no checkpoint.
    """

    __module__ = "gradtape.train"

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint = checkpoint
        self._directory = os.fsdecode(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._keep_every = None if keep_checkpoint_every_n_hours is None else 3600.0 * keep_checkpoint_every_n_hours
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._last_step = last_checkpoint_step
        self._init_fn = init_fn
        now = time.time()
        self._kept: dict[str, float] = {}  # paths and write times, oldest first
        self._latest: str | None = None
        self._last_preserved = now
        found = state.read(self._directory)
        if found is not None:
            self._latest = found.model_checkpoint_path
            self._last_preserved = min(now, found.last_preserved_timestamp or now)
            times = found.all_model_checkpoint_timestamps
            if len(times) != len(found.all_model_checkpoint_paths):
                times = [now] * len(found.all_model_checkpoint_paths)
            self._kept = dict(zip(found.all_model_checkpoint_paths, times, strict=True))
        for pattern in ("checkpoint", *(f"{checkpoint_name}-*{ending}" for ending in (ENDING, INDEX, DATA))):
            archive.remove_drafts(self._directory, pattern)

    @property
    def checkpoint(self) -> Checkpoint:
        """The managed checkpoint."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder of the checkpoints."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """The least number of steps between two saves."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the most recent checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Write the next checkpoint and delete expired ones; return its path, or None if it is too soon."""
        step = None if self._step_counter is None else int(self._step_counter)
        too_soon = step is not None and self._last_step is not None and step - self._last_step < (self._interval or 0)
        if check_interval and too_soon:
            return None
        counter = self._checkpoint.save_counter
        before = int(counter)
        counter.assign(before + 1)
        try:
            number = before + 1 if checkpoint_number is None else int(checkpoint_number)
            path = self._checkpoint.write(f"{self._prefix}-{number}", options)
        except BaseException:
            counter.assign(before)
            raise
        self._last_step = step
        self._latest = path
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        deleted = self._too_old()
        if not shared.leads():
            return path
        state.write(self._directory, path, list(self._kept), list(self._kept.values()), self._last_preserved)
        for old in deleted:  # only after the state file no longer lists them
            files.remove(old)
        return path

    def _too_old(self) -> list[str]:
        deleted = []
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, written = next(iter(self._kept.items()))
            del self._kept[path]
            if self._keep_every is not None and written - self._keep_every >= self._last_preserved:
                self._last_preserved = written
            else:
                deleted.append(path)
        return deleted

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, call `init_fn` and return None."""
        if self._latest is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint.restore(self._latest)
        if self._step_counter is not None:
            self._last_step = int(self._step_counter)
        return self._latest

    def sync(self) -> None:
        """Do nothing: a checkpoint is written when `save` returns."""
