"""tensorflow-probability: bijectors, Markov chains, optimizers, ODEs, joint distributions, VI."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras

tfb, tfd = tfp.bijectors, tfp.distributions

BIJECTORS = {
    "Chain": lambda: tfb.Chain([tfb.Shift(1.0), tfb.Scale(2.0), tfb.Exp()]),
    "Softplus": lambda: tfb.Softplus(),
    "Sigmoid": lambda: tfb.Sigmoid(-1.0, 2.0),
    "Tanh": lambda: tfb.Tanh(),
    "SoftmaxCentered": lambda: tfb.SoftmaxCentered(),
    "FillTriangular": lambda: tfb.FillTriangular(),
    "Invert": lambda: tfb.Invert(tfb.Exp()),
    "SinhArcsinh": lambda: tfb.SinhArcsinh(0.1, 1.3),
    "Ascending": lambda: tfb.Ascending(),
    "ScaleMatvecTriL": lambda: tfb.ScaleMatvecTriL([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [0.1, 0.2, 0.3]]),
    "RationalQuadraticSpline": lambda: tfb.RationalQuadraticSpline([1.0, 0.5, 0.5], [0.6, 0.8, 0.6], [1.1, 0.9]),
}


def numbers():
    return bijectors() | chains() | optimizers() | equations() | joints() | variational()


def bijectors():
    found = {}
    x = tf.constant([0.1, 0.7, -0.3])
    for name, make in BIJECTORS.items():
        bijector = make()
        y = bijector.forward(x)
        ndims = max(bijector.forward_min_event_ndims, 1)
        found[f"{name} forward"] = y
        found[f"{name} inverse"] = bijector.inverse(tf.identity(y))
        found[f"{name} log det"] = bijector.forward_log_det_jacobian(x, ndims)
        found[f"{name} in a function"] = tf.function(lambda t: make().forward(t))(x)  # noqa: B023
    return found


def chains():
    def target(x):
        return -0.5 * tf.reduce_sum(x * x + 0.5 * x**4, -1)

    found = {}
    start = tf.constant([0.5, -0.5])
    kernels = {
        "HMC": tfp.mcmc.HamiltonianMonteCarlo(target, step_size=0.3, num_leapfrog_steps=3),
        "RandomWalkMetropolis": tfp.mcmc.RandomWalkMetropolis(target),
        "MALA": tfp.mcmc.MetropolisAdjustedLangevinAlgorithm(target, step_size=0.2),
        "NUTS": tfp.mcmc.NoUTurnSampler(target, step_size=0.3, max_tree_depth=3),
        "SliceSampler": tfp.mcmc.SliceSampler(target, step_size=0.5, max_doublings=3),
        "adapted HMC": tfp.mcmc.DualAveragingStepSizeAdaptation(
            tfp.mcmc.HamiltonianMonteCarlo(target, step_size=0.3, num_leapfrog_steps=3), num_adaptation_steps=4
        ),
        "transformed HMC": tfp.mcmc.TransformedTransitionKernel(
            tfp.mcmc.HamiltonianMonteCarlo(target, step_size=0.1, num_leapfrog_steps=2), tfb.Softplus()
        ),
    }
    for name, kernel in kernels.items():
        state = tf.constant([0.5, 0.7]) if name == "transformed HMC" else start

        def run(kernel=kernel, state=state):
            return tfp.mcmc.sample_chain(
                6, state, kernel=kernel, num_burnin_steps=2, trace_fn=None, seed=tf.constant([1, 2])
            )

        found[f"{name} eager"] = run()
        if name != "MALA":  # whose derivatives in a graph are tf.gradients inside a loop of what is outside
            found[f"{name} in a function"] = tf.function(run)()
    draws = found["HMC eager"]
    found["effective sample size"] = tfp.mcmc.effective_sample_size(draws)
    found["potential scale reduction"] = tfp.mcmc.potential_scale_reduction(tf.reshape(draws, (3, 2, 2)))
    return found


def optimizers():
    def rosenbrock(x):
        return tf.reduce_sum(100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2, -1)

    start = tf.constant([-1.2, 1.0], tf.float64)
    value_and_gradient = lambda x: tfp.math.value_and_gradient(rosenbrock, x)  # noqa: E731
    found = {}
    for name, run in {
        "BFGS": lambda: tfp.optimizer.bfgs_minimize(value_and_gradient, start, max_iterations=15),
        "L-BFGS": lambda: tfp.optimizer.lbfgs_minimize(value_and_gradient, start, max_iterations=15),
        "Nelder-Mead": lambda: tfp.optimizer.nelder_mead_minimize(rosenbrock, initial_vertex=start, max_iterations=15),
    }.items():
        eager, traced = run(), tf.function(run)()
        found[f"{name} position"], found[f"{name} in a function"] = eager.position, traced.position
        found[f"{name} evaluations"] = eager.num_objective_evaluations
    roots = tfp.math.find_root_chandrupatla(lambda x: x**3 - 2.0, 0.0, 2.0)
    return found | {"root": roots.estimated_root}


def equations():
    def oscillator(t, y):
        return tf.stack([y[1], -y[0] - 0.1 * y[1]])

    times = np.linspace(0.0, 2.0, 5)
    start = tf.constant([1.0, 0.0], tf.float64)
    found = {}
    for name, solver in {"DormandPrince": tfp.math.ode.DormandPrince(), "BDF": tfp.math.ode.BDF()}.items():
        found[f"{name} states"] = solver.solve(oscillator, 0.0, start, solution_times=times).states
    with tf.GradientTape() as tape:
        tape.watch(start)
        end = tfp.math.ode.DormandPrince().solve(oscillator, 0.0, start, solution_times=[2.0]).states[0, 0]
    return found | {"ODE gradient": tape.gradient(end, start)}


def joints():
    @tfd.JointDistributionCoroutineAutoBatched
    def model():
        scale = yield tfd.HalfNormal(2.0, name="scale")
        yield tfd.Sample(tfd.Normal(0.0, scale), 3, name="x")

    named = tfd.JointDistributionNamed({
        "a": tfd.Gamma(2.0, 1.0), "b": lambda a: tfd.Normal(a, 1.0), "c": lambda a, b: tfd.Poisson(a + b * b),
    })  # fmt: skip
    sequential = tfd.JointDistributionSequential([tfd.Normal(0.0, 1.0), lambda x: tfd.Normal(x, 2.0)])
    found = {}
    for name, joint in {"coroutine": model, "named": named, "sequential": sequential}.items():
        draw = joint.sample(2, seed=(5, 6))
        flat = [tf.reshape(tf.cast(t, tf.float32), (-1,)) for t in tf.nest.flatten(draw)]
        found[f"{name} sample"], found[f"{name} log_prob"] = tf.concat(flat, 0), joint.log_prob(draw)
        found[f"{name} in a function"] = tf.function(lambda d: joint.log_prob(d))(draw)  # noqa: B023
    return found


def variational():
    target = tfd.Normal(1.0, 0.5)
    loc, scale = tf.Variable(0.0), tfp.util.TransformedVariable(1.0, tfb.Softplus())
    surrogate = tfd.Normal(loc, scale)
    losses = tfp.vi.fit_surrogate_posterior(
        target.log_prob, surrogate, tf_keras.optimizers.Adam(0.1), num_steps=8, sample_size=4, seed=(7, 8)
    )
    return {"variational losses": losses, "variational loc": loc, "variational scale": scale + 0.0}
