"""`Pipeline`: the base of all datasets: repeatable iteration, cardinality and element specs."""

from __future__ import annotations

import functools
import itertools
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.tracebacks import bounded
from ..core.type_hints import Result
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import recorded_by, thread
from ..engine.run.randomness import global_seed
from ..graph.trace.traced import Untraceable
from .calls import AssignmentUndo, Call, input_pass, start_pass, without_streams
from .elements.placeholders import placeholders
from .elements.structure import E, T, as_element, as_specs, common, leaves
from .iterators import Iterator as DatasetIterator
from .iterators import NumpyIterator
from .options import Options
from .resumable import LazyIterator

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_SAMPLES = 3  # number of elements sampled to infer specs, where this takes running a function

_Self = TypeVar("_Self", bound="Pipeline[Any]")
Elements = Iterator[Any]


@bounded
class Pipeline(Generic[T]):
    """A description of how to compute elements; `_elements()` starts one pass. `Dataset` has the constructors.

    Args:
      kind: TensorFlow's name for this kind of dataset, for `repr`.
      elements: creates the iterator of one pass.
      specs: returns the element specs, or None if that requires running a function and its argument forbids it.
      size: the number of elements, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.
      samples: creates an iterator of elements like the first ones, without side effects; defaults to `elements`.
      options: the merged options of the input datasets.
      element_at: returns an element by index; None if the dataset supports iteration only.
    """

    _made_at_every_call = True  # a function that returns a dataset runs eagerly

    def __init__(
        self,
        kind: str,
        elements: Callable[[], Elements],
        specs: Callable[[bool], Any],
        size: int,
        samples: Callable[[], Elements] | None = None,
        options: Options | None = None,
        element_at: Callable[[int], Any] | None = None,
    ) -> None:
        self._kind = kind
        self._elements = elements
        self._specs = specs
        self._size = size
        self._samples = samples or elements
        self._options = options or Options()
        self._find_element = element_at
        self._found: Any = None
        self._specs_of_samples: Callable[[Elements], Iterator[Any]] | None = None  # runs the user's functions
        self._over: tuple[Any, ...] = ()  # the input datasets, and how to rebuild this one from others:
        self._again: Callable[..., Any] | None = None
        self._opened: Call | None = None  # the function whose datasets are flattened
        self._reads_files = False  # whether it opens the files named by its input dataset
        self._rows: int | None = None  # the number of rows of all elements but the last, if known

    def __copy__(self) -> Self:
        return self  # which does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the functions by value, which only cloudpickle does: those of a dataset are closures."""
        try:
            import cloudpickle
        except ImportError:
            raise TypeError(
                "cannot pickle a dataset without the package cloudpickle, as its functions have no names: "
                "pip install cloudpickle, or pickle the function that creates the dataset"
            ) from None
        return _unpickled, (type(self), cloudpickle.dumps(vars(self)))

    def _made_of(self: _Self, over: Sequence[Any], again: Callable[..., Any], rows: int | None = None) -> _Self:
        """Records the inputs of this dataset, for sharding between workers."""
        self._over, self._again, self._rows = tuple(over), again, rows
        return self

    def _derived(
        self,
        kind: str,
        change: Callable[[Elements], Elements],
        *,
        size: int | None = None,
        specs: Callable[[Any], Any] | None = None,
        specs_of_samples: Callable[[Elements], Iterator[Any]] | None = None,
        sampled: Callable[[Elements], Elements] | None = None,
        element_at: Callable[[Callable[[int], Any], int], Any] | None = None,
        begins_late: bool = False,
    ) -> Any:
        """Creates a dataset of this class that computes its elements from those of this one.

        Args:
          change: maps the elements of this dataset to those of the new one.
          size: the number of elements; by default that of this dataset.
          specs: maps the specs of this dataset to those of the new one; by default they are equal.
          specs_of_samples: maps a few elements of this dataset to specs of the new one, where only running a function
            determines them.
          sampled: replaces `change` for sampling, where it must have no side effects.
          element_at: computes an element from random access to this dataset and an index.
          begins_late: whether the pass over this dataset starts only when the first element is requested.
        """

        def specs_of(may_run: bool) -> Any:
            if specs_of_samples is not None:
                return None
            given = self._known(may_run)
            return given if given is None or specs is None else specs(given)

        def elements_of() -> Elements:
            begin = input_pass(self._elements)
            return change(LazyIterator(begin) if begins_late else begin())

        made = type(self)(
            kind,
            elements_of,
            specs_of,
            self._size if size is None else size,
            lambda: (sampled or change)(self._samples()),
            self._options,
            None if element_at is None else lambda index: element_at(self._element_at, index),
        )
        made._specs_of_samples = specs_of_samples

        def again(of: Any) -> Any:
            return of._derived(
                kind, change, size=UNKNOWN_CARDINALITY, specs=specs, specs_of_samples=specs_of_samples, sampled=sampled
            )

        kept = self._rows if specs is None and specs_of_samples is None else None
        return made._made_of([self], again, kept)

    def _known(self, may_run: bool) -> Any:
        """Returns the element specs; None if finding them requires running functions and `may_run` is false."""
        if self._found is None:
            self._found = self._specs(may_run)
        if self._found is None and may_run:
            assignments = AssignmentUndo()  # functions run on samples have no effects
            with recorded_by((assignments,)), without_streams():
                try:
                    self._found = self._sampled_specs()
                finally:
                    assignments.undo()
        return self._found

    def _sampled_specs(self) -> Any:
        """Infers specs from the first elements or, if there are none, from the function's results for placeholders.

        Placeholders also replace a first element that fails: errors of elements do not affect the specs.
        """
        find = self._specs_of_samples
        if find is None:
            found, error = _first_specs(map(as_specs, self._samples()))
            if not found:
                found, error = _first_specs(map(as_specs, self._elements()))
        else:
            before = self._over[0]
            found, error = _first_specs(find(before._samples()))
            if not found:  # samples bypass filters, and a batch may be filled only by repetition
                found, error = _first_specs(find(before._elements()))
        if not found and error is not None and (find is None or not isinstance(error, errors.OpError)):
            raise error
        of_elements = error
        if not found and find is not None:
            found, error = _first_specs(find(iter(placeholders(before._known(may_run=True), type(self)))))
        if not found and of_elements is not None:
            raise of_elements
        if not found:
            raise errors.OutOfRangeError(
                "The dataset is empty, and the specs of its elements could not be found"
                + (f": its function fails for made-up elements, with {type(error).__name__}: {error}" if error else "")
            ) from error
        return functools.reduce(common, found)

    def _element_at(self, index: int) -> Any:
        """Returns an element by index: `tf.data.experimental.at`."""
        if self._find_element is None:
            raise errors.UnimplementedError(
                f"Random access is not implemented for dataset {self._kind.strip('_')}. Iterate over it instead"
            )
        if self._size < 0:
            number = "infinite" if self._size == INFINITE_CARDINALITY else "unknown"
            raise errors.FailedPreconditionError(
                f"Dataset of type {self._kind.strip('_')} has {number} cardinality, which does not support random "
                "access."
            )
        if not 0 <= index < self._size:
            raise errors.OutOfRangeError(f"Index out of range [0, {self._size}):{index}")
        return self._find_element(index)

    def _call(self, function: Callable[..., Any], name: str = "", transformation: str = "") -> Call:
        return Call(function, global_seed(), name, transformation)

    @property
    def element_spec(self) -> Any:
        """The specs of an element, in its nest.

        If a function computes the elements, it is run on the first few; a size in which they differ becomes None.

        >>> tf.data.Dataset.range(3).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=tf.int64, name=None)
        """
        return self._known(may_run=True)

    def cardinality(self) -> Tensor:
        """Returns the number of elements, `tf.data.INFINITE_CARDINALITY`, or `UNKNOWN_CARDINALITY` as after `filter`.

        >>> int(tf.data.Dataset.range(5).batch(2).cardinality())
        3
        """
        return to_tensor(self._size, dtypes.int64)

    def __iter__(self) -> DatasetIterator[T]:
        if thread.trace is not None:
            raise Untraceable("the elements of a dataset are made at every call")
        return DatasetIterator(self)

    def __len__(self) -> int:
        if self._size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if self._size == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return self._size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec}>"

    def __debug_string__(self) -> str:
        """Returns the dataset and its inputs, one per line, indented by depth."""
        lines, waiting = [], [(self, 0)]
        while waiting:
            dataset, depth = waiting.pop()
            lines.append("-" * 2 * depth + repr(dataset))
            waiting += [(input_dataset, depth + 1) for input_dataset in dataset._over]
        return "\n".join(lines)

    def fingerprint(self) -> Tensor:
        """Returns a hash of how the dataset is computed, as uint64: equal ones mean equal elements, but not vice versa.

        >>> bool(tf.data.Dataset.range(3).fingerprint() == tf.data.Dataset.range(3).fingerprint())
        True
        """
        from .fingerprints import fingerprint

        return to_tensor(np.uint64(fingerprint(self)))

    def as_numpy_iterator(self) -> NumpyIterator:
        """Iterates over the dataset with NumPy arrays as elements.

        >>> [int(x) for x in tf.data.Dataset.range(3).as_numpy_iterator()]
        [0, 1, 2]
        """
        return NumpyIterator(self)

    @overload
    def reduce(self, initial_state: E, reduce_func: Callable[[Any, Any], Any], name: str | None = ...) -> E: ...
    @overload
    def reduce(
        self, initial_state: complex | list[Any], reduce_func: Callable[[Any, Any], Any], name: str | None = ...
    ) -> Tensor: ...
    @overload
    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = ...) -> Any: ...
    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        """Folds the elements: `state = reduce_func(state, element)`. Returns the final state.

        >>> int(tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda state, x: state + x))
        10
        """
        if thread.trace is not None:
            raise Untraceable("the elements of a dataset are made at every call")
        step = self._call(reduce_func).begin_with_arguments()
        with recorded_by(()):
            state = as_element(initial_state)
            for element in start_pass(self._elements):
                after = step(state, element)
                check_state(state, after, "reduce_func")
                state = after
        return state

    def get_single_element(self, name: str | None = None) -> T:
        """Returns the only element; raises `InvalidArgumentError` if there are none or several.

        >>> tf.data.Dataset.range(3).batch(3).get_single_element().numpy()
        array([0, 1, 2])
        """
        found = list(itertools.islice(iter(self), 2))
        if not found:
            raise errors.InvalidArgumentError("Dataset was empty.")
        if len(found) > 1:
            raise errors.InvalidArgumentError("Dataset had more than one element.")
        return found[0]

    def apply(self, transformation_func: Callable[[Self], Result]) -> Result:
        """Returns `transformation_func(dataset)`, which must be a dataset.

        >>> len(tf.data.Dataset.range(5).apply(lambda dataset: dataset.take(2)))
        2
        """
        found = transformation_func(self)
        if not isinstance(found, Pipeline):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(found)}.")
        return found

    def options(self) -> Options:
        """Returns the options set by `with_options`."""
        return self._options

    def with_options(self: _Self, options: Options, name: str | None = None) -> _Self:
        """Returns the dataset with options merged into the existing ones.

        >>> options = tf.data.Options()
        >>> options.deterministic = True
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        True
        """
        found = self._derived("_OptionsDataset", lambda elements: elements, element_at=lambda at, index: at(index))
        found._options = self._options.merge(options)
        return found


def _unpickled(kind: type[_Self], attributes: bytes) -> _Self:
    dataset = kind.__new__(kind)
    vars(dataset).update(pickle.loads(attributes))
    return dataset


def _first_specs(specs: Iterator[Any]) -> tuple[list[Any], Exception | None]:
    """Returns the first few specs, up to the end or an error, and that error."""
    found: list[Any] = []
    try:
        while len(found) < _SAMPLES:
            found.append(next(specs))
    except StopIteration:
        pass
    except Exception as error:  # of the user's function, on elements that it may never see in a real pass
        return found, error
    return found, None


def merge_options(datasets: Sequence[Pipeline[Any]]) -> Options:
    """Merges the options of several datasets; later ones override earlier ones."""
    found = Options()
    for dataset in datasets:
        found = found.merge(dataset._options)
    return found


def check_state(before: Any, after: Any, what: str) -> None:
    """Raises unless the state returned by a user's function has the structure and dtypes of the previous one."""
    olds, news = leaves(before), leaves(after)
    for old, new in zip(olds, news, strict=False):
        kinds = [getattr(part, "dtype", type(part)) for part in (old, new)]
        if type(old) is not type(new) or kinds[0] is not kinds[1]:
            raise TypeError(
                f"Invalid `{what}`. The element types for the new state must match the initial state. Expected "
                f"{kinds[0]!r}, got {kinds[1]!r}."
            )
    if len(olds) != len(news):
        raise errors.InvalidArgumentError(
            f"Invalid `{what}`. The new state must have the structure of the initial one, {len(olds)} component(s), "
            f"got {len(news)}: {after!r}"
        )
