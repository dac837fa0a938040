"""The works of `benchmarks/gpu.py`: at sizes for a GPU, and op for op the same in gradtape and PyTorch."""

import numpy as np

from .derivatives import Pinn
from .images import ResNet, channels_first
from .networks import Classifier
from .relations import Word2vec
from .sequences import Transformer
from .simulations import BlackScholes
from .work import Work, layers, size


class TransformerBlock(Work):
    """One block, pre-norm, whose layer norm and attention are written out in both libraries."""

    title = "transformer block, 512 channels, 8 heads, 128 tokens, batch 16"
    sizes = size(examples=16, length=128, width=512, heads=8)
    tiny = size(examples=2, length=4, width=4, heads=2)

    def weights(self, rng):
        w = self.width
        attention = [np.ones(w), np.zeros(w), rng.normal(size=(w, 3 * w)) * w**-0.5, *layers(rng, w, w)]
        return [*attention, np.ones(w), np.zeros(w), *layers(rng, w, 4 * w, w)]

    def batch(self, rng):
        shape = self.examples, self.length, self.width
        return rng.normal(size=shape), rng.normal(size=shape)

    @staticmethod
    def block(heads, merged, attended, normalized, dense, gelu, split):
        """The block, of the parts that the libraries spell differently."""

        def output(weights, x):
            scale1, shift1, qkv, out, out_bias, scale2, shift2, up, up_bias, down, down_bias = weights
            q, k, v = (heads(part) for part in split(dense(normalized(x, scale1, shift1), qkv)))
            x = x + dense(merged(attended(q, k, v)), out) + out_bias
            return x + dense(gelu(dense(normalized(x, scale2, shift2), up) + up_bias), down) + down_bias

        return output

    def tape(self, tf):
        shape = (self.examples, self.length, self.heads, self.width // self.heads)

        def normalized(x, scale, shift):
            mean, variance = tf.nn.moments(x, -1, keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

        def attended(q, k, v):
            return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * shape[-1] ** -0.5), v)

        output = self.block(
            heads=lambda x: tf.transpose(tf.reshape(x, shape), (0, 2, 1, 3)),
            merged=lambda x: tf.reshape(tf.transpose(x, (0, 2, 1, 3)), (self.examples, self.length, self.width)),
            attended=attended,
            normalized=normalized,
            dense=tf.matmul,
            gelu=lambda x: tf.nn.gelu(x, approximate=True),
            split=lambda x: tf.split(x, 3, axis=-1),
        )
        return lambda weights, x, wanted: tf.reduce_mean((output(weights, x) - wanted) ** 2)

    def torch(self):
        import torch
        import torch.nn.functional as F

        shape = (self.examples, self.length, self.heads, self.width // self.heads)

        def normalized(x, scale, shift):
            variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
            return (x - mean) * torch.rsqrt(variance + 1e-5) * scale + shift

        def attended(q, k, v):
            return torch.softmax(q @ k.transpose(2, 3) * shape[-1] ** -0.5, -1) @ v

        output = self.block(
            heads=lambda x: x.reshape(shape).transpose(1, 2),
            merged=lambda x: x.transpose(1, 2).reshape(self.examples, self.length, self.width),
            attended=attended,
            normalized=normalized,
            dense=torch.matmul,
            gelu=lambda x: F.gelu(x, approximate="tanh"),
            split=lambda x: x.chunk(3, dim=-1),
        )
        return lambda weights, x, wanted: ((output(weights, x) - wanted) ** 2).mean()


class Gpt(Transformer):
    """The GPT of the other tables at a larger size; PyTorch has a fused layer norm and a fused attention."""

    title = "GPT with two blocks, 512 channels, 256 characters, batch 16; PyTorch's kernels fused"
    sizes = size(examples=16, length=256, width=512, heads=8, characters=256)


class Gru(Work):
    """A GRU cell in a Python loop over time, that classifies sequences."""

    title = "GRU cell with 256 units in a loop over 32 steps, batch 64"
    sizes = size(examples=64, length=32, inputs=128, units=256)
    tiny = size(examples=2, length=4, inputs=3, units=4)

    def weights(self, rng):
        n = self.units
        wx, wh, candidate = (rng.normal(size=s) for s in ((self.inputs, 3 * n), (n, 2 * n), (n, n)))
        return [wx * self.inputs**-0.5, wh * n**-0.5, candidate * n**-0.5, np.zeros(3 * n), *layers(rng, n, 10)]

    def batch(self, rng):
        return rng.normal(size=(self.examples, self.length, self.inputs)), rng.integers(0, 10, self.examples)

    def last_state(self, sigmoid, tanh):
        """The state after the last step."""
        n = self.units

        def last_state(weights, x, h):
            wx, wh, candidate, b, _, _ = weights
            for t in range(self.length):
                inputs = x[:, t] @ wx + b
                gates = sigmoid(inputs[:, : 2 * n] + h @ wh)
                reset, update = gates[:, :n], gates[:, n:]
                h = update * h + (1.0 - update) * tanh(inputs[:, 2 * n :] + (reset * h) @ candidate)
            return h

        return last_state

    def tape(self, tf):
        last_state = self.last_state(tf.sigmoid, tf.tanh)

        def loss(weights, x, labels):
            h = last_state(weights, x, tf.zeros((self.examples, self.units)))
            logits = tf.matmul(h, weights[-2]) + weights[-1]
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        last_state = self.last_state(torch.sigmoid, torch.tanh)

        def loss(weights, x, labels):
            h = last_state(weights, x, x.new_zeros((self.examples, self.units)))
            return F.cross_entropy(h @ weights[-2] + weights[-1], labels)

        return loss


class Dcgan(Work):
    """A step of a generator and a discriminator: transposed and strided convolutions, with batch normalization."""

    title = "DCGAN step on 32x32 images, 64 channels, batch 64"
    sizes = size(examples=64, channels=64, noise=100)
    tiny = size(examples=3, channels=2, noise=4)
    rate = 2e-4
    by_hand = True

    def weights(self, rng):
        c = self.channels

        def kernel(first, second):
            return 0.05 * rng.normal(size=(4, 4, first, second))

        generator = [0.05 * rng.normal(size=(self.noise, 64 * c)), np.ones(4 * c), np.zeros(4 * c)]
        generator += [kernel(2 * c, 4 * c), np.ones(2 * c), np.zeros(2 * c)]  # kernels of outputs, inputs
        generator += [kernel(c, 2 * c), np.ones(c), np.zeros(c), kernel(3, c)]
        discriminator = [kernel(3, c), kernel(c, 2 * c), np.ones(2 * c), np.zeros(2 * c)]
        discriminator += [kernel(2 * c, 4 * c), np.ones(4 * c), np.zeros(4 * c), kernel(4 * c, 1)]
        return generator + discriminator

    def batch(self, rng):
        return rng.uniform(-1, 1, (self.examples, 32, 32, 3)), rng.normal(size=(self.examples, self.noise))

    def torch_layout(self, numbers):
        weights, batches = numbers
        turned = [tuple(channels_first(a) for a in batch) for batch in batches]
        return [channels_first(w, is_kernel=True) for w in weights], turned

    @staticmethod
    def networks(dense, enlarged, convolved, normalized, relu, leaky, tanh):
        """Generator and discriminator; `convolved` takes the stride."""

        def generate(weights, noise):
            w0, scale0, shift0, k1, scale1, shift1, k2, scale2, shift2, k3 = weights
            h = relu(normalized(dense(noise, w0), scale0, shift0))
            h = relu(normalized(enlarged(h, k1, 8), scale1, shift1))
            h = relu(normalized(enlarged(h, k2, 16), scale2, shift2))
            return tanh(enlarged(h, k3, 32))

        def judge(weights, images):
            k1, k2, scale2, shift2, k3, scale3, shift3, k4 = weights
            h = leaky(convolved(images, k1, 2))
            h = leaky(normalized(convolved(h, k2, 2), scale2, shift2))
            h = leaky(normalized(convolved(h, k3, 2), scale3, shift3))
            return convolved(h, k4, 1)

        return generate, judge

    def tape(self, tf):
        n, c = self.examples, self.channels

        def normalized(x, scale, shift):
            mean, variance = tf.nn.moments(x, (0, 1, 2))
            return tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)

        def enlarged(x, kernel, side):
            return tf.nn.conv2d_transpose(x, kernel, (n, side, side, kernel.shape[2]), 2, "SAME")

        generate, judge = self.networks(
            dense=lambda noise, w: tf.reshape(tf.matmul(noise, w), (n, 4, 4, 4 * c)),
            enlarged=enlarged,
            convolved=lambda x, k, stride: tf.nn.conv2d(x, k, stride, "SAME" if stride == 2 else "VALID"),
            normalized=normalized,
            relu=tf.nn.relu,
            leaky=lambda x: tf.nn.leaky_relu(x, 0.2),
            tanh=tf.tanh,
        )

        def entropy(logits, is_real):
            labels = tf.ones_like(logits) if is_real else tf.zeros_like(logits)
            return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))

        def losses(weights, real, noise):
            generator, discriminator = weights[:10], weights[10:]
            with tf.GradientTape() as of_generator, tf.GradientTape() as of_discriminator:
                fake = judge(discriminator, generate(generator, noise))
                generating = entropy(fake, True)
                judging = entropy(judge(discriminator, real), True) + entropy(fake, False)
            gradients = of_generator.gradient(generating, generator)
            return judging, gradients + of_discriminator.gradient(judging, discriminator)

        return losses

    def torch(self):
        import torch
        import torch.nn.functional as F

        n, c = self.examples, self.channels
        generate, judge = self.networks(
            dense=lambda noise, w: (noise @ w).reshape(n, 4, 4, 4 * c).permute(0, 3, 1, 2),
            enlarged=lambda x, kernel, side: F.conv_transpose2d(x, kernel, stride=2, padding=1),
            convolved=lambda x, kernel, stride: F.conv2d(x, kernel, stride=stride, padding=stride - 1),
            normalized=lambda x, scale, shift: F.batch_norm(x, None, None, scale, shift, training=True),
            relu=torch.relu,
            leaky=lambda x: F.leaky_relu(x, 0.2),
            tanh=torch.tanh,
        )

        def entropy(logits, is_real):
            labels = torch.ones_like(logits) if is_real else torch.zeros_like(logits)
            return F.binary_cross_entropy_with_logits(logits, labels)

        def losses(weights, real, noise):
            generator, discriminator = weights[:10], weights[10:]
            fake = judge(discriminator, generate(generator, noise))
            generating = entropy(fake, True)
            judging = entropy(judge(discriminator, real), True) + entropy(fake, False)
            gradients = torch.autograd.grad(generating, generator, retain_graph=True)
            return judging, gradients + torch.autograd.grad(judging, discriminator)

        return losses


class SkipGram(Word2vec):
    """Skip-grams with negative samples, in a larger vocabulary."""

    title = "skip-gram, 100,000 words, 128-dimensional embeddings, 4096 pairs with 5 negatives, sparse rows"
    sizes = size(words=100_000, width=128, pairs=4096)


class HeatEquation(Pinn):
    """The physics-informed network, wider."""

    title = "PINN 2-128-128-1, heat equation, 4096 points"
    sizes = size(points=4096, hidden=128)


class Mlp(Classifier):
    """The classifier, wider."""

    title = "MLP 784-1024-512-10, batch 256"
    sizes = size(examples=256, inputs=784, hidden=1024)


class Cnn(ResNet):
    """The residual network, wider."""

    title = "residual CNN with batch norm on 32x32 images, 64 channels, batch 64"
    sizes = size(examples=64, side=32, channels=64)


GPU_WORKS: dict[str, type[Work]] = {
    "transformer_block": TransformerBlock,
    "gpt": Gpt,
    "gru": Gru,
    "pinn": HeatEquation,
    "dcgan": Dcgan,
    "skip_gram": SkipGram,
    "mlp": Mlp,
    "cnn": Cnn,
    "black_scholes": BlackScholes,
}
