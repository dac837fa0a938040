"""Dense networks as they are trained for many ends: to classify, to generate, to act."""

import numpy as np

from .work import Work, layers, size


class Classifier(Work):
    """A multilayer perceptron on images of digits."""

    title = "classifier 784-256-128-10, batch 64"
    sizes = size(examples=64, inputs=784, hidden=256)
    tiny = size(examples=4, inputs=6, hidden=8)

    def weights(self, rng):
        return layers(rng, self.inputs, self.hidden, self.hidden // 2, 10)

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.inputs)), rng.integers(0, 10, self.examples)

    def tape(self, tf):
        def loss(weights, x, labels):
            w1, b1, w2, b2, w3, b3 = weights
            h = tf.nn.relu(tf.matmul(x, w1) + b1)
            h = tf.nn.relu(tf.matmul(h, w2) + b2)
            logits = tf.matmul(h, w3) + b3
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def loss(weights, x, labels):
            w1, b1, w2, b2, w3, b3 = weights
            h = torch.relu(x @ w1 + b1)
            h = torch.relu(h @ w2 + b2)
            return F.cross_entropy(h @ w3 + b3, labels)

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def loss(weights, x, labels):
            w1, b1, w2, b2, w3, b3 = weights
            h = jax.nn.relu(x @ w1 + b1)
            h = jax.nn.relu(h @ w2 + b2)
            return -jnp.take_along_axis(jax.nn.log_softmax(h @ w3 + b3), labels[:, None], 1).mean()

        return loss

    def autograd(self):
        import autograd.numpy as anp

        def loss(weights, x, labels):
            w1, b1, w2, b2, w3, b3 = weights
            h = anp.maximum(x @ w1 + b1, 0)
            h = anp.maximum(h @ w2 + b2, 0)
            logits = h @ w3 + b3
            shifted = logits - anp.max(logits, axis=1, keepdims=True)
            logs = shifted - anp.log(anp.sum(anp.exp(shifted), axis=1, keepdims=True))
            return -anp.mean(logs[anp.arange(len(labels)), labels])

        return loss


class Vae(Work):
    """A variational autoencoder of digits; the noise comes with the data, so that all libraries see the same."""

    title = "variational autoencoder 784-256-20-256-784, batch 64"
    sizes = size(examples=64, pixels=784, hidden=256, codes=20)
    tiny = size(examples=3, pixels=6, hidden=5, codes=2)

    def weights(self, rng):
        return layers(rng, self.pixels, self.hidden, 2 * self.codes) + layers(rng, self.codes, self.hidden, self.pixels)

    def batch(self, rng):
        return rng.uniform(0, 1, (self.examples, self.pixels)), rng.normal(size=(self.examples, self.codes))

    def tape(self, tf):
        def loss(weights, x, noise):
            w1, b1, w2, b2, w3, b3, w4, b4 = weights
            h = tf.nn.relu(tf.matmul(x, w1) + b1)
            mean, log_variance = tf.split(tf.matmul(h, w2) + b2, 2, axis=1)
            z = mean + tf.exp(0.5 * log_variance) * noise
            h = tf.nn.relu(tf.matmul(z, w3) + b3)
            logits = tf.matmul(h, w4) + b4
            likelihood = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            divergence = 0.5 * (tf.exp(log_variance) + mean**2 - 1.0 - log_variance)
            return tf.reduce_mean(tf.reduce_sum(likelihood, axis=1) + tf.reduce_sum(divergence, axis=1))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def loss(weights, x, noise):
            w1, b1, w2, b2, w3, b3, w4, b4 = weights
            h = torch.relu(x @ w1 + b1)
            mean, log_variance = torch.chunk(h @ w2 + b2, 2, dim=1)
            z = mean + torch.exp(0.5 * log_variance) * noise
            h = torch.relu(z @ w3 + b3)
            likelihood = F.binary_cross_entropy_with_logits(h @ w4 + b4, x, reduction="none")
            divergence = 0.5 * (torch.exp(log_variance) + mean**2 - 1.0 - log_variance)
            return (likelihood.sum(1) + divergence.sum(1)).mean()

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def loss(weights, x, noise):
            w1, b1, w2, b2, w3, b3, w4, b4 = weights
            h = jax.nn.relu(x @ w1 + b1)
            mean, log_variance = jnp.split(h @ w2 + b2, 2, axis=1)
            z = mean + jnp.exp(0.5 * log_variance) * noise
            h = jax.nn.relu(z @ w3 + b3)
            logits = h @ w4 + b4
            likelihood = jax.nn.softplus(logits) - x * logits
            divergence = 0.5 * (jnp.exp(log_variance) + mean**2 - 1.0 - log_variance)
            return (likelihood.sum(1) + divergence.sum(1)).mean()

        return loss


class Gan(Work):
    """A Wasserstein GAN with a penalty on the critic's gradient: a derivative of a derivative."""

    title = "Wasserstein GAN on 2-D points with gradient penalty, batch 128"
    sizes = size(examples=128, hidden=64)
    tiny = size(examples=4, hidden=5)
    rate = 1e-4
    by_hand = True

    def weights(self, rng):
        return layers(rng, 8, self.hidden, self.hidden, 2) + layers(rng, 2, self.hidden, self.hidden, 1)

    def batch(self, rng):
        n = self.examples
        return rng.normal(size=(n, 2)), rng.normal(size=(n, 8)), rng.uniform(size=(n, 1))

    @staticmethod
    def network(act):
        def network(weights, x):
            w1, b1, w2, b2, w3, b3 = weights
            return act(act(x @ w1 + b1) @ w2 + b2) @ w3 + b3

        return network

    def tape(self, tf):
        network = self.network(tf.nn.softplus)

        def losses(weights, real, noise, between):
            maker, critic = weights[:6], weights[6:]
            with tf.GradientTape(persistent=True) as tape:
                made = network(maker, noise)
                mixed = between * real + (1.0 - between) * made
                with tf.GradientTape() as inner:
                    inner.watch(mixed)
                    judged = network(critic, mixed)
                slopes = inner.gradient(judged, mixed)
                penalty = tf.reduce_mean((tf.norm(slopes, axis=1) - 1.0) ** 2)
                making = -tf.reduce_mean(network(critic, made))
                judging = tf.reduce_mean(network(critic, tf.stop_gradient(made))) - tf.reduce_mean(
                    network(critic, real)
                )
                judging = judging + 10.0 * penalty
            return judging, tape.gradient(making, maker) + tape.gradient(judging, critic)

        return losses

    def torch(self):
        import torch
        import torch.nn.functional as F

        network = self.network(F.softplus)

        def losses(weights, real, noise, between):
            maker, critic = weights[:6], weights[6:]
            made = network(maker, noise)
            making = -network(critic, made).mean()
            of_maker = torch.autograd.grad(making, maker)
            made = made.detach()
            mixed = (between * real + (1 - between) * made).requires_grad_()
            (slopes,) = torch.autograd.grad(network(critic, mixed).sum(), mixed, create_graph=True)
            penalty = ((slopes.norm(dim=1) - 1) ** 2).mean()
            judging = network(critic, made).mean() - network(critic, real).mean() + 10 * penalty
            return judging, of_maker + torch.autograd.grad(judging, critic)

        return losses

    def jax(self):
        import jax
        import jax.numpy as jnp

        network = self.network(jax.nn.softplus)
        slope = jax.vmap(jax.grad(lambda x, critic: network(critic, x)[0]), (0, None))

        def making(maker, critic, noise):
            made = network(maker, noise)
            return -network(critic, made).mean(), made

        def judging(critic, made, real, between):
            slopes = slope(between * real + (1 - between) * made, critic)
            penalty = ((jnp.linalg.norm(slopes, axis=1) - 1) ** 2).mean()
            return network(critic, made).mean() - network(critic, real).mean() + 10 * penalty

        def losses(weights, real, noise, between):
            maker, critic = weights[:6], weights[6:]
            (_, made), of_maker = jax.value_and_grad(making, has_aux=True)(maker, critic, noise)
            value, of_critic = jax.value_and_grad(judging)(critic, made, real, between)
            return value, of_maker + of_critic

        return losses


class Diffusion(Work):
    """A step of a denoising diffusion model: noise is added by a schedule, and a network finds it."""

    title = "denoising diffusion step, 64-256-256-64 with time embedding, batch 128"
    sizes = size(examples=128, width=64, hidden=256)
    tiny = size(examples=3, width=4, hidden=6)

    schedule = np.cumprod(1 - np.linspace(1e-4, 0.02, 200)).astype(np.float32)

    def weights(self, rng):
        return [*layers(rng, 2 * self.width, self.hidden, self.hidden, self.width)]

    def batch(self, rng):
        n, w = self.examples, self.width
        return rng.normal(size=(n, w)), rng.normal(size=(n, w)), rng.integers(0, len(self.schedule), n)

    def frequencies(self):
        half = self.width // 2
        return np.exp(-np.log(1e4) * np.arange(half) / half).astype(np.float32)

    def tape(self, tf):
        schedule, frequencies = tf.constant(self.schedule), tf.constant(self.frequencies())

        def loss(weights, x, noise, times):
            w1, b1, w2, b2, w3, b3 = weights
            kept = tf.gather(schedule, times)[:, tf.newaxis]
            noisy = tf.sqrt(kept) * x + tf.sqrt(1.0 - kept) * noise
            angles = tf.cast(times, tf.float32)[:, tf.newaxis] * frequencies
            h = tf.concat([noisy, tf.sin(angles), tf.cos(angles)], axis=1)
            h = tf.nn.silu(tf.matmul(h, w1) + b1)
            h = h + tf.nn.silu(tf.matmul(h, w2) + b2)
            return tf.reduce_mean((tf.matmul(h, w3) + b3 - noise) ** 2)

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        schedule, frequencies = torch.tensor(self.schedule), torch.tensor(self.frequencies())

        def loss(weights, x, noise, times):
            w1, b1, w2, b2, w3, b3 = weights
            kept = schedule[times][:, None]
            noisy = torch.sqrt(kept) * x + torch.sqrt(1 - kept) * noise
            angles = times.float()[:, None] * frequencies
            h = torch.cat([noisy, torch.sin(angles), torch.cos(angles)], dim=1)
            h = F.silu(h @ w1 + b1)
            h = h + F.silu(h @ w2 + b2)
            return F.mse_loss(h @ w3 + b3, noise)

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        schedule, frequencies = jnp.asarray(self.schedule), jnp.asarray(self.frequencies())

        def loss(weights, x, noise, times):
            w1, b1, w2, b2, w3, b3 = weights
            kept = schedule[times][:, None]
            noisy = jnp.sqrt(kept) * x + jnp.sqrt(1 - kept) * noise
            angles = times.astype(jnp.float32)[:, None] * frequencies
            h = jnp.concatenate([noisy, jnp.sin(angles), jnp.cos(angles)], axis=1)
            h = jax.nn.silu(h @ w1 + b1)
            h = h + jax.nn.silu(h @ w2 + b2)
            return ((h @ w3 + b3 - noise) ** 2).mean()

        return loss


class Ppo(Work):
    """Proximal policy optimisation: an actor and a critic that share layers, clipped ratios, entropy."""

    title = "PPO update of an actor-critic 8-64-64, batch 256"
    sizes = size(examples=256, hidden=64, actions=4)
    tiny = size(examples=5, hidden=6, actions=3)
    clip = 0.5

    def weights(self, rng):
        hidden = self.hidden
        return layers(rng, 8, hidden, hidden) + layers(rng, hidden, self.actions) + layers(rng, hidden, 1)

    def batch(self, rng):
        n = self.examples
        chosen = rng.integers(0, self.actions, n)
        old = np.full(n, -np.log(self.actions)) + 0.1 * rng.normal(size=n)
        return rng.normal(size=(n, 8)), chosen, old, rng.normal(size=n), rng.normal(size=n)

    def tape(self, tf):
        def loss(weights, seen, chosen, old, advantages, returns):
            w1, b1, w2, b2, wp, bp, wv, bv = weights
            h = tf.tanh(tf.matmul(tf.tanh(tf.matmul(seen, w1) + b1), w2) + b2)
            logs = tf.nn.log_softmax(tf.matmul(h, wp) + bp)
            values = tf.squeeze(tf.matmul(h, wv) + bv, axis=1)
            ratios = tf.exp(tf.gather(logs, chosen, batch_dims=1) - old)
            clipped = tf.clip_by_value(ratios, 0.8, 1.2)
            policy = -tf.reduce_mean(tf.minimum(ratios * advantages, clipped * advantages))
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logs) * logs, axis=1))
            return policy + 0.5 * tf.reduce_mean((values - returns) ** 2) - 0.01 * entropy

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def loss(weights, seen, chosen, old, advantages, returns):
            w1, b1, w2, b2, wp, bp, wv, bv = weights
            h = torch.tanh(torch.tanh(seen @ w1 + b1) @ w2 + b2)
            logs = F.log_softmax(h @ wp + bp, dim=1)
            values = (h @ wv + bv).squeeze(1)
            ratios = torch.exp(logs.gather(1, chosen[:, None]).squeeze(1) - old)
            clipped = torch.clamp(ratios, 0.8, 1.2)
            policy = -torch.min(ratios * advantages, clipped * advantages).mean()
            entropy = -(torch.exp(logs) * logs).sum(1).mean()
            return policy + 0.5 * F.mse_loss(values, returns) - 0.01 * entropy

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def loss(weights, seen, chosen, old, advantages, returns):
            w1, b1, w2, b2, wp, bp, wv, bv = weights
            h = jnp.tanh(jnp.tanh(seen @ w1 + b1) @ w2 + b2)
            logs = jax.nn.log_softmax(h @ wp + bp)
            values = (h @ wv + bv).squeeze(1)
            ratios = jnp.exp(jnp.take_along_axis(logs, chosen[:, None], 1).squeeze(1) - old)
            clipped = jnp.clip(ratios, 0.8, 1.2)
            policy = -jnp.minimum(ratios * advantages, clipped * advantages).mean()
            entropy = -(jnp.exp(logs) * logs).sum(1).mean()
            return policy + 0.5 * ((values - returns) ** 2).mean() - 0.01 * entropy

        return loss


class Deep(Work):
    """Fifty layers on a large batch: not measured in time, but in how much memory a step needs."""

    title = "peak memory of a step of a 50-layer network, batch 2048"
    sizes = size(examples=2048, width=256, depth=50)
    tiny = size(examples=2, width=3, depth=3)
    update = "descent"

    def weights(self, rng):
        return [rng.normal(size=(self.width, self.width)) * (2 / self.width) ** 0.5 for _ in range(self.depth)]

    def batch(self, rng):
        return (rng.normal(size=(self.examples, self.width)),)

    @staticmethod
    def network(relu, mean):
        def loss(weights, h):
            for w in weights:
                h = relu(h @ w)
            return mean(h)

        return loss

    def tape(self, tf):
        return self.network(tf.nn.relu, tf.reduce_mean)

    def torch(self):
        import torch

        return self.network(torch.relu, torch.mean)

    def jax(self):
        import jax
        import jax.numpy as jnp

        return self.network(jax.nn.relu, jnp.mean)
