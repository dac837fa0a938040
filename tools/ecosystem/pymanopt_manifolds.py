"""pymanopt: a dominant eigenvector and subspace by three optimizers on manifolds, Riemannian gradients and Hessians."""

import numpy as np
import pymanopt
import tensorflow as tf
from pymanopt import manifolds, optimizers

random = np.random.RandomState(0)
matrix = random.randn(6, 6)
symmetric = matrix + matrix.T


def solve(manifold, cost, point, optimizer):
    function = pymanopt.function.tensorflow(manifold)(cost)
    problem = pymanopt.Problem(manifold, function)
    first = problem.riemannian_gradient(point)
    curvature = problem.riemannian_hessian(point, first)
    result = optimizer.run(problem, initial_point=point)
    return {"gradient": first, "curvature": curvature, "point": np.abs(result.point), "cost": result.cost}


def numbers():
    sphere, grassmann = manifolds.Sphere(6), manifolds.Grassmann(6, 2)
    start = np.ones(6) / np.sqrt(6)
    found = {}
    for name, optimizer in {
        "descent": optimizers.SteepestDescent(max_iterations=10, verbosity=0),
        "conjugate": optimizers.ConjugateGradient(max_iterations=10, verbosity=0),
        "trust": optimizers.TrustRegions(max_iterations=10, verbosity=0),
    }.items():
        solved = solve(
            sphere, lambda x: -tf.tensordot(x, tf.linalg.matvec(tf.constant(symmetric), x), 1), start, optimizer
        )
        found |= {f"{name} {key}": value for key, value in solved.items()}
    basis = np.linalg.qr(random.randn(6, 2))[0]
    optimizer = optimizers.ConjugateGradient(max_iterations=10, verbosity=0)
    solved = solve(
        grassmann, lambda x: -tf.linalg.trace(tf.transpose(x) @ tf.constant(symmetric) @ x), basis, optimizer
    )
    return found | {"subspace cost": solved["cost"]}
