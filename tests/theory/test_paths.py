"""Paths in the parameters of a formula: what is taken, from where it is inside, and what is refused in which words."""

from __future__ import annotations

import pytest
from sympy import Rational, S, Symbol, oo, sqrt

from theory.errors import InvalidInput
from theory.formulas import formula_named
from theory.paths import entrance, path_through

NTK, LOSS, SAMPLES = (formula_named(n) for n in ("relu-ntk", "two-layer-signal-1", "two-layer-gaussian-inputs-full-1"))
c, h, k, L, rho = (Symbol(name) for name in ("c", "h", "k", "L", "rho"))


def test_a_path_speaks_the_symbols_of_the_formula() -> None:
    path = path_through(NTK, {"L": oo}, {"rho": 1 - c / L**2}, {"c": S(2)})
    assert path.variable == NTK.parameters[1].symbol
    assert path.at == {Symbol("c", positive=True): 2}
    assert path.point(S(10)) == {path.variable: 10, NTK.parameters[0].symbol: 1 - Rational(2, 100)}


def test_new_symbols_are_one_if_nothing_is_said() -> None:
    path = path_through(LOSS, {"h": oo}, {"eta1": c * h, "eta2": 2 * c * h})
    assert list(path.at.values()) == [1]


@pytest.mark.parametrize(
    ("target", "side", "first"),
    [(S.One, -1, Rational(9, 10)), (S.NegativeOne, 1, Rational(-9, 10)), (S.Zero, 1, Rational(1, 10))],
)
def test_a_finite_end_is_approached_from_inside(target, side: int, first) -> None:
    path = path_through(NTK, {"rho": target}, at={"L": S(3)})
    assert path.side == side
    assert path.step(1) == first


@pytest.mark.parametrize(
    ("curve", "start"), [(1 - c / L, 25), (1 - c / L**2, 5), (c / L, 50), (1 - 1 / L, 1), (sqrt(50 / (50 + L)), 0)]
)
def test_the_first_depth_inside_of_the_domain(curve, start: int) -> None:
    path = path_through(NTK, {"L": oo}, {"rho": curve}, {"c": S(50)} if curve.has(c) else {})
    found = entrance(NTK, path)
    assert found == start
    assert abs(path.point(found)[NTK.parameters[0].symbol]) <= 1


def test_steps_may_be_unbounded_although_their_evaluation_is_not() -> None:
    path = path_through(formula_named("descent-filter"), {"k": oo}, {"x": c / k})
    assert path.target is oo


REFUSED = [
    (NTK, {}, {}, {}, "let is missing: say which parameter goes where; the parameters of relu-ntk are rho, L"),
    (NTK, {"M": oo}, {}, {}, "M = oo: the parameters of relu-ntk are rho, L"),
    (NTK, {"L": oo, "rho": S.One}, {}, {}, "let = L, rho: let one go, and say how the other follows"),
    (NTK, {"L": oo}, {}, {}, r"rho is missing: give it a value in \[-1, 1\], or a curve in L"),
    (NTK, {"L": S(5)}, {}, {"rho": S.Zero}, "L = 5: an integer does not approach a number; give oo"),
    (NTK, {"L": -oo}, {}, {"rho": S.Zero}, r"L = -oo: outside of \[0, oo\); give oo"),
    (NTK, {"rho": S(2)}, {}, {"L": S.One}, r"rho = 2: outside of \[-1, 1\]; give -1 or 1"),
    (NTK, {"rho": c}, {}, {"L": S.One}, "rho = c: give a number, oo or -oo"),
    (
        NTK,
        {"L": oo},
        {"rho": 1 + c / L},
        {},
        r"rho = 1 \+ c/L: as L -> oo this curve lies outside of \[-1, 1\] at c = 1",
    ),
    (NTK, {"L": oo}, {"rho": L / 10**7}, {}, "it still was inside at L = 1000000"),
    (NTK, {"L": oo}, {"rho": c / L}, {"rho": S.Zero}, "rho = 0: it was given before; give it once"),
    (NTK, {"L": oo}, {"L": c}, {"rho": S.Zero}, "L = c: it goes to oo already"),
    (NTK, {"L": oo}, {"r": c}, {"rho": S.Zero}, "r = c: the parameters of relu-ntk are"),
    (NTK, {"L": oo}, {"rho": c / L}, {"d": S.One}, "d = 1: .* and no curve has a symbol called so"),
    (NTK, {"L": oo}, {"rho": c / L}, {"c": S.Zero}, "c = 0: symbols of a curve are positive"),
    (NTK, {"L": oo}, {}, {"rho": S(2)}, r"rho = 2: give a number in \[-1, 1\]"),
    (
        NTK,
        {"rho": S.One},
        {"L": 1 / (1 - rho)},
        {},
        r"L = 1/\(1 - rho\): L is an integer; give it a value, or let it go",
    ),
    (SAMPLES, {"h": oo}, {"n": h / 2, "eta1": c, "eta2": c}, {}, "n = h/2: n is an integer"),
    (
        LOSS,
        {"h": oo},
        {"eta1": Symbol("eta2")},
        {"eta2": S.One},
        "a curve is written in h and new symbols, and eta2 is a parameter",
    ),
    (formula_named("linearisation-exponent"), {"mode": oo}, {}, {"alpha": S.Zero}, "mode = oo: this is a choice"),
    (formula_named("ridge-filter-constant"), {"s": oo}, {}, {}, "it has no parameters, so no limit; evaluate it"),
]


@pytest.mark.parametrize(("formula", "let", "along", "at", "words"), REFUSED)
def test_what_makes_no_path_is_refused_in_words(formula, let, along, at, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        path_through(formula, let, along, at)


def test_integers_that_follow_the_variable_are_taken() -> None:
    path = path_through(SAMPLES, {"h": oo}, {"n": c * h**2}, {"c": S(3), "eta1": S.Zero, "eta2": S.Zero})
    assert path.point(S(10))[SAMPLES.parameters[1].symbol] == 300
