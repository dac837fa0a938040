"""`Row`: the record of a thin public function, one that is a single op or a single expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from ...engine.registry.op import Op

Elementwise = Literal["unary", "binary", ""]


class Row:
    """A public function: everything that its surfaces (namespaces, stubs, reference, raw ops, nodes) derive from."""

    def __init__(
        self,
        names: str,  # the public paths, such as `math.sin sin`; the first is canonical
        parameters: str,  # a Python parameter list without `name`, which is the last; the usual type is `TensorLike`
        op: Op | Callable[..., Any],  # called with the parameters in order
        doc: str,
        example: str,  # an expression of `tf`
        output: str,  # what Python prints for the example
        *,
        node: str = "",  # the type of the op in TensorFlow's graphs, "" if the function is more than one such op
        elementwise: Elementwise = "",  # for `tf.experimental.dispatch_for_*_elementwise_apis`, and for ragged tensors
        numpy: str = "",  # its name in `tf.experimental.numpy`
        keras: str | None = None,  # its name in `keras.ops`, the same by default
        operands: str = "",  # how NumPy and Keras convert its operands: a field of `PromotionPolicy`
        zeros: str = "",  # where its result on sparse operands in Keras has entries: `Elementwise.zeros`
        result: str = "Tensor",  # the type of its result
        default_name: str | None = None,  # the default of the parameter `name`
        without: Mapping[str, str] = MappingProxyType({}),  # surfaces that it does not have, with the reason
        # What the docstring says (`documentation.py`) of domain, dtypes and derivative besides the record of the op.
        record: Op | None = None,  # of the op that a function calls, by default `op` itself
        domain: str = "",  # for real arguments, where the result is not NaN, as a Python expression
        casts: Mapping[str, str] = MappingProxyType({}),  # dtypes besides those of the record: that of the result
        own_dtypes: str = "",  # dtypes that it takes and TensorFlow's function does not
        slopes: Sequence[str] = (),  # the partial derivatives, where the record's are written for accuracy
        edges: Mapping[float, float] = MappingProxyType({}),  # the derivative where it is infinite or a convention
    ) -> None:
        self.names = tuple(names.split())
        self.parameters = parameters
        self.op = op
        self.doc = doc
        self.example = example
        self.output = output
        self.node = node
        self.elementwise = elementwise
        self.numpy = numpy
        self.keras = numpy if keras is None else keras
        self.operands = operands or ("floating" if elementwise == "unary" else "promote_floats")
        self.zeros = zeros
        self.result = result
        self.default_name = default_name
        self.without = without
        self.record = op if record is None and isinstance(op, Op) else record
        self.domain = domain
        self.casts = casts
        self.own_dtypes = own_dtypes.split()
        self.slopes = slopes
        self.edges = edges

    @property
    def call(self) -> Callable[..., Any]:
        """The function that computes it."""
        return self.op.call if isinstance(self.op, Op) else self.op

    @property
    def formula(self) -> str:
        """The equation in the first sentence of the docstring, in terms of the parameters, such as `y = sin(x)`."""
        return next((span for span in self.doc.split("`")[1::2] if " = " in span), "")

    @property
    def types(self) -> dict[str, str]:
        """The types of the parameters and of the result (`return`)."""
        return {**_parsed(self.parameters)[0], "name": "str | None", "return": self.result}

    @property
    def defaults(self) -> tuple[Any, ...]:
        """The defaults of the last parameters."""
        return (*_parsed(self.parameters)[1], self.default_name)


@cache  # most rows share `x` or `x, y`
def _parsed(parameters: str) -> tuple[dict[str, str], tuple[Any, ...]]:
    """Returns the types of the parameters, and the defaults of the last ones."""
    function = ast.parse(f"def function({parameters}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    types = {a.arg: ast.unparse(a.annotation) if a.annotation else "TensorLike" for a in arguments.args}
    return types, tuple(map(ast.literal_eval, arguments.defaults))


Callee = Op | Callable[..., Any]


def row(names: str, op: Callee, doc: str, example: str, output: str, **rest: Any) -> Row:
    """Creates a row of a function that is one op, whose name in TensorFlow's graphs is that of the op."""
    rest.setdefault("node", getattr(op, "title", ""))
    return Row(names, op=op, doc=doc, example=example, output=output, **rest)


def unary(names: str, op: Callee, doc: str, example: str, output: str, **rest: Any) -> Row:
    """Creates the row of an elementwise function of `x`."""
    return row(names, op, doc, example, output, **{"parameters": "x", "elementwise": "unary", **rest})


def binary(names: str, op: Callee, doc: str, example: str, output: str, **rest: Any) -> Row:
    """Creates the row of an elementwise function of `x` and `y`."""
    return row(names, op, doc, example, output, **{"parameters": "x, y", "elementwise": "binary", **rest})
