"""What a work is: a program that somebody would write, in each library's own words, on the same numbers."""

from __future__ import annotations

import itertools
import re
from typing import Any, ClassVar

import numpy as np

BATCHES = 4  # a step takes the next of so many batches: no library may live on what it knows of the last one's arrays

Numbers = tuple[list[Any], list[tuple[Any, ...]]]


class Work:
    """One work; an instance has the sizes as attributes.

    `tape(tf)`, `torch()`, `jax()` and, where it is easy, `autograd()` give a function of the weights and a batch. It
    returns the loss; or, where the work is `by_hand`, the loss and for each weight what stands for its gradient. `tape`
    is one text for gradtape and TensorFlow.
    """

    title: ClassVar[str]
    sizes: ClassVar[dict[str, int]]
    tiny: ClassVar[dict[str, int]]  # the sizes for checks
    update: ClassVar[str] = "adam"  # or momentum, or descent, which is `w - rate * gradient`
    rate: ClassVar[float] = 1e-3
    clip: ClassVar[float | None] = None  # the norm that all gradients together may have
    by_hand: ClassVar[bool] = False

    def __init__(self, tiny: bool = False) -> None:
        for name, size in (self.tiny if tiny else self.sizes).items():
            setattr(self, name, size)

    def __getattr__(self, name: str) -> int:  # for readers and type checkers: sizes are attributes
        raise AttributeError(f"{type(self).__name__} has no size {name!r}")

    @classmethod
    def name(cls) -> str:
        """The class's name, as it is written on the command line: `NeuralOde` is `neural_ode`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def libraries(self) -> list[str]:
        """The libraries that this work is written for."""
        return ["gradtape", "tensorflow", *(name for name in ("torch", "jax", "autograd") if hasattr(type(self), name))]

    def weights(self, rng: np.random.Generator) -> list[Any]:
        """The initial values of what is learnt."""
        raise NotImplementedError

    def batch(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """The data of one step."""
        raise NotImplementedError

    def numbers(self) -> Numbers:
        """The weights and the batches, the same for every library: float32, and int64 for indices."""
        rng = np.random.default_rng(0)
        weights = [plain(w) for w in self.weights(rng)]
        return weights, [tuple(plain(a) for a in self.batch(rng)) for _ in range(BATCHES)]

    def torch_layout(self, numbers: Numbers) -> Numbers:
        """The same numbers as PyTorch wants them: a work with images turns its axes here."""
        return numbers


def size(**sizes: int) -> dict[str, int]:
    """Sizes by name."""
    return sizes


def plain(values: Any) -> np.ndarray:
    """An array of float32, or of int64 if it has integers."""
    array = np.asarray(values)
    return array.astype(np.float32 if array.dtype.kind == "f" else np.int64)


def layers(rng: np.random.Generator, *widths: int) -> list[np.ndarray]:
    """Weights and biases of a multilayer perceptron, by He's rule."""
    found = []
    for inputs, outputs in itertools.pairwise(widths):
        found += [rng.normal(size=(inputs, outputs)) * (2 / inputs) ** 0.5, np.zeros(outputs)]
    return found
