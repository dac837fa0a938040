"""`tf.profiler`: events of ops, functions and scopes, in TensorFlow's files."""

import gzip
import json
import time

import pytest

import gradtape as tf
from gradtape.core.protos.records import decoded

profiler = tf.profiler.experimental


def read(folder):
    (run,) = (folder / "plugins" / "profile").iterdir()
    (trace,), (space,) = run.glob("*.trace.json.gz"), run.glob("*.xplane.pb")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    return events, decoded("tensorflow.profiler.XSpace", space.read_bytes())


def test_a_session_has_ops_functions_and_scopes(tmp_path):
    square = tf.function(lambda x: x * x)
    with profiler.Profile(str(tmp_path)):
        with profiler.Trace("train", step_num=3) as scope:
            tf.sin(tf.ones([2]))
            square(tf.constant(2.0))
            scope.set_metadata(loss=0.5)
    events, space = read(tmp_path)
    spans = {event["name"]: event for event in events if event["ph"] == "X"}
    assert "sin" in spans and any(name.startswith("tf.function") for name in spans)
    train = spans["train"]
    assert train["args"] == {"step_num": "3", "loss": "0.5"}
    assert train["ts"] <= spans["sin"]["ts"] and spans["sin"]["ts"] + spans["sin"]["dur"] <= train["ts"] + train["dur"]
    (plane,) = space.planes
    names = {key: value.name for key, value in plane.event_metadata.items()}
    assert plane.name == "/host:CPU" and {"train", "sin"} <= set(names.values())
    assert "train" in {names[event.metadata_id] for event in plane.lines[0].events}


def test_sessions_of_one_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "strftime", lambda *_: "2026_01_01_00_00_00")
    for _ in range(3):
        with profiler.Profile(str(tmp_path)):
            pass
    names = sorted(folder.name for folder in (tmp_path / "plugins" / "profile").iterdir())
    assert names == ["2026_01_01_00_00_00", "2026_01_01_00_00_00_1", "2026_01_01_00_00_00_2"]


def test_there_is_one_session_at_a_time(tmp_path):
    profiler.start(str(tmp_path), profiler.ProfilerOptions(host_tracer_level=1))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        profiler.start(str(tmp_path))
    tf.sin(1.0)
    profiler.stop()
    assert "sin" not in {event["name"] for event in read(tmp_path)[0]}  # level 1: no single ops
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    with profiler.Trace("nothing listens"):
        pass


@pytest.mark.parametrize("name", ["server.start", "client.trace", "client.monitor"])
def test_no_other_process_asks_for_a_profile(name):
    """A server would write files wherever a local user asks for."""
    with pytest.raises(AttributeError, match=r"Profile in the program itself, with `tf.profiler.experimental.start`"):
        space, name = name.split(".")
        getattr(getattr(profiler, space), name)
