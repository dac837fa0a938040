"""A two-tower recommender: names looked up by `StringLookup`, embeddings, a dot product, weights per rating."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(41)
rng = np.random.default_rng(14)
users = np.array([f"user_{i}" for i in range(12)])
films = np.array(["alien", "brazil", "casablanca", "dune", "elf", "fargo", "gandhi", "heat"])
taste, theme = rng.normal(size=(12, 3)), rng.normal(size=(8, 3))
pairs = np.array([(u, f) for u in range(12) for f in range(8)])
rng.shuffle(pairs)
ratings = 3 + np.clip((taste[pairs[:, 0]] * theme[pairs[:, 1]]).sum(1), -2, 2).astype("float32")
certain = rng.uniform(0.5, 1.5, len(pairs)).astype("float32")

user_lookup = keras.layers.StringLookup()
user_lookup.adapt(users)
film_lookup = keras.layers.StringLookup(vocabulary=films, num_oov_indices=1)
print(user_lookup.vocabulary_size(), film_lookup(tf.constant(["heat", "unheard of"])).numpy().tolist())


def encode(row, rating, weight):
    return {"user": user_lookup(row["user"]), "film": film_lookup(row["film"])}, rating, weight


rows = {"user": users[pairs[:, 0]], "film": films[pairs[:, 1]]}
data = tf.data.Dataset.from_tensor_slices((rows, ratings, certain))
train = data.take(80).shuffle(80, seed=3).batch(16).map(encode, num_parallel_calls=tf.data.AUTOTUNE).prefetch(1)
held = data.skip(80).batch(16).map(encode)


class Towers(keras.Model):
    def __init__(self, width=4):
        super().__init__()
        self.user = keras.layers.Embedding(user_lookup.vocabulary_size(), width, embeddings_regularizer="l2")
        self.user_bias = keras.layers.Embedding(user_lookup.vocabulary_size(), 1)
        self.film = keras.layers.Embedding(film_lookup.vocabulary_size(), width)
        self.film_bias = keras.layers.Embedding(film_lookup.vocabulary_size(), 1)
        self.dot = keras.layers.Dot(axes=-1)

    def call(self, inputs):
        match = self.dot([self.user(inputs["user"]), self.film(inputs["film"])])
        return 3.0 + match + self.user_bias(inputs["user"]) + self.film_bias(inputs["film"])


model = Towers()
model.compile(keras.optimizers.SGD(0.2), "mse", weighted_metrics=["mae"])
history = model.fit(train, validation_data=held, epochs=3, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
scores = model.predict({"user": np.full(8, 3), "film": np.arange(1, 9)}, verbose=0).ravel()
print("best for", users[0], [films[i] for i in np.argsort(-scores)[:3]], np.round(scores, 4).tolist())
