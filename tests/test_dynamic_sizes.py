"""Sizes that depend on values, and differ from call to call, in functions: the results are those of eager execution.

A size stays dynamic in a graph as long as only ops for any size depend on it; then the function is traced once. Random
programs mix such ops with ones that read the size, so that the graph is specialized for it.
"""

import numpy as np
import pytest

import gradtape as tf

ROWS, COLUMNS, TABLE = 6, 3, 5


class RandomProgram:
    """A random program over rows of dynamic number: a list of steps, run with the same choices in each call."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.source = rng.choice(["unique", "mask", "where"])
        self.steps = rng.choice(list(STEPS), rng.integers(1, 5)).tolist()
        self.end = rng.choice(list(ENDS))
        self.wrapped = rng.choice(["none", "none", "cond", "while", "function", "gradient"])
        if self.wrapped == "gradient":  # of assigned variables there is none
            self.steps = [step for step in self.steps if step not in UPDATES]
        self.initial = rng.normal(size=(TABLE, COLUMNS)).astype("float32")

    def build(self):
        """Returns the variable and the function of ids and values."""
        table = tf.Variable(self.initial)

        def body(ids, x):
            at, rows = SOURCES[self.source](ids, x)
            for step in self.steps:
                at, rows = STEPS[step](at, rows, x, table)
            return ENDS[self.end](at, rows, table)

        def conditional(ids, x):
            return tf.cond(tf.reduce_sum(x) > 0.0, lambda: body(ids, x), lambda: body(ids, -x))

        def repeated(ids, x):
            def one(i, total):
                return i + 1, total + tf.reduce_sum(body(ids, x * tf.cast(i, tf.float32)))

            return tf.while_loop(lambda i, _: i < 3, one, [tf.constant(0), tf.constant(0.0)])[1]

        def differentiated(ids, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(body(ids, x) ** 2)
            gradients = tape.gradient(y, [x, table], unconnected_gradients="zero")
            return [y, *map(tf.convert_to_tensor, gradients)]

        inner = tf.function(body)
        wrapped = {
            "none": body, "cond": conditional, "while": repeated, "gradient": differentiated,
            "function": lambda ids, x: inner(ids, x) * 2.0,
        }  # fmt: skip
        return table, wrapped[self.wrapped]

    def __repr__(self):
        return f"{self.source}, {', '.join(self.steps)}, {self.end}, in {self.wrapped}"


def from_unique(ids, x):
    at, places = tf.unique(ids)
    return at, tf.math.unsorted_segment_sum(x, places, tf.shape(at)[0])


def from_mask(ids, x):
    mask = x[:, 0] > 0.3
    return tf.boolean_mask(ids, mask), tf.boolean_mask(x, mask)


def from_where(ids, x):
    places = tf.where(ids > 2)[:, 0]
    return tf.gather(ids, places), tf.gather(x, places)


SOURCES = {"unique": from_unique, "mask": from_mask, "where": from_where}


def of_rows(change):
    return lambda at, rows, x, table: (at, change(rows))


def updated(method):
    def step(at, rows, x, table):
        getattr(table, method)(tf.IndexedSlices(rows * 0.5, at))
        return at, rows

    return step


def again_masked(at, rows, x, table):
    mask = rows[:, 1] > 0.0
    return tf.boolean_mask(at, mask), tf.boolean_mask(rows, mask)


def joined(at, rows, x, table):
    return tf.concat([at, at], 0), tf.concat([rows, rows + 1.0], 0)


def with_other_size(at, rows, x, table):
    """Adds rows of another dynamic size where the two are equal in this call."""
    other = tf.boolean_mask(x, x[:, 1] > 0.0)
    return at, rows + other if tf.shape(other)[0] == tf.shape(rows)[0] else rows


STEPS = {
    "scale": of_rows(lambda rows: rows * 0.5 + 1.0),
    "square": of_rows(tf.square),
    "bias": of_rows(lambda rows: rows - tf.constant([[1.0, 2.0, 3.0]])),
    "by size": of_rows(lambda rows: rows / (1.0 + tf.cast(tf.shape(rows)[0], tf.float32))),
    "by static size": of_rows(lambda rows: rows * float(rows.shape[0])),
    "by number": of_rows(lambda rows: rows + tf.cast(tf.size(rows), tf.float32)),
    "normalize": of_rows(lambda rows: rows / (1.0 + tf.reduce_sum(tf.abs(rows), axis=1, keepdims=True))),
    "center": of_rows(lambda rows: rows - tf.reduce_sum(rows, axis=0)),
    "ones": of_rows(lambda rows: rows + tf.ones_like(rows) * 2.0),
    "transposed": of_rows(lambda rows: tf.transpose(tf.transpose(rows) * 2.0)),
    "flat": of_rows(lambda rows: tf.reshape(tf.reshape(rows, [-1]) * 3.0, [-1, COLUMNS])),
    "product": of_rows(lambda rows: rows @ tf.constant(np.eye(COLUMNS, dtype="float32") * 2.0)),
    "by range": of_rows(lambda rows: rows * tf.cast(tf.range(tf.shape(rows)[0])[:, None], tf.float32)),
    "tiled": of_rows(lambda rows: rows + tf.tile([[1.0, 0.0, 2.0]], [tf.shape(rows)[0], 1])),
    "half": of_rows(lambda rows: tf.cast(tf.cast(rows, tf.float16), tf.float32)),
    "lookup": lambda at, rows, x, table: (at, rows + tf.gather(table, at)),
    "add": updated("scatter_add"),
    "sub": updated("scatter_sub"),
    "max": updated("scatter_max"),
    "mask": again_masked,
    "join": joined,
    "other size": with_other_size,
}

UPDATES = ("add", "sub", "max")
ENDS = {
    "rows": lambda at, rows, table: rows,
    "sum": lambda at, rows, table: tf.reduce_sum(rows),
    "mean": lambda at, rows, table: tf.reduce_mean(tf.concat([rows, tf.zeros([1, COLUMNS])], 0)),
    "columns": lambda at, rows, table: tf.reduce_sum(rows, 0),
    "dense": lambda at, rows, table: tf.convert_to_tensor(tf.IndexedSlices(rows, at, tf.constant([TABLE, COLUMNS]))),
    "scatter": lambda at, rows, table: tf.scatter_nd(at[:, None], rows, [TABLE, COLUMNS]),
    "table": lambda at, rows, table: table * 2.0,
}


def calls(seed, count=10):
    """Ids and values of several calls, with 0 to all rows above the thresholds."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        kinds = rng.integers(1, TABLE + 1)
        ids = rng.integers(0, kinds, ROWS)
        shift = rng.choice([-9.0, 0.0, 0.0, 9.0])
        x = rng.normal(size=(ROWS, COLUMNS)) + shift
        yield tf.constant(ids), tf.constant(x.astype("float32"))


def results_of(function, table, seed):
    found = []
    for ids, x in calls(seed):
        found += [np.asarray(y) for y in tf.nest.flatten(function(ids, x))]
        found.append(table.numpy())
    return found


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_equal_eager_ones(seed):
    program = RandomProgram(seed)
    table, function = program.build()
    eager = results_of(function, table, seed)
    table, function = program.build()
    traced = results_of(tf.function(function), table, seed)
    for a, b in zip(eager, traced, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-5, err_msg=repr(program))


def count_of_traces(function, arguments):
    """Calls the function, compares with eager results, and returns how often it was traced."""
    traces = []

    def counted(*given):
        traces.append(given)
        return function(*given)

    traced = tf.function(counted)
    for given in arguments:
        for a, b in zip(tf.nest.flatten(function(*given)), tf.nest.flatten(traced(*given)), strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(b, a, rtol=1e-5)
    return len(traces)


SIGNS = [[1.0, -1.0, 1.0, 1.0], [-1.0] * 4, [2.0] * 4, [-1.0, 3.0, -1.0, -1.0], [0.0, 1.0, 1.0, 3.0]]
ONCE = {
    "rows": lambda x: tf.boolean_mask(x, x > 0.0) * 2.0 - 1.0,
    "places": lambda x: (tf.where(x > 0.0), tf.where(x > 0.0)[:, 0] + 1),
    "sum": lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0.0)),
    "size": lambda x: (tf.shape(y := tf.boolean_mask(x, x > 0.0))[0] * 2, tf.size(y, tf.int64), tf.rank(y)),
    "mean": lambda x: tf.reduce_sum(y := tf.boolean_mask(x, x > 0.0)) / tf.cast(tf.shape(y)[0] + 1, tf.float32),
    "counts": lambda x: tf.unique_with_counts(tf.boolean_mask(x, x > 0.0)),
    "lookup": lambda x: tf.gather(x * 3.0, tf.where(x > 0.0)[:, 0]),
}


@pytest.mark.parametrize("name", ONCE)
def test_functions_of_dynamic_sizes_are_traced_once(name):
    assert count_of_traces(ONCE[name], [(tf.constant(x),) for x in SIGNS]) == 1


def summed_by_id(ids, x):
    at, places = tf.unique(ids)
    return at, tf.math.unsorted_segment_sum(x, places, tf.shape(at)[0])


@pytest.mark.parametrize("method", ["scatter_add", "scatter_sub", "scatter_max", "scatter_min", "scatter_update"])
def test_updates_of_distinct_rows_are_traced_once(method):
    table, traces = [tf.Variable(np.ones((TABLE, COLUMNS), "float32")) for _ in range(2)], []

    def step(variable, ids, x):
        traces.append(x)
        at, rows = summed_by_id(ids, x)
        variable.assign(variable * 0.9)
        getattr(variable, method)(tf.IndexedSlices(tf.square(rows) * 0.5, at))
        return variable - 1.0

    traced = tf.function(lambda ids, x: step(table[1], ids, x))
    for ids, x in calls(0):
        np.testing.assert_allclose(traced(ids, x), step(table[0], ids, x), rtol=1e-5)
        np.testing.assert_allclose(table[1], table[0], rtol=1e-5)
    assert len(traces) == 10 + 1


def test_an_update_with_another_number_of_rows_fails():
    table = tf.Variable(np.zeros((TABLE, COLUMNS), "float32"))

    @tf.function
    def step(ids, x):
        at, rows = summed_by_id(ids, x)
        table.scatter_add(tf.IndexedSlices(rows[:, :2] if x[0, 0] > 0.0 else rows, at))

    ids, x = next(calls(0))
    step(ids, -tf.abs(x))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        step(ids, tf.abs(x))


def test_a_row_out_of_range_fails_in_every_call():
    table = tf.Variable(np.zeros((TABLE, COLUMNS), "float32"))

    @tf.function
    def step(ids, x):
        at, rows = summed_by_id(ids, x)
        table.scatter_add(tf.IndexedSlices(rows, at))

    ids, x = next(calls(0))
    step(ids, x)
    before = table.numpy()
    for wrong in (ids + TABLE, ids - TABLE - 1):
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(wrong, x)
        np.testing.assert_array_equal(table, before)


def test_reading_a_size_specializes_the_graph():
    def sized(x):
        y = tf.boolean_mask(x, x > 0.0)
        return y * float(y.shape[0])

    sizes = {sum(number > 0.0 for number in x) for x in SIGNS}
    assert count_of_traces(sized, [(tf.constant(x),) for x in SIGNS]) == len(sizes)


def test_the_spec_of_an_output_leaves_its_size_open():
    function = tf.function(lambda x: (tf.unique(x), tf.reduce_sum(tf.unique(x).y)))
    function(tf.constant([1, 2, 2]))
    (y, idx), total = function.get_concrete_function(tf.TensorSpec([3], tf.int32)).structured_outputs
    assert (y.shape.as_list(), idx.shape.as_list(), total.shape.as_list()) == ([None], [3], [])


def test_a_function_for_xla_may_call_one_with_dynamic_sizes():
    inner = tf.function(lambda ids, x: tf.scatter_nd((at := summed_by_id(ids, x))[0][:, None], at[1], [TABLE, COLUMNS]))
    outer = tf.function(lambda ids, x: inner(ids, x) * 2.0, jit_compile=True)
    examples = [*calls(0, 4)]
    expected = [inner(ids, x) * 2.0 for ids, x in examples]
    for (ids, x), y in zip(examples, expected, strict=True):
        np.testing.assert_allclose(outer(ids, x), y, rtol=1e-5)


def test_tapes_around_a_function_with_dynamic_sizes():
    def f(ids, x):
        at, rows = summed_by_id(ids, x)
        return tf.reduce_sum(tf.gather(tf.reshape(tf.range(float(TABLE * COLUMNS)), [TABLE, COLUMNS]), at) * rows**2)

    traced = tf.function(f)
    for ids, x in calls(1):
        np.testing.assert_allclose(traced(ids, x), f(ids, x), rtol=1e-5)
        found = []
        for function in (traced, f):
            with tf.GradientTape() as outer, tf.GradientTape() as inner:
                outer.watch(x)
                inner.watch(x)
                y = function(ids, x)
            g = inner.gradient(y, x)
            found += [g, outer.gradient(y, x)]
        for g in found[1:]:
            np.testing.assert_allclose(g, found[0], rtol=1e-4, atol=1e-5)


def test_large_arrays_of_dynamic_size_are_not_computed_in_blocks_of_another_size():
    def f(x, bias):
        y = tf.boolean_mask(x, x[:, 0] > 0.5)
        z = tf.exp(-y) * y + bias * tf.square(y) - 1.0
        return z / (1.0 + tf.reduce_sum(tf.abs(z), 1, keepdims=True)), tf.sqrt(tf.abs(y)), x * 2.0 + tf.square(x)

    rng = np.random.default_rng(0)
    x = rng.uniform(size=(1 << 18, 2)).astype("float32")
    arguments = [(tf.constant(x + shift), tf.constant([[2.0, 3.0]])) for shift in (0.0, -1.0, 0.3, 0.7, -0.4)]
    assert count_of_traces(f, arguments) == 1
