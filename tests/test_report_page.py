"""The report's script without a browser, run by Node: search, layers, steps, loop bodies, narrow screens."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_inspect_report import conditional, embedded, mlp_step
from test_inspect_steps import run, weights

import gradtape as tf
from gradtape.inspect import drawings

NODE = shutil.which("node")
RUNNER = Path(__file__).parent / "data" / "page.js"
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")


def asked(page, script, width=1600, hash=""):
    """Returns the result of `script` after the page's own has run: `report` is its interface, `element` finds by id."""
    command = [NODE, str(RUNNER), str(page), str(width), hash]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def layered(tmp_path):
    """The page of a step with three layers, the second in two parts."""
    w = [tf.Variable(np.eye(4, dtype=np.float32), name=f"w{i}") for i in range(3)]
    x = tf.ones([2, 4])
    with tf.GradientTape(trace=True) as tape:
        for name, each in zip(("first", "second", "third"), w, strict=True):
            with tf.name_scope(name):
                x = tf.tanh(x @ each)
        loss = tf.reduce_sum(x)
    tape.gradient(loss, w)
    return tape, tape.report(tmp_path / "step.html")


@needs_node
@pytest.mark.parametrize("text", ["relu", "RELU", "hidden/", "tf.nn.relu(x"])
def test_finding_lands_on_the_op_and_opens_its_groups(tmp_path, text):
    page = mlp_step().report(tmp_path / "step.html")
    found = asked(
        page,
        f"""
        for (const box of report.boxes()) if (box.children) box.open = false;
        report.find({json.dumps(text)});
        const item = report.selected(), middle = {{
          x: (item.ax + item.w / 2) * report.view.scale + report.view.x,
          y: (item.ay + item.h / 2) * report.view.scale + report.view.y,
        }};
        return {{ line: item.node.line?.text ?? "", open: item.parent.open, group: item.parent.name, middle,
                 drawn: report.boxes().includes(item), found: element("found").textContent }};
        """,
    )
    assert found["group"] == "hidden" and found["open"] and found["drawn"]
    assert found["middle"] == {"x": 195, "y": 300}  # of a drawing of 390 by 600
    assert re.fullmatch(r"1 of \d+", found["found"])


@needs_node
def test_lines_are_found_by_number_and_hits_are_gone_through(tmp_path):
    _, page = layered(tmp_path)
    data = embedded(page)
    line = next(node["line"] for node in data["nodes"] if node["op"] == "tanh")
    for text in (str(line["number"]), f"{line['file']}:{line['number']}", f":{line['number']}"):
        found = asked(
            page,
            f"""
            report.find({json.dumps(text)});
            const ids = [report.selected().node.id];
            for (let i = 0; i < 6; i++) {{ report.nextHit(1); ids.push(report.selected().node.id); }}
            report.nextHit(-1);
            return {{ ids, numbers: ids.map((id) => report.data.nodes.find((n) => n.id === id).line.number),
                     back: report.selected().node.id, hidden: element("finder").hidden }};
            """,
        )
        assert set(found["numbers"]) == {line["number"]}
        assert len(set(found["ids"][:6])) == 6 and found["ids"][6] == found["ids"][0]  # three products, three tanh
        assert found["back"] == found["ids"][5] and not found["hidden"]
    nothing = asked(page, 'report.find("no such op"); return [element("found").textContent, element("finder").hidden];')
    assert nothing == ["nothing", True]
    typed = asked(
        page,
        """
        const field = element("search");
        field.value = "tanh"; field.fire("input", {});
        field.fire("keydown", { key: "Enter" });
        const second = element("found").textContent;
        field.fire("keydown", { key: "Escape" });
        return [second, element("found").textContent, field.value];
        """,
    )
    assert typed == ["2 of 6", "", ""]  # products of the same line too
    assert asked(page, "return report.selected().node.id;", hash="#4") == 4


@needs_node
def test_layers_have_the_costs_that_profile_has_and_are_sorted(tmp_path):
    tape, page = layered(tmp_path)
    nodes = embedded(page)["nodes"]
    found = asked(
        page,
        """
        const table = () => element("content").all((e) => e.className === "layers")[0];
        const names = () => table().children.slice(1).map((row) => row.children[0].textContent);
        const sort = (i) => table().children[0].children[i].children[0].click();
        sort(0); const up = names(); sort(0); const down = names();
        sort(1); const forward = names(), how = table().children[0].children[1].attributes["aria-sort"];
        table().children[1].children[0].children[0].click();
        return { layers: report.layers().map(({ group, ...layer }) => layer), up, down, forward, how,
                 selected: report.selected().name };
        """,
    )
    layers = {layer.pop("name"): layer for layer in found["layers"]}
    profile = tape.profile()
    assert {name: layer["records"] for name, layer in layers.items() if name in profile.layers.values()} == {
        name: cost.records for name, cost in profile.by_layer.items()
    }
    forward = sum(node.get("forward") or 0 for node in nodes)
    assert sum(layer["forward"] for layer in layers.values()) == pytest.approx(forward)
    assert sum(layer["bytes"] for layer in layers.values()) == profile.total.kept
    assert found["up"] == sorted(layers) and found["down"] == sorted(layers, reverse=True)
    assert found["forward"] == sorted(layers, key=lambda name: -layers[name]["forward"])
    assert found["how"] == "descending" and found["selected"] == found["forward"][0].rpartition("/")[2]


@needs_node
def test_the_slider_moves_through_the_steps(tmp_path):
    with tf.inspect.record_steps(every=2) as steps:
        run(7, weights())
    page = steps.report(tmp_path / "training.html")
    found = asked(
        page,
        """
        const seen = [];
        const note = () => {
          const tanh = report.shown().nodes.find((node) => node.op === "tanh");
          seen.push([element("step-text").textContent, tanh.value.mean, report.selected()?.node?.op ?? null]);
        };
        note();
        report.find("tanh");
        const slide = (value) => { element("step").value = value; element("step").fire("input", {}); note(); };
        for (const value of ["0", "1", "2"]) slide(value);
        element("step-on").click(); element("step-on").click(); note();
        element("losses").onclick({ clientX: 0 }); note();
        report.select(null);
        return { seen, hidden: element("steps").hidden, max: element("step").max, text: element("content").textContent,
                 sparks: element("content").all((e) => e.attributes.class === "spark").length };
        """,
    )
    numbers = [int(re.match(r"step (\d+) · loss", text)[1]) for text, _, _ in found["seen"]]
    assert numbers == [6, 0, 2, 4, 6, 0]  # it opens at the last one, and does not go beyond it
    means = [mean for _, mean, _ in found["seen"]]
    assert len(set(means)) == 4 and means[0] == means[4] and means[1] == means[5]
    assert [op for _, _, op in found["seen"]] == [None, *["tanh"] * 5]  # the selection is preserved
    assert not found["hidden"] and found["max"] == 3 and found["sparks"] == 1
    assert "Step 0" in found["text"] and "Time and memory by layer" in found["text"]


@needs_node
def test_steps_of_different_graphs_change_the_graph(tmp_path):
    w = tf.Variable(2.0, name="w")
    with tf.inspect.record_steps() as steps:
        for power in (2, 3, 2):
            with tf.GradientTape() as tape:
                loss = w * w if power == 2 else tf.exp(w)
            tape.gradient(loss, w)
    page = steps.report(tmp_path / "training.html")
    assert len(embedded(page)["graphs"]) == 2
    found = asked(
        page,
        """
        const ops = () => report.boxes().filter((box) => box.node).map((box) => box.node.op);
        return [0, 1, 2].map((i) => { report.showStep(i); return ops(); });
        """,
    )
    assert [("exp" in ops, "mul" in ops) for ops in found] == [(False, True), (True, False), (False, True)]


@needs_node
@pytest.mark.parametrize("width", [1600, 390])
def test_loop_bodies_open(tmp_path, width):
    concrete = tf.function(conditional).get_concrete_function(tf.TensorSpec([3, 3]), tf.TensorSpec([], tf.int32))
    page = tf.inspect.report(concrete, tmp_path / "graph.html")
    found = asked(
        page,
        """
        report.find("tanh");
        const path = [];
        for (let group = report.selected().parent; group.parent; group = group.parent) path.push(group.name);
        return { path, drawn: report.boxes().includes(report.selected()), wires: report.wires().length };
        """,
        width,
    )
    assert found["path"] == ["body", "loop"] and found["drawn"] and found["wires"] > 5


def test_the_page_is_made_for_phones_too(tmp_path):
    text = mlp_step().report(tmp_path / "step.html").read_text("utf-8")
    assert 'name="viewport" content="width=device-width, initial-scale=1' in text
    narrow = text[text.index("@media (max-width: 760px)") :]
    assert "font-size: 16px" in narrow  # of input fields: with less, phones zoom in on focus
    assert "min-height: 40px" in narrow and "flex-wrap: wrap" in narrow
    assert "touch-action: none" in text and "pointercancel" in text
    viewer = Path(drawings.__file__).parent / "viewer"
    assert all(len(file.read_text("utf-8").splitlines()) < 500 for file in viewer.iterdir())
