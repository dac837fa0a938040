"""tensorflow-recommenders: a retrieval and a ranking task trained with fit, top-k search, cross layers."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
from weights import norms, set_weights


class TwoTowers(tfrs.Model):
    def __init__(self, movies):
        super().__init__()
        self.users = tf.keras.Sequential([tf.keras.layers.Embedding(20, 8)])
        self.movies = tf.keras.Sequential([tf.keras.layers.Embedding(30, 8)])
        candidates = movies.batch(10).map(lambda movie: (movie, self.movies(movie)))
        self.retrieval = tfrs.tasks.Retrieval(
            metrics=tfrs.metrics.FactorizedTopK(
                tfrs.layers.factorized_top_k.Streaming(k=10).index_from_dataset(candidates), ks=(1, 5, 10)
            )
        )
        self.rating = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        self.ranking = tfrs.tasks.Ranking(
            loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.RootMeanSquaredError()]
        )

    def compute_loss(self, inputs, training=False):
        users, movies = self.users(inputs["user"]), self.movies(inputs["movie"])
        rated = self.rating(tf.concat([users, movies], 1))
        retrieval = self.retrieval(users, movies, compute_metrics=not training, candidate_ids=inputs["movie"])
        return self.ranking(labels=inputs["rating"], predictions=rated[:, 0]) + 0.5 * retrieval


def numbers():
    random = np.random.RandomState(0)
    data = {
        "user": random.randint(0, 20, 64),
        "movie": random.randint(0, 30, 64),
        "rating": random.uniform(1, 5, 64).astype("float32"),
    }
    model = TwoTowers(tf.data.Dataset.from_tensor_slices(np.arange(30)))
    model.users(data["user"]), model.movies(data["movie"]), model.rating(tf.zeros((1, 16)))
    set_weights(model)
    model.compile(tf.keras.optimizers.Adagrad(0.1))
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(16)
    history = model.fit(dataset, epochs=3, verbose=0).history
    found = {"losses": history["total_loss"], "rating": history["root_mean_squared_error"]}
    found["top k"] = list(model.evaluate(dataset, return_dict=True, verbose=0).values())
    index = tfrs.layers.factorized_top_k.BruteForce(model.users, k=5)
    index.index(model.movies(np.arange(30)), tf.range(30))
    found["scores"], found["best"] = index(np.arange(4))
    cross = tfrs.layers.dcn.Cross(projection_dim=3)
    cross(tf.zeros((2, 6)))
    set_weights(cross, 1)
    x = tf.constant(random.randn(5, 6).astype("float32"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(cross(x, cross(x))))
    found |= {"cross": loss, "gradients": norms(tape.gradient(loss, cross.trainable_variables))}
    dots = tfrs.layers.feature_interaction.DotInteraction(self_interaction=False)
    found["dots"] = dots([tf.constant(random.randn(3, 4).astype("float32")) for _ in range(3)])
    return found
