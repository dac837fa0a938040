"""Jacobians by vectorized reverse sweeps, in chunks of rows, and batch Jacobians with a check for row independence."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core import nest
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, batched_identity
from ..registry.devices import REAL
from ..run import dispatch
from ..run.namespace import ops
from .jacobian_modes import (
    ChosenJacobians,
    as_matrix,
    check_choice,
    in_form,
    is_small,
    no_entries,
    ranges,
    rows_of,
)
from .log import Log
from .validation import UnconnectedGradients, differentiable, single, unconnected_mode, zeros

logger = logging.getLogger("gradtape")

_DEPENDENT_ROWS = (
    "batch_jacobian: rows of the target depend on other rows of the source (as with batch normalisation or a sum over "
    "the batch), so there is no Jacobian for each row."
)
CHUNK_BYTES = 1 << 30  # rows are computed together while each array of their cotangents fits in this


class Jacobians(ChosenJacobians):
    """The methods of a tape that return a row of derivatives for each entry of the target."""

    _persistent: bool
    _open_log: Callable[[str], Log]
    _before_asking: Callable[[], None]
    _after_asking: Callable[[], None]
    _vjp: Callable[[Log, list[Any], list[Any], list[Any]], list[Any]]
    _tell: Callable[[Any, list[Any], list[Any], bool], None]

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        mode: str | None = None,
        sparse: bool | str = False,
        max_bytes: int | None = None,
    ) -> Any:
        """Computes the jacobian using operations recorded in context of this tape.

        The result for each source has the shape of `target` followed by that of the source. All rows are computed
        together, in vectorized form.

        Args:
          target: a tensor to be differentiated.
          sources: a tensor, a variable, or a nested structure of them.
          unconnected_gradients: a value of `tf.UnconnectedGradients`: whether a source that the target does not depend
            on gets None (the default) or zeros.
          parallel_iterations: ignored; accepted for compatibility with TensorFlow.
          experimental_use_pfor: if False, computes one row at a time.
          mode: "reverse" computes the Jacobian by rows, one sweep for each entry of the target; "forward" by columns,
            one for each entry of the sources; "auto" chooses the mode with fewer sweeps. The default is "reverse", or
            "auto" if `sparse`.
          sparse: whether to detect the sparsity pattern first and to compute structurally orthogonal rows or columns
            together. The result is a SciPy array in CSR format with a row for each entry of the target (half precision
            becomes float32), or with "tensor" a `SparseTensor` of the dense Jacobian's shape. "auto" returns the SciPy
            array too, but skips the detection for sources with few entries, where it takes longer than it saves.
            `sweeps` is the number of sweeps used.
          max_bytes: the number of rows or columns computed together is limited so that each array in the sweep fits in
            this.

        >>> import gradtape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        log = self._open_log("compute a jacobian")
        unconnected = unconnected_mode(unconnected_gradients)
        target = single(target, "target")
        flat = [differentiable(s, "source") for s in nest.flatten(sources)]
        mode = mode or ("auto" if sparse else "reverse")
        check_choice(mode, sparse, target, flat)
        if not experimental_use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with eager execution "
                "enabled and with  experimental_use_pfor set to False."
            )
        together = CHUNK_BYTES if max_bytes is None else max_bytes
        self._before_asking()
        self._sweeps = 0
        small = is_small(sparse, flat)
        if sparse and not small:
            found = self._sparse_jacobians(log, target, flat, mode, together)
        elif (columns := self._jacobians_by_columns(log, target, flat, mode, together)) is not None:
            found = columns
        else:
            found = self._jacobians_by_rows(log, target, flat, together if experimental_use_pfor else 0)
        self._after_asking()
        self._tell([target], flat, found, unconnected is UnconnectedGradients.NONE)
        if unconnected is UnconnectedGradients.ZERO:
            found = [
                _no_links(target, x, bool(sparse) and not small) if y is None else y
                for x, y in zip(flat, found, strict=True)
            ]
        if small:
            found = [as_matrix(y, x.dims) for x, y in zip(flat, found, strict=True)]
        elif sparse:
            found = [in_form(y, sparse, target.dims, x.dims, x.dtype) for x, y in zip(flat, found, strict=True)]
        return nest.pack_sequence_as(sources, found)

    def _jacobians_by_rows(self, log: Log, target: Any, sources: list[Any], max_bytes: int) -> list[Any]:
        """Computes the Jacobian of each source by rows; None without a path."""
        # A real source of a complex target has a complex Jacobian: the cotangent i yields its imaginary part.
        split = target.dtype.is_complex and not all(s.dtype.is_complex for s in sources)
        with self._kept(split):
            real = self._rows_of_jacobian(log, target, sources, 1, max_bytes)
        if not split:
            return real
        imaginary = self._rows_of_jacobian(log, target, sources, 1j, max_bytes)
        return [
            whole if whole is None or source.dtype.is_complex else ops.complex(whole, other)
            for source, whole, other in zip(sources, real, imaginary, strict=True)
        ]

    def _rows_of_jacobian(
        self, log: Log, target: Any, sources: list[Any], factor: complex, max_bytes: int
    ) -> list[Any]:
        """For each source, the cotangents of all entries of the target, stacked in its shape; None without a path."""
        if not target.dtype.differentiable:
            return [None] * len(sources)
        rows = math.prod(target.dims)
        self._sweeps += rows
        parts: list[list[Any]] = []
        for start, stop in ranges(rows, (target, *sources), max_bytes):
            with self._kept(stop < rows):
                identity = batched_identity(target, start, stop, factor)
                found = self._vjp(log, [target], [identity], sources)
            parts.append([None if g is None else rows_of(g, identity) for g in found])
        if not parts:  # a target without entries: a sweep shows which sources it depends on
            links = self._vjp(log, [target], [zeros(target.dims, target.dtype)], sources)
            return [
                None if link is None else _no_links(target, source, sparse=False)
                for link, source in zip(links, sources, strict=True)
            ]
        results: list[Any] = []
        for source, *pieces in zip(sources, *parts, strict=True):
            shape = (*target.dims, *source.dims)
            if pieces[0] is None:
                results.append(None)
            else:
                whole = pieces[0] if len(pieces) == 1 else ops.concat(*pieces, axis=0)
                results.append(ops.reshape(whole, shape=shape))
        return results

    @contextmanager
    def _kept(self, more_to_come: bool) -> Iterator[None]:
        """Keeps the records during a sweep if another one follows: only the last sweep of a query may release them."""
        before = self._persistent
        self._persistent = before or more_to_come
        try:
            yield
        finally:
            self._persistent = before

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        check_rows: bool | None = None,
    ) -> Any:
        """Computes and stacks per-example jacobians.

        The result has shape `[b, y..., x...]`: the Jacobian of each row of `target` with respect to the same row of
        `source`.

        A row of the target must not depend on other rows of the source. This is checked at the cost of one more sweep.
        If the check fails, the result is the sum over the batch, and a warning is logged; `check_rows=True` raises an
        error instead, and `check_rows=False` skips the check.

        >>> import gradtape as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        log = self._open_log("compute a batch_jacobian")
        unconnected_mode(unconnected_gradients)
        target, source = single(target, "target"), single(source, "source")
        for x in (target, source):
            if len(x.dims) < 2:
                raise ValueError(f"Shape {x.shape} must have rank at least 2")
        if target.dims[0] != source.dims[0]:
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
            )
        if not experimental_use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the batch_jacobian with eager execution "
                "enabled and  with experimental_use_pfor set to False."
            )
        self._before_asking()
        self._sweeps = 0
        found = self._jacobians_of_rows(log, target, source, check_rows, CHUNK_BYTES if experimental_use_pfor else 0)
        self._after_asking()
        self._tell([target], [source], [found], False)
        return found

    def _jacobians_of_rows(
        self, log: Log, target: Any, source: Any, check_rows: bool | None, max_bytes: int
    ) -> Tensor:
        """Computes the Jacobian of each row of the target with respect to the same row of the source."""
        batch, *row = target.dims
        rows = math.prod(row)
        shape = (batch, *row, *source.dims[1:])
        mixed = check_rows is not False and batch > 1
        self._sweeps += rows + mixed
        parts: list[Any] = []
        for start, stop in ranges(rows, (target, source), max_bytes):
            last = stop == rows
            cotangent = _same_entry_of_each_row(target, start, stop, mixed and last)
            with self._kept(not last or check_rows is True):
                (found,) = self._vjp(log, [target], [cotangent], [source])
            parts.append(None if found is None else rows_of(found, cotangent))
        if not batch or not parts or parts[0] is None:
            return zeros(shape, source.dtype)
        stacked = parts[0] if len(parts) == 1 else ops.concat(*parts, axis=0)
        if mixed:
            warn_of_dependent_rows(_rows_are_independent(stacked, target.dtype), check_rows)
            stacked = stacked[:rows]
        order = (1, 0, *range(2, len(stacked.dims)))
        return ops.reshape(ops.transpose(stacked, perm=order), shape=shape)


def warn_of_dependent_rows(independent: bool, check_rows: bool | None) -> None:
    """Warns that rows depend on each other, or raises if the caller set `check_rows`."""
    if independent:
        return
    if check_rows:
        raise ValueError(f"{_DEPENDENT_ROWS} Use jacobian")
    logger.warning("%s What is returned is the sum over the batch. Use jacobian", _DEPENDENT_ROWS)


def _no_links(target: Any, source: Any, sparse: bool) -> Any:
    """The zero Jacobian of a target that does not depend on the source."""
    return no_entries(target, source) if sparse else zeros((*target.dims, *source.dims), source.dtype)


def _same_entry_of_each_row(target: Any, start: int, stop: int, mixed: bool) -> BatchedTensor:
    """The cotangents of a batch Jacobian: for each entry from `start` to `stop`, ones at that entry of every row.

    If `mixed`, a random weighting of all entries follows: see `_rows_are_independent`.
    """
    batch, entries = target.dims[0], math.prod(target.dims[1:])
    seeds = np.zeros((stop - start + mixed, batch, entries), target.dtype.numpy)
    seeds[np.arange(stop - start), :, np.arange(start, stop)] = 1
    if mixed:
        seeds[-1] = _mixture(batch, entries)
    return BatchedTensor(Tensor(seeds.reshape(len(seeds), *target.dims), target.dtype), dispatch.next_level())


def _mixture(batch: int, entries: int) -> Any:
    return np.random.default_rng(0).uniform(1, 2, (batch, entries))


def _rows_are_independent(stacked: Tensor, dtype: DType) -> bool:
    """Whether the VJP of a random weighting equals the same weighting of the rows' own Jacobians.

    They differ exactly when one row of the target depends on another row of the source.
    """
    if type(stacked) not in REAL:
        return True
    found = stacked.array.reshape(*stacked.dims[:2], -1)
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    own, together = found[:-1], found[-1]
    weights = _mixture(own.shape[1], own.shape[0]).astype(dtype.numpy).astype(found.dtype)
    expected = np.einsum("bk,kbx->bx", weights, own)
    scale = np.einsum("bk,kbx->bx", abs(weights), abs(own)).max(initial=0)
    tolerance = 0.1 if dtype.size < 4 else 1e-3
    return not np.isfinite(scale) or bool(np.all(abs(expected - together) <= tolerance * scale))
