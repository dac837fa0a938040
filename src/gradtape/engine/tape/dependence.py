"""Which entries of the target each entry of a source goes into: sets that travel with a sweep.

A `DependentTensor` takes a cotangent's place. It stands for an array of zeros and ones whose every entry has a set: the
entries of the target that it depends on. A rule is linear in its cotangent, whatever the op was, and so is each op that
it is made of. What a linear op does to sets is found by trying it: which entry of its argument an output comes from can
be read off a few numbers if it is only one, and if there are several, off those of parts of the argument in which there
is only one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ..registry.batching import Lookalike
from ..registry.cotangents import finished
from ..run import dispatch
from ..run.namespace import ops

_PARTS = (2, 3, 5, 7, 11, 13, 17, 23, 31, 43, 61)  # into how many parts an argument is divided, one after the other
_CLOSE = 1e-6


class DependentTensor(Lookalike):
    """A cotangent whose entry `i` depends on the entries of the target in row `i` of `sets`, a sparse matrix."""

    __slots__ = ("sets",)

    def __init__(self, value: Tensor, level: int, sets: Any) -> None:
        super().__init__(value, level)
        self.sets = sets

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Runs `op` on the values, and sends the sets along."""
        flags = list(map(self._is_alike, inputs))
        values = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        with dispatch.recorded_by(()):
            result = dispatch.run(op, values, attrs)
            several = type(result) is tuple
            results = result if several else (result,)
            found = [None] * len(results)
            for i, x in enumerate(inputs):
                if flags[i]:
                    for k, links in enumerate(_links(op, values, flags, attrs, i, len(results))):
                        sent = links @ x.sets  # type: ignore[attr-defined]
                        found[k] = sent if found[k] is None else found[k] + sent
        outputs = tuple(
            DependentTensor(y, self.level, sets) if y.dtype.differentiable else y
            for y, sets in zip(results, found, strict=True)
        )
        return outputs if several else outputs[0]


def _links(
    op: Any, values: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any], i: int, count: int
) -> list[Any]:
    """For each output a sparse matrix: which of its entries depend on which of argument `i`."""
    shape = values[i].dims
    size = math.prod(shape)
    if op.name == "cast":
        attrs = {"dtype": dtypes.float64}  # the numbers that are tried must not be rounded
    others = [_exactly(x, to_zero=flag) for x, flag in zip(values, flags, strict=True)]

    def run(numbers: Any) -> list[Any]:
        """The op on these numbers in place of argument `i`, with nothing in place of the other cotangents."""
        result = dispatch.run(op, [*others[:i], Tensor(numbers.reshape(shape)), *others[i + 1 :]], attrs)
        return [_numbers(y) for y in (result if type(result) is tuple else (result,))]

    first = _sources(run, size, 1)
    if first is not None:
        return [_matrix(index, size) for index in first]
    if count == 1 and (links := _transposed_links(op, others, attrs, i)) is not None:
        return [links]
    for parts in (n for n in _PARTS if n <= size):
        found = _sources(run, size, parts)
        if found is not None:
            return [_matrix(index, size) for index in found]
    return [_everything(len(y), size) for y in run(np.ones(size))]


def _transposed_links(op: Any, inputs: list[Tensor], attrs: dict[str, Any], i: int) -> Any:
    """The same of an op such as a sum, each entry of whose argument goes into one entry of the output; else None."""
    output = dispatch.run(op, inputs, attrs)
    if op.vjp is None or type(output) is tuple:
        return None
    saved = op.keep(inputs, output, attrs)
    parents = tuple(0 if k == i else -1 for k in range(len(inputs)))

    def back(numbers: Any) -> list[Any]:
        g = op.vjp(ops, Tensor(numbers.reshape(output.dims)), saved, parents)[i]
        return [_numbers(finished(ops, g))]

    size = math.prod(output.dims)
    found = _sources(back, size, 1)
    return None if found is None else _matrix(found[0], size).T.tocsr()


def _numbers(x: Tensor) -> Any:
    return np.asarray(x.array, np.float64).ravel()


def _exactly(x: Tensor, to_zero: bool) -> Tensor:
    """A further argument in float64; or zeros of its shape."""
    if not x.dtype.is_floating:
        return x
    array = np.asarray(x.array, np.float64)
    return Tensor(np.zeros_like(array) if to_zero else array)


@cache
def _hashes(size: int) -> Any:
    return np.random.default_rng(0).uniform(1.0, 2.0, size)


def _sources(run: Any, size: int, parts: int) -> list[list[Any]] | None:
    """For each output of a linear function, and each part of its argument, from which entry every number comes.

    An entry that comes from none has -1. None if there is a number that comes from several of one part.
    """
    found: list[list[Any]] = []
    for part in range(parts):
        chosen = np.arange(size) % parts == part
        probed = [run(probe * chosen) for probe in (np.ones(size), np.arange(1.0, size + 1), _hashes(size))]
        found.append([])
        for weight, place, check in zip(*probed, strict=True):
            index = _single(weight, place, check, size)
            if index is None:
                return None
            found[-1].append(index)
    return [list(pieces) for pieces in zip(*found, strict=True)]


def _single(weight: Any, place: Any, check: Any, size: int) -> Any:
    """The entry that each number comes from: it was `weight` times 1, the entry's number and its hash."""
    some = (weight != 0) | (place != 0) | (check != 0)
    with np.errstate(all="ignore"):
        at = place / weight
        index = np.rint(np.where(some, at, 0)).astype(np.int64) - 1
        known = np.clip(index, 0, max(size - 1, 0))
        right = (known == index) & (np.abs(at - np.rint(at)) < _CLOSE)
        right &= np.abs(check / weight - _hashes(size)[known]) < _CLOSE if size else True
    return np.where(some, index, -1) if np.all(right | ~some) else None


def _matrix(pieces: Sequence[Any], columns: int) -> Any:
    """The matrix of links, from where each number comes from in each part."""
    from scipy import sparse

    rows = np.concatenate([np.nonzero(index >= 0)[0] for index in pieces])
    places = np.concatenate([index[index >= 0] for index in pieces])
    return sparse.csr_array((np.ones(len(rows), bool), (rows, places)), shape=(len(pieces[0]), columns))


def _everything(rows: int, columns: int) -> Any:
    from scipy import sparse

    return sparse.csr_array(np.ones((rows, columns), bool))


def seeds(targets: Sequence[Tensor]) -> list[DependentTensor]:
    """The cotangents of targets each of whose entries depends on itself: they are numbered through all targets."""
    from scipy import sparse

    level = dispatch.next_level()
    rows = sparse.eye_array(sum(math.prod(target.dims) for target in targets), dtype=bool, format="csr")
    found, start = [], 0
    for target in targets:
        stop = start + math.prod(target.dims)
        ones = Tensor(np.ones(target.dims, target.dtype.numpy), target.dtype)
        found.append(DependentTensor(ones, level, rows[start:stop]))
        start = stop
    return found


def patterns(found: Sequence[Any], sources: Sequence[Any], rows: int) -> Iterator[Any]:
    """The pattern of each source's Jacobian, a sparse matrix of truth values, from what a sweep over `seeds` gave."""
    from scipy import sparse

    for g, source in zip(found, sources, strict=True):
        if g is None:
            yield None
            continue
        with dispatch.recorded_by(()):
            g = finished(ops, g)
        sets = g.sets if type(g) is DependentTensor else sparse.csr_array((math.prod(source.dims), rows), dtype=bool)
        yield sets.T.tocsr()
