"""Graphs of functions in event files: `tf.summary.graph`, `trace_on` and `trace_export`."""

import logging

import pytest

import gradtape as tf
from gradtape.core.protos import wire

pytest.importorskip("tensorboardX")
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.graph_pb2 import GraphDef

v1 = tf.compat.v1


@tf.function
def wave(x):
    return tf.sin(x) * 2 + 1


@pytest.fixture
def writer(tmp_path):
    """A default writer; `events` closes it."""
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        yield writer


def events(writer, folder):
    writer.close()
    (path,) = folder.iterdir()
    return [Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset(str(path))]


def ops(graph):
    return [(node.op, list(node.input)) for node in graph.node]


def parts(message, number):
    return [bytes(value) for found, _, value in wire.fields(message) if found == number]


def test_the_graphs_of_the_functions_called_are_written(writer, tmp_path):
    wave(1.0)  # was called before, and is not called during this trace
    call = type(wave).__call__
    tf.summary.trace_on()
    assert float(wave(tf.constant(0.0))) == 1
    wave(tf.constant([0.0]))
    wave(tf.constant([1.0]))
    tf.summary.trace_export("calls", step=3)
    assert type(wave).__call__ is call
    (event,) = [event for event in events(writer, tmp_path) if event.summary.value]
    (value,) = event.summary.value
    assert (event.step, value.tag, value.metadata.plugin_data.plugin_name) == (3, "calls", "graph_run_metadata_graph")
    graphs = [GraphDef.FromString(parts(found, 2)[0]) for found in parts(value.tensor.string_val[0], 4)]
    assert len(graphs) == 2
    for graph in graphs:
        kinds = [kind for kind, _ in ops(graph)]
        assert [kind for kind in kinds if kind != "Const"] == ["Placeholder", "Sin", "Mul", "AddV2", "Identity"]


def test_one_graph_is_written(writer, tmp_path):
    graph = wave.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    assert bool(tf.summary.graph(graph))
    assert bool(tf.summary.graph(graph.as_graph_def()))
    with pytest.raises(ValueError, match=r"'graph_data' is not tf.Graph.*of type str"):
        tf.summary.graph("graph")
    first, second = [GraphDef.FromString(event.graph_def) for event in events(writer, tmp_path) if event.graph_def]
    assert ops(first) == ops(second)
    assert ("Sin", ["x"]) in ops(first)


def test_what_a_trace_says(caplog):
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("nothing", step=0)
    with caplog.at_level(logging.WARNING, "gradtape"):
        tf.summary.trace_on(profiler=True)
        tf.summary.trace_on()
    assert "there is no profiler" in caplog.text
    assert "Trace already enabled" in caplog.text
    tf.summary.trace_off()
    tf.summary.trace_off()


@pytest.mark.usefixtures("writer")
def test_an_export_without_a_step_leaves_the_trace_on():
    tf.summary.trace_on()
    with pytest.raises(ValueError, match="No step set"):
        tf.summary.trace_export("later")
    tf.summary.trace_export("later", step=0)


def test_writers_of_events(tmp_path):
    with v1.summary.FileWriter(str(tmp_path), graph=wave.get_concrete_function(tf.TensorSpec([])).graph) as file:
        for step in range(2):
            value = v1.Summary.Value(tag="loss", simple_value=step, metadata=v1.SummaryMetadata(display_name="L"))
            file.add_summary(v1.Summary(value=[value]), step)
        file.add_session_log(v1.SessionLog(status=v1.SessionLog.STOP), global_step=2)
        assert file.get_logdir() == str(tmp_path)
    with pytest.raises(RuntimeError, match="is closed"):
        file.add_summary(b"")
    (path,) = tmp_path.iterdir()
    found = list(v1.train.summary_iterator(path))
    kinds = ["file_version", "graph_def", "summary", "summary", "session_log"]
    assert [event.WhichOneof("what") for event in found] == kinds and found[0].file_version == "brain.Event:2"
    values = [value for event in found for value in event.summary.value]
    assert [value.metadata.display_name for value in values] == ["L", ""]  # written once
    assert len(list(v1.io.tf_record_iterator(path))) == len(found)
    file.reopen()
    file.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_serialized_summaries_are_written(writer, tmp_path):
    summary = v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=0.5)])
    assert bool(tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=4))
    (event,) = [event for event in events(writer, tmp_path) if event.summary.value]
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (4, "loss", 0.5)
