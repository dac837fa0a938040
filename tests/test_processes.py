"""Several processes: ranks, collectives, and how they end when one of them fails."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from launching import launched, script

import gradtape as tf
from gradtape.core import errors
from gradtape.distribute.cluster import coordination
from gradtape.distribute.cluster import membership as cluster
from gradtape.distribute.cluster.channel import AuthenticationError, Channel, job_secret
from gradtape.distribute.cluster.coordination import Coordinator, Member

pytestmark = pytest.mark.several

SECRET = b"the secret of a test"

# Ranks.

CLUSTER = {"chief": ["a:1"], "worker": ["a:2", "b:2"], "ps": ["c:1"]}
CONFIG = {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}}
SLURM = {
    "SLURM_JOB_ID": "7", "SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1", "SLURM_NODEID": "1",
    "SLURM_STEP_NODELIST": "n[07-08]", "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
}  # fmt: skip
MPI = {
    f"OMPI_COMM_WORLD_{name}": n for name, n in {"RANK": "1", "SIZE": "2", "LOCAL_RANK": "1", "LOCAL_SIZE": "2"}.items()
}
LAUNCHED = {"GRADTAPE_RANK": "1", "GRADTAPE_SIZE": "2", "GRADTAPE_COORDINATOR": "a:1"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, 1, 0, 1, "")),
        (LAUNCHED, (1, 2, 1, 2, "a:1")),
        ({"TF_CONFIG": json.dumps(CONFIG)}, (2, 3, 0, 1, "a:1")),
        ({"TF_CONFIG": json.dumps({**CONFIG, "task": {"type": "evaluator", "index": 0}})}, (0, 1, 0, 1, "")),
        ({"TF_CONFIG": "{}"}, (0, 1, 0, 1, "")),
        (SLURM, (3, 4, 1, 2, "n07:62343")),
        ({**SLURM, "GRADTAPE_COORDINATOR": "n07:9"}, (3, 4, 1, 2, "n07:9")),
        (MPI, (1, 2, 1, 2, "127.0.0.1:61440")),
    ],
)
def test_the_environment_says_who_a_process_is(environment, expected):
    assert cluster.discover(environment)[:5] == expected


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"TF_CONFIG": "{"}, "TF_CONFIG is invalid"),
        ({"TF_CONFIG": json.dumps({**CONFIG, "task": {"type": "worker", "index": 5}})}, "worker 5, which is not in"),
        ({"GRADTAPE_RANK": "2", "GRADTAPE_SIZE": "2"}, "from 0 to GRADTAPE_SIZE - 1"),
        ({"GRADTAPE_RANK": "x", "GRADTAPE_SIZE": "2"}, "GRADTAPE_RANK must be a number"),
        ({"GRADTAPE_RANK": "0", "GRADTAPE_SIZE": "2"}, "not where they meet. Set GRADTAPE_COORDINATOR"),
    ],
)
def test_what_makes_no_sense_is_said(environment, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        cluster.discover(environment)


def test_workers_of_tf_config_and_resolvers():
    resolvers = tf.distribute.cluster_resolver
    spec = tf.train.ClusterSpec(CLUSTER)
    simple = resolvers.SimpleClusterResolver(spec, task_type="worker", task_id=1, rpc_layer="grpc")
    assert simple.master("worker", 0) == "grpc://a:2" and simple.task_id == 1
    code = f"""
import os, json
os.environ["TF_CONFIG"] = json.dumps({CONFIG})
import gradtape as tf
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 1, "b:2")
assert resolver.cluster_spec().as_dict() == {CLUSTER}
assert (tf.distribute.rank(), tf.distribute.size()) == (2, 3)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(TypeError, match=r"must be a `tf.train.ClusterSpec`"):
        resolvers.SimpleClusterResolver({"worker": []})
    with pytest.raises(ValueError, match="implementation must be one of AUTO, RING, NCCL"):
        tf.distribute.experimental.CommunicationOptions(implementation="MPI")


def test_lists_of_slurm():
    assert cluster.slurm_hosts("a1,b[01-03,7],c[9-10]x") == ["a1", "b01", "b02", "b03", "b7", "c9x", "c10x"]
    assert cluster.slurm_tasks_per_node("2(x3),1") == [2, 2, 2, 1]


def test_alone_everything_is_what_it_was_and_jax_is_not_needed():
    code = """
import sys, gradtape as tf
hvd = tf.distribute
hvd.init()
x = tf.constant([1.0, 2.0])
slices = tf.IndexedSlices(x, tf.constant([0, 1]), tf.constant([4]))
found = hvd.all_reduce({"a": x, "b": None, "c": [slices]})
assert found["a"].numpy().tolist() == [1.0, 2.0] and found["b"] is None and found["c"][0] is slices
assert hvd.allgather(x) is x and hvd.broadcast(x, 0) is x and hvd.allreduce(3.0, op=hvd.Sum).numpy() == 3.0
hvd.barrier(), hvd.broadcast_variables([tf.Variable(1.0)], 0)
assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), hvd.broadcast_object([1])) == (0, 1, 0, 1, [1])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = hvd.allreduce(x * x)
assert hvd.DistributedGradientTape(tape).gradient(y, x).numpy().tolist() == [2.0, 4.0]
assert "jax" not in sys.modules
"""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTAPE_", "TF_CONFIG"))}
    subprocess.run([sys.executable, "-c", code], check=True, env=clean)


def test_bad_arguments():
    hvd, x = tf.distribute, tf.constant([1.0])
    with pytest.raises(ValueError, match="op must be one of sum, mean"):
        hvd.all_reduce([x], op="median")
    with pytest.raises(ValueError, match="compression must be None, 'fp16' or 'bf16'"):
        hvd.DistributedGradientTape(tf.GradientTape(), compression="zip")
    with pytest.raises(ValueError, match="provide only one"):
        hvd.allreduce(x, average=True, op=hvd.Sum)
    with pytest.raises(TypeError, match="wants a GradientTape, got float"):
        hvd.DistributedGradientTape(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a scalar has none"):
        hvd.allgather(1.0)
    with pytest.raises(ValueError, match="root_rank must be from 0 to size - 1"):
        hvd.broadcast(x, 1)


# The coordinator, with ranks as threads of this process.


def meeting(size, timeout, act, job=lambda rank: "job", count=None, secret=lambda rank: SECRET, disturb=None):
    """Returns the result or exception of `act(member)` at each rank; `disturb(address)` runs meanwhile."""
    listener = socket.create_server(("127.0.0.1", 0))
    coordinator = Coordinator(listener, size, "job", SECRET, timeout)
    found = {}

    def run(rank):
        try:
            member = Member(rank, size, listener.getsockname(), job(rank), secret(rank), timeout, launched=False)
            member._enforce = lambda text: None  # these ranks share one process
            found[rank] = act(member)
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size if count is None else count)]
    for number, thread in enumerate(threads):
        if number == 1 and disturb is not None:
            disturb(listener.getsockname())
        thread.start()
    for thread in threads:
        thread.join(20)
    coordinator.close()
    return found


def test_values_are_exchanged_in_order():
    def act(member):
        first = member.call("a", member.rank * 10, wait=True)
        return first, member.call("b"), member.call("b", member.rank, wait=True)

    assert set(map(str, meeting(3, 5, act).values())) == {"([0, 10, 20], [None, None, None], [0, 1, 2])"}


def test_ranks_that_call_different_things_are_told_which():
    def act(member):
        member.call("all_reduce; mean; float32[2]", wait=True)
        member.call(f"all_reduce; mean; float32[{2 + (member.rank == 2)}]", wait=True)

    found = meeting(3, 5, act)
    assert {type(error) for error in found.values()} == {errors.InvalidArgumentError}
    assert len({str(error) for error in found.values()}) == 1
    assert re.search(r"collective 2: all_reduce: float32\[[23]\] at rank", str(found[0])) and "rank 2" in str(found[0])


def test_a_rank_that_does_not_come_is_named():
    def act(member):
        member.call("first", wait=True)
        if member.rank == 1:
            time.sleep(2)
        member.call("second", wait=True)

    found = meeting(2, 0.3, act)
    assert type(found[0]) is errors.DeadlineExceededError
    said = "rank 1 did not arrive within 0.3 s, while rank 0 waits in collective 2, second. rank 1 is at "
    assert str(found[0]).startswith(said)


def test_a_rank_that_does_not_start_is_named():
    found = meeting(3, 0.5, lambda member: None, count=2)
    assert [str(error) for error in found.values()] == ["rank 2 of 3 did not start within 0.5 s"] * 2


def test_a_rank_that_ends_early_or_dies_is_named():
    def act(member):
        member.call("first", wait=True)
        if member.rank == 1:
            return member._channel.socket.shutdown(socket.SHUT_RDWR)
        member.call("second", wait=True)

    assert "died without reporting an error, after 1 collectives" in str(meeting(2, 5, act)[0])

    def leave(member):
        member.call("first", wait=True)
        if member.rank == 1:
            return member.leave()
        member.call("second", wait=True)

    assert "rank 1 reached the end of the program, while rank 0 waits in collective 2" in str(meeting(2, 5, leave)[0])


def test_a_process_of_another_job_is_turned_away():
    found = meeting(2, 1, lambda member: None, job=lambda rank: "job" if rank == 0 else "other")
    assert "belongs to the job 'other', but this is 'job'" in str(found[1])
    assert "rank 1 of 2 did not start" in str(found[0])


def say(address, data):
    """Sends bytes without authentication, and returns the coordinator's answer until it closes the connection."""
    with socket.create_connection(address, timeout=10) as connection:
        answer = connection.recv(1 << 16)
        connection.sendall(data)
        with contextlib.suppress(ConnectionResetError):  # it was closed before everything was read
            while received := connection.recv(1 << 16):
                answer += received
        return answer


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n", b"\n", b"{}\n", b"null\n" * 100, b"\xff" * 70_000,
        b"0" * 32 + b"\n" + b"0" * 64 + b"{}\n",
        b"0" * 32 + b'\n{"hello": 0, "size": 2, "job": "job", "pid": 1, "host": "h"}\n',
    ],
)  # fmt: skip
def test_strangers_change_nothing(data):
    """The coordinator sends them only its nonce, closes the connection, and the job continues."""
    answers = []
    found = meeting(
        2, 10, lambda member: member.call("a", member.rank, wait=True), disturb=lambda at: answers.append(say(at, data))
    )
    assert set(map(str, found.values())) == {"[0, 1]"}
    assert len(answers[0].strip()) == 32


def test_a_stranger_that_says_nothing_does_not_delay_the_job(monkeypatch):
    monkeypatch.setattr(coordination, "_STRANGER_SECONDS", 0.3)
    found = meeting(
        2, 10, lambda member: member.call("a", member.rank, wait=True), disturb=lambda at: say(at, b"")
    )  # `say` returns when the coordinator has closed the connection
    assert set(map(str, found.values())) == {"[0, 1]"}


def test_a_process_with_another_secret_is_turned_away():
    found = meeting(2, 1, lambda member: None, secret=lambda rank: SECRET if rank == 0 else b"another secret")
    assert "closed the connection before it accepted rank 1" in str(found[1]) and "GRADTAPE_SECRET" in str(found[1])
    assert "rank 1 of 2 did not start" in str(found[0])
    assert "rejected connection came from 127.0.0.1: it does not know the secret of the job" in str(found[0])


def test_a_member_does_not_believe_a_stranger_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            with server.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(errors.UnavailableError, match="is not rank 0 of this job: it does not speak gradtape's"):
            Member(1, 2, server.getsockname(), "job", SECRET, 5, launched=False)


def test_messages_cannot_be_repeated_reordered_or_reflected():
    """A man in the middle replays recorded messages: each is accepted once, in order, by its addressee."""

    sockets = contextlib.ExitStack()

    def pair():
        return tuple(map(sockets.enter_context, socket.socketpair()))

    def connected():
        one, other = pair()
        coordinator, member = Channel(one, SECRET, "coordinator"), Channel(other, SECRET, "member")
        member.handshake()
        return coordinator, member

    def lines_of(channel, *messages):
        """Returns the messages that would be sent."""
        one, other = pair()
        channel.socket, kept = one, channel.socket
        for message in messages:
            channel.send(message)
        channel.socket = kept
        return other.recv(1 << 16).split(b"\n")[:-1]

    with sockets:
        check_tampering(connected, lines_of)


def check_tampering(connected, lines_of):
    coordinator, member = connected()
    first, second = lines_of(member, {"a": 1}, {"b": 2})
    member.socket.sendall(first + b"\n" + second + b"\n")
    assert coordinator.receive() == [{"a": 1}, {"b": 2}]
    tamperings = [
        lambda first, second: [first, first],
        lambda first, second: [second, first],
        lambda first, second: [first.replace(b"1}", b"2}")],
        lambda first, second: lines_of(connected()[1], {"a": 1}),
    ]
    for tampered in tamperings:
        coordinator, member = connected()
        member.socket.sendall(b"\n".join(tampered(*lines_of(member, {"a": 1}, {"b": 2}))) + b"\n")
        with pytest.raises(AuthenticationError, match="secret"):
            coordinator.receive()
    coordinator, member = connected()
    coordinator.receive()
    member.socket.sendall(lines_of(coordinator, {"a": 1})[0] + b"\n")
    with pytest.raises(AuthenticationError):
        coordinator.receive()


def test_the_secret_comes_from_the_environment_or_from_a_file_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADTAPE_SECRET", "given")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert job_secret() == b"given" and not list(tmp_path.iterdir())
    monkeypatch.delenv("GRADTAPE_SECRET")
    with ThreadPoolExecutor(8) as pool:
        created = {found.result() for found in [pool.submit(job_secret) for _ in range(8)]}
    assert len(created) == 1 and len(created.pop()) == 64
    file = tmp_path / ".gradtape" / "secret"
    assert [path.name for path in file.parent.iterdir()] == ["secret"] and file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(PermissionError, match="other users can read it"):
        job_secret()
    file.chmod(0o600)
    file.write_text("short")
    with pytest.raises(ValueError, match="too short"):
        job_secret()


def test_rank_0_listens_at_the_named_address_only():
    with cluster._listening("127.0.0.1", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
    with pytest.raises(errors.UnavailableError, match=r"cannot listen at 192\.0\.2\.1.*GRADTAPE_INTERFACE"):
        cluster._listening("192.0.2.1", 0)  # reserved for documentation: an address of no host


def test_nobody_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    with pytest.raises(errors.DeadlineExceededError, match=r"rank 1 could not reach rank 0 at .*:\d+ within 0.2 s"):
        Member(1, 2, address, "job", SECRET, 0.2, launched=False)


# Two real processes.

TOGETHER = """
def equal(found, expected):
    np.testing.assert_allclose(tf.cast(found, tf.float64).numpy(), expected, rtol=1e-6)

assert hvd.size() == 2 and hvd.local_rank() == r and os.environ["OMP_NUM_THREADS"]
x = tf.constant([1.0, 2.0]) * (r + 1)
for op, expected in {"sum": [3, 6], hvd.Average: [1.5, 3], "max": [2, 4], "min": [1, 2], "product": [2, 8]}.items():
    equal(hvd.allreduce(x, op=op), expected)
for dtype in ("float64", "float16", "bfloat16", "int64", "uint8"):
    assert (total := hvd.allreduce(tf.constant([1, 2], dtype) * (r + 1), op="sum")).dtype == dtype
    equal(total, [3, 6])
assert hvd.allreduce(tf.constant(2.0**52 + r, tf.float64), op="max").numpy() == 2.0**52 + 1
assert hvd.allreduce([r == 0, False], op="max").numpy().tolist() == [True, False]
assert hvd.allgather(tf.fill([r + 1, 2], r)).numpy().tolist() == [[0, 0], [1, 1], [1, 1]]
assert np.signbit(hvd.broadcast([-0.0 if r else 1.0], root_rank=1).numpy())
assert hvd.broadcast_object({"r": r}, 1) == {"r": 1}
v, w = tf.Variable([float(r)]), tf.Variable(r, dtype=tf.int64)
hvd.broadcast_variables([v, w], 1)
assert (v.numpy(), w.numpy()) == (1.0, 1)
many = np.random.default_rng(r).normal(size=1000).astype(np.float32)
exact = hvd.allreduce(many).numpy()
for kind, bits in {"bf16": 8, "fp16": 11}.items():
    assert 0 < np.abs(hvd.allreduce(many, compression=kind).numpy() - exact).max() < 4 * 2.0**-bits * 2

# Derivatives: that of a sum is the sum of what all ranks bring.
for f, expected in {
    lambda u: tf.reduce_sum(hvd.allreduce(u * (r + 1), op="sum") ** 2): [12 * (r + 1), 24 * (r + 1)],
    lambda u: tf.reduce_sum(hvd.allgather(u) * (r + 1)): [3, 3],
    lambda u: tf.reduce_sum(hvd.broadcast(u, 1) * (r + 1)): [3 * r, 3 * r],
}.items():
    u = tf.constant([1.0, 2.0])
    for call in (f, tf.function(f), tf.function(f, jit_compile=True)):
        with tf.GradientTape() as tape:
            tape.watch(u)
            y = call(u)
        equal(tape.gradient(y, u), expected)

# A tape, with sparse rows, None and several buckets, is the mean of the tapes of all.
rng = np.random.default_rng(0)
W = [tf.Variable(rng.normal(size=(16, 16)).astype(np.float32)) for _ in range(5)]
E, U = tf.Variable(np.ones((6, 16), np.float32)), tf.Variable(1.0)

def recorded(rank):
    with tf.GradientTape() as tape:
        h = tf.gather(E, [rank, rank + 1])
        for v in W:
            h = tf.tanh(h @ v)
        loss = tf.reduce_sum(h)
    return tape, loss

both = [[tf.convert_to_tensor(g) for g in tape.gradient(loss, [*W, E])] for tape, loss in map(recorded, (0, 1))]
for options in ({}, {"bucket_bytes": 2000}, {"sparse_as_dense": True}, {"op": "sum", "bucket_bytes": 2000}):
    tape, loss = recorded(r)
    found = hvd.DistributedGradientTape(tape, **options).gradient(loss, {"w": W, "e": E, "u": U})
    assert found["u"] is None and isinstance(found["e"], tf.IndexedSlices) != ("sparse_as_dense" in options)
    for g, *parts in zip([*found["w"], tf.convert_to_tensor(found["e"])], *both):
        equal(g, sum(p.numpy() for p in parts) / (1 if options.get("op") else 2))
with hvd.DistributedGradientTape(tf.GradientTape(persistent=True)) as tape:
    tape.watch(x)
    y = x * x
equal(tape.gradient(y, x, output_gradients=[1.0, 10.0]), [3, 60])
with tf.GradientTape(trace=True) as tape:
    y = tf.reduce_sum(W[0] @ W[1])
hvd.DistributedGradientTape(tape).gradient(y, W[:2])
assert 0 < (waited := tape.profile().collectives).records <= 2 and waited.backward > 0, waited
with hvd.DistributedGradientTape(tf.GradientTape(persistent=True)) as tape:
    tape.watch(x)
    y = x * x
equal(tape.jacobian(y, x), np.diag(2 * x.numpy()))
equal(tape.gradient(y, [U], unconnected_gradients="zero")[0], 0)

# Functions, on both executors.
for jit in (False, True):
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=jit)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((v * x) ** 2)
        (g,) = hvd.all_reduce([tape.gradient(loss, v)])
        v.assign_sub(0.01 * g)
        return hvd.allreduce(loss, op="sum")

    losses = [float(step(x)) for _ in range(3)]
    expected = np.array([1.0, 2.0])
    for loss in losses:
        equal(loss, sum(np.sum((expected * [k, 2 * k]) ** 2) for k in (1, 2)))
        expected -= 0.01 * expected * [5, 20]
    equal(v, expected)
    assert step.experimental_get_tracing_count() == 1
print("fine")
"""


def test_two_processes_compute_together(tmp_path):
    done = launched("-n", 2, script(tmp_path, TOGETHER))
    assert sorted(done.stdout.splitlines()) == ["[0] fine", "[1] fine"], done.stdout + done.stderr
    assert done.returncode == 0


DISTURBED = """
import pathlib, socket
from gradtape.distribute.cluster import collectives

host, port = os.environ["GRADTAPE_COORDINATOR"].rsplit(":", 1)
if r == 1:
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        while stranger.recv(1000):
            pass
print(sum(hvd.broadcast_object([r + 1, 2], 0)), float(hvd.allreduce(float(r), op="sum")))

# What XLA delivers to rank 1 is exchanged for a pickle that would write a file.
genuine = collectives.broadcast
malicious = np.frombuffer(b"cbuiltins\\nopen\\n(S'MARK'\\nS'w'\\ntR.", np.uint8)
if r == 1:
    collectives.broadcast = lambda *arguments: (genuine(*arguments), [malicious])[1]
try:
    hvd.broadcast_object([1], 0)
except tf.errors.DataLossError as error:
    print("refused" if not pathlib.Path("MARK").exists() else "executed")
hvd.barrier()
"""


def test_strangers_neither_end_a_job_nor_have_their_bytes_unpickled(tmp_path):
    done = launched("-n", 2, script(tmp_path, DISTURBED))
    expected = ["[0] 3 1.0", "[1] 3 1.0", "[1] refused"]
    assert sorted(done.stdout.splitlines()) == expected and done.returncode == 0, done.stdout + done.stderr


IMPERSONATED = """
import subprocess
print(float(hvd.allreduce(1.0, op="sum")))
rank_0 = hvd.broadcast_object(os.getpid(), 0)
if r == 1:
    sockets = {os.readlink(f"/proc/{rank_0}/fd/{file}") for file in os.listdir(f"/proc/{rank_0}/fd")}
    rows = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/{rank_0}/net/{name}")]
    ports = {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}
    impostor = '''
import sys
from jax._src.lib import _jax
address = f"127.0.0.1:{sys.argv[1]}"
_jax.get_distributed_runtime_client(address, 1, init_timeout=1, shutdown_on_destruction=False).connect()
'''
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GRADTAPE_")}
    command = [sys.executable, "-c", impostor]
    impostors = [subprocess.Popen([*command, str(port)], env=clean, stderr=subprocess.DEVNULL) for port in ports]
    assert impostors  # the port of gradtape's coordinator, which knows the secret, and gloo's
    assert all(impostor.wait() for impostor in impostors)
hvd.barrier()
print(float(hvd.allreduce(2.0, op="sum")))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/net/tcp"), reason="lists the open ports of a process as Linux does")
def test_no_process_of_the_host_takes_the_place_of_a_rank(tmp_path):
    """Whoever connects to JAX's service as rank 1 ends the job. On one host, the service has no port."""
    done = launched("-n", 2, script(tmp_path, IMPERSONATED))
    assert sorted(done.stdout.split()) == sorted("[0] 2.0 [0] 4.0 [1] 2.0 [1] 4.0".split()), done.stdout + done.stderr


FAILING = """
x = tf.ones([100])
for i in range(10_000):
    hvd.all_reduce([x])
    time.sleep(0.01)
    if r == 1 and i == 5:
        if sys.argv[1] == "shape": x = tf.ones([101])
        if sys.argv[1] == "exit": sys.exit(3)
        os.kill(os.getpid(), int(sys.argv[1])) if sys.argv[1].isdigit() else None
"""


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (9, 137, r"gradtape launch: rank 1 was killed by SIGKILL after [\d.]+ s; the other 1 is ended"),
        (int(signal.SIGSTOP), 1, r"rank 1 did not arrive within 2 s, while rank 0 waits in .* rank 1 does not answer"),
        ("shape", 1, r"the ranks disagree about collective 10: all_reduce: float32\[10.\] at rank \d, float32\[10.\]"),
        ("exit", 3, r"gradtape launch: rank 1 ended with exit code 3 after"),
    ],
)
def test_when_one_fails_all_end_and_the_reason_is_said_once(tmp_path, how, code, said):
    done = launched("-n", 2, "--timeout", 2, script(tmp_path, FAILING), how)
    assert len(re.findall(said, done.stderr)) == 1, done.stderr
    assert done.returncode == code
    assert done.stderr.count("Traceback") == (how in ("shape", int(signal.SIGSTOP)))


CHECKPOINTS = """
import gradtape.state.archive
folder = sys.argv[1]
v, w = tf.Variable(np.arange(1000.0)), tf.Variable([3.0, 4.0])
manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v, w=w), folder, max_to_keep=2)
assert hvd.save(manager) == folder + "/ckpt-1"
w.assign([5.0, 6.0])
assert hvd.save(manager, shards=True) == folder + "/ckpt-2"
files = sorted(os.listdir(folder))
shards = [f"ckpt-2.data-0000{i}-of-00002" for i in (0, 1)]
assert files == ["checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index", *shards, "ckpt-2.index"], files
hvd.barrier()
if r == 1:  # the disk is full
    def write(self, data):
        with tf.errors.of_system(self._target):
            raise OSError(28, "No space left on device")
    real, gradtape.state.archive._Draft.write = gradtape.state.archive._Draft.write, write
    from gradtape.core import errors
    tf.errors.of_system = errors.of_system
for shards in (True, True):
    try:
        hvd.save(manager, shards=shards)
    except tf.errors.ResourceExhaustedError as error:
        assert ("rank 1 could not write its part" in str(error)) == (r == 0), error
    else:
        raise AssertionError
hvd.barrier()
assert sorted(os.listdir(folder)) == files, os.listdir(folder)
hvd.barrier()  # nobody writes on before all have looked
if r == 0:
    assert manager.latest_checkpoint == folder + "/ckpt-2"
manager.restore_or_initialize()
assert w.numpy().tolist() == [5.0, 6.0]
if r == 1:  # there is room again
    gradtape.state.archive._Draft.write = real
w.assign([7.0, 8.0])
assert hvd.save(manager, shards=True).startswith(folder + "/ckpt-")
w.assign([0.0, 0.0])
hvd.barrier()
tf.train.Checkpoint(v=v, w=w).restore(tf.train.latest_checkpoint(folder))
assert w.numpy().tolist() == [7.0, 8.0]
print("fine")
"""


def test_checkpoints_are_written_once_or_in_parts_and_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    done = launched("-n", 2, script(tmp_path, CHECKPOINTS), folder)
    assert sorted(done.stdout.splitlines()) == ["[0] fine", "[1] fine"], done.stdout + done.stderr
    v, w = tf.Variable(np.zeros(1000)), tf.Variable([0.0, 0.0])  # another number of processes: one
    latest = tf.train.latest_checkpoint(folder)
    tf.train.Checkpoint(v=v, w=w).restore(latest).assert_consumed()
    assert w.numpy().tolist() == [7.0, 8.0]
    assert v.numpy()[-1] == 999.0
    assert dict(tf.train.list_variables(latest))["v/.ATTRIBUTES/VARIABLE_VALUE"] == [1000]
    Path(f"{latest}.data-00001-of-00002").unlink()
    with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError), match="data-00001-of-00002"):
        tf.train.Checkpoint(v=v, w=w).restore(latest)
