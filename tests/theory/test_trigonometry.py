"""The normal form of trigonometric polynomials decides, where it is asked to."""

from sympy import Derivative, cos, sin, symbols

from theory.derivation import How
from theory.trigonometry import Trigonometry, in_cosines

a, b, z = symbols("a b z", real=True)


def test_normal_form() -> None:
    assert in_cosines((sin(a) ** 2 + cos(a) ** 2) ** 5 - 1) == 0
    assert in_cosines(sin(a) ** 2 * sin(b) ** 2 - (1 - cos(a) ** 2) * (1 - cos(b) ** 2)) == 0
    assert in_cosines(sin(a) * sin(b)) == sin(a) * sin(b)
    assert in_cosines(z**2) == z**2


def test_accepts() -> None:
    assert Trigonometry().check(cos(4 * a), 8 * cos(a) ** 4 - 8 * cos(a) ** 2 + 1).how is How.ALGEBRA
    assert Trigonometry().check(Derivative(z * sin(a) ** 2, a) / sin(a), 2 * z * cos(a)).how is How.ALGEBRA
    assert Trigonometry().check(sin(a + b), sin(a) * cos(b) + cos(a) * sin(b)).how is How.ALGEBRA


def test_refuses() -> None:
    assert not Trigonometry().check(cos(2 * a), cos(a) ** 2).proved
    assert not Trigonometry().check(Derivative(sin(a), a), sin(a)).proved
    assert not Trigonometry().check(1 / sin(a), 1 / cos(a)).proved
