"""Recordings with damaged bytes, JSON and zip members: each is rejected, or works as a recording.

A rejection is one of TensorFlow's errors; nothing in the file runs, and nothing hangs. All methods of a loaded tape are
called.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import random
import signal
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import gradtape as tf

from . import mutations, recordings

SECONDS = 20  # seconds after which a case counts as hanging
ROUNDS = 2000  # iterations of a loop that may not end
SAMPLES = 40
OPS = ["add", "mul", "sum", "mean", "matmul", "slice", "reshape", "transpose", "concat", "where", "gather", "pad"]
OPS += ["sort", "cumsum", "softmax", "loop", "cond", "assigned", "guard", "custom_gradient", "no_such_op"]


@tf.function
def _looping(v: Any) -> Any:
    x = tf.while_loop(lambda i, z: i < tf.cast(v[0], tf.int32) + 3, lambda i, z: (i + 1, tf.sin(z) * v), (0, v))[1]
    rows = tf.scan(lambda a, row: tf.reduce_sum(a * row, axis=0, keepdims=False) + a, tf.stack([x, v]), v)
    y = tf.cond(tf.reduce_sum(v) > 0.0, lambda: recordings.twice_as_steep(x), lambda: x)
    return tf.reduce_sum(y) + tf.reduce_mean(rows, axis=[0, 1], keepdims=False)


def _convolving(v: Any) -> Any:
    image = tf.reshape(tf.tile(v, [16]), [1, 4, 4, 2])
    y = tf.nn.conv2d(image, tf.ones([2, 2, 2, 3]) * v[0], [1, 2, 1, 1], "SAME")
    pooled = tf.nn.max_pool2d(y, 2, 1, "VALID")
    return tf.reduce_sum(tf.pad(pooled, [[0, 0], [1, 0], [0, 2], [0, 0]]) * tf.one_hot([0], 3)) + tf.reduce_sum(
        tf.linalg.matmul(image[0, 0], image[0, 1], transpose_b=True)
    )


@cache
def _recording(number: int) -> bytes:
    """Returns the bytes of a recording: of a random program, or of one with loops, branches and windows."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.tape")
        if number % 4 < 2:
            v = tf.Variable([0.5, 1.5], name="v")
            with tf.GradientTape(trace=True) as tape:
                y = (_looping, _convolving)[number % 4](v)
            tape.save(path, y, v)
        else:
            program = recordings.Program(number)
            tape, targets, known = program.run(program.inputs(0))
            tape.save(path, targets, [known[name] for name in program.sources])
        with open(path, "rb") as file:
            return file.read()


def _damaged_json(content: bytes, rng: random.Random) -> bytes:
    """Returns damaged contents, usually in the steps, and usually with the right types."""
    document = json.loads(content)
    mutate = rng.choice([mutations.mutate_json, mutations.mutate_json_alike, mutations.mutate_json_alike])
    notes = document["notes"]
    match rng.randrange(10):
        case 0:
            document["dtypes"] = json.loads(mutate(json.dumps(document["dtypes"]), rng))
        case 1:
            document["notes"] = json.loads(mutate(json.dumps(notes), rng))
        case 2:
            steps = [step for step in notes["steps"] if step[2]] or notes["steps"]
            rng.choice(steps)[0] = rng.choice(OPS)
        case _:
            at = rng.randrange(len(notes["steps"]))
            step = notes["steps"][at]
            part = rng.choice([0, 1, 2, 2, 2, 3, 4]) if step[2] else rng.choice([1, 3])
            step[part] = json.loads(mutate(json.dumps([step[part]]), rng))
            step[part] = step[part][0] if len(step[part]) == 1 else step[part]
    return json.dumps(document).encode()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Returns a recording with damage to its bytes, or to a member with matching checksums."""
    if rng.random() < 0.1:
        return mutations.mutate_bytes(data, rng)

    def mutate_member(name: str, content: bytes) -> bytes:
        return _damaged_json(content, rng) if name.endswith(".json") else mutations.mutate_bytes(content, rng)

    if rng.random() < 0.8:
        return mutations.replace_member(data, "contents.json", lambda content: _damaged_json(content, rng))
    return mutations.mutate_zip(data, rng, mutate_member)


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Raises an exception in a call that takes too long; one that does not notice ends with a traceback."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"no answer after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(3 * SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def disagreements(seed: int) -> list[str]:
    """Returns the ways in which a damaged recording was neither rejected nor worked."""
    rng = random.Random(seed)
    data = damaged(_recording(rng.randrange(min(SAMPLES, 2 + seed // 4))), rng)  # the first cases share a few
    found = []
    folder = os.getcwd()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # swapped numbers overflow
        os.chdir(place)
        try:
            with open("step.tape", "wb") as file:
                file.write(data)
            try:
                with _time_limit():
                    _ask()
            except tf.errors.OpError:
                pass
            except BaseException as error:
                found.append(f"{type(error).__name__}: {error}")
            others = set(os.listdir(".")) - {"step.tape", "step.html"}
            if others:
                found.append(f"it made {sorted(others)}")
        finally:
            os.chdir(folder)
    return found


def _ask() -> None:
    """Loads the file and calls all methods: an error of one does not end the case."""
    loaded = tf.load_tape("step.tape", max_rounds=ROUNDS)
    tf.inspect.compare("step.tape", "step.tape")
    first = {name: x.numpy() for name, x in loaded.inputs.items()}
    questions = [loaded.gradient, loaded.explain, loaded.diagnose, loaded.profile, loaded.flow, loaded.memory]
    questions += [loaded.check, loaded.audit_precision, lambda: loaded.report("step.html")]
    questions += [lambda: loaded.replay(first).gradient()]
    for ask in questions:
        try:
            str(ask())
        except (tf.errors.OpError, RuntimeError, ValueError) as error:
            if isinstance(error, RecursionError | UnicodeError):
                raise
