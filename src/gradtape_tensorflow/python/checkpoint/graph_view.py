"""`tensorflow.python.checkpoint.graph_view`: the graph of the objects that a checkpoint saves."""

from __future__ import annotations

from typing import Any

from gradtape.checkpoint import object_graph

from ..util.object_identity import ObjectIdentityDictionary


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
