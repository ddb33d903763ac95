r"""Linear networks with label noise, Gaussian weights or Gaussian inputs: the expected test loss after a few steps.

The networks, the loss and the updates are those of `theory/linear_networks.py`, the laws those of
`theory/layerwise_options.py`; the number of inputs is `n = h`, or any `n >= 1`. What is random besides the weights are
the `n × h` inputs `X`, the `n × o` noise `Ξ`, and, up to a scale, `β = s B` (`h × o`) and `a = s c₀` (`h × 1`), with
`o = h` outputs of two layers and `o = 1` of three:

    two layers     orthogonal: s = 1/√h, B Haar;           Gaussian: s = 1/h, B of N(0, 1) entries;
    three layers   unit vectors: s = 1, B and c₀ uniform;  otherwise: s = 1/√h, B and c₀ of N(0, 1) entries.

The mean is that of `theory/wick.py`, over Gaussian matrices, uniform unit vectors and one Haar matrix. Gaussian weights
`Γ_i/√h` are among these. Orthogonal ones are a *frame*, in which the other matrices keep their laws, are independent of
the weights, and have the descent

    W₁(t) = W₁ F_t,  W₂(t) = G_t W₂,   with the same recursion from F_0 = G_0 = I.

In it `β` becomes `s V` with `V = W₁ᵀB W₂ᵀ` (two layers; `Z` for `V`, as it is Haar) or `W₁ᵀB` (three), and `a` becomes
`s c` with `c = W₂c₀`. Unit vectors may be taken to be uniform whatever their law is, as `W_i` and `W_i O` have one law.
The label signal `M` becomes

    whitened inputs, n >= h   R = s V + √(ρ/n) N,            N = XᵀΞ/√n in the frame;
    Gaussian inputs           R = Uᵀ(s U V + √ρ N)/n,        N = Ξ in the frame, U = XW₁;  C becomes UᵀU/n.

`label_signal` proves it. The losses are polynomials in `η₁, η₂, ρ` with coefficients rational in `h, n`. They hold for
all `h, n >= 1`, except where the mean of a product of traces of `Z` is known from a larger `h` on only: the domain of
the derivation says from which.

Source: arXiv:2606.00340 (B), which claims that its results hold in these settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Expr,
    Identity,
    Interval,
    MatrixSymbol,
    Range,
    S,
    Set,
    Symbol,
    Trace,
    factor,
    oo,
    sqrt,
)

from .derivation import Derivation
from .haar import Z, mean
from .layerwise_options import Initialisation, Inputs, Orthogonal, Updates, Vectors
from .linear_networks import W1, W2, a, check_steps, descent, gradient, identity, mean_test_loss, output, rho
from .matrix_means import HaarMoments, Isserlis, Law, Rotated, Rotation
from .matrix_words import Words, orthogonal, word
from .notation import Meaning
from .rate_polynomials import eta1, eta2, grouped, h, polynomial

G1, G2 = MatrixSymbol("Gamma_1", h, h), MatrixSymbol("Gamma_2", h, h)
c, c_0 = MatrixSymbol("c", h, 1), MatrixSymbol("c_0", h, 1)

Names = dict[Any, Any]


NOTATION = (
    Meaning(r"F_t, G_t", r"the products with $W_1(t) = W_1 F_t$ and $W_2(t) = G_t W_2$"),
    Meaning(r"G", r"such a product"),
    Meaning(r"R", r"the label signal in the frame of the weights"),
    Meaning(r"N", r"the noise of the labels in that frame"),
    Meaning(r"V", r"the target in that frame; $Z$ if it is Haar distributed"),
    Meaning(r"Z", r"a Haar distributed matrix"),
    Meaning(r"c", r"the last layer in that frame"),
    Meaning(r"U", r"the inputs in that frame"),
)


@dataclass(frozen=True)
class Setting:
    """The laws; `noise` is 0 or `rho`, and `samples` is `h` or `n`."""

    layers: int = 2
    initialisation: Initialisation = field(default_factory=Orthogonal)
    inputs: Inputs = Inputs.WHITENED
    noise: Expr | int = 0
    samples: Symbol = h

    @property
    def orthogonal(self) -> bool:
        """Whether the weights are."""
        return isinstance(self.initialisation, Orthogonal)

    @property
    def law(self) -> Law:
        """The law of `B` and `c₀`."""
        if not isinstance(self.initialisation, Orthogonal):
            return Law.GAUSSIAN
        if self.layers == 2:
            return Law.HAAR
        return Law.SPHERE if self.initialisation.vectors is Vectors.UNIT else Law.GAUSSIAN

    @property
    def scale(self) -> Expr:
        """`s`."""
        if self.law is Law.SPHERE:
            return S.One
        return 1 / h if self.layers == 2 and not self.orthogonal else 1 / sqrt(h)

    def __str__(self) -> str:
        words = ["two layers" if self.layers == 2 else "three layers"]
        words += ["orthogonal weights" if self.orthogonal else "Gaussian weights"]
        words += ["unit vectors"] if self.law is Law.SPHERE else []
        return ", ".join([*words, self.inputs.value, *(["label noise"] if self.noise != 0 else [])])


class Frame:
    """The matrices of a setting in the frame of the weights; from Gaussian weights it is the identity.

    `signal`, `gram`, `target` and `readout` are what becomes of `M`, `C`, `β` and `a`, and `start` of the weights.
    `rotations` says of each random matrix of the frame which one it comes from, `definitions` what `M`, `β` and `a` are
    by those, and `outside` what all are by the matrices of the frame.
    """

    def __init__(self, of: Setting) -> None:
        samples, outputs, whitened = of.samples, h if of.layers == 2 else 1, of.inputs is Inputs.WHITENED
        first, second = (W1, W2) if of.orthogonal else (identity, identity)
        right = second if of.layers == 2 else Identity(1)
        self.D, self.M, self.beta, B, V = (MatrixSymbol(name, h, outputs) for name in ("D", "M", "beta", "B", "V"))
        X, U = (MatrixSymbol(name, samples, h) for name in ("X", "U"))
        Xi, N = MatrixSymbol("Xi", samples, outputs), MatrixSymbol("N", h if whitened else samples, outputs)
        V = Z if of.law is Law.HAAR else V

        self.start = (identity, identity) if of.orthogonal else (G1 / sqrt(h), G2 / sqrt(h))
        self.target, self.readout = of.scale * V, of.scale * c
        self.rotations = {V: Rotation(first.T, B, right.T, of.law)}
        if of.layers == 3:
            self.rotations[c] = Rotation(second, c_0, Identity(1), of.law)
        if whitened:
            self.gram, self.signal = identity, self.target
            noise, turn = sqrt(of.noise / samples) * N, first.T * X.T / sqrt(samples)
        else:
            self.gram, self.signal = U.T * U / samples, U.T * U * self.target / samples
            noise, turn = sqrt(of.noise) * U.T * N / samples, Identity(samples)
            self.rotations[U] = Rotation(Identity(samples), X, first, Law.GAUSSIAN)
        labels = X * self.beta
        if of.noise != 0:
            self.signal, labels = self.signal + noise, labels + sqrt(of.noise) * Xi
            self.rotations[N] = Rotation(turn, Xi, right.T, Law.GAUSSIAN)

        self.rules = (orthogonal(W1, W2) if of.orthogonal else {}) | (orthogonal(B, Z) if of.law is Law.HAAR else {})
        self.rules |= {word(X.T, X): samples} if whitened else {}
        self.gram_outside = identity if whitened else X.T * X / samples
        self.signal_inside = first.T * self.M * right.T
        self.definitions: Names = {self.M: X.T * labels / samples, self.beta: of.scale * B, a: of.scale * c_0}
        self.outside: Names = {
            self.M: first * self.signal * right,
            self.beta: first * self.target * right,
            a: second.T * self.readout,
            X: U * first.T,
            **({} if of.orthogonal else {W1: G1 / sqrt(h), W2: G2 / sqrt(h)}),
        }

    def of_law(self, law: Law) -> tuple[MatrixSymbol, ...]:
        """The random matrices of that law."""
        return tuple(name for name, rotation in self.rotations.items() if rotation.law is law)


@lru_cache(maxsize=None, typed=True)
def label_signal(setting: Setting) -> Derivation:
    """The label signal in the frame of the weights: both lines hold for every `D`.

    >>> label_signal(Setting(noise=rho)).conclusion
    Trace(D.T*((sqrt(rho)/sqrt(h))*N + 1/sqrt(h)*Z))
    """
    frame = Frame(setting)
    d = Derivation(
        Trace(frame.D.T * frame.signal_inside),
        r"\langle D, R\rangle",
        _domain(setting, 1),
        title=f"Label signal: {setting}",
        where=NOTATION,
    )
    return d.then(
        Trace(frame.D.T * frame.signal),
        because=r"$M = X^\top Y/n$; in the frame of the weights the random matrices keep their laws, "
        "and are independent of the weights",
        reason=Rotated(Words(frame.rules, frame.definitions), frame.rotations),
    )


@lru_cache(maxsize=None, typed=True)
def expected_loss(setting: Setting, steps: int = 1, updates: Updates = Updates.SIGNAL) -> Derivation:
    """The expected test loss after 0 to `most_steps(setting, updates)` steps. Raises `InvalidInput` for more.

    >>> with_noise = expected_loss(Setting(noise=rho)).conclusion
    >>> with_noise.coeff(rho, 2)
    eta1**2*eta2**2*(h**2 + 2)/h**7
    >>> with_noise.subs(rho, 0)
    eta1**2*eta2**2/h**7 + 2*eta1*eta2/h**5 + (h + 1)/h - 2*(eta1 + eta2)/h**2 + (eta1 + eta2)**2/h**4
    """
    check_steps(steps, most_steps(setting, updates), "numerics.descent simulates any number")
    layers, frame = setting.layers, Frame(setting)
    weights, given = descent(layers, frame.M, steps, updates, gram=frame.gram_outside)
    R = MatrixSymbol("R", h, frame.D.cols)
    inside, recursion = descent(
        layers, R, steps, updates, gram=frame.gram, readout=frame.readout, start=frame.start, letters=("F", "G")
    )
    recursion: Names = {**recursion, R: frame.signal}
    d = mean_test_loss(
        output(layers, weights) - frame.beta,
        steps,
        _domain(setting, 1),
        f"After {steps} steps of {updates.value}: {setting}",
    )
    error: Any = output(layers, inside, frame.readout) - frame.target
    d = d.then(
        mean(Trace(error * error.T)),
        because=r"the same descent in the frame of the weights, with $R$ for $M$",
        reason=Words(frame.rules, {**given, **recursion, **frame.outside}, mean),
        using=(*(gradient(layers, layer, setting.inputs) for layer in (1, 2)), label_signal(setting)),
    )
    gaussian = frame.of_law(Law.GAUSSIAN) + (() if setting.orthogonal else (G1, G2))
    haar = next(iter(frame.of_law(Law.HAAR)), None)
    pairings = Isserlis(gaussian, haar, Words(frame.rules, recursion), frame.of_law(Law.SPHERE))
    averaged = pairings.of(d.conclusion)
    if haar is None:
        return d.then(_in_order(averaged), because="Isserlis' theorem", reason=pairings)
    d = d.then(averaged, because="Isserlis' theorem; $Z$ and $-Z$ have the same law", reason=pairings)
    moments = HaarMoments.covering(averaged, haar)
    d = replace(d, domain=_domain(setting, moments.smallest))
    return d.then(_in_order(moments.of(averaged)), because="$Z$ is Haar distributed", reason=moments)


def most_steps(setting: Setting, updates: Updates) -> int:
    """For how many steps the mean is derived: two, but where full descent would take minutes, one.

    >>> most_steps(Setting(), Updates.FULL), most_steps(Setting(layers=3, noise=rho), Updates.FULL)
    (2, 1)
    """
    fast = setting.layers == 2 and setting.inputs is Inputs.WHITENED and (setting.orthogonal or setting.noise == 0)
    return 2 if updates is Updates.SIGNAL or fast else 1


def _domain(setting: Setting, smallest: int) -> dict[Symbol, Set]:
    """The sizes and rates; whitened inputs are at least as many as their dimensions."""
    domain: dict[Symbol, Set] = {h: Range(smallest, oo), eta1: Interval(0, oo), eta2: Interval(0, oo)}
    if setting.noise != 0:
        domain[rho] = Interval(0, oo)
    if setting.samples != h:
        domain[setting.samples] = Interval(h if setting.inputs is Inputs.WHITENED else 1, oo)
    return domain


def _in_order(line: Expr) -> Expr:
    """By powers of `ρ`, and each by `η₁ + η₂` and `η₁η₂` where it is symmetric in the rates, else by their powers."""
    by_noise: dict[int, Names] = {}
    for (power, *rates), coefficient in polynomial(line, rho, eta1, eta2).terms():
        by_noise.setdefault(power, {})[tuple(rates)] = factor(coefficient)
    return Add(*(_by_rates(terms) * rho**power for power, terms in by_noise.items()))


def _by_rates(terms: Names) -> Expr:
    line = Add(*(coefficient * eta1**i * eta2**j for (i, j), coefficient in terms.items()))
    return grouped(line) if all(terms.get((j, i)) == coefficient for (i, j), coefficient in terms.items()) else line
