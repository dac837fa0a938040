"""mrmustard: Gaussian states and circuits of light, Fock amplitudes, a circuit trained by its optimizer."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import mrmustard
import numpy as np
from mrmustard import math
from mrmustard.lab import Attenuator, BSgate, Circuit, Dgate, S2gate, SqueezedVacuum, Vacuum
from mrmustard.training import Optimizer


def numbers():
    math.change_backend("tensorflow")
    mrmustard.settings.SEED = 1
    mrmustard.settings.PROGRESSBAR = False
    state = SqueezedVacuum(r=0.5, phi=0.3) >> Dgate(x=0.2, y=0.1) >> Attenuator(0.8)
    found = {"covariance": state.cov, "means": state.means, "photons": state.number_means, "purity": state.purity}
    found["probabilities"] = state.fock_probabilities([6])
    pair = Vacuum(2) >> S2gate(r=0.4, phi=0.1)[0, 1] >> BSgate(theta=0.6, phi=0.2)[0, 1]
    amplitudes = np.asarray(pair.ket(cutoffs=[4, 4]))
    found |= {"real": amplitudes.real, "imaginary": amplitudes.imag}
    gate = S2gate(r=0.1, phi=0.0, r_trainable=True, phi_trainable=True)
    splitter = BSgate(theta=0.3, phi=0.1, theta_trainable=True, phi_trainable=True)
    circuit = Circuit([gate[0, 1], splitter[0, 1]])

    def cost():
        amplitude = (Vacuum(2) >> circuit).ket(cutoffs=[2, 2])[1, 1]
        return -(math.abs(amplitude) ** 2)

    optimizer = Optimizer(symplectic_lr=0.1, euclidean_lr=0.05)
    optimizer.minimize(cost, by_optimizing=[circuit], max_steps=10)
    return found | {"costs": optimizer.opt_history, "squeezing": gate.r.value, "angle": splitter.theta.value}
