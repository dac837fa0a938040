"""`ForwardAccumulator`: TensorFlow's arguments, warnings and errors around the engine's forward mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ..core import nest
from ..core.pickling import Unpicklable
from ..core.tensor import Tensor, is_tensor_like
from ..core.tracebacks import bounded
from ..engine.registry.batching import BatchedTensor
from ..engine.run import dispatch
from ..engine.run.convert import to_tensor
from ..engine.tape.forward import JvpAccumulator
from ..engine.tape.validation import native, zeros_like
from .tape_arguments import UnconnectedGradients, unconnected_mode, warn_not_floating

if TYPE_CHECKING:
    from .tape_arguments import K, S, Source, Zero


@bounded
class ForwardAccumulator(Unpicklable, JvpAccumulator):
    """Computes Jacobian-vector products ("JVP"s) using forward-mode autodiff, while the computation runs.

    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x * x
    >>> acc.jvp(y).numpy().tolist()
    [2.0, 0.0]

    Args:
      primals: a tensor, a variable, or a nested structure of them, to watch.
      tangents: the directions: tensors with the structure, shapes and dtypes of `primals`.
    """

    __module__ = "gradtape.autodiff"

    _instead = "its tangents belong to live tensors. Pickle the primals and the tangents"

    def __init__(self, primals: Any, tangents: Any) -> None:
        super().__init__()
        nest.assert_same_structure(primals, tangents)
        seen: set[int] = set()
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            if id(primal) in seen:
                raise ValueError(
                    f"Tensor {primal!r} was specified as a primal multiple times. This may indicate an error. If it "
                    "was intended, please sum the corresponding tangents."
                )
            seen.add(id(primal))
            self._watch(primal, tangent)

    @classmethod
    def _batch_accumulator(cls, primals: Any, tangents: Any) -> ForwardAccumulator:
        """Returns an accumulator for a batch of tangents: each tangent has one more leading axis than its primal."""
        return _BatchAccumulator(primals, tangents)

    def _watch(self, primal: Any, tangent: Any) -> None:
        """Sets the tangent of a primal, or adds to the one that it has."""
        primal = native(primal)
        if not is_tensor_like(primal):
            raise AttributeError(
                f"'{type(primal).__name__}' object has no attribute 'dtype': a primal must be a tensor or a variable, "
                f"got {primal!r}"
            )
        if not primal.dtype.differentiable:
            warn_not_floating("primal", primal.dtype)
            return
        t = to_tensor(tangent, dtype=primal.dtype)
        self._check(primal, t)
        self.add_tangent(primal, t)

    def _check(self, primal: Any, tangent: Tensor) -> None:
        if tangent.dims != primal.dims:
            raise ValueError(
                f"a tangent must have the shape of its primal, {primal.shape}, got {tangent.shape}. Use "
                "tf.broadcast_to where repetition is meant"
            )

    @overload
    def jvp(self, primals: list[S], unconnected_gradients: Zero) -> list[Tensor]: ...
    @overload
    def jvp(self, primals: dict[K, S], unconnected_gradients: Zero) -> dict[K, Tensor]: ...
    @overload
    def jvp(self, primals: Source, unconnected_gradients: Zero) -> Tensor: ...
    @overload
    def jvp(self, primals: list[S], unconnected_gradients: Any = ...) -> list[Tensor | None]: ...
    @overload
    def jvp(self, primals: dict[K, S], unconnected_gradients: Any = ...) -> dict[K, Tensor | None]: ...
    @overload
    def jvp(self, primals: Source, unconnected_gradients: Any = ...) -> Tensor | None: ...
    @overload
    def jvp(self, primals: Any, unconnected_gradients: Any = ...) -> Any: ...
    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Returns the Jacobian-vector product of `primals`, values computed inside the block, with the tangents.

        Args:
          primals: a tensor, or a nested structure of tensors, computed inside the block.
          unconnected_gradients: a value of `tf.UnconnectedGradients`: whether a value that does not depend on the
            primals of the accumulator gets None (the default) or zeros.

        Returns:
          A tangent for each value, in the structure of `primals`.
        """
        unconnected = unconnected_mode(unconnected_gradients)

        def tangent(x: Any) -> Any:
            x = native(x)
            found = self.tangent_of(x)
            return zeros_like(x) if found is None and unconnected is UnconnectedGradients.ZERO else found

        return nest.map_structure(tangent, primals)


class _BatchAccumulator(ForwardAccumulator):
    """A `ForwardAccumulator` for a batch of tangents; `jvp` returns the results stacked along a new first axis."""

    _batch: int | None = None  # the batching level of the tangents, set on first entry

    def _check(self, primal: Any, tangent: Tensor) -> None:
        if tangent.dims[1:] != primal.dims or not tangent.dims:
            raise ValueError(
                f"a batch of tangents must have the shape of its primal, {primal.shape}, and one more axis in front, "
                f"got {tangent.shape}"
            )

    def _begin(self) -> None:
        if self._batch is None:
            level = dispatch.next_level()
            self._tensors = [(x, BatchedTensor(t, level)) for x, t in self._tensors]
            self._variables = {
                at: (x, t if t is None else BatchedTensor(t, level)) for at, (x, t) in self._variables.items()
            }
            self._batch = level
        super()._begin()

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Returns the Jacobian-vector product for each tangent of the batch."""
        found = super().jvp(primals, unconnected_gradients)
        return nest.map_structure(lambda t: t.value if type(t) is BatchedTensor else t, found)
