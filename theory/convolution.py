r"""The convolutional tangent kernel: its recursion, from the definition of the network, and tiny images in closed form.

Definition. An image has `N` pixels `p`; `p + o` is the neighbour of `p` at the 3×3 offset `o`, black (zero) if it lies
beyond the border. For `l = 1..L`, with `C` channels in each layer and all weights iid N(0, 1),

    u^l[p] = (1/3) Σ_o W^l_o g^{l−1}[p+o],    g^l = sqrt(c_φ/C) φ(u^l),    g⁰ = x,

and `f = (1/√N) Σ_p V_p·g^L[p]` or `f = V·mean_p g^L[p]` (`theory/pooling.py`). For two images, with the covariance
`S^l[p, p']` of `u^l[p]` and `u^l'[p']`, `K^l = c_φ E[φ(u)φ(v)]` and `K̇^l = c_φ E[φ'(u)φ'(v)]` for centred Gaussians of
this covariance, and `T^l[p, p']` the tangent kernel of `u^l[p]` and `u^l'[p']` (the same for each channel, 0 between
different ones),

    S^{l+1}[p, p'] = (1/9) Σ_o K^l[p+o, p'+o],    T^{l+1}[p, p'] = (1/9) Σ_o (K^l + K̇^l T^l)[p+o, p'+o],

with `S¹ = T¹ = (1/9) Σ_o x[p+o]·x'[p'+o]`: `next_layer`. The kernel is the mean of `K^L + K̇^L T^L` over `p = p'`, or
over all pairs. That `T^l` and the covariances of the channels tend to these means as `C → ∞`, layer by layer, is a
theorem (Arora et al. 2019; Yang 2020), not derived here. For `L = 1` none is needed: the expectation is the limit at
**every** number of channels (`one_layer_expectation`).

On images of at most 2×2 pixels every pixel sees every other, and without pooling the kernel is, up to a factor, that of
a fully connected network: it does not know where the pixels are (`fully_connected`). `in_pixels` writes out one layer.

Source: N, after Arora, Du, Hu, Li, Salakhutdinov, Wang, arXiv:1904.11955. Departures: the patch is not divided by the
number of input channels; the output layer is trained.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product

from sympy import (
    Add,
    Derivative,
    Expr,
    Function,
    IndexedBase,
    Integer,
    Interval,
    KroneckerDelta,
    Mul,
    Rational,
    S,
    Sum,
    Symbol,
    oo,
    symbols,
)

from .activations import ReLU
from .derivation import Derivation
from .dual import a, b, c, dual, dual_derivative
from .errors import InvalidInput
from .gaussian import phi, phi_prime
from .notation import Meaning
from .ntk import L, Sigma, Sigma_dot, c_phi, layer_sum
from .pooling import Pooling
from .reasons import Algebra
from .sums import Gradient, Induction, Mean

Pixel = tuple[int, int]

C, N = symbols("C N", integer=True, positive=True)  # channels, pixels
inputs = Symbol("d", integer=True, positive=True)  # values in a patch: 9 times the channels of the layer below
i, j, k, n, o, p, q, r, s, t = symbols("i j k n o p q r s t", integer=True, positive=True)
K, K_dot, T = (IndexedBase(name) for name in ("K", "Kdot", "T"))
covariance = IndexedBase("S")
E = Function("E")

IMAGE, IMAGE_PRIME = symbols("x_1:5", real=True), symbols("y_1:5", real=True)  # up to four pixels


NOTATION = (
    Meaning(r"W, V", r"the weights of the hidden and of the output layer, independent and $N(0, 1)$"),
    Meaning(r"X, X'", r"the patches that the pixels of two images see, a third of their values"),
    Meaning(r"S", r"the covariance of two preactivations, at two pixels"),
    Meaning(
        r"K",
        r"$c_\varphi \operatorname{E}[\varphi(u)\varphi(v)]$ for centred Gaussian $u, v$ of this covariance",
    ),
    Meaning(r"\dot K", r"the same with the derivative $\varphi'$"),
    Meaning(r"T^l", r"the tangent kernel of the preactivations in layer $l$, at two pixels"),
    Meaning(r"v, v'", r"the preactivations of the layer below, for two images"),
    Meaning(r"\phi", r"the activation, $\phi'$ its derivative"),
    Meaning(r"Z_L", r"the kernel without pooling of the images with $L$ layers"),
    Meaning(r"a, b", r"the variances of the preactivations of the two images"),
    Meaning(r"\delta", r"one if its indices are equal, else zero"),
)


@cache
def one_layer_expectation(pooling: Pooling) -> Derivation:
    """`E[Θ]` for one convolutional layer is the limit at **every** number `C >= 1` of channels; φ differentiable.

    `X[p, i]`, `i = 1..d`, is a third of the patch that pixel `p` sees, zeros beyond the border, so that
    `u[p] = Σ_i W_i X[p, i]` and `S = Σ_i X[p, i] X'[p', i]`. As `f` is a sum over the pixels, the scalar product of two
    gradients is one over the pairs of pixels.

    >>> one_layer_expectation(Pooling.NONE).conclusion.subs(N, 1).doit()
    K[1, 1] + Kdot[1, 1]*S[1, 1]
    """
    flat = pooling is Pooling.NONE
    V, W, patch = IndexedBase("V"), IndexedBase("W"), (IndexedBase("X"), IndexedBase("Xprime"))
    images = tuple(zip((p, q), patch, strict=True))
    pixel, pixels, channels = (q, 1, N), ((p, 1, N), (q, 1, N)), (k, 1, C)
    scale = c_phi / (C * N) if flat else c_phi / (C * N**2)  # of the output, squared

    def unit(channel: Expr, at: Expr, X: IndexedBase) -> Expr:
        return Sum(W[channel, j] * X[at, j], (j, 1, inputs))

    def pair(function: Function, at: Expr, at_prime: Expr) -> Expr:
        return function(unit(k, at, patch[0])) * function(unit(k, at_prime, patch[1]))

    def by(weight: Expr) -> Expr:
        """The product of the derivatives of what pixel p of one image and q of the other add to the output."""
        parts = (Sum((V[at, s] if flat else V[s]) * phi(unit(s, at, X)), (s, 1, C)) for at, X in images)
        return Mul(*(Derivative(part, weight) for part in parts))

    last = Sum(by(V[r, k]), (r, 1, N), channels, *pixels) if flat else Sum(by(V[k]), channels, *pixels)
    d = Derivation(
        scale * E(last) + scale * E(Sum(by(W[k, i]), (i, 1, inputs), channels, *pixels)),
        r"\operatorname{E}[\Theta]",
        {C: S.Naturals, N: S.Naturals, inputs: S.Naturals, c_phi: Interval.open(0, oo)},
        title=f"The expected kernel of one convolutional layer, {'flattened' if flat else 'with pooling'}",
        where=NOTATION,
    )
    seen = Sum(patch[0][p, i] * patch[1][q, i], (i, 1, inputs))
    weights = V[p, k] * V[q, k] if flat else V[k] ** 2
    of_last = Sum(pair(phi, q, q), channels, pixel) if flat else Sum(pair(phi, p, q), channels, *pixels)
    d = d.then(
        scale * E(of_last) + scale * E(Sum(weights * pair(phi_prime, p, q) * seen, channels, *pixels)),
        because="differentiation",
        reason=Gradient(),
    )
    same = KroneckerDelta(p, q) if flat else Integer(1)
    own = Sum(K[q, q], pixel) if flat else Sum(K[p, q], *pixels)
    d = d.then(
        (own + Sum(same * K_dot[p, q] * covariance[p, q], *pixels)) * scale * C / c_phi,
        because=r"$V, W$ are independent, $u[p]$ and $u'[q]$ have the covariance $S[p, q]$",
        reason=Mean(
            E,
            (V, W),
            {
                pair(phi, q, q): K[q, q] / c_phi,
                pair(phi, p, q): K[p, q] / c_phi,
                pair(phi_prime, p, q): K_dot[p, q] / c_phi,
                weights: same,
            },
            given={seen: covariance[p, q]},
        ),
    )
    if not flat:
        return d
    return d.then(
        (own + Sum(K_dot[q, q] * covariance[q, q], pixel)) / N,
        because="the output weights of two pixels are independent",
        reason=Gradient(),
    )


@cache
def next_layer() -> Derivation:
    """`T^{l+1}[p, p']`, the tangent kernel of a unit, from `K`, `K̇` and `T` of the layer below, at neighbouring pixels.

    `v[o, k]` is `u^l_k[p+o]` at the offsets `o = 1..n`, where `n = 9`, and `W[o, k]` are the weights of one channel of
    layer `l + 1`; the weights below enter through `v`, whose tangent kernel is `T[o, t]` for equal channels and 0 for
    others. The mean over weights and channels is what the sums over the channels tend to.

    >>> next_layer().conclusion.subs(n, 1).doit()
    K[1, 1] + Kdot[1, 1]*T[1, 1]
    """
    W, v = IndexedBase("W"), (IndexedBase("v"), IndexedBase("vprime"))
    offset, offsets, channels = (t, 1, n), ((o, 1, n), (t, 1, n)), (k, 1, C)
    scale = c_phi / (n * C)
    units = (Sum(W[s, j] * phi(values[s, j]), (j, 1, C), (s, 1, n)) for values in v)  # without sqrt(c_φ/(nC))
    own = Mul(*(Derivative(unit, W[t, k]) for unit in units))
    pair, pair_of_derivatives = phi(v[0][t, k]) * phi(v[1][t, k]), phi_prime(v[0][o, k]) * phi_prime(v[1][t, k])
    below = Sum(W[o, k] * W[t, k] * pair_of_derivatives * T[o, t], channels, *offsets)
    d = Derivation(
        scale * E(Sum(own, channels, offset)) + scale * E(below),
        r"T^{l+1}",
        {C: S.Naturals, n: S.Naturals, c_phi: Interval.open(0, oo)},
        title="The tangent kernel of the next convolutional layer",
        where=NOTATION,
    )
    d = d.then(
        scale * E(Sum(pair, channels, offset)) + scale * E(below),
        because="differentiation by the weights of the layer",
        reason=Gradient(),
    )
    means = {
        pair: K[t, t] / c_phi,
        pair_of_derivatives: K_dot[o, t] / c_phi,
        W[o, k] * W[t, k]: KroneckerDelta(o, t),
    }
    d = d.then(
        Sum(K[t, t], offset) / n + Sum(KroneckerDelta(o, t) * K_dot[o, t] * T[o, t], *offsets) / n,
        because=r"$\operatorname{E}[W_{ok} W_{tk}] = \delta_{ot}$; the other means are $K/c_\phi$ and $\dot K/c_\phi$",
        reason=Mean(E, (W, *v), means),
    )
    return d.then(
        Sum(K[t, t], offset) / n + Sum(K_dot[t, t] * T[t, t], offset) / n,
        because="only equal offsets are left",
        reason=Gradient(),
    )


@lru_cache(maxsize=None, typed=True)  # typed: 2.0 must not find what was cached for 2
def in_pixels(height: int, width: int, pooling: Pooling) -> Derivation:
    """The kernel of one ReLU layer on two images of at most four pixels, in their values, from the Gaussian integral.

    The images are the first `N = height · width` of `IMAGE` and of `IMAGE_PRIME`, by rows. Raises `InvalidInput` for
    sizes that are no positive integers, or for more than four pixels.

    >>> x, y = IMAGE[0], IMAGE_PRIME[0]
    >>> in_pixels(1, 1, Pooling.MEAN).conclusion.subs({x: 3, y: 3})
    2
    """
    sizes = (height, width)
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes) or height * width > 4:
        raise InvalidInput("height, width", sizes, "give integers >= 1 whose product is at most 4")
    expected, kernel, slope = one_layer_expectation(pooling), dual(ReLU()), dual_derivative(ReLU())
    pixels = tuple(product(range(height), range(width)))
    x, y = (dict(zip(pixels, image, strict=False)) for image in (IMAGE, IMAGE_PRIME))
    variance, variance_prime = IndexedBase("a"), IndexedBase("b")
    by_covariances: dict[Expr, Expr] = {}
    by_pixels: dict[Expr, Expr] = {}
    for (first, at), (second, at_prime) in product(enumerate(pixels, start=1), repeat=2):
        values = {a: variance[first], b: variance_prime[second], c: covariance[first, second]}
        by_covariances[K[first, second]] = 2 * kernel.conclusion.subs(values)
        by_covariances[K_dot[first, second]] = 2 * slope.conclusion.subs(values)
        by_pixels[covariance[first, second]] = _seen(x, at, y, at_prime)
        by_pixels[variance[first]], by_pixels[variance_prime[second]] = (
            _seen(x, at, x, at),
            _seen(y, at_prime, y, at_prime),
        )
    d = Derivation(
        expected.conclusion.subs(N, len(pixels)).doit(),
        r"\Theta(x, y)",
        dict.fromkeys((*x.values(), *y.values()), Interval.open(0, 1)),
        title=f"One layer on {height}×{width} pixels, {'flattened' if pooling is Pooling.NONE else 'with pooling'}",
        where=NOTATION,
    )
    d = d.then(
        d.conclusion.xreplace(by_covariances),
        because=r"the Gaussian integrals, $c_\varphi = 2$, with the variances $a[p]$ of $u[p]$ and $b[q]$ of $u'[q]$",
        reason=Algebra(given=by_covariances),
        using=(expected, kernel, slope),
    )
    return d.then(
        d.conclusion.xreplace(by_pixels),
        because="a ninth of the scalar products of what the pixels see",
        reason=Algebra(given=by_pixels),
    )


def _seen(x: dict[Pixel, Expr], at: Pixel, y: dict[Pixel, Expr], at_prime: Pixel) -> Expr:
    """`S[p, q] = (1/9) Σ_o x[p+o] y[q+o]`."""
    offsets = product((-1, 0, 1), repeat=2)
    shifted = [[(row + down, column + across) for row, column in (at, at_prime)] for down, across in offsets]
    return Rational(1, 9) * Add(*(x.get(first, 0) * y.get(second, 0) for first, second in shifted))


@cache
def fully_connected() -> Derivation:
    """Without pooling, on at most 2×2 pixels: `(1/9)(N/9)^{L−1}` times the NTK of a fully connected network.

    That network has the `N <= 4` pixels as inputs and `L >= 1` hidden layers. As every pixel sees all of them,
    `S^l[p, p]` and `T^l[p, p]` do not depend on `p`: `S¹ = T¹ = Σ_0/9`, `S^{l+1} = (N/9) K^l`, `T^{l+1} = (N/9) Z[l]`,
    where `Z[l] = K^l + K̇^l T^l` is the kernel of depth `l`. By homogeneity of ReLU `K^l = (1/9)(N/9)^{l−1} Σ_l`, and
    `K̇^l = Σ̇_l`.

    >>> fully_connected().conclusion.subs({L: 0, N: 4}).doit()
    Sigma[0]*Sigmadot[1]/9 + Sigma[1]/9
    """
    Z, depth = IndexedBase("Z"), L + 1
    scale = (N / 9) ** L / 9
    d = Derivation(
        Z[depth],
        r"\Theta^{(L+1)}_{\text{flattened}}",
        {L: S.Naturals0, N: Interval(1, 4)},
        title="The kernel without pooling on at most 2×2 pixels",
        where=NOTATION,
    )
    first = (Sigma[1] + Sigma_dot[1] * Sigma[0]) / 9
    following = scale * N / 9 * Sigma[L + 2] + Sigma_dot[L + 2] * N / 9 * Z[depth]
    return d.then(
        scale * layer_sum(depth),
        because=r"induction with $Z_{l+1} = K^{l+1} + \dot K^{l+1} (N/9) Z_l$",
        reason=Induction(Z[depth], L, 0, first, following),
    )
