import gradtape as tf


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@tf.function
def first_above(xs, limit):
    found = -1.0
    for i in tf.range(tf.shape(xs)[0]):
        if xs[i] > limit:
            tf.print("found at", i)
            found = xs[i]
            break
    return found


@tf.function
def running_sum(xs):
    sums = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        if total > 10:
            break
        total += x
        sums = sums.write(sums.size(), total)
    return sums.stack()


@tf.function
def relu_or_square(x):
    if tf.reduce_sum(x) > 0 and not tf.reduce_any(x > 100.0):
        y = tf.nn.relu(x)
    elif tf.size(x) == 2:
        y = x * x
    else:
        y = tf.zeros_like(x)
    return y


print(collatz(tf.constant(27)))
print(first_above(tf.constant([1.0, 5.0, 9.0]), 4.0))
print(first_above(tf.constant([1.0, 2.0]), 4.0))
print(running_sum(tf.constant([1.0, -2.0, 4.0, 7.0, 9.0])))

x = tf.Variable([-3.0, 2.0])
with tf.GradientTape() as tape:
    y = relu_or_square(x)
print(y, tape.gradient(y, x))
print(tf.autograph.to_code(relu_or_square.python_function).splitlines()[0])
