"""Variables, shape inference, control flow and gradients."""

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
from gradtape.checkpoint.object_graph import describe_objects
from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError, InvalidArgumentInTraceError
from gradtape.core.owners import Trackable
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import constant
from gradtape.engine.run import dispatch
from gradtape.engine.run.convert import own_read, readable, register, to_tensor
from gradtape.engine.run.randomness import Streams, drawing_from, register_key
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

_TENSORS = (tf.Tensor, tf.Variable)


class Variable(KerasVariable):
    """A Keras variable that holds a gradtape variable; tapes accept it wherever they accept the latter."""

    def __init__(self, initializer: Any, shape: Any = None, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        self._counts = dtype == "int"  # in int64 on TensorFlow, in int32 elsewhere
        super().__init__(initializer, shape, dtype, *args, **kwargs)

    @property
    def _gradtape_variable(self) -> Any:
        return self._value

    def _initialize(self, value: Any) -> None:
        if isinstance(value, tf.Variable):
            self._value = value
            return
        trace = dispatch.thread.trace
        if trace is not None:
            trace.variables.check_creation()
        with tf.init_scope():
            options = replicas.options_of(self)
            self._value = tf.Variable(value, trainable=self._trainable, name=self._path, **options)
        if self._counts:
            self._value._checkpoint_dtype = tf.int64
        if self._name == "seed_generator_state":
            register_key(self._value, 0)
        if trace is not None:
            trace.made(self._value)  # code that tests whether it is built, such as `scale_loss`, is retraced as built
        if self._shape is None:
            self._shape = self._validate_shape(self._value.shape)
        distribution.lay_out(self)
        for restoration, number in vars(self).pop("_restorations", ()):  # checkpoints restored before its creation
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
        """Returns the current value, autocast to the requested dtype. `value` is the variable that holds it."""
        if self._value is None or in_stateless_scope():
            held = self.value
            return own_read(held) if type(held) in readable else held
        return self._maybe_autocast(own_read(self._value))

    @property
    def shape(self) -> TensorShape:
        """The shape with the interface of TensorFlow's variables (`as_list`, `rank`, ...); it equals the tuple."""
        return TensorShape._of(self._shape)

    @property
    def handle(self) -> Any:
        """The resource handle that TensorFlow's optimizers expect: the inner variable."""
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
    """Returns False: a layer may freeze a dequantized weight, which is a tensor: there is nothing to freeze."""
    return False


tf.Tensor.trainable = property(_is_trainable, lambda tensor, value: None)

register(Variable, lambda variable, dtype: to_tensor(variable.tensor(), dtype), 0)


def shape(x):
    """Returns the shape as a plain tuple."""
    return x.dims if isinstance(x, _TENSORS) else tuple(x.shape)


def compute_output_spec(fn, *args: Any, **kwargs: Any):
    """Infers the results of `fn` for symbolic arguments, as symbolic tensors.

    Runs `fn` on zeros, as TensorFlow traces it in a scratch graph, and does not use `compute_output_shape` of layers.
    If a size is unknown, `fn` runs with two sizes, and sizes that differ between the results are unknown too: small
    sizes for the batch axis, larger ones for axes where a window has to fit. The run is not recorded, changes no
    variable and consumes no random numbers.

    Under a `keras.distribution`, which TensorFlow lacks, a model of layers uses the shape rules of its layers: its
    variables may be too large for one device.
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
        except Exception:  # a batch of two may be too small for `fn`; any other error is raised again
            return tree.map_structure(
                _spec, _run_on_zeros(fn, args, kwargs, 83, 83), _run_on_zeros(fn, args, kwargs, 89, 89)
            )


def _asks_its_layers(fn: Any, args: tuple[Any, ...]) -> bool:
    """Returns whether `fn` is a model of layers with a single input, called as declared."""
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
        return constant(np.broadcast_to(np.zeros((), dtype.numpy), dims), dtype)  # allocates nothing on the host

    args, kwargs = tree.map_structure(filled, (args, kwargs))
    try:
        return drawing_from(Streams(0), functools.partial(fn, **kwargs), args)
    except InvalidArgumentError as error:
        raise InvalidArgumentInTraceError.of(error) from error.__cause__


def _is_traced(x: Any) -> bool:
    """Returns whether `x` is a tensor of the function being traced: a layer may be built by a call inside it."""
    return isinstance(x, TracedTensor)


@contextlib.contextmanager
def _unchanged_variables(fn: Any) -> Iterator[None]:
    """Context manager: restores the variables of the layer that `fn` belongs to."""
    owner = getattr(fn, "__self__", fn)
    variables = describe_objects(owner)[1].values() if isinstance(owner, Trackable) else ()
    before = [(variable, own_read(variable)) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            if not variable._storage.holds(value.array):
                variable.assign(value)


def _spec(x: Any, other: Any) -> Any:
    """Returns the symbolic tensor for the results of two runs; sizes that differ are unknown."""
    if not is_tensor(x):
        return x
    dims = tuple(a if a == b else None for a, b in zip(shape(x), shape(other), strict=True))
    return KerasTensor(dims, standardize_dtype(x.dtype), sparse=sparse_tensors.is_sparse(x))


def cond(pred, true_fn, false_fn):
    """Calls one of two functions."""
    if isinstance(pred, KerasVariable):
        pred = pred.tensor()
    if not isinstance(pred, _TENSORS):
        return true_fn() if pred else false_fn()
    return tf.cond(tf.cast(pred, "bool"), true_fn=true_fn, false_fn=false_fn)


def switch(index, branches, *operands):
    """Calls the branch with this index, clamped to the valid range."""
    index = tf.clip_by_value(convert_to_tensor(index, "int32"), 0, len(branches) - 1)
    return tf.switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


def vectorized_map(function, elements):
    """Applies `function` to each row of the elements, vectorized."""
    return tf.vectorized_map(function, tree.map_structure(dense_tensor, elements))


def scatter(indices, values, shape):
    """Adds values at indices to a tensor of zeros."""
    return tf.scatter_nd(dense_tensor(indices), dense_tensor(values), shape)


_SCATTERS = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


def scatter_update(inputs, indices, updates, reduction=None):
    """Combines the inputs with updates at indices."""
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
    """Clamps the start of a block so that the block lies inside."""
    most = np.subtract(dims, sizes).astype(np.int32)
    return tf.clip_by_value(convert_to_tensor(start_indices, "int32"), 0, most)


def slice(inputs, start_indices, shape):
    """Returns the block of a shape at a position; a size of -1 extends to the end."""
    inputs = dense_tensor(inputs)
    if len(start_indices) != len(shape):
        raise ValueError(
            "Length of `start_indices` must match length of `shape`. "
            f"Received: start_indices={start_indices}, shape={shape}"
        )
    return tf.slice(inputs, convert_to_tensor(start_indices, "int32"), shape)


def slice_update(inputs, start_indices, updates):
    """Replaces a block of the inputs."""
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
    """Returns the value, treated as constant by gradients."""
    return tf.stop_gradient(convert_to_tensor(variable))


def unstack(x, num=None, axis=0):
    """Returns the slices along an axis."""
    return tf.unstack(dense_tensor(x), num=num, axis=axis)


def random_seed_dtype():
    """Returns the dtype of a seed generator's state: TensorFlow's, since the state is computed in it."""
    return "int64"


def custom_gradient(f):
    """Wraps a function that returns its result and a function that computes its gradients."""

    def on_values(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree.map_structure(lambda x: x.tensor() if isinstance(x, KerasVariable) else x, (args, kwargs))
        return tf.custom_gradient(f)(*args, **kwargs)

    return on_values


def grad(f, argnums=0):
    """Returns a function of the same arguments that returns the gradients of `f`, summed over its outputs."""
    from keras.src.backend.common.backend_utils import standardize_argnums  # deferred: not in Keras 3.15

    def gradients(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        for at in standardize_argnums(argnums, len(args)):
            values[at] = tree.map_structure(lambda x: tf.identity(convert_to_tensor(x)), values[at])
        sources = [values[at] for at in standardize_argnums(argnums, len(args))]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            y = f(*values, **kwargs)
        found = tape.gradient(y, sources, unconnected_gradients="zero")
        return found[0] if isinstance(argnums, int) else tuple(found)

    return gradients


def remat(f):
    """Rematerialization (gradient checkpointing): recomputes the intermediate results of `f` for its gradient."""
    again = tf.recompute_grad(f)

    @functools.wraps(f)
    def recomputed(*args, **kwargs):
        return again(*args, **kwargs)

    return recomputed


def device_scope(device_name):
    """Context manager for the device of ops."""
    return tf.device(device_name)
