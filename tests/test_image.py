"""Images: laws that hold independently of TensorFlow, and cases without TensorFlow results."""

import numpy as np
import pytest

import gradtape as tf

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def image(*shape, seed=(1, 2)):
    return tf.random.stateless_uniform(shape, seed)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(4, 9), (11, 3), (1, 1)])
@pytest.mark.parametrize("antialias", [False, True])
def test_resize_keeps_constants_and_is_linear(method, size, antialias):
    flat = tf.image.resize(tf.fill([7, 6, 2], 3.0), size, method, antialias=antialias)
    assert np.allclose(flat, 3.0, rtol=1e-5)
    x, y = image(1, 7, 6, 2), image(1, 7, 6, 2, seed=(3, 4))
    resize = lambda v: tf.image.resize(v, size, method, antialias=antialias)  # noqa: E731
    assert np.allclose(resize(x + 2.0 * y), resize(x) + 2.0 * resize(y), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_gradient_of_resize_is_its_transpose(method):
    x, g = image(1, 5, 4, 1), image(1, 3, 6, 1, seed=(5, 6))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, [3, 6], method)
    back = tape.gradient(y, x, g)
    assert np.isclose(np.sum(back * x), np.sum(g * y), rtol=1e-4)


def test_gradient_of_a_large_resize():
    x = image(4, 256, 256, 3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, [512, 512])
    assert np.isclose(np.sum(tape.gradient(y, x)), np.prod(y.shape), rtol=1e-4)


def test_jacobian_of_resize():
    x = image(3, 3, 1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, [2, 5])
    jacobian = tape.jacobian(y, x)
    assert np.allclose(np.tensordot(jacobian, x, 3), y, atol=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: tf.image.adjust_hue(x, 0.2),
        lambda x: tf.image.adjust_saturation(x, 0.7),
        lambda x: tf.image.adjust_contrast(x, 1.7),
        tf.image.rgb_to_hsv,
        tf.image.hsv_to_rgb,
        lambda x: tf.image.ssim(x, x * x, 1.0, filter_size=3),
        lambda x: tf.image.ssim_multiscale(x, x * x, 1.0, (0.4, 0.6), filter_size=3),
        lambda x: tf.image.resize(x, [3, 4], "area"),
    ],
)
def test_gradients_are_numeric_ones(change):
    x = image(1, 6, 6, 3) * 0.8 + 0.1
    direction = image(1, 6, 6, 3, seed=(7, 8)) - 0.5
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(change(x))
    exact = np.sum(tape.gradient(y, x) * direction)
    step = 2e-4
    ahead, behind = (float(tf.reduce_sum(change(x + s * step * direction))) for s in (1, -1))
    assert np.isclose(exact, (ahead - behind) / (2 * step), rtol=2e-2, atol=5e-2)


def test_colour_spaces_round_trip():
    x = image(4, 5, 3)
    assert np.allclose(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)), x, atol=1e-6)
    assert np.allclose(tf.image.yiq_to_rgb(tf.image.rgb_to_yiq(x)), x, atol=1e-4)
    assert np.allclose(tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(x)), x, atol=1e-4)
    assert np.allclose(tf.image.adjust_hue(tf.image.adjust_hue(x, 0.3), -0.3), x, atol=1e-5)


def test_turns_and_flips():
    x = image(2, 4, 5, 3)
    assert np.array_equal(tf.image.rot90(tf.image.rot90(x), 3), x)
    assert np.array_equal(tf.image.rot90(x, 2), tf.image.flip_up_down(tf.image.flip_left_right(x)))
    assert np.array_equal(tf.image.rot90(x), np.rot90(x, axes=(1, 2)))


def test_patches_put_together_are_the_image():
    x = image(1, 4, 6, 2)
    parts = tf.image.extract_patches(x, [1, 2, 3, 1], [1, 2, 3, 1], [1, 1, 1, 1], "VALID").numpy()
    whole = parts.reshape(2, 2, 2, 3, 2).transpose(0, 2, 1, 3, 4).reshape(4, 6, 2)
    assert np.array_equal(whole, x[0])


def test_second_derivative_of_crop_and_resize():
    boxes = tf.constant([[0.1, 0.2, 0.7, 0.9]])
    x = image(1, 6, 6, 1)
    with tf.GradientTape() as outer:
        outer.watch(boxes)
        with tf.GradientTape() as inner:
            inner.watch(boxes)
            y = tf.reduce_sum(tf.image.crop_and_resize(x, boxes, [0], [2, 2]) ** 2.0)
        gradient = inner.gradient(y, boxes)
    assert np.isfinite(outer.gradient(gradient, boxes)).all()


def test_jpeg():
    pytest.importorskip("PIL")
    smooth = (np.arange(256).reshape(16, 16, 1) * np.ones(3) / 2 + 60).astype(np.uint8)
    again = tf.image.adjust_jpeg_quality(smooth, 95)
    assert again.dtype is tf.uint8
    assert np.abs(again.numpy().astype(int) - smooth).max() < 8
    assert tf.image.adjust_jpeg_quality(smooth / 255.0, 95).dtype is tf.float64
    worse = tf.image.stateless_random_jpeg_quality(smooth, 5, 10, seed=[1, 2])
    assert np.abs(worse.numpy().astype(int) - smooth).mean() > np.abs(again.numpy().astype(int) - smooth).mean()
    with pytest.raises(ValueError):
        tf.image.random_jpeg_quality(smooth, 50, 20)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.adjust_jpeg_quality(smooth[None], 50)


def test_contrast_is_changed_by_one_factor():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar"):
        tf.image.adjust_contrast(tf.ones([2, 2, 3]), [2.0])
