"""trfl: temporal-difference, policy-gradient and distributional losses, their gradients; target updates."""

import numpy as np
import tensorflow as tf
import trfl

random = np.random.RandomState(0)
steps, batch, actions = 5, 3, 4


def draw(*shape):
    return tf.constant(random.randn(*shape).astype("float32"))


def numbers():
    choices = tf.constant(random.randint(0, actions, (steps, batch)), tf.int32)
    values, next_values, rewards, discounts = draw(batch, actions), draw(batch, actions), draw(batch), draw(batch)
    sequence, returns, gammas = draw(steps, batch, actions), draw(steps, batch), tf.fill((steps, batch), 0.9)
    losses = {
        "qlearning": lambda q: trfl.qlearning(q, choices[0], rewards, discounts, next_values).loss,
        "double": lambda q: trfl.double_qlearning(q, choices[0], rewards, discounts, next_values, values).loss,
        "sarsa": lambda q: trfl.sarsa(q, choices[0], rewards, discounts, next_values, choices[1]).loss,
        "persistent": lambda q: trfl.persistent_qlearning(q, choices[0], rewards, discounts, next_values).loss,
        "policy": lambda q: trfl.discrete_policy_gradient_loss(q[None], choices[:1], rewards[None]),
        "entropy": lambda q: trfl.discrete_policy_entropy_loss(q[None], normalise=True).loss,
        "huber": lambda q: trfl.huber_loss(q, 0.5),
    }
    found = {}
    for name, loss in losses.items():
        with tf.GradientTape() as tape:
            tape.watch(values)
            value = loss(values)
        found |= {name: value, f"{name} gradient": tape.gradient(value, values)}
    with tf.GradientTape() as tape:
        tape.watch(sequence)
        critic = trfl.sequence_advantage_actor_critic_loss(
            sequence, returns, choices, returns, gammas, rewards, lambda_=0.8, entropy_cost=0.1
        )
        value = tf.reduce_sum(critic.loss)
    found |= {"actor critic": value, "actor critic gradient": tape.gradient(value, sequence)}
    found["lambda returns"] = trfl.generalized_lambda_returns(returns, gammas, returns, rewards, lambda_=0.7)
    found["td lambda"] = trfl.td_lambda(returns, returns, gammas, rewards, lambda_=0.9).loss
    found["qlambda"] = trfl.qlambda(sequence, choices, returns, gammas, sequence, lambda_=0.5).loss
    support = tf.linspace(-1.0, 1.0, 5)
    found["categorical"] = trfl.categorical_dist_qlearning(
        support, draw(batch, actions, 5), choices[0], rewards, discounts, support, draw(batch, actions, 5)
    ).loss
    online, target = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    trfl.update_target_variables([target], [online], tau=0.3)
    return found | {"target": target}
