import gradtape as tf

true_w, true_b = 3.0, 2.0
x = tf.linspace(-2.0, 2.0, 101)
y = true_w * x + true_b

w = tf.Variable(5.0)
b = tf.Variable(0.0)

for epoch in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - (w * x + b)))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
    if epoch % 5 == 0:
        print("epoch %d: w = %.3f, b = %.3f, loss = %2.5f" % (epoch, w.numpy(), b.numpy(), loss))

print(w)
print(tf.constant([[1, 2], [3, 4]]) @ tf.constant([[5], [6]]))
