"""The report in a real browser: it renders, logs no errors, obeys the keyboard, and fits a phone.

Skipped where there is no Chromium; `make browser-test` fails there and says how to get one.
"""

import pytest
from browsers import PROGRAM, browser, needs_browser
from test_inspect_report import mlp_step
from test_inspect_steps import run, weights

import gradtape as tf

pytestmark = needs_browser

FOCUSABLE = """
    [...document.querySelectorAll("button, input, select, svg[tabindex]")]
        .filter((x) => x.checkVisibility() && !x.disabled && getComputedStyle(x).visibility === "visible")
        .map((x) => x.id || x.textContent)
"""
FOCUSED = (
    "document.activeElement === document.body ? null : document.activeElement.id || document.activeElement.textContent"
)
COLORS = "new Set([...document.querySelectorAll('#graph rect')].map((x) => getComputedStyle(x).fill)).size"
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
PHONE = (390, 844)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The report of a step, and that of several steps with a slider."""
    folder = tmp_path_factory.mktemp("reports")
    with tf.inspect.record_steps() as steps:
        run(3, weights())
    return {"step": mlp_step().report(folder / "step.html"), "steps": steps.report(folder / "steps.html")}


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser(PROGRAM) as found:
        yield found


@pytest.fixture
def opened(chromium, pages, request):
    """The browser with a page, at the size of a desktop; no test may leave errors in the console."""
    chromium.errors.clear()
    chromium.resize(1280, 800)
    chromium.open(pages[request.param])
    yield chromium
    assert chromium.errors == []


both = pytest.mark.parametrize("opened", ["step", "steps"], indirect=True)
step = pytest.mark.parametrize("opened", ["step"], indirect=True)


@both
def test_the_page_renders(opened):
    assert opened.evaluate("gradtapeReport.boxes().length") >= 2
    assert opened.evaluate(COLORS) > 4
    assert "kept for the gradient" in opened.evaluate("document.getElementById('content').innerText")


@both
def test_every_control_is_reached_by_the_tab_key(opened):
    expected, reached = opened.evaluate(FOCUSABLE), []
    for _ in range(len(expected) + 1):
        opened.press("Tab")
        reached.append(opened.evaluate(FOCUSED))
    assert [name for name in expected if name not in reached] == []
    visible = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
    opened.evaluate("document.getElementById('graph').focus()")
    opened.press("Tab")
    assert opened.evaluate(visible)  # one sees where the focus is


@step
def test_an_op_is_found_and_left_by_the_keyboard(opened):
    opened.press("/")
    assert opened.evaluate(FOCUSED) == "search"
    for letter in "relu":
        opened.press(letter)
    opened.press("Enter")
    assert opened.evaluate("gradtapeReport.selected().node.op") == "relu"
    assert "tf.nn.relu(x @ w[0])" in opened.evaluate("document.getElementById('content').innerText")
    opened.evaluate("document.activeElement.blur()")
    opened.press("Escape")
    assert opened.evaluate("gradtapeReport.selected() === null")


@both
def test_the_button_says_whether_it_opens_or_closes(opened):
    label, click = "document.getElementById('open-all').textContent", "document.getElementById('open-all').click()"
    assert opened.evaluate(label) == "Close all"  # a small graph starts open
    many = opened.evaluate("gradtapeReport.boxes().length")
    opened.evaluate(click)
    assert opened.evaluate(label) == "Open all" and opened.evaluate("gradtapeReport.boxes().length") < many
    opened.evaluate(click)
    assert opened.evaluate(label) == "Close all" and opened.evaluate("gradtapeReport.boxes().length") == many


@pytest.mark.parametrize("opened", ["steps"], indirect=True)
def test_arrow_keys_go_through_the_steps(opened):
    shown = "document.getElementById('step-text').textContent"
    first = opened.evaluate(shown)
    opened.press("ArrowLeft")
    before = opened.evaluate(shown)
    opened.press("ArrowRight")
    assert before != first == opened.evaluate(shown)


@both
def test_a_phone_shows_the_page_without_scrolling_sideways(opened):
    opened.resize(*PHONE, mobile=True)
    assert not opened.evaluate(SIDEWAYS)
    assert opened.evaluate("innerWidth") == PHONE[0]
    assert opened.evaluate(COLORS) > 4
    smallest = opened.evaluate(
        "Math.min(...[...document.querySelectorAll('header button, header input, header select')]"
        ".filter((x) => x.offsetParent).map((x) => x.getBoundingClientRect().height))"
    )
    assert smallest >= 32  # large enough for a finger


@step
def test_an_error_in_the_console_is_noticed(opened):
    opened.evaluate("console.error('a planted error')")
    assert opened.errors == ["a planted error"]
    opened.errors.clear()
