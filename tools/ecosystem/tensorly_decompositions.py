"""tensorly: CP, Tucker, tensor-train and robust decompositions on tensors, gradients through them, a regression."""

import numpy as np
import tensorflow as tf
import tensorly as tl
from tensorly import decomposition
from tensorly.regression import CPRegressor

tl.set_backend("tensorflow")
random = np.random.RandomState(0)
cube = random.rand(4, 5, 3)


def numbers():
    tensor = tl.tensor(cube)
    found = {"unfolded": tl.unfold(tensor, 1), "product": tl.tenalg.mode_dot(tensor, tl.tensor(random.rand(2, 5)), 1)}
    weights, factors = decomposition.parafac(tensor, rank=2, init="svd", n_iter_max=20)
    found |= {"cp weights": weights, "cp": tl.cp_to_tensor((weights, factors))}
    found["tucker"] = tl.tucker_to_tensor(decomposition.tucker(tensor, rank=[2, 2, 2], n_iter_max=20))
    found["train"] = tl.tt_to_tensor(decomposition.tensor_train(tensor, rank=[1, 2, 2, 1]))
    found["nonnegative"] = tl.cp_to_tensor(
        decomposition.non_negative_parafac(tensor, rank=2, init="svd", n_iter_max=10)
    )
    low, sparse = decomposition.robust_pca(tensor, n_iter_max=5)
    found |= {"low rank": low, "sparse": sparse}
    variables = [tf.Variable(random.rand(size, 2)) for size in cube.shape]
    with tf.GradientTape() as tape:
        difference = tl.norm(tl.cp_to_tensor((None, [v.value() for v in variables])) - tensor)
    gradients = tape.gradient(difference, variables)
    found |= {f"gradient {i}": gradient for i, gradient in enumerate(gradients)}
    estimator = CPRegressor(weight_rank=2, n_iter_max=10, random_state=1, verbose=0)
    estimator.fit(tl.tensor(random.rand(20, 4, 3)), tl.tensor(random.rand(20)))
    return found | {"regression": estimator.predict(tl.tensor(np.ones((2, 4, 3))))}
