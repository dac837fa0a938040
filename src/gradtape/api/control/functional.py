"""Functions over the first axis of tensors: maps, folds, scans and the vectorized map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import logger, nest
from ...core.dtypes import DType
from ...core.errors import InvalidArgumentError, OutOfRangeError
from ...core.tensor import Tensor
from ...core.type_hints import Result
from ...engine.registry.batching import NeedsEachMember, NeedsValue, common_size, vectorize
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...graph.control_flow import structured_loops
from ...ragged.tensor import RaggedTensorSpec
from ...sparse.shaping import concat, expand_dims, reshape, slice
from ...sparse.tensor import SparseTensor
from ...state.specs import SparseTensorSpec, TensorSpec, as_nested_specs, spec_of
from ...state.type_spec import BatchableTypeSpec, decoded, encoded, encoded_specs
from .control_flow import while_loop

NAMESPACES = ("",)
__all__ = ["foldl", "foldr", "map_fn", "scan", "vectorized_map"]


def map_fn(
    fn: Callable[[Any], Result],
    elems: object,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Result:
    """Applies `fn` to each element along the first axis of `elems` in sequence, and stacks the results.

    Args:
      fn: a function of one element.
      elems: a tensor or a nested structure of tensors with the same first axis; `fn` receives an element with the same
        structure. Sparse tensors are split as well.
      dtype: the former name of `fn_output_signature`.
      parallel_iterations: ignored; elements are computed one after the other.
      back_prop: in a function, whether gradients flow through the map.
      swap_memory: ignored; accepted for compatibility with TensorFlow.
      infer_shape: whether all results have one shape.
      fn_output_signature: the dtypes or `TypeSpec`s of the results of `fn`, if they differ from those of `elems`.

    Returns:
      The stacked results, in the structure that `fn` returns.

    Raises:
      TypeError: if `fn` is not callable.
      ValueError: if `elems` has no tensors, or their first axes differ.

    >>> tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0])).numpy().tolist()
    [1.0, 4.0]
    """
    return _stopped_in_graph(_mapped(fn, elems, fn_output_signature, dtype), back_prop)


def _stopped_in_graph(result: Any, back_prop: bool) -> Any:
    """Returns a result through which no gradient flows in a function, if `back_prop` is false; eagerly, as it is."""
    if back_prop or dispatch.thread.trace is None:
        return result
    return nest.map_structure(ops.stop_gradient, result, expand_composites=True)


def _mapped(fn: Callable[[Any], Any], elems: Any, fn_output_signature: Any, dtype: Any) -> Any:
    _check_callable(fn)
    flat = _elements(elems, composites=True)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    declared = nest.map_structure(_spec_of_element, elems) if signature is None else as_nested_specs(signature)
    specs = nest.flatten(declared)
    size = _check_same_size(flat)
    dense = not any(nest.is_composite(x) for x in (*flat, *specs))
    if dispatch.thread.trace is not None and size != 1 and dense:
        try:
            return _map_in_graph(fn, elems, flat, declared, specs)
        except structured_loops.OneByOne:
            pass
    columns: list[list[Any]] = [[] for _ in specs]
    one_round = structured_loops.rounds(has_test=False)
    for element in _rows(elems, flat, size):
        with one_round():
            result = fn(element)
        nest.assert_same_structure(declared, result)
        for column, spec, y in zip(columns, specs, nest.flatten(result), strict=True):
            if nest.is_composite(y) or nest.is_composite(spec):
                _check_composite(y, spec)
                column.append(expand_dims(y, 0) if isinstance(y, SparseTensor) else y)
            else:
                column.append(_check_declared(y, spec.dtype, column[0].dims if column else spec.shape))
    return nest.pack_sequence_as(declared, list(map(_stack_results, columns, specs)))


def _spec_of_element(x: Any) -> Any:
    """Returns the spec of a result for an element of `x`, of a function that returns the same kind."""
    if not nest.is_composite(x):
        return TensorSpec(None, to_tensor(x).dtype)
    spec = _batchable(spec_of(x))
    return spec.__batch_encoder__.unbatch(spec)


def _batchable(spec: Any) -> Any:
    if not isinstance(spec, BatchableTypeSpec):
        raise ValueError(f"All elements must be `Batchable`, but {spec} is no BatchableTypeSpec.")
    return spec


def _check_composite(y: Any, spec: Any) -> None:
    if not (nest.is_composite(spec) and spec.is_compatible_with(y)):
        raise ValueError(
            f"Error in map_fn: Expected `fn` to return a: {spec!r} But it returned a: {type(y).__name__} (value={y}). "
            "To fix, update the `fn_output_signature` (or `dtype`) argument to `map_fn`."
        )


def _stack_results(column: list[Any], spec: Any) -> Any:
    """Stacks the results for all elements."""
    if isinstance(spec, SparseTensorSpec):
        if column:
            return concat(0, column, expand_nonconcat_dims=True)
        dims = [0, *(n or 0 for n in spec.shape.as_list())]
        return SparseTensor(np.zeros((0, len(dims)), np.int64), np.zeros(0, spec.dtype.numpy), dims)
    if nest.is_composite(spec):
        return _stack_composites(column, _batchable(spec))
    return ops.stack(*column, axis=0) if column else _empty(spec)


def _stack_composites(column: list[Any], spec: Any) -> Any:
    if not column:
        batch = spec.__batch_encoder__.batch(spec, 0)
        return decoded(batch, iter([_empty(part) for part in encoded_specs(spec)]))
    if isinstance(spec, RaggedTensorSpec):  # the values may be plain tensors
        return spec._stacked(column, lambda parts: ops.stack(*parts, axis=0))
    specs = [spec_of(y) for y in column]
    both = specs[0].most_specific_common_supertype(specs[1:])
    return both._stacked(column, lambda parts: ops.stack(*parts, axis=0))


def _map_in_graph(fn: Callable[[Any], Any], elems: Any, flat: list[Tensor], declared: Any, specs: list[Any]) -> Any:
    """Traces `map_fn` as one node."""

    def one(state: Any, rows: list[Tensor]) -> tuple[Any, Any]:
        result = fn(nest.pack_sequence_as(elems, rows))
        nest.assert_same_structure(declared, result)
        pairs = zip(nest.flatten(result), specs, strict=True)
        checked = [_check_declared(y, spec.dtype, spec.shape) for y, spec in pairs]
        return state, nest.pack_sequence_as(declared, checked)

    return structured_loops.mapped(one, (), flat)[1]


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"fn must be callable, got {fn!r}")


def _elements(elems: Any, composites: bool = False) -> list[Any]:
    """Returns the leaves of `elems` as tensors of rank 1 or more."""
    flat = [x if composites and nest.is_composite(x) else to_tensor(x) for x in nest.flatten(elems)]
    if not flat:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems!r}, which does not contain "
            "any Tensors."
        )
    if any(isinstance(x, Tensor) and not x.dims for x in flat):
        raise ValueError(
            "Elements in elems must be 1+ dimensional Tensors, not scalars. A list is a structure here: use "
            "tf.constant([...]) for a tensor"
        )
    return flat


def _check_same_size(flat: list[Any]) -> int:
    size, *others = [
        _batchable(spec_of(x))._row_count(x) if nest.is_composite(x) else x.dims[0] for x in flat
    ]  # fmt: skip
    for other in others:
        if other != size:
            raise ValueError(f"Dimensions {size} and {other} are not compatible: first axes of elems must agree")
    return size


def _rows(elems: Any, flat: list[Any], size: int) -> list[Any]:
    """Returns the elements along the first axis, each with the structure of `elems`."""
    columns = list(map(_rows_of, flat)) if size else []
    return [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]


def _rows_of(x: Any) -> Sequence[Any]:
    if not nest.is_composite(x):
        return ops.rows(x)
    return _sparse_rows(x) if isinstance(x, SparseTensor) else spec_of(x)._rows(x, ops.rows)


def _sparse_rows(x: SparseTensor) -> list[SparseTensor]:
    size, *dims = x.dims
    origin = [0] * len(dims)
    return [reshape(slice(x, [i, *origin], [1, *dims]), dims) for i in range(size)]


def _check_declared(y: Any, dtype: DType, shape: Any) -> Tensor:
    """Returns `y` after checking it against the declared dtype and shape."""
    y = to_tensor(y, hint=dtype)
    if y.dtype is not dtype:
        raise InvalidArgumentError(
            f"TensorArray dtype is {dtype.name} but Op is trying to write dtype {y.dtype.name}. Say so with "
            f"fn_output_signature=tf.{y.dtype.name}"
        )
    if not y.shape.is_compatible_with(shape):
        raise ValueError(f"Incompatible shape for value ({y.shape}), expected ({tuple(shape)})")
    return y


def _empty(spec: Any) -> Tensor:
    dims = [] if spec.shape.rank is None else [n or 0 for n in spec.shape.as_list()]
    return Tensor(np.zeros((0, *dims), spec.dtype.numpy), spec.dtype)


def foldl(
    fn: Callable[[Any, Any], Result],
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Result:
    """Computes `fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1])`; the default start is `elems[0]`.

    Args:
      fn: a function of the accumulated value and an element, which returns the next accumulated value.
      elems: a tensor or a nested structure of tensors with the same first axis.
      initializer: the start of the fold; by default, the first element.
      parallel_iterations: ignored; iterations run one after the other.
      back_prop: in a function, whether gradients flow through the loop.
      swap_memory: ignored; accepted for compatibility with TensorFlow.

    Returns:
      The last accumulated value.

    Raises:
      tf.errors.OutOfRangeError: if there are no elements and no initializer.

    >>> float(tf.foldl(lambda a, x: a - x, tf.constant([1.0, 2.0, 3.0])))
    -4.0
    """
    return _stopped_in_graph(_last(fn, elems, initializer, reverse=False), back_prop)


def foldr(
    fn: Callable[[Any, Any], Result],
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Result:
    """`foldl` from the last element to the first.

    >>> float(tf.foldr(lambda a, x: a - x, tf.constant([1.0, 2.0, 3.0])))
    0.0
    """
    return _stopped_in_graph(_last(fn, elems, initializer, reverse=True), back_prop)


def _last(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    """Returns the final value of a fold."""
    if any(map(nest.is_composite, nest.flatten(initializer))):
        return _fold_in_loop(fn, elems, initializer, reverse)
    if dispatch.thread.trace is not None:
        try:
            return _fold_in_graph(fn, elems, initializer, reverse, emits=False)[0]
        except structured_loops.OneByOne:
            pass
    return nest.map_structure(to_tensor, _fold(fn, elems, initializer, reverse)[-1])


def _fold_in_loop(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    """Returns the final value of a fold whose value is no tensor, such as a `TensorArray`: loops carry these."""
    _check_callable(fn)
    flat = _elements(elems)
    size = _check_same_size(flat)

    def one(count: Tensor, value: Any) -> tuple[Any, Any]:
        index = size - 1 - count if reverse else count
        return count + 1, fn(value, nest.pack_sequence_as(elems, [ops.gather_rows(x, index) for x in flat]))

    return while_loop(lambda count, _: count < size, one, (to_tensor(0), initializer))[1]


def _fold_in_graph(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool, emits: bool
) -> tuple[Any, Any]:
    """Traces a fold as one node: returns its final value or, if requested, all values, stacked."""
    _check_callable(fn)
    flat = _elements(elems)
    size = _check_same_size(flat)
    if size < 2:
        raise structured_loops.OneByOne
    start = initializer
    if initializer is None:
        start = nest.pack_sequence_as(elems, [x[-1 if reverse else 0] for x in flat])
        flat = [x[:-1] if reverse else x[1:] for x in flat]
    start = nest.map_structure(to_tensor, start)

    def one(state: Any, rows: list[Tensor]) -> tuple[Any, Any]:
        found = fn(state, nest.pack_sequence_as(elems, rows))
        nest.assert_same_structure(start, found)
        found = nest.map_structure(lambda y, first: to_tensor(y, hint=first.dtype), found, start)
        return found, found if emits else ()

    last, made = structured_loops.mapped(one, start, flat, reverse)
    if not emits or initializer is not None:
        return last, made

    def joined(first: Tensor, rest: Tensor) -> Tensor:
        return ops.concat(*((rest, first[None]) if reverse else (first[None], rest)), axis=0)

    return last, nest.map_structure(joined, start, made)


def _fold(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> list[Any]:
    """Returns the accumulated values, including the initial one."""
    _check_callable(fn)
    flat = _elements(elems)
    rows = _rows(elems, flat, _check_same_size(flat))
    if reverse:
        rows.reverse()
    if initializer is None:
        if not rows:
            raise OutOfRangeError(
                "Tried to read from index 0 but array size is: 0. A fold over no elements needs an initializer"
            )
        initializer = rows.pop(0)
    made = [initializer]
    one_round = structured_loops.rounds(has_test=False)
    for row in rows:
        with one_round():
            made.append(fn(made[-1], row))
        nest.assert_same_structure(initializer, made[-1])
    return made


def scan(
    fn: Callable[[Any, Any], Result],
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Result:
    """Returns the accumulated values of a fold, stacked; with `reverse`, from the last element to the first.

    Args:
      fn: a function of the accumulated value and an element, which returns the next accumulated value.
      elems: a tensor or a nested structure of tensors with the same first axis.
      initializer: the start of the fold; by default, the first element.
      parallel_iterations: ignored; iterations run one after the other.
      back_prop: in a function, whether gradients flow through the loop.
      swap_memory: ignored; accepted for compatibility with TensorFlow.
      infer_shape: whether all accumulated values have one shape.
      reverse: whether to begin with the last element.

    Returns:
      The accumulated values, stacked along a new first axis.

    Raises:
      tf.errors.OutOfRangeError: if there are no elements and no initializer.

    >>> tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0, 3.0])).numpy().tolist()
    [1.0, 3.0, 6.0]
    """
    return _stopped_in_graph(_scanned(fn, elems, initializer, reverse), back_prop)


def _scanned(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    if initializer is not None:
        initializer = nest.map_structure(to_tensor, initializer)
    if dispatch.thread.trace is not None:
        try:
            return _fold_in_graph(fn, elems, initializer, reverse, emits=True)[1]
        except structured_loops.OneByOne:
            pass
    made = _fold(fn, elems, initializer, reverse)
    start = made[0]
    if initializer is not None:
        made = made[1:]
    if reverse:
        made.reverse()
    columns: list[list[Tensor]] = [[] for _ in nest.flatten(start)]
    for value in made:
        for column, y, first in zip(columns, nest.flatten(value), nest.flatten(start), strict=True):
            column.append(_check_declared(y, first.dtype, first.dims))
    stacked = [
        ops.stack(*column, axis=0) if column else Tensor(np.zeros((0, *first.dims), first.dtype.numpy), first.dtype)
        for column, first in zip(columns, nest.flatten(start), strict=True)
    ]
    return nest.pack_sequence_as(start, stacked)


def vectorized_map(
    fn: Callable[[Any], Result], elems: object, fallback_to_while_loop: bool = True, warn: bool = True
) -> Result:
    """Applies `fn` to all elements along the first axis of `elems` at once, and stacks the results.

    `fn` runs once, on tensors that represent all elements. If it needs the value of one (in a Python `if`, or for
    `.numpy()`), it runs for each element instead, unless `fallback_to_while_loop` is false; so it does for `tf.cond`
    and `tf.while_loop` whose conditions differ between elements. A first axis of size 1 is broadcast to all elements.

    Args:
      fn: a function of one element.
      elems: a tensor or a nested structure of tensors with the same first axis, or one of size 1.
      fallback_to_while_loop: whether `fn` may run for each element if it cannot run for all at once.
      warn: ignored; accepted for compatibility with TensorFlow.

    Returns:
      The stacked results, in the structure that `fn` returns.

    Raises:
      TypeError: if `fn` needs the value of an element and `fallback_to_while_loop` is false.

    >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.vectorized_map(lambda row: tf.reduce_sum(row * row), a).numpy().tolist()
    [5.0, 25.0]
    """
    _check_callable(fn)
    if any(map(nest.is_composite, nest.flatten(elems))):
        return _vectorize_composites(fn, elems, fallback_to_while_loop, warn)
    flat = _elements(elems)
    packed = nest.pack_sequence_as(elems, flat)
    results = _TakenApart(fn)
    try:
        return results.together(vectorize(results.of, packed), common_size(flat))
    except NeedsValue as reason:
        if not (fallback_to_while_loop or isinstance(reason, NeedsEachMember)):
            raise
        if warn:
            logger.warning("vectorized_map runs its function once for each element: %s", reason)
    return results.together(_one_by_one(results.of, packed, flat), common_size(flat))


class _TakenApart:
    """A function whose results contain lists of tensors in place of composites; reassembles the composites."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn
        self._structure: Any = None
        self._specs: list[Any] = []

    def of(self, element: Any) -> Any:
        """Returns the result of the function for an element."""
        result = self._fn(element)
        leaves = nest.flatten(result)
        if not any(map(nest.is_composite, leaves)):
            return result
        self._structure = nest.map_structure(lambda _: None, result)
        self._specs = [_batchable(spec_of(y)) if nest.is_composite(y) else None for y in leaves]
        pairs = zip(self._specs, leaves, strict=True)
        return [[y] if spec is None else encoded(spec, y) for spec, y in pairs]

    def together(self, results: Any, size: int) -> Any:
        """Returns the results for all elements."""
        if not self._specs:
            return results
        leaves = [
            tensors[0] if spec is None else decoded(spec.__batch_encoder__.batch(spec, size), iter(tensors))
            for spec, tensors in zip(self._specs, results, strict=True)
        ]
        return nest.pack_sequence_as(self._structure, leaves)


def _vectorize_composites(fn: Callable[[Any], Any], elems: Any, fallback: bool, warn: bool) -> Any:
    """Applies `vectorized_map` to the component tensors of composites."""
    leaves = nest.flatten(elems)
    specs = [_batchable(spec_of(x)) if nest.is_composite(x) else None for x in leaves]
    apart = [[x] if spec is None else encoded(spec, x, 1) for spec, x in zip(specs, leaves, strict=True)]

    def on_tensors(rows: list[list[Any]]) -> Any:
        parts = [
            row[0] if spec is None else decoded(spec.__batch_encoder__.unbatch(spec), iter(row))
            for spec, row in zip(specs, rows, strict=True)
        ]
        return fn(nest.pack_sequence_as(elems, parts))

    return vectorized_map(on_tensors, apart, fallback, warn)


def _one_by_one(fn: Callable[[Any], Any], elems: Any, flat: list[Tensor]) -> Any:
    size = common_size(flat)
    spread = [
        ops.broadcast_to(x, shape=(size, *x.dims[1:])) if x.dims[0] != size else x for x in flat
    ]
    if not size:
        blank = nest.map_structure(lambda x: Tensor(np.zeros(x.dims[1:], x.dtype.numpy), x.dtype), elems)
        return nest.map_structure(lambda y: None if y is None else _empty_like(to_tensor(y)), fn(blank))
    results = [fn(element) for element in _rows(elems, spread, size)]
    columns = zip(*map(nest.flatten, results), strict=True)
    stacked = [None if column[0] is None else ops.stack(*map(to_tensor, column), axis=0) for column in columns]
    return nest.pack_sequence_as(results[0], stacked)


def _empty_like(y: Tensor) -> Tensor:
    return Tensor(np.zeros((0, *y.dims), y.dtype.numpy), y.dtype)
