"""The cell magic `%%tape`: the function beneath it, and the magic itself in an IPython shell."""

import gc
import linecache
import traceback

import pytest

import gradtape as tf
from gradtape.api.debugging.cell_magic import record_cell


@pytest.fixture
def names():
    """The variables of a notebook; a live traced tape would make other tests' tapes traced."""
    found = {"tf": tf, "w": tf.Variable([1.0, 2.0]), "b": tf.Variable(1.0), "x": tf.constant([3.0, 4.0])}
    yield found
    found.clear()
    gc.collect()


def test_an_assignment_on_the_last_line_is_the_target(names):
    found = record_cell("h = w * x\nloss = tf.reduce_sum(h) + tf.stop_gradient(b)", names)
    assert found.title == "`loss` = 12: 1 of 2 sources have a gradient"
    assert [(g.reason.source, g.shape, g.norm) for g in found.gradients] == [("`w`", (2,), 5.0), ("`b`", None, None)]
    assert [reason.cause for reason in found.missing] == [tf.inspect.Cause.STOP_GRADIENT]
    assert found.missing[0].line[:2] == ("<cell>", 2)
    assert found.overview.ops == {"mul": 1, "sum": 1, "add": 1}
    assert float(names["loss"]) == 12 and names["tape"].gradient(names["loss"], names["w"]).numpy().tolist() == [3, 4]


def test_an_expression_on_the_last_line_is_the_target_and_may_be_a_vector(names):
    found = record_cell("tape.watch(x)\ntf.exp(x)", names)
    assert found.title == "The last expression = tensor of shape [2]: 1 of 1 sources have a gradient"
    assert [g.reason.source for g in found.gradients] == ["`x`"]


def test_target_and_sources_are_named(names):
    found = record_cell("loss = tf.reduce_sum(w * x)\nprint('', end='')", names, "loss", ["x", "w"])
    assert [g.norm for g in found.gradients] == [None, 5.0]
    assert found.missing[0].cause is tf.inspect.Cause.NEVER_WATCHED


def test_variables_in_structures_and_modules_are_sources(names):
    class Layer(tf.Module):
        def __init__(self):
            self.kernel = tf.Variable(2.0)

    names |= {"layer": Layer(), "scales": [tf.Variable(3.0)], "count": 3}
    found = record_cell("layer.kernel * scales[0] * float(count)", names)
    assert [g.norm for g in found.gradients] == [9.0, 6.0]
    assert [g.reason.source for g in found.gradients] == ["`layer.kernel`", "`scales[0]`"]


def test_variables_that_only_a_function_reads_are_sources(names):
    exec("def loss_of(y):\n    return tf.reduce_sum(w * y)", names)
    found = record_cell("loss = loss_of([x, x])", names)
    assert [(g.reason.source, g.norm) for g in found.gradients] == [("`w`", 10.0)]


@pytest.mark.parametrize(
    ("source", "remark"),
    [
        ("print('', end='')", "The last line has no value. Name one: %%tape loss"),
        ("n = 3", "`n` is of type int, and not a floating-point tensor. Name one: %%tape loss"),
        ("x * 2.0", "The cell reads no variable and watches no tensor. Name the sources: %%tape loss x"),
        ("loss = tf.sqrt(b - 1.0)", "Some gradients are not finite: tape.diagnose() says where that began."),
        ("", "The last line has no value. Name one: %%tape loss"),
    ],
)
def test_what_cannot_be_explained_has_a_remark(names, source, remark):
    assert record_cell(source, names).remark == remark


def test_a_cell_that_fails_raises_its_own_error_and_stops_recording(names):
    with pytest.raises(ZeroDivisionError):
        record_cell("y = w * 2.0\n1 / 0", names)
    assert tf.inspect.overview(names["tape"]).ops == {"mul": 1}
    _ = names["w"] * 2.0
    assert tf.inspect.overview(names["tape"]).ops == {"mul": 1}


def test_the_result_holds_no_tensor(names):
    found = record_cell("loss = tf.reduce_sum(w)", names)
    names.clear()
    gc.collect()
    assert not [x for x in gc.get_referents(found, *vars(found).values()) if isinstance(x, tf.Tensor | tf.Variable)]


def test_the_magic_runs_in_a_shell(tmp_path, monkeypatch):
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="needs IPython")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    cached = set(linecache.cache)
    shell = interactive.InteractiveShell.instance()
    try:
        cells = [
            "%load_ext gradtape\nimport gradtape as tf\nv, w = tf.Variable(2.0), tf.Variable(3.0)",
            "%%tape\nloss = v * float(w)",
            "%%tape v*v v w\n%time y = 1",
        ]
        results = [shell.run_cell(cell, store_history=True, silent=False) for cell in cells]
        for result in results:
            result.raise_error()
        _, assigned, named = (result.result for result in results)
        assert [g.norm for g in assigned.gradients] == [3.0, None]
        assert str(assigned.missing[0]).endswith("(In[2]:2)")  # as the notebook numbers cells and lines
        assert [g.norm for g in named.gradients] == [4.0, None]
        assert "<table>" in shell.display_formatter.format(assigned)[0]["text/html"]
        error = shell.run_cell("%%tape loss missing\nloss = v * 1.0").error_in_exec
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        assert type(error) is NameError and not any("gradtape/" in file for file in files)
        del error  # its traceback keeps the tape alive, and so does the shell until another cell fails
        shell.run_cell("raise ValueError")
    finally:
        shell.reset(new_session=False)
        interactive.InteractiveShell.clear_instance()
        for name in set(linecache.cache) - cached:
            del linecache.cache[name]
        gc.collect()
