"""`tf.compat.v1.distributions`: densities, moments, entropies and divergences; shapes of samples."""

MADE = {
    "Bernoulli(probs=[0.25, 0.5])": "log_prob([1, 0]) mean() variance() entropy() mode() batch_shape",
    "Bernoulli(logits=[-1.0, 2.0])": "prob([[1], [0]]) probs",
    "Bernoulli(logits=[1.0], probs=[0.5])": "mean()",
    "Beta([1.5, 2.0], 3.0)": "log_prob([0.25, 0.5]) cdf([0.25, 0.5]) mean() variance() entropy() mode()",
    "Beta([1.5, 0.5], 3.0, allow_nan_stats=False)": "mode()",
    "Categorical(logits=[[0.5, 1.0, -1.0], [0.0, 0.0, 3.0]])":
        "log_prob([0, 2]) prob([[1], [0]]) entropy() mode() probs",
    "Dirichlet([[1.5, 2.0, 3.0]])": "log_prob([0.25, 0.25, 0.5]) mean() variance() covariance() entropy() mode()",
    "Dirichlet([1.5, 2.0], validate_args=True)": "log_prob([0.5, 0.75]) log_prob([-0.5, 1.5]) event_shape batch_shape",
    "DirichletMultinomial(4.0, [1.0, 3.0])": "log_prob([[1.0, 3.0], [4.0, 0.0]]) mean() variance() covariance()",
    "Exponential([0.5, 2.0])": "log_prob(1.5) cdf(1.5) mean() variance() entropy()",
    "Gamma([1.5, 3.0], 2.0)": "log_prob(1.5) prob(0.5) cdf(1.5) mean() variance() stddev() entropy() mode()",
    "Laplace([0.5, -1.0], 2.0)": "log_prob(1.5) cdf([[-3.0], [3.0]]) mean() variance() entropy() mode()",
    "Multinomial(3.0, probs=[0.25, 0.75])": "log_prob([1.0, 2.0]) mean() variance() covariance() logits",
    "Multinomial([3.0, 4.0], logits=[[0.5, 1.0]], validate_args=True)": "log_prob([[1.0, 2.0], [4.0, 0.5]])",
    "Normal([0.5, -1.0], 2.0)":
        "log_prob(1.5) cdf(1.5) log_cdf(1.5) survival_function(1.5) quantile(0.25) mean() stddev() entropy() mode() "
        "is_scalar_event() is_scalar_batch() batch_shape_tensor() dtype.name",
    "Normal(0.0, -2.0, validate_args=True)": "mean()",
    "StudentT([0.5, 1.5, 3.0], 1.0, 2.0)": "log_prob(1.5) cdf(1.5) mean() variance() entropy() mode()",
    "StudentT(0.5, 1.0, 2.0, allow_nan_stats=False)": "mean()",
    "Uniform(2.0, [3.0, 6.0])": "prob([2.5, 7.0]) cdf(2.5) mean() variance() entropy() range()",
}  # fmt: skip
PAIRS = (
    "Bernoulli(probs=0.25) Bernoulli(probs=0.5)", "Beta(1.5,2.0) Beta(3.0,0.5)",
    "Categorical([0.5,1.0]) Categorical([0.0,3.0])", "Dirichlet([1.5,2.0]) Dirichlet([0.5,1.0])",
    "Gamma(1.5,2.0) Gamma(3.0,0.5)", "Normal(0.5,2.0) Normal(1.5,3.0)", "Normal(0.5,2.0) Gamma(1.5,3.0)",
)  # fmt: skip
D = "tf.compat.v1.distributions"


def shapes_of_samples(tf):
    d = tf.compat.v1.distributions
    made = [
        d.Bernoulli(probs=[0.25, 0.5]), d.Beta([1.5, 2.0], 3.0), d.Categorical(logits=[[0.5, 1.0], [0.0, 3.0]]),
        d.Dirichlet([[1.5, 2.0, 3.0]]), d.DirichletMultinomial(4.0, [1.0, 3.0]), d.Exponential(0.5),
        d.Gamma([1.5, 3.0], 2.0), d.Laplace([0.5, -1.0], 2.0), d.Multinomial([3.0, 4.0], probs=[0.25, 0.75]),
        d.Normal([0.5, -1.0], [[2.0]]), d.StudentT([0.5, 1.5], 1.0, 2.0), d.Uniform(2.0, [3.0, 6.0]),
    ]  # fmt: skip
    return [
        [list(x.sample().shape), list(x.sample(5, seed=1).shape), list(x.sample([2, 3]).shape), x.dtype.name]
        for x in made
    ]


def gradients_of_samples(tf):
    d = tf.compat.v1.distributions
    found = []
    for name, count in (("Beta", 2), ("Exponential", 1), ("Gamma", 2), ("Laplace", 2), ("Normal", 2), ("StudentT", 3)):
        parameters = [tf.constant(2.0) for _ in range(count)]
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            y = getattr(d, name)(*parameters).sample(4, seed=1)
        found.append([g is not None for g in tape.gradient(y, parameters)])
    return found


def copies(tf):
    normal = tf.compat.v1.distributions.Normal(1.0, 2.0).copy(loc=3.0)
    return [normal.mean(), normal.stddev(), sorted(normal.parameters)]


CASES = [
    *(
        (f"{made}.{what}", f"{D}.{made}.{what}")
        for made, questions in MADE.items()
        for what in questions.replace(") ", ")\n").replace("shape ", "shape\n").split("\n")
    ),
    *(
        (f"kl_divergence {pair}", f"{D}.kl_divergence({', '.join(f'{D}.{each}' for each in pair.split(' '))})")
        for pair in PAIRS
    ),
    ("shapes of samples", shapes_of_samples),
    ("gradients of samples", gradients_of_samples),
    ("copies", copies),
]
