"""`tf.compat.v1.summary`: summaries as serialized messages, which `FileWriter.add_summary` writes."""

from __future__ import annotations

import re
from typing import Any

from gradtape.api.summary import scalars, tensors
from gradtape.api.summary.scalars import current
from gradtape.core import dtypes, errors, scopes
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike, ValueLike
from gradtape.engine.run.convert import to_tensor

from ...protos.generated import find_among, message_class
from ...protos.tensors import make_tensor_proto

NAMESPACES = ("compat.v1.summary",)
__all__ = [
    "Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata", "scalar", "tensor_summary", "text",
]  # fmt: skip

Event: type[Any]
SessionLog: type[Any]
Summary: type[Any]
SummaryDescription: type[Any]
TaggedRunMetadata: type[Any]

__getattr__ = find_among(["Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"])


def scalar(name: str, tensor: TensorLike, collections: Any = None, family: str | None = None) -> Tensor:
    """Returns the summary of a number; a default writer of `tf.summary` that has a step writes it instead.

    >>> message = tf.compat.v1.summary.scalar("loss", 0.5)
    >>> tf.compat.v1.Summary.FromString(message.numpy()).value[0].simple_value
    0.5
    """
    if _is_written_at_once():
        scalars.scalar(_clean(name, family), tensor)
        return to_tensor(b"")
    value, tag = to_tensor(tensor), _tag(name, family)
    if value.dims:
        raise errors.InvalidArgumentError(
            f"tags and values are not the same shape: [] != {list(value.dims)} (tag '{tag}') [Op:ScalarSummary]"
        )
    return _serialized(tag=tag, simple_value=float(value.numpy()))


def tensor_summary(
    name: str,
    tensor: ValueLike,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Returns the summary of a tensor, with metadata; the other arguments take precedence over `summary_metadata`.

    >>> message = tf.compat.v1.summary.tensor_summary("weights", [1.0, 2.0])
    >>> tf.make_ndarray(tf.compat.v1.Summary.FromString(message.numpy()).value[0].tensor)
    array([1., 2.], dtype=float32)
    """
    value = to_tensor(tensor)
    metadata = message_class("SummaryMetadata")()
    if summary_metadata is not None:
        metadata.ParseFromString(summary_metadata.SerializeToString())
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    encoded = make_tensor_proto(value.numpy(), value.dtype)
    return _serialized(tag=_tag(name, family), tensor=encoded, metadata=metadata)


def text(name: str, tensor: Tensor, collections: Any = None) -> Tensor:
    """Returns the summary of a tensor of strings, for TensorBoard's text plugin; or writes it, as `scalar` does.

    >>> message = tf.compat.v1.summary.text("notes", tf.constant("hi"))
    >>> tf.compat.v1.Summary.FromString(message.numpy()).value[0].metadata.plugin_data.plugin_name
    'text'
    """
    if tensor.dtype is not dtypes.string:
        raise ValueError(f"Expected tensor {name} to have dtype string, got {tensor.dtype.name}")
    if _is_written_at_once():
        tensors.text(_clean(name), tensor)
        return to_tensor(b"")
    kind = message_class("SummaryMetadata")
    return tensor_summary(name, tensor, summary_metadata=kind(plugin_data=kind.PluginData(plugin_name="text")))


def _is_written_at_once() -> bool:
    """Whether `tf.summary` has a default writer and a step: TensorFlow then writes summaries of TensorFlow 1, too."""
    return current.writer is not None and current.step is not None


def _tag(name: str, family: str | None) -> str:
    """Returns the tag of a summary in the current name scope, without characters that a scope cannot have.

    TensorFlow writes a family twice, as a prefix of tag and scope, so that TensorBoard groups by it.
    """
    tag = scopes.scoped(_clean(name, family))
    return tag if family is None else f"{_clean(family)}/{tag}"


def _clean(name: str, family: str | None = None) -> str:
    parts = [re.sub(r"[^-/\w.]", "_", part, flags=re.ASCII).lstrip("/") for part in (family, name) if part is not None]
    return "/".join(parts)


def _serialized(**value: Any) -> Tensor:
    kind = message_class("Summary")
    return to_tensor(kind(value=[kind.Value(**value)]).SerializeToString())
