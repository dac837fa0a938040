"""Python's built-in functions on tensors in converted code: `range(n)`, `len(x)`, `int(x)`, ..."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..api.namespace import root as tf
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..graph.ir.effects import output
from ..graph.trace.trace import present_trace
from ..state.tensor_array import TensorArray
from .staging import is_tensor, staging


class LoopSteps(NamedTuple):
    """A range that is not materialized, for loops. `start`, `limit` and `delta` are scalars of one dtype."""

    start: Any
    limit: Any
    delta: Any

    @classmethod
    def between(cls, start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> LoopSteps:
        """Creates the steps of `tf.range`, which is called only to infer the dtype."""
        if limit is None:
            start, limit = 0, start
        bounds = [to_tensor(x, dtype=None if is_tensor(x) else dtype) for x in (start, limit, delta)]
        target = tf.range(*[tf.ones((), x.dtype) for x in bounds], dtype).dtype
        return cls(*[tf.cast(x, target) for x in bounds])

    @classmethod
    def of_rows(cls, x: Any) -> LoopSteps:
        """Creates the indices of a tensor's rows."""
        return cls(*map(to_tensor, (0, len_(x), 1)))

    def is_empty(self) -> bool:
        """Whether there are known to be no steps."""
        if any(type(bound) is not Tensor for bound in self):
            return False
        start, limit, delta = self
        return bool(start >= limit if delta > 0 else start <= limit)


def replace_iterated(f: Any) -> Any:
    """Replaces `f` where a `for` iterates over its result: a range of tensors need not be materialized."""
    if f is range:
        return _steps_of_python_range
    return _steps_of_range if f is tf.range else f


def _steps_of_range(*args: Any, **kwargs: Any) -> Any:
    if not staging():
        return tf.range(*args, **kwargs)
    kwargs.pop("name", None)
    return LoopSteps.between(*args[:4], **kwargs)


def _steps_of_python_range(*args: Any) -> Any:
    return LoopSteps.between(*args) if staging() and any(map(is_tensor, args)) else range_(*args)


def range_(*args: Any) -> Any:
    """`range`; of tensors, a tensor."""
    if not any(map(is_tensor, args)):
        return range(*args)
    if len(args) == 1:
        return tf.range(tf.maximum(args[0], 0))
    if len(args) == 2:
        return tf.range(args[0], tf.maximum(args[0], args[1]))
    return tf.range(*args)


def len_(s: Any) -> Any:
    """`len`; of a tensor, the number of its rows."""
    if isinstance(s, TensorArray):
        return s.size()
    if not is_tensor(s):
        return len(s)
    if s.shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {s.shape}")
    return s.shape[0]


def abs_(x: Any) -> Any:
    """`abs`."""
    return tf.abs(x) if is_tensor(x) else abs(x)


def float_(x: Any = 0) -> Any:
    """`float`; of a tensor, a float32 tensor."""
    if not is_tensor(x):
        return float(x)
    return tf.strings.to_number(x, tf.float32) if x.dtype is tf.string else tf.cast(x, tf.float32)


def int_(x: Any = 0, *base: Any, **named: Any) -> Any:
    """`int`; of a tensor, an int32 tensor."""
    if not is_tensor(x):
        return int(x, *base, **named)
    if (*base, *named.values()) not in ((), (10,)):
        raise NotImplementedError(f"base {(*base, *named.values())[0]} not supported for int")
    return tf.strings.to_number(x, tf.int32) if x.dtype is tf.string else tf.cast(x, tf.int32)


def sorted_(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`; of a tensor, a tensor."""
    if not is_tensor(iterable):
        return sorted(iterable, key=key, reverse=reverse)
    if key is not None:
        raise NotImplementedError("sorted(tensor, key=...) is not supported: use tf.argsort of the keys")
    if iterable.shape.rank != 1:
        raise ValueError(f"sorted only supports 1-D tensors, got one of shape {iterable.shape}")
    return tf.sort(iterable, direction="DESCENDING" if reverse else "ASCENDING")


def print_(*objects: Any, **kwargs: Any) -> None:
    """`print`; of a traced tensor, prints its value in every run of the graph."""
    if not (staging() and any(map(is_tensor, objects))):
        print(*objects, **kwargs)
        return

    def write(*arrays: Any) -> None:
        values = iter(arrays)
        print(*[next(values) if is_tensor(x) else x for x in objects], **kwargs)

    present_trace().run(output, [to_tensor(x) for x in objects if is_tensor(x)], {"write": write})


def _extreme(python: Callable[..., Any], reduce: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not (staging() and any(map(is_tensor, args))):
            return python(*args, **kwargs)
        if len(args) == 1:
            if args[0].shape.rank != 1:
                raise ValueError(f"{python.__name__}(tensor) takes a tensor of rank 1, got shape {args[0].shape}")
            return reduce(args[0])
        found = args[0]
        for other in args[1:]:
            found = pair(found, other)
        return found

    return extreme


min_ = _extreme(min, tf.reduce_min, tf.minimum)
max_ = _extreme(max, tf.reduce_max, tf.maximum)


def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """`sum`; of a traced tensor, the sum of its rows."""
    if not (staging() and is_tensor(iterable)):
        return sum(iterable, start)
    return tf.reduce_sum(iterable, axis=0) + start


def any_(iterable: Any) -> Any:
    """`any`; of a traced tensor, a tensor."""
    return tf.reduce_any(iterable) if staging() and is_tensor(iterable) else any(iterable)


def all_(iterable: Any) -> Any:
    """`all`; of a traced tensor, a tensor."""
    return tf.reduce_all(iterable) if staging() and is_tensor(iterable) else all(iterable)


def _rows(iterable: Any) -> Iterable[Any]:
    """Returns what to iterate over: for a traced tensor, its rows, whose number is static."""
    return tf.unstack(iterable) if staging() and is_tensor(iterable) else iterable


def enumerate_(iterable: Any, start: Any = 0) -> Iterator[Any]:
    """`enumerate`, also of tensors."""
    return enumerate(_rows(iterable), start)


def zip_(*iterables: Any, strict: bool = False) -> Iterator[Any]:
    """`zip`, also of tensors."""
    return zip(*map(_rows, iterables), strict=strict)


def map_(function: Any, *iterables: Any) -> Iterator[Any]:
    """`map`, also of tensors."""
    return map(function, *map(_rows, iterables))


def filter_(function: Any, iterable: Any) -> Iterator[Any]:
    """`filter`, also of tensors."""
    return filter(function, _rows(iterable))


def next_(iterator: Any, *default: Any) -> Any:
    """`next`; the end of a dataset raises the function's error rather than `StopIteration`."""
    is_of_dataset = isinstance(iterator, tf.data.Iterator) and not default
    return iterator.get_next() if is_of_dataset else next(iterator, *default)


OVERLOADS: dict[Any, Callable[..., Any]] = {
    getattr(builtins, name.rstrip("_")): globals()[name]
    for name in (
        "abs_ all_ any_ enumerate_ filter_ float_ int_ len_ map_ max_ min_ next_ print_ range_ sorted_ sum_ "
        "zip_".split()
    )
}
