"""Simulations, and derivatives through them: many small ops one after another, or one long formula on large arrays."""

import math

import numpy as np

from .work import Work, layers, size


class Pendulum(Work):
    """A damped pendulum's length and damping, fitted to the angle at which it was seen in the end: scalars only."""

    title = "damped pendulum, 60 Euler steps on scalars"
    sizes = size(steps=60)
    tiny = size(steps=5)
    rate = 1e-2

    def weights(self, rng):
        return [0.1, 1.3]

    def batch(self, rng):
        return rng.uniform(0.5, 1.0), rng.uniform(-1.0, 1.0), rng.uniform(-0.5, 0.5)

    def simulated(self, sin):
        """The text is the same wherever arithmetic is written with operators."""

        def loss(weights, angle, speed, seen):
            damping, length = weights
            for _ in range(self.steps):
                force = -damping * speed - 9.81 / length * sin(angle)
                angle = angle + 0.02 * speed
                speed = speed + 0.02 * force
            return (angle - seen) ** 2

        return loss

    def tape(self, tf):
        return self.simulated(tf.sin)

    def torch(self):
        import torch

        return self.simulated(torch.sin)

    def jax(self):
        import jax.numpy as jnp

        return self.simulated(jnp.sin)

    def autograd(self):
        import autograd.numpy as anp

        return self.simulated(anp.sin)


class Particles(Work):
    """Bodies that attract each other, by leapfrog steps: which speeds at the start bring them where they were seen?"""

    title = "40-body gravity simulation, 20 leapfrog steps, fitted by backpropagation through time"
    sizes = size(bodies=40, steps=20)
    tiny = size(bodies=4, steps=3)
    update = "momentum"
    rate = 1e-2

    def weights(self, rng):
        return [rng.normal(size=(self.bodies, 2)) * 0.1]

    def batch(self, rng):
        masses = rng.uniform(0.5, 1.5, self.bodies)
        return rng.normal(size=(self.bodies, 2)), masses, rng.normal(size=(self.bodies, 2))

    def numpy_like(self, np, total):
        """For the libraries with NumPy's indexing; `total` sums over an axis."""

        def accelerations(places, masses):
            apart = places[None, :, :] - places[:, None, :]
            squares = total(apart * apart, -1) + 0.1
            return total(apart * (masses / squares**1.5)[:, :, None], 1)

        def loss(weights, places, masses, seen):
            speeds = weights[0]
            pull = accelerations(places, masses)
            for _ in range(self.steps):
                speeds = speeds + 0.005 * pull
                places = places + 0.01 * speeds
                pull = accelerations(places, masses)
                speeds = speeds + 0.005 * pull
            return total(total((places - seen) ** 2, 1), 0) / self.bodies

        return loss

    def tape(self, tf):
        return self.numpy_like(tf, tf.reduce_sum)

    def torch(self):
        import torch

        return self.numpy_like(torch, torch.sum)

    def jax(self):
        import jax.numpy as jnp

        return self.numpy_like(jnp, jnp.sum)

    def autograd(self):
        import autograd.numpy as anp

        return self.numpy_like(anp, anp.sum)


class NeuralOde(Work):
    """A network as the right-hand side of a differential equation, solved by Runge and Kutta's method."""

    title = "neural ODE, 20 Runge-Kutta steps of a 2-32-2 network, batch 64"
    sizes = size(examples=64, hidden=32, steps=20)
    tiny = size(examples=3, hidden=4, steps=2)

    def weights(self, rng):
        return layers(rng, 2, self.hidden, 2)

    def batch(self, rng):
        start = rng.normal(size=(self.examples, 2))
        return start, start[:, ::-1] * 0.5

    def solved(self, tanh, mean):
        def slope(weights, y):
            w1, b1, w2, b2 = weights
            return tanh(y @ w1 + b1) @ w2 + b2

        def loss(weights, y, seen):
            dt = 1 / self.steps
            for _ in range(self.steps):
                k1 = slope(weights, y)
                k2 = slope(weights, y + 0.5 * dt * k1)
                k3 = slope(weights, y + 0.5 * dt * k2)
                k4 = slope(weights, y + dt * k3)
                y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return mean((y - seen) ** 2)

        return loss

    def tape(self, tf):
        return self.solved(tf.tanh, tf.reduce_mean)

    def torch(self):
        import torch

        return self.solved(torch.tanh, torch.mean)

    def jax(self):
        import jax.numpy as jnp

        return self.solved(jnp.tanh, jnp.mean)

    def autograd(self):
        import autograd.numpy as anp

        return self.solved(anp.tanh, anp.mean)


class BlackScholes(Work):
    """Prices of a book of options, and how they change with the spot and the volatility: delta and vega."""

    title = "Black-Scholes prices of a million options, with delta and vega"
    sizes = size(options=10**6)
    tiny = size(options=6)
    update = "descent"
    by_hand = True

    def weights(self, rng):
        return []

    def batch(self, rng):
        return tuple(rng.uniform(low, high, self.options) for low, high in ((80, 120), (80, 120), (0.1, 2), (0.1, 0.5)))

    def price(self, log, exp, sqrt, erf):
        def normal(x):
            return 0.5 * (1 + erf(x * math.sqrt(0.5)))

        def price(spot, strike, time, volatility):
            deviation = volatility * sqrt(time)
            d1 = (log(spot / strike) + (0.03 + 0.5 * volatility**2) * time) / deviation
            return spot * normal(d1) - strike * exp(-0.03 * time) * normal(d1 - deviation)

        return price

    def tape(self, tf):
        price = self.price(tf.math.log, tf.exp, tf.sqrt, tf.math.erf)

        def sensitivities(weights, spot, strike, time, volatility):
            with tf.GradientTape() as tape:
                tape.watch([spot, volatility])
                total = tf.reduce_sum(price(spot, strike, time, volatility))
            delta, vega = tape.gradient(total, [spot, volatility])
            return tf.reduce_mean(delta) + tf.reduce_mean(vega), []

        return sensitivities

    def torch(self):
        import torch

        price = self.price(torch.log, torch.exp, torch.sqrt, torch.erf)

        def sensitivities(weights, spot, strike, time, volatility):
            spot, volatility = spot.detach().requires_grad_(), volatility.detach().requires_grad_()
            total = price(spot, strike, time, volatility).sum()
            delta, vega = torch.autograd.grad(total, (spot, volatility))
            return delta.mean() + vega.mean(), []

        return sensitivities

    def jax(self):
        import jax
        import jax.numpy as jnp

        price = self.price(jnp.log, jnp.exp, jnp.sqrt, jax.scipy.special.erf)
        slopes = jax.grad(lambda *numbers: price(*numbers).sum(), argnums=(0, 3))

        def sensitivities(weights, *numbers):
            delta, vega = slopes(*numbers)
            return delta.mean() + vega.mean(), []

        return sensitivities

    def autograd(self):
        import autograd
        import autograd.numpy as anp
        from autograd.scipy.special import erf

        price = self.price(anp.log, anp.exp, anp.sqrt, erf)
        slopes = autograd.grad(lambda pair, strike, time: anp.sum(price(pair[0], strike, time, pair[1])))

        def sensitivities(weights, spot, strike, time, volatility):
            delta, vega = slopes((spot, volatility), strike, time)
            return np.mean(delta) + np.mean(vega), []

        return sensitivities
