"""Objects to save, with calls of their functions, built from the names of gradtape or TensorFlow: it imports neither.

`tools/record_saved_models.py` saves each of them under TensorFlow and records the results of the calls. The tests build
them with gradtape too: a loaded object must give the same results, whichever library saved it. Most are cases of
TensorFlow's own tests of loading and of its guides.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Build = Callable[[Any, str], "Case"]
CASES: dict[str, Build] = {}


class Case(NamedTuple):
    """An object, and the calls on the loaded object."""

    root: Any
    calls: dict[str, Callable[[Any], Any]]  # each gets the loaded object
    saving: dict[str, Any]  # further arguments of `tf.saved_model.save`
    fails_in_tensorflow: tuple[str, ...] = ()  # the calls that raise when TensorFlow loads its own SavedModel


def case(build: Build) -> Build:
    """Adds a case. Its function gets the namespace and a folder for files."""
    CASES[build.__name__] = build
    return build


def results(tf: Any, loaded: Any, calls: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Returns the result of each call: the flat values as lists, or the name of its exception."""
    found: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            found[name] = [_plain(tf, value) for value in tf.nest.flatten(call(loaded), expand_composites=True)]
        except Exception as error:
            found[name] = type(error).__name__
    return found


def _plain(tf: Any, value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(tf.convert_to_tensor(value))
    if array.dtype.kind == "c":
        return [array.real.tolist(), array.imag.tolist()]
    return [text.decode() for text in array.ravel().tolist()] if array.dtype.kind in "OS" else array.tolist()


def gradients(tf: Any, function: Callable[..., Any], *xs: Any, of: Callable[[], Any] = lambda: []) -> Any:
    """Returns the gradients of the first result of a function for its arguments and the variables `of()`."""
    with tf.GradientTape() as tape:
        tape.watch([x for x in xs if x.dtype.is_floating or x.dtype.is_complex])
        y = tf.nest.flatten(function(*xs))[0]
    found = tape.gradient(y, [*xs, *of()])
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


# The objects.


@case
def cyclic_objects(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.child = tf.Module()
    root.child.parent = root
    root.child.itself = root.child
    root.v = tf.Variable(3.0)
    root.child.f = tf.function(lambda x: x * root.v, input_signature=[tf.TensorSpec([], tf.float32)])
    return Case(root, {
        "call": lambda m: m.child.parent.child.itself.f(tf.constant(2.0)),
        "same": lambda m: tf.constant(m.child.parent is m and m.child.itself is m.child),
    }, {})  # fmt: skip


@case
def shared_variables(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.a = tf.Variable([1.0, 2.0])
    root.b = root.a
    root.parts = [root.a, {"x": root.a, "y": (root.a, tf.Variable(5.0))}]
    root.read = tf.function(lambda: root.a * 2.0, input_signature=[])
    root.write = tf.function(lambda x: root.b.assign_add(x), input_signature=[tf.TensorSpec([2], tf.float32)])

    def shared(m: Any) -> Any:
        m.write(tf.constant([1.0, 1.0]))
        return m.read(), m.a, m.parts[1]["y"][0], tf.constant(m.a is m.b and m.a is m.parts[0])

    return Case(root, {"shared": shared}, {})


@case
def untrained_variables(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.w = tf.Variable(2.0)
    root.fixed = tf.Variable(3.0, trainable=False)
    root.unused = tf.Variable(4.0)
    root.f = tf.function(lambda x: x * root.w * root.fixed, input_signature=[tf.TensorSpec([], tf.float32)])
    return Case(root, {
        "gradients": lambda m: gradients(tf, m.f, tf.constant(5.0), of=lambda: [m.w, m.fixed, m.unused]),
        "trainable": lambda m: tf.constant([m.w.trainable, m.fixed.trainable, m.unused.trainable]),
    }, {})  # fmt: skip


@case
def variables_of_many_dtypes(tf: Any, folder: str) -> Case:
    root = tf.Module()
    kinds = ["float16", "bfloat16", "float64", "complex64", "complex128", "int8", "uint16", "int64", "bool"]
    root.parts = [tf.Variable(tf.cast([1, 0, 1], kind)) for kind in kinds]
    root.text = tf.Variable(["a", "bc"])
    root.anything = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))
    root.f = tf.function(lambda: [tf.cast(v, tf.float32) for v in root.parts[:3]] + [root.anything + 1.0],
                         input_signature=[])  # fmt: skip

    def grown(m: Any) -> Any:
        m.anything.assign([5.0, 6.0, 7.0])
        return m.f()[-1]

    return Case(root, {"values": lambda m: [tf.cast(v, tf.complex64) for v in m.parts], "text": lambda m: m.text,
                       "f": lambda m: m.f(), "grown": grown}, {})  # fmt: skip


@case
def captured_constants(tf: Any, folder: str) -> Case:
    root = tf.Module()
    outside, words = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant(["x", "yz"])
    root.f = tf.function(lambda x: (x @ outside, tf.strings.join([words, words])),
                         input_signature=[tf.TensorSpec([None, 2], tf.float32)])  # fmt: skip
    return Case(root, {"f": lambda m: m.f(tf.constant([[1.0, 1.0]])),
                       "gradients": lambda m: gradients(tf, m.f, tf.constant([[1.0, 1.0]]))}, {})  # fmt: skip


@case
def assets_and_tables(tf: Any, folder: str) -> Case:
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("alpha\nbeta\n")
    root = tf.Module()
    root.file = tf.saved_model.Asset(path)
    root.name_of = tf.function(lambda: tf.strings.regex_replace(root.file.asset_path, ".*/", ""), input_signature=[])
    keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    root.table = tf.lookup.StaticHashTable(keys, -1)
    listed = tf.lookup.TextFileInitializer(
        path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
    root.numbered = tf.lookup.StaticHashTable(listed, 9)
    root.find = tf.function(lambda x: (root.table.lookup(x), root.numbered.lookup(x)),
                            input_signature=[tf.TensorSpec([None], tf.string)])  # fmt: skip
    return Case(root, {"name": lambda m: m.name_of(),
                       "find": lambda m: m.find(tf.constant(["a", "beta", "alpha", "?"]))}, {})  # fmt: skip


# Functions, their arguments and results.


@case
def partially_traced(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.f = tf.function(lambda x, flag=False: x * 2.0 if flag else x + 1.0)
    root.f(tf.constant(1.0))
    root.f(tf.constant([1.0, 2.0]), True)
    root.never = tf.function(lambda x: x)
    return Case(root, {
        "scalar": lambda m: m.f(tf.constant(4.0)), "vector": lambda m: m.f(tf.constant([4.0, 5.0]), flag=True),
        "another": lambda m: m.f(tf.constant([4.0, 5.0])), "never": lambda m: m.never(tf.constant(1.0)),
    }, {})  # fmt: skip


@case
def structured_arguments(tf: Any, folder: str) -> Case:
    root = tf.Module()
    s = tf.TensorSpec([None], tf.float32)
    root.f = tf.function(lambda z: {"sum": z["a"][0] + z["b"], "both": (z["a"][1], [z["b"]], None)},
                         input_signature=[{"a": (s, s), "b": s}])  # fmt: skip
    z = {"a": (tf.constant([1.0]), tf.constant([2.0])), "b": tf.constant([3.0])}
    return Case(root, {
        "f": lambda m: m.f(z),
        "structure": lambda m: tf.constant(sorted(m.f(z)) == ["both", "sum"] and m.f(z)["both"][2] is None),
        "gradients": lambda m: gradients(tf, lambda x: m.f({"a": (x, x), "b": x * x})["sum"], tf.constant([3.0])),
    }, {})  # fmt: skip


@case
def default_arguments(tf: Any, folder: str) -> Case:
    root = tf.Module()

    @tf.function
    def f(x: Any, factor: float = 2.0, *, offset: float = 1.0, mode: str = "plain") -> Any:
        return x * factor + offset if mode == "plain" else -x

    root.f = f
    x = tf.constant(3.0)
    f(x), f(x, 4.0), f(x, offset=5.0), f(x, mode="other")
    return Case(root, {
        "plain": lambda m: m.f(x), "position": lambda m: m.f(x, 4.0), "name": lambda m: m.f(x, offset=5.0),
        "text": lambda m: m.f(x, mode="other"), "given": lambda m: m.f(x, factor=2.0), "other": lambda m: m.f(x, 7.0),
    }, {})  # fmt: skip


@case
def bound_methods(tf: Any, folder: str) -> Case:
    class Root(tf.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = tf.Variable(factor)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def scale(self, x: Any) -> Any:
            return self.plain(x) * self.factor

        @tf.function
        def plain(self, x: Any, by: Any = 1.0) -> Any:
            return x + by

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x: Any) -> Any:
            return self.scale(x) + self.other.scale(x)

    root = Root(2.0)
    root.other = Root(3.0)
    root.other.other = root
    x = tf.constant([1.0, 2.0])
    return Case(root, {"call": lambda m: m(x), "scale": lambda m: m.scale(x), "other": lambda m: m.other(x),
                       "plain": lambda m: m.plain(x),
                       "gradients": lambda m: gradients(tf, m, x, of=lambda: [m.factor, m.other.factor])},
                {})  # fmt: skip


@case
def nested_functions(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.v = tf.Variable(2.0)
    root.count = tf.Variable(0)

    @tf.function
    def inner(x: Any) -> Any:
        root.count.assign_add(1)
        return x * root.v

    @tf.function
    def middle(x: Any) -> Any:
        return inner(x) + inner(x * 2.0)

    root.f = tf.function(lambda x: middle(inner(x)), input_signature=[tf.TensorSpec([], tf.float32)])

    def counted(m: Any) -> Any:
        m.f(tf.constant(1.0))
        return m.count

    return Case(root, {"f": lambda m: m.f(tf.constant(3.0)), "counted": counted,
                       "gradients": lambda m: gradients(tf, m.f, tf.constant(3.0), of=lambda: [m.v])}, {})  # fmt: skip


@case
def composite_arguments(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.ragged = tf.function(lambda r: (r * 2.0, tf.reduce_sum(r, axis=1)),
                              input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])  # fmt: skip
    root.sparse = tf.function(lambda s: tf.sparse.to_dense(s) * 2.0,
                              input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])  # fmt: skip
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0], []])
    sparse = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    return Case(root, {
        "ragged": lambda m: m.ragged(ragged), "sparse": lambda m: m.sparse(sparse),
        "gradients": lambda m: gradients(tf, lambda x: m.ragged(ragged.with_flat_values(x))[1], ragged.flat_values),
    }, {})  # fmt: skip


@case
def several_signatures(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.v = tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="right"),
                                  tf.TensorSpec([None], tf.float32, name="left")])  # fmt: skip
    def both(right: Any, left: Any) -> Any:
        return {"difference": left - right, "product": left * right * root.v}

    root.single = tf.function(lambda x: x * root.v)
    concrete = root.single.get_concrete_function(tf.TensorSpec([None], tf.float32, name="x"))
    a, b = tf.constant([1.0, 2.0]), tf.constant([5.0, 7.0])
    return Case(root, {
        "both": lambda m: m.signatures["both"](left=a, right=b),
        "single": lambda m: m.signatures["serving_default"](x=a),
        "names": lambda m: tf.constant(sorted(m.signatures)), "position": lambda m: m.signatures["serving_default"](a),
        "unknown": lambda m: m.signatures["both"](left=a),
    }, {"signatures": {"serving_default": concrete, "both": both}})  # fmt: skip


# Control flow and gradients.


@case
def control_flow(tf: Any, folder: str) -> Case:
    root = tf.Module()
    root.v, root.n = tf.Variable(2.0), tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x: Any, count: Any) -> Any:
        total = tf.constant(0.0)
        for i in tf.range(count):
            if x > 3.0:
                root.n.assign_add(1)
                total += x * root.v
            elif i % 2 == 0:
                total -= x
            x = x * 1.5
            if total > 40.0:
                break
        return total, x

    root.f = f
    root.switch = tf.function(
        lambda i, x: tf.switch_case(i, [lambda: x, lambda: x * root.v, lambda: tf.stop_gradient(x)]),
        input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)],
    )
    root.steps = tf.function(lambda x: tf.scan(lambda a, row: a * 0.5 + row, x),
                             input_signature=[tf.TensorSpec([None, 2], tf.float32)])  # fmt: skip
    x = tf.constant(2.0)
    return Case(root, {
        "f": lambda m: m.f(x, tf.constant(5)), "none": lambda m: m.f(x, tf.constant(0)), "state": lambda m: m.n,
        "gradients": lambda m: gradients(tf, m.f, x, tf.constant(5), of=lambda: [m.v]),
        "switch": lambda m: [m.switch(tf.constant(i), x) for i in (0, 1, 2, 5)],
        "switch gradients": lambda m: [gradients(tf, m.switch, tf.constant(i), x, of=lambda: [m.v]) for i in (0, 1, 2)],
        "steps": lambda m: m.steps(tf.ones([3, 2])),
        "steps gradients": lambda m: gradients(tf, m.steps, tf.ones([3, 2])),
    }, {}, ("gradients",))  # fmt: skip


def _scaled(tf: Any) -> Any:
    @tf.custom_gradient
    def scaled(x: Any, y: Any) -> Any:
        z = x * y
        return z + x, lambda dz: (dz * 3.0 * y, dz * z)

    return scaled


@case
def custom_gradients(tf: Any, folder: str) -> Case:
    root = tf.Module()
    scaled, s = _scaled(tf), tf.TensorSpec([None], tf.float32)
    inner = tf.function(scaled)
    root.plain = tf.function(lambda x, y: scaled(x, y) * 2.0, input_signature=[s, s])
    root.called = tf.function(lambda x, y: inner(inner(x, y), y), input_signature=[s, s])
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0])

    def second(m: Any) -> Any:
        return gradients(tf, lambda a: gradients(tf, m.plain, a, y)[1], x)

    return Case(root, {
        "values": lambda m: [m.plain(x, y), m.called(x, y)],
        "plain": lambda m: gradients(tf, m.plain, x, y), "called": lambda m: gradients(tf, m.called, x, y),
        "second": second,
    }, {})  # fmt: skip


@case
def custom_gradients_in_branches(tf: Any, folder: str) -> Case:
    """TensorFlow cannot differentiate what it loads, unless the custom gradient is in a called function."""
    root = tf.Module()
    scaled, s = _scaled(tf), tf.TensorSpec([None], tf.float32)
    inner = tf.function(scaled)
    root.loop = tf.function(
        lambda x, y: tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, inner(z, y)), [tf.constant(0), x])[1],
        input_signature=[s, s],
    )
    root.bare_loop = tf.function(
        lambda x, y: tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, scaled(z, y)), [tf.constant(0), x])[1],
        input_signature=[s, s],
    )
    root.branch = tf.function(lambda x, y: tf.cond(x[0] > 0.0, lambda: scaled(x, y), lambda: x), input_signature=[s, s])
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0])
    return Case(root, {
        "values": lambda m: [m.loop(x, y), m.bare_loop(x, y), m.branch(x, y), m.branch(-x, y)],
        "loop": lambda m: gradients(tf, m.loop, x, y), "bare loop": lambda m: gradients(tf, m.bare_loop, x, y),
        "branch": lambda m: gradients(tf, m.branch, x, y), "other branch": lambda m: gradients(tf, m.branch, -x, y),
    }, {}, ("bare loop", "branch", "other branch"))  # fmt: skip


# The guides.


@case
def guide_module(tf: Any, folder: str) -> Case:
    class CustomModule(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(1.0)

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.v

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def mutate(self, new_v: Any) -> None:
            self.v.assign(new_v)

    module = CustomModule()
    module(tf.constant(0.0))
    call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
    signatures = {"serving_default": call,
                  "array_input": module.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32))}  # fmt: skip

    def mutated(m: Any) -> Any:
        m.mutate(tf.constant(2.0))
        return m(tf.constant(3.0)), m.signatures["serving_default"](tf.constant([[3.0]]))

    return Case(module, {"call": lambda m: m(tf.constant(3.0)), "mutate": mutated,
                         "array": lambda m: m.signatures["array_input"](tf.constant([1.0, 2.0])),
                         "any rank": lambda m: m(tf.ones([2, 3, 1]))}, {"signatures": signatures})  # fmt: skip


@case
def guide_output_names(tf: Any, folder: str) -> Case:
    class CustomModuleWithOutputName(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def __call__(self, x: Any) -> Any:
            return {"custom_output_name": x * self.v}

    module = CustomModuleWithOutputName()
    call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
    return Case(module, {
        "call": lambda m: m(tf.constant([2.0])),
        "signature": lambda m: m.signatures["serving_default"](tf.constant(2.0)),
        "names": lambda m: tf.constant(list(m.signatures["serving_default"].structured_outputs)),
    }, {"signatures": call})  # fmt: skip


@case
def guide_custom_gradient(tf: Any, folder: str) -> Case:
    @tf.custom_gradient
    def clip_gradients(y: Any) -> Any:
        return y, lambda dy: tf.clip_by_norm(dy, 0.5)

    class MyModule(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None)])
        def call_custom_grad(self, x: Any) -> Any:
            return clip_gradients(x)

    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    return Case(MyModule(), {
        "gradient": lambda m: gradients(tf, lambda v: m.call_custom_grad(v * v), tf.constant(2.0)),
        "vector": lambda m: gradients(tf, lambda v: m.call_custom_grad(v * v), tf.constant([3.0, 4.0])),
    }, {"options": options})  # fmt: skip


@case
def guide_unknown_sizes(tf: Any, folder: str) -> Case:
    class Scaler(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean, self.w, self.b = tf.Variable(tf.ones([9])), tf.Variable(tf.ones([9, 1]) * 0.5), tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
        def __call__(self, x: Any) -> Any:
            return (x - self.mean) @ self.w + self.b

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
        def difference(self, x: Any) -> Any:
            return x - tf.ones([9])

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None], tf.float32)])
        def loss(self, x: Any, y: Any) -> Any:
            return tf.reduce_mean((tf.squeeze(self(x), 1) - y) ** 2)

    x = tf.reshape(tf.range(18.0), [2, 9])
    return Case(Scaler(), {
        "call": lambda m: m(x), "difference": lambda m: m.difference(x), "row": lambda m: m.difference(x[:1]),
        "broadcast": lambda m: m.difference(x[:, :1]), "loss": lambda m: m.loss(x, tf.constant([1.0, 2.0])),
        "gradients": lambda m: gradients(tf, m.loss, x, tf.constant([1.0, 2.0]), of=lambda: [m.mean, m.w, m.b]),
    }, {})  # fmt: skip


def _strategy(tf: Any) -> Any:
    return tf.distribute.MirroredStrategy(["CPU:0"])


@case
def guide_mirrored_strategy(tf: Any, folder: str) -> Case:
    with _strategy(tf).scope():
        root = tf.Module()
        root.w, root.b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    spec = tf.TensorSpec([None, 2], tf.float32, name="x")
    root.f = tf.function(lambda x: x @ root.w + root.b, input_signature=[spec])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])

    def distributed(m: Any) -> Any:
        strategy = _strategy(tf)
        dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(2))
        serve = m.signatures["serving_default"]
        run = tf.function(lambda batch: strategy.run(lambda part: serve(x=part)["output_0"], args=(batch,)))
        return [strategy.experimental_local_results(run(batch))[0] for batch in dataset]

    return Case(root, {"f": lambda m: m.f(x), "distributed": distributed,
                       "gradients": lambda m: gradients(tf, m.f, x, of=lambda: [m.w, m.b])}, {})  # fmt: skip


@case
def variables_synchronized_on_read(tf: Any, folder: str) -> Case:
    with _strategy(tf).scope():
        root = tf.Module()
        kinds = {"mean": tf.VariableAggregation.MEAN, "sum": tf.VariableAggregation.SUM,
                 "first": tf.VariableAggregation.ONLY_FIRST_REPLICA}  # fmt: skip
        root.parts = {name: tf.Variable(1.0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
                                        aggregation=kind) for name, kind in kinds.items()}  # fmt: skip

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def update(x: Any) -> Any:
        for name in sorted(root.parts):
            root.parts[name].assign_add(x)
        return [root.parts[name].read_value() for name in sorted(root.parts)]

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def decay(x: Any) -> Any:
        root.parts["mean"].assign(root.parts["mean"] * 0.9 + x * 0.1)
        root.parts["mean"].assign_sub(0.5)
        return root.parts["mean"] * 1.0

    root.update, root.decay = update, decay
    return Case(root, {"update": lambda m: m.update(tf.constant(2.0)), "again": lambda m: m.update(tf.constant(2.0)),
                       "decay": lambda m: m.decay(tf.constant(3.0)),
                       "values": lambda m: [m.parts[name] for name in sorted(m.parts)]}, {})  # fmt: skip
