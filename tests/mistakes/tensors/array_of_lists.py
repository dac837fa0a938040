import numpy as np
import tensorflow as tf

sentences = np.array([[1, 2, 3], [4, 5]], dtype=object)
print(tf.convert_to_tensor(sentences))
