"""Which executor runs a function's graphs: XLA where `jit_compile` says so and, without it, by default on a device.

By default, XLA gets only what it can run alone: a graph that would call Python, or whose shapes depend on values, is
left to the other executors, and one log line per function says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...backends.arrays import ArrayModule
from ...core import devices, logger
from ...core.extras import install_command
from ..ir.graph import Graph, subgraphs

MIN_NODES = 4  # of a graph that is compiled by default, as in TensorFlow's auto-clustering
_COMPILED_AT_ONCE = 4  # graphs of one function that are compiled in their first run, as a compilation takes seconds


def from_environment() -> bool | None:
    """Read `--tf_xla_auto_jit` from `TF_XLA_FLAGS`: 1 and 2 compile everywhere, 0 nowhere."""
    level = None
    for flag in os.environ.get("TF_XLA_FLAGS", "").replace(",", " ").split():
        name, _, value = flag.partition("=")
        if name.lstrip("-") == "tf_xla_auto_jit" and value in ("0", "1", "2"):
            level = value != "0"
    return level


# Whether functions without `jit_compile` are compiled: everywhere, nowhere, or (None) on devices.
settings = SimpleNamespace(autoclustering=from_environment())


class JitPolicy:
    """The decisions about one function; all of its graphs share it."""

    def __init__(self, name: str, requested: bool | None, reported: set[str] | None = None) -> None:
        self.requested = requested
        self._name = name
        self._reported = set() if reported is None else reported  # why XLA does not run it; shared by its copies
        self._compiled = 0

    def applies(self, module: ArrayModule | None) -> bool:
        """Whether XLA compiles graphs for tensors on the device of `module`; None is the host."""
        if self.requested is not None:
            if self.requested and module is not None:
                _check_device(module)
            return self.requested
        if settings.autoclustering is False or (module is None and settings.autoclustering is None):
            return False
        return is_available(module) and not _forked_after_xla()

    @property
    def is_compiled(self) -> bool:
        """Whether XLA runs the function: because it has to, or by default a graph at least."""
        return bool(self.requested) or self._compiled > 0

    def is_worth_it(self, graph: Graph) -> bool:
        """Whether a graph has enough ops for a program: below, the call of a program takes longer than the ops."""
        return len(graph.nodes) >= MIN_NODES or any(any(subgraphs(node)) for node in graph.nodes)

    def defers(self) -> bool:
        """Whether a graph is compiled in its second run only: a function of many shapes may not run for one again."""
        return self.requested is None and self._compiled >= _COMPILED_AT_ONCE

    def compile_graph(self, graph: Graph, in_child: Callable[[], Any] | None = None) -> Any:
        """Returns the compiled graph, or None if it is left to the other executors.

        `in_child` makes the program that runs in a process that is forked later; by default, an error is raised
        there.
        """
        from ..executors.xla.executor import compile_graph  # imported lazily: most functions run on NumPy
        from ..executors.xla.standalone import NotCompilable

        program = compile_graph(graph, standalone=True, in_child=in_child)
        try:
            program.prepare()
        except Exception as error:  # whatever JAX or XLA raises: the other executors report errors of the user
            known = isinstance(error, NotCompilable)
            self.refuse(str(error) if known else f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
            return None
        self._compiled += 1
        return program

    def refuse(self, reason: str) -> None:
        """Log why XLA does not run a graph of this function, once."""
        log = logger.debug if self._reported else logger.warning
        self._reported.add(reason)
        log("function %s is not compiled by XLA: %s", self._name, reason)


@cache
def _check_device(module: ArrayModule) -> None:
    """Raises the error of a kernel that has failed on the device: XLA, starting there, would abort the process."""
    try:
        module.to_host(module.from_host(np.zeros(1, np.float32)))
    except RuntimeError as error:
        devices.raise_if_lost("the start of XLA", error)
        raise


def _forked_after_xla() -> bool:
    from ..executors.xla.executor import is_of_another_process

    return is_of_another_process()


@cache
def is_available(module: ArrayModule | None) -> bool:
    """Whether XLA runs programs where the tensors of `module` are; None is the host. Otherwise one log line says why.

    XLA on the host would have to copy all tensors of a device, and its programs run on the first device of a kind.
    """
    if module is not None:
        _check_device(module)
    from ..executors.xla.executor import check_jax
    from ..executors.xla.mesh import prepare

    try:
        check_jax()
        prepare()
        import jax

        platform = jax.default_backend()
    except (ImportError, RuntimeError) as error:
        missing = f"JAX is not installed: {install_command('xla')}"
        reason = str(error) if isinstance(error, RuntimeError) else missing
    else:
        if module is None or (platform == module.xla_platform and module.device.endswith(":0")):
            return True
        reason = f"the installed JAX runs programs on the {platform.upper()}"
        reason += "" if platform == module.xla_platform else ", not there: pip install 'jax[cuda12]'"
    where = "the host" if module is None else module.device
    logger.warning("functions with tensors on %s are not compiled by XLA: %s", where, reason)
    return False
