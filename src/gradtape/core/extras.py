"""The packages that each extra of gradtape adds, and the command that installs them.

Messages name the packages, not `gradtape[extra]`: gradtape is not on the package index, and pip would look there for a
gradtape that runs from a checkout.
"""

from __future__ import annotations

from importlib.util import find_spec

# As in `project.optional-dependencies` of pyproject.toml.
EXTRAS = {
    "jpeg": ("pillow>=10",),
    "summary": ("tensorboardX>=2.6.2.2",),
    "protobuf": ("protobuf>=6.31.1",),
    "buckets": ("fsspec>=2024.6",),
    "xla": ("jax>=0.8",),
    "torch": ("torch>=2.6", "array-api-compat>=1.11"),
    "keras": ("keras>=3.15", "pillow>=10", "tensorboardX>=2.6.2.2"),
    "legacy-keras": ("keras>=3.15", "h5py>=3.11", "protobuf>=6.31.1", "requests>=2.28", "six>=1.16", "wrapt>=1.15"),
    "examples": (
        "matplotlib>=3.9", "fastapi>=0.115", "uvicorn>=0.30", "prometheus-client>=0.20", "keras>=3.15", "pillow>=10",
        "tensorboardX>=2.6.2.2",
    ),
}  # fmt: skip


def is_installed(package: str) -> bool:
    """Whether a package can be imported. A folder of its name without `__init__.py` can be, too, but is none."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # of the package that it is in
        return False
    return spec is not None and spec.origin is not None


def install_command(extra: str) -> str:
    """Returns the command that installs what an extra of gradtape adds."""
    quoted = (f"'{package}'" if ">" in package else package for package in EXTRAS[extra])
    return f"pip install {' '.join(quoted)}"


def keras2_advice() -> str:
    """Returns the sentence that says how to install tf-keras, whose dependency TensorFlow is not needed."""
    return (
        "Install it without its dependency TensorFlow: pip install --no-deps tf-keras, and "
        f"{install_command('legacy-keras')}"
    )
