"""PyTorch, as its users write it: `backward` and an optimiser, eagerly or with `torch.compile`."""

import itertools

import torch

UPDATES = {
    "adam": torch.optim.Adam,
    "momentum": lambda weights, lr: torch.optim.SGD(weights, lr, momentum=0.9),
    "descent": torch.optim.SGD,
    "sparse_descent": torch.optim.SGD,
}


def step_of(work, library="torch", way=""):
    """The step of a work; `way` is nothing or `compile`, for which the loss and the optimiser's step are compiled."""
    initial, batches = work.torch_layout(work.numbers())
    weights = [torch.tensor(w, requires_grad=True) for w in initial]
    optimizer = UPDATES[work.update](weights, lr=work.rate) if weights else None
    function = work.torch()
    update = optimizer.step if optimizer else lambda: None
    if way == "compile":
        function, update = torch.compile(function), torch.compile(update) if optimizer else update
    following = itertools.cycle([[torch.tensor(a) for a in batch] for batch in batches])

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
        return loss.item()

    return step
