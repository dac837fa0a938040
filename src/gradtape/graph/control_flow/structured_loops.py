"""Loops over nested structures of tensors as single nodes, if one graph fits all iterations.

An iteration may depend on its own values, for example for a size, or return values of another shape. Then the attempt
is rolled back and `OneByOne` makes the caller unroll the loop, which specializes the graph on these values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...core import dtypes, nest
from ...core.composites import CompositeTensor
from ...core.errors import OpError
from ...core.nest import is_composite
from ...core.shapes import TensorShape
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import function_streams
from ...state.specs import TensorSpec, TypeSpec
from ...state.tensor_array import TensorArray, Unmade
from ..ir.effects import Changed, is_imagined
from ..trace.trace import present_trace
from ..trace.traced import Untraceable
from .loop import repeat, scan


class OneByOne(Exception):
    """The iterations of a loop cannot share one graph."""


def _undoing(attempt: Callable[[], Any]) -> Any:
    """Run `attempt()`; if one graph does not fit all iterations, roll back the trace and raise `OneByOne`.

    The body is traced on the values before the loop, even if it never runs: an op that fails on them fails again in the
    unrolled loop, if it is reached. In an abstract run, shapes that an op rejects are an error at once.
    """
    trace = present_trace()
    nodes, guarded, effect = len(trace.builder.nodes), set(trace.guards.guarded), trace.evaluator.last_effect
    parts = trace.random.parts
    try:
        return attempt()
    except (Untraceable, Changed, OpError) as reason:
        refused: Any = getattr(reason, "operand_shapes", None)
        if refused and is_imagined():
            raise
        del trace.builder.nodes[nodes:]
        trace.guards.guarded = guarded
        trace.evaluator.last_effect = effect
        trace.random.parts = parts
        raise OneByOne(str(reason)) from None


def rounds(has_test: bool = True) -> Callable[[], AbstractContextManager[None]]:
    """Returns a factory of contexts for the iterations of a loop that runs one by one: they share their random ops.

    The body is the same part of the function as in a graph, where the condition is the next part.
    """
    random = function_streams()
    if random is None:
        return nullcontext
    path = random.next_path()
    if has_test:
        random.next_path()
    return lambda: random.within_part(path)


def is_stageable(structure: object) -> bool:
    """Whether all leaves are tensors or can be converted to tensors."""
    return all(map(_is_stageable, nest.flatten(structure)))


def _is_stageable(x: object) -> bool:
    if isinstance(x, TensorArray):
        return x.may_be_stacked
    return (
        is_composite(x)
        or is_tensor_like(x)
        or isinstance(x, bool | int | float | complex | str)
        or hasattr(x, "__array__")
    )


def while_loop(
    cond: Callable[..., Any], body: Callable[[Any], Any], loop_vars: Sequence[Any], invariants: Any, maximum: Any
) -> Any:
    """Run `loop_vars = body(loop_vars)` while `cond(*loop_vars)`, at most `maximum` times, as one node.

    `invariants` are the declared shape invariants. Raises `OneByOne` if a shape changes within its invariant.
    """
    variables = _Variables(list(loop_vars), 0 if maximum is None else 1)
    flat = variables.tensors
    allowed = None if invariants is None else _allowed(list(loop_vars), list(invariants))
    counted = [] if maximum is None else [to_tensor(0, hint=dtypes.int64)]
    limit = None if maximum is None else ops.cast(to_tensor(maximum), dtype=counted[0].dtype)

    def test(*values: Tensor) -> Tensor:
        holds = to_tensor(cond(*variables.packed(values)))
        if holds.dtype is not dtypes.bool or holds.shape.num_elements() != 1:
            raise TypeError(
                f"the condition of a loop must be a scalar of dtype bool, got shape {holds.shape} and dtype "
                f"{holds.dtype.name}"
            )
        holds = ops.reshape(holds, shape=()) if holds.dims else holds
        return holds if limit is None else ops.logical_and(holds, values[len(flat)] < limit)

    def one_round(*values: Tensor) -> list[Tensor]:
        state = variables.packed(values, body=True)
        found, late = variables.flattened(state, body(state))
        for i, (before, after) in enumerate(zip(values, found, strict=False)):
            _check_constant(before, after, None if allowed is None else allowed[i])
        return [*found, *(count + 1 for count in values[len(flat) :]), *late]

    results = _undoing(lambda: repeat(test, one_round, [*flat, *counted]))
    return nest.pack_sequence_as(loop_vars, nest.flatten(variables.packed(results)))


class _Variables:
    """Converts the loop variables to tensors and back.

    A `TensorArray` without entries has no tensor before the loop. The body creates one at the first write; these
    tensors follow all others, from index `_late_at`.
    """

    def __init__(self, first: list[Any], others: int) -> None:
        self._first = first
        self._leaves = nest.flatten(first)
        self._empty = [isinstance(x, TensorArray) and x.entry_dims is None for x in self._leaves]
        self.tensors = [to_tensor(x) for x in nest.flatten(first, expand_composites=True)]
        self._late_at = len(self.tensors) + others
        self._made: list[int] = []  # indices of the leaves that got a tensor late, in order of creation

    def packed(self, values: Sequence[Tensor], body: bool = False) -> list[Any]:
        """Returns the loop variables with these values; for the body, empty arrays can create a late tensor."""
        given = iter(values)
        late = dict(zip(self._made, values[self._late_at :], strict=False))
        leaves: list[Any] = []
        for i, leaf in enumerate(self._leaves):
            if not self._empty[i]:
                count = len(nest.flatten(leaf, expand_composites=True))
                leaves.append(nest.pack_sequence_as(leaf, [next(given) for _ in range(count)], expand_composites=True))
            elif i in late:
                leaves.append(leaf.stacked(late[i]))
            else:
                leaves.append(leaf.stacked(Unmade(self._maker(i))) if body else leaf)
        return nest.pack_sequence_as(self._first, leaves)

    def _maker(self, i: int) -> Callable[[tuple[int, ...]], Tensor]:
        trace = present_trace()

        def make(dims: tuple[int, ...]) -> Tensor:
            self._made.append(i)
            return trace.late_input(self._leaves[i].rows(dims))

        return make

    def flattened(self, before: list[Any], after: object) -> tuple[list[Tensor], list[Tensor]]:
        """Returns the new values of the tensors and of the late ones after an iteration."""
        found: list[Tensor] = []
        late: dict[int, Tensor] = {}
        given = iter(self.tensors)
        for i, (old, new) in enumerate(zip(nest.flatten(before), nest.flatten(after), strict=True)):
            if isinstance(new, TensorArray) and isinstance(old, TensorArray):
                dims = new.entry_dims or old.entry_dims
                if dims is None:
                    continue
                old.rows(dims)  # may create a late tensor
                if self._empty[i]:
                    late[i] = new.rows(dims)
                else:
                    next(given)
                    found.append(new.rows(dims))
            else:
                parts = nest.flatten(new, expand_composites=True)
                check_dtypes(list(itertools.islice(given, len(parts))), parts)
                found += map(to_tensor, parts)
        return found, [late[i] for i in self._made]


def _allowed(variables: list[Any], invariants: list[Any]) -> list[Any]:
    """Returns the allowed shape of each tensor, or None if it must keep its own."""
    if len(variables) == len(invariants):  # None applies to a whole variable
        pairs = zip(variables, invariants, strict=True)
        invariants = [nest.map_structure(lambda _: None, x) if shape is None else shape for x, shape in pairs]
    nest.assert_same_structure(variables, invariants, check_types=False)
    found: list[Any] = []
    for x, shape in zip(nest.flatten(variables), nest.flatten(invariants), strict=True):
        parts = nest.flatten(x, expand_composites=True)
        if shape is not None and not isinstance(shape, TensorShape | TypeSpec):
            raise TypeError(f"A shape invariant must be a TensorShape, a TypeSpec or None, got {shape!r}")
        if isinstance(x, CompositeTensor):
            found += _allowed_parts(x, shape)
            continue
        if isinstance(shape, TypeSpec) and not _is_of(shape, x):
            raise TypeError(f"TypeSpec {shape} is not compatible with {x!r}")
        if len(parts) != 1:  # a `TensorArray` without entries
            continue
        open_shape = TensorShape(None) if isinstance(x, TensorArray) else shape
        found.append(None if shape is None else TensorShape(getattr(open_shape, "shape", open_shape)))
    return found


def _allowed_parts(x: CompositeTensor, given: TensorShape | TypeSpec | None) -> list[Any]:
    """Returns the allowed shape of each tensor of a composite, from the spec that the composite keeps."""
    if given is None:
        spec = x._type_spec
    else:
        spec = x._shape_invariant_to_type_spec(given) if isinstance(given, TensorShape) else given
    if not spec.is_compatible_with(x):
        raise TypeError(f"TypeSpec {spec} is not compatible with {x!r}")
    return [part.shape for part in nest.flatten(spec, expand_composites=True)]


def _is_of(spec: TypeSpec, x: Any) -> bool:
    """Whether `x` has the kind and dtype of `spec`; shapes are checked elsewhere."""
    if isinstance(spec, TensorSpec):
        return not is_composite(x) and to_tensor(x).dtype is spec.dtype
    return isinstance(x, spec.value_type) and getattr(spec, "dtype", x.dtype) is x.dtype  # type: ignore[attr-defined]


def check_dtypes(before: Sequence[Any], after: Sequence[Any]) -> None:
    """Raises TensorFlow's error if the leaves of loop variables change their dtype, or stop to be a `TensorArray`."""
    for old, new in zip(before, after, strict=True):
        if is_composite(old) or is_composite(new):
            if isinstance(old, TensorArray) and not isinstance(new, TensorArray):
                raise _changed_type("TensorArray", "variant", to_tensor(new).dtype.name)
            continue
        first, second = to_tensor(old), to_tensor(new)
        if first.dtype is not second.dtype:
            raise _changed_type(getattr(first, "name", str(first)), first.dtype.name, second.dtype.name)


def _changed_type(name: str, before: str, after: str) -> TypeError:
    return TypeError(
        f"Loop var {name} enters the loop with type <dtype: '{before}'> but has type <dtype: '{after}'> after 1 "
        f"iteration. {name} type should remain constant."
    )


def _check_constant(before: Tensor, after: Tensor, allowed: TensorShape | None) -> None:
    if before.dims != after.dims:
        if allowed is not None and allowed.is_compatible_with(after.shape):
            raise Untraceable("a loop variable changes its shape")
        raise _ShapeChangesError(
            f"Input tensor `{before.name}` enters the loop with shape {allowed or before.shape}, but has shape "
            f"{after.shape} after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
            before.dims, after.dims,
        )  # fmt: skip


class _ShapeChangesError(ValueError):
    """A loop tensor changes its shape; `tf.saved_model.save` searches for sizes for which it does not."""

    def __init__(self, message: str, *operand_shapes: tuple[int, ...]) -> None:
        super().__init__(message)
        self.operand_shapes = operand_shapes


# The name of TensorFlow's error is displayed.
_ShapeChangesError.__name__ = _ShapeChangesError.__qualname__ = ValueError.__name__
_ShapeChangesError.__module__ = ValueError.__module__


def mapped(
    fn: Callable[[Any, Any], tuple[Any, Any]], start: Any, elems: Sequence[Tensor], reverse: bool = False
) -> tuple[Any, Any]:
    """Run `state, emitted = fn(state, rows)` for each row of `elems`, as one node; return both, `emitted` stacked."""
    flat = [to_tensor(x) for x in nest.flatten(start, expand_composites=True)]
    example: list[Any] = []

    def body(state: Sequence[Tensor], rows: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        found, emitted = fn(nest.pack_sequence_as(start, list(state), expand_composites=True), list(rows))
        onward = [to_tensor(y) for y in nest.flatten(found, expand_composites=True)]
        for before, after in zip(state, onward, strict=True):
            if before.dims != after.dims or before.dtype is not after.dtype:
                raise Untraceable("what is carried from one element to the next changes its shape or dtype")
        example.append(emitted)
        return onward, [to_tensor(y) for y in nest.flatten(emitted, expand_composites=True)]

    state, emitted = _undoing(lambda: scan(body, flat, elems, elems[0].dims[0], reverse))
    return (
        nest.pack_sequence_as(start, state, expand_composites=True),
        nest.pack_sequence_as(example[0], emitted, expand_composites=True),
    )
