"""How evicted values are recomputed: by the kernels that produced them, from the same inputs, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ...core.dtypes import DType
from ...core.tensor import Tensor, wrap
from ..registry.op import Op
from ..run import dispatch

AnyValue = TypeVar("AnyValue")


def rerun_order(
    missing: Iterable[AnyValue], producer: Callable[[AnyValue], int], inputs: Callable[[int], Iterable[AnyValue]]
) -> list[int]:
    """The indices of the producers to rerun for missing values: theirs, and those of their missing `inputs`."""
    found: set[int] = set()
    waiting = list(missing)
    while waiting:
        i = producer(waiting.pop())
        if i not in found:
            found.add(i)
            waiting += inputs(i)
    return sorted(found)


class Producer:
    """How values were produced: an op on other values, all of them by their numbers in a store."""

    __slots__ = ("at", "attrs", "inputs", "op", "outputs")

    def __init__(self, op: Op | None, inputs: tuple[int, ...], attrs: dict[str, Any]) -> None:
        self.at = -1  # in order of execution
        self.op, self.inputs, self.attrs = op, inputs, attrs
        self.outputs: tuple[int, ...] = ()

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Recomputes the outputs by the original path: an elementwise op has its own path for large arrays."""
        op = self.op
        assert op is not None
        direct = op.family == "elementwise" and not self.attrs
        result = op.call(*inputs) if direct else dispatch.run(op, inputs, self.attrs)
        return result if type(result) is tuple else (result,)


class CallProducer(Producer):
    """The producer of a call's outputs and residuals."""

    __slots__ = ("dtypes", "repeat")

    def __init__(self, inputs: tuple[int, ...], repeat: Callable[..., Sequence[Any]], dtypes: Sequence[DType]) -> None:
        super().__init__(None, inputs, {})
        self.repeat, self.dtypes = repeat, dtypes

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Reruns the compiled graph without its assignments to variables."""
        results = self.repeat(*[x.array for x in inputs])
        return [wrap(array, dtype) for array, dtype in zip(results, self.dtypes, strict=False)]


class AliasProducer(Producer):
    """The producer of a custom-gradient function's result: an alias of a value that the function has computed."""

    __slots__ = ()

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Returns the same array in a new tensor."""
        return (inputs[0].own_read(),)
