"""zfit: unbinned fits with Minuit, gradients, Hessians, composed parameters, a custom density."""

import os

os.environ["ZFIT_DISABLE_TF_WARNINGS"] = "1"

import numpy as np
import zfit
from zfit import z


class Parabola(zfit.pdf.ZPDF):
    """A density that is normalized by a numerical integral."""

    _PARAMS = ("curvature",)

    def _unnormalized_pdf(self, x):
        return 1.0 + self.params["curvature"] * z.square(z.unstack_x(x))


def numbers():
    found = {}
    obs = zfit.Space("x", -2, 3)
    drawn = np.random.RandomState(0)
    peak, flat = drawn.normal(1.0, 0.4, size=300), drawn.uniform(-2.0, 3.0, size=200)
    data = zfit.Data.from_numpy(obs=obs, array=np.concatenate([peak, flat]))

    mu, sigma = zfit.Parameter("mu", 1.2, -4, 6), zfit.Parameter("sigma", 1.3, 0.1, 10)
    slope, share = zfit.Parameter("slope", -0.1, -2, 2), zfit.Parameter("share", 0.4, 0, 1)
    gauss, rest = zfit.pdf.Gauss(mu=mu, sigma=sigma, obs=obs), zfit.pdf.Exponential(slope, obs=obs)
    model = zfit.pdf.SumPDF([gauss, rest], fracs=share)
    points = np.linspace(-1.5, 2.5, 7)
    found["pdf"] = model.pdf(points)
    found["integral"] = gauss.integrate((-1, 1))

    loss = zfit.loss.UnbinnedNLL(model=model, data=data)
    parameters = [mu, sigma, slope, share]
    found["loss"], found["gradient"] = loss.value(), loss.gradient(parameters)
    found["hessian"] = loss.hessian(parameters)
    result = zfit.minimize.Minuit().minimize(loss)
    found["fit"] = [result.params[p]["value"] for p in parameters]
    found["fit loss"] = result.fmin
    found["errors"] = [error["error"] for error in result.hesse().values()]

    width = zfit.ComposedParameter("width", lambda a: a * 2.0, params=[sigma])
    found["composed"] = zfit.pdf.Gauss(mu=mu, sigma=width, obs=obs).pdf(points)

    curvature = zfit.Parameter("curvature", 0.5, 0, 5)
    own = Parabola(obs=obs, curvature=curvature)
    found["own pdf"] = own.pdf(points)
    own_loss = zfit.loss.UnbinnedNLL(model=own, data=data)
    found["own loss"], found["own gradient"] = own_loss.value(), own_loss.gradient([curvature])
    return found
