"""`fit`, `evaluate`, `predict` and related methods: a step is a traced function, specialized per batch shape."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np
from keras.src import callbacks as callbacks_module
from keras.src import optimizers as optimizers_module
from keras.src import tree
from keras.src.backend import config
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import is_default, pythonify_logs

import gradtape as tf
from gradtape.core.devices import default_device
from gradtape.core.locks import BuildLock
from gradtape.core.tracebacks import at_boundary
from gradtape.distribute.values import DistributedValues
from gradtape.engine.registry.devices import staying
from gradtape.engine.run.distribution_context import place

from . import distribution, model_summary, replicas, steps
from .batches import Batches
from .ops.core import convert_to_numpy, convert_to_tensor
from .steps import counting_batches

_making = BuildLock()  # around the creation of the functions that run the steps of a model


def _in_turn(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a method that resets and reads the metrics, which all threads share: one thread at a time runs it."""

    @functools.wraps(evaluate)
    def call(self: Trainer, *args: Any, **kwargs: Any) -> Any:
        with self._evaluating:
            return evaluate(self, *args, **kwargs)

    return call


class Trainer(base_trainer.BaseTrainer):
    """The training loops of a model."""

    def __init__(self) -> None:
        super().__init__()
        self.train_function: Any = None
        self.test_function: Any = None
        self.predict_function: Any = None
        self._evaluating = BuildLock()
        self._distribute_strategy = replicas.chosen()  # the strategy of the enclosing scope, if it has several replicas

    @property
    def distribute_strategy(self) -> Any:
        """The strategy in whose scope the model was created."""
        return self._distribute_strategy or tf.distribute.get_strategy()

    def _aggregate_additional_loss(self, loss: Any) -> Any:
        return replicas.scaled(super()._aggregate_additional_loss(loss))

    def _resolve_auto_jit_compile(self) -> bool | str:
        """Returns "auto" if the model supports XLA: `steps.best` then decides per step."""
        return "auto" if base_trainer.model_supports_jit(self) else False

    def _call_on(self, x: Any, training: bool) -> Any:
        return self(x, training=training) if self._call_has_training_arg else self(x)

    def _note_loss(self, loss: Any, x: Any) -> None:
        batch = next(part for part in tree.flatten(x) if part is not None)
        self._loss_tracker.update_state(replicas.unscaled(loss), sample_weight=batch.shape[0])

    def train_step(self, data: Any) -> Any:
        """Runs one training step on a batch. Models with custom training override it."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self._call_on(x, training=True)
            loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=True)
            self._note_loss(loss, x)
            if self.optimizer is not None:
                loss = self.optimizer.scale_loss(loss)
                tape._loss_is_scaled = hasattr(self.optimizer, "dynamic_scale")
        weights = self.trainable_weights
        if weights:
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data: Any) -> Any:
        """Computes loss and metrics on a batch."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred = self._call_on(x, training=False)
        loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False)
        self._note_loss(loss, x)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data: Any) -> Any:
        """Computes the model's outputs for a batch."""
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self._call_on(x, training=False)

    def _join_distribution(self) -> None:
        """Shards variables created before the distribution was set, and drops steps compiled for one device."""
        if distribution.current() is not None and distribution.lay_out_all(self.variables, self.optimizer):
            self.train_function = self.test_function = self.predict_function = None

    def _compiled(self, step: steps.Step, reduction: str = "mean") -> steps.Step:
        """Returns the executable form of `step`: a traced function, unless the model runs eagerly."""
        if self._distribute_strategy is not None:
            run = replicas.on_each(self._distribute_strategy, step, reduction)
            return run if self.run_eagerly else steps.around(step, run)
        if self.run_eagerly:
            return step
        if distribution.current() is not None or distribution.is_spread(self.variables):
            compiled = steps.compiled(step, self._logs_metrics(step))  # only XLA computes on several devices
            return compiled if distribution.num_processes() == 1 else distribution.together(compiled, step.__name__)
        if not self.jit_compile:
            return steps.planned(step)
        if self._is_compiled:
            return steps.compiled(step, self._logs_metrics(step))
        has_convolutions = any(map(_is_convolution, self._flatten_layers()))
        return steps.best(step, self._logs_metrics(step), has_convolutions, step == self.train_step)

    @property
    def _is_compiled(self) -> bool:
        """Whether XLA compiles every step, from the first batch on."""
        is_chosen = self.jit_compile != "auto" or default_device().kind != "CPU"
        return bool(self.jit_compile) and is_chosen and not self.run_eagerly

    def _logs_metrics(self, step: steps.Step) -> bool:
        """Returns whether `step` is a default one, which returns only the metrics."""
        usual = (Trainer.train_step, Trainer.test_step)
        return getattr(step, "__func__", None) in usual and type(self).compute_metrics is Trainer.compute_metrics

    def _steps(self, step: Callable[[Any], Any]) -> Callable[[Iterable[Any]], Any]:
        """Returns a function that runs `step` on the batches of one execution and returns the last result.

        It raises `StopIteration` if no batch is left.
        """
        compiled, as_batch = self._compiled(step), self._batches()

        def function(batches: Iterable[Any]) -> Any:
            iterator = iter(batches)
            logs = compiled(as_batch(next(iterator)))
            for batch in itertools.islice(iterator, self.steps_per_execution - 1):
                logs = compiled(as_batch(batch))
            return logs

        return self._with_warm_up(function, compiled)

    def _prediction(self) -> Callable[[Any], Any]:
        """Returns a function from a list of batches to the outputs for all of them."""
        compiled, as_batch = self._compiled(self.predict_step, "concat"), self._batches()
        # `predict` passes `x`, `predict_on_batch` `(x,)`, and a dataset may add targets: one trace serves them all.
        is_default_step = getattr(self.predict_step, "__func__", None) is Trainer.predict_step
        inputs = _inputs if is_default_step else _unchanged

        def function(batches: Any) -> Any:
            outputs = [compiled(as_batch(inputs(batch))) for batch in batches]
            return outputs[0] if len(outputs) == 1 else tree.map_structure(lambda *y: tf.concat(y, 0), *outputs)

        return self._with_warm_up(function, compiled)

    def _with_warm_up(self, function: Any, step: Any) -> Any:
        """Gives `function` the method `get_concrete_function` if it runs a traced step, not split among replicas.

        The method takes what a batch consists of, as tensors, arrays or specs: the inputs, then the targets and the
        weights if the step takes them. It traces the step for the shapes, and compiles it if XLA is to run it, without
        running it.
        """

        def get_concrete_function(*batch: Any) -> Any:
            data = data_adapter_utils.pack_x_y_sample_weight(*tree.map_structure(_example, batch))
            return step.get_concrete_function(_as_tensors(data))

        if hasattr(step, "get_concrete_function") and self._distribute_strategy is None:
            function.get_concrete_function = get_concrete_function
        return function

    def _batches(self) -> Callable[[Any], Any]:
        """Returns the conversion of a batch: split among replicas, or assembled from the parts of several processes."""
        strategy = self._distribute_strategy
        if strategy is not None:
            return lambda data: replicas.split(strategy, _as_tensors(data))
        if distribution.current() is None or distribution.num_processes() == 1:
            return _as_tensors
        return lambda data: tree.map_structure(distribution.global_batch, _as_tensors(data))

    def make_train_function(self, force: bool = False) -> Any:
        """Sets `train_function`, which takes an iterable of batches."""
        self._join_distribution()
        if self.train_function is None or force:
            self._set_once("train_function", force, lambda: self._steps(self.train_step))
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """Sets `test_function`, which takes an iterable of batches."""
        self._join_distribution()
        if self.test_function is None or force:
            self._set_once("test_function", force, lambda: self._steps(self.test_step))
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Any:
        """Sets `predict_function`, which takes a list of batches and returns the outputs for all of them.

        Its method `get_concrete_function` compiles it for a batch of one shape without running it: see `_with_warm_up`.
        """
        self._join_distribution()
        if self.predict_function is None or force:
            self._set_once("predict_function", force, self._prediction)
        return self.predict_function

    def _set_once(self, name: str, force: bool, make: Callable[[], Any]) -> None:
        """Sets a function that all threads share, unless another thread has set it meanwhile."""
        with _making:
            if getattr(self, name) is None or force:
                setattr(self, name, make())

    def _build_for(self, iterator: Any = None, data_batch: Any = None) -> None:
        """Creates the variables of model, metrics, loss and optimizer in advance if devices or replicas share them.

        Otherwise the first step creates them, as on TensorFlow: reading a batch in advance would start another pass
        over a dataset, and `call` may take more than `x`, as in a model with a custom `train_step`.
        """
        strategy = self._distribute_strategy
        if strategy is None and distribution.current() is None:
            return
        if data_batch is not None:
            data_batch = _as_tensors(data_batch)
        if strategy is not None and iterator is not None:
            data_batch = replicas.first_part(next(next(iter(iterator))[2]))
        try:
            with nullcontext() if strategy is None or place.strategy is strategy else strategy.scope():
                self._symbolic_build(iterator=iterator, data_batch=data_batch)
        except (NotImplementedError, RuntimeError):
            if self.optimizer is not None and not self.optimizer.built and self.trainable_variables:
                self.optimizer.build(self.trainable_variables)
        except ValueError:
            if iterator is None or _has_batches(iterator):
                raise

    def _build_optimizer(self) -> None:
        """Creates the optimizer's variables if the model has all of its own: the first step is traced once then."""
        optimizer = self.optimizer
        is_shared = self._distribute_strategy is not None or distribution.current() is not None
        if not is_shared and optimizer is not None and not optimizer.built and self.trainable_variables:
            if all(layer.built for layer in self._flatten_layers()):
                optimizer.build(self.trainable_variables)

    def _callbacks(self, callbacks: Any, **options: Any) -> Any:
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        model_summary.prepare(callbacks)
        return callbacks_module.CallbackList(callbacks, model=self, add_progbar=options["verbose"] != 0, **options)

    @traceback_utils.filter_traceback
    @at_boundary
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Any:
        """Trains the model for a number of epochs; returns the history of its metrics."""
        self._assert_compile_called("fit")
        most = config.max_epochs()
        if most and most < epochs:
            warnings.warn(f"Limiting epochs to {most}", stacklevel=2)
            epochs = most
        self._eval_epoch_iterator = None
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = array_slicing.train_validation_split(
                (x, y, sample_weight), validation_split=validation_split
            )
        if validation_data is not None:
            val_x, val_y, val_sample_weight = data_adapter_utils.unpack_x_y_sample_weight(validation_data)
        epoch_iterator = Batches(
            strategy=self._distribute_strategy,
            for_xla=self._is_compiled,
            x=x,
            y=y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
            steps_per_execution=self.steps_per_execution,
        )
        with epoch_iterator, counting_batches():
            self._build_for(iterator=epoch_iterator)
            self._build_optimizer()
            epoch_iterator.reset()
            callbacks = self._callbacks(
                callbacks, add_history=True, verbose=verbose, epochs=epochs, steps=epoch_iterator.num_batches
            )

            self.stop_training = False
            self.make_train_function()
            callbacks.on_train_begin()
            training_logs = None
            logs: Any = {}
            for epoch in range(self._initial_epoch or initial_epoch, epochs):
                self.reset_metrics()
                callbacks.on_epoch_begin(epoch)
                heard = _hear_of_batches(callbacks)
                with epoch_iterator.catch_stop_iteration():
                    for begin_step, end_step, iterator in epoch_iterator:
                        if heard:
                            callbacks.on_train_batch_begin(begin_step)
                        logs = self.train_function(iterator)
                        if heard:
                            callbacks.on_train_batch_end(end_step, logs)
                        if self.stop_training:
                            break
                epoch_logs = dict(self._get_metrics_result_or_logs(logs))
                if validation_data is not None and self._should_eval(epoch, validation_freq):
                    found = self.evaluate(
                        x=val_x,
                        y=val_y,
                        sample_weight=val_sample_weight,
                        batch_size=validation_batch_size or batch_size,
                        steps=validation_steps,
                        callbacks=callbacks,
                        return_dict=True,
                        _use_cached_eval_dataset=True,
                    )
                    epoch_logs.update({f"val_{name}": value for name, value in found.items()})
                callbacks.on_epoch_end(epoch, epoch_logs)
                training_logs = epoch_logs
                if self.stop_training:
                    break

        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None
        callbacks.on_train_end(logs=training_logs)
        return self.history

    @traceback_utils.filter_traceback
    @at_boundary
    @_in_turn
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Returns loss and metrics on data."""
        self._assert_compile_called("evaluate")
        cached = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        epoch_iterator = (cached and self._eval_epoch_iterator) or Batches(
            strategy=self._distribute_strategy,
            for_xla=self._is_compiled,
            x=x,
            y=y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps,
            shuffle=False,
            steps_per_execution=self.steps_per_execution,
        )
        if cached:
            self._eval_epoch_iterator = epoch_iterator
        self._build_for(iterator=epoch_iterator)
        epoch_iterator.reset()
        callbacks = self._callbacks(callbacks, verbose=verbose, epochs=1, steps=epoch_iterator.num_batches)

        self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        logs: Any = {}
        self.reset_metrics()
        counting = nullcontext() if cached else counting_batches()  # `fit` counts all epochs
        with epoch_iterator, counting, epoch_iterator.catch_stop_iteration():
            for begin_step, end_step, iterator in epoch_iterator:
                callbacks.on_test_batch_begin(begin_step)
                logs = self.test_function(iterator)
                callbacks.on_test_batch_end(end_step, logs)
                if self.stop_evaluating:
                    break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback
    @at_boundary
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """Returns the model's outputs for data, as NumPy arrays."""
        epoch_iterator = Batches(
            strategy=self._distribute_strategy,
            for_xla=self._is_compiled,
            x=x,
            batch_size=batch_size,
            steps_per_epoch=steps,
            shuffle=False,
            steps_per_execution=self.steps_per_execution,
        )
        callbacks = self._callbacks(callbacks, verbose=verbose, epochs=1, steps=epoch_iterator.num_batches)
        self.make_predict_function()
        self.stop_predicting = False
        callbacks.on_predict_begin()
        outputs: list[Any] = []
        with epoch_iterator, counting_batches(), epoch_iterator.catch_stop_iteration():
            for begin_step, end_step, iterator in epoch_iterator:
                callbacks.on_predict_batch_begin(begin_step)
                batches = [next(iterator), *itertools.islice(iterator, self.steps_per_execution - 1)]
                found = self.predict_function(batches)
                outputs.append(tree.map_structure(convert_to_numpy, found))
                callbacks.on_predict_batch_end(end_step, {"outputs": found})
                if self.stop_predicting:
                    break
        callbacks.on_predict_end()
        if not outputs:
            raise ValueError("predict was given no data: there is no batch to tell the shape of the outputs from")
        return tree.map_structure(lambda *parts: np.concatenate(parts, axis=0), *outputs)

    @at_boundary
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Runs one training step."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                    f"Received: sample_weight={sample_weight}, class_weight={class_weight}"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        return self._on_batch(self.make_train_function, (x, y, sample_weight), return_dict)

    @at_boundary
    @_in_turn
    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """Returns loss and metrics on one batch."""
        self._assert_compile_called("test_on_batch")
        return self._on_batch(self.make_test_function, (x, y, sample_weight), return_dict)

    def _on_batch(self, make_function: Callable[[], Any], data: Any, return_dict: bool) -> Any:
        data = _as_tensors(data)
        self._build_for(data_batch=data)
        function = make_function()
        self.reset_metrics()
        logs = pythonify_logs(function(iter([data])))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @at_boundary
    def predict_on_batch(self, x: Any) -> Any:
        """Returns the model's outputs for one batch, as NumPy arrays."""
        return tree.map_structure(convert_to_numpy, self.make_predict_function()([(x,)]))

    def compiled_loss(self, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None) -> Any:
        """Deprecated name of `compute_loss`."""
        warnings.warn("`model.compiled_loss()` is deprecated. Instead, use `model.compute_loss`.", stacklevel=2)
        return self.compute_loss(x=None, y=y, y_pred=y_pred, sample_weight=sample_weight)


def _inputs(data: Any) -> Any:
    """Returns the inputs of a batch, as `predict` passes them."""
    return data_adapter_utils.pack_x_y_sample_weight(data_adapter_utils.unpack_x_y_sample_weight(data)[0])


def _unchanged(data: Any) -> Any:
    return data


def _example(x: Any) -> Any:
    """Returns zeros in place of a spec."""
    if not isinstance(x, tf.TensorSpec):
        return x
    if not x.shape.is_fully_defined():
        raise ValueError(f"{x} has an open size, and each size has a program of its own: give the size of the batch")
    return np.zeros(x.shape, x.dtype.as_numpy_dtype)


def _hear_of_batches(callbacks: Any) -> bool:
    """Returns whether any callback handles the start or end of a batch; calling default handlers costs time."""
    names = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
    return type(callbacks) is not callbacks_module.CallbackList or not all(
        is_default(getattr(callback, name)) for callback in callbacks.callbacks for name in names
    )


def _is_convolution(layer: Any) -> bool:
    """Returns whether the NumPy executor runs this layer faster on CPUs than XLA."""
    from keras.src.layers.convolutional.base_conv import BaseConv

    return isinstance(layer, BaseConv)


def _has_batches(iterator: Batches) -> bool:
    """Returns whether there is any data: Keras warns when data runs out, and then no step is built."""
    iterator.reset()
    with iterator.catch_stop_iteration():
        for _, _, batches in iterator:
            next(batches)
            return True
    return False


def _as_tensors(data: Any) -> Any:
    """Converts a batch to host tensors; the executor copies them to a device, asynchronously under XLA."""
    with staying():
        return _converted(data)


def _converted(data: Any) -> Any:
    if type(data) is tuple:  # fast path for most batches
        return tuple(map(_converted, data))
    if type(data) is np.ndarray:
        return convert_to_tensor(data)
    if isinstance(data, tf.Tensor):
        return data
    return tree.map_structure(
        lambda x: x if x is None or isinstance(x, DistributedValues) else convert_to_tensor(x), data
    )


TensorFlowTrainer = Trainer  # its name in the `tensorflow` backend of Keras, of which gradtape takes the place
