"""csbdeep: a CARE network that denoises images, trained, and its predictions in tiles."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
from csbdeep.models import CARE, Config
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    clean = np.stack([np.sin(np.add.outer(np.arange(16) * f, np.arange(16))) for f in random.uniform(0.1, 1, 24)])
    noisy = clean + 0.3 * random.randn(*clean.shape)
    x, y = noisy[..., None].astype("float32"), clean[..., None].astype("float32")
    found = {}
    for probabilistic in (False, True):
        config = Config(
            "YX", n_channel_in=1, n_channel_out=1, probabilistic=probabilistic, unet_n_depth=1, unet_n_first=4,
            train_epochs=2, train_steps_per_epoch=2, train_batch_size=4, train_learning_rate=0.005,
            train_tensorboard=False, train_checkpoint=None, train_reduce_lr=None, unet_kern_size=3,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            model = CARE(config, "model", basedir=folder)
            set_weights(model.keras_model, scale=0.2)
            np.random.seed(1)  # noqa: NPY002  which the library draws from
            history = model.train(x, y, validation_data=(x[:8], y[:8])).history
            name = "probabilistic" if probabilistic else "plain"
            found[f"{name} losses"] = [*history["loss"], *history["val_loss"]]
            found[name] = model.predict(noisy[0].astype("float32"), "YX", normalizer=None, n_tiles=None)
            found[f"{name} tiles"] = model.predict(noisy[0].astype("float32"), "YX", normalizer=None, n_tiles=(2, 2))
    return found
