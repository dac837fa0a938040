"""`tensorflow.python.ops.init_ops`: initializers of TensorFlow 1, which have a dtype."""

from __future__ import annotations

from gradtape.api.nn.initializers import compute_fans
from gradtape_tensorflow.v1.initializers import classes as v1
from gradtape_tensorflow.v1.initializers import names

Initializer = v1.Initializer
Zeros = v1.zeros_initializer
Ones = v1.ones_initializer
Constant = v1.constant_initializer
RandomUniform = v1.random_uniform_initializer
RandomNormal = v1.random_normal_initializer
TruncatedNormal = v1.truncated_normal_initializer
UniformUnitScaling = v1.uniform_unit_scaling_initializer
VarianceScaling = v1.variance_scaling_initializer
GlorotUniform = v1.glorot_uniform_initializer
GlorotNormal = v1.glorot_normal_initializer
Orthogonal = v1.orthogonal_initializer
_compute_fans = compute_fans


Identity = names.identity
identity_initializer = Identity

lecun_normal = names.lecun_normal

lecun_uniform = names.lecun_uniform

he_normal = names.he_normal

he_uniform = names.he_uniform
