"""The actor-critic tutorial: a whole episode in a `tf.function`, the environment behind `tf.numpy_function`."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Environment:
    """A point that is pushed left or right; the episode ends when it is far away, or after some steps."""

    def reset(self):
        self.noise = np.random.RandomState(0)
        self.state, self.time = np.zeros(4, np.float32), 0
        return self.state

    def step(self, action):
        self.time += 1
        jvp = 0.1 if action else -0.1
        self.state = (self.state * 0.9 + self.noise.normal(size=4) * 0.1 + jvp).astype(np.float32)
        return self.state, 1.0, self.time >= 12 or abs(self.state[0]) > 0.5


environment = Environment()


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions: int, num_hidden_units: int):
        super().__init__()
        start = tf.keras.initializers.Constant(0.05)
        self.common = layers.Dense(num_hidden_units, activation="relu", kernel_initializer=start)
        self.actor = layers.Dense(num_actions, kernel_initializer=start)
        self.critic = layers.Dense(1, kernel_initializer=start)

    def call(self, inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


@tf.numpy_function(Tout=[tf.float32, tf.int32, tf.int32])
def env_step(action):
    state, reward, done = environment.step(action)
    return state.astype(np.float32), np.array(reward, np.int32), np.array(done, np.int32)


def run_episode(initial_state, model, max_steps):
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
    initial_state_shape = initial_state.shape
    state = initial_state
    for t in tf.range(max_steps):
        state = tf.expand_dims(state, 0)
        action_logits_t, value = model(state)
        action = tf.random.stateless_categorical(action_logits_t, 1, seed=tf.stack([t, 7]))[0, 0]
        action_probs_t = tf.nn.softmax(action_logits_t)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, action_probs_t[0, action])
        state, reward, done = env_step(action)
        state.set_shape(initial_state_shape)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break
    return action_probs.stack(), values.stack(), rewards.stack()


def get_expected_return(rewards, gamma, standardize=True):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted_sum = tf.constant(0.0)
    discounted_sum_shape = discounted_sum.shape
    for i in tf.range(n):
        discounted_sum = rewards[i] + gamma * discounted_sum
        discounted_sum.set_shape(discounted_sum_shape)
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    if standardize:
        returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-7)
    return returns


huber_loss = tf.keras.losses.Huber(reduction="sum")


def compute_loss(action_probs, values, returns):
    advantage = returns - values
    actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
    return actor_loss + huber_loss(values, returns)


model = ActorCritic(2, 16)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)


@tf.function
def train_step(initial_state, model, optimizer, gamma, max_steps_per_episode):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(initial_state, model, max_steps_per_episode)
        returns = get_expected_return(rewards, gamma)
        action_probs, values, returns = [tf.expand_dims(x, 1) for x in [action_probs, values, returns]]
        loss = compute_loss(action_probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.math.reduce_sum(rewards)


for i in range(6):
    initial_state = tf.constant(environment.reset(), dtype=tf.float32)
    loss, episode_reward = train_step(initial_state, model, optimizer, 0.99, 20)
    print("episode", i, int(episode_reward), f"{loss:.4f}")
print(model.common.kernel.numpy().sum(axis=1))
