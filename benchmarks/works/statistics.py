"""Statistics: small linear algebra, its derivatives, and iterations in logarithms."""

import math

import numpy as np

from .work import Work, size


class GaussianProcess(Work):
    """The hyperparameters of a Gaussian process, by the marginal likelihood: a Cholesky factor."""

    title = "Gaussian process on 128 points, marginal likelihood by Cholesky decomposition"
    sizes = size(points=128, features=3)
    tiny = size(points=5, features=2)
    rate = 1e-2

    def weights(self, rng):
        return [0.1 * rng.normal(size=self.features), 0.1, -1.0]

    def batch(self, rng):
        x = rng.normal(size=(self.points, self.features))
        return x, np.sin(x.sum(1, keepdims=True)) + 0.1 * rng.normal(size=(self.points, 1))

    @staticmethod
    def covariance(np, weights, x, eye, total):
        scales, height, noise = weights
        z = x * np.exp(-scales)
        squares = total((z[:, None, :] - z[None, :, :]) ** 2, -1)
        return np.exp(height - 0.5 * squares) + np.exp(noise) * eye

    def tape(self, tf):
        eye = tf.eye(self.points)

        def loss(weights, x, y):
            factor = tf.linalg.cholesky(self.covariance(tf, weights, x, eye, tf.reduce_sum))
            half = tf.linalg.triangular_solve(factor, y)
            return 0.5 * tf.reduce_sum(half**2) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))

        return loss

    def torch(self):
        import torch

        eye = torch.eye(self.points)

        def loss(weights, x, y):
            factor = torch.linalg.cholesky(self.covariance(torch, weights, x, eye, torch.sum))
            half = torch.linalg.solve_triangular(factor, y, upper=False)
            return 0.5 * (half**2).sum() + torch.log(torch.diagonal(factor)).sum()

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        eye = jnp.eye(self.points)

        def loss(weights, x, y):
            factor = jnp.linalg.cholesky(self.covariance(jnp, weights, x, eye, jnp.sum))
            half = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
            return 0.5 * (half**2).sum() + jnp.log(jnp.diagonal(factor)).sum()

        return loss

    def autograd(self):
        import autograd.numpy as anp
        from autograd.scipy.linalg import solve_triangular

        eye = np.eye(self.points, dtype=np.float32)

        def loss(weights, x, y):
            factor = anp.linalg.cholesky(self.covariance(anp, weights, x, eye, anp.sum))
            half = solve_triangular(factor, y, lower=True)
            return 0.5 * anp.sum(half**2) + anp.sum(anp.log(anp.diagonal(factor)))

        return loss


class Kalman(Work):
    """A linear state-space model, its matrices learnt by the likelihood that a Kalman filter gives for what is seen."""

    title = "Kalman filter, 4 states, 2 measurements, 40 steps, likelihood"
    sizes = size(steps=40)
    tiny = size(steps=3)
    rate = 1e-2

    def weights(self, rng):
        return [0.9 * np.eye(4) + 0.05 * rng.normal(size=(4, 4)), rng.normal(size=(2, 4)), np.zeros(4), np.zeros(2)]

    def batch(self, rng):
        return (np.cumsum(rng.normal(size=(self.steps, 2, 1)), axis=0),)

    def filtered(self, transposed, diagonal, exp, total, logdet, solve, eye):
        def loss(weights, seen):
            move, look, log_drift, log_noise = weights
            drift, noise = diagonal(exp(log_drift)), diagonal(exp(log_noise))
            state, spread, cost = eye[:, :1], eye, 0.0
            for t in range(self.steps):
                state, spread = move @ state, move @ spread @ transposed(move) + drift
                off = seen[t] - look @ state
                inner = look @ spread @ transposed(look) + noise
                gain = transposed(solve(inner, look @ spread))
                cost = cost + 0.5 * (total(off * solve(inner, off)) + logdet(inner))
                state, spread = state + gain @ off, spread - gain @ look @ spread
            return cost / self.steps

        return loss

    def tape(self, tf):
        functions = tf.transpose, tf.linalg.diag, tf.exp, tf.reduce_sum, tf.linalg.logdet, tf.linalg.solve
        return self.filtered(*functions, tf.eye(4))

    def torch(self):
        import torch

        functions = torch.t, torch.diag, torch.exp, torch.sum, torch.logdet, torch.linalg.solve
        return self.filtered(*functions, torch.eye(4))

    def jax(self):
        import jax.numpy as jnp

        def logdet(x):
            return jnp.linalg.slogdet(x)[1]

        return self.filtered(jnp.transpose, jnp.diag, jnp.exp, jnp.sum, logdet, jnp.linalg.solve, jnp.eye(4))

    def autograd(self):
        import autograd.numpy as anp

        def logdet(x):
            return anp.linalg.slogdet(x)[1]

        eye = np.eye(4, dtype=np.float32)
        return self.filtered(anp.transpose, anp.diag, anp.exp, anp.sum, logdet, anp.linalg.solve, eye)


class Sinkhorn(Work):
    """Points that move towards a cloud along the cheapest transport, which Sinkhorn's iterations find in logarithms."""

    title = "optimal transport of 64 points to 64, 20 Sinkhorn iterations"
    sizes = size(points=64, iterations=20)
    tiny = size(points=4, iterations=3)
    rate = 1e-2

    def weights(self, rng):
        return [rng.normal(size=(self.points, 2))]

    def batch(self, rng):
        return (rng.normal(size=(self.points, 2)) + 2,)

    def transported(self, np, total, logsumexp):
        def loss(weights, y):
            x = weights[0]
            costs = total((x[:, None, :] - y[None, :, :]) ** 2, -1)
            g, share = 0.0, -math.log(self.points)
            for _ in range(self.iterations):
                f = 0.5 * (share - logsumexp((g - costs) / 0.5, 1))
                g = 0.5 * (share - logsumexp((f[:, None] - costs) / 0.5, 0))
            plan = np.exp((f[:, None] + g - costs) / 0.5)
            return total(total(plan * costs, 1), 0)

        return loss

    def tape(self, tf):
        return self.transported(tf, tf.reduce_sum, tf.reduce_logsumexp)

    def torch(self):
        import torch

        return self.transported(torch, torch.sum, torch.logsumexp)

    def jax(self):
        import jax
        import jax.numpy as jnp

        return self.transported(jnp, jnp.sum, jax.scipy.special.logsumexp)

    def autograd(self):
        import autograd.numpy as anp
        from autograd.scipy.special import logsumexp

        return self.transported(anp, anp.sum, logsumexp)
