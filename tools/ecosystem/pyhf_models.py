"""pyhf: densities and their gradients, fits with SciPy, hypothesis tests, an upper limit."""

import numpy as np
import pyhf
import tensorflow as tf


def numbers():
    found = {}
    pyhf.set_backend("tensorflow", precision="64b")
    model = pyhf.simplemodels.uncorrelated_background(
        signal=[12.0, 11.0, 5.0], bkg=[50.0, 52.0, 30.0], bkg_uncertainty=[3.0, 7.0, 4.0]
    )
    data = [51.0, 48.0, 33.0, *model.config.auxdata]
    start = tf.Variable(np.asarray(model.config.suggested_init(), np.float64))
    with tf.GradientTape() as tape:
        density = model.logpdf(start, tf.constant(data, tf.float64))[0]
    found["log density"], found["gradient"] = density, tape.gradient(density, start)
    found["expected"] = model.expected_data(start)
    found["fit"] = pyhf.infer.mle.fit(data, model, return_fitted_val=True)[0]
    observed, expected = pyhf.infer.hypotest(1.0, data, model, test_stat="qtilde", return_expected_set=True)
    found["CLs"], found["expected CLs"] = observed, tf.stack(expected)

    scale = {"name": "scale", "type": "normsys", "data": {"hi": 1.1, "lo": 0.92}}
    shape = {"name": "shape", "type": "histosys", "data": {"hi_data": [65.0, 50.0], "lo_data": [56.0, 59.0]}}
    counts = {"name": "count", "type": "staterror", "data": [2.0, 3.0]}
    strength = {"name": "mu", "type": "normfactor", "data": None}
    signal = {"name": "signal", "data": [5.0, 10.0], "modifiers": [strength]}
    background = {"name": "background", "data": [60.0, 55.0], "modifiers": [scale, shape, counts]}
    spec = {"channels": [{"name": "one", "samples": [signal, background]}]}
    model = pyhf.Model(spec)
    data = [66.0, 61.0, *model.config.auxdata]
    fitted, least = pyhf.infer.mle.fit(data, model, return_fitted_val=True)
    found["two modifiers: fit"], found["two modifiers: value"] = fitted, least
    found["two modifiers: q"] = pyhf.infer.test_statistics.qmu_tilde(
        1.5, data, model, model.config.suggested_init(), model.config.suggested_bounds(), model.config.suggested_fixed()
    )
    found["toys"] = tf.shape(model.make_pdf(tf.constant(model.config.suggested_init(), tf.float64)).sample((4,)))
    return found
