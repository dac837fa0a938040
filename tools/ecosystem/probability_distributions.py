"""tensorflow-probability: 35 distributions: samples for a seed, densities, moments, in functions."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions

DISTRIBUTIONS = {
    "Bernoulli": lambda: tfd.Bernoulli(logits=[0.3, -0.4]),
    "Beta": lambda: tfd.Beta([1.5, 2.0], [2.0, 3.5]),
    "Binomial": lambda: tfd.Binomial(10.0, probs=[0.3, 0.6]),
    "Categorical": lambda: tfd.Categorical(logits=[0.1, 0.4, -0.2]),
    "Cauchy": lambda: tfd.Cauchy([0.0, 1.0], [1.0, 2.0]),
    "Chi2": lambda: tfd.Chi2([3.0, 5.0]),
    "Dirichlet": lambda: tfd.Dirichlet([1.0, 2.0, 3.0]),
    "Exponential": lambda: tfd.Exponential([0.5, 2.0]),
    "Gamma": lambda: tfd.Gamma([2.0, 3.0], [1.0, 0.5]),
    "Geometric": lambda: tfd.Geometric(probs=[0.3, 0.6]),
    "Gumbel": lambda: tfd.Gumbel([0.0, 1.0], [1.0, 2.0]),
    "HalfNormal": lambda: tfd.HalfNormal([1.0, 2.0]),
    "InverseGamma": lambda: tfd.InverseGamma([3.0, 4.0], [1.0, 2.0]),
    "Kumaraswamy": lambda: tfd.Kumaraswamy([1.5, 2.0], [2.0, 0.7]),
    "Laplace": lambda: tfd.Laplace([0.0, 1.0], [1.0, 2.0]),
    "Logistic": lambda: tfd.Logistic([0.0, 1.0], [1.0, 2.0]),
    "LogNormal": lambda: tfd.LogNormal([0.0, 0.5], [1.0, 0.5]),
    "Multinomial": lambda: tfd.Multinomial(5.0, probs=[0.2, 0.3, 0.5]),
    "MultivariateNormalDiag": lambda: tfd.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]),
    "MultivariateNormalTriL": lambda: tfd.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]),
    "NegativeBinomial": lambda: tfd.NegativeBinomial([3.0, 5.0], probs=[0.3, 0.6]),
    "Normal": lambda: tfd.Normal([0.0, 1.0], [1.0, 2.0]),
    "OneHotCategorical": lambda: tfd.OneHotCategorical(logits=[0.1, 0.4, -0.2]),
    "Pareto": lambda: tfd.Pareto([3.0, 4.0], [1.0, 2.0]),
    "Poisson": lambda: tfd.Poisson([1.5, 4.0]),
    "StudentT": lambda: tfd.StudentT([3.0, 5.0], [0.0, 1.0], [1.0, 2.0]),
    "TruncatedNormal": lambda: tfd.TruncatedNormal([0.0, 1.0], [1.0, 2.0], -1.0, 2.0),
    "Uniform": lambda: tfd.Uniform([0.0, -1.0], [1.0, 2.0]),
    "VonMises": lambda: tfd.VonMises([0.0, 1.0], [1.0, 4.0]),
    "Weibull": lambda: tfd.Weibull([1.5, 2.0], [1.0, 2.0]),
    "WishartTriL": lambda: tfd.WishartTriL(4.0, [[1.0, 0.0], [0.5, 2.0]]),
    "Independent": lambda: tfd.Independent(tfd.Normal([0.0, 1.0], [1.0, 2.0]), 1),
    "MixtureSameFamily": lambda: tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 1.0], [0.5, 0.3])
    ),
    "TransformedDistribution": lambda: tfd.TransformedDistribution(
        tfd.Normal([0.0, 1.0], 1.0), tfp.bijectors.Softplus()
    ),
    "GaussianProcess": lambda: tfd.GaussianProcess(
        tfp.math.psd_kernels.ExponentiatedQuadratic(), np.linspace(0, 1, 3, dtype="float32")[:, None]
    ),
}


def numbers():
    found = {}
    for name, make in DISTRIBUTIONS.items():
        distribution = make()
        seed = (1, 2)
        sample = distribution.sample(5, seed=seed)
        found[f"{name} sample"] = sample
        found[f"{name} log_prob"] = distribution.log_prob(sample)
        for statistic in ("mean", "stddev", "entropy", "mode"):
            try:
                found[f"{name} {statistic}"] = getattr(distribution, statistic)()
            except NotImplementedError:
                continue
        traced = tf.function(lambda x: make().log_prob(x))  # noqa: B023
        found[f"{name} in a function"] = traced(sample)
    loc, scale = tf.Variable([0.5, -0.5]), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tfd.Normal(loc, scale).log_prob([0.1, 0.2]))
    found["Normal gradients"] = tf.concat(tape.gradient(loss, [loc, scale]), 0)
    found["KL normals"] = tfd.kl_divergence(tfd.Normal(0.0, 1.0), tfd.Normal([0.5, 1.0], 2.0))
    found["KL gammas"] = tfd.kl_divergence(tfd.Gamma(2.0, 1.0), tfd.Gamma(3.0, 2.0))
    found["cdf"] = tfd.StudentT(4.0, 0.0, 1.0).cdf([-1.0, 0.0, 2.0])
    found["quantile"] = tfd.Normal(0.0, 1.0).quantile([0.1, 0.5, 0.9])
    tf.random.set_seed(7)
    found["stateful seed"] = tfd.Normal(0.0, 1.0).sample(3, seed=11)
    return found
