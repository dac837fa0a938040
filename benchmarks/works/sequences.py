"""Sequences: step by step, all at once by attention, by dynamic programming, and by their spectra."""

import numpy as np

from .work import Work, layers, size


class Lstm(Work):
    """An LSTM cell written by hand, in a Python loop over time, that classifies sequences."""

    title = "LSTM cell with 96 units in a loop over 32 steps, batch 32"
    sizes = size(examples=32, length=32, inputs=48, units=96)
    tiny = size(examples=2, length=4, inputs=3, units=4)
    clip = 1.0

    def weights(self, rng):
        n = self.units
        wx, wh = rng.normal(size=(self.inputs, 4 * n)), rng.normal(size=(n, 4 * n))
        return [wx * self.inputs**-0.5, wh * n**-0.5, np.zeros(4 * n), *layers(rng, n, 5)]

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.length, self.inputs)), rng.integers(0, 5, self.examples)

    def tape(self, tf):
        def loss(weights, x, labels):
            wx, wh, b, w, c = weights
            h = state = tf.zeros((self.examples, self.units))
            for t in range(self.length):
                gates = tf.matmul(x[:, t], wx) + tf.matmul(h, wh) + b
                i, f, o, z = tf.split(gates, 4, axis=1)
                state = tf.sigmoid(f) * state + tf.sigmoid(i) * tf.tanh(z)
                h = tf.sigmoid(o) * tf.tanh(state)
            logits = tf.matmul(h, w) + c
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def loss(weights, x, labels):
            wx, wh, b, w, c = weights
            h = state = torch.zeros((self.examples, self.units))
            for t in range(self.length):
                gates = x[:, t] @ wx + h @ wh + b
                i, f, o, z = torch.chunk(gates, 4, dim=1)
                state = torch.sigmoid(f) * state + torch.sigmoid(i) * torch.tanh(z)
                h = torch.sigmoid(o) * torch.tanh(state)
            return F.cross_entropy(h @ w + c, labels)

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def loss(weights, x, labels):
            wx, wh, b, w, c = weights

            def cell(carry, x):
                h, state = carry
                i, f, o, z = jnp.split(x @ wx + h @ wh + b, 4, axis=1)
                state = jax.nn.sigmoid(f) * state + jax.nn.sigmoid(i) * jnp.tanh(z)
                return (jax.nn.sigmoid(o) * jnp.tanh(state), state), None

            start = jnp.zeros((self.examples, self.units))
            (h, _), _ = jax.lax.scan(cell, (start, start), x.swapaxes(0, 1))
            return -jnp.take_along_axis(jax.nn.log_softmax(h @ w + c), labels[:, None], 1).mean()

        return loss


class Transformer(Work):
    """A small GPT that predicts the next character: two blocks, four heads, causal attention."""

    title = "GPT with two blocks, 64 channels, 64 characters, batch 8"
    sizes = size(examples=8, length=64, width=64, heads=4, characters=65)
    tiny = size(examples=2, length=4, width=4, heads=2, characters=5)
    clip = 1.0

    def weights(self, rng):
        w = self.width
        found = [0.1 * rng.normal(size=(self.characters, w)), 0.1 * rng.normal(size=(self.length, w))]
        for _ in range(2):
            found += [np.ones(w), np.zeros(w), rng.normal(size=(w, 3 * w)) * w**-0.5, *layers(rng, w, w)]
            found += [np.ones(w), np.zeros(w), *layers(rng, w, 4 * w, w)]
        return [*found, *layers(rng, w, self.characters)]

    def batch(self, rng):
        text = rng.integers(0, self.characters, (self.examples, self.length + 1))
        return text[:, :-1], text[:, 1:]

    def tape(self, tf):
        shape = (self.examples, self.length, self.heads, self.width // self.heads)
        mask = tf.constant(np.triu(np.full((self.length, self.length), -1e9, np.float32), 1))

        def normalised(x, scale, shift):
            mean, variance = tf.nn.moments(x, -1, keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

        def heads(x):
            return tf.transpose(tf.reshape(x, shape), (0, 2, 1, 3))

        def block(x, weights):
            scale1, shift1, qkv, out, out_bias, scale2, shift2, up, up_bias, down, down_bias = weights
            parts = tf.split(tf.matmul(normalised(x, scale1, shift1), qkv), 3, axis=-1)
            q, k, v = (heads(part) for part in parts)
            scores = tf.matmul(q, k, transpose_b=True) * shape[-1] ** -0.5 + mask
            mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), (0, 2, 1, 3))
            x = x + tf.matmul(tf.reshape(mixed, x.shape), out) + out_bias
            h = tf.nn.gelu(tf.matmul(normalised(x, scale2, shift2), up) + up_bias, approximate=True)
            return x + tf.matmul(h, down) + down_bias

        def loss(weights, text, following):
            x = tf.gather(weights[0], text) + weights[1]
            x = block(x, weights[2:13])
            x = block(x, weights[13:24])
            logits = tf.matmul(x, weights[24]) + weights[25]
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=logits))

        return loss

    def torch(self):
        import torch.nn.functional as F

        shape = (self.examples, self.length, self.heads, self.width // self.heads)

        def block(x, weights):
            scale1, shift1, qkv, out, out_bias, scale2, shift2, up, up_bias, down, down_bias = weights
            parts = (F.layer_norm(x, x.shape[-1:], scale1, shift1) @ qkv).chunk(3, dim=-1)
            q, k, v = (part.reshape(shape).transpose(1, 2) for part in parts)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + mixed.transpose(1, 2).reshape(x.shape) @ out + out_bias
            h = F.gelu(F.layer_norm(x, x.shape[-1:], scale2, shift2) @ up + up_bias, approximate="tanh")
            return x + h @ down + down_bias

        def loss(weights, text, following):
            x = F.embedding(text, weights[0]) + weights[1]
            x = block(x, weights[2:13])
            x = block(x, weights[13:24])
            logits = x @ weights[24] + weights[25]
            return F.cross_entropy(logits.flatten(0, 1), following.flatten())

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        shape = (self.examples, self.length, self.heads, self.width // self.heads)
        mask = jnp.triu(jnp.full((self.length, self.length), -1e9), 1)

        def normalised(x, scale, shift):
            mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

        def block(x, weights):
            scale1, shift1, qkv, out, out_bias, scale2, shift2, up, up_bias, down, down_bias = weights
            parts = jnp.split(normalised(x, scale1, shift1) @ qkv, 3, axis=-1)
            q, k, v = (part.reshape(shape).transpose(0, 2, 1, 3) for part in parts)
            mixed = jax.nn.softmax(q @ k.swapaxes(2, 3) * shape[-1] ** -0.5 + mask) @ v
            x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ out + out_bias
            h = jax.nn.gelu(normalised(x, scale2, shift2) @ up + up_bias)
            return x + h @ down + down_bias

        def loss(weights, text, following):
            x = weights[0][text] + weights[1]
            x = block(x, weights[2:13])
            x = block(x, weights[13:24])
            logs = jax.nn.log_softmax(x @ weights[24] + weights[25])
            return -jnp.take_along_axis(logs, following[..., None], -1).mean()

        return loss


class Crf(Work):
    """A linear-chain conditional random field that tags words: the forward algorithm, in logarithms."""

    title = "conditional random field, forward algorithm over 40 words, batch 16"
    sizes = size(examples=16, length=40, inputs=32, tags=9)
    tiny = size(examples=2, length=4, inputs=3, tags=3)
    rate = 1e-2

    def weights(self, rng):
        return [0.1 * rng.normal(size=(self.inputs, self.tags)), 0.1 * rng.normal(size=(self.tags, self.tags))]

    def batch(self, rng):
        tags = rng.integers(0, self.tags, (self.examples, self.length))
        return rng.normal(size=(self.examples, self.length, self.inputs)), tags

    def tape(self, tf):
        def loss(weights, x, tags):
            emit, change = weights
            scores = tf.matmul(x, emit)
            alpha = scores[:, 0]
            for t in range(1, self.length):
                alpha = tf.reduce_logsumexp(alpha[:, :, tf.newaxis] + change, axis=1) + scores[:, t]
            steps = tf.gather_nd(change, tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1))
            path = tf.reduce_sum(tf.gather(scores, tags, batch_dims=2), axis=1) + tf.reduce_sum(steps, axis=1)
            return tf.reduce_mean(tf.reduce_logsumexp(alpha, axis=1) - path)

        return loss

    def torch(self):
        import torch

        def loss(weights, x, tags):
            emit, change = weights
            scores = x @ emit
            alpha = scores[:, 0]
            for t in range(1, self.length):
                alpha = torch.logsumexp(alpha[:, :, None] + change, dim=1) + scores[:, t]
            steps = change[tags[:, :-1], tags[:, 1:]]
            path = scores.gather(2, tags[:, :, None]).squeeze(2).sum(1) + steps.sum(1)
            return (torch.logsumexp(alpha, dim=1) - path).mean()

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        logsumexp = jax.scipy.special.logsumexp

        def loss(weights, x, tags):
            emit, change = weights
            scores = x @ emit

            def forward(alpha, score):
                return logsumexp(alpha[:, :, None] + change, axis=1) + score, None

            alpha, _ = jax.lax.scan(forward, scores[:, 0], scores[:, 1:].swapaxes(0, 1))
            steps = change[tags[:, :-1], tags[:, 1:]]
            path = jnp.take_along_axis(scores, tags[:, :, None], 2).squeeze(2).sum(1) + steps.sum(1)
            return (logsumexp(alpha, axis=1) - path).mean()

        return loss


class Spectral(Work):
    """An equaliser, gains and delays by frequency, that makes one sound like another: magnitudes and waves compared."""

    title = "equalizer learned with an FFT and a spectral loss, 8 audio clips of 4096 samples"
    sizes = size(examples=8, samples=4096)
    tiny = size(examples=2, samples=8)
    rate = 1e-2

    def weights(self, rng):
        bins = self.samples // 2 + 1
        return [np.zeros(bins), 0.1 * rng.normal(size=bins)]

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.samples)), rng.normal(size=(self.examples, self.samples))

    def tape(self, tf):
        def loss(weights, dry, wanted):
            gain, phase = weights
            size = tf.exp(gain)
            response = tf.complex(size * tf.cos(phase), size * tf.sin(phase))
            spectrum = tf.signal.rfft(dry) * response
            wave = tf.signal.irfft(spectrum)
            target = tf.abs(tf.signal.rfft(wanted))
            magnitudes = tf.reduce_mean((tf.math.log(tf.abs(spectrum) + 1e-3) - tf.math.log(target + 1e-3)) ** 2)
            return magnitudes + tf.reduce_mean(tf.abs(wave - wanted))

        return loss

    def torch(self):
        import torch

        def loss(weights, dry, wanted):
            gain, phase = weights
            response = torch.polar(torch.exp(gain), phase)
            spectrum = torch.fft.rfft(dry) * response
            wave = torch.fft.irfft(spectrum)
            target = torch.fft.rfft(wanted).abs()
            magnitudes = ((torch.log(spectrum.abs() + 1e-3) - torch.log(target + 1e-3)) ** 2).mean()
            return magnitudes + (wave - wanted).abs().mean()

        return loss

    def jax(self):
        import jax.numpy as jnp

        def loss(weights, dry, wanted):
            gain, phase = weights
            response = jnp.exp(gain + 1j * phase)
            spectrum = jnp.fft.rfft(dry) * response
            wave = jnp.fft.irfft(spectrum)
            target = jnp.abs(jnp.fft.rfft(wanted))
            magnitudes = ((jnp.log(jnp.abs(spectrum) + 1e-3) - jnp.log(target + 1e-3)) ** 2).mean()
            return magnitudes + jnp.abs(wave - wanted).mean()

        return loss
