"""phasespace: two-, three-body and sequential decays with resonances: momenta and weights of events for a seed."""

import numpy as np
import phasespace
import tensorflow as tf


def summary(weights, momenta):
    found = {"weights": weights[:5]}
    for name, momentum in momenta.items():
        found[name] = np.asarray(momentum)[:3]
        found[f"{name} mass"] = tf.reduce_mean(tf.sqrt(momentum[:, 3] ** 2 - tf.reduce_sum(momentum[:, :3] ** 2, 1)))
    return found


def numbers():
    found = {}
    weights, momenta = phasespace.nbody_decay(5279.0, [493.7, 139.6]).generate(n_events=200, seed=1)
    found |= {f"two {name}": value for name, value in summary(weights, momenta).items()}

    def resonance(min_mass, max_mass, n_events):
        low, high = tf.cast(min_mass, tf.float64), tf.cast(max_mass, tf.float64)
        share = tf.cast(tf.linspace(0.1, 0.9, n_events), tf.float64)
        return low + (tf.minimum(high, low + 500.0) - low) * share

    kaon, pion, gamma = (phasespace.GenParticle(n, m) for n, m in (("K+", 493.7), ("pi-", 139.6), ("gamma", 0.0)))
    star = phasespace.GenParticle("K*", resonance).set_children(kaon, pion)
    weights, momenta = phasespace.GenParticle("B0", 5279.6).set_children(star, gamma).generate(n_events=150, seed=2)
    found |= {f"chain {name}": value for name, value in summary(weights, momenta).items()}
    boost = tf.constant([[0.0, 0.0, 3000.0, 6072.0]], tf.float64)
    weights, momenta = phasespace.nbody_decay(5279.0, [493.7, 139.6, 139.6]).generate(100, boost_to=boost, seed=3)
    return found | {f"boosted {name}": value for name, value in summary(weights, momenta).items()}
