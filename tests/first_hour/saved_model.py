import gradtape as tf


class Dense(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.stateless_normal([in_features, out_features], seed=[7, 8]), name="w")
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class SequentialModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def __call__(self, x):
        x = self.dense_1(x)
        if tf.reduce_mean(x) > 100.0:
            x = x / 100.0
        return self.dense_2(x)


my_model = SequentialModule(name="the_model")
print([v.name for v in my_model.trainable_variables], len(my_model.submodules))
print(my_model([[2.0, 2.0, 2.0]]))

tf.saved_model.save(my_model, "the_saved_model")
new_model = tf.saved_model.load("the_saved_model")
print(isinstance(new_model, SequentialModule))
print(new_model(tf.ones([4, 3])))
print(new_model(tf.ones([1, 3]) * 1000.0))
print(list(new_model.signatures), new_model.dense_1.w.shape)

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(new_model(tf.ones([4, 3])))
print(tape.gradient(loss, new_model.dense_2.b))

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, kernel_initializer="ones")])
model.export("exported", verbose=False)
serve = tf.saved_model.load("exported")
print(serve.serve(tf.constant([[1.0, 2.0, 3.0]])))
