# Written by tools/write_stubs.py.
from gradtape.types.experimental import distributed as distributed
from gradtape.api.types import (
    AtomicFunction as AtomicFunction,
    Callable as Callable,
    ConcreteFunction as ConcreteFunction,
    FunctionType as FunctionType,
    GenericFunction as GenericFunction,
    PolymorphicFunction as PolymorphicFunction,
    SupportsTracingProtocol as SupportsTracingProtocol,
    TensorLike as TensorLike,
    TraceType as TraceType,
)
