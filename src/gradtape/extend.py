"""`gradtape.extend`: the seam for ops of your own.

An op is one record: a kernel, its derivatives, samples to try it on. From its family follow gradients of every order,
forward mode, Jacobians, vectorised execution and its tests:

>>> from gradtape import extend
>>> cube = extend.elementwise("cube", lambda xp, x: x * x * x, dx=lambda x: 3 * x * x)
>>> extend.check_op(cube)
>>> x = tf.constant([1.0, 2.0])
>>> with tf.GradientTape() as tape:
...     tape.watch(x)
...     y = cube(x)
>>> tape.gradient(y, x).numpy().tolist()
[3.0, 12.0]

A kernel takes the array module `xp` (NumPy, or one that spells things alike) and arrays; attributes are keyword-only.
A rule takes by name what it needs, and only that is kept for the backward pass: an input (`x`), the output (`y`), a
shape (`x_shape`), an attribute, and `m`, which has every op as a function (`m.exp(x)`, `m.sum(x, axis=(0,))`). A rule
is written with operators and `m` alone, so that it runs on bare arrays and can be recorded, and differentiated, too.

- `elementwise(name, kernel, dx=..., ...)`: a partial derivative for each argument: a formula, `ONE`, `NEG`, a `Mask`
  (select, do not multiply), `ZeroWins` (0 times infinity is 0), or None.
- `linear(name, kernel, transpose=...)`: the transpose of a linear map.
- `bilinear(name, kernel, da=..., db=...)`: the transposes of a product.
- `reduction(name, kernel, weight=...)`: the weight of each element in what it is reduced to.
- `opaque(name, kernel, vjp=...)`: a rule for the cotangents of all inputs; `jvp` and `batch` if you have them.
- `constant(name, kernel)`: gradients stop here.

Where rows of a first axis belong to examples, `rows` says what becomes of them: `all_rows` that each is treated by
itself, `rows_of_first` that those of the first argument are. It makes `gradient(per="example")` faster; an op that says
nothing is right.

`on` says which kinds of dtype an op takes: `FLOAT`, `COMPLEX`, `INT`, `BOOL`, `NARROW` (bfloat16 and float8, computed
in float32, as float16 is in reductions, bilinear and opaque ops), joined by `|`, or `FLOATING`, `NUMERIC`, `ANY`. An
argument for which a sample has an array, such as an index, also takes the kind of that array.
`register(type, conversion)` makes tensors of your types.

>>> def spread(m, g, x_shape, factor):
...     return m.broadcast_to(factor * g, shape=x_shape)
>>> scaled_total = extend.linear(
...     "scaled_total", lambda xp, x, *, factor: factor * xp.sum(x), transpose=spread,
...     moves_data=False, samples=[extend.sample((3, 2), factor=2.0), extend.sample((0,), factor=1.0)],
... )
>>> extend.check_op(scaled_total)
>>> float(scaled_total(tf.constant([1.0, 2.0]), factor=10.0))
30.0

`check_op` raises AssertionError where a rule does not agree with the kernel:

>>> wrong = extend.elementwise("wrong_square", lambda xp, x: x * x, dx=lambda x: 3 * x)
>>> try:
...     extend.check_op(wrong)
... except AssertionError:
...     print("caught")
caught
"""

from __future__ import annotations

from .core.dtypes import ANY, BOOL, COMPLEX, FLOAT, FLOATING, INT, NARROW, NUMERIC
from .engine.registry.examples import all_rows, rows_of_first
from .engine.registry.families import (
    NEG,
    ONE,
    Mask,
    ZeroWins,
    bilinear,
    constant,
    elementwise,
    linear,
    no_rule,
    opaque,
    reduction,
    shift_axes,
    unbroadcast,
)
from .engine.registry.op import Op, Sample, sample
from .engine.run.convert import register

__all__ = [
    "ANY", "BOOL", "COMPLEX", "FLOAT", "FLOATING", "INT", "NARROW", "NEG", "NUMERIC", "ONE", "Mask", "Op", "Sample",
    "ZeroWins", "all_rows", "bilinear", "check_op", "constant", "elementwise", "linear", "no_rule", "opaque",
    "reduction", "register", "rows_of_first", "sample", "shift_axes", "unbroadcast",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def check_op(op: Op) -> None:
    """Runs every check an op gets on all its samples; AssertionError says what does not hold.

    Values, forward mode against differences, the adjoint identity, second order, batching, Jacobians, dtypes, shapes.
    """
    from .inspect.checks.opcheck import check_op as check

    check(op)
