"""tensorflow-lattice: calibrators, lattices and an ensemble with their constraints, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_lattice as tfl
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    x = random.uniform(size=(32, 2)).astype("float32")
    category = random.randint(0, 3, (32, 1)).astype("float32")
    y = (x[:, :1] ** 2 + 0.5 * x[:, 1:] + 0.1 * category).astype("float32")
    inputs = [tf.keras.Input((1,)), tf.keras.Input((1,)), tf.keras.Input((1,))]
    keypoints = np.linspace(0.0, 1.0, 5)
    calibrated = [
        tfl.layers.PWLCalibration(keypoints, output_min=0.0, output_max=1.0, monotonicity="increasing")(inputs[0]),
        tfl.layers.PWLCalibration(keypoints, output_min=0.0, output_max=1.0, convexity="convex",
                                  kernel_regularizer=("hessian", 0.0, 1e-3))(inputs[1]),
        tfl.layers.CategoricalCalibration(3, output_min=0.0, output_max=1.0, monotonicities=[(0, 1)],
                                         kernel_initializer="constant")(inputs[2]),
    ]  # fmt: skip
    lattice = tfl.layers.Lattice(
        [2, 3, 2], monotonicities=["increasing", "none", "increasing"], output_min=0.0, output_max=2.0,
        kernel_regularizer=("torsion", 0.0, 1e-3), kernel_initializer="linear_initializer",
    )  # fmt: skip
    model = tf.keras.Model(inputs, lattice(calibrated))
    model.compile(tf.keras.optimizers.Adam(0.05), "mse")
    data = [x[:, :1], x[:, 1:], category]
    history = model.fit(data, y, batch_size=8, epochs=4, shuffle=False, verbose=0).history
    found = {"losses": history["loss"], "prediction": model.predict(data, verbose=0)}
    found["kernel"] = model.layers[-1].get_weights()[0]
    factored = tfl.layers.KroneckerFactoredLattice(lattice_sizes=2, num_terms=2)
    factored(x)
    set_weights(factored)
    found["factored"] = factored(x)
    cdf = tfl.layers.CDF(num_keypoints=5, activation="sigmoid")
    cdf(x)
    set_weights(cdf)
    found["cdf"] = cdf(x)
    linear = tfl.layers.Linear(2, monotonicities=[1, 1], normalization_order=1)
    linear(x)
    linear.set_weights([np.array([[0.3], [0.7]]), np.array(0.1)])
    found["linear"] = linear(x)
    config = tfl.configs.CalibratedLatticeEnsembleConfig(
        feature_configs=[
            tfl.configs.FeatureConfig("a", monotonicity="increasing", pwl_calibration_input_keypoints=keypoints),
            tfl.configs.FeatureConfig("b", pwl_calibration_input_keypoints=keypoints),
        ],
        lattices=[["a", "b"], ["b", "a"]], num_lattices=2, lattice_rank=2, output_initialization=[0.0, 1.0],
        random_seed=1,
    )  # fmt: skip
    ensemble = tfl.premade.CalibratedLatticeEnsemble(config)
    ensemble.compile(tf.keras.optimizers.Adam(0.05), "mse")
    history = ensemble.fit([x[:, :1], x[:, 1:]], y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
    return found | {"ensemble": history["loss"]}
