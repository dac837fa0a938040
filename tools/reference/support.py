"""What supports a public function: engines, derivatives, and the other surfaces under which it exists.

Everything is derived from the code. The ops that a function runs are observed while its example runs; what an op
supports (gradients, batching, XLA, SavedModels) is in its record and in the tables of the executors and writers; names
of other surfaces are those of the catalogue and of the tables of `tf.raw_ops`, `tf.compat.v1` and ragged functions.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import FrameType, FunctionType
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.api.catalogue import rows
from gradtape.api.catalogue.elementwise import elementwise_functions
from gradtape.api.catalogue.nodes import functions as node_functions
from gradtape.api.catalogue.row import Row
from gradtape.api.names import NAMES
from gradtape.api.namespace import V1, place_of, resolve
from gradtape.core import modes
from gradtape.engine.registry.op import Op, op_named, registry
from gradtape.inspect.checks.opcheck import draw
from gradtape.ragged.functions import implementation_of

Facts = dict[str, str]  # by label, Markdown


class _Observer(modes.Mode):
    """Collects the ops that run while one function is on the stack."""

    def __init__(self, function: FunctionType) -> None:
        self.code = inspect.unwrap(function).__code__
        self.front = function.__code__
        self.depth = 0
        self.ops: dict[str, Any] = {}
        self.has_text = False  # whether one of the ops has strings

    def profile(self, frame: FrameType, event: str, arg: object) -> None:
        if frame.f_code is self.code or frame.f_code is self.front:
            self.depth += {"call": 1, "return": -1}.get(event, 0)

    def op_finished(self, op: Any, inputs: Sequence[Any], outputs: Any) -> None:
        if self.depth > 0:
            self.ops[op.name] = op
            tensors = (*inputs, *(outputs if isinstance(outputs, list | tuple) else [outputs]))
            self.has_text |= any(x.dtype is tf.string for x in tensors)


def observed(function: FunctionType) -> _Observer:
    """Returns what a function runs in the example of its docstring.

    >>> sorted(observed(tf.math.sin).ops), sorted(observed(tf.nest.flatten).ops), observed(tf.strings.lower).has_text
    (['sin'], [], True)
    """
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", {"tf": tf}, "example", None, 0)
    observer = _Observer(function)
    with _quietly():
        modes.enter(observer)
        sys.setprofile(observer.profile)
        try:
            doctest.DocTestRunner(verbose=False).run(example, out=lambda text: None)
        finally:
            sys.setprofile(None)
            modes.leave(observer)
    return observer


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Runs examples in a temporary folder, without their output."""
    before = os.getcwd()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            logging.disable(logging.NOTSET)


@cache
def compiles(name: str) -> bool:
    """Returns whether XLA runs an op itself; otherwise it calls NumPy on the host.

    >>> compiles("sin"), compiles("unique")
    (True, False)
    """
    import jax

    importlib.import_module("gradtape.graph.executors.xla.executor")
    lowering = importlib.import_module("gradtape.graph.executors.xla.lowering")
    op = op_named(name)
    case = op.samples[0]
    try:
        with jax.enable_x64(True):
            jax.eval_shape(partial(lowering.kernel_of(op), **case.attrs), *draw(op, case, np.float32))
    except Exception:  # what a kernel raises that cannot be traced
        return False
    return True


@cache
def is_saved(name: str) -> bool:
    """Returns whether a SavedModel that is written can contain an op.

    >>> is_saved("sin"), is_saved("gelu"), is_saved("erfinv")
    (True, True, True)
    """
    importlib.import_module("gradtape.saved_model.saving")
    translation = importlib.import_module("gradtape.saved_model.writing.translation")
    return bool(translation.is_written(registry[name]))


def facts_of(name: str, also: Sequence[str]) -> Facts:
    """Returns what supports a function, given its name and its other names."""
    function = resolve(name)
    paths = (name, *also)
    found: Facts = {}
    if isinstance(function, FunctionType):
        run = observed(function)
        found |= engine_facts(list(run.ops.values()), run.has_text)
    return found | surface_facts(paths, function)


def engine_facts(ops: Sequence[Any], has_text: bool = False) -> Facts:
    """Returns what the engines do with a function that runs these ops, on strings or not."""
    known: list[Op] = [op for op in ops if op.name in registry]
    if not known or len(known) < len(ops):  # nothing to run, or a user's function inside
        return {}
    on_host = ", ".join(
        f"`{name}`" for name in sorted(op.name for op in known if not has_text and not compiles(op.name))
    )
    xla = "" if has_text else f", XLA ({on_host} on the host)" if on_host else ", XLA"
    facts = {"Engines": f"eager, `tf.function`{xla}"}
    differentiable = [op for op in known if op.vjp is not None]
    if differentiable:
        facts["Derivatives"] = "reverse and forward mode, any order"
        facts["Batched"] = "one pass" if all(op.batch is not None for op in known) else "one pass per row"
        ruled = all(op.rows is not None for op in differentiable)
        facts["Per-example gradients"] = "one pass" if ruled else "one pass per example"
    else:
        facts["Derivatives"] = "none"
    unsaved = sorted(op.name for op in known if not is_saved(op.name))
    facts["SavedModel"] = f"not written: {', '.join(f'`{name}`' for name in unsaved)}" if unsaved else "written, read"
    return facts


def surface_facts(paths: Sequence[str], function: Any) -> Facts:
    """Returns the other names and types that a function serves."""
    facts: Facts = {}
    raw = [op for op, path in node_functions().items() if path in paths]
    if raw:
        facts["Raw op"] = ", ".join(f"`tf.raw_ops.{op}`" for op in sorted(raw))
    old = [f"{V1}{path}" for path in paths if place_of(f"{V1}{path}") is not None]
    if old:
        same = all(place_of(path) == place_of(path.removeprefix(V1)) for path in old)
        facts["TensorFlow 1"] = f"`tf.{min(old, key=len)}`" + ("" if same else ", with its own parameters")
    row = row_of(paths)
    leaf = paths[0].rpartition(".")[2].removeprefix("reduce_") if paths[0].startswith(_LIKE_KERAS) else ""
    numpy, keras = (row and row.numpy) or leaf, (row and row.keras) or leaf
    if f"experimental.numpy.{numpy}" in NAMES:
        facts["NumPy"] = f"`tf.experimental.numpy.{numpy}`"
    if keras in keras_names():
        facts["Keras"] = f"`keras.ops.{keras}`"
    kinds = {
        "`RaggedTensor`": has_ragged_form(paths) or accepts(ragged, paths, function),
        "`SparseTensor`": paths[0].startswith("sparse.") or accepts(sparse, paths, function),
    }
    if any(kinds.values()):
        facts["Composite tensors"] = ", ".join(kind for kind, taken in kinds.items() if taken)
    return facts


def row_of(paths: Sequence[str]) -> Row | None:
    """Returns the row of the catalogue that has one of these names, or None."""
    return next((row for row in rows() if row.names[0] in paths), None)


_LIKE_KERAS = ("math.", "nn.", "linalg.", "image.", "random.", "signal.")


@cache
def keras_names() -> frozenset[str]:
    """Returns the names in `keras.ops`; none without Keras."""
    try:
        return frozenset(dir(tf.keras.ops))
    except AttributeError:
        return frozenset()


def has_ragged_form(paths: Sequence[str]) -> bool:
    """Returns whether the table of ragged functions has an implementation of a function.

    >>> has_ragged_form(["reduce_sum"]), has_ragged_form(["linalg.det"])
    (True, False)
    """
    return any(implementation_of(path) is not None for path in paths)


def accepts(composite: Callable[..., Any], paths: Sequence[str], function: Any) -> bool:
    """Returns whether an elementwise function computes on composite tensors of a kind.

    >>> accepts(ragged, ["math.sin"], tf.math.sin), accepts(sparse, ["math.cos"], tf.math.cos)
    (True, False)
    """
    count = next((n for n, kind in ((1, "unary"), (2, "binary")) if {*paths} & {*elementwise_functions(kind)}), 0)
    for values in ([0.25, 0.5, 0.75], [1, 2, 3], [True, False, True], ["1", "2", "3"]):
        with contextlib.suppress(Exception):  # another dtype, or parameters that are required
            if count and isinstance(function(*[composite(values)] * count), type(composite(values))):
                return True
    return False


def ragged(values: Any) -> tf.RaggedTensor:
    """Returns a ragged tensor of two rows."""
    return tf.RaggedTensor.from_row_lengths(values, [2, 1])


def sparse(values: Any) -> tf.SparseTensor:
    """Returns a sparse matrix with these entries."""
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], values, [2, 3])
