import tensorflow as tf

image = tf.io.decode_jpeg(b"this is not a picture")
