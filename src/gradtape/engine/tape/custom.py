"""Functions with custom gradients: a call is one record, whose rule is the user's code.

The ops inside the function are recorded as well, but no path leads to them, because the result is a new tensor whose
record is the call. They are needed for second derivatives, where the user's rule uses intermediate values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core import nest
from ...core.composites import composites_of_gradients, tensors_for_gradients
from ...core.extension_points import add_custom_call
from ...core.protocols import Outputs, Recorder, Tracers, VariableLike
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, NeedsValue, Proxy, enter, leave
from ..registry.cotangents import materialize
from ..registry.op import Unregistered
from ..run import dispatch
from ..run.convert import to_tensor
from ..run.namespace import Namespace, ops
from ..run.randomness import recording_seeds, replaying_seeds
from ..run.signatures import signature_of
from .results import OptionalGradient
from .tape import Tape
from .validation import as_cotangent, native

_Node = tuple[Any, Sequence[Tensor], dict[str, Any]]  # op, inputs, attributes


class VariableWatcher(Recorder):
    """A recorder that only collects the trainable variables that are read."""

    def __init__(self) -> None:
        self.level = dispatch.next_level()
        self.key = object()
        self.found: dict[int, VariableLike] = {}

    def tracer_of(self, variable: VariableLike, rest: Tracers) -> Tracers:
        """Collects the variable; its value gets no tracer."""
        if variable.trainable:
            self.found.setdefault(id(variable), variable)
        return rest


class OneCall(Unregistered):
    """The op of a single call: it exists to be recorded and differentiated, and has no kernel.

    `rule(gs)` takes a cotangent for each output and returns one, or None, for each input.
    """

    family = "custom"
    backward_may_raise = True

    def __init__(
        self, name: str, rule: Callable[[tuple[Tensor, ...]], Sequence[Any]],
        again: Callable[[Sequence[Tensor]], list[Tensor]] | None = None, results: Sequence[Tensor] | None = None,
        node: _Node | None = None,
    ) -> None:  # fmt: skip
        self.name = self.title = name
        self.rule = rule
        self.again = again  # reruns the function on other inputs, where possible
        self.results = results  # the function's results, of which the outputs are copies
        self.node = node  # the node of the call in the graph being traced

    def vjp(
        self, m: Namespace, g: Outputs, saved: tuple[Any, ...], parents: tuple[int, ...]
    ) -> tuple[Any, ...]:
        """Computes the cotangents of the inputs, from tensors to tensors."""
        return tuple(self.rule(g if isinstance(g, tuple) else (g,)))


def record(op: OneCall, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...]) -> None:
    """Reports a call to the recorders; recorders outside a batch see the call on the whole batch."""
    for recorder in sorted(dispatch.thread.recorders, key=lambda r: -r.level):
        while (level := _innermost((*inputs, *outputs))) is not None and level > recorder.level:
            op, inputs, outputs = _of_whole_batch(op, inputs, outputs, level)
        recorder.record(op, inputs, outputs if len(outputs) > 1 else outputs[0], {})


def _innermost(tensors: Sequence[Tensor]) -> int | None:
    return max((x.level for x in tensors if type(x) is BatchedTensor), default=None)


def _of_whole_batch(
    op: OneCall, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...], level: int
) -> tuple[OneCall, list[Tensor], tuple[Tensor, ...]]:
    """Lifts the call out of the batch of `level`: to tensors with the batch as their first axis."""
    flags = [type(x) is BatchedTensor and x.level == level for x in inputs]
    size = next(x.size for x in (*inputs, *outputs) if type(x) is BatchedTensor and x.level == level)

    def rule(gs: tuple[Tensor, ...]) -> list[Any]:
        with _seen_from_outside(level):
            cotangents = op.rule(tuple(enter(g, level) for g in gs))
            return [_left(c, flag) for c, flag in zip(cotangents, flags, strict=True)]

    def _left(cotangent: OptionalGradient, flag: bool) -> Tensor | None:
        if cotangent is None:
            return None
        whole = leave(materialize(ops, cotangent), level, size)
        return whole if flag else ops.sum(whole, axis=(0,), keepdims=False)

    peeled = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
    with dispatch.recorded_by(()):
        results = tuple(leave(y, level, size) for y in outputs)
    return OneCall(op.name, rule), peeled, results


@contextmanager
def _seen_from_outside(level: int) -> Iterator[None]:
    """Moves the active recorders outside the batch of `level`, so that they do not see its members."""
    later = [(r, r.level) for r in dispatch.thread.recorders if r.level > level]
    for recorder, own in later:
        recorder.level = level - 1 / (1 + own)
    try:
        yield
    finally:
        for recorder, own in later:
            recorder.level = own


def custom_call(f: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls `f(*args, **kwargs)`, which returns its result and its gradient rule, and records it as one op."""
    watcher = VariableWatcher()
    with dispatch.recorded_by((*dispatch.thread.recorders, watcher)):
        returned = f(*args, **kwargs)
    if not (isinstance(returned, tuple | list) and len(returned) == 2 and callable(returned[1])):
        raise TypeError(
            f"a function with @tf.custom_gradient must return a pair (result, grad_fn), but {name} returned "
            f"{type(returned).__name__}"
        )
    result, grad_fn = returned
    arguments = _Arguments(f, args, kwargs)
    passed = {id(x) for x in arguments.leaves}
    variables = [v for v in watcher.found.values() if id(v) not in passed]
    if variables and not _accepts_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
            f"{variables}"
        )
    results = nest.flatten(result)
    if not any(isinstance(y, Tensor) or y is not None for y in results):
        raise ValueError(f"{name} returned {result!r} as its result, which holds no tensor")
    tensors = [to_tensor(y) for y in tensors_for_gradients(results)]
    inputs = [arguments.leaves[i] for i in arguments.tensors] + variables
    inputs = [x if isinstance(x, Tensor) else native(x)._as_tensor() for x in inputs]

    def rule(gs: tuple[Tensor, ...]) -> list[Any]:
        cotangents = _asked(
            gs, lambda members: _user_rule(grad_fn, composites_of_gradients(results, members), arguments, variables)
        )
        return [_checked(c, x, i, name) for i, (c, x) in enumerate(zip(cotangents, inputs, strict=True))]

    def again(values: Sequence[Tensor]) -> list[Tensor]:
        replaced = {id(arguments.leaves[i]): value for i, value in zip(arguments.tensors, values, strict=False)}

        def other(x: Any) -> Any:
            return composites_of_gradients([x], [replaced.get(id(t), t) for t in tensors_for_gradients([x])])[0]

        positional = nest.map_structure(other, list(args))
        named = {key: nest.map_structure(other, x) for key, x in kwargs.items()}
        return [to_tensor(y) for y in _leaves(f(*positional, **named)[0])]

    trace = dispatch.thread.trace
    node = None
    if trace is not None and inputs and _innermost((*inputs, *tensors)) is None:
        fresh, node = add_custom_call(trace, inputs, tensors, rule)
    else:
        with dispatch.recorded_by(()):
            fresh = tuple(ops.identity(y) for y in tensors)
    if inputs:
        record(OneCall(name, rule, again, tensors, node), inputs, fresh)
    return nest.pack_sequence_as(result, composites_of_gradients(results, fresh))


class _Arguments:
    """The leaves of a call's arguments, in the order of the signature, and which of them are tensors.

    The leaves of a composite are those of its tensors that have gradients.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        by_position = _leaves(args)
        self.positional = len(by_position)
        self.leaves = by_position
        if kwargs:
            try:
                bound = signature_of(f).bind(*args, **kwargs)
                self.leaves = _leaves(list(bound.args)) + _leaves(list(bound.kwargs.values()))
            except (TypeError, ValueError):
                self.leaves = by_position + _leaves(list(kwargs.values()))
        self.tensors = [i for i, x in enumerate(self.leaves) if _is_tensor(x)]

    def gradients(self, given: list[Any]) -> list[Any]:
        """Selects the gradients of tensors from `given`, which has one for each leaf or for each positional one."""
        if len(given) != len(self.leaves):
            if len(given) != self.positional or not self.positional:
                raise ValueError(
                    f"custom_gradient function expected to return {self.positional or len(self.leaves)} gradients, but "
                    f"returned {len(given)} instead."
                )
            given = given + [None] * (len(self.leaves) - len(given))
        return [given[i] for i in self.tensors]


def _is_tensor(x: object) -> bool:
    return isinstance(x, Tensor) or hasattr(native(x), "_as_tensor")


def _accepts_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = signature_of(grad_fn).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _user_rule(
    grad_fn: Callable[..., Any], gs: Sequence[Any], arguments: _Arguments, variables: list[Any]
) -> list[Any]:
    """Calls the user's rule and splits its result into gradients of arguments and of variables."""
    if not variables:
        return arguments.gradients(_leaves(grad_fn(*gs)))
    returned = grad_fn(*gs, variables=variables)
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise TypeError(
            "a grad_fn that is given variables must return a pair (gradients of the inputs, list of gradients of the "
            f"variables), got {type(returned).__name__}"
        )
    own, theirs = returned
    if len(theirs) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    return arguments.gradients(_leaves(own)) + list(theirs)


def _leaves(values: Any) -> list[Any]:
    return [values] if isinstance(values, IndexedSlices) else tensors_for_gradients(nest.flatten(values))


def _asked(gs: tuple[Tensor, ...], ask: Callable[[tuple[Tensor, ...]], list[Any]]) -> list[Any]:
    """Calls `ask(gs)`; if the user's code reads values of a batch of cotangents, once for each member."""
    try:
        return ask(gs)
    except NeedsValue:
        gs = tuple(g.apart() if isinstance(g, Proxy) else g for g in gs)
        level = _innermost(gs)
        if level is None:
            raise
    flags = [type(g) is BatchedTensor and g.level == level for g in gs]
    size = next(g.size for g, flag in zip(gs, flags, strict=True) if flag)  # type: ignore[attr-defined]
    answers = []
    for i in range(size):
        answers.append(_asked(tuple(g.value[i] if f else g for g, f in zip(gs, flags, strict=True)), ask))  # type: ignore[attr-defined]
    stacked: list[Any] = []
    for column in zip(*answers, strict=True):
        dense = [materialize(ops, c) for c in column if c is not None]
        stacked.append(enter(ops.stack(*dense, axis=0), level) if dense else None)
    return stacked


def _checked(cotangent: Any, x: Tensor, position: int, name: str) -> Any:
    """Validates the gradient that the user's rule returned for `x`."""
    if cotangent is None:
        return None
    if type(cotangent) is IndexedSlices:
        slices = IndexedSlices(to_tensor(cotangent.values), to_tensor(cotangent.indices), x.dims)
        dims, dtype, cotangent = (x.dims[0], *slices.values.dims[1:]), slices.dtype, slices
    else:
        cotangent = to_tensor(cotangent, hint=x.dtype)
        dims, dtype = cotangent.dims, cotangent.dtype
    if x.dtype.differentiable and (dims != x.dims or dtype is not x.dtype):
        raise ValueError(
            f"the custom gradient of {name} returned a gradient of shape {dims} and dtype {dtype.name} for input "
            f"{position}, which has shape {x.dims} and dtype {x.dtype.name}; a gradient has the shape and dtype of its "
            "input"
        )
    return cotangent


def recomputed(f: Callable[..., Any]) -> Callable[..., Any]:
    """Converts `f` to the form that `custom_call` takes, with rematerialization (gradient checkpointing).

    Only the inputs are saved; `f` runs again when its gradient is computed.
    """

    def pair(*args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
        watchers = tuple(r for r in dispatch.thread.recorders if isinstance(r, VariableWatcher))
        with dispatch.recorded_by(watchers), recording_seeds() as seeds:
            result = f(*args, **kwargs)

        def grad(*gs: Any, variables: Sequence[Any] = ()) -> Any:
            cotangents = _leaves(gs)
            whole = nest.flatten(list(args)) + nest.flatten(list(kwargs.values()))
            # A tensor passed twice has two gradients, so each leaf is copied.
            copies = [ops.after(x, cotangents[0]) if isinstance(x, Tensor) else x for x in tensors_for_gradients(whole)]
            with Tape() as tape, replaying_seeds(seeds):
                tape.watch([native(x) for x in copies if _is_tensor(x) and native(x).dtype.differentiable])
                values = composites_of_gradients(whole, copies)
                again, named = nest.pack_sequence_as([list(args), list(kwargs.values())], values)
                outputs = [to_tensor(y) for y in _leaves(f(*again, **dict(zip(kwargs, named, strict=True))))]
            sources = [x for x in {id(x): x for x in (*copies, *variables)}.values() if _is_tensor(x)]
            pairs = zip(outputs, cotangents, strict=True)
            weights = [None if g is None else as_cotangent(y, g) for y, g in pairs]
            gradients = tape.vjp(outputs, weights, [native(x) for x in sources])
            found = dict(zip(map(id, sources), gradients, strict=True))
            own = [found.pop(id(x), None) for x in copies]
            return (own, [found.get(id(v)) for v in variables]) if variables else own

        return result, grad

    return pair


registered: dict[str, Any] = {}


def register_gradient(op_type: object, function: Callable[..., Any] | None) -> None:
    """Registers the gradient function of an op type, once; None means that it has no gradient."""
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {op_type!r}")
    if op_type in registered:
        raise KeyError(f"Registering two gradient with name {op_type!r}!")
    registered[op_type] = function
