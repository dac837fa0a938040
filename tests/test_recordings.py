"""Steps in files: saved, loaded without their program, replayed and compared."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from fuzz.mutations import replace_member

import gradtape as tf
from gradtape.cli import main
from gradtape.graph.control_flow.counted_loops import RoundLimit
from gradtape.inspect.recordings.compare import _apart

RNG = np.random.default_rng(0)


def step(x, w, b):
    h = tf.nn.relu(x @ w + b)
    parts = tf.split(h, 2, axis=1)
    return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1])) + tf.reduce_sum(tf.cast(b, tf.float64)[..., 1:3])


def recorded(path, run=step, **changes):
    given = {"x": RNG.normal(size=(5, 3)), "w": np.eye(3, 4), "b": np.ones(4)} | changes
    x = tf.constant(given["x"])
    w, b = tf.Variable(given["w"], name="w"), tf.Variable(given["b"], name="b")
    with tf.GradientTape(trace=True) as tape:
        y = run(x, w, b)
    gradients = tape.gradient(y, [w, b])
    return tape.save(path, y, [w, b]), gradients


@pytest.mark.parametrize("run", [step, tf.function(step)], ids=["eager", "function"])
def test_the_gradients_are_the_same(tmp_path, run):
    path, expected = recorded(tmp_path / "step.tape", run)
    loaded = tf.load_tape(path)
    assert list(loaded.sources) == ["w", "b"]
    for found, g in zip(loaded.gradient(), expected, strict=True):
        np.testing.assert_allclose(found, g, rtol=1e-15)
    one = loaded.gradient(sources=loaded.sources["b"])
    np.testing.assert_allclose(one, expected[1], rtol=1e-15)
    assert loaded.diagnose().ok
    assert "w" in str(loaded.explain(loaded.targets, list(loaded.sources.values())))
    assert "step.html" in str(loaded.report(tmp_path / "step.html"))


def test_lines_are_known_where_the_program_is_not(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys\nimport gradtape as tf\n"
        "v = tf.Variable([0.0, 1.0], name='v')\n"
        "with tf.GradientTape(trace=True) as tape:\n"
        "    loss = tf.reduce_sum(tf.math.log(v))\n"
        "tape.save(sys.argv[1], loss, v)\n"
    )
    path = tmp_path / "elsewhere" / "step.tape"
    subprocess.run([sys.executable, program, path], check=True, cwd=tmp_path)
    program.unlink()
    found = str(tf.load_tape(path).diagnose())
    assert "train.py:5" in found
    assert "loss = tf.reduce_sum(tf.math.log(v))" in found


def test_other_inputs(tmp_path):
    path, _ = recorded(tmp_path / "step.tape")
    loaded = tf.load_tape(path)
    again = loaded.replay({"b": [1.0, 2.0, 3.0, 4.0]})
    _, expected = recorded(tmp_path / "other.tape", x=loaded.recording.constants[0].numpy(), b=np.arange(1.0, 5.0))
    for found, g in zip(again.gradient(), expected, strict=True):
        np.testing.assert_allclose(found, g, rtol=1e-12)
    with pytest.raises(ValueError, match="no input 'c'"):
        loaded.replay({"c": 1.0})
    with pytest.raises(ValueError, match="has the shape"):
        loaded.replay({"b": [1.0]})


def test_where_two_runs_part(tmp_path, capsys):
    x = RNG.normal(size=(5, 3))
    first, _ = recorded(tmp_path / "a.tape", x=x)
    same, _ = recorded(tmp_path / "b.tape", x=x)
    assert tf.inspect.compare(first, same).same
    other_input, _ = recorded(tmp_path / "c.tape", x=x, b=np.array([1.0, 1.0, 1.5, 1.0]))
    found = tf.inspect.compare(first, other_input)
    assert (found.kind, found.difference) == ("input", 0.5)
    assert "the input b: at index (2,) a has 1, b has 1.5; 1 of 4 numbers differ" in str(found)

    def noisy(x, w, b):
        h = tf.nn.relu(x @ w + b)
        parts = tf.split(h, 2, axis=1)
        return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1] + 1e-7)) + tf.reduce_sum(b)

    def another(x, w, b):
        return tf.reduce_mean(tf.nn.softplus(x @ w + b))

    third, _ = recorded(tmp_path / "d.tape", another, x=x)
    found = tf.inspect.compare(first, third)
    assert found.kind == "program"
    assert "relu in a, softplus in b" in str(found)
    assert found.lines[1][1] == another.__code__.co_firstlineno + 1
    fourth, _ = recorded(tmp_path / "e.tape", noisy, x=x)
    assert tf.inspect.compare(first, fourth).kind == "program"
    assert main(["compare", str(first), str(same)]) == 0
    assert main(["compare", str(first), str(third)]) == 1
    assert "test_recordings.py" in capsys.readouterr().out
    assert main(["compare", str(first), str(tmp_path / "nothing.tape")]) == 2


def test_small_differences_may_be_tolerated(tmp_path):
    x = RNG.normal(size=(5, 3))
    first, _ = recorded(tmp_path / "a.tape", x=x)
    near, _ = recorded(tmp_path / "b.tape", x=x, w=np.eye(3, 4) * (1 + 1e-9))
    assert tf.inspect.compare(first, near).kind == "input"
    assert tf.inspect.compare(first, near, tolerance=1e-6).same


def test_damaged_files_and_other_files(tmp_path):
    path, _ = recorded(tmp_path / "step.tape")
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


def squared_until_large(v):
    x = 1.0 * v
    while tf.reduce_sum(x) < 100.0:
        x = x * x + tf.cast(v > 1.5, tf.float64)
    return tf.reduce_sum(x)


def either(v):
    if tf.reduce_sum(v) > 5.0:
        return tf.reduce_sum(v**3)
    return tf.reduce_sum(tf.exp(v))


def scanned(v):
    return tf.reduce_sum(tf.scan(lambda a, x: a * x + tf.sin(x), v))


def mapped(v):
    return tf.reduce_sum(tf.map_fn(lambda x: either(tf.stack([x, x])), v))


def counted(v):
    total = tf.zeros([], tf.float64)
    for i in tf.range(3):
        total += v[i] ** tf.cast(i + 1, tf.float64)
    return total


@tf.custom_gradient
def slow_cube(x):
    squared = x * x
    return x * squared, lambda g: 0.5 * g * squared


@tf.custom_gradient
def rows_of(table):
    def rule(g):
        return tf.IndexedSlices(2.0 * g, tf.constant([2, 0]), tf.constant([3], tf.int64))

    return tf.gather(table, [2, 0]), rule


def custom(v):
    return tf.reduce_sum(slow_cube(tf.sin(v)) * v)


def custom_rows(v):
    return tf.reduce_sum(rows_of(v) ** 2)


def recomputed(v):
    return tf.recompute_grad(lambda x: tf.reduce_sum(tf.exp(x) * x))(v)


PARTS = (squared_until_large, either, scanned, mapped, counted, custom, custom_rows, recomputed)


def second_order(tape, y, v):
    return tape.hvp(y, v, np.ones(v.shape))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("program", PARTS, ids=lambda f: f.__name__)
def test_branches_loops_and_custom_gradients(tmp_path, program, wrap):
    run = wrap(program)

    def asked(at):
        v = tf.Variable(at, name="v", dtype=tf.float64)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = run(v)
        return tape, y, v

    tape, y, v = asked([1.0, 2.0, 3.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    np.testing.assert_array_equal(loaded.targets[0], y)
    expected = tape.gradient(y, v)
    np.testing.assert_allclose(tf.convert_to_tensor(loaded.gradient()), tf.convert_to_tensor(expected), rtol=1e-13)
    assert loaded.diagnose().ok
    assert "step.html" in str(loaded.report(tmp_path / "step.html"))
    second = second_order(loaded, loaded.targets[0], loaded.sources["v"])
    np.testing.assert_allclose(second, second_order(tape, y, v), rtol=1e-12)
    if run is program and program in (squared_until_large, either, mapped):
        return  # branches and loops of Python code: the recording contains what they did, not the alternatives
    for other in ([0.5, 1.0, 1.5], [4.0, 1.0, 2.0]):
        again = loaded.replay({"v": other})
        tape, y, v = asked(other)
        np.testing.assert_allclose(again.targets[0], y, rtol=1e-13)
        found, expected = again.gradient(), tape.gradient(y, v)
        np.testing.assert_allclose(tf.convert_to_tensor(found), tf.convert_to_tensor(expected), rtol=1e-13)


def test_a_function_that_prints_and_one_that_assigns(tmp_path, capsys):
    state = tf.Variable(0.0)

    @tf.function
    def prints(v):
        tf.print("a step", output_stream=sys.stdout)
        return tf.reduce_sum(v**2)

    @tf.function
    def assigns(v):
        state.assign(2.0)
        return tf.reduce_sum(v * state)

    for function, expected in ((prints, [2.0, 4.0]), (assigns, [2.0, 2.0])):
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.GradientTape(trace=True) as tape:
            y = function(v)
        loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
        assert loaded.gradient().numpy().tolist() == expected
    assert capsys.readouterr().out == "a step\n"


@pytest.mark.parametrize("jit_compile", [False, True])
def test_what_a_function_drew_is_in_the_file(tmp_path, jit_compile):
    @tf.function(jit_compile=jit_compile)
    def step(v):
        kept = tf.nn.dropout(v, 0.5)
        return tf.reduce_sum(kept * tf.random.normal([50]))

    v = tf.Variable(tf.ones([50]), name="v")
    for _ in range(3):
        with tf.GradientTape(trace=True) as tape:
            y = step(v)
        expected = tape.gradient(y, v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    assert 5 < np.count_nonzero(expected) < 45
    np.testing.assert_allclose(loaded.gradient(), expected, rtol=1e-6)
    again = loaded.replay({"v": 2.0 * np.ones(50)})
    np.testing.assert_allclose(again.targets[0], 2.0 * y, rtol=1e-5)


def test_a_diagnosis_looks_into_a_call_that_draws():
    @tf.function
    def step(v):
        return tf.reduce_sum(tf.math.log(v) * tf.random.uniform([2], 0.5))

    v = tf.Variable([1.0, 0.0])
    with tf.GradientTape(trace=True) as tape:
        y = step(v)
    state = float(step(v + 1.0))
    assert "tf.math.log" in str(tape.diagnose(y, v))
    assert float(step(v + 1.0)) != state


def test_numpy_inside_of_a_custom_gradient_is_known_for_its_own_inputs_only(tmp_path):
    @tf.custom_gradient
    def cosine(x):
        return tf.constant(np.cos(x.numpy())), lambda g: -g * tf.sin(x)

    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = cosine(v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    np.testing.assert_allclose(loaded.gradient(), -np.sin([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(ValueError, match=r"custom gradient at .*test_recordings\.py:\d+.* not recorded as ops"):
        loaded.replay({"v": [1.0, 3.0]})


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


def test_a_branch_that_was_never_traced_is_no_replay(tmp_path):
    @tf.function
    def step(v):
        return tf.reduce_sum(tf.boolean_mask(v, v > 0.0) ** 2)

    v = tf.Variable([1.0, -1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = step(v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    assert loaded.gradient().numpy().tolist() == [2.0, 0.0, 4.0]
    assert loaded.replay({"v": [-1.0, 3.0, 4.0]}).gradient().numpy().tolist() == [0.0, 6.0, 8.0]
    with pytest.raises(ValueError, match=r"the function was traced for specific values at .*test_recordings\.py"):
        loaded.replay({"v": [1.0, 1.0, 1.0]})


def test_where_two_loops_part(tmp_path):
    def save(name, body, start=1.0):
        v = tf.Variable([start, 2.0], name="v")

        @tf.function
        def step(v):
            return tf.reduce_sum(tf.scan(body, v))

        with tf.GradientTape(trace=True) as tape:
            y = step(v)
        return tape.save(tmp_path / name, y, v)

    a = save("a.tape", lambda a, x: tf.sin(a) * x)
    assert tf.inspect.compare(a, save("same.tape", lambda a, x: tf.sin(a) * x)).same
    found = tf.inspect.compare(a, save("b.tape", lambda a, x: tf.cos(a) * x))
    assert found.kind == "program"
    assert "inside loop, in its body, sin in a, cos in b" in str(found)
    assert found.lines[0][1] + 2 == found.lines[1][1]
    c, d = save("c.tape", lambda a, x: 2.0 * x), save("d.tape", lambda a, x: 2.5 * x)
    found = tf.inspect.compare(c, d)
    assert (found.kind, found.difference) == ("input", 0.5)
    assert "a constant of op" in str(found)
    assert tf.inspect.compare(a, save("e.tape", lambda a, x: tf.sin(a) * x, start=1.5)).kind == "input"


def test_what_a_file_has_no_words_for(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda g: tf.constant(2.0 * g.numpy())

    @tf.custom_gradient
    def clipped(x):
        return 2.0 * x, lambda g: g if tf.reduce_max(g) < 1.0 else g / tf.reduce_max(g)

    v = tf.Variable([1.0])
    for function in (doubled, clipped):
        with tf.GradientTape(trace=True) as tape:
            y = function(v)
        with pytest.raises(RuntimeError, match=rf"gradient of {function.__name__} at test_recordings\.py:\d+") as found:
            tape.save(tmp_path / "step.tape", y, v)
        assert "Use TensorFlow ops" in str(found.value)


    @tf.function
    def noisy_loop(v):
        for _ in tf.range(3):
            v = v * tf.random.uniform([1])
        return v

    with tf.GradientTape(trace=True) as tape:
        y = noisy_loop(v)
    with pytest.raises(RuntimeError, match=r"run the call of noisy_loop at test_recordings.*draws random numbers"):
        tape.save(tmp_path / "step.tape", y, v)
    assert os.listdir(tmp_path) == []


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
    path, _ = recorded(tmp_path / "step.tape")
    with pytest.raises(tf.errors.DataLossError):
        tf.load_tape(changed(path, DAMAGE[what]))


def test_a_newer_format_and_an_unknown_op(tmp_path):
    path, _ = recorded(tmp_path / "step.tape")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Use the version that wrote it"):
        tf.load_tape(changed(path, lambda notes: notes.update(format=1000)))
    path, _ = recorded(tmp_path / "step.tape")
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
    path, _ = recorded(tmp_path / "step.tape")

    def rename(notes):
        (lines,) = notes["texts"].values()
        notes["texts"] = {"/etc/a\0b\n<c>.py": lines}
        for step in notes["steps"]:
            step[5][0] = "/etc/a\0b\n<c>.py"

    loaded = tf.load_tape(changed(path, rename))
    reason = loaded.explain().reasons[0]
    assert reason.line is None or reason.line[0].startswith("<step.tape, ")
    assert "a?b??c?.py" in str(loaded.profile())


def test_complex_values_have_their_own_rules(tmp_path):
    for run in (lambda z: z * z, tf.function(lambda z: z * z)):
        z = tf.Variable(1.0 + 2.0j, name="z", dtype=tf.complex64)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = run(z)
        loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, z))
        assert tape.gradient(y, z).numpy() == loaded.gradient().numpy() == 2.0 - 4.0j


def assigning(v, w):
    first = tf.reduce_sum(v * w)
    v.assign(v * w + 1.0)
    w.assign_add(v)
    return first + tf.reduce_sum(v * v * w)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_variable_that_is_assigned_between_reads(tmp_path, wrap):
    def run(at):
        v, w = tf.Variable(at, name="v"), tf.Variable([1.0, 3.0], name="w")
        step = wrap(assigning)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = step(v, w) + tf.reduce_sum(v)
            y += step(v, w)
        return tape, y, [v, w]

    tape, y, sources = run([1.0, 2.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, sources))
    np.testing.assert_allclose(loaded.gradient(), tape.gradient(y, sources), rtol=1e-6)
    np.testing.assert_allclose(loaded.inputs["v"], [1.0, 2.0])
    assert loaded.audit_precision().rows is not None
    again = loaded.replay({"v": [2.0, -1.0]})
    tape, y, sources = run([2.0, -1.0])
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-5)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, sources), rtol=1e-5)


def settled(v, x):  # with the recorded inputs, the assignment does not change the numbers
    first = tf.reduce_sum(v * v)
    tf.function(lambda: (v.assign(tf.minimum(v, 10.0)), tf.reduce_sum(v))[1])()
    return first + tf.reduce_sum(v * v)


def silent(v, x):  # a call that returns nothing is no record
    tf.function(lambda: [v.assign(0.5 * v + x)][1:])()
    return tf.reduce_sum(v * v)


def unwatched(v, x):
    state = tf.Variable([1.0, 1.0], trainable=False)
    state.assign_add(v * x)
    tf.function(lambda: [state.assign(state * x + 1.0)][1:])()
    return tf.reduce_sum(v * state)


def counted(v, x):  # calls that give integers have no derivative
    count = tf.function(lambda: tf.reduce_sum(tf.cast(v > 0.0, tf.int32)))()
    return tf.reduce_sum(v * x * tf.cast(tf.function(lambda n: 2 * n + 1)(count), tf.float32))


@pytest.mark.parametrize("step", [settled, silent, unwatched, counted])
def test_what_functions_leave_in_variables_is_computed_again(tmp_path, step):
    def run(at):
        v, x = tf.Variable(at, name="v"), tf.constant([2.0, -1.0])
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch(x)
            y = step(v, x)
        return tape, y, [v, x]

    recorded = run([3.0, -5.0])
    loaded = tf.load_tape(recorded[0].save(tmp_path / "step.tape", *recorded[1:]))
    cases = (loaded, recorded), (loaded.replay({"v": [20.0, 4.0]}), run([20.0, 4.0]))
    for found, (tape, y, sources) in cases:
        np.testing.assert_allclose(found.targets[0], y, rtol=1e-6)
        for g, h in zip(tape.gradient(y, sources), found.gradient(), strict=True):
            assert (g is None) == (h is None)
            if g is not None:
                np.testing.assert_allclose(h, g, rtol=1e-6)


def test_a_call_on_two_tapes_is_replayed_for_the_branches_it_took(tmp_path):
    @tf.function
    def branch(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * x, lambda: x)

    def run(at):
        v = tf.Variable(at, name="v")
        with tf.GradientTape(trace=True, persistent=True) as tape:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(branch(v) ** 2)
            y += tf.reduce_sum(inner.gradient(y, v))
        return tape, y, v

    tape, y, v = run([1.0, 2.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    again, (tape, y, v) = loaded.replay({"v": [3.0, -1.0]}), run([3.0, -1.0])
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-6)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, v), rtol=1e-6)
    with pytest.raises(ValueError, match="traced for specific values"):
        loaded.replay({"v": [-3.0, -1.0]})


def test_sources_that_nothing_uses_and_values_on_the_way(tmp_path):
    x, unused, never = tf.constant([1.0, 2.0]), tf.constant(3.0), tf.Variable(4.0, name="never")
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True, persistent=True) as tape:
        tape.watch([x, unused])
        middle = x * v
        y = tf.reduce_sum(middle**2)
        other = tf.stop_gradient(y)
    sources = [v, unused, never, middle, x, v]
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", [y, other], sources))
    expected, found = tape.gradient([y, other], sources), loaded.gradient()
    assert [g is None for g in found] == [False, True, True, False, False, False]
    for g, h in zip(expected, found, strict=True):
        assert (g is None) == (h is None)
        if g is not None:
            np.testing.assert_allclose(h, g)
    assert len(loaded.targets) == 2
    assert [reason.cause.value for reason in loaded.explain().reasons] == [
        "connected", "no path", "no path", "connected", "connected", "connected"
    ]  # fmt: skip
    assert tf.load_tape(tape.save(tmp_path / "all.tape")).gradient() is not None  # about what it watches


def test_a_source_that_a_call_made_of_what_has_no_derivative(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    scale = tf.function(lambda x, w: tf.stop_gradient(x) * 2.0 + 0.0 * tf.stop_gradient(w))
    with tf.GradientTape(trace=True, persistent=True) as tape:
        middle = scale(v, v)
        y = tf.reduce_sum(middle**2)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, [middle, v]))
    expected = tape.gradient(y, [middle, v])
    np.testing.assert_allclose(loaded.gradient()[0], expected[0])
    assert expected[1] is None and loaded.gradient()[1] is None
    np.testing.assert_allclose(loaded.replay({"v": [3.0, 4.0]}).gradient()[0], [12.0, 16.0])


def test_other_inputs_than_variables(tmp_path):
    batch, labels, watched = tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant(0.5)
    w = tf.Variable([[1.0, 0.0], [0.5, 1.0]], name="w")

    @tf.function
    def step(x, labels):
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w))

    def run(batch, labels, watched):
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch(watched)
            y = step(batch, labels) * watched + tf.reduce_sum(tf.where(w > watched, w, 0.0))
        return tape, y

    tape, y = run(batch, labels, watched)
    path = tape.save(tmp_path / "step.tape", y, w, inputs={"x": batch, "labels": labels, "scale": watched})
    loaded = tf.load_tape(path)
    assert sorted(loaded.inputs) == ["labels", "scale", "w", "x"]
    others = {"x": tf.constant([[-1.0, 4.0]]), "labels": np.array([0]), "scale": tf.constant(0.75)}
    again = loaded.replay(others)
    tape, y = run(*map(tf.constant, (others["x"], [0], 0.75)))
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-6)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, w), rtol=1e-6)
    with pytest.raises(ValueError, match="the input 'z' is not an argument of any recorded op"):
        tape.save(path, y, w, inputs={"z": tf.constant(1.0)})


def test_every_sample_of_every_op_is_one_that_a_file_may_have():
    from gradtape.engine.registry.op import registry
    from gradtape.inspect.recordings.validation import check_op

    tf.reduce_sum(1.0)
    for op in registry.values():
        for case in op.samples:
            if not any(callable(value) for value in case.attrs.values()):
                check_op(None, op, [((), tf.float32)] * len(case.inputs), case.attrs, op.name)


def test_other_targets_and_large_integers_are_differences(tmp_path):
    def saved(name, target):
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.GradientTape(trace=True) as tape:
            results = tf.exp(v), tf.sin(v)
        return tape.save(tmp_path / name, results[target], v)

    found = tf.inspect.compare(saved("a", 0), saved("b", 1))
    assert (found.same, found.kind) == (False, "program") and "targets" in str(found)
    assert tf.inspect.compare(tmp_path / "a", saved("c", 0)).same
    large = [tf.constant([2**53 + i], tf.int64) for i in (0, 1)]
    assert _apart(large[0], large[1], 0.0) is not None and _apart(large[0], large[0], 0.0) is None


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
