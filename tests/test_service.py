"""The service of the examples: what it answers and refuses, what its models predict, and how it ends."""

import contextlib
import http.client
import io
import json
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gradtape.core.extras import is_installed

pytestmark = [
    pytest.mark.several,
    pytest.mark.skipif(not (find_spec("fastapi") and find_spec("uvicorn")), reason="needs FastAPI and uvicorn"),
]
EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def predict_api(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import predict_api

    return predict_api


@contextlib.contextmanager
def serving(app):
    """Context manager: serves the app in a thread; yields a function that sends requests."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield lambda *given: request(listener.getsockname()[1], *given)
        finally:
            server.should_exit = True
            thread.join()


def request(port, path, body=None, headers=None):
    """Returns the status and the content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        if body is None:
            connection.request("GET", path)
        else:
            sent = body if isinstance(body, bytes) else json.dumps({"instances": body})
            connection.request("POST", path, sent, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        if answer.headers["Content-Type"] == "application/x-npy":
            return answer.status, content
        return answer.status, json.loads(content) if content.startswith(b"{") else content.decode()


def test_what_is_answered_and_what_is_refused(predict_api):
    sizes, warm, go_on, begun = [], [], threading.Event(), threading.Semaphore(0)
    go_on.set()

    def double(batch):
        begun.release()
        assert go_on.wait(30)
        sizes.append(len(batch))
        return batch * 2

    def load():
        return {"double": predict_api.Predictor(double, (2,), warm.append, sizes=(1, 4, 8))}

    with serving(predict_api.create_app(load, threads=2, max_waiting=2, max_bytes=1000)) as ask:
        path = "/v1/models/double:predict"
        assert warm == [1, 4, 8]
        assert ask("/health") == (200, {"status": "ok", "models": ["double"]})
        described = {"name": "double", "shape": [2], "dtype": "float32", "batch_sizes": [1, 4, 8]}
        assert ask("/v1/models/double") == (200, described)
        for count in (1, 2, 4, 5):
            rows = [[float(row), 1.0] for row in range(count)]
            assert ask(path, rows) == (200, {"predictions": [[2 * row, 2.0] for row, _ in rows]})
        assert sizes == [1, 4, 4, 8]
        for status, body, said in (
            (400, b"{", "JSON"), (400, b"[]", "instances"), (400, b"[" * 900, "JSON"), (400, [[1.0]], "shape"),
            (400, 5, "shape"), (400, [[1, 2], [3]], "float32"), (400, [["a", "b"]], "float32"), (400, [], "got (0,)"),
            (413, [[0, 0]] * 9, "has 9"), (413, b" " * 1001, "1000 bytes"),
        ):  # fmt: skip
            found = ask(path, body)
            assert found[0] == status and said in found[1]["detail"], (body, found)
        assert ask("/v1/models/triple:predict", [[1, 2]])[0] == 404
        array = io.BytesIO()
        np.save(array, np.float32([[1, 2]]))
        npy = {"Content-Type": "application/x-npy"}
        status, answer = ask(path, array.getvalue(), npy)
        assert status == 200 and np.load(io.BytesIO(answer)).tolist() == [[2.0, 4.0]]
        status, answer = ask(path, array.getvalue()[:-1], npy)
        assert status == 400 and "np.save" in answer["detail"]
        go_on.clear()
        for _ in sizes:
            begun.acquire()
        answers = []
        waiting = [threading.Thread(target=lambda: answers.append(ask(path, [[1, 2]]))) for _ in range(2)]
        for thread in waiting:
            thread.start()
            begun.acquire()
        assert ask(path, [[1, 2]]) == (503, {"detail": "2 requests are waiting"})
        go_on.set()
        for thread in waiting:
            thread.join()
        assert answers == [(200, {"predictions": [[2, 4]]})] * 2
        status, metrics = ask("/metrics")
        if find_spec("prometheus_client"):
            assert status == 200 and 'predict_instances_total{model="double"} 15.0' in metrics
        else:
            assert status == 404


SLOW = """
import sys, time
import uvicorn
from predict_api import Predictor, create_app

def slow(batch):
    print("begun", flush=True)
    time.sleep(1)
    return batch

app = create_app(lambda: {"slow": Predictor(slow, (), lambda size: None)})
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


def test_sigterm_finishes_running_requests():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SLOW, str(port)]
    process = subprocess.Popen(command, cwd=EXAMPLES, stdout=subprocess.PIPE, text=True)
    answers = []
    try:
        while True:
            with contextlib.suppress(ConnectionError):
                assert request(port, "/health")[0] == 200
                break
            assert process.poll() is None
            time.sleep(0.05)
        client = threading.Thread(target=lambda: answers.append(request(port, "/v1/models/slow:predict", [1.0])))
        client.start()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        client.join()
        assert answers == [(200, {"predictions": [1.0]})]
        assert process.wait(20) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(not is_installed("keras") or not find_spec("jax"), reason="needs Keras and JAX")
def test_the_models_agree_and_are_ready(predict_api, tmp_path):
    program = textwrap.dedent(
        f"""
        import pathlib, sys
        import numpy as np
        import keras_digits, service

        folder = pathlib.Path({str(tmp_path)!r})
        service.save(folder, epochs=1)
        models = service.load(folder)
        images = keras_digits.load()[0][:3]
        for model in models.values():
            model.warm_up(4)
        keras, saved, nearest = (model(images) for model in models.values())
        assert keras.shape == (3, 10) and nearest.shape == (3, 5)
        np.testing.assert_allclose(keras, saved, rtol=1e-4, atol=1e-5)
        assert nearest[:, 0].tolist() == [0, 1, 2]
        """
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
