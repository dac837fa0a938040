"""Drawings of tapes in a real browser: in notebooks, exports and pages with several of them.

Skipped where there is no Chromium, as the tests of the report are (`test_report_browser.py`).
"""

import json

import numpy as np
import pytest
from browsers import PROGRAM, browser, needs_browser
from test_drawings import HOSTILE, blocks, chain, hostile_tape

import gradtape as tf

pytestmark = [pytest.mark.several, needs_browser]

PHONE = (390, 844)
FIRST = "document.querySelector('[data-gradtape]').gradtapeDrawing"
INSIDE = "document.querySelector('[data-gradtape]').shadowRoot"
HOSTS = "[...document.querySelectorAll('[data-gradtape]')]"
TIMES = "\N{MULTIPLICATION SIGN}"
CLICK = """
    ((graph, { left, top, width, height }) => {
        graph.setPointerCapture = () => {};  // no real pointer has this number
        const at = { pointerId: 1, clientX: left + width / 2, clientY: top + height / 2 };
        for (const type of ["pointerdown", "pointerup"]) graph.dispatchEvent(new PointerEvent(type, at));
    })
"""


def element(name):
    return f"{INSIDE}.getElementById('{name}')"


def painted(expression):
    """The expression, evaluated after the next frame: a page whose size changes draws its wires again in that frame."""
    return f"new Promise((done) => requestAnimationFrame(() => setTimeout(() => done({expression}), 0)))"


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser(PROGRAM) as found:
        yield found


@pytest.fixture
def page(chromium, tmp_path):
    """Opens a page with outputs of cells in it; no test may leave errors in the console."""
    chromium.errors.clear()
    chromium.resize(1280, 800)

    def open_page(*outputs, style="", script=""):
        file = tmp_path / "page.html"
        body = "<hr>".join(outputs)
        viewport = '<meta name="viewport" content="width=device-width">'
        head = f'<!doctype html><meta charset="utf-8">{viewport}<style>{style}</style>'
        file.write_text(f"{head}<body>{body}<script>{script}</script></body>", "utf-8")
        chromium.open(file)
        for _ in range(3):  # loaded, laid out, drawn in the size that the layout gives
            chromium.evaluate(painted("null"))
        return chromium

    yield open_page
    assert chromium.errors == []


def small_step():
    w = tf.Variable([[1.0, -1.0], [0.5, 2.0]], name="w")
    b, spare = tf.Variable([0.1, 0.2], name="b"), tf.Variable(1.0, name="spare")
    with tf.GradientTape(trace=True) as tape:
        with tf.name_scope("dense"):
            h = tf.nn.relu(tf.ones([3, 2]) @ w + b)
        loss = tf.reduce_sum(h * [1.0, 0.0]) + 0.0 * tf.reduce_sum(w) + tf.stop_gradient(tf.reduce_sum(b))
    tape.gradient(loss, [w, b, spare])
    return tape


def test_nodes_have_values_and_wires_have_gradients(page):
    tape = small_step()
    opened = page(tape._repr_html_())
    texts = "[...box.querySelectorAll('text')].map((text) => text.textContent)"
    boxes = opened.evaluate(f"[...{INSIDE}.querySelectorAll('.box')].map((box) => {texts})")
    assert ["w", f"2 {TIMES} 2", "norm 2.5, mean 0.625"] in boxes
    assert ["relu", f"3 {TIMES} 2", "norm 3.46, mean 1.4"] in boxes
    labels = opened.evaluate(f"[...{INSIDE}.querySelectorAll('.wire text')].map((text) => text.textContent)")
    assert {"4.24", "1.73", "0"} <= set(labels)  # to w, to the outputs of relu, and what 0 * sum(w) passes on
    kinds = opened.evaluate(painted(f"{FIRST}.wires().map((wire) => wire.kind)"))
    assert {"", "zero", "off"} <= set(kinds)
    assert "without a gradient spare" in opened.evaluate(f"{element('about')}.innerText")
    style = "getComputedStyle(wire.element.firstChild).strokeDasharray"
    dashes = opened.evaluate(painted(f"{FIRST}.wires().map((wire) => {style})"))
    assert len(set(dashes)) == len(set(zip(kinds, dashes, strict=True))) == len(set(kinds))  # not by color alone


def test_the_slider_steps_backwards_through_the_sweep(page):
    tape = small_step()
    opened = page(tape._repr_html_())
    slider = f"{element('sweep-at')}"
    opened.evaluate(f"{slider}.focus()")
    assert opened.evaluate(f"{slider}.getAttribute('aria-label')").startswith("Step of the backward sweep")
    seen = []
    for _ in range(3):
        opened.press("ArrowRight")
        opened.evaluate(f"{FIRST}.draw()")
        boxes = f"{FIRST}.boxes().filter((box) => box.node && box.element.classList.contains"
        present = opened.evaluate(f"{boxes}('present')).map((box) => box.node.id)")
        ahead = opened.evaluate(f"{boxes}('ahead')).length")
        seen.append((opened.evaluate(f"{element('sweep-text')}.textContent"), present, ahead))
    sweep = opened.evaluate(f"{FIRST}.data.sweep")
    assert [present for _, present, _ in seen] == [[at] for at in sweep[:3]]
    assert [ahead for _, _, ahead in seen] == sorted((ahead for _, _, ahead in seen), reverse=True) and seen[0][2] > 3
    assert seen[0][0].startswith(f"step 1 of {len(sweep)}: add · norm of its gradient 1 · passes on to ")
    opened.evaluate(f"{FIRST}.sweepTo(0)")
    assert "the whole sweep" in opened.evaluate(f"{element('sweep-text')}.textContent")


def test_repeated_blocks_open_by_keyboard_and_by_click(page):
    opened = page(blocks(12)._repr_html_())
    names = f"{FIRST}.boxes().map((box) => box.name ?? box.node.op)"
    assert f"block {TIMES} 12" in opened.evaluate(names) and "block_3" not in opened.evaluate(names)
    opened.evaluate(f"{element('graph')}.focus()")
    for _ in range(len(opened.evaluate(names))):
        opened.press("ArrowDown")
        if opened.evaluate(f"{FIRST}.selected().name") == f"block {TIMES} 12":
            break
    opened.press("Enter")
    assert "block_3" in opened.evaluate(names)
    opened.press("Enter")
    assert "block_3" not in opened.evaluate(names)
    box = f"{FIRST}.boxes().find((box) => box.repeats)"
    opened.evaluate(f"{FIRST}.draw()")
    opened.evaluate(f"{CLICK}({element('graph')}, {box}.element.getBoundingClientRect())")
    assert "block_3" in opened.evaluate(names)


def test_outputs_on_one_page_do_not_collide(page):
    first, second = small_step()._repr_html_(), blocks(3)._repr_html_()
    styles = "svg, button, rect, #graph { display: none !important; fill: red !important } #title { color: red }"
    opened = page(first, second, first, style=styles, script="var data = 1, top_ = 2, page = 3, root = 4;")
    drawn = f"{HOSTS}.map((host) => host.gradtapeDrawing.boxes().length)"
    counts = opened.evaluate(drawn)
    assert len(counts) == 3 and counts[0] == counts[2] > 5
    assert opened.evaluate(f"{element('graph')}.clientHeight") > 100
    assert opened.evaluate("document.getElementById('graph')") is None
    opened.evaluate(f"{FIRST}.sweepTo(2)")
    texts = f"{HOSTS}.map((host) => host.shadowRoot.getElementById('sweep-text').textContent)"
    assert [text.startswith("step 2") for text in opened.evaluate(texts)] == [True, False, False]
    assert opened.evaluate("Object.keys(window).filter((name) => /gradtape|drawing/i.test(name))") == []


def test_front_ends_may_insert_the_output_later(page):
    """JupyterLab replaces scripts in an element that it then inserts; the classic notebook runs them in the head."""
    opened = page()
    output = json.dumps(small_step()._repr_html_()).replace("<", "\\u003c")
    in_head = "const [copy] = scripts; document.head.append(copy); copy.remove(); document.body.append(box);"
    for how in ("document.body.append(box);", in_head):
        opened.evaluate(f"""(() => {{
            document.body.replaceChildren();
            const box = document.createElement("div");
            box.innerHTML = {output};
            const scripts = [...box.querySelectorAll("script")].map((old) => {{
                const script = document.createElement("script");
                script.textContent = old.textContent;
                old.replaceWith(script);
                return script;
            }});
            {how}
        }})()""")
        opened.evaluate("new Promise((done) => setTimeout(done, 250))")
        assert opened.evaluate(f"{FIRST}.boxes().length") > 5


def test_without_scripts_there_is_a_table(page):
    output = small_step()._repr_html_()
    opened = page(output[: output.index("<script>")])
    assert opened.evaluate("document.querySelector('[data-gradtape] table').offsetHeight") > 50
    with_scripts = page(output)
    assert with_scripts.evaluate(f"{INSIDE}.querySelector('details').open") is False
    visible = "document.querySelector('[data-gradtape] table').checkVisibility({ contentVisibilityAuto: true })"
    assert not with_scripts.evaluate(visible)
    with_scripts.evaluate(f"{INSIDE}.querySelector('details').open = true")
    with_scripts.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")
    assert with_scripts.evaluate(visible)


def test_names_of_programs_run_nothing(page):
    opened = page(*(hostile_tape(name)._repr_html_() for name in HOSTILE), script="window.ran = () => { throw 'ran' }")
    drawn = f"{HOSTS}.map((host) => host.gradtapeDrawing.boxes().length)"
    assert min(opened.evaluate(drawn)) >= 2 and len(opened.evaluate(drawn)) == len(HOSTILE)
    every = "for (const box of host.gradtapeDrawing.boxes()) host.gradtapeDrawing.select(box)"
    opened.evaluate(f"{HOSTS}.forEach((host) => {{ {every}; }})")
    assert opened.evaluate("document.images.length") == 0
    inner = f"{HOSTS}.map((host) => host.shadowRoot.querySelectorAll('img, script').length)"
    assert set(opened.evaluate(inner)) == {0}
    texts = opened.evaluate(f"{HOSTS}.map((host) => host.shadowRoot.getElementById('graph').textContent).join('')")
    assert not set(texts) & set("\u202e\u2066\u2069\0\x1b\u2028")


def test_a_cell_fits_a_phone_and_is_dark_on_dark_pages(page, chromium):
    output = blocks(4)._repr_html_()
    opened = page(output)
    assert opened.evaluate("document.querySelector('[data-gradtape]').dataset.theme") == "light"
    opened.evaluate("document.body.style.background = '#111'")
    opened.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert opened.evaluate("document.querySelector('[data-gradtape]').dataset.theme") == "dark"
    chromium.resize(*PHONE, mobile=True)
    opened.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert not opened.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_large_tapes_start_folded_and_stay_usable(page):
    opened = page(chain(9000)._repr_html_())
    assert opened.evaluate(f"{FIRST}.boxes().length") < 80
    assert opened.evaluate(f"{INSIDE}.querySelectorAll('*').length") < 2000
    assert "left out" in opened.evaluate(f"{element('notes')}.innerText")
    opened.evaluate(f"{FIRST}.sweepTo(5); {FIRST}.draw()")
    assert opened.evaluate(f"{FIRST}.boxes().some((box) => box.element.classList.contains('present'))")


def test_flow_draws_too_and_complex_values_are_magnitudes(page):
    z = tf.Variable(np.array([3 + 4j, 0], np.complex64), name="z")
    with tf.GradientTape(persistent=True) as tape:
        y = tf.math.real(tf.reduce_sum(z * z))
    flow = tape.flow(y, z)
    assert str(flow).startswith("Gradients by variable")
    opened = page(flow._repr_html_())
    assert "norm 5, mean 2.5" in opened.evaluate(f"{element('graph')}.textContent")
    assert "gradient norm" in opened.evaluate("document.querySelector('[data-gradtape] table').textContent")
