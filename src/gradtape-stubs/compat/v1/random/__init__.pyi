# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike, ShapeLike, TensorLike
from gradtape.api.random.arguments import (
    Algorithm as Algorithm,
)
from gradtape.api.random.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from gradtape.api.random.draws import (
    categorical as categorical,
    gamma as gamma,
    normal as normal,
    set_seed as set_seed,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from gradtape.api.random.generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from gradtape.api.random.stateless import (
    fold_in as fold_in,
    split as split,
    stateless_binomial as stateless_binomial,
    stateless_categorical as stateless_categorical,
    stateless_gamma as stateless_gamma,
    stateless_normal as stateless_normal,
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
    stateless_poisson as stateless_poisson,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)
from gradtape.api.random.unigram_candidates import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from gradtape_tensorflow.v1.graph import (
    set_random_seed as set_random_seed,
)
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]: ...
def multinomial(logits: TensorLike, num_samples: TensorLike, seed: int | None = ..., name: str | None = ..., output_dtype: DTypeLike | None = ...) -> Tensor: ...
def poisson(lam: TensorLike, shape: ShapeLike, dtype: DTypeLike = ..., seed: int | None = ..., name: str | None = ...) -> Tensor: ...
