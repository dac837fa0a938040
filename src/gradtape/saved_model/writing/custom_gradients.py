"""Functions with custom gradients, as TensorFlow writes them.

A node `IdentityN` forwards the results and the arguments and names an op type. The function library contains the
gradient of that type: a function of the cotangents of all outputs of the node, and of captured tensors, that returns
the cotangents of the arguments.

The node is in a separate function, whose arguments are everything that the gradient captures. TensorFlow looks up
captured tensors in the graph that it loaded: it builds the gradient of a branch or a loop body in a copy of that graph,
and only builds a call's gradient where the tensors are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core import logger
from ...core.shapes import TensorShape
from ...graph.control_flow.custom import Traced
from ...state.specs import TensorSpec
from .generalisation import Place, Size, Step
from .translation import translates
from .writer import Ref, Unsaved


class WrittenGradient(NamedTuple):
    """A gradient in the library: its function, op type, inputs, outputs and captures."""

    function: str
    op_type: str
    takes: tuple[TensorSpec, ...]
    gives: list[TensorSpec | None]
    captured: list[str]  # the names of tensors of the enclosing function


@translates("custom_gradient")
def _custom_gradient(w: Any, s: Step, *xs: Ref, rule: Traced, counts: tuple[int, int]) -> list[Ref]:
    """Writes a call of a function with the node; `w` is the writer of the enclosing function."""
    first, end = counts[0], sum(counts)
    kind = w.library.new_gradient_type()
    given = list(dict.fromkeys(xs))
    inner = w.library.writer()
    arguments = {ref: inner.argument(f"arg_{i}", ref.dtype) for i, ref in enumerate(given)}
    inputs, outputs, used = ([arguments[ref] for ref in refs] for refs in (xs[:first], xs[first:end], xs[end:]))
    forwarded = inner.IdentityN([*outputs, *inputs])
    inner.nodes[-1]["attr"]["_gradient_op_type"] = {"s": kind.encode()}
    if w.library.saves_gradients:
        try:
            inner.gradients.append(_gradient(inner, s, rule, counts, used, kind))
        except Unsaved as error:  # as in TensorFlow: computing a gradient through the loaded function is then an error
            logger.warning("A custom gradient is not saved, and the loaded function has no gradient there: %s", error)
    name = w.library.finish(inner, "__inference_custom_gradient", forwarded[: counts[1]])
    call = w.StatefulPartitionedCall if w.library.is_stateful(name) else w.PartitionedCall
    return list(call(given, Tout=[ref.dtype for ref in outputs], f=name))


def _gradient(
    w: Any, s: Step, rule: Traced, counts: tuple[int, int], used: Sequence[Ref], kind: str
) -> WrittenGradient:
    """Writes the function of a gradient; `w` is the writer of the function with the node."""
    if rule.failure is not None:
        raise Unsaved(f"it raised {rule.failure!r} when it was traced") from rule.failure
    program: Any = rule.graph
    first, end = counts[0], sum(counts)
    places = [*s.inputs[first:end], *s.inputs[:first]]  # of the forwarded values, in order
    writer = w.library.writer()
    cotangents = [writer.argument(f"result_grads_{i}", place.dtype) for i, place in enumerate(places)]
    captured = [writer.argument(f"captured_{i}", place.dtype) for i, place in enumerate(s.inputs[end:])]
    for ref, place in zip([*cotangents, *captured], [*places, *s.inputs[end:]], strict=True):
        writer.knows(ref, place)
    found = w.library.written(writer, program, [*cotangents[: counts[1]], *captured])
    results = [_dense(writer, form, found, cotangents[counts[1] + i]) for i, form in enumerate(rule.cotangents.forms)]
    name = w.library.finish(writer, "__inference_internal_grad_fn", [ref for ref in results if ref is not None])
    takes = tuple(_spec(place, f"result_grads_{i}") for i, place in enumerate(places))
    gives = [None if ref is None else _spec(place) for ref, place in zip(results, s.inputs[:first], strict=True)]
    return WrittenGradient(name, kind, takes, [*[None] * counts[1], *gives], [f"{ref.node}:0" for ref in used])


def _dense(writer: Any, form: Any, found: list[Ref], like: Ref) -> Ref | None:
    """Returns the cotangent of an argument: sparse rows are summed into a dense tensor with the rows of `like`."""
    if not isinstance(form, tuple):
        return None if form is None else found[form]
    rows = writer.StridedSlice(writer.Shape(like), [0], [1], [1], shrink_axis_mask=1)
    return writer.UnsortedSegmentSum(found[form[0]], found[form[0] + 1], rows)


def _spec(place: Place, name: str | None = None) -> TensorSpec:
    sizes = [None if isinstance(n, Size) else n for n in place.dims] if place.ranked else None
    return TensorSpec(TensorShape(sizes), place.dtype, name)
