"""What gradtape adds to Keras' optimizers: sparse gradients, `minimize`, and updates that are traced as one.

Outside of functions, an optimizer that goes on updating the same variables with the same settings has its update
traced, after a few eager ones: then it is one run of a graph instead of a dozen ops for each variable.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from keras.src.backend.common.stateless_scope import in_stateless_scope

import gradtape as tf
from gradtape.engine import dispatch
from gradtape.engine.places import caller

from .ops.core import convert_to_tensor

_EAGER_UPDATES = 2
_SETTINGS = (bool, int, float, str, type(None))
_updates: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


class OptimizerExtension:
    """Stands between Keras' base class of optimizers and the optimizers."""

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Updates the variables. Sparse gradients stay sparse where only their rows change."""
        if any(isinstance(g, tf.IndexedSlices) for g in grads) and not self._changes_rows_only():
            grads = [tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g for g in grads]
        super().apply(grads, trainable_variables)  # type: ignore[misc]

    def _filter_empty_gradients(self, grads: Any, trainable_variables: Any) -> Any:
        if len(grads) and all(g is None for g in grads):
            names = ", ".join(getattr(v, "path", v.name) for v in trainable_variables)
            raise ValueError(
                f"No gradients provided for any variable. The gradients of {names} are all None: the loss was not "
                "computed from them as far as the tape has seen. Compute it inside `with tf.GradientTape() as tape:`, "
                "from these very variables, with tensors all the way: NumPy, integers and `stop_gradient` end a "
                "derivative. `tape.explain(loss, variables)` says where it ended."
            )
        if all(g is not None for g in grads):
            return super()._filter_empty_gradients(grads, trainable_variables)  # type: ignore[misc]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kept = super()._filter_empty_gradients(grads, trainable_variables)  # type: ignore[misc]
        file, line, _ = caller()
        for warning in said:
            text = f"{warning.message} `tape.explain(loss, variables)` says why."
            warnings.warn_explicit(text, warning.category, file, line)
        return kept

    def _changes_rows_only(self) -> bool:
        """Whether a row without a gradient stays as it is: plain gradient descent."""
        from keras.src.optimizers.sgd import SGD

        extras = (self.clipnorm, self.global_clipnorm, self.clipvalue, self.gradient_accumulation_steps)
        plain = not any(extras) and self.loss_scale_factor is None
        return plain and type(self) is SGD and not self.momentum

    def _backend_update_step(self, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        dense = []
        for g, variable in zip(grads, trainable_variables, strict=True):
            if isinstance(g, tf.IndexedSlices):
                _subtract_rows(variable, g, learning_rate)
            else:
                dense.append((g, variable))
        if not dense:
            return
        gradients, variables = zip(*dense, strict=True)
        update = None if dispatch.thread.recorder is not None or in_stateless_scope() else _traced(self, variables)
        if update is None:
            super()._backend_update_step(gradients, variables, learning_rate)  # type: ignore[misc]
        else:
            update(gradients, convert_to_tensor(learning_rate))

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """Computes the gradients of `loss` with respect to the variables, and applies them.

        Args:
          loss: a tensor computed under `tape`, or a function that computes it.
          var_list: the variables, or a function that gives them.
          tape: the tape that has recorded the loss, where it is a tensor.
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


def _traced(optimizer: Any, variables: tuple[Any, ...]) -> Any:
    """The update of these variables as a function, or None as long as it was not asked for often enough."""
    settings = [item for item in vars(optimizer).items() if isinstance(item[1], _SETTINGS)]
    known = _updates.setdefault(optimizer, {})
    key = (tuple(map(id, variables)), tuple(settings))
    found = known.setdefault(key, 0)
    if found == _EAGER_UPDATES:
        alive = weakref.ref(optimizer)

        def update(gradients: Any, learning_rate: Any) -> None:
            for g, variable in zip(gradients, variables, strict=True):
                alive().update_step(g, variable, learning_rate)  # type: ignore[union-attr]

        known[key] = tf.function(update, autograph=False)
    elif not callable(found):
        known[key] = found + 1
    return known[key] if callable(known[key]) else None


def _subtract_rows(variable: Any, g: Any, learning_rate: Any) -> None:
    """One step of gradient descent on the rows that have a gradient."""
    inner = getattr(variable, "_gradtape_variable", variable)
    values = tf.cast(g.values, inner.dtype)
    inner.scatter_sub(tf.IndexedSlices(values * tf.cast(tf.convert_to_tensor(learning_rate), inner.dtype), g.indices))
