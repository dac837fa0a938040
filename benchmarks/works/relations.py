"""Rows of tables and edges of graphs: what a step touches is gathered, and gradients are scattered back."""

import numpy as np

from .work import Work, layers, size


class Word2vec(Work):
    """Skip-grams with negative samples: of 20,000 rows, a step changes some hundred; plain descent on these alone."""

    title = "word2vec, 20,000 words, 64-dimensional embeddings, 256 pairs with 5 negatives, sparse rows"
    sizes = size(words=20_000, width=64, pairs=256)
    tiny = size(words=9, width=3, pairs=4)
    update = "sparse_descent"
    rate = 0.05

    def weights(self, rng):
        return [0.1 * rng.normal(size=(self.words, self.width)) for _ in range(2)]

    def batch(self, rng):
        return rng.integers(0, self.words, self.pairs), rng.integers(0, self.words, (self.pairs, 6))

    def tape(self, tf):
        def loss(weights, centres, contexts):
            centre = tf.nn.embedding_lookup(weights[0], centres)
            context = tf.nn.embedding_lookup(weights[1], contexts)
            scores = tf.einsum("pw,pcw->pc", centre, context)
            right, wrong = scores[:, 0], scores[:, 1:]
            return -tf.reduce_sum(tf.math.log_sigmoid(right)) - tf.reduce_sum(tf.math.log_sigmoid(-wrong))

        return loss

    def torch(self):
        import torch
        import torch.nn.functional as F

        def loss(weights, centres, contexts):
            centre = F.embedding(centres, weights[0], sparse=True)
            context = F.embedding(contexts, weights[1], sparse=True)
            scores = torch.einsum("pw,pcw->pc", centre, context)
            right, wrong = scores[:, 0], scores[:, 1:]
            return -F.logsigmoid(right).sum() - F.logsigmoid(-wrong).sum()

        return loss

    def jax(self):
        import jax
        import jax.numpy as jnp

        def loss(weights, centres, contexts):
            scores = jnp.einsum("pw,pcw->pc", weights[0][centres], weights[1][contexts])
            return -jax.nn.log_sigmoid(scores[:, 0]).sum() - jax.nn.log_sigmoid(-scores[:, 1:]).sum()

        return loss


class Recommender(Work):
    """Matrix factorisation of ratings, with biases of users and items, and Adam on the whole tables."""

    title = "matrix factorization, 2000 users, 3000 items, 32 factors, 512 ratings"
    sizes = size(users=2000, items=3000, factors=32, ratings=512)
    tiny = size(users=5, items=6, factors=3, ratings=4)

    def weights(self, rng):
        users, items = rng.normal(size=(self.users, self.factors)), rng.normal(size=(self.items, self.factors))
        return [0.1 * users, 0.1 * items, np.zeros(self.users), np.zeros(self.items)]

    def batch(self, rng):
        n = self.ratings
        return rng.integers(0, self.users, n), rng.integers(0, self.items, n), rng.uniform(-2, 2, n)

    def tape(self, tf):
        def loss(weights, users, items, ratings):
            p, q = tf.gather(weights[0], users), tf.gather(weights[1], items)
            guess = tf.reduce_sum(p * q, axis=1) + tf.gather(weights[2], users) + tf.gather(weights[3], items)
            penalty = 0.01 * (tf.reduce_sum(p**2) + tf.reduce_sum(q**2)) / self.ratings
            return tf.reduce_mean((guess - ratings) ** 2) + penalty

        return loss

    def torch(self):
        import torch.nn.functional as F

        def loss(weights, users, items, ratings):
            p, q = F.embedding(users, weights[0]), F.embedding(items, weights[1])
            guess = (p * q).sum(1) + weights[2][users] + weights[3][items]
            penalty = 0.01 * ((p**2).sum() + (q**2).sum()) / self.ratings
            return F.mse_loss(guess, ratings) + penalty

        return loss

    def jax(self):
        def loss(weights, users, items, ratings):
            p, q = weights[0][users], weights[1][items]
            guess = (p * q).sum(1) + weights[2][users] + weights[3][items]
            penalty = 0.01 * ((p**2).sum() + (q**2).sum()) / self.ratings
            return ((guess - ratings) ** 2).mean() + penalty

        return loss


class GraphNetwork(Work):
    """Messages along the edges of a graph, summed at the nodes, twice: an energy of the graph is learnt."""

    title = "graph network, 400 nodes, 2400 edges, two rounds of messages"
    sizes = size(nodes=400, edges=2400, width=32)
    tiny = size(nodes=4, edges=7, width=3)

    def weights(self, rng):
        w = self.width
        return [*layers(rng, 2 * w, w), *layers(rng, 2 * w, w)] * 2 + layers(rng, w, 1)

    def batch(self, rng):
        nodes, edges = self.nodes, rng.integers(0, self.nodes, (2, self.edges))
        return rng.normal(size=(nodes, self.width)), edges[0], edges[1], rng.normal()

    def passed(self, gather, joined, summed, relu, mean):
        def loss(weights, x, senders, receivers, energy):
            for wm, bm, wu, bu in (weights[:4], weights[4:8]):
                pairs = joined(gather(x, senders), gather(x, receivers))
                messages = relu(pairs @ wm + bm)
                x = x + relu(joined(x, 0.2 * summed(messages, receivers)) @ wu + bu)
            return (mean(x @ weights[8] + weights[9]) - energy) ** 2

        return loss

    def tape(self, tf):
        return self.passed(
            tf.gather,
            lambda a, b: tf.concat([a, b], axis=1),
            lambda x, where: tf.math.unsorted_segment_sum(x, where, self.nodes),
            tf.nn.relu,
            tf.reduce_mean,
        )

    def torch(self):
        import torch

        def summed(x, where):
            return torch.zeros(self.nodes, x.shape[1]).index_add(0, where, x)

        def joined(a, b):
            return torch.cat([a, b], dim=1)

        return self.passed(lambda x, where: x[where], joined, summed, torch.relu, torch.mean)

    def jax(self):
        import jax
        import jax.numpy as jnp

        def summed(x, where):
            return jax.ops.segment_sum(x, where, self.nodes)

        def joined(a, b):
            return jnp.concatenate([a, b], axis=1)

        return self.passed(lambda x, where: x[where], joined, summed, jax.nn.relu, jnp.mean)
