"""kgcnn: graph convolution and SchNet networks on padded graphs, on Keras 3: outputs, gradients, trained with fit."""

import keras
import numpy as np
import tensorflow as tf
from kgcnn.literature import GCN, Schnet
from weights import norms, set_weights

random = np.random.RandomState(0)
nodes, edges = 6, 12
sizes = random.randint(3, nodes + 1, 8)
counts = sizes.astype("int64"), np.full(8, edges, "int64")
indices = np.stack([random.randint(0, size, (edges, 2)) for size in sizes]).astype("int64")
features = random.randn(8, nodes, 4).astype("float32")
positions = random.randn(8, nodes, 3).astype("float32")
targets = random.randn(8, 1).astype("float32")


def inputs(name, shape, dtype="float32"):
    return {"shape": shape, "name": name, "dtype": dtype}


def numbers():
    shared = [inputs("edge_indices", (None, 2), "int64"), inputs("nodes", (), "int64"), inputs("edges", (), "int64")]
    output = {"use_bias": True, "units": [8, 1], "activation": ["relu", "linear"]}
    gcn = GCN.make_model(
        inputs=[inputs("features", (None, 4)), inputs("weights", (None, 1)), *shared],
        input_tensor_type="padded", depth=2, gcn_args={"units": 8, "use_bias": True, "activation": "relu"},
        output_embedding="graph", output_mlp=output, output_tensor_type="padded",
    )  # fmt: skip
    schnet = Schnet.make_model(
        inputs=[inputs("numbers", (None,), "int64"), inputs("positions", (None, 3)), *shared],
        input_tensor_type="padded", depth=2, input_node_embedding={"input_dim": 10, "output_dim": 8},
        interaction_args={"units": 8, "cfconv_pool": "scatter_sum"}, output_embedding="graph", make_distance=True,
        gauss_args={"bins": 5, "distance": 4, "offset": 0.0, "sigma": 0.4}, output_mlp=output,
    )  # fmt: skip
    found = {}
    atoms = random.randint(1, 9, (8, nodes))
    for name, model, given in (
        ("GCN", gcn, [features, np.ones((8, edges, 1), "float32"), indices, *counts]),
        ("SchNet", schnet, [atoms, positions, indices, *counts]),
    ):
        set_weights(model, 1)
        with tf.GradientTape() as tape:
            outputs = model(given)
            loss = tf.reduce_mean((outputs - targets) ** 2)
        found |= {name: outputs, f"{name} gradients": norms(tape.gradient(loss, model.trainable_variables))}
        model.compile(keras.optimizers.SGD(0.001), "mse", jit_compile=False)
        history = model.fit(given, targets, batch_size=4, epochs=2, shuffle=False, verbose=0).history
        found[f"{name} losses"] = history["loss"]
    return found
