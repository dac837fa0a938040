"""Jobs on several hosts: network namespaces whose host names resolve to loopback addresses, as on Debian."""

import contextlib
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from launching import script

from gradtape.core import errors
from gradtape.distribute.cluster import membership as cluster

pytestmark = pytest.mark.several

TOGETHER = """
assert tf.distribute.size() == 2
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    w = tf.Variable([1.0, 2.0])

@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        w.assign_sub(0.1 * tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, w)))
        return loss
    return strategy.reduce("sum", strategy.run(replica, (x,)), None)

print(float(step(tf.constant([1.0, 1.0]) * (r + 1))), w.numpy())
"""


@contextlib.contextmanager
def two_hosts():
    """Context manager: yields NAME of two connected network namespaces, `NAME-0` at 10.77.0.1 and `NAME-1`."""
    name = f"gradtape-{uuid.uuid4().hex[:8]}"
    files = [Path(f"/etc/netns/{name}-{host}") for host in (0, 1)]

    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    with contextlib.ExitStack() as stack:
        for host, folder in enumerate(files):
            ip("netns", "add", f"{name}-{host}")
            stack.callback(ip, "netns", "delete", f"{name}-{host}")
            folder.mkdir(parents=True)
            stack.callback(shutil.rmtree, folder)
            names = ("127.0.0.1 localhost", f"127.0.1.1 host{host}", f"10.77.0.{2 - host} host{1 - host}")
            (folder / "hosts").write_text("\n".join(names) + "\n")
        ip("link", "add", "v0", "netns", f"{name}-0", "type", "veth", "peer", "name", "v0", "netns", f"{name}-1")
        for host in (0, 1):
            ip("-n", f"{name}-{host}", "address", "add", f"10.77.0.{host + 1}/24", "dev", "v0")
            for device in ("lo", "v0"):
                ip("-n", f"{name}-{host}", "link", "set", device, "up")
        yield name


def run_on(name, host, *arguments, **environment):
    """Starts `gradtape launch` on one of the hosts, with its own host name and, without shared files, its own /tmp."""
    launch = [sys.executable, "-m", "gradtape", "launch", "--timeout", "60", *map(str, arguments)]
    setup = f'hostname host{host} && mount -t tmpfs none "$GRADTAPE_TEST_SOCKETS" && exec "$@"'
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTAPE_", "TF_CONFIG"))}
    return subprocess.Popen(
        ["ip", "netns", "exec", f"{name}-{host}", "unshare", "--uts", "--mount", "sh", "-c", setup, "sh", *launch],
        env={**clean, "GRADTAPE_SECRET": "of a test", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.fixture
def hosts(tmp_path):
    """Returns a function that runs a program on two hosts and returns their exit codes and outputs."""
    allowed = shutil.which("ip") and not subprocess.run(["unshare", "--net", "--mount", "true"], check=False).returncode
    if not allowed or not os.access("/etc", os.W_OK):
        pytest.skip("needs the right to create network namespaces")
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    program = script(tmp_path, TOGETHER)
    with two_hosts() as name:

        def run(names, *own):
            started = [
                run_on(
                    name, host, "-n", 1, "--hosts", names, "--rank", host, program,
                    GRADTAPE_TEST_SOCKETS=str(sockets), TMPDIR=str(sockets), **(own[host] if own else {}),
                ) for host in (0, 1)
            ]  # fmt: skip
            try:
                first = started[0].communicate(timeout=100)[0]
                if started[0].returncode:
                    started[1].terminate()
                second = started[1].communicate(timeout=100)[0]
            finally:
                for process in started:
                    process.kill()
            return [process.returncode for process in started], first, second

        yield run


def test_hosts_whose_own_names_are_loopback_addresses_train_together(hosts):
    for names, own in (
        ("10.77.0.1,10.77.0.2", ()),
        ("host0,host1", ({"GRADTAPE_INTERFACE": "10.77.0.1"}, {})),
    ):
        codes, first, second = hosts(names, *own)
        assert codes == [0, 0], first + second
        assert "9.0 [0.7 1.7]" in first and "9.0 [0.7 1.7]" in second


def test_a_job_that_would_listen_on_loopback_ends_at_once_and_says_what_to_do(hosts):
    codes, first, _ = hosts("host0,host1")
    assert codes[0] == 1
    assert "rank 0 would listen at host0" in first and "set GRADTAPE_INTERFACE" in first, first


def test_localhost_is_not_a_host_of_several(tmp_path):
    with pytest.raises(ValueError, match=r"rank 0 runs on localhost, .* others run on node2"):
        cluster.check_hosts(["localhost", "node2"])
    for hosts in ([], ["localhost"], ["127.0.0.1", "localhost"], ["node1", "node2"], ["node1", "localhost"]):
        cluster.check_hosts(hosts)


def test_without_jax_s_private_function_a_loopback_name_is_an_error(monkeypatch):
    from jax._src import xla_bridge

    monkeypatch.delattr(xla_bridge, "make_cpu_client")
    monkeypatch.setattr(cluster, "_resolves_to_loopback", lambda host: True)
    cluster._set_gloo_address("127.0.0.1")
    with pytest.raises(errors.UnavailableError, match=r"Map the name to 10\.0\.0\.7 in /etc/hosts"):
        cluster._set_gloo_address("10.0.0.7")
