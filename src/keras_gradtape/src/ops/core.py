"""Variables, shape inference, and what steers a computation: branches, loops and gradients."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, standardize_dtype
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.stateless_scope import StatelessScope, in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope

import gradtape as tf
from gradtape.checkpoints.object_graph import described
from gradtape.core import dtypes
from gradtape.core.owners import Owner
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import constant
from gradtape.engine.run import dispatch
from gradtape.engine.run.convert import own_read, readable, register, to_tensor
from gradtape.engine.run.randomness import Streams, drawing_from
from gradtape.graph.trace.traced import TracedTensor

from .. import distribution, replicas
from .. import sparse as sparse_tensors
from .conversion import cast as cast
from .conversion import convert_to_numpy as convert_to_numpy
from .conversion import convert_to_tensor as convert_to_tensor
from .conversion import dense_tensor as dense_tensor
from .conversion import is_tensor as is_tensor
from .loops import associative_scan as associative_scan
from .loops import fori_loop as fori_loop
from .loops import map as map
from .loops import scan as scan
from .loops import while_loop as while_loop

SUPPORTS_SPARSE_TENSORS = True
SUPPORTS_RAGGED_TENSORS = False
SUPPORTS_COMPLEX_DTYPES = True
IS_THREAD_SAFE = True

_TENSORS = (tf.Tensor, tf.Variable)


class Variable(KerasVariable):
    """A Keras variable, whose value is held by a variable of gradtape. Tapes take it wherever they take that one."""

    @property
    def _gradtape_variable(self) -> Any:
        return self._value

    def _initialize(self, value: Any) -> None:
        if isinstance(value, tf.Variable):
            self._value = value
            return
        trace = dispatch.thread.trace
        if trace is not None:
            trace.check_variable_creation()
        with tf.init_scope():
            options = replicas.options_of(self)
            self._value = tf.Variable(value, trainable=self._trainable, name=self._path, **options)
        if trace is not None:
            trace.made(self._value)  # code that asks whether it is built, as `scale_loss`, is traced again, as built
        if self._shape is None:
            self._shape = self._validate_shape(self._value.shape)
        distribution.lay_out(self)
        for restoration, number in vars(self).pop("_restorations", ()):  # of checkpoints that waited for this variable
            restoration.lay_over(self, number)

    def _initialize_with_initializer(self, initializer: Any) -> None:
        def make() -> Any:
            return convert_to_tensor(initializer(self._shape, dtype=self._dtype), self._dtype)

        with dispatch.traced_by(None):
            in_parts = distribution.made_in_parts(self, make)
            value = make() if in_parts is None else in_parts
        self._initialize(value)

    def _direct_assign(self, value: Any) -> None:
        self._value.assign(value)

    def _convert_to_tensor(self, value: Any, dtype: Any = None) -> Any:
        return convert_to_tensor(value, dtype)

    def tensor(self) -> Any:
        """The present value, in the dtype that autocasting asks for. `value` is the variable that holds it."""
        if self._value is None or in_stateless_scope():
            held = self.value
            return own_read(held) if type(held) in readable else held
        return self._maybe_autocast(own_read(self._value))

    @property
    def shape(self) -> TensorShape:
        """The shape as TensorFlow's variables have it, with `as_list`, `rank` and the like; it equals the tuple."""
        return TensorShape._of(self._shape)

    @property
    def handle(self) -> Any:
        """What stands for the variable in TensorFlow's optimizers."""
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(convert_to_numpy(self.tensor()), dtype=dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = object.__new__(type(self))
        memo[id(self)] = made
        vars(made).update(vars(self))
        if self._value is not None:
            made._value = tf.Variable(self._value.numpy(), trainable=self._trainable, name=self._path)
            distribution.lay_out(made)
        return made


def _is_trainable(tensor):
    """False: a layer may freeze what is a tensor, computed from quantised weights, and there is nothing to freeze."""
    return False


tf.Tensor.trainable = property(_is_trainable, lambda tensor, value: None)

register(Variable, lambda variable, dtype: to_tensor(variable.tensor(), dtype), 0)


def shape(x):
    """The shape as a plain tuple."""
    return x.dims if isinstance(x, _TENSORS) else tuple(x.shape)


def compute_output_spec(fn, *args: Any, **kwargs: Any):
    """What `fn` returns for symbolic arguments, as symbolic tensors.

    `fn` is run on zeros, as TensorFlow traces it in a scratch graph: what a layer's `compute_output_shape` says is not
    asked. Where a size is not known, `fn` is run with two sizes, and what differs between the results is not known
    either: small sizes for the first axis, the batch, larger ones where a window has to fit. No recorder sees the run,
    no variable changes, and no random number is used up.

    Under a `keras.distribution`, which TensorFlow does not have, a model made of layers asks their rules: its variables
    may be too large for one device.
    """
    unknown = [None in x.shape for x in tree.flatten((args, kwargs)) if isinstance(x, KerasTensor)]
    with dispatch.traced_by(None), StatelessScope(), SymbolicScope(), _unchanged_variables(fn):
        if distribution.current() is not None and _asks_its_layers(fn, args):
            return fn.compute_output_spec(*args, **kwargs)
        if not any(unknown):
            outputs = _run_on_zeros(fn, args, kwargs, 0, 0)
            return tree.map_structure(_spec, outputs, outputs)
        try:
            return tree.map_structure(
                _spec, _run_on_zeros(fn, args, kwargs, 2, 83), _run_on_zeros(fn, args, kwargs, 3, 89)
            )
        except Exception:  # a batch of two may be too small for `fn`; if it is not that, the error comes again
            return tree.map_structure(
                _spec, _run_on_zeros(fn, args, kwargs, 83, 83), _run_on_zeros(fn, args, kwargs, 89, 89)
            )


def _asks_its_layers(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether `fn` is a model made of layers, with one input, given as it was declared."""
    from keras.src.models.functional import Functional
    from keras.src.models.sequential import Sequential

    made_of_layers = getattr(type(fn), "call", None) in (Functional.call, Sequential.call) and fn.built
    if not made_of_layers or len(args) != 1 or not isinstance(args[0], KerasTensor):
        return False
    inputs = fn.inputs
    return inputs is not None and len(inputs) == 1 and len(inputs[0].shape) == len(args[0].shape)


def _run_on_zeros(fn: Any, args: Any, kwargs: Any, batch: int, size: int) -> Any:
    def filled(x: Any) -> Any:
        sparse = x.sparse if isinstance(x, KerasTensor) else isinstance(x, tf.SparseTensor) and _is_traced(x.values)
        if not (sparse or isinstance(x, KerasTensor) or _is_traced(x)):
            return x
        dims = tuple((size if axis else batch) if n is None else n for axis, n in enumerate(x.shape))
        dtype = dtypes.as_dtype(x.dtype)
        if sparse:
            count = int(0 not in dims)
            return tf.SparseTensor(np.zeros((count, len(dims)), np.int64), np.zeros(count, dtype.numpy), dims)
        if dtype is dtypes.string:
            return tf.zeros(dims, dtype)
        return constant(np.broadcast_to(np.zeros((), dtype.numpy), dims), dtype)  # which takes no memory on the host

    args, kwargs = tree.map_structure(filled, (args, kwargs))
    return drawing_from(Streams(0), functools.partial(fn, **kwargs), args)


def _is_traced(x: Any) -> bool:
    """Whether it is a tensor of a function that is being traced: a layer is built by a call inside of it."""
    return isinstance(x, TracedTensor)


@contextlib.contextmanager
def _unchanged_variables(fn: Any) -> Iterator[None]:
    """The variables of the layer that `fn` belongs to have their values again when the block has ended."""
    owner = getattr(fn, "__self__", fn)
    variables = described(owner)[1].values() if isinstance(owner, Owner) else ()
    before = [(variable, own_read(variable)) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            if variable._read.array is not value.array:
                variable.assign(value)


def _spec(x: Any, other: Any) -> Any:
    """The symbolic tensor for the results of two runs: a size that differs is not known."""
    if not is_tensor(x):
        return x
    dims = tuple(a if a == b else None for a, b in zip(shape(x), shape(other), strict=True))
    return KerasTensor(dims, standardize_dtype(x.dtype), sparse=sparse_tensors.is_sparse(x))


def cond(pred, true_fn, false_fn):
    """What one of two functions returns."""
    if isinstance(pred, KerasVariable):
        pred = pred.tensor()
    if not isinstance(pred, _TENSORS):
        return true_fn() if pred else false_fn()
    return tf.cond(tf.cast(pred, "bool"), true_fn=true_fn, false_fn=false_fn)


def switch(index, branches, *operands):
    """What the branch with this number returns; a number outside the list means the nearest one."""
    index = tf.clip_by_value(convert_to_tensor(index, "int32"), 0, len(branches) - 1)
    return tf.switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


def vectorized_map(function, elements):
    """`function` applied to each row of the elements, all rows at once."""
    return tf.vectorized_map(function, tree.map_structure(dense_tensor, elements))


def scatter(indices, values, shape):
    """Zeros, to which the values are added at the indices."""
    return tf.scatter_nd(dense_tensor(indices), dense_tensor(values), shape)


_SCATTERS = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


def scatter_update(inputs, indices, updates, reduction=None):
    """The inputs, combined with the updates at the indices."""
    inputs, indices = dense_tensor(inputs), dense_tensor(indices)
    updates = dense_tensor(updates, inputs.dtype)
    if reduction in _SCATTERS:
        return _SCATTERS[reduction](inputs, indices, updates)
    if reduction != "mul":
        raise ValueError(f"Unsupported reduction: {reduction}")
    for i in range(indices.dims[0]):
        at = indices[i : i + 1]
        inputs = tf.tensor_scatter_nd_update(inputs, at, tf.gather_nd(inputs, at) * updates[i])
    return inputs


def _starts(start_indices: Any, sizes: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    """Where a block begins, moved so that it lies inside."""
    most = np.subtract(dims, sizes).astype(np.int32)
    return tf.clip_by_value(convert_to_tensor(start_indices, "int32"), 0, most)


def slice(inputs, start_indices, shape):
    """The block of a shape that begins at some place; a size of -1 means what is left."""
    inputs = dense_tensor(inputs)
    if len(start_indices) != len(shape):
        raise ValueError(
            "Length of `start_indices` must match length of `shape`. "
            f"Received: start_indices={start_indices}, shape={shape}"
        )
    return tf.slice(inputs, convert_to_tensor(start_indices, "int32"), shape)


def slice_update(inputs, start_indices, updates):
    """The inputs with a block replaced."""
    inputs = dense_tensor(inputs)
    updates = dense_tensor(updates, inputs.dtype)
    if not updates.dims:
        return updates
    starts = _starts(start_indices, updates.dims, inputs.dims)
    within = np.stack(np.meshgrid(*map_range(updates.dims), indexing="ij"), axis=-1).astype(np.int32)
    return tf.tensor_scatter_nd_update(inputs, starts + within, updates)


def map_range(dims):
    return [np.arange(n) for n in dims]


def stop_gradient(variable):
    """The value, through which no gradient goes."""
    return tf.stop_gradient(convert_to_tensor(variable))


def unstack(x, num=None, axis=0):
    """The slices along an axis."""
    return tf.unstack(dense_tensor(x), num=num, axis=axis)


def random_seed_dtype():
    """The dtype of the state of a seed generator: TensorFlow's, since the state's arithmetic is in it."""
    return "int64"


def custom_gradient(f):
    """A function that returns its result and the function that gives its gradients."""

    def on_values(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree.map_structure(lambda x: x.tensor() if isinstance(x, KerasVariable) else x, (args, kwargs))
        return tf.custom_gradient(f)(*args, **kwargs)

    return on_values


def remat(f):
    """A function whose intermediate results are computed again for its gradient, instead of being kept."""
    again = tf.recompute_grad(f)

    @functools.wraps(f)
    def recomputed(*args, **kwargs):
        return again(*args, **kwargs)

    return recomputed


def device_scope(device_name):
    """Where ops are to run."""
    return tf.device(device_name)
