"""Passes on small graphs: what they remove, what they must keep, and that values stay the same."""

from types import MappingProxyType

import numpy as np
import pytest
from small_graphs import Builder, Effect, constant, names

import gradtape as tf
from gradtape.graph.control_flow.custom import custom_gradient
from gradtape.graph.executors.numpy.fusion import fused
from gradtape.graph.executors.numpy.lowering import lowered
from gradtape.graph.ir.effects import guard
from gradtape.graph.ir.graph import Graph, Node, Value
from gradtape.graph.passes import optimize as optimize_module
from gradtape.graph.passes.fused_ops import with_fused_ops
from gradtape.graph.passes.optimize import common_subexpressions, dead_code, folded_constants, optimize, simplified
from gradtape.graph.passes.peepholes import FEWER_PRODUCTS, IDENTITIES
from gradtape.graph.passes.rewriting import Uses, rewritten
from gradtape.graph.trace.assigned import assigned

X = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]], np.float32)


def after(b, one_pass, *outputs):
    """Returns the graph with these outputs after a pass, which must not change any value."""
    graph = one_pass(b.expecting(*outputs)).verify()
    b.agrees(graph)
    return graph


def test_dead_code_goes_and_effects_stay():
    b, effect = Builder(), Effect()
    x = b.input(X)
    b.op("exp", b.op("tanh", x))
    b.op(effect, b.op("neg", x))
    assert names(after(b, dead_code, b.op("add", x, 1.0))) == ["neg", "tell", "add"]


def test_one_output_of_several_keeps_the_node():
    b = Builder()
    first, _ = b.op("split", b.input(X), sizes=(1, 1), axis=0)
    assert names(after(b, dead_code, first)) == ["split"]


def test_common_subexpressions():
    b = Builder()
    x = b.input(X)
    y = b.op("add", b.op("tanh", b.op("mul", x, 2.0)), b.op("tanh", b.op("mul", x, 2.0)))
    assert names(after(b, common_subexpressions, y)) == ["mul", "tanh", "add"]


@pytest.mark.parametrize(
    ("first", "second"), [({"axis": (0,)}, {"axis": (1,)}), ({"axis": (0,)}, {"axis": (0,), "keepdims": True})]
)
def test_attributes_tell_nodes_apart(first, second):
    b = Builder()
    x = b.input(X)
    assert len(after(b, common_subexpressions, b.op("sum", x, **first), b.op("sum", x, **second)).nodes) == 2


def test_arrays_and_signs_in_attributes():
    b = Builder()
    x = b.input(X)
    rows = [b.op("slice", x, key=(np.array(i),)) for i in ([0, 1], [0, 1], [1, 0])]
    assert len(after(b, common_subexpressions, *rows).nodes) == 2
    b = Builder()
    x = b.input(X)
    graph = b.expecting(b.op("add", x, 0.0), b.op("add", x, -0.0))
    assert len(common_subexpressions(graph).nodes) == 2


def test_effects_are_never_merged_but_guards_are():
    b, effect = Builder(), Effect()
    x = b.input(np.float32(1))
    b.op(effect, x)
    b.op(effect, x)
    b.op(guard, x, value=np.float32(1))
    b.op(guard, x, value=np.float32(1))
    assert names(common_subexpressions(b.graph())) == ["tell", "tell", "guard"]


def test_constants_are_folded():
    b = Builder()
    x = b.input(X)
    two = b.op("add", constant(1.0), constant(1.0))
    graph = after(b, folded_constants, b.op("mul", x, b.op("exp", two)))
    assert names(graph) == ["mul"]
    assert graph.nodes[0].inputs[1].constant == np.exp(np.float32(2))


def test_folding_makes_nothing_large_and_raises_nothing():
    b = Builder()
    large = b.op("broadcast_to", constant(1.0), shape=(300, 300))
    assert names(after(b, folded_constants, large)) == ["broadcast_to"]
    value = Value((), constant(np.int32(1)).dtype)
    node = Node(b.nodes[0].op, (), {}, (value,))
    node = node._replace(op=_op("floordiv"), inputs=(constant(np.int32(1)), constant(np.int32(0))))
    assert names(folded_constants(Graph("zero", (), (node,), (value,)))) == ["floordiv"]


def _op(name):
    from gradtape.engine.registry.op import registry

    return registry[name]


def test_a_guard_of_a_constant_goes():
    b = Builder()
    b.op(guard, constant(1.0), value=np.float32(1))
    b.op(guard, constant(1.0), value=np.float32(1))
    assert names(folded_constants(b.graph())) == []
    graph = b.graph()
    wrong = graph.nodes[0]._replace(attrs={"value": np.float32(2)})
    assert names(folded_constants(graph.substituted([wrong]))) == ["guard"]


ONES, ZEROS = np.ones_like(X), np.zeros_like(X)

EXAMPLES = {
    "x + 0": (lambda b, x: b.op("add", x, 0.0), []),
    "0 + x": (lambda b, x: b.op("add", 0.0, x), []),
    "x - 0": (lambda b, x: b.op("sub", x, 0.0), []),
    "0 - x": (lambda b, x: b.op("sub", 0.0, x), ["sub"]),
    "x * 1": (lambda b, x: b.op("mul", x, 1.0), []),
    "x * ones": (lambda b, x: b.op("mul", ONES, x), []),
    "x + zeros_like": (lambda b, x: b.op("add", x, b.op("zeros_like", x)), []),
    "x * -1": (lambda b, x: b.op("mul", x, -1.0), ["neg"]),
    "x / 1": (lambda b, x: b.op("div", x, 1.0), []),
    "x / 4": (lambda b, x: b.op("div", x, 4.0), ["div"]),
    "1 / x": (lambda b, x: b.op("div", 1.0, x), ["div"]),
    "--x": (lambda b, x: b.op("neg", b.op("neg", x)), []),
    "x + -x": (lambda b, x: b.op("add", x, b.op("neg", x)), ["sub"]),
    "-x + x": (lambda b, x: b.op("add", b.op("neg", x), x), ["sub"]),
    "x - -x": (lambda b, x: b.op("sub", x, b.op("neg", x)), ["add"]),
    "-x * 3": (lambda b, x: b.op("mul", b.op("neg", x), 3.0), ["mul"]),
    "identity": (lambda b, x: b.op("identity", x), []),
    "identity_n": (lambda b, x: b.op("identity_n", x, x)[1], []),
    "stop_gradient": (lambda b, x: b.op("stop_gradient", x), []),
    "cast to itself": (lambda b, x: b.op("cast", x, dtype=np.dtype("float32")), []),
    "cast": (lambda b, x: b.op("cast", x, dtype=np.dtype("float64")), ["cast"]),
    "reshape to itself": (lambda b, x: b.op("reshape", x, shape=(2, 3)), []),
    "reshape twice": (lambda b, x: b.op("reshape", b.op("reshape", x, shape=(6,)), shape=(3, 2)), ["reshape"]),
    "reshape and back": (lambda b, x: b.op("reshape", b.op("reshape", x, shape=(6,)), shape=(2, 3)), []),
    "broadcast to itself": (lambda b, x: b.op("broadcast_to", x, shape=(2, 3)), []),
    "transpose twice": (lambda b, x: b.op("transpose", b.op("transpose", x, perm=(1, 0)), perm=(1, 0)), []),
    "sum over no axis": (lambda b, x: b.op("sum", x, axis=()), []),
    "sum of ones": (
        lambda b, x: b.op("mul", x, b.op("sum", b.op("ones_like", x), axis=(0,), keepdims=False)), ["mul"],
    ),
    "stretched factor": (
        lambda b, x: b.op("mul", b.op("broadcast_to", b.op("sum", x, axis=(0, 1)), shape=(2, 3)), x), ["sum", "mul"],
    ),
    "stretched by one op only": (
        lambda b, x: b.op("exp", b.op("broadcast_to", b.op("sum", x, axis=(0, 1)), shape=(2, 3))),
        ["sum", "broadcast_to", "exp"],
    ),
    "product with a transpose": (
        lambda b, x: b.op("matmul", b.op("transpose", x, perm=(1, 0)), x), ["matmul"],
    ),
    "sum of two": (lambda b, x: b.op("add_n", x, x), ["add"]),
    "ones times ones, stretched": (
        lambda b, x: b.op("add", x, b.op("mul", b.op("ones_like", x), 2.0)), ["add"],
    ),
    "assigned": (lambda b, x: b.op(assigned, b.op("exp", x), x), ["exp"]),
    "custom_gradient": (lambda b, x: b.op(custom_gradient, x, b.op("exp", x), rule=None, counts=(1, 1))[0], ["exp"]),
    "x to the 1": (lambda b, x: b.op("power_1", x), []),
    "broadcast twice": (
        lambda b, x: b.op("broadcast_to", b.op("broadcast_to", x, shape=(4, 2, 3)), shape=(5, 4, 2, 3)),
        ["broadcast_to"],
    ),
    "broadcast of a row in a matrix": (
        lambda b, x: b.op("broadcast_to", b.op("reshape", b.op("sum", x, axis=(0,)), shape=(1, 3)), shape=(2, 3)),
        ["sum", "broadcast_to"],
    ),
    "reshape of ones": (
        lambda b, x: b.op("exp", b.op("reshape", b.op("ones_like", x), shape=(6,))), [],
    ),
    "transpose to itself": (lambda b, x: b.op("transpose", x, perm=(0, 1)), []),
    "product with a transpose on the right": (
        lambda b, x: b.op("matmul", x, b.op("transpose", x, perm=(1, 0))), ["matmul"],
    ),
    "sum of one": (lambda b, x: b.op("add_n", x), []),
    "concat of one": (lambda b, x: b.op("concat", x, axis=0), []),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLES)
def test_identities(case):
    build, left = EXAMPLES[case]
    b = Builder()
    y = build(b, b.input(X))
    graph = after(b, lambda g: dead_code(folded_constants(simplified(g))), y)
    assert names(graph) == left


@pytest.mark.parametrize("at", range(len(IDENTITIES)), ids=[row.pattern for row in IDENTITIES])
def test_every_row_of_the_table_has_an_example(at):
    fired = []
    row = IDENTITIES[at]
    for build, _ in EXAMPLES.values():
        b = Builder()
        graph = b.graph(build(b, b.input(X)))
        fired += [rewritten(graph, [row]).verify().nodes != graph.nodes]
    assert any(fired)


def test_adding_zeros_may_stretch():
    b = Builder()
    after(b, optimize, b.op("add", b.input(X[0]), ZEROS), b.op("mul", b.op("sum", b.inputs[0], axis=(0,)), ONES))


def test_a_mixture_of_zeros_is_no_number():
    b = Builder()
    mixed = np.array([0.0, -0.0, 0.0], np.float32)
    assert names(simplified(b.expecting(b.op("div", b.input(X), mixed)))) == ["div"]
    assert simplified(b.graph(b.op("div", b.inputs[0], mixed))).nodes[0].inputs[1].constant is mixed


def test_inner_graphs_are_optimised():
    class Twice:
        name = title = "twice"
        family = "opaque"
        moves_data = True
        effect = False
        forwards_inputs = None
        attributes = MappingProxyType({"body": True})

        @staticmethod
        def numpy(x, *, body):
            from gradtape.graph.executors.numpy.executor import compiled

            return compiled(body)(compiled(body)(x)[0])[0]

    inner = Builder()
    body = inner.graph(inner.op("add", inner.op("identity", inner.input(X)), 1.0))
    b = Builder()
    graph = after(b, optimize, b.op(Twice(), b.input(X), body=body))
    assert names(graph.nodes[0].attrs["body"]) == ["add"]


def gathered(graph):
    return dead_code(rewritten(graph, FEWER_PRODUCTS))


def test_sums_of_products_are_one_product():
    b = Builder()
    total = None
    for i in range(4):
        a, g = b.input(X + i), b.input(X[:, :2] - i)
        product = b.op("matmul", a, g, transpose_a=True)
        total = product if total is None else b.op("add", total, product)
    graph = after(b, gathered, b.op("neg", total))
    assert names(graph) == ["concat", "concat", "matmul", "neg"]


def test_a_product_used_elsewhere_stays():
    b = Builder()
    a, g = b.input(X), b.input(X[:, :2])
    first, second = (b.op("matmul", a, b.op("add", g, n), transpose_a=True) for n in (1.0, 2.0))
    graph = after(b, gathered, b.op("add", first, second), first)
    assert names(graph).count("matmul") == 2


def test_uses():
    b = Builder()
    x = b.input(X)
    y = b.op("exp", x)
    z = b.op("add", y, y)
    uses = Uses(b.graph(z, y))
    assert [uses.count[v] for v in (x, y, z)] == [1, 3, 1]
    assert [uses.last[v] for v in (x, y, z)] == [0, 1, 1]
    assert uses.maker[z].op.name == "add" and x not in uses.maker


def test_a_value_that_takes_the_place_of_another_takes_over_its_uses():
    """A product that is itself plus zero, used twice, must not be merged into a sum of products."""
    b = Builder()
    a, g = b.input(X), b.input(X[:, :2])
    first, second = (b.op("matmul", a, b.op("add", g, n), transpose_a=True) for n in (1.0, 2.0))
    same = b.op("add", first, 0.0)
    graph = after(b, lambda g: dead_code(rewritten(g, [*IDENTITIES, *FEWER_PRODUCTS])), b.op("add", same, second), same)
    assert names(graph).count("matmul") == 2


@pytest.mark.parametrize("one_pass", [
    dead_code, common_subexpressions, folded_constants, simplified, gathered, with_fused_ops, lowered, fused, optimize,
])  # fmt: skip
def test_no_pass_drops_a_guard_or_an_effect(one_pass):
    b = Builder()
    x = b.input(X)
    tell = Effect()
    total = b.op("sum", b.op("add", x, 0.0), axis=(0, 1), keepdims=False)
    b.op(guard, b.op("identity", total), value=X.sum())
    b.op(tell, b.op("mul", x, 1.0))
    b.op(guard, b.op("greater", total, 1.0), value=np.True_)
    b.op("exp", x)
    product = b.op("matmul", x, x, transpose_a=True)
    graph = one_pass(b.graph(b.op("add", product, product))).verify()
    effects = [node.op.name for node in graph.nodes if node.effect]
    assert effects == ["guard", "tell", "guard"]


def test_a_number_of_more_axes_than_it_is_stretched_to():
    f = tf.function(lambda x: tf.broadcast_to(tf.reshape(x, []), [3]) + 1.0)
    for _ in range(3):
        assert f(tf.constant([[2.0]])).numpy().tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize("reason", [None, "XLA does it itself"])
def test_a_pass_applies_to_all_executors_unless_it_says_why_not(monkeypatch, reason):
    seen = []

    def one_pass(graph):
        seen.append(graph.name)
        return graph

    monkeypatch.setattr(optimize_module, "PASSES", [optimize_module.Pass(one_pass, reason)])
    for jit_compile in (False, True):
        seen.clear()
        f = tf.function(lambda x: x * 2.0, jit_compile=jit_compile)
        assert [float(f(tf.constant(1.0))) for _ in range(3)] == [2.0] * 3
        assert bool(seen) == (reason is None or not jit_compile)


@pytest.mark.parametrize("for_xla", [False, True])
def test_dead_code_goes_for_all_executors(for_xla):
    b = Builder()
    x = b.input(X)
    b.op("exp", x)
    assert names(optimize(b.expecting(b.op("neg", x)), for_xla)) == ["neg"]
