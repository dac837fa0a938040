"""Saving and replaying tapes of a device, on which functions are recorded op by op."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.state.device_storage import DeviceStorage


def looped(v, x):
    steps = tf.cast(tf.reduce_sum(tf.abs(v)) < 4.0, tf.int32) + 2
    return tf.while_loop(lambda i, z: i < steps, lambda i, z: (i + 1, tf.sin(z) * x), (0, v))[1]


def branched(v, x):
    return tf.cond(tf.reduce_sum(v) > 0.0, lambda: v, lambda: tf.sin(v) * 2.0)  # one branch returns its input


def compared(v, x):
    return tf.where(v > x, v, 0.5 * x) + tf.stop_gradient(v)


def shaped(v, x):
    count = tf.reduce_sum(tf.cast(v > 0.0, tf.int32))
    return v * tf.cast(tf.reduce_sum(tf.range(count + 1)), tf.float32)


def assigned(v, x):
    v.assign(0.5 * v + tf.sin(x))
    return v * v


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("step", [looped, branched, compared, shaped, assigned])
def test_a_replay_computes_what_the_program_does(tmp_path, step, wrap):
    if wrap is not tf.function and step in (looped, branched, shaped):
        pytest.skip("a replay has the branches that Python took")
    step = wrap(step)

    def run(at):
        v, x = tf.Variable(at, name="v"), tf.constant([0.5, 1.5])
        assert type(v._storage) is DeviceStorage
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch(x)
            y = tf.reduce_sum(step(v, x) + v)
        return tape, y, [v, x]

    tape, y, sources = run([1.0, 2.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, sources))
    for given in ([1.0, 2.0], [-4.0, 0.5], [-1.0, 7.0]):
        tape, y, sources = run(given)
        if step.__name__ == "shaped" and given != [1.0, 2.0]:
            with pytest.raises(ValueError, match="traced for specific values"):
                loaded.replay({"v": given})
            continue
        again = loaded.replay({"v": given})
        np.testing.assert_allclose(again.targets[0], y, rtol=1e-6)
        for g, h in zip(tape.gradient(y, sources), again.gradient(), strict=True):
            assert (g is None) == (h is None)
            if g is not None:
                np.testing.assert_allclose(h, g, rtol=1e-6)
