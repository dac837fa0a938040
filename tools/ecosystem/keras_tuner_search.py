"""keras-tuner: a grid, a random and a Bayesian search of hyperparameters of small networks."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import keras_tuner
import numpy as np
from weights import set_weights


def build(parameters):
    units = parameters.Int("units", 2, 8, step=2)
    activation = parameters.Choice("activation", ["relu", "tanh"])
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units, activation), keras.layers.Dense(1)])
    set_weights(model)
    rate = parameters.Float("rate", 1e-3, 1e-1, sampling="log")
    model.compile(keras.optimizers.SGD(rate), "mse")
    return model


def numbers():
    random = np.random.RandomState(0)
    x = random.randn(32, 4).astype("float32")
    y = np.sin(x.sum(1, keepdims=True))
    found = {}
    tuners = {
        "grid": (keras_tuner.GridSearch, {}),
        "random": (keras_tuner.RandomSearch, {"seed": 3}),
        "Bayesian": (keras_tuner.BayesianOptimization, {"seed": 3, "num_initial_points": 3}),
    }
    for name, (kind, options) in tuners.items():
        with tempfile.TemporaryDirectory() as folder:
            tuner = kind(build, "val_loss", max_trials=5, directory=folder, **options)
            tuner.search(x, y, validation_data=(x, y), epochs=2, batch_size=8, shuffle=False, verbose=0)
            trials = [tuner.oracle.trials[trial] for trial in tuner.oracle.end_order]
            found[f"{name} scores"] = [trial.score for trial in trials]
            found[f"{name} units"] = [trial.hyperparameters.get("units") for trial in trials]
            found[f"{name} best"] = tuner.get_best_models(1)[0].predict(x, verbose=0)[:4]
    return found
