"""Random pipelines of `tf.data`, as the source of a program that TensorFlow can run too."""

from __future__ import annotations

import random

import numpy as np

ELEMENTS_READ = 40  # of a pass, or errors: few passes end early, because TensorFlow prefetches into its caches

# The functions of pipelines, in terms of `tf`. An element is passed as one value, whatever its structure.
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

def same(element):
    return element

def checked(element):
    tf.debugging.Assert(key(element) != 2, [0])
    return element

def joined(window):
    return (D.zip(window) if isinstance(window, (tuple, dict)) else window).batch(4)

def from_list(elements, dtype):
    return D.from_generator(lambda: iter(elements), output_signature=tf.TensorSpec([], dtype))

def stored(dataset):
    import tempfile
    folder = tempfile.mkdtemp()
    dataset.save(folder)
    return D.load(folder)
'''

# Runs a pipeline and describes it in the same way everywhere.
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
        elements, iterator = [], iter(dataset)
        while len(elements) < ELEMENTS_READ:
            try:
                elements.append(said_of(next(iterator)))
            except StopIteration:
                break
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

DTYPES = ["int32", "int64", "uint8", "float16", "float32", "float64", "complex64", "complex128", "bool", "object"]


class Generator:
    """One random pipeline: `source` is the text of a function that creates it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.by_chance = False  # whether it has random draws, or elements, that `Lists` does not support
        self.keeps_specs = True  # whether the specs can be compared
        self.repeats_errors = False  # whether TensorFlow repeats an error that gradtape raises once
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
            self.by_chance = True  # no random numbers, but a cardinality that `Lists` does not have
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
        if self.endless:  # the others would never yield an element, or never end
            return ["batch", "take", "prefetch", "shuffle", "enumerate", "zip", "options"]
        if self.composite:  # `FUNCTIONS` unpack tensors; in files, TensorFlow has variants (`storage.py`)
            return [*always, "concatenate", "unbatch", "window", "ignore_errors", "identity", "flat_map", "rebatch",
                    "choose", "sample"]  # fmt: skip
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
                              "whole(key)", "whole(checked)"])  # fmt: skip
        self.by_chance |= f == "whole(checked)"  # lists compute all elements, including unused ones
        if f in ("whole(pair)", "whole(named)"):
            self.nested = True
        elif f in ("whole(key)", "whole(varying)"):
            self.nested, self.scalar, self.rank = False, f == "whole(key)", int(f != "whole(key)")
        elif f == "each(row)":
            self.scalar, self.rank = False, self.rank + 1
        parallel = self.draw.choice(["", "", ", num_parallel_calls=2", ", num_parallel_calls=tf.data.AUTOTUNE"])
        self.by_chance |= "AUTOTUNE" in parallel
        return f"{d}.map({f}{parallel})"

    def identity(self, d: str) -> str:
        return f"{d}.map(whole(same))"

    def filter(self, d: str) -> str:
        return f"{d}.filter(whole(is_kept))"

    def take_while(self, d: str) -> str:
        return f"{d}.take_while(whole(is_kept))"

    def flat_map(self, d: str) -> str:
        f = "copies_of" if self.composite else self.draw.choice(["keys_of", "copies_of"])
        if f == "keys_of":
            self.nested, self.scalar, self.rank = False, True, 0
        return f"{d}.flat_map(whole({f}))"

    def interleave(self, d: str) -> str:
        f = self.draw.choice(["keys_of", "copies_of"])
        if f == "keys_of":
            self.nested, self.scalar, self.rank = False, True, 0
        cycle = self.positive()
        # More calls than datasets are an error; with other errors in the pipeline, their order is not compared.
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
        self.scalar, self.rank = False, self.rank + 1
        self.keeps_specs = False  # documented: a component with one size in the first elements becomes a tensor
        return f"{d}.ragged_batch({self.positive()})"

    def sparse_batch(self, d: str) -> str | None:
        if self.nested and self.draw.random() < 0.9:
            return None  # an error, and the end of the pipeline: rare
        self.composite = self.by_chance = True
        return f"{d}.sparse_batch({self.positive()}, {[4] * self.rank})"

    def unbatch(self, d: str) -> str:
        return f"{d}.unbatch()"

    def rebatch(self, d: str) -> str | None:
        if self.composite and any("ragged" in line for line in self.lines):
            return None  # TensorFlow fails to batch these: "Inferred input_ragged_rank must be >= 0"
        return f"{d}.rebatch({self.positive()}{self.draw.choice(['', ', drop_remainder=True'])})"

    def window(self, d: str) -> str | None:
        if self.repeats_errors:
            return None  # TensorFlow's windows lose an error about too few elements at the end of their input
        shift, stride = self.draw.choice(["", f", shift={self.positive()}"]), self.draw.choice(["", ", stride=2"])
        drop = self.draw.choice(["", ", drop_remainder=True"])
        self.scalar, self.rank = False, self.rank + 1
        return f"{d}.window({self.positive()}{shift}{stride}{drop}).flat_map(whole(joined))"

    def group_by_window(self, d: str) -> str:
        self.scalar, self.rank = False, self.rank + 1
        return f"{d}.group_by_window(whole(key), lambda k, group: joined(group), window_size={self.positive()})"

    def bucket(self, d: str) -> str:
        self.by_chance = True
        varied = f"{d}.map(whole(varying))"
        self.nested, self.scalar, self.rank = False, False, 2
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
        # For nested structures it is an error, and the end of the pipeline: rare.
        return None if self.nested and self.draw.random() < 0.9 else f"{d}.unique()"

    def cardinality(self, d: str) -> str:
        self.by_chance = self.repeats_errors = True
        return f"{d}.apply(tf.data.experimental.assert_cardinality({self.number()}))"

    def options(self, d: str) -> str:  # with which TensorFlow's parallel calls keep their order too
        options = self.assign("tf.data.Options()")
        self.lines.append(f"{options}.deterministic = True")
        self.lines.append(f"{options}.threading.private_threadpool_size = 1")
        return f"{d}.with_options({options})"

    def repeat(self, d: str) -> str:
        # TensorFlow merges `shuffle` and `repeat(0)`, with or without a `take(-1)` in between, into an op that fails.
        shuffled = any("shuffle" in line for line in self.lines)
        return f"{d}.repeat({self.draw.choice([1, 2, 3] if shuffled else [0, 1, 2, 3])})"

    def endless_repeat(self, d: str) -> str:
        self.by_chance = self.endless = True
        return f"{d}.repeat()"

    def shuffle(self, d: str) -> str:
        self.by_chance = True
        again = self.draw.choice(["", "", ", reshuffle_each_iteration=False"])
        return f"{d}.shuffle({self.positive() * 2}, seed={self.number()}{again})"

    def concatenate(self, d: str) -> str | None:
        if self.rank and any("sample" in line or "choose" in line for line in self.lines):
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


def program(generator: Generator, seed: int) -> str:
    """Returns the source that runs a pipeline."""
    head = f"SEED, REDUCED, ELEMENTS_READ = {seed % 7}, {generator.reduced}, {ELEMENTS_READ}\n"
    return head + FUNCTIONS + generator.source + OUTCOME
