"""The same work in PyTorch, eager, as its users write it."""

import numpy as np
import torch
import torch.nn.functional as F


def works():
    """Each work's name and a function that prepares it and returns the step to time."""

    def chain(x):
        y = x
        for _ in range(25):
            y = torch.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        x = torch.tensor(0.5)
        return lambda: chain(x)

    def chain_gradient():
        x = torch.tensor(0.5, requires_grad=True)
        return lambda: torch.autograd.grad(chain(x), x)

    def parameters(*shapes):
        rng = np.random.default_rng(0)
        return [torch.tensor((rng.standard_normal(s) * 0.05).astype(np.float32), requires_grad=True) for s in shapes]

    def trained(loss, weights):
        def step():
            grads = torch.autograd.grad(loss(), weights)
            with torch.no_grad():
                for w, g in zip(weights, grads, strict=True):
                    w -= 0.01 * g

        return step

    def data(*shape):
        rng = np.random.default_rng(0)
        x = torch.tensor(rng.standard_normal(shape).astype(np.float32))
        return x, torch.tensor(rng.integers(0, 10, shape[0]))

    def mlp():
        x, labels = data(64, 784)
        w1, b1, w2, b2, w3, b3 = weights = parameters((784, 256), 256, (256, 256), 256, (256, 10), 10)

        def loss():
            h = torch.relu(x @ w1 + b1)
            h = torch.relu(h @ w2 + b2)
            return F.cross_entropy(h @ w3 + b3, labels)

        return trained(loss, weights)

    def cnn():
        x, labels = data(32, 1, 28, 28)
        k1, c1, k2, c2, w, b = weights = parameters((32, 1, 3, 3), 32, (64, 32, 3, 3), 64, (3136, 10), 10)

        def loss():
            h = F.max_pool2d(torch.relu(F.conv2d(x, k1, c1, padding=1)), 2)
            h = F.max_pool2d(torch.relu(F.conv2d(h, k2, c2, padding=1)), 2)
            return F.cross_entropy(h.reshape(32, -1) @ w + b, labels)

        return trained(loss, weights)

    def lstm():
        xs = [data(32, 128)[0] for _ in range(50)]
        zero = torch.zeros(32, 128)
        wx, wh, b = weights = parameters((128, 512), (128, 512), 512)

        def loss():
            h = c = zero
            for x in xs:
                i, f, o, z = torch.chunk(x @ wx + h @ wh + b, 4, dim=1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
                h = torch.sigmoid(o) * torch.tanh(c)
            return (h * h).mean()

        return trained(loss, weights)

    def small_jacobian():
        x, _ = data(1, 10)
        w1, w2 = (data(10, 10)[0] for _ in range(2))
        jacobian = torch.func.jacrev(lambda x: torch.tanh(x @ w1) @ w2)
        return lambda: jacobian(x)

    def dense_jacobian():
        x, _ = data(1, 512)
        w, _ = data(512, 512)
        jacobian = torch.func.jacrev(lambda x: torch.tanh(x @ w))
        return lambda: jacobian(x)

    def elementwise():
        x = data(10**6)[0].requires_grad_()
        ones = torch.ones_like(x)
        return lambda: torch.autograd.grad(torch.tanh(x) * torch.exp(x) + torch.sigmoid(x), x, ones)

    return {
        "chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp, "cnn": cnn, "lstm": lstm,
        "small_jacobian": small_jacobian, "dense_jacobian": dense_jacobian, "elementwise": elementwise,
    }  # fmt: skip


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
