"""Names that few programs use; tests/recorded/uncommon_names.py compares others with TensorFlow."""

import io
import threading
import time

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    "options",
    [([1, 1, 1, 1], "SAME"), ([1, 2, 1, 1], "VALID"), ([1, 1, 1, 1], "EXPLICIT", True, [0, 0, 1, 0, 2, 1, 0, 0])],
)
def test_backward_convolutions_are_gradients(options):  # TensorFlow has these ops for GPUs only
    x, kernel = (tf.random.stateless_normal(shape, [1, 2]) for shape in ([1, 5, 6, 2], [2, 3, 2, 2]))
    strides, padding = options[:2]
    pairs = np.reshape(options[3], [4, 2]).tolist() if padding == "EXPLICIT" else padding
    with tf.GradientTape() as tape:
        tape.watch([x, kernel])
        y = tf.nn.conv2d(x, kernel, strides, pairs)
    cotangent = tf.random.stateless_normal(y.shape, [3, 4])
    expected = tape.gradient(y, [x, kernel], cotangent)
    for found, gradient in zip(
        (
            tf.conv2d_backprop_input_v2(x, kernel, cotangent, *options),
            tf.conv2d_backprop_filter_v2(x, kernel, cotangent, *options),
        ),
        expected,
        strict=True,
    ):
        np.testing.assert_allclose(found, gradient, rtol=1e-5, atol=1e-5)


def test_concurrent_calls_are_one_batch():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 6, 2_000_000, autograph=False)
    def triple(x):
        sizes.append(x.shape[0])  # at every trace
        return x * 3.0

    found = {}

    def call(number):
        found[number] = triple(tf.fill([2], float(number))).numpy().tolist()

    threads = [threading.Thread(target=call, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [3.0 * number] * 2 for number in range(3)}
    assert sizes == [6]


def test_large_calls_are_split_and_errors_are_raised():
    @tf.nondifferentiable_batch_function(1, 2, 0, autograph=False)
    def checked(x):
        return tf.debugging.check_numerics(x, "bad")

    assert checked(tf.range(5.0)).numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        checked(tf.constant([float("nan")]))
    with pytest.raises(ValueError, match="supposed to be Tensors"):
        checked(3.0)

    whole = tf.nondifferentiable_batch_function(1, 2, 0, enable_large_batch_splitting=False)(lambda x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_batch_size"):
        whole(tf.range(5.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed_batch_sizes"):
        tf.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes=[4, 2])
    with tf.GradientTape() as tape:
        x = tf.Variable([1.0])
        y = checked(x * 1.0)
    assert tape.gradient(y, x) is None


def test_sections_with_one_name_are_one():
    first, second, inside = tf.CriticalSection(shared_name="a"), tf.CriticalSection(shared_name="a"), []

    def enter(section):
        def step():
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.01)
            inside.pop()

        section.execute(step)

    threads = [threading.Thread(target=enter, args=[section]) for section in (first, second) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == []
    total = tf.Variable(0.0)
    add = tf.function(lambda: first.execute(lambda: total.assign_add(1.0)))
    assert [float(add()) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_learned_frequencies_follow_the_true_classes():
    draw = lambda: tf.random.learned_unigram_candidate_sampler([[2]] * 400, 1, 200, False, 4, seed=51)  # noqa: E731
    draw()
    assert (draw().sampled_candidates.numpy() == 2).sum() > 180


def test_frames_of_webp_files():
    images = pytest.importorskip("PIL.Image")
    first, second = (images.new("RGB", (6, 4), color) for color in ("red", "blue"))
    file = io.BytesIO()
    first.save(file, "WEBP", save_all=True, append_images=[second], lossless=True)
    frames = tf.image.decode_webp(file.getvalue())
    assert frames.shape == (2, 4, 6, 3)
    assert frames[1, 0, 0].numpy().tolist() == [0, 0, 255]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Number of channels"):
        tf.image.decode_webp(file.getvalue(), 4)


def test_reports_of_benchmarks(capsys, tmp_path, monkeypatch):
    class Sums(tf.test.Benchmark):
        def benchmark_sum(self):
            return self.run_op_benchmark(None, lambda: tf.reduce_sum(tf.ones(3)), min_iters=3, extras={"size": 3})

    found = Sums().benchmark_sum()
    assert found["iters"] == 3
    assert set(found["extras"]) == {"size", "wall_time_mean", "wall_time_stdev"}
    assert 'name: "Sums.benchmark_sum"' in capsys.readouterr().out
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/")
    Sums().report_benchmark(wall_time=0.5, name="other", metrics=[{"name": "loss", "value": 2}])
    assert "metrics: loss = 2" in (tmp_path / "Sums.other").read_text()
    with pytest.raises(OSError, match="already exists"):
        Sums().report_benchmark(name="other")
    with pytest.raises(ValueError, match="Unable to determine"):
        Sums().report_benchmark()
    assert tf.test.Benchmark.is_abstract()
    assert not Sums.is_abstract()


def test_horizons_are_restored():
    with tf.compat.forward_compatibility_horizon(2030, 1, 1):
        assert tf.compat.forward_compatible(2029, 1, 1)
    assert not tf.compat.forward_compatible(2029, 1, 1)


def test_files_are_matched_once(tmp_path):
    for name in ("b", "a"):
        (tmp_path / name).touch()
    names = tf.io.match_filenames_once(f"{tmp_path}/*")
    assert [name.rpartition(b"/")[2] for name in names.numpy()] == [b"a", b"b"]
