"""Meshes and layouts on four logical CPUs, run by `test_distribute_replicas.py` in a separate process.

Strings, components and messages are TensorFlow's, on the same number of logical CPUs.
"""

import pickle

import numpy as np
import pytest

import gradtape as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 4)

dtensor = tf.experimental.dtensor
UNSHARDED, MATCH = dtensor.UNSHARDED, dtensor.MATCH
DEVICES = ",".join(f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(4))


@pytest.fixture
def mesh():
    return dtensor.create_mesh([("x", 2), ("y", 2)], devices=[f"CPU:{i}" for i in range(4)])


def components(x):
    return [part.numpy().tolist() for part in dtensor.unpack(x)]


def test_a_mesh_arranges_devices(mesh):
    assert mesh.to_string() == f"|x=2,y=2|0,1,2,3|0,1,2,3|{DEVICES}"
    assert dtensor.create_mesh([("b", -1)], "name").to_string() == f"name|b=4|0,1,2,3|0,1,2,3|{DEVICES}"
    assert (mesh.shape(), mesh.size, mesh.strides, mesh.device_type()) == ([2, 2], 4, [2, 1], "CPU")
    assert mesh.unravel_index()[2] == {"x": 1, "y": 0} and mesh.coords(3).numpy().tolist() == [1, 1]
    assert mesh["x"] == ("x", 2) and "x" in mesh and "q" not in mesh
    for copy in (dtensor.Mesh.from_string(mesh.to_string()), pickle.loads(pickle.dumps(mesh))):
        assert copy == mesh and hash(copy) == hash(mesh) and copy.host_mesh() == mesh
    assert dtensor.Mesh.from_proto(mesh.as_proto()) == mesh
    assert dtensor.num_local_devices("CPU") == 4 and len(dtensor.local_devices("CPU")) == 4
    dtensor.barrier(mesh)


def test_a_layout_maps_axes_to_dimensions(mesh):
    layout = dtensor.Layout(["x", UNSHARDED], mesh)
    assert layout.to_string() == f"sharding_specs:x,unsharded, mesh:{mesh.to_string()}"
    assert dtensor.Layout([], mesh).to_string() == f"sharding_specs: mesh:{mesh.to_string()}"
    assert layout.to_parted().to_string() == f"parted:x,unsharded, mesh:{mesh.to_string()}"
    assert dtensor.Layout.from_device("CPU:0").to_string() == "maximal:true, mesh:CPU:0"
    assert layout.offset_to_shard() == [(0, 0), (0, 0), (1, 0), (1, 0)] and layout.num_shards(0) == 2
    assert layout.local_shape_from_global_shape([4, 2]) == (2, 2)
    assert layout.global_shape_from_local_shape([4, 2]) == (8, 2)
    assert layout.is_batch_parallel() and not layout.is_fully_replicated()
    assert dtensor.Layout.inner_sharded(mesh, "y", 2).sharding_specs == [UNSHARDED, "y"]
    for copy in (layout.to_string(), layout.to_parted().to_string(), "maximal:true, mesh:CPU:0"):
        assert dtensor.Layout.from_string(copy).to_string() == copy
        assert dtensor.Layout.from_proto(dtensor.Layout.from_string(copy).as_proto()).to_string() == copy
    assert pickle.loads(pickle.dumps(layout)) == layout != dtensor.Layout.replicated(mesh, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: dtensor.Layout(["x", "x"], m),
            ValueError,
            "Mesh dimension x was repeated in sharding specification",
        ),
        (lambda m: dtensor.Layout(["z"], m), ValueError, "z: A dimension sharding must either be a valid mesh"),
        (lambda m: dtensor.Layout(["x"], 3), ValueError, "mesh is not a valid Mesh object."),
        (lambda m: m.dim_size("q"), ValueError, "Dimension q does not exist in mesh.Available dimensions: x,y"),
        (lambda m: dtensor.create_mesh([("x", 3)]), ValueError, r"length of devices \(4\) must be equal to total size"),
        (lambda m: dtensor.create_distributed_mesh([("x", 4)]), ValueError, "Accelerators are uninitialized"),
        (lambda m: dtensor.fetch_layout(tf.ones(2)), tf.errors.InvalidArgumentError, "FetchLayout expects a tensor"),
        (
            lambda m: dtensor.pack([tf.ones([1])] * 3, dtensor.Layout(["x"], m)),
            tf.errors.InvalidArgumentError,
            "expected 4 inputs to DTensorPack, but got 3",
        ),
        (
            lambda m: dtensor.relayout(tf.ones([3]), dtensor.Layout(["x"], m)),
            tf.errors.UnknownError,
            "dimension size=3 is not divisible by number of shards in layout for this dimension=2",
        ),
        (
            lambda m: dtensor.relayout(tf.ones([3, 2]), dtensor.Layout(["x"], m)),
            tf.errors.UnknownError,
            "got 1 as suggested rank from layout but 2 from shape",
        ),
        (
            lambda m: dtensor.DVariable(tf.ones(2)),
            tf.errors.InvalidArgumentError,
            "Neither layout nor DTensor initial value are provided.",
        ),
    ],
)
def test_errors_are_tensorflows(mesh, call, error, message):
    with pytest.raises(error, match=message):
        call(mesh)


def test_components_of_a_tensor(mesh):
    x = dtensor.copy_to_mesh(tf.reshape(tf.range(8.0), [4, 2]), dtensor.Layout(["x", "y"], mesh))
    assert components(x) == [[[0.0], [2.0]], [[1.0], [3.0]], [[4.0], [6.0]], [[5.0], [7.0]]]
    again = dtensor.pack(dtensor.unpack(x), dtensor.fetch_layout(x))
    assert again.numpy().tolist() == x.numpy().tolist() and dtensor.fetch_layout(again) == dtensor.fetch_layout(x)
    matched = dtensor.relayout(x, dtensor.Layout([MATCH, UNSHARDED], mesh))
    assert dtensor.fetch_layout(matched).sharding_specs == ["x", UNSHARDED]
    assert dtensor.fetch_layout(dtensor.relayout_like(tf.ones([4, 2]), x)) == dtensor.fetch_layout(x)
    with pytest.raises(ValueError, match="did not match expected layout"):
        dtensor.check_layout(x, dtensor.Layout.replicated(mesh, 2))
    made = dtensor.call_with_layout(tf.ones, dtensor.Layout(["x"], mesh), [4])
    assert components(made) == [[1.0, 1.0]] * 4 and dtensor.is_dtensor(made) and not dtensor.is_dtensor(made + 1.0)


def test_a_relayout_has_a_gradient(mesh):
    x = dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(["x"], mesh))

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(dtensor.relayout(x, dtensor.Layout.replicated(mesh, 1)) ** 2)
        return tape.gradient(y, x)

    assert gradient().numpy().tolist() == tf.function(gradient)().numpy().tolist() == [2.0, 4.0]


def test_a_variable_is_sharded_and_trained(mesh):
    v = dtensor.DVariable(tf.ones([4, 2]), layout=dtensor.Layout(["x", UNSHARDED], mesh))
    plain = tf.Variable(tf.ones([4, 2]))
    assert tuple(v.sharding.spec) == ("x", None) and components(v) == [[[1.0, 1.0]] * 2] * 4

    @tf.function
    def step(variable, x, laid_out):
        with tf.GradientTape() as tape:
            y = x @ variable
            y = dtensor.relayout(y, dtensor.Layout([UNSHARDED, "y"], mesh)) if laid_out else y
            loss = tf.reduce_mean(y**2)
        variable.assign_sub(0.1 * tape.gradient(loss, variable))
        return loss

    x = tf.reshape(tf.range(12.0), [3, 4])
    np.testing.assert_allclose(step(v, x, True), step(plain, x, False), rtol=1e-6)
    np.testing.assert_allclose(v.numpy(), plain.numpy(), rtol=1e-6)
    assert dtensor.fetch_layout(v).sharding_specs == ["x", UNSHARDED] and tuple(v.sharding.spec) == ("x", None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Conflicting layout are provided for initial value"):
        value = dtensor.copy_to_mesh(tf.ones([4, 2]), v.layout)
        dtensor.DVariable(value, layout=dtensor.Layout.replicated(mesh, 2))


def test_a_checkpoint_has_whole_values(mesh, tmp_path):
    v = dtensor.DVariable([1.0, 2.0], layout=dtensor.Layout(["x"], mesh))
    v.save_as_bf16 = True
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "ckpt"))
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert tf.train.load_checkpoint(path).get_variable_to_dtype_map()[key] == tf.bfloat16
    v.assign([0.0, 0.0])
    tf.train.Checkpoint(v=v).restore(path).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0] and v.dtype == tf.float32
    dtensor.name_based_save(mesh, str(tmp_path / "named"), {"v": v})
    assert dtensor.name_based_restore(mesh, str(tmp_path / "named"), {"v": v})["v"].numpy().tolist() == [1.0, 2.0]


def test_a_dataset_of_global_batches():
    mesh = dtensor.create_mesh([("b", 4)], device_type="CPU")
    layout = dtensor.Layout(["b"], mesh)
    numbers = tf.data.Dataset.range(20)
    for given, batched in ((numbers, False), (numbers.batch(2, drop_remainder=True), True)):
        data = dtensor.DTensorDataset(
            given, mesh=mesh, layouts=layout, global_batch_size=8, batch_dim="b", dataset_already_batched=batched
        )
        assert data.element_spec == tf.TensorSpec([8], tf.int64)
        first, second = data
        assert components(first) == [[0, 1], [2, 3], [4, 5], [6, 7]] and second.numpy()[0] == 8
        assert dtensor.fetch_layout(first) == layout
    with pytest.raises(ValueError, match="Expected layout with rank 2 for element spec"):
        dtensor.DTensorDataset(numbers.batch(2), mesh=mesh, layouts=layout, global_batch_size=8, batch_dim="b")
