"""The data of drawings: checked against the tapes that they are of, for random tapes; bounds, folding, hostile names.

The axes of the random tapes: ops (elementwise, products, reductions, gathers, splits), dtypes (half precision, float32,
float64, complex), shapes (scalars, empty), scopes, calls of functions, values used several times or never, stopped
gradients, tapes inside tapes, assignments.
"""

import html
import json
import re

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect.drawings.cell import cell_data, summarized
from gradtape.inspect.drawings.grouping import fold, ids_below
from gradtape.inspect.drawings.tape_graph import TapeGraph
from gradtape.inspect.records.reading import Reading

FOREVER = 1e9  # seconds: no test depends on the speed of the machine
DTYPES = [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.complex64]


@tf.function
def squash(x, y):
    return tf.tanh(x) * y if tf.reduce_sum(tf.cast(tf.abs(x), tf.float32)) > 0 else x


def random_tape(seed):
    """Returns a tape with a random program between two variables and a target."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    shape = [(3, 3), (), (0, 2), (4,), (2, 2)][rng.integers(5)]
    first, second = (tf.Variable(tf.cast(rng.normal(size=shape), dtype), name=f"v{i}") for i in range(2))
    with tf.GradientTape(trace=True, persistent=True) as tape:
        values = [first * 1, second * 1]
        for number in range(rng.integers(3, 25)):
            a, b = (values[i] for i in rng.integers(0, len(values), 2))
            with tf.name_scope(f"part_{number // 4}"):
                values.append(grow(rng.integers(10), a, b, first))
        target = tf.add_n([tf.reduce_sum(value) for value in values[-3:]])
    tape.gradient(target, [first, second])
    return tape


def grow(choice, a, b, variable):
    if choice == 0 and len(a.shape) == 2 and a.shape[0] == a.shape[1]:
        return a @ b
    if choice == 1 and a.shape.rank and a.shape[0]:
        return tf.gather(a, [0] * a.shape[0])
    if choice == 2 and a.shape.rank and a.shape[0] and a.shape[0] % 2 == 0:
        low, high = tf.split(a, 2)
        return tf.concat([high, low * 2], 0)
    if choice == 3 and not a.dtype.is_complex:
        return squash(a, b)
    if choice == 4:
        return tf.stop_gradient(a) + b
    if choice == 5 and not a.dtype.is_complex:
        with tf.GradientTape() as inner:
            inner.watch(a)
            y = tf.reduce_sum(a * a)
        return inner.gradient(y, a) + b
    if choice == 6:
        variable.assign(a * 0.5)
        return variable * b
    return [a + b, a * b, tf.sin(a), a - 2 * b][choice % 4]


def norm(array):
    return float(np.linalg.norm(np.asarray(np.abs(array) if array.dtype.kind == "c" else array, np.float64)))


@pytest.mark.parametrize("seed", range(25))
def test_drawings_have_every_op_of_the_path_once_and_the_norms_of_all_cotangents(seed):
    reading = Reading(random_tape(seed))
    graph = TapeGraph(reading)
    data = graph.data
    ids = ids_below(data["tree"])
    assert sorted(ids) == sorted(node["id"] for node in data["nodes"]) == sorted(set(ids))
    ops = [at for at in reversed(reading.path) if type(reading.records[at]) is tuple]
    assert data["sweep"] == ops and set(ops) <= set(ids)
    for at, cotangent in reading.cotangents.items():
        if type(reading.records[at]) is not int and cotangent.size:
            node = graph.nodes[at]
            assert node["gradient"].get("norm", np.nan) == same(finite_norm(cotangent), node["dtype"])
    for at in ops:
        node, passed = graph.nodes[at], {}
        for p, g in zip(reading.records[at][1], reading.vjp(at), strict=True):
            if g is not None and p in reading.path:
                passed.setdefault(p, []).append(g)
        squares = {}
        for p, terms in passed.items():
            squares.setdefault(reading.first(p), []).append(norm(sum(terms)))
        expected = [float(np.hypot.reduce(squares[p])) if p in squares else None for p in node["ins"]]
        inner = getattr(reading.operation(at), "family", None) == "call"
        for p, found, wanted in zip(node["ins"], node["flow"], expected, strict=True):
            if wanted is None:
                assert found is None
            elif np.isfinite(wanted):
                assert found == same(wanted, node["dtype"]) or (inner and p == at)
            else:
                assert found == ("nan" if np.isnan(wanted) else "inf")
    shown = cell_data(reading, FOREVER, most_bytes=1 << 30)
    assert shown["sweep"] == data["sweep"] and shown["tree"] == data["tree"] and not shown["notes"]


def finite_norm(array):
    array = np.asarray(np.abs(array) if array.dtype.kind == "c" else array, np.float64)
    return float(np.linalg.norm(array[np.isfinite(array)])) if np.isfinite(array).any() else np.nan


def same(number, dtype):
    """The number up to rounding: sums are added in another order."""
    return pytest.approx(number, rel=3e-2 if dtype in ("float16", "bfloat16") else 1e-4, abs=1e-6, nan_ok=True)


def chain(count):
    v = tf.Variable(np.full(4, 0.5, np.float32), name="v")
    with tf.GradientTape(trace=True) as tape:
        y = v
        for number in range(count):
            y = tf.tanh(y * 1.01) if number % 3 else tf.sin(y) + float(number % 7)
    tape.gradient(y, v)
    return tape


def blocks(count):
    """A tape of blocks in scopes, each of two parts with variables of their own."""
    start = tf.Variable(tf.ones([4, 8]), name="start")
    kernels = [[tf.Variable(tf.eye(8), name=f"k{i}{part}") for part in "ab"] for i in range(count)]
    with tf.GradientTape(trace=True) as tape:
        x = tf.exp(start)
        for number, (a, b) in enumerate(kernels):
            with tf.name_scope(f"block_{number}"):
                with tf.name_scope("attention"):
                    x = x + tf.nn.softmax(x @ a)
                with tf.name_scope("mlp"):
                    x = x + tf.nn.gelu(x @ b)
        loss = tf.reduce_mean(x)
    tape.gradient(loss, [start, *(k for pair in kernels for k in pair)])
    return tape


def test_twelve_equal_blocks_become_one_box():
    children = cell_data(Reading(blocks(12)), FOREVER)["tree"]
    (box,) = [child for child in children if isinstance(child, dict) and child.get("repeats")]
    assert (box["name"], box["repeats"]) == ("block", 12)
    assert [child["name"] for child in box["children"]] == [f"block_{i}" for i in range(12)]
    assert [child["name"] for child in box["children"][0]["children"]] == ["attention", "mlp"]


def nodes_of(text, ins=None):
    """Nodes of one letter each, in a chain unless `ins` says otherwise."""
    return {
        at: {"op": op, "kind": "other", "ins": [at - 1][:at] if ins is None else ins[at]} for at, op in enumerate(text)
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x" + "abc" * 5 + "yz", [("a, b, c", 5)]),
        ("x" + "a" * 13, [("a", 13)]),
        ("abab", []),  # too few to be worth a group
        ("x" + "ab" * 6 + "q" + "cd" * 7, [("a, b", 6), ("c, d", 7)]),
        ("abcdefghijklmnop", []),
    ],
)
def test_runs_of_equal_ops_are_folded(text, names):
    nodes = nodes_of(text)
    children = fold([*nodes], nodes)
    assert [(child["name"], child["repeats"]) for child in children if isinstance(child, dict)] == names
    assert ids_below(children) == [*nodes]


def test_blocks_with_other_wires_are_not_folded():
    chained = [[at - 1][:at] for at in range(24)]
    crossed = [*chained[:12], *([at - 1 - at % 2 * 1][:1] for at in range(12, 24))]
    nodes = nodes_of("ab" * 12, crossed)
    nodes[0]["ins"] = [99]  # of outside
    (first, *_) = fold([*nodes], nodes)
    assert first["repeats"] == 6 and ids_below(fold([*nodes], nodes)) == [*nodes]


def check_links(data):
    ids = [node["id"] for node in data["nodes"]]
    assert sorted(ids_below(data["tree"])) == sorted(ids) and len(set(ids)) == len(ids)
    for node in data["nodes"]:
        assert set(node["ins"]) <= set(ids) - {node["id"]} and len(node.get("flow", node["ins"])) == len(node["ins"])
    assert set(data["sweep"]) <= set(ids) and len(set(data["sweep"])) == len(data["sweep"])


@pytest.mark.parametrize("most", [1, 20, 100, 290])
def test_summaries_keep_wires_marks_and_the_target(most):
    full = TapeGraph(Reading(chain(150))).data
    full["nodes"][40]["marks"].append(["nan", "planted"])
    data = summarized(full, most)
    check_links(data)
    assert len(data["nodes"]) <= max(most, 41)
    assert sum(node.get("count", 1) for node in data["nodes"]) >= len(full["nodes"]) - 1
    assert any(["nan", "planted"] in node["marks"] for node in data["nodes"])
    assert [node.get("target") for node in data["nodes"]].count(True) == 1
    last = data["nodes"][-1]
    assert last["flow"][0] == pytest.approx(full["nodes"][-1]["flow"][0], rel=1) and last["gradient"]


def test_the_data_of_a_cell_are_bounded_and_say_what_is_left_out():
    reading = Reading(chain(1500))
    data = cell_data(reading, FOREVER, 200_000)
    check_links(data)
    assert len(json.dumps(data)) < 230_000
    assert re.search(r"^[\d,]+ of 3,\d+ nodes are left out", data["notes"][0])
    hurried = cell_data(reading, seconds=0.0)
    check_links(hurried)
    assert "are left out, as they take long" in hurried["notes"][0]
    assert sum("gradient" in node for node in hurried["nodes"]) < 3


HOSTILE = [
    "</script><img src=x onerror=ran()>", "]]><!--", "{{data}}{{stage.html}}", "\"'`${ran()}&",
    "\u202egnp.\u2066x\u2069", "a\udcffb", "x" * 10_000, "\u2028\u2029\0\x1b[31m", "__proto__", "<slot></slot>",
]  # fmt: skip


def hostile_tape(name):
    source = "def step(v):\n    with tf.GradientTape(trace=True) as tape:\n        y = v * v\n    return tape, y"
    space = {"tf": tf}
    exec(compile(source, f"{name.replace('/', '').replace(chr(0), '')[:100]}.py", "exec"), space)
    v = tf.Variable(2.0, name=name)
    tape, y = space["step"](v)
    tape.gradient(y, v)
    return tape


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_programs_are_text_in_cells(name):
    tape = hostile_tape(name)
    for output in (tape._repr_html_(), tape.flow()._repr_html_()):
        output.encode("utf-8")
        assert len(output) < 70_000 + 3 * len(name)
        before, script, after = re.fullmatch("(.*?)<script>(.*?)</script>(.*)", output, re.DOTALL).groups()
        assert not after and "</script" not in script and "<img" not in before and "<!--" not in script
        data = json.loads(re.search("^const page=(.*);$", script, re.MULTILINE)[1])
        kept = name if len(name) < 200 else name[:160] + "…"
        assert kept in {node["op"] for node in data["nodes"]}
    assert html.escape(name[:20]) in before or "\udcff" in name


def undrawable():
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape(trace=True) as empty:
        pass
    with tf.GradientTape(trace=True) as reset:
        tf.exp(x)
        reset.reset()
    tapes = []

    @tf.function
    def inside(v):
        with tf.GradientTape(trace=True) as tape:
            tape.watch(v)
            y = v * v
        tapes.append(tape._repr_html_())  # the sweep must not become part of the graph
        return tape.gradient(y, v)

    inside(x)
    return empty._repr_html_(), reset._repr_html_(), tapes[0]


def test_what_cannot_be_drawn_is_a_table():
    for output in undrawable():
        assert "<script" not in output and "GradientTape with" in output
    assert tf.GradientTape(trace=True)._repr_html_() is None


def test_rules_that_raise_leave_the_rest_of_the_drawing():
    @tf.custom_gradient
    def refuses(v):
        def rule(g):
            raise ValueError("no")

        return v * 2, rule

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape(trace=True) as tape:
        tf.exp(refuses(x))
    data = cell_data(Reading(tape), FOREVER)
    assert data["notes"] == ["Gradients are incomplete: a gradient rule raises ValueError."]
    assert [node["op"] for node in data["nodes"] if "value" in node][-1] == "exp"
    assert "gradient" in data["nodes"][-1] and "<script>" in tape._repr_html_()


def test_drawing_neither_records_nor_uses_up():
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape(trace=True) as outer, tf.GradientTape(trace=True) as tape:
        y = tf.exp(x)
        assert "<script>" in tape._repr_html_()
    assert len(outer._log.ops) == len(tape._log.ops) == 2
    assert tape._repr_html_() == tape._repr_html_()  # also after it has been drawn, and the same
    np.testing.assert_allclose(tape.gradient(y, x), np.exp([1.0, 2.0]), rtol=1e-6)


def test_a_cell_is_small():
    assert len(hostile_tape("v")._repr_html_().encode()) < 60_000
