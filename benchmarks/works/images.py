"""Convolutions: a residual network that learns, and an image that is made. PyTorch has channels first."""

import numpy as np

from .work import Work, layers, size


def kernel(rng, inputs, outputs):
    """A 3 by 3 kernel, by He's rule."""
    return rng.normal(size=(3, 3, inputs, outputs)) * (2 / (9 * inputs)) ** 0.5


def channels_first(array, is_kernel=False):
    """An image or a kernel as PyTorch has it; what has no four axes stays."""
    axes = (3, 2, 0, 1) if is_kernel else (0, 3, 1, 2)
    return np.ascontiguousarray(array.transpose(axes)) if array.ndim == 4 else array


class ResNet(Work):
    """A residual network with batch normalisation: a stem, a block, a block that halves the image, a mean, a layer."""

    title = "residual CNN with batch norm on 32x32 images, batch 16"
    sizes = size(examples=16, side=32, channels=16)
    tiny = size(examples=2, side=4, channels=2)
    update = "momentum"
    rate = 1e-2

    def weights(self, rng):
        c = self.channels
        convolutions = (3, c), (c, c), (c, c), (c, 2 * c), (2 * c, 2 * c), (c, 2 * c)
        found = []
        for inputs, outputs in convolutions:
            found += [kernel(rng, inputs, outputs), np.ones(outputs), np.zeros(outputs)]
        return found + layers(rng, 2 * c, 10)

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.side, self.side, 3)), rng.integers(0, 10, self.examples)

    def torch_layout(self, numbers):
        weights, batches = numbers
        turned = [tuple(channels_first(a) for a in batch) for batch in batches]
        return [channels_first(w, is_kernel=True) for w in weights], turned

    @staticmethod
    def residual(convolved, relu):
        """The blocks; `convolved` is a convolution and its normalisation."""

        def features(weights, x):
            parts = [weights[i : i + 3] for i in range(0, 18, 3)]
            x = relu(convolved(x, *parts[0]))
            x = relu(x + convolved(relu(convolved(x, *parts[1])), *parts[2]))
            inner = convolved(relu(convolved(x, *parts[3], stride=2)), *parts[4])
            return relu(inner + convolved(x, *parts[5], stride=2))

        return features

    def tape(self, tf):
        def convolved(x, kernel, scale, shift, stride=1):
            y = tf.nn.conv2d(x, kernel, stride, [[0, 0], [1, 1], [1, 1], [0, 0]])
            mean, variance = tf.nn.moments(y, (0, 1, 2))
            return tf.nn.batch_normalization(y, mean, variance, shift, scale, 1e-5)

        features = self.residual(convolved, tf.nn.relu)

        def loss(weights, x, labels):
            h = tf.reduce_mean(features(weights, x), axis=(1, 2))
            logits = tf.matmul(h, weights[-2]) + weights[-1]
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def convolved(x, kernel, scale, shift, stride=1):
            y = F.conv2d(x, kernel, stride=stride, padding=1)
            return F.batch_norm(y, None, None, scale, shift, training=True)

        features = self.residual(convolved, torch.relu)

        def loss(weights, x, labels):
            h = features(weights, x).mean((2, 3))
            return F.cross_entropy(h @ weights[-2] + weights[-1], labels)

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def convolved(x, kernel, scale, shift, stride=1):
            y = jax.lax.conv_general_dilated(
                x, kernel, (stride, stride), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
            return (y - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

        features = self.residual(convolved, jax.nn.relu)

        def loss(weights, x, labels):
            logits = features(weights, x).mean((1, 2)) @ weights[-2] + weights[-1]
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

        return loss


class Style(Work):
    """An image gets the Gram matrices of another, in the features of three fixed layers, and stays smooth."""

    title = "style transfer with Gram matrices of three conv layers, 48x48 image"
    sizes = size(side=48, channels=24)
    tiny = size(side=8, channels=3)
    rate = 1e-2

    def weights(self, rng):
        return [rng.uniform(size=(1, self.side, self.side, 3))]

    def batch(self, rng):
        c = self.channels
        kernels = [kernel(np.random.default_rng(1), *widths) for widths in ((3, c), (c, c), (c, 2 * c))]
        return rng.uniform(size=(1, self.side, self.side, 3)), *kernels

    def torch_layout(self, numbers):
        weights, batches = numbers
        turned = [(channels_first(b[0]), *(channels_first(k, is_kernel=True) for k in b[1:])) for b in batches]
        return [channels_first(w) for w in weights], turned

    def tape(self, tf):
        def grams(x, kernels):
            found = []
            for kernel in kernels:
                x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
                flat = tf.reshape(x, (-1, x.shape[-1]))
                found.append(tf.matmul(flat, flat, transpose_a=True) / float(flat.shape[0]))
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
            return found

        def loss(weights, style, *kernels):
            image = weights[0]
            pairs = zip(grams(image, kernels), grams(style, kernels), strict=True)
            rough = tf.reduce_mean(tf.abs(image[:, 1:] - image[:, :-1]))
            rough += tf.reduce_mean(tf.abs(image[:, :, 1:] - image[:, :, :-1]))
            return sum(tf.reduce_mean((a - b) ** 2) for a, b in pairs) + 0.1 * rough

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def grams(x, kernels):
            found = []
            for kernel in kernels:
                x = torch.relu(F.conv2d(x, kernel, padding=1))
                flat = x.flatten(2)[0]
                found.append(flat @ flat.T / flat.shape[1])
                x = F.max_pool2d(x, 2)
            return found

        def loss(weights, style, *kernels):
            image = weights[0]
            pairs = zip(grams(image, kernels), grams(style, kernels), strict=True)
            rough = (image[:, :, 1:] - image[:, :, :-1]).abs().mean()
            rough = rough + (image[:, :, :, 1:] - image[:, :, :, :-1]).abs().mean()
            return sum(F.mse_loss(a, b) for a, b in pairs) + 0.1 * rough

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def grams(x, kernels):
            found = []
            for kernel in kernels:
                dimensions = ("NHWC", "HWIO", "NHWC")
                x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=dimensions))
                flat = x.reshape(-1, x.shape[-1])
                found.append(flat.T @ flat / flat.shape[0])
                x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return found

        def loss(weights, style, *kernels):
            image = weights[0]
            pairs = zip(grams(image, kernels), grams(style, kernels), strict=True)
            rough = jnp.abs(image[:, 1:] - image[:, :-1]).mean() + jnp.abs(image[:, :, 1:] - image[:, :, :-1]).mean()
            return sum(((a - b) ** 2).mean() for a, b in pairs) + 0.1 * rough

        return loss
