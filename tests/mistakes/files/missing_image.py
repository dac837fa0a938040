import tensorflow as tf

image = tf.io.decode_jpeg(tf.io.read_file("no_such_image.jpg"))
