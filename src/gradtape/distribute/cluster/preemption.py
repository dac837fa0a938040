"""Checkpoints of several processes, on request and at preemption, when all processes save one and exit."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...checkpoint.checkpoint import Checkpoint
from ...checkpoint.manager import CheckpointManager
from ...checkpoint.shared import Group, write_together
from ...core import dtypes, errors, logger
from ...core.tensor import wrap
from ...state.variable import Variable
from . import collectives
from . import membership as cluster

NAMESPACES = ("distribute", "distribute.experimental")
__all__ = ["PreemptionCheckpointHandler", "TerminationConfig", "save"]

_RUNS = "checkpointed_runs"  # the attribute of the checkpoint with the number of runs
_RESTART_CODE = 42
_SECONDS_BETWEEN_QUESTIONS = 1.0  # to `termination_watcher_fn`


class TerminationConfig:
    """How a `PreemptionCheckpointHandler` is notified of a preemption, and how it saves and exits.

    >>> tf.distribute.experimental.TerminationConfig(grace_period=60).grace_period
    60

    Args:
      termination_watcher_fn: a function that returns whether the process will be ended; it is called repeatedly. By
        default, the signal SIGTERM says so.
      exit_fn: called after the checkpoint was saved; by default `sys.exit(42)`.
      grace_period: the seconds between the notice and the end; training goes on for most of it.
      save_fn: called to save the checkpoint.
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.termination_watcher_fn, self.exit_fn = termination_watcher_fn, exit_fn
        self.grace_period, self.save_fn = grace_period, save_fn


class PreemptionCheckpointHandler:
    """Saves a checkpoint and ends the program when it is preempted, and restores it when the program starts again.

    >>> import tempfile
    >>> v = tf.Variable(0.0)
    >>> config = tf.distribute.experimental.TerminationConfig(lambda: False)
    >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    ...     None, tf.train.Checkpoint(v=v), tempfile.mkdtemp(), config)
    >>> float(handler.run(v.assign_add, 1.0)), handler.total_run_calls
    (1.0, 1)

    Args:
      cluster_resolver: the resolver of the strategy, or None.
      checkpoint_or_checkpoint_manager: what to save.
      checkpoint_dir: the folder for a `tf.train.Checkpoint`.
      termination_config: a `TerminationConfig`.
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Any,
        checkpoint_dir: Any = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        manager = checkpoint_or_checkpoint_manager
        if isinstance(manager, Checkpoint):
            if not checkpoint_dir:
                raise errors.InvalidArgumentError(
                    "When a checkpoint is passed, a checkpoint_dir must be passed as well."
                )
            manager = CheckpointManager(manager, checkpoint_dir, max_to_keep=1)
        if cluster_resolver and "ps" in cluster_resolver.cluster_spec().as_dict():
            raise NotImplementedError(
                "PreemptionCheckpointHandler does not support usage with "
                "tf.distribute.experimental.ParameterServerStrategy."
            )
        config = termination_config or TerminationConfig()
        self._manager: CheckpointManager = manager
        self._exit = config.exit_fn or (lambda: sys.exit(_RESTART_CODE))
        self._grace, self._save_fn = config.grace_period or 0.0, config.save_fn
        checkpoint = manager.checkpoint
        if not hasattr(checkpoint, _RUNS):
            runs = Variable(wrap(np.int64(0), dtypes.int64), trainable=False, name=_RUNS)
            setattr(checkpoint, _RUNS, runs)
        self._runs: Variable = getattr(checkpoint, _RUNS)
        manager.restore_or_initialize()
        self._count = int(self._runs)
        self._seconds = 0.0  # of a run, on average
        self._notified = threading.Event()
        self._notified_at = 0.0
        self._stopped = threading.Event()
        self._save_at: int | None = None  # the number of runs
        self._is_final = False  # whether the checkpoint of the grace period was saved
        if config.termination_watcher_fn is not None:
            watch = (config.termination_watcher_fn,)
            threading.Thread(target=self._poll, args=watch, name="termination watcher", daemon=True).start()
        else:
            signal.signal(signal.SIGTERM, lambda number, frame: self._notify())

    def _notify(self) -> None:
        if not self._notified.is_set():
            self._notified_at = time.time()
            self._notified.set()

    def _poll(self, told: Callable[[], bool]) -> None:
        while not self._stopped.wait(_SECONDS_BETWEEN_QUESTIONS / 10):
            if told():
                self._notify()
                return

    def __del__(self) -> None:
        if hasattr(self, "_stopped"):
            self._stopped.set()

    @property
    def total_run_calls(self) -> int:
        """The number of calls of `run`, with those before the program was restarted."""
        return self._count

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function that trains for one or more steps, after saving a checkpoint if it is time to."""
        self._check()
        start = time.time()
        result = distributed_train_function(*args, **kwargs)
        self._count += 1
        self._seconds += (time.time() - start - self._seconds) / self._count
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves a checkpoint and exits if the program is preempted; to be called after each step instead of `run`.

        Args:
          *args: arguments of `CheckpointManager.save`.
          **kwargs: keyword arguments of `CheckpointManager.save`.
        """
        self._check(*args, **kwargs)
        self._count += 1
        self._seconds = 0.0

    @contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """Context manager: in TensorFlow, reports errors of the block to the other workers, which happens always."""
        yield

    def _check(self, *args: Any, **kwargs: Any) -> None:
        """Saves and exits if it is time to. All processes are told of a notice at the same run."""
        if self._save_at is None:
            told = self._notified.is_set()
            if self._is_final:
                told = told and time.time() > self._notified_at + self._grace - 6 * self._seconds
            if cluster.identity().size > 1:
                told = any(collectives.exchange(told, "notice of preemption"))
            if told:
                logger.info("This program is preempted: it saves a checkpoint after the next run")
                self._save_at = self._count + 1
        elif self._count >= self._save_at:
            self._save(*args, **kwargs)
            if self._grace <= 0 or self._is_final:
                self._stopped.set()
                self._exit()
            else:
                self._is_final, self._save_at = True, None

    def _save(self, *args: Any, **kwargs: Any) -> None:
        self._runs.assign(self._count)
        if self._save_fn is not None:
            self._save_fn(*args, **kwargs)
        elif cluster.identity().size > 1:
            save(self._manager, *args, **kwargs)
        else:
            self._manager.save(*args, **kwargs)


def save(manager: Any, *args: Any, shards: bool = False, **kwargs: Any) -> Any:
    """Calls `manager.save(...)` of a `tf.train.CheckpointManager` or `Checkpoint` on all ranks, and writes once.

    The first rank writes while the others wait. If that fails, for example on a full disk, all ranks raise the error.
    Any number of processes can restore the checkpoint.

    Args:
      shards: each rank writes a part of the variables to its own file, for large models on a shared disk.

    >>> import tempfile
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), 2)
    >>> tf.distribute.save(manager).endswith("ckpt-1")
    True
    """
    me = cluster.identity()
    group = Group(me.rank, me.size, lambda value: collectives.exchange(value, "part of a checkpoint"), shards)
    with write_together(group):
        path = manager.save(*args, **kwargs)
    collectives.barrier("end of a checkpoint")
    return path
