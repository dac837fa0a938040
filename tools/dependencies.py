"""The versions of gradtape's dependencies: what pyproject.toml allows, what pip finds, and what is installed.

`make test-oldest` and `make test-next` run it with the Python of a virtual environment:

    python tools/dependencies.py oldest              # requirements for pip: the lower end of every range
    python tools/dependencies.py newest              # requirements for `pip install --pre --upgrade`
    python tools/dependencies.py report results.xml  # prints installed versions, and the failures in pytest's results

pyproject.toml is the only list: every requirement there is `name>=version`, or an exact version of a group's.
"""

import argparse
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PYPROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
REQUIREMENT = re.compile(r"([\w-]+)>=([\d.]+)")
DEVELOPMENT_BUILDS = {"keras": "keras-nightly"}  # published under another name, and installed in place of the release


def lower_ends(requirements: list[str]) -> dict[str, str]:
    """Returns the lower end of each requirement's range by the package's name."""
    ends: dict[str, str] = {}
    for requirement in requirements:
        if requirement.startswith("gradtape["):
            continue  # whose requirements are listed themselves
        match = REQUIREMENT.fullmatch(requirement)
        if not match:
            raise ValueError(f"{requirement!r} has no lower end, as in 'name>=1.2'")
        name, version = match.groups()
        if ends.setdefault(name, version) != version:
            raise ValueError(f"{name} has two lower ends, {ends[name]} and {version}")
    return ends


def dependencies() -> dict[str, str]:
    """Returns the lower end of each dependency of gradtape and of its extras."""
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    return lower_ends([*project["dependencies"], *(one for extra in extras for one in extra)])


def test_tools() -> dict[str, str]:
    """Returns the lower end of each package that only the tests need."""
    return lower_ends(PYPROJECT["dependency-groups"]["test"])


def oldest(torch: str | None) -> list[str]:
    """Returns requirements for the lower ends of all ranges, those of the tests' tools included."""
    ends = dependencies() | test_tools()
    del ends["torch"]
    return [*(f"{name}=={version}" for name, version in ends.items()), *([torch] if torch else torch_builds()[-1:])]


def newest(torch: str | None) -> list[str]:
    """Returns requirements without versions, which pip fulfills with the newest."""
    names = [DEVELOPMENT_BUILDS.get(name, name) for name in dependencies() if name != "torch"]
    return [*names, *([torch] if torch else torch_builds()[:1])]


def torch_builds() -> list[str]:
    """Returns requirements for the builds of PyTorch that pip finds and that bring no CUDA libraries, the newest first.

    On Linux, the package index has builds with several GB of CUDA libraries; builds for the CPU, which pip finds where
    it is configured to, say so in their versions.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", "--pre", "--json", "torch"]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    versions = json.loads(found.stdout)["versions"] if found.returncode == 0 else []
    lowest = release(dependencies()["torch"])
    on_linux = platform.system() == "Linux"
    return [
        f"torch=={version}"
        for version in versions
        if release(version) >= lowest and (version.endswith("+cpu") or not on_linux)
    ]


def release(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version, which compare like versions: 2.13.0+cpu is (2, 13, 0)."""
    return tuple(int(number) for number in re.match(r"[\d.]*\d", version)[0].split("."))


def installed_version(name: str) -> str:
    for distribution in (name, DEVELOPMENT_BUILDS.get(name, name)):
        try:
            return importlib.metadata.version(distribution) + ("" if distribution == name else f" ({distribution})")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "not installed"


def report(results: Path) -> None:
    """Prints the installed version of each dependency and the failures in a file of pytest's results."""
    print(f"\n{'package':<20}{'range':<12}tested")
    print(f"{'Python':<20}{PYPROJECT['project']['requires-python']:<12}{platform.python_version()}")
    for name, lowest in (dependencies() | test_tools()).items():
        print(f"{name:<20}{'>=' + lowest:<12}{installed_version(name)}")
    if installed_version("torch") == "not installed":
        print("\npip finds no CPU build of PyTorch for this Python; TORCH=torch installs the index's build, with CUDA.")

    suite = ElementTree.parse(results).getroot().find("testsuite")
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    print("\n" + ", ".join(f"{count} {name}" for name, count in counts.items()))
    for case in suite.iter("testcase"):
        for problem in (*case.iter("failure"), *case.iter("error")):
            message = (problem.get("message") or "").partition("\n")[0]
            print(f"  {case.get('classname')}::{case.get('name')}: {message[:200]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, requirements in (("oldest", oldest), ("newest", newest)):
        subparser = commands.add_parser(command)
        subparser.add_argument("--torch", metavar="REQUIREMENT", help="which PyTorch, instead of a build for the CPU")
        subparser.set_defaults(run=lambda options, f=requirements: print(*f(options.torch), sep="\n"))
    subparser = commands.add_parser("report")
    subparser.add_argument("results", type=Path)
    subparser.set_defaults(run=lambda options: report(options.results))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
