"""Views of the objects in a checkpoint file, and of those below an object."""

from __future__ import annotations

import logging
import weakref
from collections import deque
from typing import Any

from ..core.pickling import Unpicklable
from .files import nodes_of, open_checkpoint
from .object_graph import children, is_trackable

NAMESPACES = ("train",)
__all__ = ["CheckpointView", "TrackableView"]


class TrackableView(Unpicklable):
    """The objects below an object that a checkpoint of it would contain.

    >>> root = tf.train.Checkpoint(weight=tf.Variable(1.0))
    >>> "weight" in tf.train.TrackableView(root).children(root)
    True
    """

    __module__ = "gradtape.train"

    _instead = "pickle its root, which it does not keep alive"

    def __init__(self, root: Any) -> None:
        self._root = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @property
    def root(self) -> Any:
        """The object."""
        root = self._root()
        assert root is not None, "the object no longer exists"
        return root

    @classmethod
    def children(cls, obj: Any, save_type: Any = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the objects that `obj` owns, by name."""
        return children(obj)

    def descendants(self) -> list[Any]:
        """Returns all objects from the root on, breadth first."""
        found, seen = [self.root], {id(self.root)}
        for owner in found:  # grows while it is read
            for child in self.children(owner).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    found.append(child)
        return found


class CheckpointView:
    """The objects in a checkpoint, by node number: 0 is the root.

    >>> import tempfile
    >>> root = tf.train.Checkpoint(weight=tf.Variable(1.0))
    >>> view = tf.train.CheckpointView(root.write(f"{tempfile.mkdtemp()}/model"))
    >>> view.children(0)["weight"]
    1
    """

    __module__ = "gradtape.train"

    def __init__(self, save_path: Any) -> None:
        nodes = nodes_of(open_checkpoint(save_path))
        if nodes is None:
            raise ValueError(
                f'The specified checkpoint "{save_path}" does not appear to be object-based (saved with TF2) since it '
                'is missing the key "_CHECKPOINTABLE_OBJECT_GRAPH". Likely it was created with the TF1 name-based '
                "saver and does not contain an object dependency graph."
            )
        self._nodes = nodes

    def children(self, node_id: int) -> dict[str, int]:
        """Returns the nodes that a node owns, by name."""
        return dict(self._nodes[node_id].children)

    def descendants(self) -> list[int]:
        """Returns all nodes from the root on, breadth first."""
        found = [0]
        for node in found:  # grows while it is read
            found += [child for child in dict.fromkeys(self._nodes[node].children.values()) if child not in found]
        return found

    def match(self, obj: Any) -> dict[int, Any]:
        """Returns the objects below `obj` that the nodes belong to, by the names of attributes."""
        if not is_trackable(obj):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        matched, waiting = {0: obj}, deque([0])
        while waiting:
            node = waiting.popleft()
            owned = children(matched[node])
            for name, child in self._nodes[node].children.items():
                if name not in owned or child == 0:
                    continue
                if child not in matched:
                    matched[child] = owned[name]
                    waiting.append(child)
                elif matched[child] is not owned[name]:
                    logging.getLogger("gradtape").warning(
                        "Inconsistent references when matching the checkpoint into this object graph. The referenced "
                        "objects are: (%s and %s).",
                        matched[child],
                        owned[name],
                    )
        return matched

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """Returns what `match` does, the nodes without an object, and the objects without a node."""
        matched = self.match(obj)
        known = {id(value) for value in matched.values()}
        unmatched = [value for value in TrackableView(obj).descendants() if id(value) not in known]
        return matched, [node for node in self.descendants() if node not in matched], unmatched
