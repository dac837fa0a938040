"""Recordings from untrusted sources: gradtape checks a file before it uses what the file says."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from fuzz.mutations import replace_member
from test_recordings import save_step

import gradtape as tf
from gradtape.graph.control_flow.counted_loops import RoundLimit


def test_damaged_files_and_other_files(tmp_path):
    path, _ = save_step(tmp_path / "step.tape")
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.DataLossError):
            tf.load_tape(path)
    np.savez(tmp_path / "arrays.tape", x=np.ones(3))
    with pytest.raises(tf.errors.DataLossError):
        tf.load_tape(tmp_path / "arrays.tape.npz")
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_tape(tmp_path / "nothing.tape")


def test_a_loop_is_loaded_where_its_program_is_not(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys\nimport gradtape as tf\n"
        "v = tf.Variable([0.5, 1.0], name='v')\n\n"
        "@tf.custom_gradient\n"
        "def half(x):\n"
        "    return x, lambda g: 0.5 * g * x\n\n"
        "@tf.function\n"
        "def step(v):\n"
        "    x = half(v)\n"
        "    while tf.reduce_sum(x) > 1.0:\n"
        "        x = tf.math.log(x)\n"
        "    return tf.reduce_sum(x)\n\n"
        "with tf.GradientTape(trace=True) as tape:\n"
        "    loss = step(v)\n"
        "print(tape.gradient(loss, v).numpy().tolist())\n"
        "tape.save(sys.argv[1], loss, v)\n"
    )
    path = tmp_path / "step.tape"
    done = subprocess.run([sys.executable, program, path], check=True, cwd=tmp_path, capture_output=True, text=True)
    program.unlink()
    loaded = tf.load_tape(path)
    assert str(loaded.gradient().numpy().tolist()) == done.stdout.strip()
    again = loaded.replay({"v": [3.0, 0.0]})
    found = str(again.diagnose())
    assert "tf.math.log" in found
    assert "train.py:13" in found
    assert "x = tf.math.log(x)" in found


def changed(path, change):
    """Changes the contents of a recording; the checksums are valid."""

    def replace(content):
        document = json.loads(content)
        text = change(document["notes"])
        return text.encode() if isinstance(text, str) else json.dumps(document).encode()

    path.write_bytes(replace_member(path.read_bytes(), "contents.json", replace))
    return path


def saved_loop(path):
    @tf.function
    def step(v):
        total = v
        while tf.reduce_sum(total) < 10.0:
            total = total * tf.abs(tf.reduce_sum(total, keepdims=True))
        return tf.reduce_sum(total)

    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = step(v)
    return tape.save(path, y, v)


def nodes_of(words):
    if isinstance(words, dict):
        yield from words.get("nodes", ())
    for part in words.values() if isinstance(words, dict) else words if isinstance(words, list) else ():
        yield from nodes_of(part)


HOSTILE = "keepdims=False if open('MARK','w').write('x') else True, dtype"


@pytest.mark.parametrize("name", [HOSTILE, "dtype", "lambda", "__class__", ""])
def test_no_attribute_name_of_a_file_is_run(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = saved_loop(tmp_path / "step.tape")

    def rename(notes):
        for node in nodes_of(notes["steps"]):
            if "keepdims" in node[2]:
                del node[2]["keepdims"]
                node[2][name] = None

    changed(path, rename)
    with pytest.raises(tf.errors.DataLossError, match=r"attribute.*expected.*save the step again"):
        tf.load_tape(path)
    assert os.listdir() == ["step.tape"]


def in_steps(change):
    def apply(notes):
        for step in notes["steps"]:
            change(step)

    return apply


def set_line(number):
    def change(notes):
        for file, lines in notes["texts"].items():
            notes["texts"][file] = {str(number): text for text in lines.values()}
        for step in notes["steps"]:
            step[5][1] = number

    return change


def nested(depth):
    value = 1
    for _ in range(depth):
        value = {"tuple": [value]}
    return value


DAMAGE = {
    "a line of the far end": set_line(2_000_000_000),
    "a line that is a text": set_line("'1'"),
    "an input that is not there": in_steps(lambda step: step.__setitem__(1, [77])),
    "an input from the end": in_steps(lambda step: step.__setitem__(1, [-1])),
    "no input": in_steps(lambda step: step.__setitem__(1, [])),
    "an output twice": in_steps(lambda step: step[3].append(0)),
    "another number of outputs": in_steps(lambda step: step[3].append(1000 + step[3][0])),
    "no name": in_steps(lambda step: step.__setitem__(0, None)),
    "a constant that is not there": in_steps(lambda step: step.__setitem__(1, [{"constant": 99}])),
    "an attribute too many": in_steps(lambda step: step[2].update(axis={"tuple": [5]}, other=1)),
    "a nest without end": in_steps(lambda step: step[2].update(axis=nested(300))),
    "a huge number": in_steps(lambda step: step[2].update(axis=10**30)),
    "a file name": in_steps(lambda step: step[5].__setitem__(0, "../../MARK")),
    "no targets": lambda notes: notes.pop("targets"),
    "other targets": lambda notes: notes.update(targets=[1000]),
    "other sources": lambda notes: notes.update(sources=["v"]),
    "a leaf without a value": lambda notes: notes["leaves"].append([1000, "x"]),
    "two leaves of one name": lambda notes: notes["leaves"].append([1, notes["leaves"][0][1]]),
    "a format of the past": lambda notes: notes.update(format=-1),
    "a format that is none": lambda notes: notes.update(format=[3]),
    "no dictionary": lambda notes: json.dumps({"dtypes": {}, "notes": [1, 2]}),
    "brackets": lambda notes: "[" * 100_000,
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_a_file_says_is_checked_before_it_is_used(tmp_path, what):
    path, _ = save_step(tmp_path / "step.tape")
    with pytest.raises(tf.errors.DataLossError):
        tf.load_tape(changed(path, DAMAGE[what]))


def test_a_newer_format_and_an_unknown_op(tmp_path):
    path, _ = save_step(tmp_path / "step.tape")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Use the version that wrote it"):
        tf.load_tape(changed(path, lambda notes: notes.update(format=1000)))
    path, _ = save_step(tmp_path / "step.tape")
    with pytest.raises(tf.errors.UnimplementedError, match=r"'no_such_op' at .*test_recordings"):
        tf.load_tape(changed(path, in_steps(lambda step: step.__setitem__(0, "no_such_op"))))


def test_sizes_that_an_op_does_not_have_are_not_computed(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(tf.pad(v, [[1, 2]]))
    path = tape.save(tmp_path / "step.tape", y, v)

    def widen(step):
        if step[0] == "pad":
            step[2]["paddings"] = {"tuple": [{"tuple": [10**10, 0]}]}

    with pytest.raises(tf.errors.DataLossError, match=r"its paddings, is .* expected sizes of at most"):
        tf.load_tape(changed(path, in_steps(widen)))


def test_a_loop_without_an_end_is_ended(tmp_path):
    path = saved_loop(tmp_path / "step.tape")
    assert tf.load_tape(path, max_rounds=10).gradient().shape == (2,)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="load it with a larger max_rounds"):
        tf.load_tape(path, max_rounds=0)

    loaded = tf.load_tape(path, max_rounds=1000)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="more than 1000 times"):
        loaded.replay({"v": [-1.0, 0.0]})  # as it would be for the program


def test_no_text_of_a_file_is_a_path_or_has_line_ends(tmp_path):
    path, _ = save_step(tmp_path / "step.tape")

    def rename(notes):
        (lines,) = notes["texts"].values()
        notes["texts"] = {"/etc/a\0b\n<c>.py": lines}
        for step in notes["steps"]:
            step[5][0] = "/etc/a\0b\n<c>.py"

    loaded = tf.load_tape(changed(path, rename))
    reason = loaded.explain().reasons[0]
    assert reason.line is None or reason.line[0].startswith("<step.tape, ")
    assert "a?b??c?.py" in str(loaded.profile())


def test_every_sample_of_every_op_is_one_that_a_file_may_have():
    from gradtape.engine.registry.op import registry
    from gradtape.inspect.recordings.validation import check_op

    tf.reduce_sum(1.0)
    for op in registry.values():
        for case in op.samples:
            if not any(callable(value) for value in case.attrs.values()):
                check_op(None, op, [((), tf.float32)] * len(case.inputs), case.attrs, op.name)


def test_each_thread_counts_its_own_rounds():
    limit, done = RoundLimit(3), []

    def three_rounds():
        run = limit.counted(lambda: done.append(1))
        for _ in range(3):
            run()

    def in_another_thread():
        thread = threading.Thread(target=three_rounds)
        thread.start()
        thread.join()

    run = limit.counted(in_another_thread)
    run()
    run()
    assert len(done) == 6
