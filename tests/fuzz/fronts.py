"""Public functions called with plain, ragged, sparse and a user's values, against the function behind the front.

A seed determines an elementwise function (a row of the catalogue or one of `MORE`), values of each operand, how they
are passed (a number, a list, an array, a tensor, a variable, a ragged tensor, a sparse tensor, a value of a user's
type; by position or by name; with or without `name`), and whether handlers for the user's type are registered. The
reference calls the function behind the front, which knows none of these, on one plain tensor per operand, row by row
for ragged operands. It also says which combinations are errors.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape.api.catalogue import rows
from gradtape.api.catalogue.fronts import publications
from gradtape.api.namespace import resolve


class Function(NamedTuple):
    """A public function of `count` operands, the function behind its front, and its other arguments."""

    names: tuple[str, ...]
    count: int
    plain: Callable[..., Any]
    rest: tuple[Any, ...] = ()


MORE = {
    "cast": (tf.float64,), "clip_by_value": (0.3, 0.6), "debugging.check_numerics": ("here",),
    "dtypes.saturate_cast": (tf.int32,), "math.angle": (), "math.conj": (), "math.imag": (), "math.real": (),
    "math.reciprocal_no_nan": (), "math.round": (), "nn.gelu": (), "nn.leaky_relu": (), "nn.silu": (), "ones_like": (),
    "strings.as_string": (), "zeros_like": (),
}  # fmt: skip
FUNCTIONS = [
    *(Function(row.names, 1 + (row.elementwise == "binary"), row.call) for row in rows() if row.elementwise),
    *(Function((name,), 1, publications[resolve(name)].function, rest) for name, rest in MORE.items()),
]
# TensorFlow applies these to the values of a sparse tensor.
ON_SPARSE = {
    f"math.{name}"
    for name in "abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh".split()
} | {"cast"}
PLAIN = ("number", "list", "array", "tensor", "variable")


class Boxed(tf.experimental.ExtensionType):
    """A user's type with one tensor."""

    value: tf.Tensor


class Operand(NamedTuple):
    """An argument: how it is passed, its values (nested lists for `ragged`), and the argument itself."""

    kind: str
    values: Any
    argument: Any


def disagreements(seed: int) -> list[str]:
    """Generates a call and compares it with the reference."""
    rng = random.Random(seed)
    function = rng.choice(FUNCTIONS)
    dtype = rng.choice(["float32", "float64", "int32", "bool"] if rng.random() < 0.4 else ["float32"])
    operands = [_operand(rng, kind, dtype) for kind in _kinds(rng, function.count)]
    registered = rng.random() < 0.6
    handled: list[str] = []
    handlers = _register(handled) if registered else []
    try:
        found = _result(lambda: _call(rng, function, operands))
    finally:
        for handler in handlers:
            tf.experimental.unregister_dispatch_for(handler)
    expected = _result(lambda: _reference(function, operands, registered))
    is_users = registered and any(operand.kind == "boxed" for operand in operands)
    if _same(found, expected) and len(handled) == is_users:  # one handler, once
        return []
    call = ", ".join(f"{operand.kind} {operand.values}" for operand in operands)
    return [f"tf.{function.names[0]}({call}) of {dtype}, {registered=}, {handled=}: {found}, not {expected}"]


def _kinds(rng: random.Random, count: int) -> list[str]:
    special = rng.choice([None, "ragged", "sparse", "boxed"])
    kinds = [rng.choice(PLAIN) for _ in range(count)]
    if special:
        kinds[rng.randrange(count)] = special
        if rng.random() < 0.5:
            kinds = [special] * count
    return kinds


def _operand(rng: random.Random, kind: str, dtype: str) -> Operand:
    def draw(*shape: int) -> np.ndarray:
        if dtype == "bool":
            return np.array([rng.random() < 0.5 for _ in range(int(np.prod(shape)))], bool).reshape(shape)
        draws = [rng.randrange(1, 20) for _ in range(int(np.prod(shape)))]
        return np.array(draws, dtype).reshape(shape) / (21 if "float" in dtype else 1)

    if kind == "number":
        value = draw().astype(dtype)
        return Operand(kind, value, value.item())
    if kind == "ragged":
        lengths = [2, 0, 1]
        values = [draw(n).astype(dtype) for n in lengths]
        return Operand(kind, values, tf.RaggedTensor.from_row_lengths(tf.constant(np.concatenate(values)), lengths))
    values = draw(3).astype(dtype)
    makers: dict[str, Callable[[Any], Any]] = {
        "list": lambda x: x.tolist(), "array": lambda x: x, "tensor": tf.constant, "variable": tf.Variable,
        "sparse": lambda x: tf.SparseTensor([[0, 0], [0, 2], [1, 1]], x, [2, 3]), "boxed": lambda x: Boxed(x),
    }  # fmt: skip
    return Operand(kind, values, makers[kind](values))


def _register(handled: list[str]) -> list[Callable[..., Any]]:
    """Registers handlers for the user's type, which note the functions that they are called for."""
    kinds = Boxed | tf.Tensor | tf.Variable | np.ndarray | float | int | list

    @tf.experimental.dispatch_for_unary_elementwise_apis(Boxed)
    def unary(function: Any, x: Any) -> Any:
        handled.append(function.__name__)
        return Boxed(function(x.value))

    @tf.experimental.dispatch_for_binary_elementwise_apis(kinds, kinds)
    def binary(function: Any, x: Any, y: Any) -> Any:
        handled.append(function.__name__)
        return Boxed(function(*(z.value if isinstance(z, Boxed) else z for z in (x, y))))

    return [unary, binary]


def _call(rng: random.Random, function: Function, operands: list[Operand]) -> Any:
    """Calls the public function: any of its names, arguments by position or by name, with or without `name`."""
    front = resolve(rng.choice(function.names))
    parameters = list(inspect.signature(front).parameters)
    arguments = [*(operand.argument for operand in operands), *function.rest]
    by_position = rng.randrange(len(arguments) + 1)
    named = dict(list(zip(parameters, arguments, strict=False))[by_position:])
    if "name" in parameters and rng.random() < 0.3:
        named["name"] = "op"
    return front(*arguments[:by_position], **named)


def _reference(function: Function, operands: list[Operand], registered: bool) -> Any:
    def plain(*values: Any) -> Any:
        return function.plain(*values, *function.rest)

    kinds = {operand.kind for operand in operands}
    given = [operand.argument for operand in operands]
    if "boxed" in kinds:
        if not registered:
            raise TypeError("no handler")
        return Boxed(plain(*(x.value if isinstance(x, Boxed) else x for x in given)))
    if "sparse" in kinds:
        if ON_SPARSE.isdisjoint(function.names):
            raise TypeError("not for sparse tensors")
        (sparse,) = given
        return sparse.with_values(plain(sparse.values))
    if "ragged" not in kinds:
        return plain(*given)
    return [plain(*(_ragged_row(operand, i) for operand in operands)) for i in range(3)]


def _ragged_row(operand: Operand, i: int) -> Any:
    """Returns row `i` of a ragged operand; other operands are broadcast along the rows."""
    return tf.constant(operand.values[i]) if operand.kind == "ragged" else operand.argument


def _result(compute: Callable[[], Any]) -> tuple[str, Any]:
    """Returns the kind of a result and its arrays, or "error"."""
    try:
        found = compute()
    except (TypeError, ValueError, tf.errors.InvalidArgumentError):
        return "error", None
    match found:
        case Boxed():
            return "boxed", [found.value.numpy()]
        case tf.SparseTensor():
            return "sparse", [x.numpy() for x in (found.indices, found.values, found.dense_shape)]
        case tf.RaggedTensor():
            return "ragged", [row.numpy() for row in found]
        case list():
            return "ragged", [row.numpy() for row in found]
    # NumPy divides a bool tensor by an array, in TensorFlow too: the tensor refuses, and the array takes over.
    return "plain", [np.asarray(found)]


def _same(one: tuple[str, Any], other: tuple[str, Any]) -> bool:
    if one[0] != other[0] or one[0] == "error":
        return one[0] == other[0]
    pairs = list(zip(one[1], other[1], strict=True))
    return all(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)
