"""The HTML page of a step: its contents, and that it works in a browser."""

import dataclasses
import errno
import gc
import html
import io
import json
import os
import re
import subprocess

import numpy as np
import pytest
from browsers import PROGRAM, needs_browser

import gradtape as tf
from gradtape.inspect.drawings.grouping import fold, tree
from gradtape.inspect.reports.report import tape_data


def embedded(page):
    """Returns the data of a page, with the lines of nodes in the nodes."""
    text = page.read_text("utf-8")
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])
    for graph in data.get("graphs", [data]):
        for node in graph["nodes"]:
            if "line" in node:
                node["line"] = graph["lines"][node["line"]]
    return data


def mlp_step():
    rng = np.random.default_rng(0)
    w = [tf.Variable(rng.normal(size=s).astype(np.float32), name=n) for s, n in (((4, 8), "first"), ((8, 2), "second"))]
    spare = tf.Variable(1.0, name="spare")
    x = tf.constant(rng.normal(size=(16, 4)).astype(np.float32))
    with tf.GradientTape(trace=True) as tape:
        with tf.name_scope("hidden"):
            hidden = tf.nn.relu(x @ w[0])
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(tf.square(hidden @ w[1]))
    tape.gradient(loss, [*w, spare])
    return tape


def test_the_page_is_one_file_without_outside_references(tmp_path):
    page = mlp_step().report(tmp_path / "step.html")
    text = page.read_text("utf-8")
    assert not re.search(r'(src|href)="', text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "{{" not in text


def test_nodes_have_lines_shapes_costs_and_histograms(tmp_path):
    data = embedded(mlp_step().report(tmp_path / "step.html"))
    nodes = {node["op"]: node for node in data["nodes"]}
    assert {"first", "second", "matmul", "relu", "square", "mean"} == set(nodes)
    relu = nodes["relu"]
    assert relu["shape"] == [16, 8] and relu["dtype"] == "float32"
    assert relu["line"]["text"] == "hidden = tf.nn.relu(x @ w[0])"
    assert relu["forward"] > 0 and relu["backward"] > 0 and relu["bytes"] > 0
    assert sum(relu["value"]["bins"]) == relu["value"]["size"] == 128
    assert relu["value"]["zeros"] > 0
    assert relu["gradient"]["norm"] > 0
    assert nodes["mean"]["target"] and nodes["first"]["kind"] == "variable"
    assert [group["name"] for group in data["tree"]] == ["hidden", "loss"]


def dense(x, w):
    return tf.nn.relu(x @ w)


def test_without_scopes_each_call_of_a_function_is_a_group(tmp_path):
    w = [tf.Variable(tf.eye(2), name=f"w{i}") for i in range(2)]
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(dense(dense(tf.ones([1, 2]), w[0]), w[1]))
    tape.gradient(y, w)
    data = embedded(tape.report(tmp_path / "step.html"))
    own = "test_without_scopes_each_call_of_a_function_is_a_group"
    assert [group["name"] for group in data["tree"]] == ["dense 1", "dense 2", own]
    assert [len(group["children"]) for group in data["tree"]] == [3, 3, 1]


class Affine(tf.Module):
    def __init__(self, name):
        super().__init__(name)
        self.w = tf.Variable(tf.eye(2), name="w")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w)


class Scoped(Affine):
    @tf.Module.with_name_scope
    def __call__(self, x):
        return x @ self.w


def test_calls_of_modules_are_groups_by_their_class_or_scope():
    first, second, third = Affine("first"), Affine("second"), Scoped("third")
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(third(second(first(tf.ones([1, 2])))))
    tape.gradient(y, [first.w, second.w, third.w])
    assert list(dict.fromkeys(tape.profile().layers.values()))[:3] == ["Affine 1", "Affine 2", "third"]


def test_missing_gradients_are_explained_and_marked(tmp_path):
    data = embedded(mlp_step().report(tmp_path / "step.html"))
    (problem,) = data["problems"]
    assert problem["kind"] == "none" and problem["title"] == "spare" and problem["text"]
    assert {s["name"]: s["gradient"] is None for s in data["sources"]} == {
        "first": False, "second": False, "spare": True,
    }  # fmt: skip


def nan_step():
    x = tf.Variable([1.0, 0.0], name="x")
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(tf.where(x > 0, tf.math.log(x), 0.0))
    tape.gradient(y, x)
    return tape


def test_nan_is_marked_where_it_began(tmp_path):
    data = embedded(nan_step().report(tmp_path / "nan.html"))
    (problem,) = [p for p in data["problems"] if p["kind"] == "nan"]
    assert "trap" in problem["text"]
    (log,) = [node for node in data["nodes"] if node["id"] == problem["id"]]
    assert log["op"] == "log"
    assert any("here it began" in text for _, text in log["marks"])


def test_text_from_the_program_cannot_end_the_script(tmp_path):
    v = tf.Variable(2.0, name="</script><b>")
    with tf.GradientTape(trace=True) as tape:
        y = v * v
    tape.gradient(y, v)
    page = tape.report(tmp_path / "step.html")
    assert "</script><b>" not in page.read_text("utf-8")
    assert "</script><b>" in {node["op"] for node in embedded(page)["nodes"]}


def test_an_untraced_tape_has_a_page_too(tmp_path):
    gc.collect()  # while a traced tape is alive, others are traced too
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(x * x)
    data = embedded(tape.report(tmp_path / "step.html", y, x))
    assert [node["op"] for node in data["nodes"]] == ["Variable", "mul", "exp"]
    assert not data["traced"]


def test_empty_tapes_and_targets_from_elsewhere_have_pages(tmp_path):
    with tf.GradientTape(trace=True) as tape:
        pass
    assert embedded(tape.report(tmp_path / "empty.html"))["nodes"] == []
    x = tf.Variable(2.0)
    with tf.GradientTape(trace=True) as tape:
        x * x
    data = embedded(tape.report(tmp_path / "elsewhere.html", tf.constant(1.0), x))
    assert [p["kind"] for p in data["problems"]] == ["none"]


def test_ops_with_several_outputs_are_one_box(tmp_path):
    x = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(trace=True) as tape:
        a, b = tf.split(x, 2)
        y = tf.reduce_sum(a * b)
    tape.gradient(y, x)
    nodes = {node["op"]: node for node in tape_data(tape)["nodes"]}
    assert nodes["split"]["outputs"] == 2
    assert nodes["mul"]["ins"] == [nodes["split"]["id"]]


def conditional(x, n):
    y = x @ x
    y = y * 2.0 if tf.reduce_sum(y) > 0 else tf.exp(y)
    for _ in tf.range(n):
        y = tf.tanh(y)
    return tf.reduce_sum(y)


def test_the_graph_of_a_function_with_its_inner_graphs(tmp_path):
    concrete = tf.function(conditional).get_concrete_function(tf.TensorSpec([3, 3]), tf.TensorSpec([], tf.int32))
    for subject in (concrete, concrete.graph):
        data = embedded(tf.inspect.report(subject, tmp_path / "graph.html"))
        assert data["title"] == "The graph of conditional"
        assert {"matmul", "tanh", "exp", "sum"} <= {node["op"] for node in data["nodes"]}
        assert {"cond", "loop"} & {child["name"] for child in data["tree"] if isinstance(child, dict)}


def flat(children):
    for child in children:
        yield from [child] if isinstance(child, int) else flat(child["children"])


def groups(children):
    for child in children:
        if isinstance(child, dict):
            yield child
            yield from groups(child["children"])


def test_the_bodies_of_loops_are_fed_and_lead_on(tmp_path):
    concrete = tf.function(conditional).get_concrete_function(tf.TensorSpec([3, 3]), tf.TensorSpec([], tf.int32))
    data = embedded(tf.inspect.report(concrete, tmp_path / "graph.html"))
    nodes = {node["id"]: node for node in data["nodes"]}
    found = {group["name"]: group for group in groups(data["tree"])}
    assert {"cond", "true_fn", "false_fn", "loop", "body", "test"} <= set(found)
    body = list(flat(found["body"]["children"]))
    (tanh,) = [nodes[at] for at in body if nodes[at]["op"] == "tanh"]
    (argument,) = tanh["ins"]
    assert argument in body and nodes[argument]["kind"] == "input"
    outside = [nodes[at]["op"] for at in nodes[argument]["ins"]]
    assert outside == ["cond"]  # what the loop begins with
    (loop,) = [node for node in nodes.values() if node["op"] == "loop"]
    assert tanh["id"] in loop["ins"]
    assert [node["op"] for node in nodes.values() if node.get("target")] == ["sum"]


def test_calls_of_functions_on_a_tape_are_opened_down_to_their_loops(tmp_path):
    v = tf.Variable(tf.eye(3), name="v")

    @tf.function
    def step(x, n):
        return conditional(x @ v, n)

    with tf.GradientTape(trace=True) as tape:
        loss = 2.0 * step(tf.ones([3, 3]), tf.constant(2))
    tape.gradient(loss, v)
    data = embedded(tape.report(tmp_path / "step.html"))
    nodes = {node["id"]: node for node in data["nodes"]}
    assert sorted(flat(data["tree"])) == sorted(nodes)
    (call,) = [group for group in groups(data["tree"]) if group["name"] == "step"]
    inside = [nodes[at] for at in flat(call["children"])]
    assert {"matmul", "exp", "tanh", "sum", "loop", "cond"} <= {node["op"] for node in inside}
    (variable,) = [node["id"] for node in nodes.values() if node["op"] == "v"]
    assert any(variable in node["ins"] for node in inside if node["op"] == "matmul")
    (record,) = [node for node in inside if node["op"] == "step"]
    assert "sum" in [nodes[at]["op"] for at in record["ins"]] and record["forward"] > 0


def test_costs_by_layer_add_up():
    costs = mlp_step().profile()
    assert set(costs.by_layer) == {"hidden", "loss"}
    assert sum(cost.kept for cost in costs.by_layer.values()) == costs.total.kept
    assert sum(cost.records for cost in costs.by_layer.values()) == costs.total.records
    assert "By layer" in str(costs)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(TypeError, match="GradientTape"):
        tf.inspect.report(lambda x: x, tmp_path / "graph.html")


def test_long_lists_become_pieces_that_keep_the_order():
    nodes = {at: {"op": f"op{at}", "kind": "other", "ins": [at - 1][:at]} for at in range(5000)}
    found = fold(tree([(at, ("step",)) for at in nodes]), nodes)
    assert list(flat(found)) == list(range(5000))

    def widest(children):
        return max(len(children), *(widest(c["children"]) for c in children if not isinstance(c, int)), 0)

    assert widest(found) <= 130


def in_browser(page, script, size="1600,1000"):
    """Returns the result of `script`, run after the page's own; raises its errors."""
    asking = f"""
<script>
const result = document.createElement("pre");
result.id = "result";
try {{
  result.textContent = JSON.stringify(((report) => {{ {script} }})(gradtapeReport));
}} catch (error) {{
  result.textContent = JSON.stringify({{ error: String(error) }});
}}
document.body.append(result);
</script>"""
    tried = page.with_name("tried.html")
    tried.write_text(page.read_text("utf-8").replace("</body>", asking + "</body>"), "utf-8")
    command = [
        PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
        f"--user-data-dir={page.parent / 'profile'}", "--dump-dom", tried.as_uri(),
    ]  # fmt: skip
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    result = json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', dom, re.S)[1]))
    assert not (isinstance(result, dict) and "error" in result), result
    return result


@needs_browser
@pytest.mark.parametrize("size", ["1600,1000", "390,844"])
def test_the_page_draws_the_graph_and_lists_what_is_wrong(tmp_path, size):
    page = mlp_step().report(tmp_path / "step.html")
    found = in_browser(
        page,
        """
        report.fit();
        report.draw();
        const faces = [...document.querySelectorAll("#graph .face")].map((face) => getComputedStyle(face).fill);
        const labels = [...document.querySelectorAll("#graph .box .value")].map((text) => text.textContent);
        return {
          colours: new Set(faces).size, labels, boxes: report.boxes().length,
          text: document.getElementById("content").innerText,
          sideways: document.documentElement.scrollWidth > innerWidth,
        };
        """,
        size,
    )
    assert found["colours"] >= 4 and len([text for text in found["labels"] if text.startswith("norm ")]) >= 3
    assert found["boxes"] >= 2
    assert "spare: the gradient is None" in found["text"]
    assert "How to read this page" in found["text"]
    assert not found["sideways"]


@needs_browser
def test_groups_open_boxes_are_selected_and_found(tmp_path):
    page = nan_step().report(tmp_path / "step.html")
    found = in_browser(
        page,
        """
        const log = report.data.nodes.find((node) => node.op === "log");
        report.go(log.id);
        const details = document.getElementById("content").innerText;
        report.select(null);
        document.querySelector("#content .card").click();
        const colour = document.getElementById("color");
        colour.value = "forward";
        colour.dispatchEvent(new Event("change"));
        document.getElementById("theme").click();
        report.find("log");
        return { details, selected: report.selected().node.op, theme: document.documentElement.dataset.theme };
        """,
    )
    assert "here it began" in found["details"] and "Value" in found["details"] and "Used by" in found["details"]
    assert found["selected"] == "log"
    assert found["theme"] in ("light", "dark")


@needs_browser
def test_five_thousand_ops_stay_usable(tmp_path):
    v = tf.Variable(np.full(4, 0.5, np.float32))
    with tf.GradientTape(trace=True) as tape:
        y = v
        for _ in range(2500):
            y = tf.tanh(y * 1.01)
    tape.gradient(y, v)
    page = tape.report(tmp_path / "big.html")
    assert page.stat().st_size < 8e6
    found = in_browser(
        page,
        """
        const first = report.boxes().length;
        report.go(report.data.nodes[2600].id);
        const start = performance.now();
        report.draw();
        const draw = performance.now() - start;
        return { first, after: report.boxes().length, selected: report.selected().node.id, draw,
                 nodes: report.data.nodes.length };
        """,
    )
    assert found["nodes"] == 5001
    assert found["first"] <= 150 and found["after"] <= 400
    assert found["selected"] == 2600
    assert found["draw"] < 500


HOSTILE = [
    "</title><script>ran()</script>", "{{data}}{{viewer.js}}", "<img src=x onerror=ran()>", "[/bold] [red]", "\"'&",
]  # fmt: skip


def markup(page):
    """Returns the page without the data, which is JSON, and without our own script: what a browser parses as markup."""
    text = page.read_text("utf-8")
    return re.sub(r"<script.*?</script>", "", re.sub(r"<style>.*?</style>", "", text, flags=re.S), flags=re.S)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_the_program_are_text_and_nothing_else(tmp_path, name):
    file = f"{name.replace('/', '')}.py"

    def step(x):
        return tf.reduce_sum(x * x)

    step.__name__ = step.__qualname__ = name
    graph = tf.function(step).get_concrete_function(tf.TensorSpec([3]))
    space = {"tf": tf}
    source = "def step(v):\n    with tf.GradientTape(trace=True) as tape:\n        y = v * v\n    return tape, y"
    exec(compile(source, file, "exec"), space)
    v = tf.Variable(2.0, name=name)
    tape, y = space["step"](v)
    pages = [tf.inspect.report(graph, tmp_path / "1.html"), tape.report(tmp_path / "2.html", y, v)]
    for page, begins in zip(pages, ("The graph of ", "A step of "), strict=True):
        rest = markup(page)
        assert rest.count("<title>") == rest.count("</title>") == 1
        assert "ran()" not in re.sub("<title>.*</title>", "", rest)
        title = re.search("<title>(.*)</title>", rest)[1]
        assert "<" not in title and html.unescape(title) == embedded(page)["title"]
        assert embedded(page)["title"].startswith(begins)
        assert page.read_text("utf-8").count("</script>") == 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_the_program_are_no_markup_in_a_terminal(name):
    v = tf.Variable([1.0], name=name)
    with tf.GradientTape(trace=True) as tape:
        y = v * v
    out = Terminal()
    for found in (tape.flow(y, v), tape.memory(), tape.profile(y, v), tape.check()):
        found.show(out)
    check = tf.inspect.check_gradients(lambda x: x, [1.0])
    dataclasses.replace(check, function=name).show(out)
    shown = re.sub(r"\x1b\[[0-9;]*m|\s|[│┃]", "", out.getvalue())
    assert re.sub(r"\s", "", name) in shown


def test_a_file_name_that_is_no_text_has_a_page(tmp_path):
    space = {"tf": tf}
    source = "def step(v):\n    with tf.GradientTape(trace=True) as tape:\n        y = v * v\n    return tape, y"
    exec(compile(source, "no\udcfftext.py", "exec"), space)
    v = tf.Variable(2.0)
    tape, y = space["step"](v)
    assert embedded(tape.report(tmp_path / "step.html", y, v))["title"] == "A step of no\udcfftext.py"


def test_a_page_that_cannot_be_written_says_so_and_leaves_the_old_one(tmp_path, monkeypatch):
    tape = mlp_step()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Cannot write the report: (File exists|Not a directory)"):
        tape.report(tmp_path / "file" / "step.html")
    with pytest.raises(IsADirectoryError, match="Cannot write the report"):
        tape.report(tmp_path)
    assert tape.report("/dev/null").is_char_device()
    page = tape.report(tmp_path / "step.html")
    before = page.read_text("utf-8")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="Cannot write the report: No space left on device"):
        tape.report(page)
    assert page.read_text("utf-8") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "step.html"]
