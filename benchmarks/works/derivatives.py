"""Derivatives beyond the gradient of a loss: of derivatives, of every output, of every example."""

import numpy as np

from .work import Work, layers, size


class Pinn(Work):
    """A physics-informed network for the heat equation: its second derivatives are in the loss."""

    title = "physics-informed network 2-32-32-1, heat equation, 256 points"
    sizes = size(points=256, hidden=32)
    tiny = size(points=4, hidden=4)

    def weights(self, rng):
        return layers(rng, 2, self.hidden, self.hidden, 1)

    def batch(self, rng):
        n = self.points
        places = rng.uniform(0, 1, (n, 1))
        return places, rng.uniform(0, 1, (n, 1)), np.sin(np.pi * places)

    @staticmethod
    def network(joined, tanh):
        def u(weights, x, t):
            w1, b1, w2, b2, w3, b3 = weights
            return tanh(tanh(joined(x, t) @ w1 + b1) @ w2 + b2) @ w3 + b3

        return u

    def tape(self, tf):
        u = self.network(lambda x, t: tf.concat([x, t], axis=1), tf.tanh)

        def loss(weights, x, t, start):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch([x, t])
                    value = u(weights, x, t)
                u_x, u_t = inner.gradient(value, [x, t])
            u_xx = outer.gradient(u_x, x)
            beginning = u(weights, x, tf.zeros_like(t))
            return tf.reduce_mean((u_t - 0.1 * u_xx) ** 2) + tf.reduce_mean((beginning - start) ** 2)

        return loss

    def torch(self):
        import torch

        u = self.network(lambda x, t: torch.cat([x, t], dim=1), torch.tanh)

        def loss(weights, x, t, start):
            x, t = x.detach().requires_grad_(), t.detach().requires_grad_()
            u_x, u_t = torch.autograd.grad(u(weights, x, t).sum(), (x, t), create_graph=True)
            (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
            beginning = u(weights, x, torch.zeros_like(t))
            return ((u_t - 0.1 * u_xx) ** 2).mean() + ((beginning - start) ** 2).mean()

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        u = self.network(lambda x, t: jnp.concatenate([x, t], axis=1), jnp.tanh)

        def loss(weights, x, t, start):
            def slope(x):
                return jax.grad(lambda x: u(weights, x, t).sum())(x)

            u_t = jax.grad(lambda t: u(weights, x, t).sum())(t)
            u_xx = jax.grad(lambda x: slope(x).sum())(x)
            beginning = u(weights, x, jnp.zeros_like(t))
            return ((u_t - 0.1 * u_xx) ** 2).mean() + ((beginning - start) ** 2).mean()

        return loss


class Maml(Work):
    """Meta-learning: weights from which one step of descent fits a sine; the gradient goes through that step."""

    title = "MAML on sines, network 1-40-40-1, one inner step, 4 tasks of 10 points"
    sizes = size(tasks=4, points=10, hidden=40)
    tiny = size(tasks=2, points=3, hidden=4)

    def weights(self, rng):
        return layers(rng, 1, self.hidden, self.hidden, 1)

    def batch(self, rng):
        x = rng.uniform(-5, 5, (2, self.tasks, self.points, 1))
        height, phase = rng.uniform(0.1, 5, (self.tasks, 1, 1)), rng.uniform(0, np.pi, (self.tasks, 1, 1))
        y = height * np.sin(x + phase)
        return x[0], y[0], x[1], y[1]

    @staticmethod
    def error(relu, mean):
        def error(weights, x, y):
            w1, b1, w2, b2, w3, b3 = weights
            return mean((relu(relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - y) ** 2)

        return error

    def tape(self, tf):
        error = self.error(tf.nn.relu, tf.reduce_mean)

        def loss(weights, x, y, later_x, later_y):
            total = 0.0
            for task in range(self.tasks):
                with tf.GradientTape() as inner:
                    first = error(weights, x[task], y[task])
                gradients = inner.gradient(first, weights)
                adapted = [w - 0.01 * g for w, g in zip(weights, gradients, strict=True)]
                total += error(adapted, later_x[task], later_y[task])
            return total / self.tasks

        return loss

    def torch(self):
        import torch

        error = self.error(torch.relu, torch.mean)

        def loss(weights, x, y, later_x, later_y):
            total = 0.0
            for task in range(self.tasks):
                first = error(weights, x[task], y[task])
                gradients = torch.autograd.grad(first, weights, create_graph=True)
                adapted = [w - 0.01 * g for w, g in zip(weights, gradients, strict=True)]
                total = total + error(adapted, later_x[task], later_y[task])
            return total / self.tasks

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        error = self.error(jax.nn.relu, jnp.mean)

        def after(weights, x, y, later_x, later_y):
            gradients = jax.grad(error)(weights, x, y)
            return error([w - 0.01 * g for w, g in zip(weights, gradients, strict=True)], later_x, later_y)

        def loss(weights, *tasks):
            return jax.vmap(after, (None, 0, 0, 0, 0))(weights, *tasks).mean()

        return loss


class Newton(Work):
    """Logistic regression by Newton's method: the Hessian is the Jacobian of the gradient."""

    title = "logistic regression by Newton's method, 500 examples, 20 features"
    sizes = size(examples=500, features=20)
    tiny = size(examples=6, features=2)
    update = "descent"
    rate = 0.5
    by_hand = True

    def weights(self, rng):
        return [0.1 * rng.normal(size=self.features)]

    def batch(self, rng):
        x = rng.normal(size=(self.examples, self.features))
        return x, (rng.uniform(size=self.examples) < 1 / (1 + np.exp(-x.sum(1)))).astype(float)

    @staticmethod
    def negative_likelihood(softplus, mean, total, product):
        def cost(w, x, y):
            scores = product(x, w)
            return mean(softplus(scores) - y * scores) + 0.01 * total(w**2)

        return cost

    def tape(self, tf):
        cost = self.negative_likelihood(tf.nn.softplus, tf.reduce_mean, tf.reduce_sum, tf.linalg.matvec)

        def direction(weights, x, y):
            w = weights[0]
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    value = cost(w, x, y)
                gradient = inner.gradient(value, w)
            hessian = outer.jacobian(gradient, w)
            return value, [tf.linalg.solve(hessian, gradient[:, tf.newaxis])[:, 0]]

        return direction

    def torch(self):
        import torch
        import torch.nn.functional as F

        cost = self.negative_likelihood(F.softplus, torch.mean, torch.sum, torch.mv)
        hessian, slope = torch.func.hessian(cost), torch.func.grad_and_value(cost)

        def direction(weights, x, y):
            w = weights[0].detach()
            gradient, value = slope(w, x, y)
            return value, [torch.linalg.solve(hessian(w, x, y), gradient)]

        return direction

    def jax(self):
        import jax
        import jax.numpy as jnp

        cost = self.negative_likelihood(jax.nn.softplus, jnp.mean, jnp.sum, jnp.matmul)

        def direction(weights, x, y):
            value, gradient = jax.value_and_grad(cost)(weights[0], x, y)
            return value, [jnp.linalg.solve(jax.hessian(cost)(weights[0], x, y), gradient)]

        return direction


class CurveFit(Work):
    """A sum of Gaussian bumps fitted by Levenberg and Marquardt's method: the Jacobian of the residuals."""

    title = "curve fit by Levenberg-Marquardt, Jacobian of 200 residuals, 24 parameters"
    sizes = size(points=200, bumps=8)
    tiny = size(points=6, bumps=2)
    update = "descent"
    rate = 1.0
    by_hand = True

    def weights(self, rng):
        return [np.concatenate([np.ones(self.bumps), np.linspace(-3, 3, self.bumps), np.full(self.bumps, -0.5)])]

    def batch(self, rng):
        x = np.linspace(-4, 4, self.points)
        return x, np.sin(2 * x) * np.exp(-0.1 * x**2) + 0.1 * rng.normal(size=self.points)

    def residuals(self, exp, total):
        n = self.bumps

        def residuals(w, x, y):
            height, centre, log_width = w[:n], w[n : 2 * n], w[2 * n :]
            apart = (x[:, None] - centre) * exp(-log_width)
            return total(height * exp(-0.5 * apart**2), 1) - y

        return residuals

    def tape(self, tf):
        residuals = self.residuals(tf.exp, tf.reduce_sum)
        damping = 0.1 * tf.eye(3 * self.bumps)

        def direction(weights, x, y):
            with tf.GradientTape() as tape:
                off = residuals(weights[0], x, y)
            jacobian = tape.jacobian(off, weights[0])
            normal = tf.matmul(jacobian, jacobian, transpose_a=True) + damping
            right = tf.linalg.matvec(jacobian, off, transpose_a=True)
            return tf.reduce_sum(off**2), [tf.linalg.solve(normal, right[:, tf.newaxis])[:, 0]]

        return direction

    def torch(self):
        import torch

        residuals = self.residuals(torch.exp, torch.sum)
        jacobian_of, damping = torch.func.jacrev(residuals), 0.1 * torch.eye(3 * self.bumps)

        def direction(weights, x, y):
            w = weights[0].detach()
            off, jacobian = residuals(w, x, y), jacobian_of(w, x, y)
            return (off**2).sum(), [torch.linalg.solve(jacobian.T @ jacobian + damping, jacobian.T @ off)]

        return direction

    def jax(self):
        import jax
        import jax.numpy as jnp

        residuals = self.residuals(jnp.exp, jnp.sum)
        damping = 0.1 * jnp.eye(3 * self.bumps)

        def direction(weights, x, y):
            off, jacobian = residuals(weights[0], x, y), jax.jacrev(residuals)(weights[0], x, y)
            return (off**2).sum(), [jnp.linalg.solve(jacobian.T @ jacobian + damping, jacobian.T @ off)]

        return direction


class PerExample(Work):
    """Private training: the gradient of every example is clipped by itself before they are summed."""

    title = "per-example gradients, clipped and summed, network 32-32-2, batch 64"
    sizes = size(examples=64, inputs=32, hidden=32)
    tiny = size(examples=3, inputs=3, hidden=4)
    by_hand = True

    def weights(self, rng):
        return layers(rng, self.inputs, self.hidden, 2)

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.inputs)), rng.integers(0, 2, self.examples)

    def tape(self, tf):
        def clipped(weights, x, labels):
            w1, b1, w2, b2 = weights
            with tf.GradientTape() as tape:
                logits = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            rows = tape.jacobian(losses, weights)
            squares = [tf.reduce_sum(tf.reshape(r, (self.examples, -1)) ** 2, axis=1) for r in rows]
            factors = tf.minimum(1.0, 0.5 * tf.math.rsqrt(tf.add_n(squares)))
            return tf.reduce_mean(losses), [tf.tensordot(factors, r, 1) / self.examples for r in rows]

        return clipped

    def torch(self):
        import torch
        import torch.nn.functional as F

        def cost(weights, x, label):
            w1, b1, w2, b2 = weights
            value = F.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, label)
            return value, value

        rows_of = torch.func.vmap(torch.func.grad(cost, has_aux=True), (None, 0, 0))

        def clipped(weights, x, labels):
            rows, losses = rows_of([w.detach() for w in weights], x, labels)
            squares = sum((r.flatten(1) ** 2).sum(1) for r in rows)
            factors = torch.clamp(0.5 * torch.rsqrt(squares), max=1.0)
            return losses.mean(), [torch.tensordot(factors, r, 1) / self.examples for r in rows]

        return clipped

    def jax(self):
        import jax
        import jax.numpy as jnp

        def cost(weights, x, label):
            w1, b1, w2, b2 = weights
            return -jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)[label]

        rows_of = jax.vmap(jax.value_and_grad(cost), (None, 0, 0))

        def clipped(weights, x, labels):
            losses, rows = rows_of(weights, x, labels)
            squares = sum((r.reshape(self.examples, -1) ** 2).sum(1) for r in rows)
            factors = jnp.minimum(1.0, 0.5 * jax.lax.rsqrt(squares))
            return losses.mean(), [jnp.tensordot(factors, r, 1) / self.examples for r in rows]

        return clipped
