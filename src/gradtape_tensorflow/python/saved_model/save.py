"""`tensorflow.python.saved_model.save`: saving with the objects that were written."""

from __future__ import annotations

from typing import Any

from gradtape.saved_model.saving import save, save_objects

from ..util.object_identity import ObjectIdentityDictionary

__all__ = ["save", "save_and_return_nodes"]


def save_and_return_nodes(
    obj: Any, export_dir: Any, signatures: Any = None, options: Any = None, experimental_skip_checkpoint: bool = False
) -> tuple[list[Any], Any]:
    """Saves an object; returns the saved objects in the order of the file, and the path to each of them."""
    found = save_objects(obj, export_dir, signatures, options).paths()
    paths = ObjectIdentityDictionary()
    for value, path in found:
        paths[value] = path
    return [value for value, _ in found], paths
