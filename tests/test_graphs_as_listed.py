"""`tf.Graph` and a function's graph as TensorFlow lists it; the lists are TensorFlow's."""

import pytest

import gradtape as tf


def listed(concrete):
    return [(op.name, op.type, [x.name for x in op.inputs]) for op in concrete.graph.get_operations()]


def test_the_operations_of_a_function():
    @tf.function
    def f(x):
        return tf.nn.relu(tf.matmul(x, x))

    concrete = f.get_concrete_function(tf.TensorSpec([2, 2]))
    assert listed(concrete) == [
        ("x", "Placeholder", []), ("MatMul", "MatMul", ["x:0", "x:0"]), ("Relu", "Relu", ["MatMul:0"]),
        ("Identity", "Identity", ["Relu:0"]),
    ]  # fmt: skip
    nodes = [(n.name, n.op, list(n.input)) for n in concrete.graph.as_graph_def().node]
    assert nodes == [
        ("x", "Placeholder", []), ("MatMul", "MatMul", ["x", "x"]), ("Relu", "Relu", ["MatMul"]),
        ("Identity", "Identity", ["Relu"]),
    ]  # fmt: skip
    assert concrete.graph.building_function
    assert isinstance(concrete.graph, tf.Graph)


def test_constants_and_repeated_names():
    @tf.function
    def f(x):
        return (x * x) * 2.0 + 1.0

    types = [op.type for op in f.get_concrete_function(tf.TensorSpec([3])).graph.get_operations()]
    assert types == ["Placeholder", "Mul", "Const", "Mul", "Const", "AddV2", "Identity"]
    names = [op.name for op in f.get_concrete_function(tf.TensorSpec([3])).graph.get_operations()]
    assert names == ["x", "Mul", "Const", "Mul_1", "Const_1", "AddV2", "Identity"]


def test_an_operation_answers():
    concrete = tf.function(lambda x: tf.reduce_sum(x, 1)).get_concrete_function(tf.TensorSpec([2, 3]))
    step = concrete.graph.get_operation_by_name("Sum")
    assert isinstance(step, tf.Operation)
    assert (step.outputs[0].shape.as_list(), step.outputs[0].dtype, step.values()[0].name) == ([2], tf.float32, "Sum:0")
    assert step.get_attr("axis") == (1,)
    with pytest.raises(ValueError, match="no attr named"):
        step.get_attr("colour")
    with pytest.raises(KeyError, match="not in the graph"):
        concrete.graph.get_operation_by_name("Prod")


def test_variables_are_read_and_assigned():
    v = tf.Variable(1.0, name="v")

    @tf.function
    def f(x):
        v.assign_add(x)
        return x

    types = [op.type for op in f.get_concrete_function(tf.TensorSpec([])).graph.get_operations()]
    assert "ReadVariableOp" in types
    assert "AssignVariableOp" in types


def test_the_default_graph():
    graph = tf.Graph()
    with graph.as_default() as entered:
        assert entered is graph is tf.compat.v1.get_default_graph()
        assert float(tf.constant(1.0) + 2.0) == 3.0
    assert tf.compat.v1.get_default_graph() is not graph
    assert not tf.compat.v1.get_default_graph().building_function
    assert graph.get_operations() == []
    inside = tf.function(lambda: tf.constant(tf.compat.v1.get_default_graph().building_function))
    assert bool(inside())


def test_names_and_collections_of_a_graph():
    graph = tf.Graph()
    assert [graph.unique_name("a"), graph.unique_name("a"), graph.unique_name("b")] == ["a", "a_1", "b"]
    graph.add_to_collection("kept", 1)
    assert graph.get_collection("kept") == [1]
    assert graph.get_all_collection_keys() == ["kept"]
    graph.clear_collection("kept")
    assert graph.get_collection("kept") == []
