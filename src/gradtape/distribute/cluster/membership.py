"""Rank, world size and coordinator address of this process, and the connection to the other processes of its job.

They are read from the environment variables of `gradtape launch`, TensorFlow's `TF_CONFIG`, SLURM or Open MPI, or
passed to `initialize`. No connection is opened and JAX is not imported before `initialize`; a single process needs
neither.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import inspect
import ipaddress
import json
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import types
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...core import errors
from ...core.extras import install_command
from ...core.locks import fork_safe_rlock
from ...core.tracebacks import own_places
from .channel import job_secret
from .coordination import Coordinator, Member

logger = logging.getLogger("gradtape")
TIMEOUT = 300.0  # seconds that ranks wait for each other
_MAX_TASKS = 1 << 20  # upper bound on the hosts or tasks that one SLURM range expands to


class ProcessIdentity(NamedTuple):
    """Rank and world size of this process in its job."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0  # among the processes of this host
    local_size: int = 1
    address: str = ""  # where rank 0 listens
    job: str = ""
    source: str = "alone"  # where the identity comes from, for error messages
    chooses_device: bool = False  # whether each process of a host uses one GPU, selected by local rank


def discover(environment: Mapping[str, str] = os.environ) -> ProcessIdentity:
    """Returns the identity from the first environment that defines one; the default is a single process."""
    for ask in (_job_of_launcher, _tf_config, _slurm, _open_mpi):
        found = ask(environment)
        if found is not None:
            if not 0 <= found.rank < found.size or not 0 <= found.local_rank < found.local_size <= found.size:
                raise ValueError(
                    f"{found.source} declares this process as {found.rank} of {found.size}, and {found.local_rank} of "
                    f"{found.local_size} on its host: a rank must be less than the number of processes, and a host "
                    "cannot have more processes than the job"
                )
            address = environment.get("GRADTAPE_COORDINATOR", found.address)
            if found.size > 1 and not address:
                raise ValueError(
                    f"{found.source} declares {found.size} processes, but not where they meet. Set "
                    "GRADTAPE_COORDINATOR to the host of rank 0 and a free port, such as node1:12345"
                )
            return found._replace(address=address)
    return ProcessIdentity()


def _job_of_launcher(environment: Mapping[str, str]) -> ProcessIdentity | None:
    if "GRADTAPE_RANK" not in environment:
        return None
    rank, size = (_number(environment, name) for name in ("GRADTAPE_RANK", "GRADTAPE_SIZE"))
    if not 0 <= rank < size:
        raise ValueError(f"GRADTAPE_RANK is {rank}, but must be from 0 to GRADTAPE_SIZE - 1, which is {size - 1}")
    local_rank, local_size = (_number(environment, f"GRADTAPE_LOCAL_{name}", other)
                              for name, other in (("RANK", rank), ("SIZE", size)))  # fmt: skip
    job = environment.get("GRADTAPE_JOB", "")
    return ProcessIdentity(rank, size, local_rank, local_size, "", job, "gradtape launch")


def _number(environment: Mapping[str, str], name: str, otherwise: int | None = None) -> int:
    text = environment.get(name, None if otherwise is None else str(otherwise))
    try:
        return int(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, and is {text!r}") from None


def _tf_config(environment: Mapping[str, str]) -> ProcessIdentity | None:
    tasks, kind, index = tf_config_tasks(environment)
    if (kind, index) not in tasks:
        return None
    addresses = list(tasks.values())
    check_hosts([_host(address) for address in addresses])
    rank = list(tasks).index((kind, index))
    host = _host(addresses[rank])
    local = [at for at, address in enumerate(addresses) if _host(address) == host]
    # All workers compute the same job name from the cluster specification.
    job = ",".join(addresses)
    return ProcessIdentity(rank, len(tasks), local.index(rank), len(local), addresses[0], job, "TF_CONFIG", True)


def tf_config_tasks(environment: Mapping[str, str]) -> tuple[dict[tuple[str, int], str], str, int]:
    """Returns the addresses of the training tasks of `TF_CONFIG`, chief first, and the type and index of this task."""
    text = environment.get("TF_CONFIG", "").strip()
    if not text:
        return {}, "", 0
    try:
        config = json.loads(text)
        jobs, task = config.get("cluster") or {}, config.get("task") or {}
        kind, index = task.get("type") or "", int(task.get("index") or 0)
        if not isinstance(kind, str):
            raise TypeError(f"the type of a task is a string, got {kind!r}")
        tasks = {}
        for name in ("chief", "master", "worker"):
            given = jobs.get(name) or []
            numbered = given.items() if isinstance(given, dict) else enumerate(given)
            tasks.update({(name, int(number)): _address(address) for number, address in numbered})
    except (ArithmeticError, AttributeError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"TF_CONFIG is invalid, {text!r}: {error}") from error
    if tasks and kind in ("chief", "master", "worker") and (kind, index) not in tasks:
        raise ValueError(f"TF_CONFIG declares this task as {kind} {index}, which is not in its cluster: {list(tasks)}")
    return tasks, kind, index


def _address(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"an address is a string such as node1:12345, got {value!r}")
    return value


def _host(address: str) -> str:
    return address.rpartition(":")[0]


def check_hosts(hosts: Sequence[str]) -> None:
    """Raises if the host of rank 0, the first, is `localhost` to all: that is another host for each of them."""
    others = [host for host in hosts if not _means_this_host(host)]
    if others and _means_this_host(hosts[0]):
        raise ValueError(
            f"rank 0 runs on {hosts[0]}, which is another host for each process, and others run on "
            f"{', '.join(sorted(set(others)))}. Name rank 0's host by an address that the others reach"
        )


def _means_this_host(host: str) -> bool:
    """Whether `host` is a loopback address or `localhost`, on whatever host it is read."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _resolves_to_loopback(host: str) -> bool:
    """Whether `host` is a loopback address here, as the own name of a host is by default on Debian and Ubuntu."""
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    except (OSError, UnicodeError):
        return False


def _slurm(environment: Mapping[str, str]) -> ProcessIdentity | None:
    if not {"SLURM_JOB_ID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NODELIST"} <= set(environment):
        return None
    rank, size = _number(environment, "SLURM_PROCID"), _number(environment, "SLURM_NTASKS")
    local_rank = _number(environment, "SLURM_LOCALID", 0)
    names = ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
    counts = slurm_tasks_per_node(next((environment[name] for name in names if name in environment), ""))
    node = _number(environment, "SLURM_NODEID", 0)
    # Without the step's variable, the counts are those of the whole job and may exceed those of the step.
    local_size = min(counts[node] if 0 <= node < len(counts) else local_rank + 1, size)
    host = slurm_hosts(environment["SLURM_STEP_NODELIST"])[0]
    job = f"{environment['SLURM_JOB_ID']}.{environment.get('SLURM_STEP_ID', '0')}"
    address = f"{host}:{_port_for(job)}"
    return ProcessIdentity(rank, size, local_rank, local_size, address, f"SLURM {job}", "SLURM", True)


def slurm_hosts(text: str) -> list[str]:
    """Expands a SLURM host list: `a1,b[01-03,7]` becomes `["a1", "b01", "b02", "b03", "b7"]`."""
    hosts: list[str] = []
    for name, inside, after in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?([^,\[\]]*)", text):
        for part in inside.split(",") if inside else [""]:
            first, _, last = part.partition("-")
            if not last:
                hosts.append(name + part + after)
            else:
                if not first.isdecimal() or not last.isdecimal() or not 0 <= int(last) - int(first) < _MAX_TASKS:
                    raise ValueError(f"{part!r} in the list of SLURM's hosts {text!r} is no range of numbers")
                numbers = range(int(first), int(last) + 1)
                hosts += [f"{name}{number:0{len(first)}}{after}" for number in numbers]
    if not hosts:
        raise ValueError(f"the list of SLURM's hosts is {text!r}")
    return hosts


def slurm_tasks_per_node(text: str) -> list[int]:
    """Expands SLURM's run-length notation: `2(x3),1` becomes `[2, 2, 2, 1]`."""
    counts = re.findall(r"(\d+)(?:\(x(\d+)\))?", text)
    if sum(int(times or 1) for _, times in counts) > _MAX_TASKS:
        raise ValueError(f"SLURM's tasks per node are {text!r}: these are too many nodes")
    return [int(count) for count, times in counts for _ in range(int(times or 1))]


def _open_mpi(environment: Mapping[str, str]) -> ProcessIdentity | None:
    if "OMPI_COMM_WORLD_RANK" not in environment:
        return None
    rank, size, local_rank, local_size = (
        _number(environment, f"OMPI_COMM_WORLD_{name}", other)
        for name, other in (("RANK", None), ("SIZE", None), ("LOCAL_RANK", 0), ("LOCAL_SIZE", 1))
    )
    names = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri")
    job = next((environment[name] for name in names if name in environment), "")
    # By default, rank 0 runs on the host of mpirun.
    found = re.search(r"tcp://([^,:;]+)", environment.get("OMPI_MCA_orte_hnp_uri", ""))
    host = "127.0.0.1" if local_size == size else found.group(1) if found else ""
    address = f"{host}:{_port_for(job)}" if host else ""
    return ProcessIdentity(rank, size, local_rank, local_size, address, f"Open MPI {job}", "Open MPI", True)


def _port_for(job: str) -> int:
    """Returns a port derived from the job name, so that all processes of the job choose the same one."""
    return 61440 + zlib.crc32(job.encode()) % 4096


class _State:
    """Connection state of this process."""

    identity: ProcessIdentity | None = None
    member: Member | None = None
    coordinator: Coordinator | None = None
    exit_code: int | None = None  # exit code of the program, if known


_state = _State()
_starting = fork_safe_rlock()


def identity() -> ProcessIdentity:
    """Returns the identity of this process; reads the environment at the first call."""
    if _state.identity is None:
        _state.identity = discover()
    return _state.identity


def timeout() -> float:
    """Returns the number of seconds that ranks wait for each other."""
    return float(os.environ.get("GRADTAPE_TIMEOUT", TIMEOUT))


def initialize(
    address: str | None = None, size: int | None = None, rank: int | None = None, local_rank: int | None = None
) -> ProcessIdentity:
    """Joins the other processes and starts JAX's distributed runtime. Idempotent; a single process connects nothing."""
    with _starting:
        given: dict[str, Any] = {"address": address, "size": size, "rank": rank, "local_rank": local_rank}
        named = {name: value for name, value in given.items() if value is not None}
        if named:
            if size is not None and size > 1 and (rank is None or not address):
                raise ValueError(f"Several processes need size, rank and address, got {named}")
            base = ProcessIdentity(source="the program") if "size" in named else discover()
            _become(base._replace(**named))
        me = identity()
        if me.size > 1 and _state.member is None:
            _join(me)
        return me


def _become(me: ProcessIdentity) -> None:
    if not 0 <= me.rank < me.size:
        raise ValueError(f"rank must be from 0 to size - 1, which is {me.size - 1}, got {me.rank}")
    if _state.member is not None and _state.identity != me:
        raise RuntimeError(f"This process is {_state.identity} already, and cannot become {me}")
    _state.identity = me


def member() -> Member:
    """Returns the connection to the coordinator; joins the job first if necessary."""
    initialize()
    assert _state.member is not None
    return _state.member


def is_initialized() -> bool:
    """Returns whether this process has joined the others."""
    return _state.member is not None


def _join(me: ProcessIdentity) -> None:
    host, _, port = me.address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"The address of rank 0 must be host:port, got {me.address!r} from {me.source}")
    wait, secret = timeout(), job_secret()
    interface = os.environ.get("GRADTAPE_INTERFACE") or host
    if me.rank == 0:
        if me.size > me.local_size and not _means_this_host(host) and _resolves_to_loopback(interface):
            raise errors.UnavailableError(
                f"rank 0 would listen at {interface}, a loopback address on this host, "
                "which no other host reaches: on Debian and Ubuntu, /etc/hosts resolves the host's own name so. Name "
                "the hosts by their IP addresses, or set GRADTAPE_INTERFACE on this host to the IP address by which "
                "the others reach it"
            )
        _state.coordinator = Coordinator(_listening(interface, int(port)), me.size, me.job, secret, wait)
    launched = "GRADTAPE_LAUNCHED" in os.environ
    # A name that is a loopback address here names this host, where rank 0 listens at the interface alone.
    here = me.rank == 0 or (_resolves_to_loopback(host) and not _means_this_host(host))
    reached_at = interface if here and interface != "0.0.0.0" else host
    joined = Member(me.rank, me.size, (reached_at, int(port)), me.job, secret, wait, launched)
    try:
        _start_jax(me, joined, reached_at, interface)
    except BaseException as error:
        joined.leave(_describe_error(error))
        raise
    _state.member = joined
    before, process = sys.excepthook, os.getpid()

    def tell(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if joined.failed:
            _leave_out_gradtape(trace)
        before(kind, error, trace)
        if os.getpid() != process:  # a child forked from a rank is not a rank
            return
        joined.leave(_describe_error(error))
        _end(1)

    sys.excepthook = tell
    atexit.register(_leave, joined, process)


def _leave_out_gradtape(trace: types.TracebackType | None) -> None:
    """Truncates a traceback at the call into gradtape: frames below it do not explain a failure of another rank."""
    own = own_places()
    while trace is not None and trace.tb_next is not None:
        inside = trace.tb_next.tb_frame.f_code.co_filename.startswith(own)
        if inside and not trace.tb_frame.f_code.co_filename.startswith(own):
            trace.tb_next = None
        trace = trace.tb_next


def _describe_error(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}{': ' + text[0][:300] if text else ''}"


def _listening(interface: str, port: int) -> socket.socket:
    """Opens a listening socket on the one interface that the other processes connect to, and on no other."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((interface, port))
    except OSError as error:
        listener.close()
        raise errors.UnavailableError(
            f"rank 0 cannot listen at {interface}:{port}: {error}. Is another job using this port? If the other "
            "processes reach this host by a name or address that is not its own (through NAT, say), set "
            "GRADTAPE_INTERFACE to the address of the interface to listen at"
        ) from error
    listener.listen(4096)
    return listener


def _start_jax(me: ProcessIdentity, joined: Member, host: str, interface: str) -> None:
    try:
        import jax
    except ImportError as error:
        raise ImportError(f"Several processes need JAX for communication: {install_command('xla')}") from error
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # Run each program on the calling thread. With asynchronous dispatch, a collective called from a callback of another
    # program would wait for a pool thread that the other program holds.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    jax.config.update("jax_enable_preemption_service", False)  # it would keep SIGTERM from ending the process
    _set_gloo_address(joined.own_address)
    patience = int(2 * joined.timeout + 60)  # `Coordinator` detects failures first and reports them in more detail
    try:
        with _jax_addresses(joined, host, interface) as (address, bind_address):
            jax.distributed.initialize(
                address, me.size, me.rank, coordinator_bind_address=bind_address,
                local_device_ids=[me.local_rank] if me.chooses_device and me.local_size > 1 else None,
                cluster_detection_method="deactivate", initialization_timeout=int(joined.timeout) + 1,
                heartbeat_timeout_seconds=patience, shutdown_timeout_seconds=patience,
            )  # fmt: skip
    except RuntimeError as error:
        if "before any JAX calls" not in str(error):
            raise
        raise RuntimeError(
            "JAX has computed in this process before it joined the others. Call gradtape.distribute.init(), or create "
            "the strategy, at the start of the program, or start it with `gradtape launch`"
        ) from error


def _set_gloo_address(address: str) -> None:
    """Makes gloo listen at `address`: the one from which this process has reached rank 0.

    JAX has no option for it and lets gloo listen at whatever the name of the host resolves to: a loopback address on
    Debian and Ubuntu. Without these two private functions of JAX, gloo does so, too.
    """
    from jax._src import distributed, xla_bridge
    from jax.extend import backend
    from jaxlib import _jax

    make_client = getattr(xla_bridge, "make_cpu_client", None)
    make_collectives = getattr(_jax, "make_gloo_tcp_collectives", None)
    if not (make_client and make_collectives and "collectives" in inspect.signature(make_client).parameters):
        own_name = socket.gethostname()
        if not ipaddress.ip_address(address).is_loopback and _resolves_to_loopback(own_name):
            raise errors.UnavailableError(
                f"This version of JAX lets gloo listen only at the address of this host's name, {own_name}: a loopback "
                f"address, which no other host reaches. Map the name to {address} in /etc/hosts"
            )
        return

    def make() -> Any:
        client = distributed.global_state.client
        return make_client(collectives=make_collectives(distributed_client=client, hostname=address))

    backend.register_backend_factory("cpu", make, fail_quietly=False)


@contextlib.contextmanager
def _jax_addresses(joined: Member, host: str, interface: str) -> Iterator[tuple[str, str]]:
    """Context manager for the start of JAX's service: yields the addresses to connect to and to listen at.

    The service authenticates nobody. If all ranks can open a unix socket in a folder that only this user may enter, the
    service listens there, until all have connected; then the folder is deleted. Otherwise it listens at a TCP port.
    """
    with contextlib.ExitStack() as stack:
        port, probe = None, None
        if joined.rank == 0:
            with socket.socket() as free:
                free.bind((interface, 0))
                port = free.getsockname()[1]
            probe = _private_socket(stack)
        offers = joined.call("address of JAX", [port, probe and probe.getsockname()], wait=True)
        assert offers is not None
        port, path = offers[0]
        reached = joined.call("socket of JAX", _reaches(path), wait=True)
        assert reached is not None
        if probe is not None:
            probe.close()
            os.unlink(path)
        if all(reached):
            yield f"unix:{path}", f"unix:{path}"
            joined.call("start of JAX", wait=True)
        else:
            yield f"{host}:{port}", f"{interface}:{port}"


def _private_socket(stack: contextlib.ExitStack) -> socket.socket | None:
    """Returns a listening socket in a new folder of mode 0700, both until `stack` ends; None if there cannot be one."""
    for parent in (None, "/tmp"):  # the path of the user's temporary files may exceed Linux's limit of 107 bytes
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gradtape-", dir=parent))
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(os.path.join(folder, "jax"))
            listener.listen(4096)
        except (AttributeError, OSError):  # also on platforms without unix sockets
            continue
        return listener
    return None


def _reaches(path: str | None) -> bool:
    """Returns whether this process can connect to the unix socket at `path`: it runs on the same host."""
    if path is None:
        return False
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
    except (AttributeError, OSError):
        return False
    return True


def _leave(joined: Member, process: int) -> None:
    """Leaves the job at exit. After a failure it skips JAX's shutdown, which would wait for dead processes."""
    if os.getpid() != process:
        return
    code = _state.exit_code
    if code:
        joined.leave(f"exit code {code}")
        _end(code)
    joined.leave()
    if joined.failed:
        _end(1)


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)


def run_as_rank(program: Callable[[], None]) -> None:
    """Runs a program started by `gradtape launch` as a rank: joins the job before the program's first line."""
    _end_with_launcher()
    initialize()
    try:
        program()
    except SystemExit as end:
        _state.exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


def _end_with_launcher() -> None:
    """Makes Linux send SIGTERM to this process when the launcher dies, even by SIGKILL."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))  # PR_SET_PDEATHSIG
