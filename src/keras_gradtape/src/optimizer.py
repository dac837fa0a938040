"""Extensions of Keras' optimizers: sparse gradients, `minimize`, and updates traced as one graph.

In eager mode, the update of an optimizer that keeps updating the same variables with the same settings is traced after
a few eager steps: a single graph execution then replaces a dozen ops per variable.
"""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from keras.src.backend.common.stateless_scope import in_stateless_scope

import gradtape as tf
from gradtape.checkpoint.containers import WaitingList
from gradtape.core.owners import Owner
from gradtape.core.tracebacks import at_boundary
from gradtape.engine.run import dispatch
from gradtape.engine.run.source_lines import caller, users_frame

from . import replicas
from .ops.core import convert_to_tensor
from .sparse import densified

_EAGER_UPDATES = 2
_SETTINGS = (bool, int, float, str, type(None))
_updates: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


class OptimizerExtension(Owner):
    """Mixin between Keras' base optimizer and the concrete optimizers."""

    _exchanges_containers = False  # Keras keeps references to its containers

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute.

        The list of variables, to which Keras adds each one as it is created, restores it from a checkpoint read before:
        some optimizers fill other lists only after these have become attributes.
        """
        super().__setattr__(name, WaitingList(value) if name == "_variables" else value)

    @at_boundary
    def apply_gradients(self, grads_and_vars: Any) -> Any:
        """Applies gradients to variables, given as pairs."""
        pairs = list(grads_and_vars)
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                "apply_gradients takes pairs of a gradient and its variable, and got "
                f"{', '.join(type(pair).__name__ for pair in pairs)}. Call apply_gradients(zip(gradients, variables))"
            )
        return super().apply_gradients(pairs)  # type: ignore[misc]

    @at_boundary
    def _filter_empty_gradients(self, grads: Any, trainable_variables: Any) -> Any:
        if len(grads) and all(g is None for g in grads):
            names = ", ".join(getattr(v, "path", v.name) for v in trainable_variables)
            why = tf.inspect.why_missing(trainable_variables) or (
                "The loss was not computed from them as far as the tape has seen. Compute it inside `with "
                "tf.GradientTape() as tape:`, from these very variables, with tensors all the way: NumPy, integers and "
                "`stop_gradient` end a derivative. `tape.explain(loss, variables)` says where it ended."
            )
            raise ValueError(f"No gradients provided for any variable. The gradients of {names} are all None. {why}")
        if all(g is not None for g in grads):
            return super()._filter_empty_gradients(grads, trainable_variables)  # type: ignore[misc]
        pairs = list(zip(grads, trainable_variables, strict=True))
        missing = [variable for gradient, variable in pairs if gradient is None]
        names = [getattr(v, "path", v.name) for v in missing]
        why = tf.inspect.why_missing(missing) or "`tape.explain(loss, variables)` says why."
        file, line, _ = caller()
        # Of the user's line, and with the registry of that module, so that Python's filters show it once per line.
        warnings.warn_explicit(
            f"Gradients do not exist for variables {names} when minimizing the loss. If using `model.compile()`, did "
            f"you forget to provide a `loss` argument? {why}",
            UserWarning,
            file,
            line,
            registry=users_frame(1).f_globals.setdefault("__warningregistry__", {}),
        )
        present = [pair for pair in pairs if pair[0] is not None]
        return [gradient for gradient, _ in present], [variable for _, variable in present]

    def assign(self, variable: Any, value: Any) -> None:
        """Replaces the value of a variable."""
        super().assign(variable, densified(value))  # type: ignore[misc]

    def assign_add(self, variable: Any, value: Any) -> None:
        """Adds to a variable, or to the rows given by slices."""
        _assign(super().assign_add, tf.Variable.scatter_add, variable, value)  # type: ignore[misc]

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtracts from a variable, or from the rows given by slices."""
        _assign(super().assign_sub, tf.Variable.scatter_sub, variable, value)  # type: ignore[misc]

    def _clip_gradients(self, grads: Any) -> Any:
        """Clips gradients; entries of slices are clipped before repeated rows are summed, unless these come first."""
        norm, value = self.clipnorm, self.clipvalue  # type: ignore[attr-defined]
        if tf.config.repeated_row_sums_enabled():
            return super()._clip_gradients(grads)  # type: ignore[misc]
        if norm:
            return [g if g is None else tf.clip_by_norm(g, norm) for g in grads]
        if value:
            return [g if g is None else tf.clip_by_value(g, -value, value) for g in grads]
        return super()._clip_gradients(grads)  # type: ignore[misc]

    @at_boundary
    def _backend_update_step(self, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        if replicas.chosen() is None or in_stateless_scope():
            self._update_here(grads, trainable_variables, learning_rate)
        else:
            step = super()._backend_update_step  # type: ignore[misc]
            replicas.update(self, grads, trainable_variables, learning_rate, step)

    def build(self, variables: Any) -> None:
        """Creates the optimizer's variables, once for all replicas."""

        def build(strategy: Any) -> None:
            if not self.built:  # type: ignore[has-type]
                super(OptimizerExtension, self).build(variables)  # type: ignore[misc]
                self.built = True

        if replicas.chosen() is None:
            super().build(variables)  # type: ignore[misc]
        else:
            replicas.merged(build)

    def _apply_weight_decay(self, variables: Any) -> None:
        if self.weight_decay is None or replicas.chosen() is None:  # type: ignore[attr-defined]
            super()._apply_weight_decay(variables)  # type: ignore[misc]
        else:
            decay = super()._apply_weight_decay  # type: ignore[misc]
            replicas.merged(lambda strategy: decay(variables))

    def _update_here(self, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        if self._computes_all_rows():
            grads = list(map(densified, grads))
        dense, slices = [], []
        for pair in zip(grads, trainable_variables, strict=True):
            (slices if isinstance(pair[0], tf.IndexedSlices) else dense).append(pair)
        if slices:  # their length varies, so that a trace would not be reused
            super()._backend_update_step(*zip(*slices, strict=True), learning_rate)  # type: ignore[misc]
        if not dense:
            return
        gradients, variables = zip(*dense, strict=True)
        update = _traced(self, variables) if dispatch.unrecorded() and not in_stateless_scope() else None
        if update is None:
            with _whole_or_not_at_all((*variables, *self.variables)):  # type: ignore[attr-defined]
                super()._backend_update_step(gradients, variables, learning_rate)  # type: ignore[misc]
        else:  # a graph commits its variable updates at the end
            update(gradients, convert_to_tensor(learning_rate))

    def _computes_all_rows(self) -> bool:
        """Returns whether slices are best made dense to sum repeated rows: a trace sorts the indices of slices.

        Keras' optimizers with momentums, such as Adam, update all rows in any case. An optimizer of the user may treat
        slices in another way.
        """
        is_own = type(self).update_step.__module__.startswith("keras.src.")  # type: ignore[attr-defined]
        has_momentums = bool(getattr(self, "_momentums", None))
        is_traced = dispatch.thread.trace is not None
        return tf.config.repeated_row_sums_enabled() and is_traced and is_own and has_momentums

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """Computes the gradients of `loss` with respect to the variables and applies them.

        Args:
          loss: a tensor computed under `tape`, or a function that computes it.
          var_list: the variables, or a function that returns them.
          tape: the tape that recorded the loss; required if `loss` is a tensor.
        """
        if not callable(loss) and tape is None:
            raise ValueError(f"`tape` is required when a `Tensor` loss is passed. Received: loss={loss}, tape={tape}.")
        if callable(loss):
            tape = tf.GradientTape() if tape is None else tape
            with tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
        variables = var_list() if callable(var_list) else var_list
        return self.apply_gradients(list(zip(tape.gradient(loss, variables), variables, strict=True)))


@contextmanager
def _whole_or_not_at_all(variables: Sequence[Any]) -> Iterator[None]:
    """Context manager: restores the variables if the block fails, for example out of memory."""
    if dispatch.thread.trace is not None or in_stateless_scope():
        yield  # nothing is written before the end
        return
    inner = [getattr(variable, "_gradtape_variable", variable) for variable in variables]
    before = [variable._storage.snapshot() for variable in inner]
    try:
        yield
    except BaseException:
        for variable, value in zip(inner, before, strict=True):
            if not variable._storage.holds(value.array):
                variable.assign(value)
        raise


def _traced(optimizer: Any, variables: tuple[Any, ...]) -> Any:
    """Returns the traced update of these variables, or None before enough eager updates."""
    settings = [item for item in vars(optimizer).items() if isinstance(item[1], _SETTINGS)]
    known = _updates.setdefault(optimizer, {})
    key = (tuple(map(id, variables)), tuple(settings))
    found = known.setdefault(key, 0)
    if found == _EAGER_UPDATES:
        alive = weakref.ref(optimizer)

        def update(gradients: Any, learning_rate: Any) -> None:
            for g, variable in zip(gradients, variables, strict=True):
                alive().update_step(g, variable, learning_rate)  # type: ignore[union-attr]

        # Retracing warnings should name the user's call and its location.
        file, line, function = caller()
        update.__name__ = f"{type(optimizer).__name__}.apply_gradients"
        update.__qualname__ = f"{update.__name__} in {function} ({os.path.basename(file)}:{line})"
        known[key] = tf.function(update, autograph=False)
    elif not callable(found):
        known[key] = found + 1
    return known[key] if callable(known[key]) else None


def _assign(whole: Any, rows: Any, variable: Any, value: Any) -> None:
    """Applies a dense update, or slices row by row."""
    if not isinstance(value, tf.IndexedSlices):
        whole(variable, value)
    elif in_stateless_scope():
        whole(variable, densified(value))
    else:
        inner = getattr(variable, "_gradtape_variable", variable)
        rows(inner, tf.cast(value, inner.dtype))
