import tempfile

import tensorflow as tf


class Module(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None,), tf.float32)])
    def predict(self, x):
        return x * 2.0


folder = tempfile.mkdtemp()
tf.saved_model.save(Module(), folder)
model = tf.saved_model.load(folder)
print(model.signatures["predict"](tf.constant([1.0])))
