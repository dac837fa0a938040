"""Translation of branches and loops to nodes that call functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes
from .generalisation import Place, Program, Size, Step
from .translation import translates
from .writer import Ref, Writer


@translates("cond")
def _cond(w: Writer, s: Step, index: Ref, *inputs: Ref, branches: Sequence[Program]) -> list[Ref]:
    given = list(dict.fromkeys(inputs))  # TensorFlow's gradient of the node looks up inputs, and fails on a duplicate
    order = [given.index(ref) for ref in inputs]
    functions = [w.library.inner(branch, f"branch_{i}", order) for i, branch in enumerate(branches)]
    stateful = any(w.library.is_stateful(name) for name in functions)
    kinds = [place.dtype for place in s.outputs]
    if len(functions) == 2:
        no, yes = functions
        holds = _predicate(w, index)
        return (w.If if stateful else w.StatelessIf)(holds, given, Tout=kinds, then_branch=yes, else_branch=no)
    at = index if index.dtype is dtypes.int32 else w.Cast(index, DstT=dtypes.int32)
    return (w.Case if stateful else w.StatelessCase)(at, given, Tout=kinds, branches=functions)


def _predicate(w: Writer, index: Ref) -> Ref:
    """Returns whether the second of two branches runs: the bool that was cast to their index, if there is one."""
    if index.dtype is dtypes.bool:
        return index
    node = next((node for node in w.nodes if node["name"] == index.node), None)
    if node is not None and node["op"] == "Cast" and node["attr"]["SrcT"] == {"type": dtypes.bool.as_datatype_enum}:
        return Ref(node["input"][0], dtypes.bool)
    holds: Ref = w.NotEqual(index, 0)
    return holds


@translates("loop")
def _loop(w: Writer, s: Step, *inputs: Ref, rounds: Any, body: Program, test: Program | None) -> list[Ref]:
    """Writes a loop over counter, limit, carried values, rows to slice, constants and lists.

    TensorFlow's gradient of a loop expects the first two there: without a limit, the second is -1. Emitted values go
    into lists: a counted loop writes the entry of its iteration, any other loop appends. A reversed loop also carries
    the index of the row that it takes, and its lists are reversed at the end: converters to other formats replace the
    counter and the limit, and append to lists.
    """
    return _Loop(w, s, inputs, rounds, body, test).outputs()


class _Loop:
    """A loop to be written."""

    def __init__(
        self, w: Writer, s: Step, inputs: Sequence[Ref], rounds: Any, body: Program, test: Program | None
    ) -> None:
        self.w, self.inputs, self.rounds, self.body, self.test = w, inputs, rounds, body, test
        self.places = s.inputs
        self.emitted = body.outputs[rounds.carried :]
        count = rounds.count
        if test is None and count is None:
            count = s.inputs[rounds.carried].dims[0]
        self.count = None if count is None else w.ref(count, dtypes.int32)
        self.size = len(inputs)

    def outputs(self) -> list[Ref]:
        w = self.w
        zero = w.ref(0, dtypes.int32)
        lists = [self._new_list(place) for place in self.emitted]
        limit = w.ref(-1, dtypes.int32) if self.count is None else self.count
        last = [w.Sub(limit, 1)] if self.rounds.reverse else []
        given = [zero, limit, *self.inputs, *lists, *last]
        test, body = self._test(given), self._body(given)
        stateful = any(w.library.is_stateful(name) for name in (test, body))
        found = (w.While if stateful else w.StatelessWhile)(given, cond=test, body=body)
        for ref, place in zip(found[2 + self.rounds.carried :], self.places[self.rounds.carried :], strict=False):
            w.note_shape(ref, place)
        state = list(found[2 : 2 + self.rounds.carried])
        stacks = [
            w.TensorListStack(ref, _element_shape(place), element_dtype=place.dtype)
            for ref, place in zip(found[2 + self.size :], self.emitted, strict=False)
        ]
        return [*state, *([w.ReverseV2(stack, [0]) for stack in stacks] if self.rounds.reverse else stacks)]

    def _new_list(self, place: Place) -> Ref:
        w = self.w
        if self.count is None:
            return w.EmptyTensorList(_element_shape(place), -1, element_dtype=place.dtype)
        return w.TensorListReserve(_element_shape(place), self.count, element_dtype=place.dtype)

    def _arguments(self, inner: Writer, given: Sequence[Ref]) -> list[Ref]:
        refs = [inner.argument(f"{inner.scope}_arg_{i}", ref.dtype) for i, ref in enumerate(given)]
        for ref, place in zip(refs[2 : 2 + self.size], self.places, strict=True):
            inner.knows(ref, place)
        return refs

    def _test(self, given: Sequence[Ref]) -> str:
        library = self.w.library
        inner = library.writer("loop_test")
        refs = self._arguments(inner, given)
        if self.test is None:
            holds = inner.Less(refs[0], refs[1])
        else:
            own = refs[2 : 2 + self.size]
            state, _, fixed = self.rounds.divided(own)
            (holds,) = library.written(inner, self.test, [*state, *fixed])
        return library.finish(inner, "loop_test", [holds])

    def _body(self, given: Sequence[Ref]) -> str:
        library = self.w.library
        inner = library.writer("loop_body")
        refs = self._arguments(inner, given)
        own, lists = refs[2 : 2 + self.size], refs[2 + self.size :][: len(self.emitted)]
        state, scanned, fixed = self.rounds.divided(own)
        at = refs[0]
        if self.rounds.reverse:
            at = refs[-1]
        rows = [inner.GatherV2(x, at, 0) for x in scanned]
        results = library.written(inner, self.body, [*state, *rows, *fixed])
        carried, emitted = results[: self.rounds.carried], results[self.rounds.carried :]
        filled = [
            inner.TensorListPushBack(ref, y) if self.count is None else inner.TensorListSetItem(ref, refs[0], y)
            for ref, y in zip(lists, emitted, strict=True)
        ]
        onward = [inner.AddV2(refs[0], 1), refs[1], *carried, *scanned, *fixed, *filled]
        onward += [inner.Sub(at, 1)] if self.rounds.reverse else []
        return library.finish(inner, "loop_body", onward)


def _element_shape(place: Place) -> Any:
    return [-1 if isinstance(n, Size) else n for n in place.dims]
