"""Random pipelines of `tf.data`: elements, their order, cardinality, specs and errors.

With TensorFlow's interpreter, the same source text runs there. Pipelines without chance also run on `Lists`, where a
dataset is a list of NumPy arrays.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np

import gradtape as tf

from ._tensorflow import TensorFlow

ELEMENTS_READ = 40  # of a pass
UNKNOWN = tf.data.UNKNOWN_CARDINALITY

# The functions of pipelines, in terms of `tf`. What an element is given to them as is one value, whatever its nest.
FUNCTIONS = '''
D = tf.data.Dataset

def whole(f):
    return lambda *parts: f(parts[0] if len(parts) == 1 else parts)

def each(f):
    return whole(lambda element: tf.nest.map_structure(f, element))

def inc(x):
    if x.dtype == tf.bool:
        return tf.logical_not(x)
    if x.dtype == tf.string:
        return tf.strings.join([x, "!"])
    return x + tf.cast(1, x.dtype)

def first(element):
    return tf.nest.flatten(element)[0]

def key(element):
    x = first(element)
    if x.dtype.is_integer and x.shape.rank == 0:
        return tf.cast(x, tf.int64) % 3
    return tf.cast(tf.size(x), tf.int64) % 3

def is_kept(element):
    return key(element) != 1

def pair(element):
    return element, key(element)

def named(element):
    return {"k": key(element), "e": element}

def row(x):
    return tf.stack([x, x])

def varying(element):
    return tf.range(key(element))

def count_on(state, element):
    return state + 1, (state, element)

def summed(state, element):
    return state + key(element)

def keys_of(element):
    return D.range(key(element))

def copies_of(element):
    return D.from_tensors(element).repeat(2)

def joined(window):
    return window.batch(4)

def from_list(elements, dtype):
    return D.from_generator(lambda: iter(elements), output_signature=tf.TensorSpec([], dtype))

def stored(dataset):
    import tempfile
    folder = tempfile.mkdtemp()
    dataset.save(folder)
    return D.load(folder)
'''

# Running a pipeline, and what is said of it, in the same words everywhere.
OUTCOME = '''
def said_of_dims(shape):
    return None if shape.rank is None else tuple(shape.as_list())

def said_of_spec(spec):
    if isinstance(spec, dict):
        return {name: said_of_spec(part) for name, part in spec.items()}
    if isinstance(spec, tuple):
        return tuple(said_of_spec(part) for part in spec)
    kind = type(spec).__name__
    if kind == "DatasetSpec":
        return kind, said_of_spec(spec._element_spec)
    if kind == "NoneTensorSpec":
        return kind
    return kind, spec.dtype.name, said_of_dims(spec.shape)

def said_of(value):
    if isinstance(value, D):
        return "dataset", [said_of(element) for element in value.take(20)]
    if isinstance(value, tf.RaggedTensor):
        return "ragged", value.dtype.name, repr(value.to_list())
    if isinstance(value, tf.SparseTensor):
        return ("sparse", *[said_of(part) for part in (value.indices, value.values, value.dense_shape)])
    if isinstance(value, dict):
        return {name: said_of(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(said_of(part) for part in value)
    array = np.asarray(value.numpy())
    return value.dtype.name, tuple(value.shape.as_list()), repr(array.astype(object).tolist())

def passes(dataset, count):
    found = []
    for _ in range(count):
        elements = []
        try:
            for element in dataset.take(ELEMENTS_READ):
                elements.append(said_of(element))
        except Exception as error:
            elements.append(("error", type(error).__name__))
        found.append(elements)
    return found

result = {}
try:
    tf.random.set_seed(SEED)
    dataset = pipeline()
    result["cardinality"] = int(dataset.cardinality())
    result["passes"] = passes(dataset, 1 if result["cardinality"] == -1 else 2)
    result["deterministic"] = dataset.options().deterministic
    result["spec"] = said_of_spec(dataset.element_spec)
    if REDUCED and result["cardinality"] != -1:
        result["reduced"] = said_of(dataset.reduce(tf.constant(0, tf.int64), lambda s, *e: summed(s, e)))
except Exception as error:
    result["error"] = type(error).__name__
'''


class Lists:
    """A dataset as the list of its elements: nests of tuples and dicts of NumPy arrays."""

    def __init__(self, elements: list[Any]) -> None:
        self.elements = elements

    @staticmethod
    def range(*args: Any) -> Lists:
        return Lists([np.int64(n) for n in range(*args)])

    @staticmethod
    def from_tensors(element: Any) -> Lists:
        return Lists([element])

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Lists:
        return Lists(_unstacked(tensors))

    @staticmethod
    def zip(*datasets: Lists) -> Lists:
        return Lists(list(zip(*[dataset.elements for dataset in datasets], strict=False)))

    @staticmethod
    def choose_from_datasets(datasets: list[Lists], choices: Lists, stop_on_empty_dataset: bool = True) -> Lists:
        rest, found = [list(dataset.elements) for dataset in datasets], []
        for choice in choices.elements:
            if rest[choice]:
                found.append(rest[choice].pop(0))
            elif stop_on_empty_dataset:
                break
        return Lists(found)

    def map(self, function: Any, **_: Any) -> Lists:
        return Lists([_called(function, element) for element in self.elements])

    def filter(self, predicate: Any) -> Lists:
        return Lists([element for element in self.elements if _called(predicate, element)])

    def take_while(self, predicate: Any) -> Lists:
        wrong = [i for i, element in enumerate(self.elements) if not _called(predicate, element)]
        return Lists(self.elements[: wrong[0]] if wrong else self.elements)

    def flat_map(self, function: Any) -> Lists:
        return Lists([x for element in self.elements for x in _called(function, element).elements])

    def interleave(
        self, function: Any, cycle_length: int, block_length: int = 1, num_parallel_calls: int = 1
    ) -> Lists:
        if num_parallel_calls > cycle_length:
            raise tf.errors.InvalidArgumentError("more calls than datasets")
        waiting = [list(_called(function, element).elements) for element in self.elements]
        slots: list[Any] = [None] * cycle_length
        found: list[Any] = []
        while waiting or any(slot is not None for slot in slots):
            for i in range(cycle_length):
                if slots[i] is None and waiting:
                    slots[i] = waiting.pop(0)
                if slots[i] is not None:
                    block, slots[i] = slots[i][:block_length], slots[i][block_length:]
                    found += block
                    if len(block) < block_length:
                        slots[i] = None
        return Lists(found)

    def scan(self, state: Any, function: Any) -> Lists:
        found = []
        for element in self.elements:
            state, output = function(state, element)
            found.append(output)
        return Lists(found)

    def enumerate(self, start: int = 0) -> Lists:
        return Lists([(np.int64(i), element) for i, element in enumerate(self.elements, start)])

    def take(self, count: int) -> Lists:
        return Lists(self.elements if count < 0 else self.elements[:count])

    def skip(self, count: int) -> Lists:
        return Lists([] if count < 0 else self.elements[count:])

    def shard(self, count: int, index: int) -> Lists:
        return Lists(self.elements[index::count])

    def repeat(self, count: int) -> Lists:
        return Lists(self.elements * count)

    def concatenate(self, other: Lists) -> Lists:
        return Lists(self.elements + other.elements)

    def cache(self) -> Lists:
        return self

    def prefetch(self, size: int | None) -> Lists:
        return self

    def with_options(self, options: Any) -> Lists:
        return self

    def groups(self, size: int, drop_remainder: bool) -> list[list[Any]]:
        groups = [self.elements[i : i + size] for i in range(0, len(self.elements), size)]
        return [group for group in groups if len(group) == size or not drop_remainder]

    def batch(self, size: int, drop_remainder: bool = False, **_: Any) -> Lists:
        return Lists([_joined(group, _stacked) for group in self.groups(size, drop_remainder)])

    def padded_batch(self, size: int, drop_remainder: bool = False) -> Lists:
        return Lists([_joined(group, _padded) for group in self.groups(size, drop_remainder)])

    def unbatch(self) -> Lists:
        return Lists([row for element in self.elements for row in _unstacked(element)])

    def rebatch(self, size: int, drop_remainder: bool = False) -> Lists:
        return self.unbatch().batch(size, drop_remainder)

    def window(self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False) -> Lists:
        starts = range(0, len(self.elements), shift or size)
        windows = [self.elements[start : start + (size - 1) * stride + 1 : stride] for start in starts]
        return Lists([Lists(window) for window in windows if len(window) == size or not drop_remainder])

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: int) -> Lists:
        groups: dict[int, list[Any]] = {}
        found: list[Any] = []
        for element in self.elements:
            key = int(_called(key_func, element))
            groups.setdefault(key, []).append(element)
            if len(groups[key]) == window_size:
                found += reduce_func(np.int64(key), Lists(groups.pop(key))).elements
        for key in sorted(groups):
            found += reduce_func(np.int64(key), Lists(groups[key])).elements
        return Lists(found)

    def unique(self) -> Lists:
        values = [x[()] if isinstance(x, np.ndarray) else x for x in self.elements]
        if not all(isinstance(x, bytes | np.int32 | np.int64) for x in values):
            raise TypeError("neither integers nor strings")
        return Lists([x for i, x in enumerate(values) if x not in values[:i]])


def _called(function: Any, element: Any) -> Any:
    return function(*element) if type(element) is tuple else function(element)


def _mapped(f: Any, first: Any, *others: Any) -> Any:
    if isinstance(first, tuple):
        return tuple(_mapped(f, *parts) for parts in zip(first, *others, strict=True))
    if isinstance(first, dict):
        return {name: _mapped(f, first[name], *[other[name] for other in others]) for name in first}
    return f(first, *others)


def _joined(group: list[Any], join: Any) -> Any:
    return _mapped(lambda *arrays: join([np.asarray(array) for array in arrays]), *group)


def _stacked(arrays: list[Any]) -> Any:
    if len({array.shape for array in arrays}) > 1:
        raise tf.errors.InvalidArgumentError("different shapes")
    return np.stack(arrays)


def _padded(arrays: list[Any]) -> Any:
    dims = [max(sizes) for sizes in zip(*[array.shape for array in arrays], strict=True)]
    if not dims:
        return np.stack(arrays)
    return np.stack([np.pad(array, [(0, n - m) for n, m in zip(dims, array.shape, strict=True)]) for array in arrays])


def _unstacked(element: Any) -> list[Any]:
    leaves: list[Any] = []
    _mapped(leaves.append, element)
    if not all(np.ndim(leaf) for leaf in leaves) or len(set(map(len, leaves))) > 1:
        raise tf.errors.InvalidArgumentError("different numbers of rows")
    return [_mapped(lambda array: array[i], element) for i in range(len(leaves[0]))]  # noqa: B023


class NumpyFunctions:
    """`FUNCTIONS` on NumPy arrays; only what is different there."""

    class nest:
        @staticmethod
        def flatten(element: Any) -> list[Any]:
            found: list[Any] = []
            if isinstance(element, dict):
                return [leaf for name in sorted(element) for leaf in NumpyFunctions.nest.flatten(element[name])]
            _mapped(found.append, element) if not isinstance(element, tuple) else [
                found.extend(NumpyFunctions.nest.flatten(part)) for part in element
            ]
            return found

        map_structure = staticmethod(_mapped)

    class data:
        Dataset = Lists

        class Options:
            class threading:
                pass


def _numpy_scope() -> dict[str, Any]:
    scope: dict[str, Any] = {"tf": NumpyFunctions, "np": np}
    exec(FUNCTIONS, scope)

    def key(element: Any) -> Any:
        x = np.asarray(scope["first"](element))
        return np.int64((int(x) if x.dtype.kind in "iu" and x.ndim == 0 else x.size) % 3)

    def inc(x: Any) -> Any:
        if isinstance(x, bytes) or np.asarray(x).dtype == object:
            return np.vectorize(lambda text: text + b"!", otypes=[object])(x)[()]
        return np.logical_not(x) if np.asarray(x).dtype == bool else np.asarray(x) + np.asarray(x).dtype.type(1)

    scope.update(key=key, inc=inc, row=lambda x: np.stack([x, x]), varying=lambda element: np.arange(key(element)))
    return scope


DTYPES = ["int32", "int64", "uint8", "float16", "float32", "float64", "complex64", "complex128", "bool", "object"]


class Generator:
    """One random pipeline: `source` is the text of a function that makes it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.by_chance = False  # whether it draws, or has elements, that `Lists` has not
        self.keeps_specs = True  # whether the specs can be compared
        self.lines: list[str] = []
        self.name_count = 0
        self.scalar, self.rank, self.nested, self.endless, self.composite = True, 0, False, False, False
        name = self.dataset()
        for _ in range(self.draw.randint(1, 6)):
            name = self.assign(self.transformed(name))
        self.reduced = self.draw.random() < 0.3 and not self.composite
        self.source = "\n    ".join(["def pipeline():", *self.lines, f"return {name}"])

    def assign(self, expression: str) -> str:
        self.name_count += 1
        self.lines.append(f"d{self.name_count} = {expression}")
        return f"d{self.name_count}"

    def array(self, rows: int) -> str:
        dtype, dims = self.draw.choice(DTYPES), self.draw.choice([(), (), (2,), (0,), (1, 2)])
        self.rank = max(self.rank, len(dims))
        numbers = np.arange(rows * int(np.prod(dims, dtype=int))).reshape(rows, *dims)
        if dtype == "object":
            values = np.vectorize(lambda n: b"s%d" % (n % 4), otypes=[object])(numbers) if numbers.size else None
            text = f"np.array({values.tolist()!r}, dtype=object)" if values is not None else None
            return text or f"np.zeros({(rows, *dims)!r}, 'int64')"
        return f"(np.arange({numbers.size}) % 5).reshape({(rows, *dims)!r}).astype('{dtype}')"

    def dataset(self) -> str:
        rows, kind = self.draw.choice([0, 1, 3, 5, 7]), self.draw.random()
        if kind < 0.35:
            return self.assign(f"D.range({rows})")
        if kind < 0.6:
            text = self.array(rows)
            self.scalar = self.rank == 0
            return self.assign(f"D.from_tensor_slices({text})")
        if kind < 0.7:
            self.nested = True
            return self.assign(f"D.from_tensor_slices(({self.array(rows)}, {self.array(rows)}))")
        if kind < 0.77:
            self.nested = True
            return self.assign(f"D.from_tensor_slices({{'x': {self.array(rows)}, 'y': {self.array(rows)}}})")
        if kind < 0.82:
            return self.assign("D.from_tensors(np.int64(2))")
        if kind < 0.88:
            self.by_chance = True  # no numbers by chance, but a cardinality that `Lists` does not have
            return self.assign(f"from_list({list(range(rows))!r}, tf.int32)")
        self.composite = self.by_chance = True
        if kind < 0.94:
            return self.assign("D.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]]))")
        return self.assign("D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]]))")

    def transformed(self, d: str) -> str:
        while True:
            found = getattr(self, self.draw.choice(self.transformations()))(d)
            if found is not None:
                return str(found)

    def transformations(self) -> list[str]:
        always = ["batch", "take", "skip", "prefetch", "repeat", "shuffle", "enumerate", "options", "cache", "shard",
                  "zip"]  # fmt: skip
        if self.endless:
            return ["batch", "take", "prefetch", "shuffle", "enumerate", "zip", "options"]
        if self.composite:
            return [*always, "concatenate", "unbatch", "window", "ignore_errors"]
        return [*always, "map", "map", "map", "filter", "take_while", "flat_map", "interleave", "scan", "padded_batch",
                "ragged_batch", "unbatch", "rebatch", "window", "group_by_window", "sample", "choose", "resample",
                "unique", "concatenate", "endless_repeat", "bucket", "ignore_errors", "stored", "sparse_batch",
                "cardinality"]  # fmt: skip

    def number(self) -> int:
        return self.draw.choice([0, 1, 1, 2, 2, 3, 4])

    def positive(self) -> int:
        return self.draw.choice([1, 2, 2, 3, 4])

    def map(self, d: str) -> str:
        f = self.draw.choice(["each(inc)", "each(inc)", "whole(pair)", "whole(named)", "each(row)", "whole(varying)",
                              "whole(key)"])  # fmt: skip
        if f in ("whole(pair)", "whole(named)"):
            self.nested = True
        elif f in ("whole(key)", "whole(varying)"):
            self.nested, self.scalar, self.rank = False, f == "whole(key)", int(f != "whole(key)")
        elif f == "each(row)":
            self.scalar, self.rank = False, self.rank + 1
        parallel = self.draw.choice(["", "", ", num_parallel_calls=2", ", num_parallel_calls=tf.data.AUTOTUNE"])
        self.by_chance |= "AUTOTUNE" in parallel
        return f"{d}.map({f}{parallel})"

    def filter(self, d: str) -> str:
        return f"{d}.filter(whole(is_kept))"

    def take_while(self, d: str) -> str:
        return f"{d}.take_while(whole(is_kept))"

    def flat_map(self, d: str) -> str:
        f = self.draw.choice(["keys_of", "copies_of"])
        if f == "keys_of":
            self.nested, self.scalar, self.rank = False, True, 0
        return f"{d}.flat_map(whole({f}))"

    def interleave(self, d: str) -> str:
        f = self.draw.choice(["keys_of", "copies_of"])
        if f == "keys_of":
            self.nested, self.scalar, self.rank = False, True, 0
        cycle = self.positive()
        # More calls than datasets are an error; with other errors in the pipeline, which comes first is not compared.
        parallel = self.draw.choice(["", ", num_parallel_calls=2"]) if cycle > 1 else ""
        return f"{d}.interleave(whole({f}), cycle_length={cycle}, block_length={self.positive()}{parallel})"

    def scan(self, d: str) -> str:
        self.nested = True
        return f"{d}.scan(np.int64({self.number()}), count_on)"

    def enumerate(self, d: str) -> str:
        self.nested = True
        return f"{d}.enumerate({self.number()})"

    def batch(self, d: str) -> str:
        self.scalar, self.rank = False, self.rank + 1
        drop = self.draw.choice(["", ", drop_remainder=True"])
        return f"{d}.batch({self.positive()}{drop})"

    def padded_batch(self, d: str) -> str:
        self.scalar, self.rank = False, self.rank + 1
        return f"{d}.padded_batch({self.positive()}{self.draw.choice(['', ', drop_remainder=True'])})"

    def ragged_batch(self, d: str) -> str:
        self.composite = self.by_chance = True
        self.keeps_specs = False  # documented: what has one size in the first elements is taken for a tensor
        return f"{d}.ragged_batch({self.positive()})"

    def sparse_batch(self, d: str) -> str | None:
        if self.nested or self.rank > 1:
            return None
        self.composite = self.by_chance = True
        return f"{d}.sparse_batch({self.positive()}, {[4] * self.rank})"

    def unbatch(self, d: str) -> str:
        return f"{d}.unbatch()"

    def rebatch(self, d: str) -> str:
        return f"{d}.rebatch({self.positive()}{self.draw.choice(['', ', drop_remainder=True'])})"

    def window(self, d: str) -> str | None:
        if self.nested or (self.composite and self.draw.random() < 0.5):
            return None
        shift, stride = self.draw.choice(["", f", shift={self.positive()}"]), self.draw.choice(["", ", stride=2"])
        drop = self.draw.choice(["", ", drop_remainder=True"])
        self.scalar, self.rank = False, self.rank + 1
        return f"{d}.window({self.positive()}{shift}{stride}{drop}).flat_map(joined)"

    def group_by_window(self, d: str) -> str:
        self.scalar, self.rank = False, self.rank + 1
        return f"{d}.group_by_window(whole(key), lambda k, group: joined(group), window_size={self.positive()})"

    def bucket(self, d: str) -> str | None:
        if self.nested:
            return None
        self.by_chance = True
        varied = f"{d}.map(whole(varying))"
        self.scalar, self.rank = False, 2
        return f"{varied}.bucket_by_sequence_length(lambda x: tf.size(x), [1, 2], [2, 1, 3])"

    def take(self, d: str) -> str:
        count = self.draw.choice([1, 3, 8] if self.endless else [0, 1, 2, 3, 5, 8, -1])
        self.endless = False
        return f"{d}.take({count})"

    def skip(self, d: str) -> str:
        return f"{d}.skip({self.draw.choice([0, 1, 2, 3, -1])})"

    def shard(self, d: str) -> str:
        count = self.positive()
        return f"{d}.shard({count}, {self.draw.randrange(count)})"

    def prefetch(self, d: str) -> str:
        return f"{d}.prefetch({self.draw.choice(['1', '2', 'None'])})"

    def cache(self, d: str) -> str:
        return f"{d}.cache()"

    def stored(self, d: str) -> str:
        self.by_chance = True
        return f"stored({d})"

    def ignore_errors(self, d: str) -> str:
        self.by_chance = True
        return f"{d}.ignore_errors()"

    def unique(self, d: str) -> str | None:
        return None if self.nested or self.rank else f"{d}.unique()"

    def cardinality(self, d: str) -> str:
        self.by_chance = True
        return f"{d}.apply(tf.data.experimental.assert_cardinality({self.number()}))"

    def options(self, d: str) -> str:
        options = self.assign("tf.data.Options()")
        self.lines.append(f"{options}.deterministic = True")
        self.lines.append(f"{options}.threading.private_threadpool_size = 1")
        return f"{d}.with_options({options})"

    def repeat(self, d: str) -> str:
        # Of `shuffle` and `repeat(0)`, TensorFlow makes one dataset that fails.
        shuffled = any(line.startswith(f"{d} = ") and "shuffle" in line for line in self.lines)
        return f"{d}.repeat({self.draw.choice([1, 2, 3] if shuffled else [0, 1, 2, 3])})"

    def endless_repeat(self, d: str) -> str:
        self.by_chance = self.endless = True
        return f"{d}.repeat()"

    def shuffle(self, d: str) -> str:
        self.by_chance = True
        again = self.draw.choice(["", "", ", reshuffle_each_iteration=False"])
        return f"{d}.shuffle({self.positive() * 2}, seed={self.number()}{again})"

    def concatenate(self, d: str) -> str | None:
        is_unbatched = self.composite and any("unbatch" in line for line in self.lines)
        if not self.keeps_specs or is_unbatched or any("sample" in line for line in self.lines):
            return None  # TensorFlow itself fails there: "Incompatible shapes at component 0"
        return f"{d}.concatenate({d}.take({self.positive()}))"

    def zip(self, d: str) -> str:
        self.nested = True
        other = self.draw.choice([d, "D.range(4)"])
        return f"D.zip({d}, {other})"

    def sample(self, d: str) -> str:
        self.by_chance = True
        weights = self.draw.choice(["None", "[0.3, 0.7]", "[1.0, 0.0]"])
        stop = self.draw.choice([True, False])
        return (f"D.sample_from_datasets([{d}, {d}.take({self.number()})], weights={weights}, seed={self.number()}, "
                f"stop_on_empty_dataset={stop})")  # fmt: skip

    def choose(self, d: str) -> str:
        stop = self.draw.choice([True, False])
        choices = [self.draw.randrange(2) for _ in range(6)]
        return (f"D.choose_from_datasets([{d}, {d}.skip(1)], D.from_tensor_slices(np.array({choices})), "
                f"stop_on_empty_dataset={stop})")  # fmt: skip

    def resample(self, d: str) -> str:
        self.by_chance = self.nested = True
        return (f"{d}.rejection_resample(whole(lambda e: tf.cast(key(e), tf.int32)), [0.2, 0.3, 0.5], "
                f"initial_dist=[0.4, 0.3, 0.3], seed={self.number()})")  # fmt: skip


@cache
def _interpreter(python: str) -> TensorFlow:
    return TensorFlow(python)


def program(generator: Generator, seed: int) -> str:
    """The text that runs a pipeline."""
    head = f"SEED, REDUCED, ELEMENTS_READ = {seed % 7}, {generator.reduced}, {ELEMENTS_READ}\n"
    return head + FUNCTIONS + generator.source + OUTCOME


def disagreements(seed: int, tensorflow: str | None = None) -> list[str]:
    """The ways in which one pipeline differs from TensorFlow's, and from that of lists."""
    generator = Generator(seed)
    scope: dict[str, Any] = {"tf": tf, "np": np}
    exec(program(generator, seed), scope)
    mine, found = scope["result"], []
    if tensorflow is not None:
        its = _interpreter(tensorflow).result(program(generator, seed))
        if its is not None:  # else TensorFlow crashed or hung, as it does where rows without values are unbatched
            found += _differences(mine, its, generator.keeps_specs, "unbatch" in generator.source)
    if not generator.by_chance:
        found += _differences_from_lists(generator, mine)
    return [f"{generator.source}\n{difference}" for difference in found]


def _first_error(result: dict[str, Any]) -> str | None:
    ends = [one[-1] for one in result.get("passes", ()) if one]
    errors = [end[1] for end in ends if isinstance(end, tuple) and end[0] == "error"]
    return result.get("error") or (errors[0] if errors else None)


def _differences(
    mine: dict[str, Any], its: dict[str, Any], keeps_specs: bool, has_rows_of_functions: bool
) -> list[str]:
    errors = _first_error(mine), _first_error(its)
    if errors != (None, None):
        return [] if errors[0] == errors[1] else [f"errors: {errors[0]}, TensorFlow: {errors[1]}"]
    found = [f"{what}: {mine.get(what)}\n  TensorFlow: {its[what]}" for what in its
             if what not in ("spec", "passes", "cardinality") and mine.get(what) != its[what]]  # fmt: skip
    # How many rows a function's results have is known here when it has run, in TensorFlow when it was traced.
    if mine["cardinality"] not in (its["cardinality"], UNKNOWN if has_rows_of_functions else its["cardinality"]):
        found.append(f"cardinality: {mine['cardinality']}\n  TensorFlow: {its['cardinality']}")
    for number, (one, other) in enumerate(zip(mine["passes"], its["passes"], strict=True)):
        if not keeps_specs:
            one, other = _as_lists(one), _as_lists(other)
        if one != other:
            found.append(f"pass {number}: {one}\n  TensorFlow: {other}")
    if keeps_specs and not _is_subtype(mine["spec"], its["spec"]):
        found.append(f"spec: {mine['spec']}\n  TensorFlow: {its['spec']}")
    return found


def _as_lists(value: Any) -> Any:
    """Ragged tensors and tensors alike, as the lists of their values."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], str):
        return value[2]
    if isinstance(value, dict):
        return {name: _as_lists(part) for name, part in value.items()}
    return type(value)(map(_as_lists, value)) if isinstance(value, tuple | list) else value


def _is_subtype(mine: Any, its: Any) -> bool:
    """Whether a spec is TensorFlow's, or, since functions are run, knows a size that TensorFlow's does not."""
    if isinstance(its, dict):
        return isinstance(mine, dict) and mine.keys() == its.keys() and all(_is_subtype(mine[k], its[k]) for k in its)
    if isinstance(its, tuple) and len(its) == 3 and isinstance(its[0], str) and isinstance(mine, tuple):
        dims = mine[2] if len(mine) == 3 else ()
        open_rank = its[2] is None or (dims is not None and len(dims) == len(its[2]) and all(
            n == m or m is None for n, m in zip(dims, its[2], strict=True)))  # fmt: skip
        return mine[:2] == its[:2] and open_rank
    if isinstance(its, tuple):
        return isinstance(mine, tuple) and len(mine) == len(its) and all(map(_is_subtype, mine, its))
    return bool(mine == its)


def _differences_from_lists(generator: Generator, mine: dict[str, Any]) -> list[str]:
    scope = _numpy_scope()
    try:
        exec(generator.source, scope)
        elements = scope["pipeline"]().elements
    except Exception as error:  # a pipeline that is wrong: any error will do, the class is TensorFlow's affair
        return [] if _first_error(mine) else [f"no error, though lists give {type(error).__name__}: {error}"]
    if _first_error(mine):  # lists without elements know of no ranks
        is_known = elements or "batch(" not in generator.source
        return [f"{_first_error(mine)}, though lists give {elements}"] if is_known else []
    expected = [_said_of_arrays(element) for element in elements[:ELEMENTS_READ]]
    found = [f"pass {number}: {one}\n  lists: {expected}" for number, one in enumerate(mine["passes"])
             if _without_dtypes(one) != expected]  # fmt: skip
    if mine["cardinality"] not in (-2, len(elements)):
        found.append(f"cardinality {mine['cardinality']}, though lists have {len(elements)} elements")
    return found


def _said_of_arrays(element: Any) -> Any:
    return _mapped(lambda array: (np.shape(array), repr(np.asarray(array).astype(object).tolist())), element)


def _without_dtypes(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str):
        return value[1:]
    if isinstance(value, dict):
        return {name: _without_dtypes(part) for name, part in value.items()}
    return type(value)(map(_without_dtypes, value))
