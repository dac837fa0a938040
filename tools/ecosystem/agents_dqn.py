"""tf-agents: DQN with a replay buffer on a toy environment, trained in functions; an actor network's distribution."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.environments import py_environment, tf_py_environment
from tf_agents.networks import actor_distribution_network, q_network
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common
from weights import set_weights


class Corridor(py_environment.PyEnvironment):
    """Walk right to the end of a corridor."""

    def __init__(self):
        super().__init__()
        self.place = 0

    def action_spec(self):
        return array_spec.BoundedArraySpec((), np.int32, 0, 1, "action")

    def observation_spec(self):
        return array_spec.BoundedArraySpec((3,), np.float32, -10, 10, "observation")

    def observe(self):
        return np.array([self.place, self.place**2 / 4, 1], np.float32)

    def _reset(self):
        self.place = 0
        return ts.restart(self.observe())

    def _step(self, action):
        if self._current_time_step.is_last():
            return self.reset()
        self.place += 1 if action else -1
        if abs(self.place) == 4:
            return ts.termination(self.observe(), float(self.place > 0))
        return ts.transition(self.observe(), -0.1, 0.9)


def numbers():
    environment = tf_py_environment.TFPyEnvironment(Corridor())
    network = q_network.QNetwork(environment.observation_spec(), environment.action_spec(), fc_layer_params=(8,))
    agent = dqn_agent.DqnAgent(
        environment.time_step_spec(), environment.action_spec(), q_network=network,
        optimizer=tf.keras.optimizers.Adam(0.01), td_errors_loss_fn=common.element_wise_squared_loss,
        train_step_counter=tf.Variable(0, dtype=tf.int64), target_update_period=3, epsilon_greedy=0.0,
    )  # fmt: skip
    agent.initialize()
    set_weights(network)
    agent.initialize()
    agent.train = common.function(agent.train)
    buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(agent.collect_data_spec, batch_size=1, max_length=64)
    random = np.random.RandomState(0)
    step, rewards = environment.reset(), []
    for _ in range(32):
        following = environment.step(tf.constant([random.randint(2)], tf.int32))
        action = agent.collect_policy.action(step)
        taken = action.replace(action=tf.constant([environment.pyenv.envs[0].place % 2], tf.int32))
        buffer.add_batch(trajectory.from_transition(step, taken, following))
        rewards.append(float(following.reward[0]))
        step = following
    found = {"rewards": rewards, "greedy": agent.policy.action(environment.reset()).action}
    everything = buffer.gather_all()
    found["observations"] = everything.observation
    pairs = tf.nest.map_structure(lambda x: tf.stack([x[0, :-1], x[0, 1:]], 1), everything)
    found["losses"] = [float(agent.train(pairs).loss) for _ in range(8)]
    found["values"] = network(everything.observation[0])[0]
    dataset = buffer.as_dataset(sample_batch_size=4, num_steps=2, single_deterministic_pass=False)
    sampled, _ = next(iter(dataset))
    found["sampled"] = sampled.observation.shape
    actor = actor_distribution_network.ActorDistributionNetwork(
        environment.observation_spec(), environment.action_spec(), fc_layer_params=(6,)
    )
    actor.create_variables()
    set_weights(actor)
    step = environment.current_time_step()
    distribution, _ = actor(step.observation, step.step_type, ())
    found["actor"] = distribution.logits
    return found
