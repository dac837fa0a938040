"""Builds the wheel and the source archive into dist/, checks them, and says how to upload them: `make release`.

The checks: the version has a section in CHANGELOG.md, the tree has no uncommitted changes, two builds give the same
wheel, the wheel installs into an empty environment, and a tape works there without any extra.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import gradtape as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
assert tape.gradient(y, x) == 6.0
"""
UPLOAD = """
To publish {version}:
  1. git tag v{version} && git push origin v{version}
  2. {python} -m twine upload dist/*        (needs a token of the package index, in TWINE_PASSWORD)
  3. replace the install commands of README.md and docs/install.md by `pip install gradtape`
  4. add an empty section "Unreleased" to CHANGELOG.md, and raise `__gradtape_version__` in src/gradtape/__init__.py
"""


def run(*command: str | Path, **kwargs: object) -> str:
    """Runs a command and returns its output; a failure ends the program."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, **kwargs)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def version() -> str:
    """Returns the version in the source, which CHANGELOG.md must describe."""
    found = re.search(r'^__gradtape_version__ = "(.*)"', (ROOT / "src/gradtape/__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    if f"\n## {found[1]}" not in (ROOT / "CHANGELOG.md").read_text():
        raise SystemExit(f"CHANGELOG.md has no section of version {found[1]}")
    return found[1]


def build(folder: Path) -> dict[str, str]:
    """Builds into a folder; returns the digests of the files. Times in the archives are those of the last commit."""
    times = {**os.environ, "SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    run(sys.executable, "-m", "build", "--outdir", folder, env=times)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def check_install(wheel: Path) -> None:
    """Installs the wheel into an empty environment and differentiates there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        run(python, "-c", PROGRAM)
        run(python, "-m", "gradtape", "--version")


def main() -> None:
    """Builds, checks and reports."""
    number = version()
    if changed := run("git", "status", "--porcelain"):
        raise SystemExit(f"Commit or remove these changes first:\n{changed}")
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    print(f"building gradtape {number}")
    digests = build(target)
    with tempfile.TemporaryDirectory() as again:
        print("building again, to compare")
        if build(Path(again)) != digests:
            raise SystemExit("Two builds of the same commit differ")
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(target.iterdir()))
    print("installing the wheel into an empty environment")
    check_install(next(target.glob("*.whl")))
    for name, digest in digests.items():
        print(f"{digest}  dist/{name}  {(target / name).stat().st_size / 1e6:.1f} MB")
    print(UPLOAD.format(version=number, python=os.path.relpath(sys.executable)))


if __name__ == "__main__":
    main()
