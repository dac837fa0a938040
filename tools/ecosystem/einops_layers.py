"""einops: rearranged, reduced, repeated and packed tensors, its einsum; its layers and their gradients."""

import keras
import numpy as np
import tensorflow as tf
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.tensorflow import EinMix, Rearrange, Reduce
from weights import norms, set_weights

random = np.random.RandomState(0)
images = tf.constant(random.rand(6, 8, 8, 3).astype("float32"))


@tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
def patches(x):
    return reduce(rearrange(x, "b (h p) (w q) c -> b (h w) (p q) c", p=4, q=2), "b n t c -> b n c", "max")


def numbers():
    packed, shapes = pack([images[0], images[1, ..., 0]], "h w *")
    found = {
        "patches": patches(images)[:2],
        "mean": reduce(images, "b h w c -> c", "mean"),
        "repeated": repeat(images[0, 0, 0], "c -> (c two)", two=2),
        "packed": packed.shape,
        "unpacked": unpack(packed, shapes, "h w *")[1][0],
        "shape": list(parse_shape(images, "b h w _").values()),
        "einsum": einsum(images, images, "b h w c, a h w c -> a b"),
    }
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            Rearrange("b (h p) (w q) c -> b (h w) (p q c)", p=2, q=2),
            EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=12, d=5),
            Reduce("b t d -> b d", "mean"),
        ]
    )
    model(images)
    set_weights(model, 1)
    with tf.GradientTape() as tape:
        outputs = model(images)
        loss = tf.reduce_mean(outputs**2)
    return found | {"outputs": outputs, "gradients": norms(tape.gradient(loss, model.trainable_variables))}
