"""Libraries in processes of their own, and fair times of their works: rounds are interleaved, medians are kept."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

HERE = Path(__file__).parent

# For each work, the seconds of each worker.
Times = dict[str, dict[str, float]]


class Worker:
    """A process that runs a library one way: `name` is the library, or `LIBRARY-WAY`."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        command = [python, str(HERE / "worker.py"), name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        self.works: list[str] = json.loads(first) if first else []

    def ask(self, work: str, seconds: float = 0.0) -> Any:
        """The answer of the worker: seconds, bytes, or a sentence that says what went wrong."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(f"{work} {seconds}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        return json.loads(answer) if answer else "the process has ended"

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


class Workers:
    """The workers of one table, as a context; a library that is not installed is left out."""

    def __init__(self, names: Iterable[str], pythons: dict[str, str]) -> None:
        self.pythons = pythons
        self.running: dict[str, Worker] = {}
        for name in names:
            worker = self.fresh(name)
            if worker.works:
                self.running[name] = worker
            else:
                worker.close()
                print(f"{name} is not installed: left out", file=sys.stderr)

    def fresh(self, name: str) -> Worker:
        """A new process, with the Python of `.bench/LIBRARY` if there is one, else with this one."""
        library = name.partition("-")[0]
        own = HERE.parent / ".bench" / library / "bin" / "python"
        installed = str(own) if own.exists() and library != "gradtape" else sys.executable
        return Worker(name, self.pythons.get(library, installed))

    def time(self, works: list[str], rounds: int, seconds: float) -> Times:
        """The median time of each work in each worker that has it."""
        results: Times = {}
        for work in track(works, "measuring", console=Console(stderr=True)):
            samples: dict[str, list[float]] = {}
            failed: set[str] = set()
            for _ in range(rounds):
                for name, worker in self.running.items():
                    if work not in worker.works or name in failed:
                        continue
                    answer = worker.ask(work, seconds)
                    if isinstance(answer, str):
                        failed.add(name)
                        print(f"{name} failed at {work}: {answer}", file=sys.stderr)
                    else:
                        samples.setdefault(name, []).append(answer)
            results[work] = {name: statistics.median(values) for name, values in samples.items()}
        return results

    def first_answers(self, name: str, work: str, rounds: int) -> float | None:
        """The median of the first answers of `rounds` processes that have done nothing yet, None if one fails."""
        answers = []
        for _ in range(rounds if name in self.running else 0):
            worker = self.fresh(name)
            answers.append(worker.ask(work))
            worker.close()
        numbers = [answer for answer in answers if not isinstance(answer, str)]
        return statistics.median(numbers) if numbers and len(numbers) == len(answers) else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.running.values():
            worker.close()
