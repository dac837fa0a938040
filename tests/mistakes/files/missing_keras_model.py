import tensorflow as tf

model = tf.keras.models.load_model("no_such_model.keras")
