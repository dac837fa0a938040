"""Second derivatives from one tape: the tape records its own reverse sweep and differentiates it again.

Rules compute with tensors that are on the tape, so a recorded sweep can be differentiated without a second, outer tape
(reverse over reverse). After the query, the log is truncated to what it held before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ...core import nest
from ...core.tensor import Tensor
from ..registry.cotangents import finished
from ..registry.devices import REAL
from ..run import dispatch
from ..run.convert import to_tensor
from ..run.namespace import ops
from . import jacobians
from .jacobian_modes import Transpose, as_matrix, check_choice, in_form, is_small, no_entries, of_examples
from .log import Log
from .validation import differentiable, single


class Hessians:
    """The methods of a tape that compute second derivatives."""

    _sweeps: int
    _open_log: Callable[[str], Log]
    _before_asking: Callable[[], None]
    _after_asking: Callable[[], None]
    _kept: Callable[[bool], AbstractContextManager[None]]
    _vjp: Callable[[Log, list[Any], list[Any], list[Any]], list[Any]]
    _jacobians_by_rows: Callable[[Log, Any, list[Any], int], list[Any]]
    _tell: Callable[..., None]
    _sparse_hessian: Callable[[Log, list[Any], list[Any], int], list[list[Any]]]
    _jacobians_of_rows: Callable[[Log, Any, Any, bool | None, int], Tensor]

    def hessian(self, target: Any, sources: Any, *, sparse: bool | str = False, max_bytes: int | None = None) -> Any:
        """Computes the Hessian of a scalar: its shape is that of the source twice; None without a path.

        For a nested structure of sources the result is nested twice: `result[i][j]` has the shape of source `i`
        followed by that of source `j`.

        With `sparse`, the result is a SciPy array in CSR format, with "tensor" a `SparseTensor`; "auto" computes the
        SciPy array in the dense way if the sources have few entries. A Hessian with few nonzero entries takes few
        sweeps: fewer than a Jacobian with the same pattern, because of its symmetry. The block of two sources that no
        term combines is present, without entries.

        >>> import gradtape as tf
        >>> x, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     y = b * x[0] ** 2 * x[1]
        >>> tape.hessian(y, x).numpy().tolist()
        [[12.0, 6.0], [6.0, 0.0]]
        >>> tape.hessian(y, {"x": x, "b": b})["b"]["x"].numpy().tolist()
        [4.0, 1.0]
        """
        log = self._open_log("compute a hessian")
        target = single(target, "target")
        flat = [differentiable(s, "source") for s in nest.flatten(sources)]
        check_choice("auto", sparse, target, flat)
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        self._before_asking()
        self._sweeps = 0
        small = is_small(sparse, flat)
        with self._recorded_sweep(log, [target], flat) as gradients:
            if sparse and not small:
                found = [
                    [in_form(block, sparse, x.dims, y.dims, y.dtype) for block, y in zip(blocks, flat, strict=True)]
                    for blocks, x in zip(self._sparse_hessian(log, gradients, flat, together), flat, strict=True)
                ]
            else:
                found = [
                    [None] * len(flat)
                    if gradient is None
                    else list(map(_free, self._jacobians_by_rows(log, gradient, flat, together)))
                    for gradient in gradients
                ]
                self._tell_of_second(flat, gradients, [_some(blocks, i) for i, blocks in enumerate(found)])
                if small:
                    found = [
                        [as_matrix(y, x.dims) for x, y in zip(flat, blocks, strict=True)] for blocks in found
                    ]
        self._after_asking()
        return nest.pack_sequence_as(sources, [nest.pack_sequence_as(sources, blocks) for blocks in found])

    def batch_hessian(
        self,
        target: Any,
        source: Any,
        *,
        check_rows: bool | None = None,
        sparse: bool | str = False,
        max_bytes: int | None = None,
    ) -> Any:
        """Computes the Hessian of each example's loss with respect to its own row of `source`: shape `[b, x..., x...]`.

        `target` has the losses along its first axis; without a path to the source the result is None. As in
        `batch_jacobian`, a loss must not depend on the rows of other examples. This is checked: if it does, the result
        is the sum over the batch, and a warning is logged; `check_rows=True` raises an error instead, and
        `check_rows=False` skips the check.

        With `sparse`, the result is a SciPy array in CSR format with these matrices stacked vertically, with "tensor" a
        `SparseTensor` of the dense shape. The number of sweeps is that of the example that needs most.

        >>> import gradtape as tf
        >>> x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     losses = x[:, 0] ** 2 * x[:, 1]
        >>> tape.batch_hessian(losses, x).numpy().tolist()
        [[[4.0, 2.0], [2.0, 0.0]], [[8.0, 6.0], [6.0, 0.0]]]
        """
        log = self._open_log("compute a batch_hessian")
        target, source = single(target, "target"), single(source, "source")
        if not target.dims or not source.dims or target.dims[0] != source.dims[0]:
            raise ValueError(
                "batch_hessian needs a loss, and a row of the source, for each example, along the first axis, got "
                f"shapes {list(target.dims)} and {list(source.dims)}. Leave the mean over the batch away"
            )
        check_choice("auto", sparse, target, [source])
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        self._before_asking()
        self._sweeps = 0
        small = is_small(sparse, [source])
        with self._recorded_sweep(log, [target], [source]) as (gradient,):
            found = None
            if gradient is not None:
                if check_rows is not False:
                    jacobians.warn_of_dependent_rows(self._rows_weigh_alone(log, target, source, gradient), check_rows)
                if sparse and not small:
                    ((whole,),) = self._sparse_hessian(log, [gradient], [source], together)
                    whole = no_entries(gradient, source) if whole is None else whole
                    blocks, alone = of_examples(whole, math.prod(source.dims[1:]))
                    jacobians.warn_of_dependent_rows(alone or check_rows is False, check_rows)
                    found = in_form(blocks, sparse, source.dims, source.dims[1:], source.dtype)
                else:
                    found = _free(self._jacobians_of_rows(log, gradient, source, check_rows, together))
                    self._tell_of_second([source], [gradient], [found])
                    if small:
                        found = as_matrix(found, source.dims[1:])
        self._after_asking()
        return found

    def _rows_weigh_alone(self, log: Log, target: Any, source: Any, gradient: Any) -> bool:
        """Whether weighting each loss scales only its own row of the gradient."""
        if target.dims[0] < 2:
            return True
        weights = np.random.default_rng(0).uniform(1, 2, target.dims[0]).astype(target.dtype.numpy)
        seeds = Tensor(np.broadcast_to(_column(weights, len(target.dims)), target.dims).copy(), target.dtype)
        with dispatch.recorded_by(()):
            weighed = finished(ops, self._vjp(log, [target], [seeds], [source])[0])
        if type(weighed) not in REAL or type(gradient) not in REAL:
            return True
        expected = gradient.array * _column(weights, len(source.dims))
        tolerance = (0.1 if target.dtype.size < 4 else 1e-3) * abs(expected).max(initial=0)
        return not np.isfinite(tolerance) or bool(np.all(abs(expected - weighed.array) <= tolerance))

    def hvp(self, target: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the Hessian of a scalar with vectors, without forming the Hessian.

        `vectors` has the structure of `sources`.

        >>> import gradtape as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = tf.reduce_sum(x**3)
        >>> tape.hvp(y, x, [1.0, 10.0]).numpy().tolist()
        [6.0, 120.0]
        """
        log = self._open_log("compute a Hessian-vector product")
        target = single(target, "target")
        flat = [differentiable(s, "source") for s in nest.flatten(sources)]
        along = _like(vectors, flat, sources)
        self._before_asking()
        with self._recorded_sweep(log, [target], flat) as gradients:
            known = [(g, v) for g, v in zip(gradients, along, strict=True) if g is not None]
            found = self._vjp(log, [g for g, _ in known], [v for _, v in known], flat) if known else [None] * len(flat)
            self._tell_of_second(flat, gradients, found)
        self._after_asking()
        return nest.pack_sequence_as(sources, list(map(_free, found)))

    def ggnvp(self, target: Any, outputs: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the generalized Gauss-Newton matrix, JᵀHJ, with vectors structured like `sources`.

        J is the Jacobian of `outputs`, a tensor on the path to the scalar `target`, with respect to the sources; H is
        the Hessian of the target with respect to the outputs. The matrix is positive semidefinite where the target is
        convex in the outputs, as common losses are.

        >>> import gradtape as tf
        >>> w = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     outputs = w**2
        ...     loss = tf.reduce_sum(outputs**2)
        >>> tape.ggnvp(loss, outputs, w, [1.0, 1.0]).numpy().tolist()
        [8.0, 32.0]
        """
        log = self._open_log("compute a Gauss-Newton product")
        target, outputs = single(target, "target"), single(outputs, "outputs")
        flat = [differentiable(s, "source") for s in nest.flatten(sources)]
        along = _like(vectors, flat, sources)
        check_choice("forward", False, outputs, flat)
        self._before_asking()
        moved = Transpose(self, log, outputs, flat).along(along)
        found: list[Any] = [None] * len(flat)
        if moved is not None:
            with self._recorded_sweep(log, [target], [outputs]) as (gradient,):
                curved = None if gradient is None else self._vjp(log, [gradient], [moved], [outputs])[0]
            if curved is not None:
                with self._kept(True):
                    found = self._vjp(log, [outputs], [_free(curved)], flat)
        self._after_asking()
        return nest.pack_sequence_as(sources, list(map(_free, found)))

    def _tell_of_second(self, sources: list[Any], gradients: list[Any], found: list[Any]) -> None:
        """Reports second derivatives to the observer where the first derivative exists. They may well be zero."""
        rest = [(s, g, second) for s, g, second in zip(sources, gradients, found, strict=True) if g is not None]
        if rest:
            own, slopes, second = map(list, zip(*rest, strict=True))
            self._tell(slopes, own, second, True, zeros=False)

    @contextmanager
    def _recorded_sweep(self, log: Log, targets: list[Any], sources: list[Any]) -> Iterator[list[Any]]:
        """Yields gradients that the tape has recorded; truncates the log to its previous content afterwards."""
        before = log.bookmark()
        outer = dispatch.thread.recorders
        try:
            with self._kept(True):
                with dispatch.recorded_by((*(r for r in outer if r is not log), log)):
                    found = self._vjp(log, targets, [None] * len(targets), sources)
                    gradients = [None if g is None else finished(ops, g) for g in found]
                    self._tell(targets, sources, gradients, True)
                yield gradients
        finally:
            log.truncate(before)


def _some(blocks: list[Any], own: int) -> Any:
    """The block of a source with itself, or else with another source that it interacts with."""
    return next((block for block in (blocks[own], *blocks) if block is not None), None)


def _column(weights: Any, rank: int) -> Any:
    return weights.reshape(-1, *(1,) * (rank - 1))


def _like(vectors: Any, sources: list[Any], structure: Any) -> list[Tensor]:
    """Converts the vectors to tensors with the dtypes of the sources, and checks their shapes."""
    flat = list(_leaves(structure, vectors))
    found = [to_tensor(v, dtype=s.dtype) for v, s in zip(flat, sources, strict=True)]
    for v, s in zip(found, sources, strict=True):
        if v.dims != tuple(s.dims):
            raise ValueError(f"a vector has the shape of its source, {list(s.dims)}, got {list(v.dims)}")
    return found


def _leaves(structure: Any, values: Any) -> Iterator[Any]:
    """Yields the part of `values` at each leaf of `structure`: a list of numbers may be a vector."""
    if not nest.is_nested(structure):
        yield values
        return
    mine = nest.parts(structure)
    others = nest.parts(values) if nest.is_nested(values) else []
    if len(mine) != len(others):
        raise ValueError(f"there are {len(mine)} sources, and {len(others)} vectors: one is needed for each")
    for part, value in zip(mine, others, strict=True):
        yield from _leaves(part, value)


def _free(g: Any) -> Any:
    """Returns a copy of a result that outer recorders know, but that does not refer to the truncated records."""
    return None if g is None else ops.identity(finished(ops, g))
