"""Contractions: matmul, matvec, tensordot and einsum."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any

from ...core import dtypes, errors
from ...core.dtypes import FLOAT
from ...core.tensor import Tensor, is_tensor_like
from ...core.type_hints import DTypeLike, TensorLike
from ...engine.run.convert import readable, to_array, to_tensor
from ...engine.run.namespace import ops

NAMESPACES = ("linalg", "")
__all__ = ["einsum", "matmul", "matvec", "tensordot"]


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies the innermost matrices of `a` and `b`, `c[i, j] = Σ_k a[i, k] * b[k, j]`; leading axes are broadcast.

    - Shape: `[..., n, k]`, `[..., k, m]` → `[..., n, m]`, after the matrices are transposed.
    - Dtypes: `int16`, `int32`, `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `a`.
    - Derivative: `∂L/∂a = g @ transpose(b)` and `∂L/∂b = transpose(a) @ g` for `g = ∂L/∂c`.

    Args:
      a_is_sparse, b_is_sparse, grad_a, grad_b: accepted without effect.
      output_type: the dtype of the computation and the result, such as int32 for int8 matrices.

    >>> tf.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]]).numpy()
    array([[21.],
           [43.]], dtype=float32)
    """
    if type(a) is not Tensor:
        a = to_tensor(a)
    if type(b) not in readable and not isinstance(b, Tensor):
        b = to_tensor(b, dtype=a.dtype)
    if a.dtype.kind == FLOAT and not (transpose_a or transpose_b or adjoint_a or adjoint_b or output_type):
        return ops.matmul(a, b)
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        letter = "a" if transpose_a and adjoint_a else "b"
        raise ValueError(
            f"Only one of `transpose_{letter}` and `adjoint_{letter}` can be True. Received "
            f"`transpose_{letter}`=True, `adjoint_{letter}`=True"
        )
    if output_type is not None:
        dtype = dtypes.as_dtype(output_type)
        a, b = ops.cast(a, dtype=dtype), ops.cast(b, dtype=dtype)
    elif a.dtype is dtypes.int8 or (
        a.dtype is dtypes.int16 and len(a.shape) == len(b.shape) == 2  # type: ignore[union-attr]
    ):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {a.dtype.name} is not in the list of allowed values [Op:MatMul]. Give "
            "output_type=tf.int32, or use tf.cast(x, ...) first"
        )
    if a.dtype.is_complex:  # type: ignore[union-attr]
        a, b = ops.conj(a) if adjoint_a else a, ops.conj(b) if adjoint_b else b
    transposed = {"transpose_a": bool(transpose_a or adjoint_a), "transpose_b": bool(transpose_b or adjoint_b)}
    return ops.matmul(a, b, **transposed) if any(transposed.values()) else ops.matmul(a, b)


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies the innermost matrices of `a` by the innermost vectors of `b`.

    >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).numpy()
    array([21., 43.], dtype=float32)
    """
    a = to_tensor(a)
    b = b if isinstance(b, Tensor) else to_tensor(b, dtype=a.dtype)
    if not b.dims:
        raise errors.InvalidArgumentError("In[1] ndims must be >= 1: matvec needs a vector, got a scalar [Op:MatMul]")
    columns = ops.reshape(b, shape=(*b.dims, 1))
    y = matmul(a, columns, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return ops.reshape(y, shape=y.dims[:-1])


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """Sums the products of `a` and `b` over pairs of axes; with `axes=1`, `c[i, j] = Σ_k a[i, k] * b[k, j]`.

    - Shape: the axes of `a` and then those of `b` that are not summed over.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128` (TensorFlow does not take `int8` and `int16`); the result has that of `a`.
    - Derivative: that of a product: the gradient, contracted with the other argument.

    Args:
      axes: a number n, for the last n axes of `a` and the first n of `b`; or two lists, of axes of `a` and of `b`.

    >>> tf.tensordot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0], axes=1).numpy()
    array([21., 43.], dtype=float32)
    """
    a = to_tensor(a)
    b = b if isinstance(b, Tensor) else to_tensor(b, dtype=a.dtype)
    of_a, of_b = _paired_axes(a, b, axes)
    first = [chr(97 + i) for i in range(len(a.dims))]
    second = [chr(97 + len(a.dims) + i) for i in range(len(b.dims))]
    output = "".join(c for i, c in enumerate(first) if i not in of_a) + "".join(
        c for i, c in enumerate(second) if i not in of_b
    )
    for i, j in zip(of_a, of_b, strict=True):
        if a.dims[i] != b.dims[j]:
            from ...graph.trace.scratch import with_equal_sizes  # here: for sizes that may be unknown, and errors

            a, b = with_equal_sizes(a, i, b, j)
        if a.dims[i] != b.dims[j]:
            raise errors.InvalidArgumentError(
                f"Matrix size-incompatible: axis {i} of a, of shape {list(a.dims)}, has the size {a.dims[i]}, axis {j} "
                f"of b, of shape {list(b.dims)}, the size {b.dims[j]} [Op:MatMul]. Axes that are paired must agree"
            )
        second[j] = first[i]
    return ops.contract(a, b, equation=f"{''.join(first)},{''.join(second)}->{output}")


def _paired_axes(a: Tensor, b: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    """Returns the axes of `a` and of `b` that `axes` pairs, non-negative."""
    if isinstance(axes, Tensor):
        axes = to_array(axes).tolist()
    if isinstance(axes, Integral):
        axes = int(axes)
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > len(a.dims) or axes > len(b.dims):
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of a, {len(a.dims)}, and of b, "
                f"{len(b.dims)}. Received: {axes}."
            )
        return list(range(len(a.dims) - axes, len(a.dims))), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    of_a, of_b = (to_array(part).reshape(-1).tolist() for part in axes)
    if len(of_a) != len(of_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(of_a)} != {len(of_b)}.")
    for x, found in ((a, of_a), (b, of_b)):
        if any(not -len(x.dims) <= i < len(x.dims) for i in found):
            raise IndexError(f"`axes` {axes} does not fit a tensor of shape {x.shape}: there is no such axis")
    return [i % len(a.dims) for i in of_a], [i % len(b.dims) for i in of_b]


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Einstein summation: `"ij,jk->ik"` sums the products of its inputs over the indices that the output lacks.

    An ellipsis represents broadcast axes; without `->`, the output has the indices that occur once, in alphabetical
    order; an index that occurs twice in one input selects its diagonal. More than two inputs are contracted pairwise,
    in a cheap order; `optimize` is accepted and has no effect.

    - Shape: the sizes of the output's indices.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128` (TensorFlow does not take `int8`, `int16`, `uint8`, `uint16`, `uint32` and `uint64`); the result has
      that of `inputs`.
    - Derivative: that of a product: the gradient, contracted with the other inputs.

    >>> tf.einsum("ij,j->i", tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 10.0])).numpy()
    array([21., 43.], dtype=float32)
    """
    if kwargs and (unknown := set(kwargs) - {"name", "optimize", "greedy"}):
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(sorted(unknown))}. Valid arguments: name, optimize, "
            "greedy."
        )
    dtype = next((x.dtype for x in inputs if is_tensor_like(x)), None)  # arrays are converted to that of a tensor
    xs: list[Tensor] = []
    for x in inputs:
        xs.append(to_tensor(x, hint=dtype))
        dtype = xs[0].dtype if dtype is None else dtype
    prepared, pairs, order = _plan(equation, tuple(x.dims for x in xs))
    xs = [_prepare(x, steps) for x, steps in zip(xs, prepared, strict=True)]
    for i, j, pair in pairs:
        second, first = xs.pop(j), xs.pop(i)
        xs.append(ops.contract(first, second, equation=pair))
    if order is not None:
        return ops.transpose(xs[0], perm=order)
    return xs[0] if pairs or prepared[0] else ops.identity(xs[0])  # a tensor of its own


def _prepare(x: Tensor, steps: Sequence[tuple[str, tuple[int, ...]]]) -> Tensor:
    for step, value in steps:
        if step == "diagonal":
            x = ops.take_diagonal(x, axes=value)
        elif step == "sum":
            x = ops.sum(x, axis=value, keepdims=False)
        else:
            x = ops.reshape(x, shape=value)
    return x


@lru_cache(maxsize=1024)
def _plan(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[Any, Any, tuple[int, ...] | None]:
    """Returns the preparation of each input, the pairs to contract, and the final transposition."""
    terms, output = _letters(equation, shapes)
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, n in zip(term, shape, strict=True):
            known = sizes.setdefault(letter, n)
            if known != n and (letter.isascii() or 1 not in (known, n)):
                raise errors.InvalidArgumentError(
                    f"Expected dimension {known} for the label {letter!r} of {equation!r} but got dimension {n} in an "
                    f"input shaped {list(shape)} [Op:Einsum]"
                )
            sizes[letter] = n if known == 1 else known
    prepared = []
    for k, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        others = set(output).union(*terms[:k], *terms[k + 1 :])
        steps, terms[k] = _prepared(term, shape, sizes, others)
        prepared.append(steps)
    pairs = []
    names = list(terms)
    for i, j in _order(tuple(names), output, tuple(sorted(sizes.items()))):
        second, first = names.pop(j), names.pop(i)
        kept = set(output).union(*names)
        result = "".join(c for c in dict.fromkeys(first + second) if c in kept) if names else output
        pairs.append((i, j, f"{first},{second}->{result}"))
        names.append(result)
    (last,) = names
    return tuple(prepared), tuple(pairs), None if last == output else tuple(last.index(c) for c in output)


def _letters(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str]:
    """Returns the indices of each input and of the output; axes under an ellipsis get non-ASCII letters."""
    text = equation.replace(" ", "")
    if not re.fullmatch(r"[a-zA-Z,.]*(->[a-zA-Z.]*)?", text) or "." in text.replace("...", ""):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    left, arrow, right = text.partition("->")
    given = left.split(",")
    if len(given) != len(shapes):
        raise ValueError(f'Got {len(shapes)} inputs for equation "{equation}", expecting {len(given)}')
    hidden = 0
    terms = []
    for k, (term, shape) in enumerate(zip(given, shapes, strict=True)):
        if term.count("...") > 1:
            raise errors.InvalidArgumentError(
                f"Only one ellipsis (...) is allowed for each input, got {term!r} in {equation!r} [Op:Einsum]"
            )
        letters = term.replace("...", "")
        extra = len(shape) - len(letters)
        if extra < 0 or (extra and "..." not in term):
            raise errors.InvalidArgumentError(
                f"Expected input {k} to have rank {len(letters)} but got: {len(shape)} [Op:Einsum], for the subscripts "
                f"{term!r} of {equation!r}"
            )
        hidden = max(hidden, extra)
        terms.append(term.replace("...", _hidden(extra)))
    if not arrow:
        counts = "".join(given).replace(".", "")
        right = "..." * ("..." in left) + "".join(sorted(c for c in set(counts) if counts.count(c) == 1))
    if hidden and "..." not in right:
        raise errors.InvalidArgumentError(
            f"Output contains {hidden} broadcasting dimension(s) but no ellipsis (...) was found in the output "
            f"subscripts of {equation!r} [Op:Einsum]"
        )
    output = right.replace("...", _hidden(hidden))
    if right.count("...") > 1:
        raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
    for letter in output:
        if output.count(letter) > 1:
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
        if not any(letter in term for term in terms):
            raise ValueError(f"Output subscripts contain the label {letter} not present in the input subscripts.")
    return terms, output


def _hidden(count: int) -> str:
    """Returns indices for `count` axes under an ellipsis; the last axis always has the same one."""
    return "".join(chr(0x100 + i) for i in range(count - 1, -1, -1))


def _prepared(
    term: str, shape: tuple[int, ...], sizes: dict[str, int], others: set[str]
) -> tuple[list[tuple[str, tuple[int, ...]]], str]:
    """Returns steps that leave each index once, no axis to broadcast, and no index that only this input has."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    dims = list(shape)
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            i = term.index(letter)
            j = term.index(letter, i + 1)
            steps.append(("diagonal", (i, j)))
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + letter
            dims = [*dims[:i], *dims[i + 1 : j], *dims[j + 1 :], dims[i]]
    stretched = [i for i, c in enumerate(term) if dims[i] == 1 and sizes[c] != 1]
    if stretched:
        steps.append(("reshape", tuple(n for i, n in enumerate(dims) if i not in stretched)))
        term = "".join(c for i, c in enumerate(term) if i not in stretched)
    summed = tuple(i for i, c in enumerate(term) if c not in others)
    if summed:
        steps.append(("sum", summed))
        term = "".join(c for c in term if c in others)
    return steps, term


def _order(terms: tuple[str, ...], output: str, sizes: tuple[tuple[str, int], ...]) -> list[tuple[int, int]]:
    """Returns the pairs to contract, appending each result: the cheapest order, or for many inputs a greedy one."""
    size = dict(sizes)

    def pair(names: tuple[str, ...], i: int, j: int) -> tuple[int, tuple[str, ...]]:
        rest = tuple(name for k, name in enumerate(names) if k not in (i, j))
        joint = dict.fromkeys(names[i] + names[j])
        kept = set(output).union(*rest)
        return math.prod(size[c] for c in joint), (*rest, "".join(c for c in joint if c in kept))

    def best(names: tuple[str, ...]) -> tuple[int, list[tuple[int, int]]]:
        if len(names) < 2:
            return 0, []
        choices = [(*pair(names, i, j), i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
        if len(names) > 5:
            choices = [min(choices, key=lambda choice: choice[0])]
        ways = []
        for cost, left, i, j in choices:
            further, path = best(left)
            ways.append((cost + further, [(i, j), *path]))
        return min(ways, key=lambda way: way[0])

    return best(terms)[1]
