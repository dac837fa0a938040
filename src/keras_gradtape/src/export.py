"""Exporting to other systems, which gradtape does not do."""

from __future__ import annotations

from typing import Any


class SavedModelExportArchive:
    """Where a SavedModel would be written."""

    def track(self, resource: Any) -> None:
        """Says that there is no export."""
        raise _not_available("ExportArchive.track")

    def add_endpoint(self, name: str, fn: Any, input_signature: Any = None, **kwargs: Any) -> None:
        """Says that there is no export."""
        raise _not_available("ExportArchive.add_endpoint")


def _not_available(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what} is not available on gradtape: there is no TensorFlow to write a SavedModel. Use model.save('model.keras') "
        "and load it with Keras on TensorFlow to export it"
    )
