import gradtape as tf
import keras
from keras import layers, mixed_precision

mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(6)

inputs = keras.Input(shape=(8,), name="digits")
x = layers.Dense(16, activation="relu")(inputs)
print(x.dtype, model_dtype := layers.Dense(1).dtype_policy.name)
x = layers.Dense(3)(x)
outputs = layers.Activation("softmax", dtype="float32")(x)
model = keras.Model(inputs, outputs)
print(model.layers[1].kernel.dtype, outputs.dtype)

data = tf.random.stateless_normal((60, 8), seed=[2, 3])
labels = tf.argmax(data[:, :3], axis=1)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(data, labels, batch_size=20, epochs=2, verbose=0)
print([round(v, 2) for v in history.history["loss"]])

optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
loss_object = keras.losses.SparseCategoricalCrossentropy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for _ in range(3):
    loss = train_step(data, labels)
print(loss.dtype, round(float(loss), 1), float(optimizer.dynamic_scale))
mixed_precision.set_global_policy("float32")
