"""`as_dict`: the fields of an extension type as a dictionary."""

from typing import Any

from .extension_type import ExtensionType

NAMESPACES = ("experimental.extension_type",)
__all__ = ["as_dict"]


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """Returns the fields of an extension type by name; nested extension types are not converted.

    >>> class Pair(tf.experimental.ExtensionType):
    ...     left: int
    ...     right: str
    >>> tf.experimental.extension_type.as_dict(Pair(1, "b"))
    {'left': 1, 'right': 'b'}
    """
    return {field.name: getattr(value, field.name) for field in value._tf_extension_type_fields()}
