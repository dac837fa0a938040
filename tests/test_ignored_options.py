"""An option is honored, refused, logged, or cannot change a result: then `docs/ignored-options.md` says why."""

import fnmatch
import inspect
import logging
import re
from pathlib import Path

import numpy as np
import pytest
import unused_parameters

import gradtape as tf
from gradtape import core

PAGE = Path(__file__).parent.parent / "docs" / "ignored-options.md"


def documented():
    """The rows of the page: options, and patterns of the functions that have them."""
    rows = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            names, places = (re.findall("`([^`]+)`", cell) for cell in line.split("|")[1:3])
            rows.append((set(names), places or ["*"]))
    return rows


def matches(row, path, name):
    names, places = row
    return name in names and any(fnmatch.fnmatchcase(path, place) for place in places)


def test_every_option_that_nothing_reads_is_documented():
    total, unused = unused_parameters.census()
    rows = documented()
    missing = sorted((name, path) for path, name in unused if not any(matches(row, path, name) for row in rows))
    assert not missing, f"{len(missing)} of {len(unused)} unused, of {total}: honor, refuse, log or document them"
    parts = [({name}, places) for names, places in rows for name in names]
    parts += [(names, [place]) for names, places in rows for place in places]
    assert not [part for part in parts if not any(matches(part, *u) for u in unused)], "used by now, or not there"


def test_the_census_finds_what_is_never_read():
    unused = unused_parameters.unused(inspect.unwrap(tf.nn.moments))
    assert unused == {"shift", "name"}  # `name` is passed to nothing, and `keepdims` is used


def test_an_option_without_effect_is_logged_once_and_warns_never(caplog, recwarn):
    core._logged.clear()
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        for _ in range(2):
            tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
            tf.distribute.experimental.CommunicationOptions(timeout_seconds=3.0)
            tf.train.CheckpointOptions(), tf.distribute.experimental.CommunicationOptions()
    assert [record.getMessage().split(":")[1].split("=")[0].strip() for record in caplog.records] == [
        "experimental_skip_slot_variables", "timeout_seconds",
    ]  # fmt: skip
    assert not recwarn.list


def test_an_asynchronous_checkpoint_is_written_when_save_returns(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(str(tmp_path / "ckpt"), tf.train.CheckpointOptions(enable_async=True))
    v.assign(2.0)  # what is written later does not change what was saved
    checkpoint.sync()
    tf.train.Checkpoint(v=v).restore(path).assert_consumed()
    assert float(v) == 1.0


def test_lines_of_files_that_are_read_in_parallel_alternate(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    files = [str(tmp_path / name) for name in "ab"]
    lines = list(tf.data.TextLineDataset(files, num_parallel_reads=2).as_numpy_iterator())
    assert lines == [b"a1", b"b1", b"a2", b"b2"]
    files = tf.data.Dataset.from_tensor_slices(files)
    assert list(tf.data.TextLineDataset(files, num_parallel_reads=2).as_numpy_iterator()) == lines


LOOPS = {
    "map_fn": lambda x: tf.map_fn(lambda z: z * z, x, back_prop=False),
    "foldl": lambda x: tf.foldl(lambda a, z: a * z, x, back_prop=False),
    "foldr": lambda x: tf.foldr(lambda a, z: a * z, x, back_prop=False),
    "scan": lambda x: tf.scan(lambda a, z: a * z, x, back_prop=False),
}


@pytest.mark.parametrize("name", LOOPS)
def test_back_prop_ends_gradients_in_functions_alone(name):
    x = tf.constant([1.0, 2.0])
    for f, ends in ((LOOPS[name], False), (tf.function(LOOPS[name]), True)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert (tape.gradient(y, x) is None) == ends


def test_layouts_are_refused():
    for create in (tf.zeros, tf.ones, lambda shape, layout: tf.fill(shape, 1.0, layout=layout), tf.zeros_like,
                   tf.ones_like):  # fmt: skip
        with pytest.raises(tf.errors.UnimplementedError, match="gradtape has no DTensors"):
            create([2], layout="x")


def test_options_that_are_refused():
    with pytest.raises(TypeError, match="shape"):
        tf.compat.v1.constant_initializer([1.0, 2.0], verify_shape=True)([2, 1])
    with pytest.raises(NotImplementedError, match="initial_value"):
        tf.compat.v1.Variable(1.0, variable_def="x")
    with pytest.raises(NotImplementedError, match="accumulation_fn"):
        tf.distribute.ReductionToOneDevice(accumulation_fn=max)
    tf.distribute.ReductionToOneDevice(accumulation_fn=tf.add_n)


def test_sparse_gradients_of_compat_v1():
    x = tf.Variable(np.ones([3, 1], np.float32))
    for name in ("sum", "mean", "sqrt_n"):
        with tf.GradientTape() as tape:
            y = getattr(tf.compat.v1, f"sparse_segment_{name}")(x, [0, 1], [0, 0], sparse_gradient=True)
        assert isinstance(tape.gradient(y, x), tf.IndexedSlices)
