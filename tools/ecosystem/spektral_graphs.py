"""spektral: graph convolutions, attention and pooling; a graph network trained with fit from a loader."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from spektral import layers
from spektral.data import BatchLoader, Dataset, Graph
from spektral.utils.convolution import gcn_filter
from weights import norms, set_weights


class RandomGraphs(Dataset):
    def read(self):
        random = np.random.RandomState(0)
        graphs = []
        for _ in range(12):
            nodes = random.randint(4, 8)
            edges = np.triu(random.uniform(size=(nodes, nodes)) < 0.5, 1).astype("float32")
            x = random.randn(nodes, 5).astype("float32")
            graphs.append(Graph(x=x, a=edges + edges.T, y=np.eye(2, dtype="float32")[int(x.sum() > 0)]))
        return graphs


class GraphClassifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.mask = layers.GraphMasking()
        self.first = layers.GCNConv(8, "relu")
        self.second = layers.GCNConv(8, "relu")
        self.pool = layers.GlobalAvgPool()
        self.dense = tf.keras.layers.Dense(2, "softmax")

    def call(self, inputs):
        x, a = inputs
        x = self.mask(x)
        return self.dense(self.pool(self.second([self.first([x, a]), a])))


def numbers():
    random = np.random.RandomState(1)
    edges = np.triu(random.uniform(size=(8, 8)) < 0.5, 1).astype("float32")
    a = edges + edges.T
    x = tf.constant(random.randn(8, 5).astype("float32"))
    sparse = tf.sparse.reorder(tf.sparse.from_dense(a))
    normalized = tf.sparse.from_dense(gcn_filter(a).astype("float32"))
    found = {}
    convolutions = {
        "GCN": (layers.GCNConv(4), normalized),
        "GAT": (layers.GATConv(4, attn_heads=2, dropout_rate=0.0), sparse),
        "Chebyshev": (layers.ChebConv(4, K=2), normalized),
        "SAGE": (layers.GraphSageConv(4), sparse),
        "GIN": (layers.GINConv(4, mlp_hidden=[6]), sparse),
        "ARMA": (layers.ARMAConv(4, order=2, iterations=2), normalized),
        "TAG": (layers.TAGConv(4), normalized),
        "gated": (layers.GatedGraphConv(6, n_layers=2), sparse),
    }
    for name, (layer, adjacency) in convolutions.items():
        layer([x, adjacency])
        set_weights(layer)
        with tf.GradientTape() as tape:
            out = layer([x, adjacency])
            loss = tf.reduce_mean(tf.square(out))
        found[name] = out
        found[f"{name} gradients"] = norms(tape.gradient(loss, layer.trainable_variables))
    for name, pool in {"mincut": layers.MinCutPool(3), "diff": layers.DiffPool(3)}.items():
        pool([x, tf.constant(a)])
        set_weights(pool)
        found[name] = np.concatenate([np.ravel(part) for part in pool([x, tf.constant(a)])])
    data = RandomGraphs()
    model = GraphClassifier()
    loader = BatchLoader(data, batch_size=4, epochs=3, shuffle=False, mask=True)
    model.compile(tf.keras.optimizers.Adam(0.01), "categorical_crossentropy")
    (features, adjacency), _ = next(iter(BatchLoader(data, batch_size=4, epochs=1, shuffle=False, mask=True)))
    model([features, adjacency])
    set_weights(model)
    history = model.fit(loader.load(), steps_per_epoch=loader.steps_per_epoch, epochs=3, verbose=0).history
    return found | {"losses": history["loss"], "prediction": model.predict([features, adjacency], verbose=0)}
