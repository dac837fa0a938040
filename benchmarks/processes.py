"""Libraries in processes of their own, and fair times of their works: interleaved rounds, and medians over them.

A machine's clock and its neighbours change within minutes, and within a second, by more than the libraries differ. So a
round is a short turn of each library, in random order, and the times of a round are divided by how slow the machine was
in it: by what all libraries took, compared with their medians. Where a process's arrays happen to lie makes a step up
to a tenth faster or slower, for as long as the process lives; so there are new processes after some rounds.
"""

from __future__ import annotations

import json
import os
import random
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAUSE = 0.005  # seconds before a turn, in which threads of the library before still wait busily for more to do
LIMIT = 100.0  # seconds that an answer may take, compilation included

# For each work, the seconds of each worker.
Times = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Options:
    """How to measure: what `run.py` was told."""

    works: list[str] = field(default_factory=list)  # all, if there are none
    rounds: int = 8
    seconds: float = 0.1
    peers: list[str] = field(default_factory=list)  # libraries beside gradtape; all, if there are none
    pythons: dict[str, str] = field(default_factory=dict)
    busy: bool = False  # others use the machine: one core, and processor time instead of the clock's

    def chosen(self, works: Iterable[str]) -> list[str]:
        """Those of the works that were asked for."""
        return [work for work in works if not self.works or work in self.works]

    def asked(self, worker: str) -> bool:
        """Whether a worker's library is gradtape or one of the peers that were asked for."""
        return not self.peers or worker.partition("-")[0] in ("gradtape", *self.peers)


def steadied(samples: dict[str, list[float]]) -> dict[str, float]:
    """The median of each list of times, one for each round, without what made all of a round slow."""
    usual = {name: statistics.median(times) for name, times in samples.items()}
    rounds = zip(*samples.values(), strict=True)
    slowness = [statistics.median(t / u for t, u in zip(times, usual.values(), strict=True)) for times in rounds]
    return {
        name: statistics.median(t / slow for t, slow in zip(times, slowness, strict=True))
        for name, times in samples.items()
    }


class Worker:
    """A process that runs a library one way: `name` is the library, or `LIBRARY-WAY`."""

    def __init__(self, name: str, options: Options) -> None:
        self.name, self.options = name, options
        self.works: list[str] = []
        self.start()

    def start(self) -> None:
        """Begins the process, with the Python of `.bench/LIBRARY` if there is one, else with this one."""
        library = self.name.partition("-")[0]
        own = HERE.parent / ".bench" / library / "bin" / "python"
        installed = str(own) if own.exists() and library != "gradtape" else sys.executable
        command = [self.options.pythons.get(library, installed), str(HERE / "worker.py"), self.name]
        environment = {**os.environ, "BENCHMARK_BUSY": "1" if self.options.busy else "0"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        self.works = json.loads(first) if first else []

    def ask(self, question: str, work: str = "-", seconds: float = 0.0) -> Any:
        """The answer of the worker, or a sentence that says what went wrong; a process that is lost begins anew."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(f"{question} {work} {seconds}\n".encode())
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], LIMIT)[0]:
                raise TimeoutError(f"no answer within {LIMIT:.0f} seconds")
            if not (answer := self.process.stdout.readline()):
                raise EOFError("the process has ended")
        except (OSError, EOFError) as error:
            self.renew()
            return str(error)
        return json.loads(answer)

    def renew(self) -> None:
        """Ends the process and begins a new one."""
        self.close()
        self.start()

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


class Workers:
    """The workers of one table, as a context; a library that is not installed is left out."""

    def __init__(self, names: Iterable[str], options: Options) -> None:
        self.options = options
        self.running: dict[str, Worker] = {}
        for name in filter(options.asked, names):
            worker = Worker(name, options)
            if worker.works:
                self.running[name] = worker
            else:
                worker.close()
                print(f"{name} is not installed: left out", file=sys.stderr)

    def time(self, works: Iterable[str], rounds_of_a_process: int, leave_out: Collection[tuple[str, str]]) -> Times:
        """The time of each work in each worker that has it, but for pairs to `leave_out`."""
        works = self.options.chosen(works)
        samples: dict[str, dict[str, list[float]]] = {
            work: {n: [] for n, w in self.running.items() if work in w.works and (n, work) not in leave_out}
            for work in works
        }
        numbers = range(self.options.rounds)
        starts = numbers[::rounds_of_a_process]
        for start in starts:
            for worker in self.running.values() if start else ():
                worker.renew()
            for place, work in enumerate(works, 1):
                rounds = numbers[start : start + rounds_of_a_process]
                told = f"{work}, {place} of {len(works)}, rounds {rounds[0] + 1} to {rounds[-1] + 1} of {len(numbers)}"
                print(told, file=sys.stderr, flush=True)
                for _ in rounds:
                    self.round(work, samples[work])
        return {work: steadied(times) for work, times in samples.items()}

    def round(self, work: str, samples: dict[str, list[float]]) -> None:
        """A turn of each worker, in random order; one that fails is told about and left out from then on."""
        for name in random.sample(list(samples), len(samples)):
            time.sleep(PAUSE)
            answer = self.running[name].ask("time", work, self.options.seconds)
            if isinstance(answer, str):
                del samples[name]
                print(f"{name} failed at {work}: {' '.join(answer.split())[:160]}", file=sys.stderr)
            else:
                samples[name].append(answer)

    def first_answers(self, names: Iterable[str], question: str, work: str = "-", times: int = 3) -> dict[str, float]:
        """The median of what processes answer that have done nothing yet; without those of whom one fails."""
        samples: dict[str, list[float]] = {name: [] for name in names if name in self.running}
        for _ in range(times):
            for name in list(samples):
                self.running[name].renew()
                answer = self.running[name].ask(question, work)
                if isinstance(answer, str):
                    del samples[name]
                else:
                    samples[name].append(answer)
        return {name: statistics.median(answers) for name, answers in samples.items()}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.running.values():
            worker.close()
