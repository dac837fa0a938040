"""Functions as `GraphDef`s, and `GraphDef`s as graphs that can be run."""

import random
from pathlib import Path

import numpy as np
import pytest
from test_command_line import gradtape, script  # noqa: F401  a fixture among them

import gradtape as tf

pytest.importorskip("google.protobuf")
from gradtape_tensorflow.graph_defs.freezing import convert_variables_to_constants_v2
from gradtape_tensorflow.protos import generated

v1 = tf.compat.v1
rng = np.random.default_rng(0)
kernel = tf.Variable(rng.normal(size=(3, 3, 2, 4)).astype("float32"), name="conv/kernel")
weights = tf.Variable(rng.normal(size=(4, 5)).astype("float32"), name="w")
table = tf.Variable(rng.normal(size=(7, 3)).astype("float32"), name="table")


def convolution(x):
    y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 2, "SAME")), 2, 2, "VALID")
    return tf.nn.softmax(tf.reduce_mean(y, [1, 2]) @ weights)


def lookup(i):
    y = tf.gather(table, i)
    return {"sum": tf.reduce_sum(y, -1), "part": tf.split(y, 3, -1)[1], "i": tf.cast(i, tf.float32)[..., None]}


def control(x):
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y + 1), (0, y))
    return y, tf.stack([x, y], 1), tf.unique(tf.cast(x, tf.int32))[0]


CASES = {
    "convolution": (convolution, tf.TensorSpec([None, 8, 8, 2], name="x"), rng.normal(size=(2, 8, 8, 2))),
    "lookup": (lookup, tf.TensorSpec([None, None], tf.int32, name="i"), rng.integers(0, 7, (2, 4))),
    "control": (control, tf.TensorSpec([None], name="x"), [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_frozen_function_is_a_graph_with_constants(name):
    function, spec, value = CASES[name]
    x = tf.constant(value, spec.dtype)
    concrete = tf.function(function).get_concrete_function(spec)
    expected = tf.nest.flatten(concrete(x))
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    assert tf.nest.map_structure(np.shape, frozen(x)) == tf.nest.map_structure(np.shape, concrete(x))
    graph_def = v1.GraphDef.FromString(frozen.graph.as_graph_def(add_shapes=True).SerializeToString())
    assert not {"ReadVariableOp", "VarHandleOp"} & {node.op for node in graph_def.node}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with v1.Session() as session:
            assert v1.get_default_session() is session
            found = session.run([y.name for y in frozen.outputs], {frozen.inputs[0].name: np.asarray(value)})
    for y, its, tensor in zip(found, expected, concrete.outputs, strict=True):
        np.testing.assert_allclose(y, its, rtol=1e-5)
        assert graph.get_tensor_by_name(tensor.name).shape.is_compatible_with(its.shape)
    for node in graph_def.node:  # the shapes that were written are those that the ops have
        stated = [shape for shape in node.attr["_output_shapes"].list.shape]
        assert len(stated) == len(graph.get_operation_by_name(node.name).outputs)


def test_shapes_are_inferred():
    function, spec, _ = CASES["convolution"]
    frozen = convert_variables_to_constants_v2(tf.function(function).get_concrete_function(spec))
    stated = {op.name: [x.shape for x in op.outputs] for op in frozen.graph.get_operations()}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen.graph.as_graph_def(), name="")
    assert {op.name: [x.shape for x in op.outputs] for op in graph.get_operations()} == stated


def test_variables_are_inputs_of_a_functions_graph():
    concrete = tf.function(lambda x: x @ weights).get_concrete_function(tf.TensorSpec([2, 4], name="x"))
    assert [(x.name, x.dtype) for x in concrete.inputs] == [("x:0", tf.float32), ("w_resource:0", tf.resource)]
    assert [(y.name, y.shape.as_list()) for y in concrete.outputs] == [("Identity:0", [2, 5])]
    assert [node.op for node in concrete.graph.as_graph_def().node] == [
        "Placeholder", "Placeholder", "ReadVariableOp", "MatMul", "Identity",
    ]  # fmt: skip
    definition = concrete.function_def
    assert [argument.name for argument in definition.signature.input_arg] == ["x", "w_resource"]
    assert dict(definition.ret) == {"output_0": "Identity:output:0"}
    assert [x.name for x in concrete.graph.function_captures.by_val_internal.values()] == ["w_resource:0"]


def test_tensorflows_frozen_graph():
    """`tests/data/frozen_graph.pb` is a function with a product, a reversed slice, a branch and a split."""
    data = (Path(__file__).parent / "data" / "frozen_graph.pb").read_bytes()
    graph_def = v1.GraphDef.FromString(data)
    with tf.Graph().as_default():
        whole, part = tf.import_graph_def(graph_def, name="read", return_elements=["Identity:0", "Identity_1:0"])
        assert (part.name, part.shape.as_list()) == ("read/Identity_1:0", [None, 1])
        session = v1.Session()
        for x, expected in (
            ([[1.0, 2.0, 3.0], [-1.0, 0.0, 4.0]], [[[4.0, 0.5], [0.0, 1.0]], [[0.5], [1.0]]]),
            ([[-1.0, -2.0, -3.0]], [[[1.0, 1.0]], [[0.0]]]),
        ):
            assert [y.tolist() for y in session.run((whole, part), {"read/x:0": x})] == expected
        with pytest.raises(tf.errors.InvalidArgumentError, match="feed a value for placeholder tensor 'read/x'"):
            session.run(whole)
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(whole, {"read/x:0": [1.0]})

    @tf.function
    def scaled(x):
        return tf.import_graph_def(graph_def, {"x:0": 2.0 * x}, ["Identity_1:0"])[0]

    x = tf.Variable([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = scaled(x)
    assert y.numpy().tolist() == [[1.0]] and tape.gradient(y, x).numpy().tolist() == [[2.0, -2.0, 1.0]]


UNARY = [tf.sin, tf.nn.relu, tf.transpose, tf.math.square, lambda x: tf.reduce_sum(x, 0, keepdims=True) + x,
         lambda x: tf.concat([x, x], 0)[: tf.shape(x)[0]], lambda x: tf.reshape(x, tf.shape(x)[::-1]),
         lambda x: tf.where(x > 0, x, -x), lambda x: tf.pad(x, [[1, 0], [0, 1]])[1:, :-1]]  # fmt: skip
BINARY = [tf.add, tf.multiply, tf.maximum, lambda x, y: x @ y, lambda x, y: x - tf.reduce_mean(y)]


@pytest.mark.parametrize("seed", range(8))
def test_random_functions(seed):
    choice = random.Random(seed)
    steps = [choice.choice(UNARY + BINARY) for _ in range(6)]

    def function(x, y):
        for step in steps:
            x, y = y, step(x, y) if step in BINARY else step(x)
        return x, y

    concrete = tf.function(function).get_concrete_function(
        tf.TensorSpec([3, 3], name="x"), tf.TensorSpec([3, 3], name="y")
    )
    given = np.random.default_rng(seed).normal(size=(2, 3, 3)).astype("float32")
    expected = concrete(*map(tf.constant, given))
    with tf.Graph().as_default():
        tf.import_graph_def(concrete.graph.as_graph_def(), name="")
        found = v1.Session().run([y.name for y in concrete.outputs], dict(zip(["x:0", "y:0"], given, strict=True)))
    for y, its in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, its, rtol=1e-4, atol=1e-5)


def test_parts_of_graphs_and_files(tmp_path):
    wave = tf.function(lambda x: (tf.sin(x), tf.cos(x))).get_concrete_function(tf.TensorSpec([], name="x"))
    graph_def = wave.graph.as_graph_def()
    part = v1.graph_util.extract_sub_graph(graph_def, ["Cos"])
    assert [node.name for node in part.node] == ["x", "Cos"]
    with pytest.raises(AssertionError, match="Tan is not in graph"):
        v1.graph_util.extract_sub_graph(graph_def, ["Tan"])
    with pytest.raises(AssertionError, match='-  name: "Sin"'):
        tf.test.assert_equal_graph_def(graph_def, part)
    tf.test.assert_equal_graph_def(graph_def, graph_def)
    from google.protobuf import text_format

    path = tf.io.write_graph(wave.graph, tmp_path, "wave.pbtxt")
    assert text_format.Parse(Path(path).read_text(), v1.GraphDef()) == graph_def


def test_what_a_graph_has():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, None], name="x")
        assert (x.name, x.shape.as_list(), x.op.type, x.op.get_attr("dtype")) == (
            "x:0",
            [2, None],
            "Placeholder",
            tf.float32,
        )
        assert graph.get_tensor_by_name("x:0") is x and graph.as_graph_element("x") is x.op
        for name, error in {"x": ValueError, "z:0": KeyError, "x:1": KeyError}.items():
            with pytest.raises(error):
                graph.get_tensor_by_name(name)
        with pytest.raises(KeyError, match="not in the graph"):
            graph.get_operation_by_name("z")
        bad = v1.GraphDef(node=[v1.NodeDef(name="a", op="NoSuchOp")])
        with pytest.raises(ValueError, match="Op type not registered 'NoSuchOp'"):
            tf.import_graph_def(bad)
        bad = v1.GraphDef(node=[v1.NodeDef(name="a", op="Identity", input=["b"])])
        with pytest.raises(ValueError, match="no node 'b'"):
            tf.import_graph_def(bad)
    with pytest.raises(TypeError, match="GraphDef proto"):
        tf.import_graph_def("graph")
    pair = x.op.op_def
    assert isinstance(pair, generated.message_class("OpDef")) and pair.output_arg[0].type_attr == "dtype"


def test_a_function_without_one_graph_says_so():
    @tf.function
    def counted(x):
        return tf.py_function(lambda y: y + 1.0, [x], tf.float32)

    counted(tf.zeros([2]))
    concrete = counted.get_concrete_function(tf.TensorSpec([2], name="x"))
    assert concrete.inputs[0].name == "x:0" and concrete.outputs[0].name == "Identity:0"
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be written as a graph"):
        concrete.graph.as_graph_def()


def test_without_protobuf_graphs_are_listed(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import sys
        sys.modules["google.protobuf"] = None
        import tensorflow as tf
        concrete = tf.function(tf.sin).get_concrete_function(tf.TensorSpec([]))
        print([op.type for op in concrete.graph.get_operations()])
        for ask in (concrete.graph.as_graph_def, lambda: tf.make_tensor_proto(1), lambda: tf.compat.v1.GraphDef):
            try:
                ask()
            except ImportError as error:
                print("pip install protobuf" in str(error))
        """
    ))  # fmt: skip
    assert done.stdout == "['Placeholder', 'Sin', 'Identity']\nTrue\nTrue\nTrue\n", done.stderr


def test_what_converters_import(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import tensorflow as tf
        from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
        from tensorflow.python.framework import c_api_util
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
        from tensorflow.python.framework.function_def_to_graph import function_def_to_graph
        from tensorflow.python.grappler import tf_optimizer

        v = tf.Variable([1.0, 2.0], name="v")
        branch = lambda x: tf.cond(x[0] > 0.0, lambda: {"y": x * v}, lambda: {"y": x})
        concrete = tf.function(branch).get_concrete_function(tf.TensorSpec([2], name="x"))
        assert concrete.structured_outputs["y"].name == concrete.outputs[0].name == "Identity:0"
        graph_def = convert_variables_to_constants_v2(concrete).graph.as_graph_def(add_shapes=True)
        node = next(node for node in graph_def.node if node.op == "StatelessIf")
        branch = next(f for f in graph_def.library.function if f.signature.name == node.attr["then_branch"].func.name)
        graph = function_def_to_graph(branch, input_shapes=[[2]] * len(branch.signature.input_arg))
        assert "tensorflow.python.framework.func_graph.FuncGraph" in str(type(graph))
        assert [op.type for op in graph.get_operations()][-2:] == ["Mul", "Identity"], graph.get_operations()
        assert graph.outputs[0].shape == [2]
        meta_graph = tf.compat.v1.train.export_meta_graph(graph_def=graph_def)
        wanted = meta_graph_pb2.CollectionDef()
        wanted.node_list.value.append("Greater:0")
        meta_graph.collection_def["train_op"].CopyFrom(wanted)
        found = tf_optimizer.OptimizeGraph(config_pb2.ConfigProto(), meta_graph)
        assert [node.op for node in found.node][-1] == "Greater" and len(found.node) < len(graph_def.node)
        assert c_api_util.ApiDefMap().get_op_def("MatMul").input_arg[1].name == "b"
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


def test_wrapped_functions():
    def scale(x):
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        return {"y": x * w + tf.Variable(1.0, name="b")}

    wrapped = v1.wrap_function(scale, [tf.TensorSpec([2], name="x")])
    assert [v.name for v in wrapped.variables] == ["w:0", "b:0"] and len(wrapped.trainable_variables) == 2
    assert wrapped(tf.constant([1.0, 2.0]))["y"].numpy().tolist() == [2.0, 3.0]
    product = wrapped.prune(wrapped.inputs[0], "Mul:0")
    with tf.GradientTape() as tape:
        y = product(tf.constant([3.0, 4.0]))
    gradients = tape.gradient(y, wrapped.variables, unconnected_gradients="zero")
    assert [g.numpy().tolist() for g in gradients] == [[3.0, 4.0], 0.0]

    data = (Path(__file__).parent / "data" / "frozen_graph.pb").read_bytes()
    frozen = v1.wrap_function(lambda: v1.import_graph_def(v1.GraphDef.FromString(data), name=""), [])
    x, part = map(frozen.graph.as_graph_element, ("x:0", "Identity_1:0"))
    pruned = frozen.prune(x, {"part": part})
    assert pruned.structured_outputs == {"part": tf.TensorSpec([None, 1])}
    assert tf.function(lambda x: pruned(x)["part"])(tf.constant([[1.0, 2.0, 3.0]])).numpy().tolist() == [[0.5]]
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        frozen.prune("x", part)
    with pytest.raises(TypeError, match="consist of specs"):
        v1.wrap_function(scale, [2.0])


def test_tensors_of_graphs_say_that_no_op_computes_with_them():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        with tf.GradientTape() as tape, pytest.raises(ValueError, match=r"ExtensionType\. It has no value: .*op by op"):
            tape.watch(x)
        for compute in (lambda: x * x, lambda: 1.0 - x, lambda: -x, lambda: x[0], lambda: x > 1.0):
            with pytest.raises(TypeError, match=r"'Placeholder:0' .* has no value .* Call functions of tensors"):
                compute()
        with pytest.raises(ValueError, match=r"unsupported type .* Call functions of tensors"):
            tf.square(x)
