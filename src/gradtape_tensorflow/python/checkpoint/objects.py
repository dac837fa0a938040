"""Stand-ins for `tensorflow.python.checkpoint`: the objects of a checkpoint."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape.checkpoint import object_graph

from ..util.object_identity import ObjectIdentityDictionary


def register_session_provider(session_provider: Any) -> None:
    """Does nothing: there are no sessions."""


def streaming_restore(status: Any, session: Any = None) -> None:
    """Checks that everything was restored: there is no restoration that waits for a session."""
    status.assert_existing_objects_matched()


def list_objects(root_trackable: Any) -> list[Any]:
    """Returns the objects that a checkpoint of this one saves, in the order of their distance from it."""
    found, _ = ObjectGraphView(root_trackable).breadth_first_traversal()
    return found


def update_checkpoint_state_internal(
    save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None, save_relative_paths: bool = False, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:  # fmt: skip
    """Writes the `checkpoint` file of a folder; the paths in it are relative where they can be."""
    gradtape.compat.v1.train.update_checkpoint_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )  # fmt: skip


class ObjectGraphView:
    """The objects reachable from `root`."""

    def __init__(self, root: Any, attached_dependencies: Any = None) -> None:
        self.root = root
        self.attached_dependencies = attached_dependencies

    def list_children(self, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> list[Any]:
        """Returns the children of an object with their names."""
        from gradtape.core.owners import TrackableReference

        return [TrackableReference(name, child) for name, child in object_graph.children(obj).items()]

    def children(self, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the children of an object by name."""
        return object_graph.children(obj)

    def breadth_first_traversal(self) -> tuple[list[Any], ObjectIdentityDictionary]:
        """Returns the objects in the order of their distance from the root, and a path to each."""
        found, waiting = [self.root], [self.root]
        paths = ObjectIdentityDictionary()
        paths[self.root] = ()
        while waiting:
            owner = waiting.pop(0)
            for reference in self.list_children(owner):
                if reference.ref not in paths:
                    paths[reference.ref] = (*paths[owner], reference)
                    found.append(reference.ref)
                    waiting.append(reference.ref)
        return found, paths
