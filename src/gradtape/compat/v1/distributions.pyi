# Written by tools/write_stubs.py.
from gradtape.api.distributions.continuous import (
    Beta as Beta,
    Exponential as Exponential,
    Gamma as Gamma,
    Laplace as Laplace,
    Normal as Normal,
    StudentT as StudentT,
    Uniform as Uniform,
)
from gradtape.api.distributions.discrete import (
    Bernoulli as Bernoulli,
    Categorical as Categorical,
    Dirichlet as Dirichlet,
    DirichletMultinomial as DirichletMultinomial,
    Multinomial as Multinomial,
)
from gradtape.api.distributions.distribution import (
    Distribution as Distribution,
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED as NOT_REPARAMETERIZED,
    ReparameterizationType as ReparameterizationType,
)
from gradtape.api.distributions.divergence import (
    RegisterKL as RegisterKL,
    kl_divergence as kl_divergence,
)
