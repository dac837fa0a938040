# Written by tools/write_stubs.py.
from gradtape_tensorflow.v1.initializers.names import (
    constant as constant,
    glorot_normal as glorot_normal,
    glorot_uniform as glorot_uniform,
    he_normal as he_normal,
    he_uniform as he_uniform,
    identity as identity,
    lecun_normal as lecun_normal,
    lecun_uniform as lecun_uniform,
    ones as ones,
    orthogonal as orthogonal,
    random_normal as random_normal,
    random_uniform as random_uniform,
    truncated_normal as truncated_normal,
    uniform_unit_scaling as uniform_unit_scaling,
    variance_scaling as variance_scaling,
    zeros as zeros,
)
from gradtape_tensorflow.v1.variables import (
    global_variables_initializer as _global_variables,
    local_variables_initializer as _local_variables,
    tables_initializer as tables_initializer,
    variables_initializer as _variables,
)
global_variables = _global_variables
local_variables = _local_variables
variables = _variables
