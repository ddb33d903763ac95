"""The losses of `theory/layerwise.py` by name: derived when they are first asked for.

The width `h >= 1` and the number of Gaussian inputs `n >= 1` are integers (whitened inputs are `h`), the rates
`eta1, eta2 >= 0`, the variance of the label noise `rho >= 0`. `alpha` is the exponent of equal rates `h^alpha`.
"""

from __future__ import annotations

from functools import partial

from sympy import Expr, Interval, Symbol, oo

from .formula import Formula, Parameter
from .rate_polynomials import eta1, eta2, h, n

rho = Symbol("rho", nonnegative=True)
alpha = Symbol("alpha", rational=True)

_H = Parameter(h, Interval(1, oo), "the width")
_N = Parameter(n, Interval(1, oo), "the number of inputs")
_RATES = (
    Parameter(eta1, Interval(0, oo), "the learning rate of the first layer"),
    Parameter(eta2, Interval(0, oo), "the learning rate of the second layer"),
)
_NOISE = Parameter(rho, Interval(0, oo), "the variance of the label noise")
_STEPS = Parameter(Symbol("t", integer=True, nonnegative=True), Interval(0, 1000), "the number of steps")
_ALPHA = Parameter(alpha, Interval(-10, 10), "both rates are h^alpha")
_B = "arXiv:2606.00340"


def _loss(
    layers: int, steps: int, updates: str, noise: bool = False, gaussian: bool = False, gaussian_inputs: bool = False
) -> Expr:
    from .layerwise import Gaussian, Inputs, Orthogonal, Updates, expected_loss

    initialisation = Gaussian() if gaussian else Orthogonal()
    inputs, samples = (Inputs.GAUSSIAN, n) if gaussian_inputs else (Inputs.WHITENED, h)
    noise_variance = rho if noise else 0
    return expected_loss(layers, steps, Updates[updates], initialisation, noise_variance, inputs, samples).conclusion


def _steps(count: int) -> str:
    return "one step" if count == 1 else "two steps"


_WORDS = {2: "two", 3: "three"}
_KINDS = {"SIGNAL": "signal-only updates", "FULL": "full gradient descent"}

LAYERWISE: tuple[Formula, ...] = (
    *(
        Formula(
            f"{_WORDS[layers]}-layer-{updates.lower()}-{steps}",
            f"Expected test loss of {_WORDS[layers]} layers after {_steps(steps)}, {_KINDS[updates]}",
            (_H, *_RATES),
            f"derived; {_B} for signal-only updates",
            expression=partial(_loss, layers, steps, updates),
        )
        for layers in (2, 3)
        for updates in ("SIGNAL", "FULL")
        for steps in (1, 2)
    ),
    *(
        Formula(
            f"{_WORDS[layers]}-layer-noise-{steps}",
            f"Expected test loss of {_WORDS[layers]} layers with label noise after {_steps(steps)}, {_KINDS['SIGNAL']}",
            (_H, *_RATES, _NOISE),
            f"derived; beyond {_B}",
            expression=partial(_loss, layers, steps, "SIGNAL", noise=True),
        )
        for layers in (2, 3)
        for steps in (1, 2)
    ),
    *(
        Formula(
            f"{_WORDS[layers]}-layer-gaussian-{updates.lower()}-1",
            f"Expected test loss of {_WORDS[layers]} Gaussian layers after one step, {_KINDS[updates]}",
            (_H, *_RATES),
            f"derived; beyond {_B}",
            expression=partial(_loss, layers, 1, updates, gaussian=True),
        )
        for layers in (2, 3)
        for updates in ("SIGNAL", "FULL")
    ),
    *(
        Formula(
            f"{_WORDS[layers]}-layer-gaussian-inputs-{updates.lower()}-1",
            f"Expected test loss of {_WORDS[layers]} layers after one step on n Gaussian inputs, {_KINDS[updates]}",
            (_H, _N, *_RATES),
            f"derived; beyond {_B}",
            expression=partial(_loss, layers, 1, updates, gaussian_inputs=True),
        )
        for layers in (2, 3)
        for updates in ("SIGNAL", "FULL")
    ),
    *(
        Formula(
            f"{_WORDS[layers]}-layer-full",
            f"Expected test loss of {_WORDS[layers]} layers after t steps of full gradient descent",
            (_H, *_RATES, _STEPS),
            f"derived; beyond {_B}",
            definition=rf"\mathbb{{E}}\,\|{product} - \beta\|_F^2 \text{{ after }} t \text{{ steps}}",
        )
        for layers, product in ((2, r"\tfrac1h W_1 W_2"), (3, r"\tfrac1{{\sqrt h}} W_1 W_2 a"))
    ),
    *(
        Formula(
            f"balance-threshold-{updates.lower()}",
            f"Width from which on equal rates are a local minimum, two layers, two steps, {_KINDS[updates]}",
            (_ALPHA,),
            f"certified; {_B}, Corollary 5.4, has no number",
            definition=r"\min\{h_0 : \partial_u^2 \mathcal L(h^\alpha + u, h^\alpha - u)|_{u=0} > 0"
            r"\ \text{for all } h \ge h_0\}",
        )
        for updates in ("SIGNAL", "FULL")
    ),
)
