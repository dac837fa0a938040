"""`Op`: one record per op with its kernel, its differentiation rules and its test samples; the families fill it in.

Rules are written against a namespace `m`, so that one source serves bare arrays (`m = raw`) and recorded tensors
(`m = ops`). The parameter names of a rule declare which values are saved for it (its residuals): see `Residuals`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...backends.arrays import NUMPY_KERNELS, TAKING_HALF, in_single
from ...backends.numpy.floating_point import REPORTS, run_silently
from ...backends.torch.host_kernels import KERNELS, VJPS, WITH_RESIDUALS, HostKernel, bind_kernel, bind_with_residual
from ...backends.torch.library import IS_ENABLED, IS_INSTALLED
from ...core import dtypes, modes
from ...core.dtypes import DType
from ...core.locks import cached_property
from ...core.tensor import Tensor, is_tensor_like
from ..run import dispatch
from ..run.convert import to_tensor
from ..run.namespace import Namespace, ops, raw
from .cotangents import bare
from .examples import Rows
from .rules import Residuals, compile_rule, keep_nothing, parameters
from .shape_rules import ShapeRule

if IS_INSTALLED:  # to fill the tables, for large arrays on the host and for devices
    from ...backends.torch import elementwise, kernels  # noqa: F401

_VARIADIC = 4  # the flag of a code object that takes *args (CO_VARARGS)

_SINGLE_STEPS = ("constant", "elementwise")  # the families that compute half precision in its own arithmetic

Kernel = str | Callable[..., Any]  # the name of an array function, an operator, or `f(xp, *arrays, **attributes)`
registry: dict[str, Op] = {}


class Sample(NamedTuple):
    """Test inputs of an op: a shape means random numbers in `domain`, an array means itself."""

    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    domain: tuple[float, float] | None


def sample(*inputs: Any, domain: tuple[float, float] | None = None, **attrs: Any) -> Sample:
    """Creates `Sample(inputs, attrs, domain)`, in the form written beside an op."""
    return Sample(inputs, attrs, domain)


class LazyRules:
    """Base class of objects whose functions are compiled on first call."""

    __slots__ = ("vjp", "vjp_device", "vjp_raw")

    vjp: Callable[..., Any] | None
    vjp_raw: Callable[..., Any] | None
    vjp_device: Callable[..., Any] | None

    def defer(self, attribute: str, build: Callable[[], Callable[..., Any]]) -> None:
        """Sets a function that is built on its first call, so that importing an op costs next to nothing."""

        def first(*args: Any) -> Any:
            function = build()
            setattr(self, attribute, function)
            return function(*args)

        setattr(self, attribute, first)

    def defer_vjp(self, build: Callable[[str], Callable[..., Any]]) -> None:
        """Sets `vjp`, which runs on tensors, `vjp_raw`, on NumPy arrays, and `vjp_device`, on device arrays.

        `build(attribute)` builds each of them; `attribute` is where a saved tensor has its array, or "" for the tensor
        itself.
        """
        self.defer("vjp", lambda: build(""))
        self.defer("vjp_raw", lambda: build("array"))
        self.defer("vjp_device", lambda: build("buffer"))


class JointRule(NamedTuple):
    """The derivative of an op together with that of another op, if the outputs of that one are arguments of this one.

    `inner` is the other op, a function of the argument `source` of this op, and `outputs` are the arguments of this op
    that are its outputs, in order. `vjp(m, g, saved, inner_saved)` returns a cotangent for each of this op's arguments,
    None for `outputs`: the cotangent of `source` includes what they contribute. It returns None for cases that it does
    not cover. `saved` and `inner_saved` are the residuals of the two ops, with bare arrays for tensors.
    """

    inner: Op
    source: int
    outputs: tuple[int, ...]
    vjp: Callable[..., tuple[Any, ...] | None]


class Op(LazyRules):
    """One operation: how it is computed, differentiated, vectorized and tested.

    `vjp(m, g, saved, parents)` maps the cotangent of the output to those of the inputs (None where `parents[i] < 0`:
    the input needs no gradient); `jvp(m, inputs, outputs, attrs, tangents)` pushes tangents forward;
    `batch(m, size, inputs, flags, attrs)` runs the op once over a leading axis of the flagged inputs; `rows` says how
    the op treats examples along the first axis (`examples.py`). `keep` selects the residuals that `vjp` needs. An op
    whose `vjp` is None has a zero derivative mathematically: tapes treat its outputs as leaves, unless it `detaches`
    them.
    """

    __slots__ = ("__dict__", "numpy")  # `numpy` is a slot because it is read at every call

    forwards_inputs = None  # see `Unregistered`

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        *,
        family: str,
        args: tuple[str, ...] | None = None,
        samples: Sequence[Sample],
        rules: Sequence[object] = (),
        domain: tuple[float, float] = (-2.0, 2.0),
        kinds: int = dtypes.ANY,
        moves_data: bool = False,
        random: bool = False,
        shaped_by_values: bool = False,
    ) -> None:
        definition = (kernel, *rules)
        if name in registry and not _is_imported_again(registry[name].definition, definition):
            raise ValueError(f"op {name!r} is defined twice")
        if not samples:
            raise ValueError(f"op {name!r} has no samples: its tests derive from them")
        self.name = name
        self.title = "".join(word.capitalize() for word in name.split("_"))
        self.family = family
        self.kernel: Any = kernel
        self.definition: tuple[object, ...] = definition
        self.args = kernel_arguments(kernel) if args is None else args
        self.variadic = self.args[-1].startswith("*")
        self.samples = tuple(samples)
        if moves_data and kinds == dtypes.ANY:
            kinds |= dtypes.QUANTIZED
        self.domain, self.kinds = domain, kinds
        self.computed_kinds = kinds if moves_data else kinds & ~dtypes.NARROW  # narrow dtypes are computed in float32
        self.moves_data, self.random = moves_data, random
        self.shaped_by_values = shaped_by_values  # whether the outputs' shapes depend on the inputs' values
        self.never_aliases = False  # whether its kernel never returns an argument or a view of one
        self.takes_none = False  # whether `vjp` accepts None as the cotangent of an unused output
        self.backward_may_raise = False  # whether its `vjp` may raise
        self.detaches = False  # whether tapes do not track its outputs
        self.is_repeatable = True  # whether its kernel has no effects, so that it may run again
        self.nondifferentiable_args: tuple[int, ...] = ()  # indices of the arguments without a derivative
        self.result_dtype: DType | None = None  # the dtype of the result, if it is the same for all arguments
        self.small = bind(kernel, np)  # for arrays that are too small for PyTorch's kernel
        self.wide = with_torch(KERNELS.get(name), self.small)  # for any arrays but those of half precision
        # Ops of several steps, and sums, compute half precision in float32 and round the result only.
        takes_half = moves_data or random or family in _SINGLE_STEPS or kernel in TAKING_HALF
        self.numpy = self.wide if takes_half else in_single(self.wide)
        self.large: Callable[..., Any] | None = None  # `f(dtype, *arrays)` on all cores, of the elementwise fast path
        self.vjp: Callable[..., Any] | None = None
        self.vjp_raw = self.vjp_device = None
        self.keep: Callable[..., tuple[Any, ...]] = keep_nothing
        self.kept: tuple[str, ...] = ()  # the names of the values that `keep` saves
        # Rules of the fast path for one or two arguments: what is saved when both are on the tape, and when only one
        # is.
        self.keep_both: Callable[..., tuple[Any, ...]] = keep_nothing
        self.first: SingleInputRule | None = None
        self.second: SingleInputRule | None = None
        self.joint: JointRule | None = None  # used in sweeps over bare arrays
        self.jvp: Callable[..., Any] | None = None
        self.batch: Callable[..., Any] | None = None
        self.rows: Rows | None = None  # how the op treats rows that belong to examples
        self.shape_rule: ShapeRule | None = None  # the outputs' shapes by the inputs'; None: only the kernel tells
        self.call: Callable[..., Any] = self.run
        self.call_on_device: Callable[..., Any] = self.run  # the same, for arguments that are probably on a device
        self.reflected = ""  # the method by which a right operand may handle the op, such as `__radd__`
        registry[name] = self
        setattr(raw, name, self.numpy)

    def run(self, *inputs: Any, **attrs: Any) -> Any:
        """Runs the op on anything that converts to tensors."""
        kinds = self.computed_kinds
        for x in inputs:
            if type(x) is not Tensor or not x.dtype.kind & kinds:
                break
        else:
            return dispatch.run_plain(self, inputs, attrs)
        kinds = self.kinds
        tensors = [x if isinstance(x, Tensor) else to_tensor(x) for x in inputs]
        for x in tensors:
            if not x.dtype.kind & kinds:
                self._check_kinds(tensors)
        return dispatch.run(self, tensors, attrs)

    def _check_kinds(self, tensors: Sequence[Tensor]) -> None:
        """Raises unless the dtype of each argument is of a kind that the op accepts, or that the samples show there.

        The indices of an op on complex numbers are integers.
        """
        for i, x in enumerate(tensors):
            shown = [case.inputs[i] for case in self.samples if i < len(case.inputs)]
            kinds = [dtypes.as_dtype(array.dtype).kind for array in shown if isinstance(array, np.ndarray)]
            if not any(x.dtype.kind & kind for kind in (self.kinds, *kinds)):
                raise dispatch.wrong_kind(self, x.dtype)

    @cached_property
    def attributes(self) -> dict[str, bool]:
        """Maps the attribute names to whether each is required."""
        return {} if isinstance(self.kernel, str | types.BuiltinFunctionType) else named_parameters(self.kernel)

    def publish(self) -> Op:
        """Makes the complete op callable by rules."""
        setattr(ops, self.name, self.call)
        return self

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        return self.call(*inputs, **attrs)

    def __repr__(self) -> str:
        return f"<op {self.name} ({self.family})>"


class Unregistered:
    """Defaults of an op outside the registry, which wraps graphs or user code."""

    name: str
    title: str
    family: str
    numpy: Any
    moves_data = True
    backward_may_raise = takes_none = effect = shaped_by_values = detaches = is_repeatable = False
    vjp: Any = None
    joint: JointRule | None = None
    jvp: Any = None
    batch: Any = None
    rows: Rows | None = None
    forwards_inputs: Any = None  # if the op only forwards inputs: `forwards_inputs(inputs, attrs)` are the outputs

    @cached_property
    def attributes(self) -> dict[str, bool]:
        """Maps the attribute names to whether each is required."""
        return named_parameters(self.numpy)

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool] | None:
        """Returns the shapes and dtypes of its outputs and whether they are a tuple; None if they depend on values."""
        return None

    def kernel(self, xp: Any, *arrays: Any, **attrs: Any) -> Any:
        """Runs the NumPy kernel on concrete arrays; `xp` is ignored."""
        return self.numpy(*arrays, **attrs)

    def keep(self, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Selects the residuals that `vjp` needs besides the op's own state."""
        return ()

    def vjp_raw(self, m: Namespace, g: Any, saved: tuple[Any, ...], parents: Sequence[int]) -> Any:
        """Runs `vjp` on bare arrays and returns bare arrays."""
        gs = tuple([None if x is None else Tensor(x) for x in g]) if type(g) is tuple else Tensor(g)
        return tuple(map(bare, self.vjp(ops, gs, saved, parents)))

    def __repr__(self) -> str:
        return f"<{self.family} {self.name}>"


def _is_imported_again(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether an op's kernel and rules are defined again by the same module, whose first import was interrupted.

    Functions of a module that is imported again have new globals; a record without functions is the same data.
    """
    for old, new in zip(before, after, strict=False):
        if isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType):
            if old.__module__ == new.__module__ and old.__globals__ is not new.__globals__:
                return True
    return before == after


class SingleInputRule(LazyRules):
    """An op as a function of one argument: the fast path's record if the other argument is not on the tape.

    `keep(*inputs, y)` selects what that argument's cotangent needs, a single value without a tuple, or returns
    NotImplemented; `vjp(m, g, saved)` computes the cotangent. `spread(saved)` converts the saved values to the form of
    the op's own `keep`.
    """

    __slots__ = ("index", "keep", "op", "spread")

    def __init__(self, op: Op, index: int) -> None:
        self.op, self.index = op, index
        self.keep: Callable[..., Any] = keep_nothing
        self.spread: Callable[[Any], tuple[Any, ...]] = tuple

    def placed(self, parent: int) -> tuple[int, ...]:
        """Returns the op's tape positions when this argument's is `parent` and the others are not on the tape."""
        return tuple([parent if i == self.index else -1 for i in range(len(self.op.args))])


def bind(kernel: Kernel, xp: Any) -> Callable[..., Any]:
    """Binds a kernel to an array module: `kernel` is a function's name there, an operator, or `f(xp, *arrays)`."""
    if xp is np and kernel in NUMPY_KERNELS:
        return NUMPY_KERNELS[kernel]
    if isinstance(kernel, str):
        return getattr(xp, kernel)
    return kernel if isinstance(kernel, types.BuiltinFunctionType) else partial(kernel, xp)


def named_parameters(f: Callable[..., Any]) -> dict[str, bool]:
    """Maps a function's keyword-only parameters to whether each is required."""
    function = getattr(f, "__func__", f)
    code = getattr(function, "__code__", None)
    if code is None:  # a callable object
        from ..run.signatures import signature_of  # deferred: `inspect` takes as long as much of this package

        found = signature_of(f).parameters.values()
        return {p.name: p.default is p.empty for p in found if p.kind is p.KEYWORD_ONLY}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: name not in (function.__kwdefaults__ or ()) for name in names}


def op_named(name: str) -> Op:
    """Returns the op with this name; imports the module that defines it if that has not happened."""
    getattr(raw, name)  # or raises AttributeError
    return registry[name]


def kernel_arguments(kernel: Any) -> tuple[str, ...]:
    """Returns the names of the tensor arguments of a kernel `f(xp, *arrays, *, attributes)`."""
    code = kernel.__code__
    variadic = (f"*{code.co_varnames[len(parameters(kernel))]}",) if code.co_flags & _VARIADIC else ()
    return code.co_varnames[1 : code.co_argcount] + variadic


def wire(op: Op, rule: Callable[..., Any], constants: int = 0) -> None:
    """Sets the op's `vjp` from `rule(m, g, need, <names>)`, which returns a cotangent for each input.

    If all inputs but the first are `constants`, it returns that of the first.
    """
    by_torch = [VJPS[op.name].function] if op.name in VJPS else []
    # PyTorch's derivative may name a residual that only its kernel leaves.
    residuals = Residuals(op.args, [rule, *by_torch])
    op.defer("keep", residuals.keeper)
    op.kept = residuals.names
    several = len(op.args) > 1 or op.variadic

    def vjp(arrays: str) -> Callable[..., Any]:
        call = residuals.call("rule", rule, arrays)
        body = call if several and not constants else f"({call}, {'None, ' * constants})"
        return compile_vjp(op.name, residuals, arrays, body, rule, several=several, rule=rule)

    op.defer_vjp(vjp)


def match_dtypes(op: Op, values: Sequence[Any], matching: tuple[int, ...]) -> list[Tensor]:
    """Converts the values to tensors; those at `matching` agree in dtype, and numbers take the first tensor's."""
    first = values[0]
    if isinstance(first, Tensor) and first.dtype.kind & op.kinds and len(matching) == len(values):
        if all([isinstance(x, Tensor) and x.dtype is first.dtype for x in values]):
            return list(values)
    hint: DType | None = next((values[i].dtype for i in matching if is_tensor_like(values[i])), None)
    inputs: list[Tensor] = []
    for i, value in enumerate(values):
        if i not in matching:
            inputs.append(to_tensor(value))
            continue
        x = to_tensor(value, None if is_tensor_like(value) else hint)
        if hint is None:
            hint = x.dtype
        elif x.dtype is not hint:
            raise dispatch.mixed_dtypes(op, i, hint, x.dtype)
        if not x.dtype.kind & op.kinds:
            raise dispatch.wrong_kind(op, x.dtype)
        inputs.append(x)
    return inputs


def with_torch(by_torch: HostKernel | None, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a kernel that lets PyTorch's compute large arrays; `kernel` itself if PyTorch has none."""
    if by_torch is None or not IS_ENABLED:
        return kernel
    _, min_elements, operand, dtypes = by_torch
    large = cache(partial(bind_kernel, by_torch))  # imports PyTorch when it is called

    def run(*arrays: Any, **attrs: Any) -> Any:
        x = arrays[operand]
        if x.size < min_elements or type(x) is not np.ndarray or x.dtype.char not in dtypes:
            return kernel(*arrays, **attrs)
        y = large()(*arrays, **attrs)
        return kernel(*arrays, **attrs) if y is None else y

    return run


def keep_residual(op: Op, by_numpy: HostKernel | None = None) -> Callable[..., Any]:
    """Returns a call of an op that saves what a large array's kernel leaves for its vjp, if one tape records the op.

    That is PyTorch's kernel, or without PyTorch `by_numpy`. The tape saves it like an attribute named `residual`. A
    recorder that runs recorded ops again does not take it.
    """
    kernel = WITH_RESIDUALS.get(op.name) if IS_ENABLED else by_numpy
    if kernel is None:
        return op.call
    call, (function, min_elements, operand, kinds) = op.call, kernel
    bind_torch = cache(partial(bind_with_residual, kernel))  # imports PyTorch when it is called

    def run(*inputs: Any, **attrs: Any) -> Any:
        recorder = dispatch.thread.recorder
        if recorder is None or not recorder.keeps_residuals or modes.active:
            return call(*inputs, **attrs)
        for x in inputs:
            if type(x) is not Tensor:
                return call(*inputs, **attrs)
        dtype, array = inputs[operand].dtype, inputs[operand].array
        if array.size < min_elements or array.dtype.char not in kinds:
            return call(*inputs, **attrs)
        tracked = False
        for i, x in enumerate(inputs):
            if x.dtype is not dtype and (i >= operand or not x.dtype.kind & dtypes.INT):
                return call(*inputs, **attrs)
            tracked = tracked or x.tracer is not None
        if not tracked:
            return call(*inputs, **attrs)
        run_large = bind_torch() if kernel is not by_numpy else function
        arrays = [x.array for x in inputs]
        try:
            found = run_large(*arrays, **attrs)
        except REPORTS:
            found = run_silently(run_large, *arrays, **attrs)
        if found is None:
            return call(*inputs, **attrs)
        y = Tensor(found[0], dtype)
        recorder.record(op, inputs, y, {**attrs, "residual": found[1]})
        return y

    return run


def compile_vjp(
    name: str, residuals: Residuals, arrays: str, body: str, *rules: Callable[..., Any], several: bool = True,
    **names: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Compiles the vjp of an op from the source `body`, which calls `rules`; PyTorch's own derivative comes first.

    That is for device arrays and large NumPy arrays, and returns None for what it does not cover. Rules may take
    `need`: whether each argument's cotangent is needed.
    """
    kernel = VJPS.get(name)
    if kernel is not None and (arrays == "buffer" or (arrays == "array" and IS_ENABLED)):
        rules = (*rules, kernel.function)
        given = [residuals.lookup(argument, arrays) for argument in parameters(kernel.function)[1:]]
        _, min_elements, operand, dtypes = kernel
        applies, own = "(own := m.vjp_kernel(name)) is not None", "own"
        if arrays == "array":
            size = f"(x := {given[operand]}).size >= {min_elements}"
            applies, own = f"{size} and type(x) is ndarray and x.dtype.char in {dtypes!r}", "large()"
        found = f"(found := {own}({', '.join(given)})) is not None"
        body = f"{'found' if several else '(found,)'} if {applies} and {found} else {body}"
        names |= {"name": name, "ndarray": np.ndarray, "large": cache(partial(bind_kernel, kernel))}
    if any("need" in parameters(f) for f in rules):
        body = f"(lambda need: {body})([p >= 0 for p in parents])"
    return compile_rule("m, g, s, parents", body, **names)
