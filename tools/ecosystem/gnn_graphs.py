"""tensorflow-gnn: graph tensors, pooling and broadcasting, batched data sets, a convolution trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_gnn as tfgnn
from weights import norms, set_weights


def graph(seed):
    users, items, links = 4, 3, 6
    draw = np.random.RandomState(seed)
    adjacency = tfgnn.Adjacency.from_indices(
        ("user", tf.constant(draw.randint(0, users, links), tf.int32)),
        ("item", tf.constant(draw.randint(0, items, links), tf.int32)),
    )
    return tfgnn.GraphTensor.from_pieces(
        context=tfgnn.Context.from_fields(features={"label": [float(draw.rand())]}),
        node_sets={
            "user": tfgnn.NodeSet.from_fields(
                sizes=[users], features={"hidden_state": draw.randn(users, 3).astype("float32")}
            ),
            "item": tfgnn.NodeSet.from_fields(
                sizes=[items], features={"hidden_state": draw.randn(items, 2).astype("float32")}
            ),
        },
        edge_sets={
            "bought": tfgnn.EdgeSet.from_fields(
                sizes=[links], features={"price": draw.rand(links, 1).astype("float32")}, adjacency=adjacency
            )
        },
    )


def pooled(single):
    edges = {"edge_set_name": "bought", "node_tag": tfgnn.TARGET}
    return {
        "sum": tfgnn.pool_edges_to_node(single, **edges, reduce_type="sum", feature_name="price"),
        "max": tfgnn.pool_edges_to_node(single, **edges, reduce_type="max_no_inf", feature_name="price"),
        "sources": tfgnn.broadcast_node_to_edges(single, "bought", tfgnn.SOURCE, feature_name="hidden_state"),
        "context": tfgnn.pool_nodes_to_context(single, "user", "mean", feature_name="hidden_state"),
        "softmax": tfgnn.softmax(single, tfgnn.TARGET, edge_set_name="bought", feature_name="price"),
    }


def numbers():
    found = pooled(graph(0))
    function = tf.function(pooled)
    found |= {f"{name} traced": value for name, value in function(graph(1)).items()}
    data = tf.data.Dataset.from_tensors(graph(0))
    for seed in range(1, 8):
        data = data.concatenate(tf.data.Dataset.from_tensors(graph(seed)))
    data = data.batch(4).map(lambda batch: batch.merge_batch_to_components())
    data = data.map(lambda batch: (batch.remove_features(context=["label"]), batch.context["label"]))
    spec, _ = data.element_spec
    inputs = tf.keras.Input(type_spec=spec)
    update = tfgnn.keras.layers.GraphUpdate(
        node_sets={
            "item": tfgnn.keras.layers.NodeSetUpdate(
                {
                    "bought": tfgnn.keras.layers.SimpleConv(
                        tf.keras.layers.Dense(4, "relu"), "mean", receiver_tag=tfgnn.TARGET, sender_edge_feature="price"
                    )
                },
                tfgnn.keras.layers.NextStateFromConcat(tf.keras.layers.Dense(4, "tanh")),
            )
        }
    )
    state = tfgnn.keras.layers.Pool(tfgnn.CONTEXT, "mean", node_set_name="item")(update(inputs))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(state))
    set_weights(model, 1)
    batch, labels = next(iter(data))
    with tf.GradientTape() as tape:
        outputs = model(batch)
        loss = tf.reduce_mean((outputs - labels[:, None]) ** 2)
    found |= {"outputs": outputs, "gradients": norms(tape.gradient(loss, model.trainable_variables))}
    model.compile("adam", "mse")
    return found | {"losses": model.fit(data, epochs=3, verbose=0).history["loss"]}
