"""The same work in PyTorch, as its users write it: eager, or with `torch.compile`."""

import numpy as np
import torch
import torch.nn.functional as F


def works(compile=False):
    """Each work's name and a function that prepares it and returns the step to time."""

    def compiled(function):
        return torch.compile(function) if compile else function

    def ready(function, *data):
        """The step: one call, until its result can be read."""
        return lambda: np.asarray(function(*data))

    def add():
        x = torch.tensor([1.0, 2.0, 3.0])
        return ready(compiled(lambda x, y: x + y), x, x)

    def chain(x):
        y = x
        for _ in range(25):
            y = torch.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        return ready(compiled(chain), torch.tensor(0.5))

    def gradient_of(function, x):
        function, one = compiled(function), torch.ones_like(x)
        return ready(lambda x: torch.autograd.grad(function(x), x, one)[0], x.requires_grad_())

    def chain_gradient():
        return gradient_of(chain, torch.tensor(0.5))

    def parameters(*shapes):
        rng = np.random.default_rng(0)
        return [torch.tensor((rng.standard_normal(s) * 0.05).astype(np.float32), requires_grad=True) for s in shapes]

    def trained(loss, weights, *data):
        @torch.no_grad()
        def update(weights, gradients):
            for w, g in zip(weights, gradients, strict=True):
                w -= 0.01 * g

        loss, update = compiled(loss), compiled(update)

        def step():
            value = loss(*data)
            update(weights, torch.autograd.grad(value, weights))
            return value.item()

        return step

    def normal(*shape):
        return torch.tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))

    def digits(count):
        return torch.tensor(np.random.default_rng(0).integers(0, 10, count))

    def mlp():
        w1, b1, w2, b2, w3, b3 = weights = parameters((784, 256), 256, (256, 256), 256, (256, 10), 10)

        def loss(x, labels):
            h = torch.relu(x @ w1 + b1)
            h = torch.relu(h @ w2 + b2)
            return F.cross_entropy(h @ w3 + b3, labels)

        return trained(loss, weights, normal(64, 784), digits(64))

    def cnn():
        k1, c1, k2, c2, w, b = weights = parameters((32, 1, 3, 3), 32, (64, 32, 3, 3), 64, (3136, 10), 10)

        def loss(x, labels):
            h = F.max_pool2d(torch.relu(F.conv2d(x, k1, c1, padding=1)), 2)
            h = F.max_pool2d(torch.relu(F.conv2d(h, k2, c2, padding=1)), 2)
            return F.cross_entropy(h.reshape(32, -1) @ w + b, labels)

        return trained(loss, weights, normal(32, 1, 28, 28), digits(32))

    def lstm():
        zero = torch.zeros(32, 128)
        wx, wh, b = weights = parameters((128, 512), (128, 512), 512)

        def loss(xs):
            h = c = zero
            for x in xs:
                i, f, o, z = torch.chunk(x @ wx + h @ wh + b, 4, dim=1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
                h = torch.sigmoid(o) * torch.tanh(c)
            return (h * h).mean()

        return trained(loss, weights, list(normal(50, 32, 128)))

    def transformer():
        layer = ((128, 384), (128, 128), (128, 512), 512, (512, 128), 128)
        weights = parameters(*layer, *layer)
        scales = [torch.full((128,), start, requires_grad=True) for start in (1.0, 0.0) * 4]

        def heads(x):
            return x.view(16, 64, 4, 32).transpose(1, 2)

        def block(x, weights, scales):
            qkv, out, up, up_bias, down, down_bias = weights
            q, k, v = (heads(part) for part in torch.chunk(F.layer_norm(x, (128,), *scales[:2]) @ qkv, 3, dim=-1))
            mixed = F.scaled_dot_product_attention(q, k, v)
            x = x + mixed.transpose(1, 2).reshape(16, 64, 128) @ out
            h = F.gelu(F.layer_norm(x, (128,), *scales[2:]) @ up + up_bias, approximate="tanh")
            return x + h @ down + down_bias

        def loss(x, target):
            x = block(x, weights[:6], scales[:4])
            x = block(x, weights[6:], scales[4:])
            return ((x - target) ** 2).mean()

        return trained(loss, weights + scales, normal(16, 64, 128), normal(16, 64, 128).flip(0))

    def elementwise():
        return gradient_of(lambda x: torch.tanh(x) * torch.exp(x) + torch.sigmoid(x), normal(10**6))

    def small_jacobian():
        x, w1, w2 = normal(1, 10), normal(10, 10), normal(10, 10)
        jacobian = torch.func.jacrev(lambda x: torch.tanh(x @ w1) @ w2)
        return lambda: jacobian(x)

    def dense_jacobian():
        x, w = normal(1, 512), normal(512, 512)
        jacobian = torch.func.jacrev(lambda x: torch.tanh(x @ w))
        return lambda: jacobian(x)

    found = {
        "add": add, "chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp, "cnn": cnn,
        "lstm": lstm, "transformer": transformer, "elementwise": elementwise,
    }  # fmt: skip
    return found if compile else {**found, "small_jacobian": small_jacobian, "dense_jacobian": dense_jacobian}


def deep_mlp():
    """One step of a 50-layer MLP, for its peak memory."""
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((2048, 256)).astype(np.float32))
    weights = [
        torch.tensor((rng.standard_normal((256, 256)) * 0.1).astype(np.float32), requires_grad=True) for _ in range(50)
    ]

    def step(x=x):
        h = x
        for w in weights:
            h = torch.relu(h @ w)
        value = h.mean()
        del h
        return torch.autograd.grad(value, weights)

    return step, x[:8]
