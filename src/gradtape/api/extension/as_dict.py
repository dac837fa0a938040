"""The fields of an extension type's value."""

from typing import Any

from .extension_type import ExtensionType

NAMESPACES = ("experimental.extension_type",)
__all__ = ["as_dict"]


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an extension type by name; those that are extension types themselves as they are.

    >>> import gradtape as tf
    >>> class Pair(tf.experimental.ExtensionType):
    ...     left: int
    ...     right: str
    >>> tf.experimental.extension_type.as_dict(Pair(1, "b"))
    {'left': 1, 'right': 'b'}
    """
    return {field.name: getattr(value, field.name) for field in value._tf_extension_type_fields()}
