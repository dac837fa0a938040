import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(2)

net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.1)
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)
manager = tf.train.CheckpointManager(ckpt, "./tf_ckpts", max_to_keep=3)

x = tf.random.stateless_normal((16, 3), seed=[1, 2])
y = tf.reduce_sum(x, axis=1, keepdims=True)


def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


ckpt.restore(manager.latest_checkpoint)
if manager.latest_checkpoint:
    print("Restored from {}".format(manager.latest_checkpoint))
else:
    print("Initializing from scratch.")

for _ in range(50):
    loss = train_step()
    ckpt.step.assign_add(1)
    if int(ckpt.step) % 10 == 0:
        save_path = manager.save()
        print("Saved checkpoint for step {}: {}, loss {:1.4f}".format(int(ckpt.step), save_path, loss.numpy()))

before = net(x[:2]).numpy()
for v in net.trainable_variables:
    v.assign(tf.zeros_like(v))
status = ckpt.restore(manager.checkpoints[-1])
status.assert_existing_objects_matched()
print("restored", int(ckpt.step), float(tf.reduce_max(tf.abs(net(x[:2]) - before))) < 1.0)
print(len(manager.checkpoints), [name for name, _ in tf.train.list_variables("./tf_ckpts") if "net" in name][:3])
