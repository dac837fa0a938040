"""The catalogue: every row has its names, its signature, an example that prints what it says, and a working front."""

import ast
import doctest
import inspect
import json
import pickle
import re
from pathlib import Path

import pytest
from layers import is_below_the_api
from source_modules import MODULES, syntax_tree

import gradtape as tf
from gradtape.api.catalogue import SECTIONS, rows
from gradtape.api.catalogue.definitions import definition_of
from gradtape.api.catalogue.elementwise import ASSERTING, elementwise_functions
from gradtape.api.catalogue.fronts import publications, published
from gradtape.api.catalogue.nodes import functions
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

DATA = Path(__file__).parent / "data"
TABLE = json.loads((DATA / "tensorflow_api.json").read_text())["names"]
PUBLIC = set((DATA / "tensorflow_public_names.txt").read_text().split())  # with names that the table lacks
BY_NAME = {row.names[0]: row for row in rows()}


def test_sections_are_complete():
    folder = Path(inspect.getfile(published)).parent
    has_rows = re.compile(r"^\w+ = (row|unary|binary)\(", re.M)
    assert {path.stem for path in folder.glob("*.py") if has_rows.search(path.read_text())} == set(SECTIONS)


@pytest.mark.parametrize("name", BY_NAME)
class TestRows:
    def test_names_are_those_of_tensorflow(self, name):
        row = BY_NAME[name]
        assert set(row.names) <= PUBLIC
        assert name not in TABLE or set(row.names) == {name, *TABLE[name]["same_as"]}
        assert {NAMES[each] for each in row.names} == {NAMES[name]}
        assert all(resolve(each) is resolve(name) for each in row.names)

    def test_signature_is_that_of_tensorflow(self, name):
        parameters = inspect.signature(resolve(name)).parameters.values()
        shown = [[p.name, p.kind.name, None if p.default is p.empty else repr(p.default)] for p in parameters]
        assert name not in TABLE or shown == TABLE[name]["parameters"]

    def test_example_prints_its_output(self, name):
        front = resolve(name)
        (example,) = doctest.DocTestFinder().find(front, name, globs={"tf": tf})
        assert len(example.examples) == 1 and front.__doc__.startswith(BY_NAME[name].doc)
        assert doctest.DocTestRunner(verbose=False).run(example).failed == 0

    def test_module_and_pickle_are_the_public_ones(self, name):
        front = resolve(name)
        space, _, last = name.rpartition(".")
        assert (front.__module__, front.__qualname__) == (f"gradtape.{space}".rstrip("."), last)
        assert pickle.loads(pickle.dumps(front)) is front

    def test_types_of_parameters_and_result(self, name):
        row, hints = BY_NAME[name], resolve(name).__annotations__
        assert hints["return"] == row.result and hints["name"] == "str | None"
        assert list(hints) == [*inspect.signature(resolve(name)).parameters, "return"]


def test_nodes_are_those_of_tensorflow():
    """Each has a recorded definition, and a function that takes at least its inputs."""
    for node, path in functions().items():
        definition = definition_of(node)
        assert definition is not None, f"{path}: record the node with tools/record_op_definitions.py"
        assert len(definition.inputs) <= len(inspect.signature(resolve(path)).parameters), node
    assert [row.names[0] for row in rows() if row.node] == [functions()[row.node] for row in rows() if row.node]


# In the text of errors: the op that TensorFlow's message names.
NODES_BELOW = {
    "gradtape.engine.run.convert": {"Fill", "Pack"}, "gradtape.ops.elementwise.bits": {"Bitcast"},
    "gradtape.ops.linalg.contraction": {"MatMul"},
}  # fmt: skip


def test_only_the_api_names_nodes():
    """The layers below `api` have ops of their own names."""
    found = {}
    for module in filter(is_below_the_api, MODULES):
        texts = {node.value for node in ast.walk(syntax_tree(module)) if isinstance(node, ast.Constant)}
        nodes = {text for text in texts if isinstance(text, str) and definition_of(text)}
        found |= {module: nodes} if nodes else {}
    assert found == NODES_BELOW


def test_elementwise_functions_are_behind_fronts():
    for name in (*elementwise_functions("unary"), *elementwise_functions("binary"), *ASSERTING):
        assert resolve(name) in publications, name


class TestFronts:
    @pytest.mark.parametrize("count", range(1, 14))
    def test_arguments_arrive(self, count):
        names = [f"p{i}" for i in range(count - 1)] + ["name"]
        source = f"def function({', '.join([*names[:-1], 'name=7'])}):\n    return [{', '.join(names)}]"
        made: dict = {}
        exec(source, made)
        front = published("math.function", made["function"])
        values = list(range(count - 1))
        assert front(*values) == [*values, 7]
        assert front(**dict(zip(names, values, strict=False)), name=8) == [*values, 8]
        assert inspect.signature(front) == inspect.signature(made["function"])
        with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
            front(*values, other=1)

    def test_traceback_shows_the_public_name(self):
        tf.debugging.disable_traceback_filtering()
        try:
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                tf.sin("text")
        finally:
            tf.debugging.enable_traceback_filtering()
        assert "sin" in [entry.name for entry in caught.traceback]
        assert caught.value.__context__ is None

    def test_missing_argument(self):
        with pytest.raises(TypeError, match=r"sin\(\) missing 1 required positional argument: 'x'"):
            tf.sin()

    def test_functions_have_the_public_module(self):
        assert tf.reduce_sum.__module__ == "gradtape.math" and tf.reshape.__module__ == "gradtape"
        assert pickle.loads(pickle.dumps(tf.reduce_sum)) is tf.math.reduce_sum
        assert tf.reduce_sum.__doc__ and inspect.getsource(tf.reduce_sum).startswith("def reduce_sum(")

    def test_users_defaults_apply(self):
        class Mine(tf.experimental.ExtensionType):
            x: tf.Tensor

        @tf.experimental.dispatch_for_api(tf.size, {"input": Mine})
        def size(input, out_type="mine", name=None):
            return out_type

        try:
            assert tf.size(Mine([1])) == "mine" and tf.size(Mine([1]), tf.int64) is tf.int64
        finally:
            tf.experimental.unregister_dispatch_for(size)
