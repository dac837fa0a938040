"""Methods of `GradientTape` for derivatives other than the gradient: Jacobians, Hessians, products and cosines.

Each checks its arguments with TensorFlow's errors and calls the function of `engine/derivatives` that computes. Most
programs need none of these, so each method imports that function itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..core import logger, modes, nest
from ..core.tensor import Tensor
from ..core.tracebacks import bounded
from ..engine.tape.log import Log
from ..engine.tape.queries import QueryResult
from ..engine.tape.tape import Tape
from ..engine.tape.validation import Differentiable, differentiable
from .tape_arguments import (
    UnconnectedGradients,
    check_jacobian_mode,
    check_per,
    flat_sources,
    flat_vectors,
    single,
    unconnected_mode,
)

if TYPE_CHECKING:
    from .tape_arguments import K, S, Source, Zero

_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). Use "
    "GradientTape(persistent=True) to compute several"
)
_NONE = UnconnectedGradients.NONE


@bounded
class DerivativeMethods(Tape):
    """The checks before any query of a tape, and the queries other than `gradient`."""

    _warned_inside = False

    def _open_log(self, doing: str) -> Log:
        if self._log is None:
            if self._entered:
                raise RuntimeError(_USED_UP)
            raise RuntimeError(f"Cannot {doing}: this GradientTape was never entered. Use `with tape:` first")
        return self._log

    def _before_query(self) -> None:
        """Stops the recording of a tape that serves one query; warns that a persistent one records the query."""
        if not self._recording:
            return
        if not self._persistent:
            Tape.pause(self)
        elif not DerivativeMethods._warned_inside:
            DerivativeMethods._warned_inside = True
            logger.warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                "efficient than calling it outside the context (it causes the gradient ops to be recorded on the "
                "tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside the "
                "context if you actually want to trace the gradient in order to compute higher order derivatives."
            )

    # In the order of `GradientTape.gradient`'s overloads. Sparse results are SciPy's, which has no types.
    @overload
    def jacobian(
        self, target: Any, sources: list[S], unconnected_gradients: Zero,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> list[Tensor]: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: dict[K, S], unconnected_gradients: Zero,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> dict[K, Tensor]: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: Source, unconnected_gradients: Zero,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: list[S], unconnected_gradients: Any = ...,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> list[Tensor | None]: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: dict[K, S], unconnected_gradients: Any = ...,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> dict[K, Tensor | None]: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: Source, unconnected_gradients: Any = ...,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: Literal[False] = ..., max_bytes: int | None = ...,
    ) -> Tensor | None: ...  # fmt: skip
    @overload
    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = ...,
        parallel_iterations: int | None = ..., experimental_use_pfor: bool = ..., *,
        mode: str | None = ..., sparse: bool | str = ..., max_bytes: int | None = ...,
    ) -> Any: ...  # fmt: skip
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
        together, in vectorized form. Where the entries of a large target along its first axis do not depend on each
        other, as the residuals of a fit or the outputs of a network for each example, this takes the time of a few
        gradients.

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

        Returns:
          For each source, in the structure of `sources`, a tensor of the shape of `target` followed by that of the
            source; with `sparse`, a sparse matrix; None if `target` does not depend on the source.

        Raises:
          RuntimeError: if the tape is not persistent and has already computed a gradient.
          ValueError: if `mode` or `sparse` is not one of the values above.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        from ..engine.derivatives import jacobians
        from ..engine.derivatives.jacobian_modes import as_matrix, is_small, no_entries, sparse_jacobians

        DerivativeMethods._open_log(self, "compute a jacobian")
        unconnected = unconnected_mode(unconnected_gradients)
        target = single(target, "target")
        flat = flat_sources(sources)
        mode = mode or ("auto" if sparse else "reverse")
        check_jacobian_mode(mode, sparse, target, flat)
        if not experimental_use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with eager execution "
                "enabled and with  experimental_use_pfor set to False."
            )
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        DerivativeMethods._before_query(self)
        self._sweeps = 0
        small = is_small(sparse, flat)
        compressed = bool(sparse) and not small
        if compressed:
            found: list[Any] = sparse_jacobians(self, target, flat, mode, together)
        else:
            found = jacobians.jacobians(self, target, flat, mode, together if experimental_use_pfor else 0)
        Tape.release(self)
        modes.results_found(self, QueryResult([target], flat, found, unconnected is _NONE))
        if unconnected is UnconnectedGradients.ZERO:
            zeros = no_entries if compressed else jacobians.zero_jacobian
            found = [zeros(target, x) if y is None else y for x, y in zip(flat, found, strict=True)]
        if small:
            found = [as_matrix(y, x.dims) for x, y in zip(flat, found, strict=True)]
        elif sparse == "tensor":
            found = [_sparse_tensor(y, target.dims, x) for x, y in zip(flat, found, strict=True)]
        return nest.pack_sequence_as(sources, found)

    @property
    def sweeps(self) -> int:
        """The number of sweeps of the last Jacobian or Hessian: one for each row, column, or color of a sparse one.

        Sweeps are vectorized as far as memory allows, so this is a measure of work, not of time. The detection of a
        sparsity pattern is not counted.

        >>> x = tf.Variable(tf.range(1.0, 1001.0))
        >>> with tf.GradientTape() as tape:
        ...     y = x[1:] * x[:-1]
        >>> jacobian = tape.jacobian(y, x, sparse=True)
        >>> tape.sweeps
        2
        """
        return self._sweeps

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        check_rows: bool | None = None,
    ) -> Tensor:
        """Computes and stacks per-example jacobians.

        The result has shape `[b, y..., x...]`: the Jacobian of each row of `target` with respect to the same row of
        `source`.

        A row of the target must not depend on other rows of the source. This is checked at the cost of one more sweep.
        If the check fails, the result is the sum over the batch, and a warning is logged; `check_rows=True` raises an
        error instead, and `check_rows=False` skips the check.

        Args:
          target: a tensor of shape `[b, y...]`.
          source: a tensor or a variable of shape `[b, x...]`.
          unconnected_gradients: a value of `tf.UnconnectedGradients`, without effect: if the target does not depend on
            the source, the result is zeros, as in TensorFlow.
          parallel_iterations: ignored; accepted for compatibility with TensorFlow.
          experimental_use_pfor: if False, computes one column at a time.
          check_rows: whether rows that depend on each other raise an error (True), log a warning (None) or are not
            looked for (False).

        Returns:
          A tensor of shape `[b, y..., x...]`.

        Raises:
          RuntimeError: if the tape is not persistent and has already computed a gradient.
          ValueError: if the target or the source has no batch axis, if their first axes differ, or, with
            `check_rows=True`, if a row depends on another one.

        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        from ..engine.derivatives import jacobians

        DerivativeMethods._open_log(self, "compute a batch_jacobian")
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
        if parallel_iterations is not None and not self._persistent:
            if math.prod(target.dims[1:]) >= parallel_iterations:  # TensorFlow then needs several rounds
                raise RuntimeError(
                    "GradientTape must be created with persistent=True to compute the batch_jacobian with "
                    "parallel_iterations."
                )
        DerivativeMethods._before_query(self)
        self._sweeps = 0
        together = jacobians.CHUNK_BYTES if experimental_use_pfor else 0
        found = jacobians.batch_jacobian(self, target, source, check_rows, together)
        Tape.release(self)
        modes.results_found(self, QueryResult([target], [source], [found], reports_none=False))
        return found

    @overload
    def hessian(
        self, target: Any, sources: list[S], *, sparse: Literal[False] = ..., max_bytes: int | None = ...
    ) -> list[list[Tensor | None]]: ...
    @overload
    def hessian(
        self, target: Any, sources: dict[K, S], *, sparse: Literal[False] = ..., max_bytes: int | None = ...
    ) -> dict[K, dict[K, Tensor | None]]: ...
    @overload
    def hessian(
        self, target: Any, sources: Source, *, sparse: Literal[False] = ..., max_bytes: int | None = ...
    ) -> Tensor | None: ...
    @overload
    def hessian(self, target: Any, sources: Any, *, sparse: bool | str = ..., max_bytes: int | None = ...) -> Any: ...
    def hessian(self, target: Any, sources: Any, *, sparse: bool | str = False, max_bytes: int | None = None) -> Any:
        """Computes the Hessian of a scalar: its shape is that of the source twice; None without a path.

        For a nested structure of sources the result is nested twice: `result[i][j]` has the shape of source `i`
        followed by that of source `j`.

        With `sparse`, the result is a SciPy array in CSR format, with "tensor" a `SparseTensor`; "auto" computes the
        SciPy array in the dense way if the sources have few entries. A Hessian with few nonzero entries takes few
        sweeps: fewer than a Jacobian with the same pattern, because of its symmetry. The block of two sources that no
        term combines is present, without entries.

        Args:
          target: a scalar tensor; of any other tensor, the sum of its entries is differentiated.
          sources: a tensor, a variable, or a nested structure of them.
          sparse: whether to detect the sparsity pattern and to compute as few sweeps as it allows: True, "tensor" or
            "auto".
          max_bytes: the number of rows computed together is limited so that each array in the sweep fits in this.

        Returns:
          A tensor of the shape of the source twice, or nested results as described above; None where there is no path.

        Raises:
          RuntimeError: if the tape is not persistent and has already computed a gradient.

        >>> x, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     y = b * x[0] ** 2 * x[1]
        >>> tape.hessian(y, x).numpy().tolist()
        [[12.0, 6.0], [6.0, 0.0]]
        >>> tape.hessian(y, {"x": x, "b": b})["b"]["x"].numpy().tolist()
        [4.0, 1.0]
        """
        from ..engine.derivatives import hessians, jacobians
        from ..engine.derivatives.jacobian_modes import as_matrix, is_small

        DerivativeMethods._open_log(self, "compute a hessian")
        target = single(target, "target")
        flat = flat_sources(sources)
        check_jacobian_mode("auto", sparse, target, flat)
        DerivativeMethods._before_query(self)
        self._sweeps = 0
        small = is_small(sparse, flat)
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        found: list[list[Any]] = hessians.hessian(self, target, flat, bool(sparse) and not small, together)
        if small:
            found = [[as_matrix(y, x.dims) for x, y in zip(flat, blocks, strict=True)] for blocks in found]
        elif sparse == "tensor":
            found = [
                [_sparse_tensor(y, row.dims, x) for x, y in zip(flat, blocks, strict=True)]
                for row, blocks in zip(flat, found, strict=True)
            ]
        Tape.release(self)
        return nest.pack_sequence_as(sources, [nest.pack_sequence_as(sources, blocks) for blocks in found])

    @overload
    def batch_hessian(
        self, target: Any, source: Source, *, check_rows: bool | None = ..., sparse: Literal[False] = ...,
        max_bytes: int | None = ...,
    ) -> Tensor | None: ...  # fmt: skip
    @overload
    def batch_hessian(
        self, target: Any, source: Any, *, check_rows: bool | None = ..., sparse: bool | str = ...,
        max_bytes: int | None = ...,
    ) -> Any: ...  # fmt: skip
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

        >>> x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     losses = x[:, 0] ** 2 * x[:, 1]
        >>> tape.batch_hessian(losses, x).numpy().tolist()
        [[[4.0, 2.0], [2.0, 0.0]], [[8.0, 6.0], [6.0, 0.0]]]
        """
        from ..engine.derivatives import hessians, jacobians
        from ..engine.derivatives.jacobian_modes import as_matrix, is_small

        DerivativeMethods._open_log(self, "compute a batch_hessian")
        target, source = single(target, "target"), single(source, "source")
        if not target.dims or not source.dims or target.dims[0] != source.dims[0]:
            raise ValueError(
                "batch_hessian needs a loss, and a row of the source, for each example, along the first axis, got "
                f"shapes {list(target.dims)} and {list(source.dims)}. Leave the mean over the batch away"
            )
        check_jacobian_mode("auto", sparse, target, [source])
        DerivativeMethods._before_query(self)
        self._sweeps = 0
        small = is_small(sparse, [source])
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        compressed = bool(sparse) and not small
        found: Any = hessians.batch_hessian(self, target, source, check_rows, compressed, together)
        if small:
            found = as_matrix(found, source.dims[1:])
        elif sparse == "tensor":
            found = _sparse_tensor(found, source.dims, source, source.dims[1:])
        Tape.release(self)
        return found

    @overload
    def hvp(self, target: Any, sources: list[S], vectors: Any) -> list[Tensor | None]: ...
    @overload
    def hvp(self, target: Any, sources: dict[K, S], vectors: Any) -> dict[K, Tensor | None]: ...
    @overload
    def hvp(self, target: Any, sources: Source, vectors: Any) -> Tensor | None: ...
    @overload
    def hvp(self, target: Any, sources: Any, vectors: Any) -> Any: ...
    def hvp(self, target: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the Hessian of a scalar with vectors, without forming the Hessian.

        `vectors` has the structure of `sources`.

        Args:
          target: a scalar tensor.
          sources: a tensor, a variable, or a nested structure of them.
          vectors: a tensor of the shape of each source.

        Returns:
          A tensor of the shape of each source, in the structure of `sources`; None where there is no path.

        Raises:
          RuntimeError: if the tape is not persistent and has already computed a gradient.
          ValueError: if a vector does not have the shape of its source.

        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = tf.reduce_sum(x**3)
        >>> tape.hvp(y, x, [1.0, 10.0]).numpy().tolist()
        [6.0, 120.0]
        """
        from ..engine.derivatives import hessians

        DerivativeMethods._open_log(self, "compute a Hessian-vector product")
        target = single(target, "target")
        flat = flat_sources(sources)
        along = flat_vectors(vectors, flat, sources)
        DerivativeMethods._before_query(self)
        found = hessians.hvp(self, target, flat, along)
        Tape.release(self)
        return nest.pack_sequence_as(sources, found)

    @overload
    def ggnvp(self, target: Any, outputs: Any, sources: list[S], vectors: Any) -> list[Tensor | None]: ...
    @overload
    def ggnvp(self, target: Any, outputs: Any, sources: dict[K, S], vectors: Any) -> dict[K, Tensor | None]: ...
    @overload
    def ggnvp(self, target: Any, outputs: Any, sources: Source, vectors: Any) -> Tensor | None: ...
    @overload
    def ggnvp(self, target: Any, outputs: Any, sources: Any, vectors: Any) -> Any: ...
    def ggnvp(self, target: Any, outputs: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the generalized Gauss-Newton matrix, JᵀHJ, with vectors structured like `sources`.

        J is the Jacobian of `outputs`, a tensor on the path to the scalar `target`, with respect to the sources; H is
        the Hessian of the target with respect to the outputs. The matrix is positive semidefinite where the target is
        convex in the outputs, as common losses are.

        >>> w = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     outputs = w**2
        ...     loss = tf.reduce_sum(outputs**2)
        >>> tape.ggnvp(loss, outputs, w, [1.0, 1.0]).numpy().tolist()
        [8.0, 32.0]
        """
        from ..engine.derivatives import hessians

        DerivativeMethods._open_log(self, "compute a Gauss-Newton product")
        target, outputs = single(target, "target"), single(outputs, "outputs")
        flat = flat_sources(sources)
        along = flat_vectors(vectors, flat, sources)
        check_jacobian_mode("forward", False, outputs, flat)
        DerivativeMethods._before_query(self)
        found = hessians.ggnvp(self, target, outputs, flat, along)
        Tape.release(self)
        return nest.pack_sequence_as(sources, found)

    def cosines(self, losses: Any, sources: Any, *, per: str = "loss", check_rows: bool = True) -> Tensor:
        """Computes the cosine similarity between the gradients of losses: a symmetric matrix.

        Each gradient is taken over all sources together. A negative entry means that two losses conflict: they pull the
        sources in opposite directions. The row and column of a loss without a gradient are zeros; if no loss has a
        gradient, an error is raised.

        Args:
          losses: a list of losses or, with `per="example"`, a vector with the loss of each example.
          sources: a tensor, a variable, or a nested structure of them, taken as one vector.
          per: "loss" or "example", as in `gradient`.
          check_rows: whether to raise an error if examples depend on each other, as in `gradient`.

        >>> w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.0)
        >>> with tf.GradientTape() as tape:
        ...     first, second = 2.0 * w[0], 3.0 * w[0] - 4.0 * b
        >>> print(tape.cosines([first, second], [w, b]).numpy().round(2))
        [[1.  0.6]
         [0.6 1. ]]
        """
        from ..engine.derivatives.per_example import cosines, gradients_apart

        DerivativeMethods._open_log(self, "compute cosines")
        targets = [differentiable(t, "target") for t in nest.flatten(losses)]
        flat = flat_sources(sources)
        check_per(per, False, targets, has_weights=False)
        for x in (*targets, *flat):
            if not x.dtype.is_floating:
                raise ValueError(f"cosines are of gradients of real numbers, got a tensor of dtype {x.dtype.name}")
        DerivativeMethods._before_query(self)
        gradients = [g for g in gradients_apart(self, targets, flat, per, False, check_rows) if g is not None]
        Tape.release(self)
        if not gradients:
            raise ValueError("cosines: none of the losses depends on any of the sources. tape.explain says why")
        return cosines(gradients, len(targets) if per == "loss" else targets[0].dims[0], targets[0].dtype)


def _sparse_tensor(
    matrix: Any, rows: tuple[int, ...], source: Differentiable, columns: tuple[int, ...] | None = None
) -> Any:
    """Converts a sparse matrix to a `SparseTensor` of shape `(*rows, *columns)`, by default the source's columns."""
    from ..sparse.tensor import SparseTensor

    if matrix is None:
        return None
    columns = source.dims if columns is None else columns
    at = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    places = [*np.unravel_index(at[0], rows or (1,))[: len(rows)]]
    places += np.unravel_index(at[1], columns or (1,))[: len(columns)]
    indices = np.stack(places, axis=1) if places else np.zeros((len(at[0]), 0), np.int64)
    return SparseTensor(indices, matrix.data.astype(source.dtype.numpy), np.array((*rows, *columns), np.int64))
