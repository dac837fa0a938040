import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Conv2D, Dense, Flatten, MaxPooling2D

print("TensorFlow version:", tf.__version__)
tf.keras.utils.set_random_seed(10)

x_train = tf.random.stateless_uniform((64, 12, 12), seed=[1, 5]).numpy()
y_train = (x_train.mean((1, 2)) > 0.5).astype("int64")
x_train = x_train[..., tf.newaxis].astype("float32")
train_ds = tf.data.Dataset.from_tensor_slices((x_train[:48], y_train[:48])).batch(16)
test_ds = tf.data.Dataset.from_tensor_slices((x_train[48:], y_train[48:])).batch(16)


class MyModel(Model):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(8, 3, activation="relu")
        self.pool = MaxPooling2D()
        self.flatten = Flatten()
        self.d1 = Dense(16, activation="relu")
        self.d2 = Dense(2)

    def call(self, x):
        x = self.pool(self.conv1(x))
        return self.d2(self.d1(self.flatten(x)))


model = MyModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean(name="train_loss")
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    train_accuracy(labels, predictions)


@tf.function
def test_step(images, labels):
    test_accuracy(labels, model(images, training=False))


for epoch in range(3):
    train_loss.reset_state()
    train_accuracy.reset_state()
    test_accuracy.reset_state()
    for images, labels in train_ds:
        train_step(images, labels)
    for test_images, test_labels in test_ds:
        test_step(test_images, test_labels)
    print(
        f"Epoch {epoch + 1}, "
        f"Loss: {train_loss.result():0.3f}, "
        f"Accuracy: {train_accuracy.result() * 100:0.2f}, "
        f"Test Accuracy: {test_accuracy.result() * 100:0.2f}"
    )
