"""Libraries in processes of their own, and fair times of their works: interleaved rounds, and medians over them.

A machine's clock and its neighbours change within minutes, and within a second, by more than the libraries differ. So a
round is a few short turns of each library, in random order, and the times of one turn are divided by how slow the
machine was in it: by what all libraries took, compared with their medians. Where a process's arrays happen to lie makes
a step up to a tenth faster or slower, for as long as the process lives; so every few rounds there are new processes.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

HERE = Path(__file__).parent
ROUNDS_OF_A_PROCESS = 2
TURNS_OF_A_ROUND = 8
PAUSE = 0.005  # seconds before a turn, in which threads of the library before still wait busily for more to do

# For each work, the seconds of each worker.
Times = dict[str, dict[str, float]]


def steadied(samples: dict[str, list[float]]) -> dict[str, float]:
    """The median of each list of times, one for each turn, without what made all of a turn slow."""
    usual = {name: statistics.median(times) for name, times in samples.items()}
    turns = zip(*samples.values(), strict=True)
    slowness = [statistics.median(t / u for t, u in zip(times, usual.values(), strict=True)) for times in turns]
    return {
        name: statistics.median(t / slow for t, slow in zip(times, slowness, strict=True))
        for name, times in samples.items()
    }


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

    def renew(self) -> None:
        """Ends all processes and begins new ones."""
        for name, worker in self.running.items():
            worker.close()
            self.running[name] = self.fresh(name)

    def fresh(self, name: str) -> Worker:
        """A new process, with the Python of `.bench/LIBRARY` if there is one, else with this one."""
        library = name.partition("-")[0]
        own = HERE.parent / ".bench" / library / "bin" / "python"
        installed = str(own) if own.exists() and library != "gradtape" else sys.executable
        return Worker(name, self.pythons.get(library, installed))

    def time(self, works: list[str], rounds: int, seconds: float) -> Times:
        """The median time of each work in each worker that has it; a worker has so many `seconds` in each round."""
        samples: dict[str, dict[str, list[float]]] = {
            work: {name: [] for name, w in self.running.items() if work in w.works} for work in works
        }
        every = ROUNDS_OF_A_PROCESS * TURNS_OF_A_ROUND
        turns = [
            (work, number)
            for start in range(0, rounds * TURNS_OF_A_ROUND, every)
            for work in works
            for number in range(start, min(start + every, rounds * TURNS_OF_A_ROUND))
        ]
        for work, number in track(turns, "measuring", console=Console(stderr=True)):
            if number and number % every == 0 and work == works[0]:
                self.renew()
            for name in random.sample(list(samples[work]), len(samples[work])):
                time.sleep(PAUSE)
                answer = self.running[name].ask(work, seconds / TURNS_OF_A_ROUND)
                if isinstance(answer, str):
                    del samples[work][name]
                    print(f"{name} failed at {work}: {answer}", file=sys.stderr)
                else:
                    samples[work][name].append(answer)
        return {work: steadied(times) for work, times in samples.items()}

    def first_answers(self, names: Iterable[str], work: str, rounds: int) -> dict[str, float]:
        """The median of what processes answer that have done nothing yet; without those of whom one fails."""
        samples: dict[str, list[float]] = {name: [] for name in names if name in self.running}
        for _ in range(rounds):
            for name in list(samples):
                worker = self.fresh(name)
                answer = worker.ask(work)
                worker.close()
                if isinstance(answer, str):
                    del samples[name]
                else:
                    samples[name].append(answer)
        return steadied(samples)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.running.values():
            worker.close()
