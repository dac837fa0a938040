"""ampligraph: TransE, DistMult and ComplEx embeddings of a knowledge graph, trained with fit; scores of triples."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from ampligraph.evaluation import hits_at_n_score, mrr_score
from ampligraph.latent_features import ScoringBasedEmbeddingModel

triples = np.array(
    [
        ["a", "y", "b"], ["b", "y", "a"], ["a", "y", "c"], ["c", "y", "a"], ["a", "y", "d"], ["c", "y", "d"],
        ["b", "y", "c"], ["f", "y", "e"], ["a", "x", "f"], ["c", "x", "e"],
    ]
)  # fmt: skip


def numbers():
    found = {}
    for scoring in ("TransE", "DistMult", "ComplEx"):
        tf.random.set_seed(1)
        model = ScoringBasedEmbeddingModel(eta=2, k=4, scoring_type=scoring, seed=0)
        # No optimizer with momentum: TensorFlow decays it once more when the data of an epoch end inside the function.
        optimizer = tf.keras.optimizers.Adagrad(0.5)
        model.compile(optimizer, loss="nll", entity_relation_initializer=tf.keras.initializers.Constant(0.1))
        history = model.fit(triples, batch_size=5, epochs=3, verbose=False).history
        found |= {f"{scoring} losses": history["loss"], scoring: model.predict(triples[:4])}
        ranks = model.evaluate(triples[-2:], batch_size=2, corrupt_side="s,o", verbose=False)
        found[f"{scoring} ranks"] = [mrr_score(ranks), hits_at_n_score(ranks, 3)]
    return found
