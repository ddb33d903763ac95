"""Powers along a rescaling, against SymPy's derivatives of functions that have it."""

import itertools

import pytest
from sympy import Rational, diff, exp, symbols

from theory import symmetries
from theory.derivation import How
from theory.errors import InvalidInput


def test_all_steps_are_exact():
    made = [
        symmetries.rescaled_output(),
        symmetries.rescaled_kernel(),
        symmetries.rescaled_kernel(above=True),
        symmetries.transformed_derivative(),
        symmetries.share_power(),
        symmetries.generator(),
        symmetries.generator_of_gradients(),
        symmetries.euler(),
        symmetries.balance_step_unequal(),
        *(make(linear) for make in (symmetries.balance_rate, symmetries.balance_step) for linear in (False, True)),
    ]
    assert {step.outcome.how for d in made for step in d.check()} == {How.ALGEBRA}


def test_shares_of_an_invariant_function():
    """`F = uv + exp(uv)` is unchanged by `u → αu, v → v/α`; a share is a derivative times gradients."""
    u, v = symbols("u v", positive=True)
    function, factor = u * v + exp(u * v), Rational(7, 3)
    at, image = {u: Rational(1, 2), v: Rational(2, 3)}, {u: factor / 2, v: Rational(2, 3) / factor}
    names = (symmetries.D_l, symmetries.D_k, symmetries.d_l, symmetries.d_k, symmetries.alpha)
    for counts in itertools.product((0, 1, 2), repeat=4):
        free_u, free_v, by_u, by_v = counts
        share = diff(function, u, free_u + by_u, v, free_v + by_v)
        share *= diff(function, u) ** by_u * diff(function, v) ** by_v
        derived = symmetries.share_power().conclusion.subs(dict(zip(names, (*counts, factor), strict=True)))
        assert float(share.subs(image) / share.subs(at)) == pytest.approx(float(derived), rel=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: symmetries.balance_rate("linear"),
        lambda: symmetries.balance_step(1),
        lambda: symmetries.rescaled_kernel("above"),
    ],
)
def test_bad_input(wrong):
    with pytest.raises(InvalidInput):
        wrong()
