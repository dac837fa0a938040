"""Private TensorFlow modules that libraries import."""

from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from test_command_line import gradtape, script, with_keras  # noqa: F401  a fixture among them

import gradtape as tf
from gradtape.api.nn.initializers import compute_fans
from gradtape_tensorflow import python as private
from gradtape_tensorflow.python.autograph.impl.api import tf_convert
from gradtape_tensorflow.python.checkpoint import objects
from gradtape_tensorflow.python.data.util import structure
from gradtape_tensorflow.python.framework.composite_tensor import convert_variables_to_tensors
from gradtape_tensorflow.python.framework.graphs import FuncGraph
from gradtape_tensorflow.python.framework.smart_cond import smart_cond
from gradtape_tensorflow.python.ops.linalg.sparse import sparse, sparse_csr_matrix_ops
from gradtape_tensorflow.python.ops.parallel_for.control_flow_ops import for_loop, pfor
from gradtape_tensorflow.python.table import EXPORTED, MODULES
from gradtape_tensorflow.python.types import core as types_core
from gradtape_tensorflow.python.util import deprecation, nest, object_identity, tf_decorator, tf_inspect

Point = namedtuple("Point", "x y")


def test_libraries_find_what_they_import(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import pickle
        import tensorflow as tf
        import tensorflow.python as tfpy
        from tensorflow.python.eager import context
        from tensorflow.python.framework import ops, tensor_util
        from tensorflow.python.ops import array_ops, control_flow_util, math_ops
        from tensorflow.python.ops.parallel_for.control_flow_ops import pfor
        from tensorflow.python.util import nest, tf_inspect

        x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0])
        assert type(x).__module__.startswith("tensorflow.python.") and type(v).__module__.startswith("tensorflow.")
        for value in (x, v):
            text = pickle.dumps(value)
            assert b"tensorflow" not in text and pickle.loads(text).numpy().tolist() == value.numpy().tolist()
        assert isinstance(x, ops.EagerTensor) and isinstance(x, ops.Tensor) and tensor_util.is_tf_type(v)
        assert array_ops.where_v2 is tf.where and math_ops.reduce_sum is tf.reduce_sum
        assert context.executing_eagerly() and not control_flow_util.GraphOrParentsInXlaContext(None)
        assert nest.flatten_up_to([0, 0], [[1], 2]) == [[1], 2]
        assert tf_inspect.getfullargspec(tf.rank).annotations == {}
        assert pfor(lambda i: i * i, 4).numpy().tolist() == [0, 1, 4, 9]
        assert tf.__internal__.CompositeTensor is not None

        @tf.function
        def f(t):
            assert not context.executing_eagerly() and isinstance(t, ops.SymbolicTensor)
            assert not isinstance(t, ops.EagerTensor) and type(t).__module__.startswith("tensorflow.python.")
            return t

        f(x)
        record = tfpy.eager.record.should_record_backprop
        assert not record([x])
        with tf.GradientTape() as tape:
            assert record([v]) and not record([x])
            tape.watch(x)
            assert record([x])
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


def test_classes_of_a_library_are_variables_and_tensors_beside_other_things(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import abc
        import tensorflow as tf
        from tensorflow.experimental.numpy import *
        from tensorflow.python.ops import tensor_getitem_override, variables
        from tensorflow.python.types import core

        class Named(abc.ABC):
            @property
            def name(self):
                return self._name

        class Meta(type(tf.Variable), type(Named)):
            pass

        class Derived(variables.Variable, Named, core.Tensor, metaclass=Meta):
            def __init__(self, f):
                self.value = f

            __getitem__ = tensor_getitem_override._slice_helper_var

        class Parameter(tf.Variable, Derived, metaclass=Meta):
            name = Named.name
            dtype = property(lambda self: tf.float64)

            def __init__(self, name, value):
                self._name = name
                tf.Variable.__init__(self, value, dtype=tf.float64)

        tf.register_tensor_conversion_function(Derived, lambda x, dtype=None, name=None, as_ref=False: x.value())
        p = Parameter("p", [1.0, 2.0])
        q = Derived(lambda: p * 3.0)
        for x in (p, q):
            assert isinstance(x, variables.Variable) and isinstance(x, core.Tensor) and isinstance(x, Named)
        assert isinstance(p, tf.Variable) and not isinstance(q, tf.Variable) and p.name == "p"
        assert isinstance(tf.constant(1.0), core.Tensor) and issubclass(tf.Variable, variables.Variable)
        assert type(variables.Variable(1.0)) is tf.Variable
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sqrt(q)) + q[1]
        print(tape.gradient(y, p).numpy().round(4).tolist(), sum(arange(4)).numpy())
        """
    ))  # fmt: skip
    assert done.stdout == "[0.866, 3.6124] 6\n", done.stderr


def test_values_are_those_of_tensorflow():
    pytest.importorskip("absl")
    done = gradtape("run", Path(__file__).parent / "private_program.py")
    assert done.stdout == "all of it\n", done.stderr


def test_flags_of_the_command_line(script):  # noqa: F811
    pytest.importorskip("absl")
    done = gradtape("run", script(
        """
        import tensorflow as tf
        flags = tf.compat.v1.flags
        flags.DEFINE_integer("steps", 3, "how many")
        flags.DEFINE_string("name", default_value="a", docstring="TensorFlow 1's names of the arguments")

        def main(argv):
            print(flags.FLAGS.steps, flags.FLAGS.name, argv[1:])

        tf.compat.v1.app.run()
        """
    ), "--steps=5", "x")  # fmt: skip
    assert done.stdout == "5 a ['x']\n", done.stderr


def test_what_is_missing_is_named_with_who_asked(script):  # noqa: F811
    script("from tensorflow.python.ops.array_ops import no_such_thing", "some_library.py")
    done = gradtape("run", script("import some_library"))
    assert (
        "ModuleNotFoundError: tensorflow.python.ops.array_ops.no_such_thing, which some_library asks for" in done.stderr
    )
    done = gradtape("run", script("from tensorflow.python.ops import array_ops; array_ops.no_such_thing"))
    assert "AttributeError: tensorflow.python.ops.array_ops.no_such_thing, which the program asks for" in done.stderr


@pytest.mark.parametrize("place", MODULES)
def test_every_name_of_the_table_is_there(place):
    if place in ("platform.app", "platform.flags"):
        pytest.importorskip("absl")
    module = private.PrivateModule(f"tensorflow.{place}" if place.startswith("__") else f"{private.ROOT}.{place}")
    for name in module._row:
        assert name == "*" or module._found(name) is not None
    assert module._row or module._file is not None


def test_recorded_names_are_the_public_ones():
    pytest.importorskip("absl")
    found = 0
    for place, names in EXPORTED.items():
        module = private.PrivateModule(f"{private.ROOT}.{place}")
        for name, path in names.items():
            if name not in module._row and (module._file is None or name not in vars(module._file)):
                try:
                    public = private._public(path)
                except AttributeError:
                    continue
                assert module._found(name) is public, (place, name)
                found += 1
    assert found > 1200
    ops = private.PrivateModule("tensorflow.python.ops.array_ops")
    assert ops.gather is tf.compat.v1.gather and ops.gather_v2 is tf.gather


@pytest.mark.parametrize("version", ["init_ops", "init_ops_v2"])
def test_initializers(version):
    ops = private.PrivateModule(f"tensorflow.python.ops.{version}")
    spread = {"VarianceScaling": 1 / 300, "GlorotUniform": 1 / 350, "GlorotNormal": 1 / 350}
    for name, variance in spread.items():
        initializer = getattr(ops, name)(seed=1)
        drawn = initializer([300, 400])
        np.testing.assert_allclose(tf.math.reduce_variance(drawn), variance, rtol=0.02)
        again = type(initializer).from_config(initializer.get_config())
        assert again([2, 2]).shape == (2, 2) and again.get_config() == initializer.get_config()
    assert ops.Constant(3)([1]).numpy() == 3
    with pytest.raises(ValueError, match="positive float"):
        ops.VarianceScaling(scale=-1.0)


def test_initializers_of_matrices():
    assert [compute_fans(shape) for shape in ([], [3], [3, 4], (5, 2, 3, 4))] == [(1, 1), (3, 3), (3, 4), (30, 40)]
    initializers = tf.compat.v1.initializers
    np.testing.assert_allclose(tf.math.reduce_variance(initializers.he_normal(1)([300, 400])), 2 / 300, rtol=0.02)
    rows = initializers.orthogonal()([2, 5])
    np.testing.assert_allclose(rows @ tf.transpose(rows), np.eye(2), atol=1e-5)
    assert initializers.identity(2.0)([2, 2]).numpy().tolist() == [[2, 0], [0, 2]]
    for shape in ([2], [2, 2, 2]):
        with pytest.raises(ValueError, match="at least two-dimensional"):
            initializers.identity()(shape)


def test_paths_and_structures():
    structure = {"b": [1, Point(2, 3)], "a": 4}
    assert list(nest.yield_flat_paths(structure)) == [("a",), ("b", 0), ("b", 1, "x"), ("b", 1, "y")]
    assert nest.flatten_with_joined_string_paths(structure)[2] == ("b/1/x", 2)
    assert nest.map_structure_up_to(Point(0, 0), lambda a, b: [a, b], Point([1], 2), Point(3, [4])) == (
        [[1], 3],
        [2, [4]],
    )
    assert nest.map_structure_with_tuple_paths(lambda path, x: (path, x), [5]) == [((0,), 5)]
    assert nest.list_to_tuple([1, [2], {"a": [3]}]) == (1, (2,), {"a": (3,)})
    shallow = nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [1, (2, 3), [4]])
    assert shallow == [True, False, [True]]
    with pytest.raises(ValueError, match="same sequence length"):
        nest.assert_shallow_structure([0], [1, 2])
    with pytest.raises(TypeError, match="input must also be a sequence"):
        nest.flatten_up_to([0], 1)
    with pytest.raises(TypeError, match="same sequence type"):
        nest.flatten_up_to([0], (1,))


def test_what_decorates_can_be_seen_through():
    def plain(a, b=2):
        return a + b

    wrapped = tf_decorator.make_decorator(plain, lambda *args, **kwargs: plain(*args, **kwargs), "wrapped")
    assert tf_decorator.unwrap(wrapped)[1] is plain and wrapped(1) == 3
    assert tf_inspect.getfullargspec(wrapped).args == ["a", "b"]
    assert tf_inspect.getfullargspec(tf.function(plain)).defaults == (2,)
    assert tf_inspect.getcallargs(plain, 1) == {"a": 1, "b": 2}


def test_deprecations_are_said_once(caplog):
    @deprecation.deprecated(None, "Use g.")
    def f(x):
        return x

    @deprecation.deprecated_args(None, "Leave it out.", "old")
    def g(x, old=None):
        return x

    with deprecation.silence():
        f(0)
    assert [f(1), f(2), g(3), g(4, old=5)] == [1, 2, 3, 4]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2 and "Use g." in said[0] and "with old" in said[1]
    with pytest.raises(ValueError, match="not present"):
        deprecation.deprecated_args(None, "", "no_such_thing")(lambda x: x)


def test_sets_and_mappings_by_identity():
    a, b = [1], [1]
    found = object_identity.ObjectIdentitySet([a])
    assert a in found and b not in found and len(found) == 1
    table = object_identity.ObjectIdentityDictionary()
    table[a], table[b] = "a", "b"
    assert (table[a], table[b], len(table)) == ("a", "b", 2)
    assert isinstance(tf.constant(1).ref(), object_identity.Reference)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_products_of_sparse_matrices(batch):
    drawn = np.random.default_rng(0)
    a, b = (drawn.normal(size=s) * (drawn.uniform(size=s) < 0.4) for s in ((*batch, 4, 5), (*batch, 5, 3)))
    at = tf.where(a != 0)
    entries = tf.Variable(tf.gather_nd(tf.constant(a), at))
    other = sparse.CSRSparseMatrix(b)
    with tf.GradientTape() as tape:
        matrix = sparse.CSRSparseMatrix(tf.SparseTensor(at, entries, a.shape))
        product = sparse.matmul(matrix, other)
        y = tf.reduce_sum(product.to_sparse_tensor().values ** 2)
    assert np.allclose(product.to_dense(), a @ b)
    assert np.allclose(tape.gradient(y, entries), tf.gather_nd(2 * (a @ b) @ np.swapaxes(b, -1, -2), at))
    assert np.allclose(sparse.matmul(matrix, tf.constant(b)), a @ b)
    assert np.allclose(sparse.matmul(tf.constant(a), other), a @ b)
    assert np.allclose(sparse.matmul(matrix, matrix, adjoint_b=True).to_dense(), a @ np.swapaxes(a, -1, -2))
    parts = other.to_sparse_tensor()
    again = sparse_csr_matrix_ops.sparse_tensor_to_csr_sparse_matrix(parts.indices, parts.values, parts.dense_shape)
    found = sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul(matrix, again, tf.float64)
    found = sparse_csr_matrix_ops.csr_sparse_matrix_to_sparse_tensor(found, tf.float64)
    assert np.allclose(tf.sparse.to_dense(found), a @ b)


def test_a_condition_that_is_known_is_pythons():
    assert smart_cond(True, lambda: "a", lambda: "b") == "a" and smart_cond(0, lambda: "a", lambda: "b") == "b"
    assert smart_cond(tf.constant(False), lambda: "a", lambda: "b") == "b"
    f = tf.function(lambda x: smart_cond(x > 0, lambda: x, lambda: -x))
    assert float(f(tf.constant(-2.0))) == 2.0
    with pytest.raises(TypeError, match="must be a Tensor, or a Python bool"):
        smart_cond("yes", lambda: 1, lambda: 2)


def test_modules_of_generated_functions_are_raw_ops():
    ops = private.module("tensorflow.python.ops.gen_math_ops")
    assert ops.mat_mul([[1.0, 2.0]], [[3.0], [4.0]]).numpy().tolist() == [[11.0]]
    assert ops.sqrt(x=4.0).numpy() == 2.0
    with pytest.raises(AttributeError, match="no_such_op"):
        _ = ops.no_such_op


def test_generated_functions_name_their_outputs():
    ops = private.module("tensorflow.python.ops.gen_sparse_ops")
    indices, values, shape = tf.constant([[0, 2], [0, 4]], tf.int64), tf.constant([5, 7]), tf.constant([1, 6], tf.int64)
    result = ops.sparse_split(tf.constant(1, tf.int64), indices, values, shape, num_split=2)
    assert [x.numpy().tolist() for x in result.output_values] == [[5], [7]]


def test_shapes_of_large_tensors_without_values():
    with FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, None, 2, 3])
        assert tf.norm(x, axis=1).shape.as_list() == [None, 2, 3]
        assert tf.math.l2_normalize(x, 0).shape.as_list() == [None, None, 2, 3]
        sizes = tf.compat.v1.placeholder(tf.float32, [None])  # the last axis, which is also the first one
        assert (sizes * tf.compat.v1.placeholder(tf.float32, [None, 4])).shape.as_list() == [None, 4]


def test_loops_of_large_tensors_without_values_run_a_few_iterations():
    rounds = []

    def step(i, x):
        rounds.append(i)
        return i + 1, tf.concat([x[:, :1], x[:, :2]], 1)

    with FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, None])
        size = tf.shape(x)[1]
        last, y = tf.while_loop(lambda i, x: i < size, step, (0, x[:, :3]), maximum_iterations=size)
        assert (tf.zeros([last, 2]).shape.as_list(), y.shape.as_list()) == ([None, 2], [None, 3])
    assert len(rounds) < 10


def test_integers_and_texts_without_values_are_unknown():
    with FuncGraph("scratch").as_default():
        size, steps = (tf.compat.v1.placeholder(tf.int32, shape) for shape in ([], [None]))
        x = tf.compat.v1.placeholder(tf.float32, [None, 8])
        words = tf.strings.split(tf.compat.v1.placeholder(tf.string, [None])).to_tensor()
        found = [tf.zeros([size, 2]), x[:, :: steps[0]], words]
        assert [y.shape.as_list() for y in found] == [[None, 2], [None, None], [None, None]]
        lengths = tf.strings.length(tf.compat.v1.placeholder(tf.string, [None]))
        assert tf.ones(lengths).shape.rank is None  # with as many axes as there are texts


def test_a_batch_of_unknown_size_meets_one_of_known_size():
    def call(x):
        return tf.reshape(x, (tf.shape(x)[0], 3)) @ tf.ones((3, 2)) + tf.ones((5, 2))

    with FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        assert tf_convert(call, None)(x).shape.as_list() == [5, 2]
        total = tf.Variable(tf.zeros((1, 3)))
        assert tf_convert(lambda x: total.assign_add(x) + x, None)(x).shape.as_list() == [1, 3]
    assert total.numpy().tolist() == [[0.0, 0.0, 0.0]]


def test_tables_without_contents_have_shapes():
    class Empty(tf.lookup.KeyValueTensorInitializer):
        def initialize(self, table):
            pass

    table = tf.lookup.StaticHashTable(Empty(["a"], [1]), -1)
    with FuncGraph("scratch").as_default():
        assert table.lookup(tf.compat.v1.placeholder(tf.string, [None, 2])).shape.as_list() == [None, 2]
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        table.lookup(tf.constant(["a"]))


def test_errors_of_converted_functions_name_the_users_lines():
    def fail(x):
        raise TypeError("a message")

    with FuncGraph("scratch").as_default(), pytest.raises(TypeError, match=r"(?s)in user code.*in fail.*a message"):
        tf_convert(fail, None)(tf.compat.v1.placeholder(tf.float32, [None]))


def test_a_decorator_of_a_decorated_method_takes_no_instance():
    class Owner:
        def call(self, x, training=None):
            return x, training

    spec = tf_inspect.getfullargspec(Owner().call)
    inner = tf_decorator.make_decorator(Owner().call, lambda *args, **kwargs: None)
    outer = tf_decorator.make_decorator(inner, lambda *args, **kwargs: None, decorator_argspec=spec)
    assert list(outer.__signature__.parameters) == ["x", "training"]


def test_what_declares_itself_a_tensor_is_one():
    assert tf.is_tensor(type("Declared", (types_core.Tensor,), {})())


def test_a_scalar_tensor_is_the_shape_of_a_vector():
    assert tf.TensorShape(tf.constant(3)) == tf.TensorShape(np.array(3)) == [3]


def test_a_variable_of_every_worker():
    assert float(tf.Variable(1.0, per_worker_variable=True)) == 1.0


def test_objects_of_a_checkpoint():
    module = tf.Module()
    module.v = tf.Variable(1.0)
    found, paths = objects.ObjectGraphView(module).breadth_first_traversal()
    assert [id(x) for x in found] == [id(x) for x in objects.list_objects(module)] == [id(module), id(module.v)]
    assert [reference.name for reference in paths[module.v]] == ["v"]


def test_specs_of_the_values_of_a_dataset():
    specs = structure.type_spec_from_value({"a": tf.constant(1.0), "b": (2, "c")})
    assert specs == {"a": tf.TensorSpec([]), "b": (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))}
    with pytest.raises(TypeError, match="Could not build a `TypeSpec` for 2 with type int"):
        structure.type_spec_from_value((tf.constant(1.0), 2), use_fallback=False)


def test_an_operator_without_its_variables():
    operator = tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0]))
    converted = convert_variables_to_tensors(operator)
    assert (len(operator.trainable_variables), len(converted.trainable_variables)) == (1, 0)
    assert converted.to_dense().numpy().tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_a_vectorized_loop_of_no_rounds_has_the_shape_of_one_round():
    assert pfor(lambda i: tf.ones((2, 3)), 0).shape == (0, 2, 3)
    assert for_loop(lambda i: tf.ones((2, 3)), tf.float32, 0).shape == (0, 2, 3)
    assert for_loop(lambda i: 2 * i, tf.int32, 3).numpy().tolist() == [0, 2, 4]


def test_specs_of_ragged_shapes_of_uniform_ones():
    spec = tf.experimental.DynamicRaggedShape.Spec._from_tensor_shape([5, 3, None, 4], 2, tf.int32)
    assert (spec.num_row_partitions, spec.inner_rank, spec.rank, spec.dtype) == (2, 2, 4, tf.int32)
    with pytest.raises(ValueError, match="must be less than rank"):
        tf.experimental.DynamicRaggedShape.Spec._from_tensor_shape([2, 3], 2, tf.int64)


@pytest.mark.parametrize("shape", [[2, 3], [None, 3], [2, 500, 3], [None, None, 3]])
def test_gradients_of_tensors_without_values(shape):
    v = tf.Variable([1.0, 2.0, 3.0])

    def call(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * v
        return tape.gradient(y, [x, v])

    with FuncGraph("scratch").as_default():
        found = tf_convert(call, None)(tf.compat.v1.placeholder(tf.float32, shape))
    assert [g.shape.as_list() for g in found] == [shape, [3]]
