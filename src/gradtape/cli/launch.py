"""`gradtape launch`: runs a program as several connected processes that end together.

The launcher assigns each process its rank and its share of the cores, forwards its output and monitors it. When a
process fails, or the user interrupts, the launcher terminates the others. Each process detects failures as well
(`distribute/cluster/coordination.py`), so that processes on other hosts, under other launchers, also end.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

_PATIENCE = 5.0  # seconds between SIGTERM and SIGKILL
# Connection messages of gloo and JAX; the ranks report the same more clearly.
_NOISE = re.compile(
    r"\[Gloo\] Rank \d+ is connected to |[EFWI]\d{4} .*(coordination_service|preemption_sync|client\.h:\d+\])"
    r"|Additional GRPC error information from remote|:UNKNOWN:Error received from peer"
)
_CRASH = re.compile(r"\*\*\* Check failure stack trace|\s+@ +0x")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC")


class Job(NamedTuple):
    """The program to run, the hosts and the number of processes."""

    program: Sequence[str]  # the arguments of `gradtape run`
    processes: int | None = None  # on this host
    hosts: Sequence[str] = ()
    rank: int = 0  # index of this host
    port: int | None = None
    timeout: float | None = None
    restarts: int = 0
    bind: bool = True  # whether to bind each process to its share of the cores
    task_on_host: int = 0  # index of this launcher among those of its host
    tasks_on_host: int = 1


class _Child:
    """A process and the threads that forward its output."""

    def __init__(self, rank: int, process: subprocess.Popen[bytes], prefix: str, quiet: threading.Event) -> None:
        self.rank, self.process = rank, process
        self._prefix, self._quiet = prefix, quiet
        self._threads = [
            threading.Thread(target=self._pass_on, args=pair, daemon=True)
            for pair in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def _pass_on(self, source: IO[bytes], target: IO[str]) -> None:
        for line in source:
            text = line.decode(errors="replace").rstrip("\r\n")
            if _NOISE.match(text) or (self._quiet.is_set() and _CRASH.match(text)):
                continue
            with contextlib.suppress(BrokenPipeError, ValueError):
                target.write(f"{self._prefix}{text}\n")
                target.flush()

    def drain(self) -> None:
        """Waits until all output is forwarded."""
        for thread in self._threads:
            thread.join(1.0)


def launch(job: Job) -> int:
    """Runs the program, restarting it after failures if allowed; returns the exit code of the first failed process."""
    job = _from_environment(job)
    for attempt in range(job.restarts + 1):
        code = _run_once(job, attempt)
        if code in (0, 128 + signal.SIGINT, 128 + signal.SIGTERM):
            return code
        if attempt < job.restarts:
            _say(f"restart {attempt + 1} of {job.restarts}")
    return code


def _from_environment(job: Job) -> Job:
    """Fills in a job for which SLURM, Open MPI or TF_CONFIG has started one launcher per task."""
    if job.hosts or job.processes is not None:
        return job
    from gradtape.distribute.cluster import membership as cluster

    found = cluster.discover({k: v for k, v in os.environ.items() if not k.startswith("GRADTAPE_RANK")})
    if found.size == 1:
        return job._replace(processes=len(_gpus()) or 1)
    host, _, port = found.address.rpartition(":")
    return job._replace(
        processes=1, hosts=[host] * found.size, rank=found.rank, port=int(port),
        task_on_host=found.local_rank, tasks_on_host=found.local_size,
    )  # fmt: skip


def _run_once(job: Job, attempt: int) -> int:
    """Runs all processes of this host once."""
    count = job.processes or 1
    hosts = max(1, len(job.hosts))
    address = f"{job.hosts[0].partition(':')[0] if job.hosts else '127.0.0.1'}:{_port(job, attempt)}"
    shared = {
        "GRADTAPE_SIZE": str(count * hosts), "GRADTAPE_COORDINATOR": address, "GRADTAPE_LAUNCHED": str(os.getpid()),
        "GRADTAPE_JOB": f"{','.join(job.hosts)} {attempt}" if job.hosts else secrets.token_hex(8),
        "GRADTAPE_LOCAL_SIZE": str(count * job.tasks_on_host), "GRADTAPE_RESTART": str(attempt),
        "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    if len(job.hosts) < 2:  # the launchers of several hosts must share it: see `job_secret`
        shared["GRADTAPE_SECRET"] = secrets.token_hex(32)
    if job.timeout is not None:
        shared["GRADTAPE_TIMEOUT"] = str(job.timeout)
    quiet = threading.Event()
    children: list[_Child] = []
    width = len(str(count * hosts - 1))
    with _signals() as interrupted:
        try:
            for local in range(count):
                rank = job.rank * count + local
                place = job.task_on_host * count + local, count * job.tasks_on_host  # among the processes of the host
                own = {"GRADTAPE_RANK": str(rank), "GRADTAPE_LOCAL_RANK": str(place[0])}
                with _share_of_cores(*((local, count) if _has_own_cores() else place), job.bind) as cores:
                    process = subprocess.Popen(
                        [sys.executable, "-m", "gradtape", "run", *job.program],
                        env={**os.environ, **_threads(cores), **shared, **own, **_gpu(*place)},
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        start_new_session=True,
                    )  # fmt: skip
                children.append(_Child(rank, process, f"[{rank:{width}}] " if count * hosts > 1 else "", quiet))
            return _watch(children, interrupted, quiet)
        finally:
            _end(children)


def _watch(children: list[_Child], interrupted: list[int], quiet: threading.Event) -> int:
    """Waits until all processes end, one fails or the user interrupts; returns the exit code."""
    began = time.monotonic()
    while not interrupted:
        codes = [child.process.poll() for child in children]
        failed = [child for child, code in zip(children, codes, strict=True) if code]
        if failed:
            quiet.set()
            # If several have ended, one that was killed is the cause: the others reacted to it.
            first = min(failed, key=lambda child: (child.process.returncode or 0) not in (-9, -11, -4, -8, -7))
            first.drain()
            others = [child for child in children if child.process.poll() is None]
            _say(
                f"rank {first.rank} {_ending(first)} after {time.monotonic() - began:.1f} s"
                + (f"; the other {len(others)} {'are' if len(others) > 1 else 'is'} ended" if others else "")
            )
            return _exit_code(first.process.returncode)
        if all(code == 0 for code in codes):
            for child in children:
                child.drain()
            return 0
        time.sleep(0.02)
    _say(f"{signal.Signals(interrupted[0]).name}: all processes are ended")
    quiet.set()
    return 128 + interrupted[0]


def _ending(child: _Child) -> str:
    code = child.process.returncode
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _exit_code(code: int) -> int:
    return 128 - code if code < 0 else code


def _end(children: list[_Child]) -> None:
    """Sends SIGTERM to the running processes, then SIGKILL to their process groups."""
    running = [child for child in children if child.process.poll() is None]
    for child in running:
        _signal(child, signal.SIGTERM)
        _signal(child, signal.SIGCONT)  # a stopped process cannot handle SIGTERM
    limit = time.monotonic() + _PATIENCE
    for child in running:
        try:
            child.process.wait(max(0.0, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        _signal(child, signal.SIGKILL)
        child.process.wait()
    for child in children:
        child.drain()


def _signal(child: _Child, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.process.pid, number)


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Context manager: collects SIGINT, SIGTERM and SIGHUP in a list instead of handling them."""
    noted: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda got, _: noted.append(got)) for number in numbers}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _share_of_cores(local: int, count: int, bind: bool) -> Iterator[int]:
    """Context manager: binds this process, and so its child, to one of `count` shares of the cores; yields its size."""
    if not hasattr(os, "sched_getaffinity"):
        yield max(1, (os.cpu_count() or 1) // count)
        return
    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // count)
    if not bind or count == 1 or count > len(cores):
        yield each if count > 1 else len(cores)
        return
    os.sched_setaffinity(0, cores[local * each : (local + 1) * each])
    try:
        yield each
    finally:
        os.sched_setaffinity(0, cores)


def _has_own_cores() -> bool:
    """Whether this launcher is bound to some of the host's cores, as SLURM binds its tasks."""
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) < (os.cpu_count() or 1)


def _threads(cores: int) -> dict[str, str]:
    """Sets the threads of BLAS and XLA to the number of cores, unless the user has chosen."""
    return {name: os.environ.get(name, str(cores)) for name in _THREADS}


def _gpus() -> list[str]:
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name for name in chosen.split(",") if name.strip() not in ("", "-1")]
    try:
        with os.scandir("/proc/driver/nvidia/gpus") as found:
            return [str(number) for number, _ in enumerate(found)]
    except OSError:
        return []


def _gpu(local: int, count: int) -> Mapping[str, str]:
    """Assigns one GPU to each process, if there are enough."""
    found = _gpus()
    return {"CUDA_VISIBLE_DEVICES": found[local]} if 1 < count <= len(found) else {}


def _port(job: Job, attempt: int) -> int:
    """Returns the port of rank 0: a free one on this host, or a fixed one that all launchers agree on."""
    if job.port is not None:
        return job.port + attempt
    if len(job.hosts) > 1:
        return 29400 + attempt
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _say(text: str) -> None:
    print(f"gradtape launch: {text}", file=sys.stderr, flush=True)
