"""Limits of the named formulas: what is proved, what is left open, and how each writes itself."""

from __future__ import annotations

import pytest
from sympy import E, Rational, S, Symbol, cos, exp, log, oo, pi

from theory.derivation import How
from theory.formulas import formula_named
from theory.limits import SymbolicLimit, limit_along, path_through

c, h, k, L, s, alpha = (Symbol(name) for name in ("c", "h", "k", "L", "s", "alpha"))
p = Symbol("c", positive=True)


def found(name: str, let, along=None, at=None) -> SymbolicLimit:
    formula = formula_named(name)
    return limit_along(formula, path_through(formula, let, along, at))


@pytest.mark.parametrize(
    ("name", "let", "along", "at", "value", "text"),
    [
        ("relu-ntk-normalised", {"L": oo}, {}, {"rho": S.Zero}, Rational(1, 4), "1/4 + 3*log(L)/(8*L) + o(log(L)/L)"),
        ("relu-ntk-normalised", {"L": oo}, {}, {"rho": S.One}, S.One, "1"),
        ("relu-ntk-normalised", {"L": oo}, {"rho": 1 - c / L}, {}, Rational(1, 4), "1/4"),
        ("relu-ntk", {"L": oo}, {}, {"rho": S.Zero}, oo, "L/4 + 3*log(L)/8 + o(log(L))"),
        ("relu-nngp", {"rho": S.One}, {}, {"L": S(5)}, S.One, "1 - (1 - rho) + o(1 - rho)"),
        ("relu-nngp", {"rho": S.One}, {}, {"L": S.Zero}, S.One, "1"),
        ("relu-nngp", {"rho": S.NegativeOne}, {}, {"L": S(2)}, 1 / pi, "1/pi"),
        ("depth-crossover", {"s": oo}, {}, {}, Rational(1, 4), "1/4 + 1/(4*s) - 1/(4*s**4) + o(s**(-4))"),
        ("depth-crossover", {"s": S.Zero}, {}, {}, S.One, "1 - 3*s/2 + 5*s**2/2 + o(s**2)"),
        ("depth-leading-error", {"L": oo}, {}, {}, S.Zero, "3*log(L)/(8*L)"),
        ("flow-filter", {"s": oo}, {}, {}, S.One, "1 - exp(-s)"),
        ("descent-filter", {"x": S(2)}, {}, {"k": S.One}, S(2), "2 - (2 - x)"),
        ("orthant-2", {"r12": S.One}, {}, {}, Rational(1, 2), "1/2"),
        ("orthant-3", {"r12": S.One}, {}, {"r13": S.Zero, "r23": S.Zero}, Rational(1, 4), "1/4"),
        ("three-layer-full", {"h": oo}, {}, {"t": S.Zero, "eta1": S.One, "eta2": S.One}, S.One, "1 + 1/h"),
        ("correlation-decay-exponent", {"depth": oo}, {}, {"D": S.Zero, "d": S(3)}, S.NegativeOne, "-1"),
        ("linearisation-exponent", {"alpha": S.Zero}, {}, {"mode": S.Zero}, S.NegativeOne, "-1 + 2*alpha"),
    ],
)
def test_proved_limits(name, let, along, at, value, text) -> None:
    limit = found(name, let, along, at)
    assert limit.value == value
    assert limit.to_text() == text
    assert limit.how in (How.ALGEBRA, How.LEMMA)
    assert all(step.outcome.proved for one in limit.derivations for part in one.parts() for step in part.check())


def test_the_crossover_in_the_words_of_a_person() -> None:
    limit = found("relu-ntk-normalised", {"L": oo}, {"rho": 1 - c / L**2})
    (abbreviation,) = limit.where
    assert abbreviation.name == "s"
    assert limit.value == ((abbreviation + 1) ** 4 - 1) / (4 * abbreviation * (abbreviation + 1) ** 3)
    assert float(limit.number(limit.value)) == pytest.approx(0.820756378382712, rel=1e-14)
    assert found("relu-ntk-normalised", {"L": oo}, {"rho": cos(3 * pi * s / L)}).where == {}
    other = found("relu-ntk-normalised", {"L": oo}, {"rho": 1 - s / L**2})
    assert [symbol.name for symbol in other.where] == ["sigma"]  # `s` is the person's own


def test_rates_that_grow_with_the_width() -> None:
    limit = found("three-layer-signal-1", {"h": oo}, {"eta1": c * h, "eta2": c * h})
    assert (limit.value - (p**4 + 4 * p**2 - 4 * p + 1)).expand() == 0  # terms of order 1 of the published loss
    assert limit.fixed == {}


def test_an_exponent_is_a_number_and_other_symbols_stay() -> None:
    curve = c * h**alpha
    limit = found("two-layer-signal-2", {"h": oo}, {"eta1": curve, "eta2": curve}, {"alpha": Rational(3, 2)})
    assert limit.value == 1
    assert {symbol.name: number for symbol, number in limit.fixed.items()} == {"alpha": Rational(3, 2)}
    assert limit.terms[0].free_symbols >= {p}


@pytest.mark.parametrize(("exponent", "value"), [(1, Rational(1, 4)), (3, S.One)])
def test_the_limit_depends_on_the_exponent(exponent: int, value) -> None:
    assert found("relu-ntk-normalised", {"L": oo}, {"rho": 1 - c / L**alpha}, {"alpha": S(exponent)}).value == value


@pytest.mark.parametrize(("number", "value"), [(Rational(1, 2), Rational(1, 4)), (S.One, S.One)])
def test_where_the_symbol_decides_its_number_is_taken_and_said(number, value) -> None:
    limit = found("relu-ntk-normalised", {"L": oo}, {"rho": c}, {"c": number})
    assert limit.value == value
    assert limit.fixed == {p: number}


def test_sympy_alone_is_never_believed() -> None:
    limit = found("descent-filter", {"k": oo}, {"x": c / k})
    assert limit.value is None
    assert limit.how is How.UNDECIDED
    assert limit.candidate is not None
    assert (limit.candidate - (1 - exp(-p))).simplify() == 0


@pytest.mark.parametrize(
    ("name", "let", "along", "at"),
    [
        ("descent-filter", {"k": oo}, {}, {"x": S(2)}),
        ("relu-ntk-normalised", {"L": oo}, {"rho": cos(L)}, {}),
        ("two-layer-full", {"t": oo}, {}, {"h": S(4), "eta1": S.One, "eta2": S.One}),
        ("balance-threshold-full", {"alpha": S(10)}, {}, {}),
    ],
)
def test_what_is_not_known_is_said_with_a_reason(name, let, along, at) -> None:
    limit = found(name, let, along, at)
    assert not limit.known
    assert limit.candidate is None
    assert limit.remark
    assert limit.to_text() == "not known"
    assert r"\;?" in limit.to_latex()


def test_a_continuous_recursion_takes_its_limit_as_a_value() -> None:
    at = {"rho_12": S.Zero, "rho_x1": S.Half, "rho_x2": S.Half, "L": S(3)}
    limit = found("feature-deviation", {"q": S.Zero}, {}, at)
    assert limit.known
    assert limit.value is None
    assert limit.end is not None
    assert {symbol.name: value for symbol, value in limit.end.items()} == {"q": 0, **at}


def test_it_writes_itself() -> None:
    limit = found("relu-ntk-normalised", {"L": oo}, {"rho": 1 - c / L**3}, {"c": S(2)})
    assert limit.to_latex().startswith(r"\text{relu-ntk-normalised} = 1 - \frac{")
    assert r"L \to \infty,\ \rho = 1 - \frac{c}{L^3}" in limit.to_latex()
    assert limit._repr_latex_().startswith("$") and limit._repr_latex_().endswith("$")  # noqa: PT018
    data = limit.to_json()
    assert data["limit"] == "1"
    assert data["along"] == {"rho": "1 - c/L**3"}
    assert data["derivations"][0].startswith(r"\begin{align*}")
    side = found("relu-nngp", {"rho": S.One}, {}, {"L": S(5)})
    assert r"\rho \to 1^-" in side.to_latex()


def test_names_cannot_break_out_of_the_latex() -> None:
    curve = Symbol("}$ <script>") * h
    limit = found("three-layer-signal-1", {"h": oo}, {"eta1": curve, "eta2": curve})
    assert "$" not in limit.to_latex().replace(r"\$", "")
    assert E not in limit.path.at.values()


def test_log_rates() -> None:
    limit = found("three-layer-signal-1", {"h": oo}, {"eta1": log(h), "eta2": log(h)})
    assert limit.value == 1
    assert limit.how is How.LEMMA
