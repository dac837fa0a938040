"""Learns to balance a pole on a cart (CartPole) with an actor-critic method.

The environment is written in NumPy. While an episode is played, a tape records the log-probability of each action and
the critic's value of each state; one call of `gradient` at its end gives the policy gradient.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

LIMIT = 500
DISCOUNT = 0.99
ENTROPY = 0.01


class CartPole:
    """A pole (1 m, 0.1 kg) on a cart (1 kg) that is pushed by 10 N: the equations of Barto, Sutton and Anderson."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def reset(self) -> np.ndarray:
        """Returns the first state: position, velocity, angle, angular velocity."""
        self.state = self.rng.uniform(-0.05, 0.05, size=4)
        return self.state

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        """Pushes left (0) or right (1) for 0.02 s; returns the state, and whether the pole or the cart has failed."""
        _, velocity, angle, spin = self.state
        sin, cos = np.sin(angle), np.cos(angle)
        push = ((10.0 if action else -10.0) + 0.05 * spin**2 * sin) / 1.1
        angular = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        linear = push - 0.05 * angular * cos / 1.1
        self.state = self.state + 0.02 * np.array([velocity, linear, spin, angular])
        return self.state, bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > np.deg2rad(12))


class Agent(tf.Module):
    """A hidden layer, and from it the log-probabilities of both actions and the value of the state."""

    def __init__(self, width: int, seed: int) -> None:
        super().__init__()
        self.hidden = tf.Variable(tf.random.stateless_normal((4, width), seed=(seed, 0)))
        self.bias = tf.Variable(tf.zeros(width))
        self.heads = tf.Variable(tf.random.stateless_normal((width, 3), seed=(seed, 1)) * 0.01)

    def __call__(self, states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        outputs = tf.tanh(states @ self.hidden + self.bias) @ self.heads
        return tf.nn.log_softmax(outputs[:, :2]), outputs[:, 2]


SCALE = np.array([1.0, 1.0, 0.1, 1.0])  # of a typical state


def play(agent: Agent, world: CartPole, rng: np.random.Generator) -> tuple[list[tf.Tensor], list[tf.Tensor], float]:
    """Plays an episode; returns the log-probability of each action, each value, and the value after the last state."""
    state, policies, log_probabilities, values = world.reset(), [], [], []
    for _ in range(LIMIT):
        log_policy, value = agent(tf.constant([state / SCALE], tf.float32))
        action = int(rng.uniform() < np.exp(log_policy[0, 1]))
        policies.append(log_policy[0])
        log_probabilities.append(log_policy[0, action])
        values.append(value[0])
        state, failed = world.step(action)
        if failed:
            return tf.stack(policies), log_probabilities, values, 0.0
    return tf.stack(policies), log_probabilities, values, float(agent(tf.constant([state / SCALE], tf.float32))[1][0])


def run(episodes: int = 200, width: int = 64, rate: float = 3e-3, seed: int = 1) -> dict[str, Any]:
    """Returns the length of each episode, which is its reward, and the agent."""
    rng = np.random.default_rng(seed)
    world, agent = CartPole(rng), Agent(width, seed)
    optimizer = tf.keras.optimizers.Adam(rate)
    rewards = []
    for _ in range(episodes):
        with tf.GradientTape() as tape:
            policies, log_probabilities, values, last = play(agent, world, rng)
            rest = DISCOUNT ** np.arange(len(values), 0, -1)  # the returns below are sums of powers of DISCOUNT
            returns = ((1.0 - rest) + rest * last).astype(np.float32)
            advantages = returns - tf.stack(values)
            actor = -tf.reduce_mean(tf.stack(log_probabilities) * tf.stop_gradient(advantages))
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(policies) * policies, axis=1))
            loss = actor + 0.5 * tf.reduce_mean(tf.square(advantages)) - ENTROPY * entropy
        variables = agent.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        rewards.append(len(values))
    return {"rewards": rewards, "agent": agent}


def draw(results: dict[str, Any], file: Path) -> None:
    """Saves the reward of each episode, and the policy as a function of the pole's angle and angular velocity."""
    figure = Figure(figsize=(6, 6.4), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    rewards = np.array(results["rewards"])
    top.plot(rewards, ".", color="0.7", label="episode")
    top.plot(np.arange(19, len(rewards)), np.convolve(rewards, np.full(20, 0.05), "valid"), label="mean of 20")
    top.set(xlabel="episode", ylabel="steps balanced", ylim=(0, LIMIT * 1.05))
    top.legend(loc="lower right")
    angles, spins = np.meshgrid(np.linspace(-0.2, 0.2, 80), np.linspace(-2, 2, 80))
    states = np.stack([np.zeros_like(angles), np.zeros_like(angles), angles, spins], axis=-1).reshape(-1, 4)
    right = np.exp(results["agent"](tf.constant(states / SCALE, tf.float32))[0][:, 1].numpy()).reshape(80, 80)
    image = bottom.pcolormesh(np.rad2deg(angles), spins, right, cmap="coolwarm", vmin=0, vmax=1)
    bottom.set(xlabel="angle of the pole (degrees)", ylabel="angular velocity (1/s)")
    figure.colorbar(image, ax=bottom, label="probability to push right")
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    print(f"steps balanced: {np.mean(results['rewards'][:20]):.0f} on average in the first 20 episodes")
    print(f"and {np.mean(results['rewards'][-20:]):.0f} in the last 20, of at most {LIMIT}")
