"""Programs with one mistake each, on the line marked `# mistake`: `tools/check_types.py` expects these reports.

The file is never run.
"""

import gradtape as tf

x = tf.constant([1.0, 2.0])
v = tf.Variable(1.0)


def misspelled_namespace() -> None:
    tf.matth.sin(x)  # mistake


def misspelled_function() -> None:
    tf.reduce_summ(x)  # mistake


def misspelled_member() -> None:
    tf.nn.reluu(x)  # mistake


def misspelled_method() -> None:
    x.nunpy()  # mistake


def array_method_on_tensor() -> None:
    x.reshape([2, 1])  # mistake


def wrong_keyword() -> None:
    tf.reduce_sum(x, axes=0)  # mistake


def keyword_of_numpy() -> None:
    tf.reduce_mean(x, keep_dims=True)  # mistake


def missing_argument() -> None:
    tf.matmul(x)  # mistake


def too_many_arguments() -> None:
    tf.sin(x, None, 3)  # mistake


def text_for_a_tensor() -> None:
    tf.sin("1.0")  # mistake


def text_as_operand() -> None:
    print(x + "1.0")  # mistake


def text_for_an_axis() -> None:
    tf.reduce_sum(x, axis="rows")  # mistake


def number_for_a_name() -> None:
    tf.square(x, name=3)  # mistake


def gradient_that_may_be_none() -> None:
    with tf.GradientTape() as tape:
        y = v * v
    gradient = tape.gradient(y, v)
    print(gradient.numpy())  # mistake


def gradients_of_a_list() -> None:
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, [v]).numpy()  # mistake


def function_of_tensors() -> None:
    @tf.function
    def scaled(a: tf.Tensor, factor: int) -> tf.Tensor:
        return a * factor

    scaled(x)  # mistake


def result_of_a_function() -> None:
    @tf.function
    def pair(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return a, a

    pair(x).numpy()  # mistake


def wrong_enum() -> None:
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v, unconnected_gradients=tf.UnconnectedGradients.ZEROS)  # mistake


def misspelled_option() -> None:
    tf.GradientTape(persistant=True)  # mistake


def dataset_method() -> None:
    tf.data.Dataset.range(3).shufle(3)  # mistake


def jacobian_that_may_be_none() -> None:
    with tf.GradientTape() as tape:
        y = v * v
    tape.jacobian(y, v).numpy()  # mistake


def hessian_of_a_list() -> None:
    with tf.GradientTape() as tape:
        y = v * v
    tape.hessian(y, [v]).numpy()  # mistake


def product_that_may_be_none() -> None:
    with tf.autodiff.ForwardAccumulator(x, x) as accumulator:
        y = x * x
    accumulator.jvp(y).numpy()  # mistake


def method_of_an_element() -> None:
    for element in tf.data.Dataset.range(3).map(tf.square).batch(2):
        element.nunpy()  # mistake


def components_of_an_element() -> None:
    for features, labels, weights in tf.data.Dataset.from_tensor_slices((x, x)):  # mistake
        print(features, labels, weights)


def dictionary_for_a_tensor() -> None:
    for row in tf.data.Dataset.from_tensor_slices({"x": x}):
        row.numpy()  # mistake


def element_with_its_index() -> None:
    for element in tf.data.Dataset.range(3).enumerate():
        element.numpy()  # mistake


def keyword_of_a_compiled_function() -> None:
    @tf.function(jit_compile=True)
    def scaled(a: tf.Tensor, factor: int = 2) -> tf.Tensor:
        return a * factor

    scaled(x, faktor=3)  # mistake


def misspelled_layer() -> None:
    tf.keras.layers.Dens(3)  # mistake


def layer_without_units() -> None:
    tf.keras.layers.Dense(activation="relu")  # mistake


def keyword_of_a_regularizer() -> None:
    tf.keras.regularizers.L2(factor=0.1)  # mistake
