"""Exporting to other systems, which gradtape does not do."""

from __future__ import annotations

from typing import Any


class SavedModelExportArchive:
    """Where a SavedModel would be written."""

    def track(self, resource: Any) -> None:
        """Says that there is no export."""
        raise _not_available()

    def add_endpoint(self, name: str, fn: Any, input_signature: Any = None, **kwargs: Any) -> None:
        """Says that there is no export."""
        raise _not_available()

    def track_and_add_endpoint(self, name: str, resource: Any, input_signature: Any, **kwargs: Any) -> None:
        """Says that there is no export."""
        raise _not_available()

    def add_variable_collection(self, name: str, variables: Any) -> None:
        """Says that there is no export."""
        raise _not_available()

    def write_out(self, filepath: Any, options: Any = None, verbose: bool = True) -> None:
        """Says that there is no export."""
        raise _not_available()


def _not_available() -> NotImplementedError:
    return NotImplementedError(
        "`export_saved_model` only currently supports the tensorflow, jax and torch backends. It is not available on "
        "gradtape: save the model with model.save('model.keras'), load it in a Keras with one of those, and export it"
    )
