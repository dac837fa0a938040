"""The programs of the gallery run at a small size, and their results are what their pages say."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import gradtape as tf
from gradtape.core.extras import is_installed

pytestmark = pytest.mark.several

PROGRAMS = {file.stem: file for file in sorted((Path(__file__).parent.parent / "examples" / "gallery").glob("*.py"))}
CHECKS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {}


def at(**size: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers the check of the program of the same name, with the arguments of its `run`."""

    def register(check: Callable[..., None]) -> Callable[..., None]:
        CHECKS[check.__name__] = check, size
        return check

    return register


def test_every_program_has_a_check():
    assert CHECKS.keys() == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_shows_what_its_page_says(name, tmp_path):
    pytest.importorskip("matplotlib")
    if "tf.keras" in PROGRAMS[name].read_text("utf-8") and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", PROGRAMS[name])
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    check, size = CHECKS[name]
    results = program.run(**size)
    check(results, program)
    program.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


@at(points=400, steps=350)
def pinn(results, program):
    # The Cole-Hopf solution satisfies the equation (by differences), so that it may judge the network.
    x, h = np.linspace(-0.9, 0.9, 7), 1e-4
    u, left, right = (program.exact(0.5, x + d) for d in (0, -h, h))
    u_t = (program.exact(0.5 + h, x) - program.exact(0.5 - h, x)) / (2 * h)
    np.testing.assert_allclose(u_t + u * (right - left) / (2 * h), 0.02 * (left - 2 * u + right) / h**2, atol=1e-4)
    errors = np.abs(np.array(results["network"]) - results["exact"]).max(axis=1)
    assert errors[0] < 1e-9  # the initial condition holds for all weights
    assert results["losses"][-1] < results["losses"][0] / 20 and np.mean(errors) < 0.2


@at(steps=120, count=30, units=20)
def neural_ode(results, program):
    assert np.mean(results["losses"][-10:]) < results["losses"][0] / 4
    weights, start = [tf.cast(w, tf.float64) for w in results["weights"]], tf.constant([[1.0, 0.5]], tf.float64)
    differences = []
    for substeps in (1, 2):
        through, kept = program.measured(program.solve, start, weights, 8, substeps)
        adjoint, kept_by_adjoint = program.measured(program.solve_with_adjoint, start, weights, 8, substeps)
        assert kept_by_adjoint == 9 * 2 * 8 < kept / 20  # the positions that the loss reads
        differences.append(np.abs(adjoint - through).max())
    assert differences[0] < 1e-3 * np.abs(through).max()
    assert differences[1] < differences[0] / 10  # both are of order 4


@at(steps=400, tasks=100)
def maml(results, program):
    maml, pretrained = results["errors"]["MAML"], results["errors"]["trained on all tasks"]
    assert maml[1] < 0.8 * maml[0] and maml[10] < maml[1]
    assert maml[10] < 0.9 * pretrained[10]
    # The gradient through an inner step of w on (w x - y)², by hand: w' = w - 2 r x (w x - y).
    x, y, w, rate = 1.5, 2.0, 0.3, program.RATE
    weight, bias = tf.Variable([[w]]), tf.Variable([0.0])
    point, target = tf.constant([[[x]]]), tf.constant([[[y]]])
    with tf.GradientTape() as tape:
        (new, new_bias) = program.adapted([weight, bias], point, target, 1)
        loss = program.errors([new, new_bias], point, target)
    error = (w * x - y) * (1 - 2 * rate * (x**2 + 1))
    np.testing.assert_allclose(tape.gradient(loss, weight), [[2 * error * x * (1 - 2 * rate * (x**2 + 1))]], rtol=1e-5)


@at(multipliers=(1.5, 6.0), steps=30)
def dp_sgd(results, program):
    for multiplier, result in results.items():
        norms, noise = np.concatenate(result["norms"]), np.concatenate(result["noise"])
        assert norms.max() <= program.BOUND * (1 + 1e-5) and np.isclose(norms.max(), program.BOUND, rtol=1e-5)
        assert abs(noise.std() / (multiplier * program.BOUND) - 1) < 4 / np.sqrt(2 * noise.size)
    assert results[1.5]["accuracy"][-1] > 0.75 and results[1.5]["epsilon"][-1] > results[6.0]["epsilon"][-1]
    # The sum of the clipped gradients is that of the gradients of single examples, each clipped by itself.
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=s), dtype=tf.float32) for s in ((64, 10), (10,))]
    x, labels = rng.random((6, 64)).astype("f4"), rng.integers(0, 10, 6).astype("i4")
    singles = []
    for i in range(6):
        with tf.GradientTape() as tape:
            loss = program.losses_of(weights, x[i : i + 1], labels[i : i + 1])
        singles.append(np.concatenate([np.ravel(g) for g in tape.gradient(loss, weights)]))
    clipped = sum(g * min(1, program.BOUND / np.linalg.norm(g)) for g in singles)
    gradients, _ = program.clipped_sum(weights, tf.constant(x), tf.constant(labels))
    np.testing.assert_allclose(np.concatenate([np.ravel(g) for g in gradients]), clipped, rtol=1e-4, atol=1e-5)
    # The formula of the accountant is the Rényi divergence of the two distributions of a step, by quadrature.
    sigma, rate, steps, delta = 2.0, 0.1, 50, 1e-5

    def divergence(order):
        def integrand(z):
            ratio = 1 - rate + rate * norm.pdf(z, 1, sigma) / norm.pdf(z, 0, sigma)
            return norm.pdf(z, 0, sigma) * ratio**order

        return np.log(quad(integrand, -40, 60, points=[0, order])[0]) / (order - 1)

    expected = min(steps * divergence(order) + np.log(1 / delta) / (order - 1) for order in range(2, 30))
    assert program.epsilon(sigma, rate, steps, delta) == pytest.approx(expected, rel=1e-6)


@at(steps=6)
def gauss_newton(results, program):
    errors = np.array(results["errors"]["exact measurements"])
    converging = errors[(errors < 1) & (errors > 1e-9)]
    assert len(converging) >= 3 and np.all(converging[1:] < 5 * converging[:-1] ** 2)  # quadratic
    assert errors[-1] < 1e-12
    noisy = results["errors"]["noisy measurements"]
    assert 1e-3 < noisy[5] / noisy[4] < 0.5  # linear
    truth, start, estimate = (results[key][: 3 * program.POSES] for key in ("truth", "start", "estimate"))
    assert np.abs(estimate - truth).max() < 0.3 < 1 < np.abs(start - truth).max()
    rows, columns = results["jacobian"].shape
    assert results["jacobian"].nnz < 6 * rows < rows * columns / 20


@at(chains=10, draws=200)
def bayesian_regression(results, program):
    line = results["line"]
    mean, covariance = line["exact"]
    np.testing.assert_allclose(line["mean"], mean, rtol=1e-6)
    np.testing.assert_allclose(line["covariance"], covariance, rtol=1e-6)
    samples = line["samples"].reshape(-1, 2)
    deviations = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(samples.mean(0) - mean) < 0.15 * deviations)
    np.testing.assert_allclose(np.cov(samples.T), covariance, rtol=0.2)
    assert all(program.r_hat(result["samples"]) < 1.02 for result in results.values())
    # The means of the skewed posterior, by quadrature on a grid.
    enzyme = results["enzyme"]
    grid = np.stack(np.meshgrid(np.linspace(-2, 4, 400), np.linspace(-3, 5, 400)), -1).reshape(-1, 2)
    density = program.log_posterior(program.enzyme, tf.constant(grid), enzyme["s"], enzyme["y"]).numpy()
    weights = np.exp(density - density.max())
    exact = weights @ grid / weights.sum()
    spread = np.sqrt(np.diag(enzyme["covariance"]))
    assert np.all(np.abs(enzyme["samples"].mean((0, 1)) - exact) < 0.15 * spread)
    assert np.all(enzyme["mean"] < exact - 0.1 * spread)  # the maximum is not the mean


@at(side=16, steps=120, memories=(1, 10))
def lbfgs(results, program):
    assert np.abs(results["film"] - results["exact"]).max() < 2e-3
    assert max(norms[-1] for norms in results["norms"].values()) < 1e-8
    assert len(results["norms"][10]) < len(results["norms"][1])

    def rosenbrock(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
        return y, tape.gradient(y, x)

    x, norms = program.lbfgs(rosenbrock, tf.constant([-1.2, 1.0], tf.float64), 60, memory=10)
    np.testing.assert_allclose(x, [1, 1], atol=1e-8)
    assert len(norms) < 50


@at(points=80, refits=3)
def robust_statistics(results, program):
    slopes = {name: best[0] for name, best in results["fits"].items()}
    truth, _ = program.TRUTH
    assert abs(slopes["least squares"] - truth) > 0.5
    assert abs(slopes["Huber"] - truth) < 0.3 and abs(slopes["Student's t"] - truth) < 0.15
    line = np.polyfit(results["x"], results["y"], 1)
    np.testing.assert_allclose(results["fits"]["least squares"][:2], line, rtol=1e-5)
    curves = {name: influence[:, 0] for name, influence in results["influences"].items()}
    residuals = results["residuals"]
    line = curves["least squares"]
    np.testing.assert_allclose(line, np.polyval(np.polyfit(residuals, line, 1), residuals), atol=1e-6)
    assert np.ptp(curves["Huber"][residuals > 8]) < 1e-9  # bounded
    assert curves["Student's t"][-1] < 0.4 * curves["Student's t"].max()  # redescending
    for name, changes in results["changes"].items():
        predicted = np.interp(results["refitted"], residuals, curves[name])
        np.testing.assert_allclose(changes[:, 0], predicted, atol=0.2 * np.abs(predicted).max() + 1e-6)


@at(steps=200, interval=50, count=256)
def wgan_gp(results, program):
    _, distances, estimates, norms = results["history"]
    # The duality: before the generator moves, the trained critic's estimate is the distance, up to its slope.
    assert estimates[0] / norms[0] == pytest.approx(distances[0], rel=0.1)
    np.testing.assert_allclose(norms, 1, atol=0.15)
    assert distances[-1] < 0.5 * distances[0] and distances[-1] > results["floor"]
    a = np.array([[0.0, 0.0], [3.0, 0.0]])
    assert program.wasserstein(a, a[::-1] + np.array([0.0, 4.0])) == 4.0  # each point moves up


@at(size=48, steps=60, filters=24)
def style_transfer(results, program):
    of_style, of_content = results["distances"].T
    assert of_style[-1] < of_style[0] / 8
    assert of_content[0] == 0 and of_content[-1] < 0.1
    assert program.content_distance(*map(tf.constant, (results["style"], results["content"]))) > 0.5
    assert 0 <= results["result"].min() and results["result"].max() <= 1
    responses = np.random.default_rng(0).normal(size=(50, 3)).astype("f4")
    np.testing.assert_allclose(program.gram(tf.constant(responses)), responses.T @ responses / 50, rtol=1e-4, atol=1e-6)


@at(episodes=80)
def reinforcement_learning(results, program):
    rewards = results["rewards"]
    assert np.mean(rewards[:10]) < 60 and np.mean(rewards[-10:]) > 150
    world = program.CartPole(np.random.default_rng(0))
    world.state = np.array([0.0, 0.0, 0.1, 0.0])
    state, failed = world.step(1)
    assert not failed and state[0] == 0 and state[1] > 0 and state[3] < 0  # the cart goes right, the pole left
    masses = np.array([[1.1, 0.05 * np.cos(0.1)], [0.05 * np.cos(0.1), 0.1 * 4 / 3 * 0.5**2]])
    forces = [10.0, 0.05 * 9.8 * np.sin(0.1)]  # Lagrange's equations: of the cart, and of the pole around its foot
    np.testing.assert_allclose(masses @ (state[[1, 3]] / 0.02), forces, rtol=1e-9)
    world.state = np.array([0.0, 0.0, 0.3, 0.0])
    assert world.step(0)[1]


@at(size=100, steps=40)
def graph_network(results, program):
    accuracies = {name: result["accuracy"][-1] for name, result in results["results"].items()}
    assert accuracies["with the graph"] > 0.75 and accuracies["with the graph"] > accuracies["features alone"] + 0.2
    labels, edges = results["labels"], results["edges"]
    adjacency = np.zeros((len(labels), len(labels)))
    adjacency[tuple(edges)] = 1
    np.testing.assert_array_equal(adjacency, adjacency.T)
    loops = adjacency + np.eye(len(labels))
    scales = loops.sum(axis=1) ** -0.5
    graph, x = program.normalize(edges, len(labels)), tf.constant(results["x"], tf.float32)
    expected = (scales[:, None] * loops * scales) @ results["x"]
    np.testing.assert_allclose(program.propagate(graph, x), expected, rtol=1e-4, atol=1e-5)
    rows, columns, values = graph
    matrix = tf.SparseTensor(tf.stack([rows, columns], axis=1), values, adjacency.shape)
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(matrix, x), expected, rtol=1e-4, atol=1e-5)


@at(count=5, symbols=8, width=32, steps=150)
def transformer(results, program):
    assert results["losses"][-1] < results["losses"][0] / 10
    assert results["numbers"] > 0.9 and results["sequences"] > 0.7
    assert len(set(results["tokens"][:5])) == 5 and set(results["tokens"]) <= set(range(8))
    weights = results["attention"]
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-4)
    assert np.all(weights[:, ~np.tri(9, dtype=bool)] == 0)  # causal


@at(steps=400, width=96, samples=200)
def diffusion(results, program):
    samples, images, labels = results["samples"][-1], results["images"], results["labels"]
    assert np.abs(samples).max() < 1.001 and samples.shape == (200, 64)
    assert abs(samples.mean() - images.mean()) < 0.2 and abs(samples.std() / images.std() - 1) < 0.3
    assert np.corrcoef(samples.mean(axis=0), images.mean(axis=0))[0, 1] > 0.9
    assert np.corrcoef(samples.std(axis=0), images.std(axis=0))[0, 1] > 0.7
    assert np.mean(program.nearest(samples, images, labels) == results["drawn"]) > 0.7
    assert program.SIGNAL[0] > 0.99 and program.SIGNAL[-1] < 0.01  # from the image to noise
    first = results["samples"][0]
    assert abs(first.mean()) < 0.05 and abs(first.std() - 1) < 0.05


@at(epochs=2, levels=3)
def adversarial_example(results, program):
    standard, robust = (results[name] for name in ("standard", "adversarial"))
    assert min(standard["accuracies"][0], robust["accuracies"][0]) > 0.8
    assert standard["accuracies"][1] < 0.5 and robust["accuracies"][1] > standard["accuracies"][1] + 0.1
    images, labels, epsilon = results["images"], results["labels"], results["epsilon"]
    for result in (standard, robust):
        assert np.abs(result["images"] - images).max() <= epsilon + 1e-6
        assert 0 <= result["images"].min() and result["images"].max() <= 1
    before, after = (standard["network"](x).numpy().argmax(axis=1) for x in (images, standard["images"]))
    assert np.sum((before == labels) & (after != labels)) > 100
