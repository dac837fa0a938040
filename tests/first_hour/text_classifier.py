import gradtape as tf
from keras import layers
import keras

keras.utils.set_random_seed(9)
texts = tf.constant(
    ["a great movie", "a terrible film", "great fun", "terrible waste of time", "fun and great", "waste"]
)
labels = tf.constant([1, 0, 1, 0, 1, 0])

vectorize = layers.TextVectorization(max_tokens=20, output_mode="int", output_sequence_length=5)
vectorize.adapt(texts)
print(vectorize.get_vocabulary())
print(vectorize(texts[:2]))


def prepare(text, label):
    return vectorize(text), label


train = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(2).map(prepare).cache().prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([
    keras.Input((5,), dtype="int64"),
    layers.Embedding(20, 8, mask_zero=True),
    layers.Bidirectional(layers.LSTM(8)),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(train, epochs=5, verbose=0)
print([round(v, 3) for v in history.history["loss"]])
print(model(vectorize(["great great"])).numpy())
