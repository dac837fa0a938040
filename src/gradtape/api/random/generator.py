"""`Generator`: a stream of random numbers with its own state, which every draw advances."""

from __future__ import annotations

import math
import secrets
from functools import partial
from typing import Any, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.locks import fork_safe_lock
from ...core.owners import Owner
from ...core.tensor import Tensor
from ...core.tracebacks import bounded
from ...core.type_hints import DTypeLike, ShapeLike, TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import BLOCKS_PER_NUMBER, State, next_seed, register_key, state
from ...state.storage import updating
from ...state.variable import Variable
from . import distributions
from .arguments import Algorithm, algorithm_number, as_state, dims_of

NAMESPACES = ("random",)
__all__ = ["Generator", "create_rng_state", "get_global_generator", "set_global_generator"]

_SIZES = {Algorithm.PHILOX.value: 3, Algorithm.THREEFRY.value: 2, Algorithm.AUTO_SELECT.value: 3}


def _as_signed(value: Any) -> np.ndarray[Any, Any]:
    """Converts signed or unsigned integers of up to 64 bits to int64 with the same bits."""
    if isinstance(value, Tensor | Variable):
        value = value.numpy()
    given = np.asarray(value)
    if given.dtype.kind in "iu":
        return given.astype(np.int64)
    flat = [int(n) & (2**64 - 1) for n in np.asarray(value, dtype=object).ravel().tolist()]
    return np.array(flat, np.uint64).view(np.int64).reshape(np.shape(value))


def create_rng_state(seed: TensorLike, alg: Any) -> Tensor:
    """Returns the state of a generator from a seed: an integer or a vector of integers.

    >>> tf.random.create_rng_state(1234, "philox").numpy()
    array([1234,    0,    0])
    """
    size = _SIZES[algorithm_number(alg)]
    if isinstance(seed, int):
        words = [seed >> (64 * i) & (2**64 - 1) for i in range(size)]
        return Tensor(np.array(words, np.uint64).view(np.int64))
    given = _as_signed(seed).reshape(-1)[:size]
    return Tensor(np.concatenate([np.zeros(size - given.size, np.int64), given]))


@bounded
class Generator(Owner):
    """Draws random numbers and advances its state; identical to TensorFlow's for the same state.

    >>> g = tf.random.Generator.from_seed(1234)
    >>> g.uniform([2], 0, 10, dtype=tf.int32).shape
    TensorShape([2])
    >>> g.state.numpy()
    array([1746,    0,    0])
    """

    __module__ = "gradtape.random"

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("give either copy_from, or state and alg")
            self._alg, state = copy_from.algorithm, copy_from.state.numpy()
        elif state is None or alg is None:
            raise AssertionError("a generator needs copy_from, or state and alg. See tf.random.Generator.from_seed")
        else:
            self._alg = algorithm_number(alg)
        if isinstance(state, Variable):
            self._check(state.dims)
            self._state_var = state
        else:
            value = _as_signed(state)
            self._check(value.shape)
            self._state_var = Variable(value, trainable=False, dtype=dtypes.int64, name="StateVar")
        register_key(self._state_var, -1)

    @classmethod
    def from_state(cls, state: TensorLike, alg: Any) -> Generator:
        """Creates a generator with this state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: Any = None) -> Generator:
        """Creates a generator with a state derived from a seed."""
        number = Algorithm.PHILOX.value if alg is None else algorithm_number(alg)
        return cls(state=create_rng_state(seed, number), alg=number)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Creates a generator with an unpredictable state."""
        number = Algorithm.PHILOX.value if alg is None else algorithm_number(alg)
        return cls(state=np.frombuffer(secrets.token_bytes(8 * _SIZES[number]), np.int64), alg=number)

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: TensorLike, alg: Any) -> Generator:
        """Creates a generator with this key and counter."""
        number = algorithm_number(alg)
        return cls(state=_join_state(key, counter, _SIZES[number]), alg=number)

    def _check(self, shape: tuple[int, ...]) -> None:
        if tuple(shape) != (_SIZES[self._alg],):
            raise ValueError(f"Shapes {tuple(shape)} and {[_SIZES[self._alg]]} are incompatible")

    def reset(self, state: TensorLike) -> None:
        """Resets the generator to a new state."""
        value = _as_signed(state)
        self._check(value.shape)
        self._state_var.assign(value)

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Resets the generator to the state of `from_seed`."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Resets the generator to the state of `from_key_counter`."""
        self._state_var.assign(_join_state(key, counter, _SIZES[self._alg]))

    @property
    def state(self) -> Variable:
        """The state, a variable: the words of the counter and the key."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The key: generators with different keys have independent streams."""
        return Tensor(self._state_var.numpy()[-1])

    def skip(self, delta: SupportsInt) -> Tensor:
        """Advances the state like a draw of `delta` numbers; returns the previous state."""
        with updating:
            before = self._state_var.value()
            self._take(int(delta))
        return before

    def _take(self, count: int) -> State | Tensor:
        if self._alg == Algorithm.THREEFRY.value:
            raise errors.UnimplementedError("ThreeFry is not available on this device. Use alg='philox'")
        example = dispatch.thread.example
        if example is not None:
            return state(example.index, example.index)  # a scratch graph does not advance the generator
        if dispatch.thread.trace is not None:
            words, after = ops.advance(self._state_var.value(), blocks=count * BLOCKS_PER_NUMBER)
            self._state_var.assign(after)
            return words
        with updating:
            before = self._state_var.value().numpy().astype(np.int64).view(np.uint64)
            low, high, key = map(int, before)
            after = state((high << 64) + low + count * BLOCKS_PER_NUMBER, key)
            self._state_var.assign(after.view(np.int64))
        return before

    def _next(self, dims: tuple[int, ...]) -> Tensor:
        def take() -> Any:
            return self._take(math.prod(dims))

        take.variable = self._state_var  # type: ignore[attr-defined]
        return as_state(next_seed(take))

    @errors.runs_with_examples
    def normal(
        self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Draws normal numbers with this mean and standard deviation."""
        dtype, dims = dtypes.as_dtype(dtype), dims_of(shape)
        return distributions.normal(ops.random_normal, partial(self._next, dims), dims, mean, stddev, dtype)

    @errors.runs_with_examples
    def truncated_normal(
        self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Draws normal numbers within two standard deviations of the mean."""
        dtype, dims = dtypes.as_dtype(dtype), dims_of(shape)
        return distributions.normal(ops.random_truncated_normal, partial(self._next, dims), dims, mean, stddev, dtype)

    @errors.runs_with_examples
    def uniform(
        self, shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike | None = None,
        dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Draws uniform numbers in [minval, maxval); integers in the whole range if both bounds are None."""
        dtype, dims = dtypes.as_dtype(dtype), dims_of(shape)
        if dtype.is_integer:
            distributions.check_both_bounds(minval, maxval, dtype)
            return distributions.uniform_int(self._next(dims), dims, minval, maxval, dtype)
        return distributions.uniform_float(self._next(dims), dims, minval, 1 if maxval is None else maxval, dtype)

    @errors.runs_with_examples
    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None) -> Tensor:
        """Draws integers in the whole range of a dtype."""
        dims = dims_of(shape)
        return distributions.uniform_int(self._next(dims), dims, None, None, dtypes.as_dtype(dtype))

    @errors.runs_with_examples
    def binomial(
        self, shape: ShapeLike, counts: TensorLike, probs: TensorLike, dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Draws the successes in `counts` trials with probability `probs`; `shape` ends with the parameters' shape."""
        dims = dims_of(shape)
        trials, chances = to_tensor(counts), to_tensor(probs)
        inner = math.prod(np.broadcast_shapes(trials.dims, chances.dims))
        reserved = inner, 50 * (math.prod(dims) // max(inner, 1) + 3)  # TensorFlow's count for this distribution
        return distributions.binomial(self._next(reserved), dims, trials, chances, dtypes.as_dtype(dtype))

    def make_seeds(self, count: SupportsInt = 1) -> Tensor:
        """Returns `count` seeds for the stateless functions, as columns."""
        keys = self.uniform_full_int([int(count)], dtypes.int64)
        return ops.stack(keys, ops.zeros_like(keys), axis=0)

    def split(self, count: int = 1) -> list[Generator]:
        """Returns `count` generators with streams independent of each other and of this one."""
        keys = self.uniform_full_int([count], dtypes.int64).numpy()
        zeros = [0] * (_SIZES[self._alg] - 1)
        return [Generator(state=np.array([*zeros, key], np.int64), alg=self._alg) for key in keys]


def _join_state(key: Any, counter: Any, size: int) -> np.ndarray[Any, Any]:
    key, counter = _as_signed(key), _as_signed(counter)
    if key.shape != () or counter.shape != (size - 1,):
        raise ValueError(
            f"Shapes {counter.shape} and {[size - 1]} of the counter, or {key.shape} and () of the key, do not fit"
        )
    return np.concatenate([counter, key.reshape(1)])


class _Process:
    """The global generator, which is created on first use."""

    generator: Generator | None = None


_process = _Process()
_global_lock = fork_safe_lock()


def get_global_generator() -> Generator:
    """Returns the global generator; its state is unpredictable until it is reset or replaced.

    >>> tf.random.get_global_generator().normal([2]).shape
    TensorShape([2])
    """
    with _global_lock:
        if _process.generator is None:
            _process.generator = Generator.from_non_deterministic_state()
        return _process.generator


def set_global_generator(generator: Generator) -> None:
    """Replaces the generator that `get_global_generator` returns.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    """
    _process.generator = generator
