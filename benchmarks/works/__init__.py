"""The works of the benchmark, a file a field. See `work.py` for what a work is."""

from .derivatives import CurveFit, Maml, Newton, PerExample, Pinn
from .images import ResNet, Style
from .networks import Classifier, Deep, Diffusion, Gan, Ppo, Vae
from .relations import GraphNetwork, Recommender, Word2vec
from .sequences import Crf, Lstm, Spectral, Transformer
from .simulations import BlackScholes, NeuralOde, Particles, Pendulum
from .statistics import GaussianProcess, Kalman, Sinkhorn
from .work import Work

__all__ = ["WORKS", "Deep", "Work"]

WORKS: dict[str, type[Work]] = {
    work.name(): work
    for work in (
        Pendulum, Particles, NeuralOde, BlackScholes,
        Classifier, Vae, Gan, Diffusion, Ppo,
        ResNet, Style, Lstm, Transformer, Crf, Spectral,
        Word2vec, Recommender, GraphNetwork,
        GaussianProcess, Kalman, Sinkhorn,
        Pinn, Maml, Newton, CurveFit, PerExample,
    )
}  # fmt: skip
