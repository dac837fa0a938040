"""Lists the other versions of Python that are installed, for `make test-pythons`.

    python tools/other_pythons.py [VERSION ...]

A line has a version, the command of its interpreter, and the prefix of commands that run it, which may be empty. Looked
at are `python3.X` on the PATH, the versions of pyenv, and the folder `PYTHONS_ROOT`: another Linux system, whose
programs run by `tools/chroot.sh`, for example of Debian's unstable distribution, which has the newest Pythons:

    debootstrap --variant=minbase --include=ca-certificates,python3.14,python3.14-venv sid FOLDER

The first of each version is listed, without the version that runs this. `VERSION`, such as 3.14, restricts the list. If
it is empty, a line on standard error says so, and the exit status is still 0.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
NEWEST_MINOR = 30  # of the names that are looked for
CHROOT = "tools/chroot.sh"


def candidates() -> Iterator[tuple[str, str]]:
    """Yields interpreters that may exist, and the prefix of commands that run them."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], NEWEST_MINOR)]
    yield from ((name, "") for name in names)
    yield from ((str(path), "") for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3")))
    root = Path(os.environ.get("PYTHONS_ROOT", "/var/tmp/pythons"))
    yield from ((name, f"{CHROOT} {root}") for name in names if (root / "usr/bin" / name).exists())


def version_of(python: str, prefix: str) -> tuple[int, int] | None:
    """Returns the version of an interpreter that can make virtual environments; None for what does not run."""
    program = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([*prefix.split(), python, "-c", program], capture_output=True, text=True, timeout=60)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return major, minor


def main(chosen: list[str]) -> None:
    """Prints the list."""
    pythons: dict[tuple[int, int], tuple[str, str]] = {}
    for python, prefix in candidates():
        version = version_of(python, prefix)
        if version is not None and version >= OLDEST and version != sys.version_info[:2]:
            pythons.setdefault(version, (python, prefix))
    rows = {".".join(map(str, version)): row for version, row in sorted(pythons.items())}
    selected = [name for name in rows if not chosen or name in chosen]
    for name in selected:
        print(name, *rows[name])
    if not selected:
        wanted = " or ".join(chosen) or "version from 3.11 on"
        print(f"no other Python {wanted} is installed besides {sys.executable}", file=sys.stderr)


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    main(sys.argv[1:])
