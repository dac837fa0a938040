"""`tf.experimental.dlpack`: exchanges tensors with other libraries without a copy."""

from __future__ import annotations

from typing import Any

from ...core import devices, dlpack
from ...core.dtypes import of_numpy
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, wrap

NAMESPACES = ("experimental.dlpack",)
__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tf_tensor: object) -> Any:
    """Returns the tensor as a DLPack capsule for one consumer, which must not write to the memory.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    >>> tf.experimental.dlpack.from_dlpack(capsule).numpy()
    array([1., 2.], dtype=float32)
    """
    if not isinstance(tf_tensor, Tensor) or hasattr(tf_tensor, "place"):
        raise InvalidArgumentError(
            f"The argument to `to_dlpack` must be a TF tensor, not Python object: got {type(tf_tensor).__name__}. Use "
            "tf.convert_to_tensor, outside of a tf.function"
        )
    try:
        return tf_tensor.__dlpack__()
    except BufferError as error:
        raise InvalidArgumentError(f"{tf_tensor.dtype.kernel_name()} is not supported by dlpack: {error}") from None


def from_dlpack(dlcapsule: Any) -> Tensor:
    """Returns the tensor in a DLPack capsule, whose memory it shares.

    >>> tf.experimental.dlpack.from_dlpack(np.arange(3).__dlpack__()).numpy()
    array([0, 1, 2])
    """
    read = devices.capsule_reader(dlpack.device_of(dlcapsule))
    if read is not None:
        tensor: Tensor = read(dlcapsule)
        return tensor
    array = dlpack.imported(dlcapsule)
    return wrap(array if array.ndim else array[()], of_numpy(array.dtype))
