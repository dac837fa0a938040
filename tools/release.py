"""Builds the wheel and the source archive into dist/, checks them, and says how to upload them: `make release`.

The README's links are relative, which a package index does not follow. With the address of the repository, as in
`make release URL=https://host/owner/gradtape`, the README in the archives links to the files of the tag there, and the
metadata have the project's addresses. Without it, the archives have neither.

The checks: the version has a section in CHANGELOG.md, the tree has no uncommitted changes, two builds give the same
wheel, the wheel installs into an empty environment, and a tape works there without any extra.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
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


def absolute_links(text: str, url: str, tag: str) -> str:
    """Returns Markdown with its relative links to files of the repository as addresses of the tag at `url`.

    Without `url`, links become their texts, and pictures disappear.
    """

    def absolute(match: re.Match[str]) -> str:
        is_picture = bool(match["picture"])
        if not url:
            return "" if is_picture else match["text"]
        kind = "raw" if is_picture else "blob"
        return f"{match['picture']}[{match['text']}]({url}/{kind}/{tag}/{match['path']})"

    return re.sub(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?![a-z]+:|#)(?P<path>[^)\s]+)\)", absolute, text)


def project_urls(url: str, tag: str) -> str:
    """Returns the table of pyproject.toml with the addresses of the project."""
    addresses = {
        "Homepage": url,
        "Documentation": f"{url}/blob/{tag}/docs/index.md",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    return "".join(["\n[project.urls]\n", *(f'{name} = "{address}"\n' for name, address in addresses.items())])


def build(folder: Path, url: str, tag: str) -> dict[str, str]:
    """Builds the last commit into a folder; returns the digests of the files. Times in them are those of the commit."""
    times = {**os.environ, "SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    with tempfile.TemporaryDirectory() as source:
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(source, filter="data")
        readme, project = Path(source) / "README.md", Path(source) / "pyproject.toml"
        readme.write_text(absolute_links(readme.read_text(), url, tag))
        if url:
            project.write_text(project.read_text() + project_urls(url, tag))
        run(sys.executable, "-m", "build", "--outdir", folder, source, env=times)
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="", help="the address of the repository, for links and metadata")
    url = parser.parse_args().url.rstrip("/")
    number = version()
    if changed := run("git", "status", "--porcelain"):
        raise SystemExit(f"Commit or remove these changes first:\n{changed}")
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    print(f"building gradtape {number}")
    digests = build(target, url, f"v{number}")
    with tempfile.TemporaryDirectory() as again:
        print("building again, to compare")
        if build(Path(again), url, f"v{number}") != digests:
            raise SystemExit("Two builds of the same commit differ")
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(target.iterdir()))
    print("installing the wheel into an empty environment")
    check_install(next(target.glob("*.whl")))
    for name, digest in digests.items():
        print(f"{digest}  dist/{name}  {(target / name).stat().st_size / 1e6:.1f} MB")
    if not url:
        print("The archives link nowhere: run `make release URL=...` before an upload to a package index")
    print(UPLOAD.format(version=number, python=os.path.relpath(sys.executable)))


if __name__ == "__main__":
    main()
