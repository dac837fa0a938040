"""`Op`: one record per op with its kernel, its differentiation rules and its test samples; the families fill it in.

Rules are written against a namespace `m`, so that one source serves bare arrays (`m = raw`) and recorded tensors
(`m = ops`). The parameter names of a rule declare which values are saved for it (its residuals): see `wire`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ...backends.numpy.accelerated import with_accelerated
from ...core import dtypes
from ...core.tensor import Tensor
from ..run import dispatch
from ..run.convert import to_tensor
from ..run.namespace import ops, raw
from ..run.source_lines import RULES
from .cotangents import bare
from .examples import Rows

_PROBE: Any = object()  # identifies a formula that returns its argument, as in a product's rule
_VARIADIC = 4  # the flag of a code object that takes *args (CO_VARARGS)

registry: dict[str, Op] = {}
_defined_in: dict[str, dict[str, Any]] = {}  # by op name: the namespace of the module that defined it


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
        kernel: Any,
        *,
        family: str,
        args: tuple[str, ...],
        samples: Sequence[Sample],
        domain: tuple[float, float] = (-2.0, 2.0),
        kinds: int = dtypes.ANY,
        moves_data: bool = False,
        kinks: bool = False,
        random: bool = False,
        shaped_by_values: bool = False,
    ) -> None:
        module = _module_being_run()
        before = _defined_in.get(name)
        # A module whose import was interrupted is imported again and redefines its ops in a new namespace.
        again = before is not None and before is not module and before["__name__"] == module["__name__"]
        if name in registry and not again:
            raise ValueError(f"op {name!r} is defined twice")
        if not samples:
            raise ValueError(f"op {name!r} has no samples: its tests derive from them")
        self.name = name
        self.title = "".join(word.capitalize() for word in name.split("_"))
        self.family = family
        self.kernel = kernel
        self.args = args
        self.variadic = args[-1].startswith("*")
        self.samples = tuple(samples)
        self.domain = domain
        self.kinds = kinds
        self.computed_kinds = kinds if moves_data else kinds & ~dtypes.NARROW  # narrow dtypes are computed in float32
        self.moves_data = moves_data
        self.kinks = kinks
        self.random = random
        self.shaped_by_values = shaped_by_values  # whether the outputs' shapes depend on the inputs' values
        self.never_aliases = False  # whether its kernel never returns an argument or a view of one
        self.takes_none = False  # whether `vjp` accepts None as the cotangent of an unused output
        self.backward_may_raise = False  # whether its `vjp` may raise
        self.detaches = False  # whether tapes do not track its outputs
        self.nondifferentiable_args: tuple[int, ...] = ()  # indices of the arguments without a derivative
        self.numpy = with_accelerated(name, bind(kernel, np))
        self.vjp: Callable[..., Any] | None = None
        self.vjp_raw = self.vjp_device = None
        self.keep: Callable[..., tuple[Any, ...]] = _keep_nothing
        self.kept: tuple[str, ...] = ()  # the names of the values that `keep` saves
        # Rules of the fast path for one or two arguments: what is saved when both are on the tape, and when only one
        # is.
        self.keep_both: Callable[..., tuple[Any, ...]] = _keep_nothing
        self.first: SingleInputRule | None = None
        self.second: SingleInputRule | None = None
        self.jvp: Callable[..., Any] | None = None
        self.batch: Callable[..., Any] | None = None
        self.rows: Rows | None = None  # how the op treats rows that belong to examples
        self.call: Callable[..., Any] = self.run
        self.reflected = ""  # the method by which a right operand may handle the op, such as `__radd__`
        self.complex_rules: Op | None = None  # the same op with rules for complex values
        registry[name] = self
        _defined_in[name] = module
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
                raise dispatch.wrong_kind(self, x.dtype)
        return dispatch.run(self, tensors, attrs)

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
    backward_may_raise = takes_none = effect = shaped_by_values = detaches = False
    vjp: Any = None
    jvp: Any = None
    batch: Any = None
    rows: Rows | None = None
    forwards_inputs: Any = None  # if the op only forwards inputs: `forwards_inputs(inputs, attrs)` are the outputs

    @cached_property
    def attributes(self) -> dict[str, bool]:
        """Maps the attribute names to whether each is required."""
        return named_parameters(self.numpy)

    def device_kernel(self, module: Any) -> Callable[..., Any] | None:
        """Returns the kernel for device arrays; None if the op runs on the host."""
        return None

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool] | None:
        """Returns the shapes and dtypes of its outputs and whether they are a tuple; None if they depend on values."""
        return None

    def kernel(self, xp: Any, *arrays: Any, **attrs: Any) -> Any:
        """Runs the NumPy kernel on concrete arrays; `xp` is ignored."""
        return self.numpy(*arrays, **attrs)

    def keep(self, inputs: Any, outputs: Any, attrs: Any) -> tuple[Any, ...]:
        """Selects the residuals that `vjp` needs besides the op's own state."""
        return ()

    def vjp_raw(self, m: Any, g: Any, saved: Any, parents: Any) -> Any:
        """Runs `vjp` on bare arrays and returns bare arrays."""
        gs = tuple([None if x is None else Tensor(x) for x in g]) if type(g) is tuple else Tensor(g)
        return tuple(map(bare, self.vjp(ops, gs, saved, parents)))

    def __repr__(self) -> str:
        return f"<{self.family} {self.name}>"


def _module_being_run() -> dict[str, Any]:
    """Returns the namespace of the innermost module whose top level is running; in a thread, of its outermost frame."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals


class SingleInputRule(LazyRules):
    """An op as a function of one argument: the fast path's record if the other argument is not on the tape.

    `keep(*inputs, y)` selects what that argument's cotangent needs, a single value without a tuple, or returns
    NotImplemented; `vjp(m, g, saved)` computes the cotangent. `spread(saved)` converts the saved values to the form of
    the op's own `keep`.
    """

    __slots__ = ("index", "keep", "op", "spread")

    def __init__(self, op: Op, index: int) -> None:
        self.op = op
        self.index = index
        self.keep: Callable[..., Any] = _keep_nothing
        self.spread: Callable[[Any], tuple[Any, ...]] = tuple

    def placed(self, parent: int) -> tuple[int, ...]:
        """Returns the op's tape positions when this argument's is `parent` and the others are not on the tape."""
        return tuple([parent if i == self.index else -1 for i in range(len(self.op.args))])


def _keep_nothing(inputs: Any, outputs: Any, attrs: Any) -> tuple[Any, ...]:
    return ()


def bind(kernel: Any, xp: Any) -> Callable[..., Any]:
    """Binds a kernel to an array module: `kernel` is a function's name there, an operator, or `f(xp, *arrays)`."""
    if isinstance(kernel, str):
        kernel = getattr(xp, kernel)
    elif not isinstance(kernel, types.BuiltinFunctionType):
        kernel = partial(kernel, xp)
    return kernel


def parameters(f: Any) -> tuple[str, ...]:
    """Returns a function's parameter names from its code object: `inspect.signature` would slow down the import."""
    code: types.CodeType = f.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def named_parameters(f: Callable[..., Any]) -> dict[str, bool]:
    """Maps a function's keyword-only parameters to whether each is required."""
    function = getattr(f, "__func__", f)
    code = getattr(function, "__code__", None)
    if code is None:  # a callable object
        import inspect  # deferred: importing it takes as long as much of this package

        found = inspect.signature(f).parameters.values()
        return {p.name: p.default is p.empty for p in found if p.kind is p.KEYWORD_ONLY}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: name not in (function.__kwdefaults__ or ()) for name in names}


def kernel_arguments(kernel: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the tensor arguments of a kernel `f(xp, *arrays, *, attributes)`, and its attributes."""
    code = kernel.__code__
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    variadic = (f"*{code.co_varnames[named]}",) if code.co_flags & _VARIADIC else ()
    return code.co_varnames[1:count] + variadic, code.co_varnames[count:named]


class Saved:
    """The residuals that a set of formulas names, and the source code that saves and looks up each.

    A formula may name an input (`x`), the output (`y`, or `ys` if there are several), `x_shape`, `x_dtype`, or an
    attribute; `m`, `g`, `t` and `need` are passed in and not saved.
    """

    def __init__(self, args: tuple[str, ...], formulas: Sequence[Callable[..., Any]], bare: bool = False) -> None:
        self.args = args
        given = {"m", "g", "t", "need"}
        self.names = tuple(dict.fromkeys(n for f in formulas for n in parameters(f) if n not in given))
        self.bare = bare and len(self.names) == 1  # whether a single value is saved without a tuple

    def keeper(self) -> Callable[..., tuple[Any, ...]]:
        """Compiles `keep(inputs, output, attributes)`, which selects the values that the formulas name."""
        if not self.names:
            return _keep_nothing
        fields = "".join(f"{self._source(name)}, " for name in self.names)
        return compile_rule(f"lambda xs, y, attrs: ({fields})")

    def fast_keeper(self, formulas: Sequence[Callable[..., Any]]) -> Callable[..., tuple[Any, ...]]:
        """Compiles `keep(a, b, y)` for plain tensors without attributes; it selects only what these formulas name."""
        wanted = {n for f in formulas for n in parameters(f)}
        fields = []
        for name in self.names:
            source = self._source(name) if name in wanted else "None"
            for i, arg in enumerate(self.args):
                source = source.replace(f"xs[{i}]", arg)
            fields.append("None" if source.startswith("attrs") else source.replace(".dims", ".array.shape"))
        return compile_rule(f"lambda {', '.join(self.args)}, y: ({', '.join(fields)},)")

    def is_tensor(self, name: str) -> bool:
        return name in self.args or name == "y"

    def _source(self, name: str) -> str:
        """Source code of a value, given inputs `xs`, output `y` and attributes `attrs`."""
        args = self.args
        owner, _, what = name.rpartition("_")
        if name in ("y", "ys"):
            return "y"
        if name in args:
            return f"xs[{args.index(name)}]"
        if f"*{name}" in args:
            return f"tuple(xs[{args.index(f'*{name}')}:])"
        if owner == "y" and what == "shape":
            return "y.dims"
        if owner in args and what in ("shape", "dtype"):
            return f"xs[{args.index(owner)}].{'dims' if what == 'shape' else what}"
        if f"*{owner}" in args and what == "shapes":
            return f"[x.dims for x in xs[{args.index(f'*{owner}')}:]]"
        return f"attrs.get({name!r})"

    def lookup(self, name: str, arrays: str, saved: str = "s") -> str:
        """Source code of `name` in the saved values, as a tensor or as the array in its attribute `arrays`."""
        if name in ("m", "g", "t", "need"):
            return name
        slot = saved if self.bare else f"{saved}[{self.names.index(name)}]"
        if arrays and self.is_tensor(name):
            return f"{slot}.{arrays}"
        if arrays and (f"*{name}" in self.args or name == "ys"):
            return f"tuple(x.{arrays} for x in {slot})"
        return slot

    def call(self, function: str, f: Callable[..., Any], arrays: str) -> str:
        """Source code that calls formula `f`, bound to the name `function`, on the saved values."""
        if _returns_its_argument(f):
            return self.lookup(parameters(f)[0], arrays)
        names, positional = parameters(f), f.__code__.co_argcount
        given = [self.lookup(n, arrays) for n in names[:positional]]
        named = [f"{n}={self.lookup(n, arrays)}" for n in names[positional:]]
        return f"{function}({', '.join(given + named)})"


def _returns_its_argument(f: Callable[..., Any]) -> bool:
    if len(parameters(f)) != 1:
        return False
    try:
        return f(_PROBE) is _PROBE
    except Exception:  # the formula computes with its argument, and the probe is not a number
        return False


def wire(op: Op, rule: Callable[..., Any]) -> None:
    """Sets the op's `vjp` from `rule(m, g, need, <names>)`, which returns a cotangent for each input."""
    saved = Saved(op.args, [rule])
    op.defer("keep", saved.keeper)
    op.kept = saved.names
    result = "rule_result" if len(op.args) > 1 or op.variadic else "(rule_result,)"
    asks = "need" in parameters(rule)

    def vjp(arrays: str) -> Callable[..., Any]:
        body = result.replace("rule_result", saved.call("rule", rule, arrays))
        if asks:
            body = f"(lambda need: {body})([p >= 0 for p in parents])"
        return compile_rule(f"lambda m, g, s, parents: {body}", rule=rule)

    op.defer_vjp(vjp)


def compile_rule(source: str, **names: Any) -> Callable[..., Any]:
    """Compiles a function from generated source; runs once, when a rule is first used."""
    # With this module name, NumPy warnings count as gradtape's own and the API's filter suppresses them.
    return eval(_compiled(source), {"__name__": __name__, **names})


@cache
def _compiled(source: str) -> Any:
    """Caches compiled code, since the rules of many ops have the same source."""
    return compile(source, RULES, "eval")
