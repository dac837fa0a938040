import gradtape as tf
from keras import layers, models
import numpy as np

tf.keras.utils.set_random_seed(1)

rng = np.random.default_rng(0)
x_train = rng.random((256, 28, 28)).astype("float32")
y_train = (x_train[:, :14].mean((1, 2)) > x_train[:, 14:].mean((1, 2))).astype("int32")

model = models.Sequential([
    layers.Input((28, 28)),
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(2),
])
model.summary()
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(x_train, y_train, epochs=3, verbose=0, validation_split=0.25)
print({name: [round(v, 3) for v in values] for name, values in history.history.items()})
loss, accuracy = model.evaluate(x_train, y_train, verbose=0)
print("loss", loss, "accuracy", accuracy)
probability_model = tf.keras.Sequential([model, layers.Softmax()])
print(probability_model(x_train[:3]))
print(tf.argmax(model.predict(x_train[:5], verbose=0), axis=1))
