"""The syntax of Pythons that are newer than the oldest supported one, and annotations as they evaluate them.

The programs are text, because the oldest Python cannot parse them.
"""

import linecache
import sys

import pytest

import gradtape as tf
from gradtape.engine.run.signatures import annotations_of, signature_of
from gradtape.graph.trace.conversion_status import has_conditions


@pytest.fixture
def run(request):
    """Runs a program that has a file, from which AutoGraph reads it, and returns its names."""

    def run(program):
        file = f"<{request.node.name}>"
        linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
        request.addfinalizer(lambda: linecache.cache.pop(file))
        names = {"tf": tf, "__name__": __name__}
        exec(compile(program, file, "exec", dont_inherit=True), names)
        return names

    return run


def since(major, minor):
    """Returns the mark of tests that need this version of Python."""
    return pytest.mark.skipif(sys.version_info < (major, minor), reason=f"needs Python {major}.{minor}")


@pytest.mark.parametrize(
    "annotation", [pytest.param("Undefined", marks=since(3, 14)), "'Undefined'"], ids=["lazy", "text"]
)
def test_annotations_of_functions_need_not_be_defined(run, annotation, tmp_path):
    names = run(f"""
@tf.function
def scaled(x: {annotation}, scale: {annotation} = 2.0, *rest: {annotation}) -> {annotation}:
    y: {annotation} = x
    def double(z: {annotation}) -> {annotation}:
        if z > 0:
            z = 2.0 * z
        return z
    return double(y) * scale

@tf.custom_gradient
def clipped(x: {annotation}, bound: {annotation}):
    def grad(g: {annotation}, variables: {annotation} = None):
        return g * bound, None
    return tf.minimum(x, bound), grad

class Scale(tf.Module):
    factor: {annotation}
    def __init__(self):
        self.factor = tf.Variable(3.0)
    @tf.function(input_signature=[tf.TensorSpec([])])
    def __call__(self, x: {annotation}) -> {annotation}:
        return self.factor * x
""")
    assert [names["scaled"](tf.constant(x)).numpy() for x in (1.0, -1.0)] == [4.0, -2.0]
    assert "scale (POSITIONAL_OR_KEYWORD): Literal[2.0]" in names["scaled"].pretty_printed_concrete_signatures()
    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = names["clipped"](x, bound=tf.constant(3.0))
    assert tape.gradient(y, x).numpy() == 3.0
    tf.saved_model.save(names["Scale"](), str(tmp_path))
    assert tf.saved_model.load(str(tmp_path))(2.0).numpy() == 6.0
    assert tf.inspect.check_gradients(names["scaled"].python_function, [0.5]).ok
    assert [*signature_of(names["scaled"].python_function).parameters] == ["x", "scale", "rest"]
    assert [*annotations_of(names["Scale"])] == ["factor"]


@since(3, 14)
def test_fields_may_have_the_type_that_is_being_defined(run):
    node = run("""
class Node(tf.experimental.ExtensionType):
    value: tf.Tensor
    child: Node | None = None
    others: tuple[Node, ...] = ()
    later: Later | None = None
""")
    Node = node["Node"]
    with pytest.raises(TypeError, match="is the name defined by now"):
        Node(1.0)
    node["Later"] = Node
    tree = Node(1.0, Node(2.0), [Node(3.0)])
    assert tree.child.value.numpy() == 2.0 and tree.others[0].child is None and tree.later is None
    assert tf.function(lambda x: x.value + x.child.value + x.others[0].value)(tree).numpy() == 6.0
    with pytest.raises(TypeError, match="child"):
        Node(1.0, 2.0)


@since(3, 12)
def test_type_parameters(run):
    names = run("""
import typing

@tf.function
def larger[T: (int, float), *Ts, **P](x: T, *rest: *Ts) -> T:
    def absolute[V](z: V) -> list[V]:
        y: T = z
        if z < 0:
            y = -z
        return y
    y = absolute(x)
    for z in tf.range(2.0):
        y = y + typing.cast(T, z)
    return y

class Layer[T](tf.Module):
    weight: T
    @tf.function
    def __call__(self, x: T) -> T:
        return x * 2.0 if x > 0 else x

class Pair[T](tf.experimental.ExtensionType):
    left: tf.Tensor
""")
    assert [names["larger"](tf.constant(x)).numpy() for x in (-3.0, 2.0)] == [4.0, 3.0]
    assert [names["Layer"]()(tf.constant(x)).numpy() for x in (-3.0, 2.0)] == [-3.0, 4.0]
    assert names["Pair"](1.0).left.numpy() == 1.0


@since(3, 14)
def test_template_strings_and_exceptions_without_parentheses(run):
    names = run("""
@tf.function
def f(x, table, key):
    template = t"{x} is the value, {key!r:>{3}}"
    try:
        y = table[key]
    except KeyError, IndexError:
        y = 0.0
    if x > 0:
        y = y + template.interpolations[0].value
    return y
""")
    assert [names["f"](tf.constant(x), {"a": 3.0}, key).numpy() for x in (1.0, -1.0) for key in "ab"] == [4, 1, 3, 0]


@since(3, 15)
def test_unpacking_in_comprehensions(run):
    names = run("""
lazy import math
lazy from math import tau

@tf.function
def f(x, tables):
    item_0 = 10
    merged = {**table for table in tables if table}
    values = [*table.values() for table in tables]
    keys = {*table for table in tables}
    total = sum((*(value, item_0) for value in values))
    if x > 0:
        total = total * x + math.floor(tau)
    return total, merged, len(keys)
""")
    total, merged, count = names["f"](tf.constant(2.0), [{"a": 1.0}, {}, {"b": 2.0, "a": 3.0}])
    assert total.numpy() == 36 * 2 + 6 and int(count) == 2
    assert {name: float(value) for name, value in merged.items()} == {"a": 3.0, "b": 2.0}


def test_comprehensions_over_an_argument_are_loops():
    """The first look decides from the bytecode, which has changed with almost every Python."""

    def after_an_assignment(x, empty=()):
        total = empty
        for y in x:
            total = (*total, y)
        return total

    def of_a_constant(x):
        total = x
        for y in ((), (1, 2)):
            total = total + y
        return total

    loops = [lambda x: [y for y in x], lambda x: {y: 1 for y in x}, lambda n, x: (n, [y + n for y in x])]
    loops += [lambda n: [i for i in tf.range(n)], lambda x: {(lambda: y)() for y in x}]
    loops.append(after_an_assignment)
    others = [of_a_constant, lambda x: [y for y in (1, 2)], lambda x: [0 for _ in range(3)] + x, lambda x: x + 5]
    assert [has_conditions(f) for f in loops + others] == [True] * len(loops) + [False] * len(others)
