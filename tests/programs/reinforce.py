"""REINFORCE on a corridor: a policy, discounted returns, stop_gradient, and a learned baseline."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(5)
LENGTH, GAMMA = 6, 0.9

w1 = tf.Variable(rng.normal(size=(LENGTH, 8)).astype("float32") * 0.3)
w2 = tf.Variable(rng.normal(size=(8, 2)).astype("float32") * 0.3)
wv = tf.Variable(tf.zeros([8, 1]))
variables = [w1, w2, wv]
optimizer = tf.keras.optimizers.SGD(0.1)


def policy_and_value(states):
    hidden = tf.tanh(tf.gather(w1, states))
    return tf.matmul(hidden, w2), tf.squeeze(tf.matmul(hidden, wv), -1)


def episode():
    position, states, actions, rewards = 2, [], [], []
    for _ in range(12):
        logits, _ = policy_and_value(tf.constant([position]))
        probability = tf.nn.softmax(logits)[0, 1].numpy()
        action = int(rng.uniform() < probability)
        states.append(position)
        actions.append(action)
        position = min(max(position + (1 if action else -1), 0), LENGTH - 1)
        rewards.append(1.0 if position == LENGTH - 1 else -0.1)
        if position == LENGTH - 1:
            break
    return states, actions, rewards


def expected_return(rewards):
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    returns = tf.TensorArray(dtype=tf.float32, size=len(rewards))
    total = tf.constant(0.0)
    for i in range(len(rewards)):
        total = rewards[i] + GAMMA * total
        returns = returns.write(i, total)
    return returns.stack()[::-1]


for number in range(15):
    states, actions, rewards = episode()
    returns = expected_return(rewards)
    with tf.GradientTape() as tape:
        logits, values = policy_and_value(tf.constant(states))
        chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        advantage = tf.stop_gradient(returns - values)
        actor_loss = tf.reduce_sum(chosen * advantage)
        critic_loss = tf.reduce_sum(tf.square(returns - values))
        loss = actor_loss + 0.5 * critic_loss
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    if number % 5 == 0:
        print("episode", number, "length", len(states), "loss", float(loss), "return", float(returns[0]))
logits, values = policy_and_value(tf.range(LENGTH))
print("to the right", tf.nn.softmax(logits)[:, 1].numpy())
