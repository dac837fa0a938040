"""Calls with dataset iterators as arguments: an iterator is a resource, and its elements become inputs of the graph.

A class of iterators declares this by `supplies_elements = True`. A trace takes real elements; the specialization is
stored under the shapes of the elements that the trace has taken, in order, and shares its random streams with all
others of the function. Later calls take elements as long as a specialization for these exists.

Invariant: a call consumes the elements that its graph, or its eager run, takes. It returns all others to the iterator
before it ends, and before it runs eagerly.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import errors, modes, nest
from ...core.protocols import Tensors
from ...core.scopes import carried, holding
from ...core.tensor import Tensor
from ...engine.run.dispatch import thread, traced_by
from ...state.variable import Variable
from ..ir.effects import EffectRecording, is_performed, performed_as
from ..trace.trace import Trace, active_trace
from ..trace.traced import DelegatedToRunner, EndOfElements, InlineIntoCaller, Untraceable, value_of
from .signature import key_of, supplies_elements
from .specialization import Specialization
from .trace_cache import MOST_VARIANTS, TraceCache

if TYPE_CHECKING:
    from .function import Function

_MOST_ELEMENTS = 64  # that a call may take as a graph
_END = object()
_PERFORMED = {"frames": (), "imagined": False}  # the elements are computed now, and not recorded as effects


class _Element:
    """An element of an iterator: `key` identifies its structure, shapes and dtypes."""

    __slots__ = ("key", "tensors", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.tensors: list[Tensor] = []
        self.key = key_of(value, self.tensors, [])


class _Supply:
    """The elements that a call takes. It may start over: as another specialization, as a trace, or eagerly."""

    def __init__(self, iterators: Sequence[Any]) -> None:
        self.iterators = iterators
        self._buffers: list[list[_Element]] = [[] for _ in iterators]
        self.restart()

    def take(self, index: int) -> _Element:
        """Takes the next element of an iterator; raises `StopIteration` at its end."""
        buffer, count = self._buffers[index], self._taken[index]
        if count == len(buffer):
            if thread.trace is None and is_performed():  # no context: that would cost as much as `next`
                value = next(self.iterators[index], _END)
            else:
                with traced_by(None), performed_as(_PERFORMED):
                    value = next(self.iterators[index], _END)
            if value is _END:
                raise StopIteration
            buffer.append(_Element(value))
        self._taken[index] += 1
        self.path.append((index, buffer[count]))
        return buffer[count]

    def put_back(self) -> None:
        """Undoes the last `take`."""
        index, _ = self.path.pop()
        self._taken[index] -= 1

    def restart(self) -> None:
        """Begins another attempt."""
        self._taken = [0] * len(self.iterators)  # the part of each buffer that this attempt has taken
        self.path: list[tuple[int, _Element]] = []  # what it has taken, in order
        self.has_ended = False  # whether it has met the end of an iterator, and no other graph may need less
        # The number of elements that a trace has asked for before it had an effect, or depended on a value.
        self.quiet = self.unguarded = 0

    def finish(self) -> None:
        """Returns the elements that the current attempt has not taken to the iterators."""
        for iterator, buffer, count in zip(self.iterators, self._buffers, self._taken, strict=True):
            if len(buffer) > count:
                iterator.give_back([element.value for element in buffer[count:]])
                del buffer[count:]


class _Active(threading.local):
    supply = _Supply(())  # of the innermost call


_active = carried(_Active())


class ElementsOfCall:
    """Stands for an iterator inside a function with the spec of its elements: see its subclasses."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self.element_spec = iterator.element_spec

    def __next__(self) -> Any:
        raise NotImplementedError

    def next(self) -> Any:
        """Returns the next element."""
        return self.__next__()

    get_next = next


class ElementsOfTrace(ElementsOfCall):
    """Stands for an iterator in a trace: the elements become inputs of the graph."""

    def __init__(self, iterator: Any, index: int, trace: Trace, supply: _Supply) -> None:
        super().__init__(iterator)
        self._index, self._trace, self._supply = index, trace, supply

    def __iter__(self) -> ElementsOfTrace:
        raise Untraceable("it iterates over the elements of a dataset")

    def __next__(self) -> Any:
        trace = thread.trace
        if trace is not self._trace:
            if isinstance(trace, Trace) and trace.outer is None:  # a function that this one calls
                raise InlineIntoCaller
            raise Untraceable("it takes elements of a dataset in a loop or a branch")
        if len(self._supply.path) >= _MOST_ELEMENTS:
            raise Untraceable("it takes very many elements of a dataset")
        if not trace.variables.written and not any([node.effect for node in trace.builder.nodes]):
            self._supply.quiet += 1
        if not trace.guards.guarded:
            self._supply.unguarded += 1
        try:
            element = self._supply.take(self._index)
        except StopIteration:
            raise EndOfElements from None
        inputs = iter([self._trace.input(value_of(x)) for x in element.tensors])
        leaves = [next(inputs) if isinstance(x, Tensor) else x for x in nest.flatten(element.value, True)]
        if any([x is not None and not isinstance(x, Tensor) for x in leaves]):
            raise Untraceable("an element of a dataset is not a tensor")
        return nest.pack_sequence_as(element.value, leaves, expand_composites=True)

    def get_next_as_optional(self) -> Any:
        """Raises `Untraceable`: the function runs eagerly."""
        raise Untraceable("whether a dataset has more elements is known at every call only")


class ElementsOfRun(ElementsOfCall):
    """Stands for an iterator in an eager run; at the end, `next` raises what TensorFlow's graph code cannot catch."""

    supplies_elements = True

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterator)

    def __next__(self) -> Any:
        element = next(self._iterator, _END)
        if element is _END:
            raise EndOfElements
        return element

    def get_next_as_optional(self) -> Any:
        """Returns the next element, if any."""
        return self._iterator.get_next_as_optional()

    def give_back(self, elements: Sequence[Any]) -> None:
        """Makes these the next elements of the iterator."""
        self._iterator.give_back(elements)


class _Place:
    """Stands for the iterator with index `index` among the arguments of a function of elements."""

    def __init__(self, index: int, element_spec: Any) -> None:
        self.index, self._spec = index, element_spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and (self.index, self._spec) == (other.index, other._spec)

    def __hash__(self) -> int:
        return hash((_Place, self.index))


class FunctionOfElements:
    """A function with iterators among its arguments."""

    def __init__(self, function: Function, new: Callable[..., Function]) -> None:
        converted, instance = function._converted, function._instance

        def run(args: Any, kwargs: Any) -> Any:
            supply, trace = _active.supply, active_trace()
            supply.restart()
            elements: list[Any]
            if trace is None:
                supply.finish()
                elements = [ElementsOfRun(iterator) for iterator in supply.iterators]
            else:
                elements = [ElementsOfTrace(x, i, trace, supply) for i, x in enumerate(supply.iterators)]
            args, kwargs = nest.map_structure(lambda x: elements[x.index] if type(x) is _Place else x, (args, kwargs))
            return converted(*(() if instance is None else (instance(),)), *args, **kwargs)

        functools.update_wrapper(run, function._function)
        del run.__wrapped__  # type: ignore[attr-defined]  # the parameters are those of `run`
        self.function = new(run, CacheByElements)
        self.function._calls = function._calls  # traces of all functions of elements would count as one's

    def __call__(self, args: Any, kwargs: Any) -> Any:
        iterators: list[Any] = []

        def replaced(x: Any) -> Any:
            if not supplies_elements(x):
                return nest.map_structure(replaced, x) if nest.is_nested(x) else x
            index = next((i for i, known in enumerate(iterators) if known is x), len(iterators))
            if index == len(iterators):
                iterators.append(x)
            return _Place(index, x.element_spec)

        args, kwargs = tuple(map(replaced, args)), {name: replaced(x) for name, x in kwargs.items()}
        supply = _Supply(iterators)
        try:
            with holding(_active, supply=supply):
                return self.function(args, kwargs)
        except EndOfElements:
            if any([isinstance(iterator, ElementsOfRun) for iterator in iterators]):
                raise  # to the call of the function that has called this one
            raise errors.OutOfRangeError("End of sequence") from None
        finally:
            supply.finish()


class _Node(list[Specialization]):
    """The specializations that take no element after those that lead to this node, and those that take further ones."""

    def __init__(self) -> None:
        super().__init__()
        # What traces did next: took an element of the iterator with this index, or None. The last used comes first.
        self.steps: list[int | None] = []
        self.after: dict[tuple[int, Any], _Node] = {}  # by the index of the iterator and the key of the element
        self.is_quiet = True  # whether the graphs have no effect before what they do next
        self.is_guarded = False  # whether what they do next may depend on values

    def prefer(self, step: int | None) -> None:
        """Makes a step the first that calls try."""
        if self.steps[:1] != [step]:
            self.steps = [step, *(other for other in self.steps if other != step)]

    def nodes(self) -> Iterator[_Node]:
        """Returns this node and all after it."""
        yield self
        for node in list(self.after.values()):
            yield from node.nodes()

    def clear(self) -> None:
        """Forgets all specializations."""
        super().clear()
        self.steps, self.after, self.is_quiet, self.is_guarded = [], {}, True, False


class CacheByElements(TraceCache):
    """The specializations of a function by the shapes and variables of its arguments, and by the elements it takes."""

    _variants: dict[Any, _Node]  # type: ignore[assignment]

    def _new_variants(self) -> _Node:
        return _Node()

    def variants(self) -> Iterator[_Node]:
        return (node for root in self._variants.values() for node in root.nodes())

    def run(self, variants: Any, tensors: Tensors, variables: Sequence[Variable], may_make_variables: bool) -> Any:
        has_run = False
        if modes.active and modes.query_block() is not None:
            has_run = any([self._drop_unseen(node) for node in variants.nodes()])
        return self._run_another(variants, 0, tensors, variables, may_make_variables, EffectRecording(), has_run)

    def report_call(self, variants: Any, tensors: Tensors, result: Any) -> None:
        node: _Node = variants
        for index, element in _active.supply.path:
            node = node.after.get((index, element.key), node)
        super().report_call(node, tensors, result)

    def _candidates(self, variants: Any, tensors: Tensors) -> Iterator[tuple[_Node, Tensors]]:
        _active.supply.restart()
        return self._reachable(variants, tensors)

    def _reachable(self, node: _Node, inputs: Tensors) -> Iterator[tuple[_Node, Tensors]]:
        """Takes elements as long as a trace has taken some of their shapes."""
        supply = _active.supply
        for step in node.steps:
            node.prefer(step)
            if step is None:
                yield node, inputs
                continue
            try:
                element = supply.take(step)
            except StopIteration:
                if node.is_quiet:
                    raise EndOfElements from None
                supply.has_ended = not node.is_guarded
                continue
            following = node.after.get((step, element.key))
            if following is not None:
                yield from self._reachable(following, [*inputs, *element.tensors])
            supply.put_back()

    def _is_full(self, variants: Any) -> bool:
        nodes = list(variants.nodes())
        shapes = {key for node in nodes for key in list(node.after)}  # other threads may add some
        return sum(map(len, nodes)) >= MOST_VARIANTS + len(shapes)

    def store(self, variants: Any, variant: Specialization, tensors: Tensors) -> Tensors:
        node, inputs = variants, [*tensors]
        supply = _active.supply
        for i, (index, element) in enumerate(supply.path):
            node.prefer(index)
            node.is_quiet = node.is_quiet and i < supply.quiet
            node.is_guarded = node.is_guarded or i >= supply.unguarded
            node = node.after.setdefault((index, element.key), _Node())
            inputs += element.tensors
        node.prefer(None)
        node.insert(0, variant)
        self._stored += 1
        return inputs

    def _traced_run(
        self, variants: Any, tensors: Tensors, variables: Sequence[Variable], may_make_variables: bool,
        performed: EffectRecording, has_run: bool,
    ) -> tuple[bool, Callable[[], Any]]:  # fmt: skip
        if _active.supply.has_ended:  # run as far as the elements suffice
            return False, functools.partial(self._run_eagerly, tensors, variables, performed)
        return super()._traced_run(variants, tensors, variables, may_make_variables, performed, has_run)

    def traced(self, *arguments: Any) -> Any:
        try:
            return super().traced(*arguments)
        except DelegatedToRunner:
            raise Untraceable("its replicas are compiled apart from it") from None
        except BaseException as error:
            # TensorFlow's traces take no elements, but the graph whose op fails on its values does.
            if not isinstance(error, errors.OpError) or isinstance(error, ValueError):
                _active.supply.restart()
            raise
