"""PyTorch, as its users write it: `backward` and an optimiser, eagerly or with `torch.compile`."""

import itertools

import torch

UPDATES = {
    "adam": torch.optim.Adam,
    "momentum": lambda weights, lr: torch.optim.SGD(weights, lr, momentum=0.9),
    "descent": torch.optim.SGD,
    "sparse_descent": torch.optim.SGD,
}


class TensorAdam:
    """Adam in single tensor operations, as `tape.adam` writes it: what PyTorch takes without its fused optimizers."""

    def __init__(self, weights, lr):
        self.weights, self.rate, self.count = weights, lr, 0
        self.means, self.squares = ([torch.zeros_like(w) for w in weights] for _ in range(2))

    def zero_grad(self):
        """Drops the gradients."""
        for w in self.weights:
            w.grad = None

    @torch.no_grad()
    def step(self):
        """Changes the weights."""
        self.count += 1
        size, correction = self.rate / (1.0 - 0.9**self.count), (1.0 - 0.999**self.count) ** 0.5
        for w, m, v in zip(self.weights, self.means, self.squares, strict=True):
            g = w.grad
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= size * m / (torch.sqrt(v) / correction + 1e-8)


class TensorMomentum(TensorAdam):
    """Descent with a velocity, in single tensor operations."""

    @torch.no_grad()
    def step(self):
        """Changes the weights."""
        for w, velocity in zip(self.weights, self.means, strict=True):
            velocity *= 0.9
            velocity += w.grad
            w -= self.rate * velocity


TENSOR_UPDATES = {**UPDATES, "adam": TensorAdam, "momentum": TensorMomentum}


def step_of(work, library="torch", way="", read=torch.Tensor.item, device=None):
    """The step of a work; `way` is nothing, `tensors` or `compile`.

    With `compile`, the loss and the optimizer's step are compiled; with `tensors`, the optimizer is written in single
    tensor operations.
    """
    initial, batches = work.torch_layout(work.numbers())
    weights = [torch.tensor(w, requires_grad=True, device=device) for w in initial]
    updates = TENSOR_UPDATES if way == "tensors" else UPDATES
    optimizer = updates[work.update](weights, lr=work.rate) if weights else None
    function = work.torch()
    update = optimizer.step if optimizer else lambda: None
    if way == "compile":
        function, update = torch.compile(function), torch.compile(update) if optimizer else update
    following = itertools.cycle([[torch.tensor(a, device=device) for a in batch] for batch in batches])

    def step():
        if work.by_hand:
            loss, gradients = function(weights, *next(following))
            for w, g in zip(weights, gradients, strict=True):
                w.grad = g
        else:
            optimizer.zero_grad()
            loss = function(weights, *next(following))
            loss.backward()
        if work.clip is not None:
            torch.nn.utils.clip_grad_norm_(weights, work.clip)
        update()
        return read(loss)

    return step
