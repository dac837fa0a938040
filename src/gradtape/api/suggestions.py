"""Suggests the public name that a misspelled one most likely means."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

# Namespaces that repeat the names of others: a name found elsewhere is the better suggestion.
_SECONDARY = ("compat.", "raw_ops.", "experimental.numpy.")
_LONG = 12  # characters of a name that says enough to be completed before other namespaces are searched


def nearest(path: str, known: Collection[str]) -> str | None:
    """Returns the one of the `known` public names that is nearest to `path`, or None if none is similar.

    The same last component in another namespace comes first, then similar names of the same namespace, then names of
    the namespaces that repeat others, then similar names anywhere.

    >>> from gradtape.api.suggestions import nearest
    >>> known = ["math", "reduce_sum", "math.reduce_sum", "multiply", "nn.softmax", "raw_ops.Mul", "compat.v1.to_int"]
    >>> [nearest(path, known) for path in ("matth", "sum", "nn.reduce_sumx", "softmax", "mul", "ToInt", "qwerty")]
    ['math', 'reduce_sum', 'reduce_sum', 'nn.softmax', 'multiply', 'compat.v1.to_int', None]
    """
    space, _, leaf = path.rpartition(".")
    same_space = [name for name in known if name.rpartition(".")[0] == space]
    primary = [name for name in known if not name.startswith(_SECONDARY)]
    return (
        _equal(leaf, primary)
        or _equal(f"reduce_{leaf}", primary)  # NumPy's and PyTorch's `sum`, `mean`, `max`
        or _find_alike(leaf, same_space)
        or _find_alike(leaf, primary)
        or _similar(leaf, same_space, 0.75)
        or _find_longer(leaf, same_space)
        or (_find_longer(leaf, primary) if len(leaf) >= _LONG else None)
        or _find_alike(leaf, known)
        or _similar(leaf, primary, 0.8)
        or _find_longer(leaf, primary)
    )


def _equal(leaf: str, known: Iterable[str]) -> str | None:
    return _shortest(name for name in known if name.rpartition(".")[2] == leaf)


def _find_alike(leaf: str, known: Iterable[str]) -> str | None:
    """Returns a name whose last component differs from `leaf` by case and underscores at most, or None."""
    wanted = _fold(leaf)
    return _shortest(name for name in known if _fold(name.rpartition(".")[2]) == wanted)


def _similar(leaf: str, known: Iterable[str], cutoff: float) -> str | None:
    """Returns the name whose last component is most similar to `leaf`, or None."""
    leaves = {name.rpartition(".")[2] for name in known}
    near = difflib.get_close_matches(leaf, sorted(leaves), n=1, cutoff=cutoff)
    return _equal(near[0], known) if near else None


def _find_longer(leaf: str, known: Iterable[str]) -> str | None:
    """Returns a name that begins with `leaf`, as `multiply` does with `mul`, or None."""
    if len(leaf) < 3:
        return None
    return _shortest(name for name in known if name.rpartition(".")[2].startswith(leaf))


def _fold(leaf: str) -> str:
    return leaf.replace("_", "").lower()


def _shortest(names: Iterable[str]) -> str | None:
    """Returns the name with the fewest components, or None; `nn` comes before `math`, as in TensorFlow's guides."""
    return min(names, key=lambda name: ("experimental" in name, name.count("."), name[:3] != "nn.", name), default=None)
