"""`tensorflow.python.checkpoint.checkpoint`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

from .graph_view import ObjectGraphView


def register_session_provider(session_provider: Any) -> None:
    """Does nothing: there are no sessions."""


def streaming_restore(status: Any, session: Any = None) -> None:
    """Checks that everything was restored: there is no restoration that waits for a session."""
    status.assert_existing_objects_matched()


def list_objects(root_trackable: Any) -> list[Any]:
    """Returns the objects that a checkpoint of this one saves, in the order of their distance from it."""
    found, _ = ObjectGraphView(root_trackable).breadth_first_traversal()
    return found
