"""The numerical approach to limits: right distances, honest exponents, and no false limit that survives."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import Rational, S, Symbol, exp, oo

from numerics.approach import approach, confirmed
from theory.derivation import How
from theory.errors import InvalidInput
from theory.formulas import FORMULAS, formula_named
from theory.limits import limit_along, path_through

c, h, k, L, alpha = (Symbol(name) for name in ("c", "h", "k", "L", "alpha"))


def run(name: str, let, along=None, at=None, **options):
    formula = formula_named(name)
    return approach(formula, path_through(formula, let, along, at), **options)


def test_the_distances_and_exponents_of_a_known_filter() -> None:
    found = run("ridge-filter", {"s": oo}, count=4)
    assert found.limit_value == "1"
    for row in found.rows:
        exact = -Fraction(1, 1 + int(row.variable))  # s/(1 + s) − 1
        assert Fraction(row.distance) == pytest.approx(exact, rel=0.005)
        assert abs(Fraction(row.value) - exact - 1) < Fraction(1, 10**14)
    assert found.rows[-1].exponent == pytest.approx(-1, abs=0.01)
    assert found.rows[-1].ratio == "1.000000"  # over −1/s + 1/s²


def test_at_a_finite_end_the_exponent_is_one_of_the_distance_to_it() -> None:
    found = run("relu-ntk-normalised", {"rho": S.One}, {}, {"L": S(5)})
    assert [row.label for row in found.rows][:2] == ["1 - 1e-1", "1 - 1e-2"]
    assert found.rows[-1].exponent == pytest.approx(0.5, abs=0.001)


def test_tiny_distances_keep_their_digits() -> None:
    found = run("flow-filter", {"s": oo}, count=3)
    assert float(found.rows[1].distance) == pytest.approx(-math.exp(-100), rel=0.005)
    assert found.rows[2].distance == "< 1.00e-201"  # e^−1000, which 200 digits do not tell from 0
    assert found.rows[2].exponent is None


def test_exact_agreement_is_zero() -> None:
    assert {row.distance for row in run("relu-ntk-normalised", {"L": oo}, {}, {"rho": S.One}).rows} == {"0"}


def test_an_infinite_limit_is_compared_by_ratio() -> None:
    found = run("relu-ntk", {"L": oo}, {"rho": 1 - c / L**4}, count=4)
    assert found.limit_value is None
    assert [row.distance for row in found.rows] == [None] * 4
    assert float(found.rows[-1].ratio) == pytest.approx(1, abs=1e-6)


def test_how_many_rows_a_deep_recursion_has_does_not_depend_on_time() -> None:
    found = run("relu-ntk-normalised", {"L": oo}, {}, {"rho": S.Zero}, count=7, seconds=1000)
    assert [row.variable for row in found.rows] == [10, 100, 1000, 10**4, 10**5]
    assert found.notes == ("too deep for a row: L = 1000000, 10000000; evaluate gives the value alone",)
    assert [row.variable for row in run("relu-ntk", {"L": oo}, {}, {"rho": S.Zero}, digits=300).rows][-1] == 10**4


def test_sizes_that_were_not_reached_in_time_are_named() -> None:
    start = time.monotonic()
    found = run("relu-nngp", {"rho": S.One}, {}, {"L": S(10**6)}, count=3, seconds=0.5)
    assert time.monotonic() - start < 15  # the derivations come first; a million layers take seconds
    assert found.rows == ()
    assert found.notes == ("not within 0.5 s: rho = 1 - 1e-1, 1 - 1e-2, 1 - 1e-3",)


def test_where_the_path_enters_the_domain_is_said() -> None:
    found = run("relu-nngp", {"L": oo}, {"rho": 1 - c / L}, {"c": S(50)}, count=2)
    assert found.rows[0].variable == 100
    assert "the path lies in the domain from L = 25 on" in found.notes


def test_sympys_limit_is_confirmed_at_points_and_not_called_proved() -> None:
    found = run("descent-filter", {"k": oo}, {"x": c / k})
    assert found.limit.how is How.POINTS
    assert found.limit.candidate is None
    assert float(found.limit.number(found.limit.value)) == pytest.approx(1 - math.exp(-1))
    assert "not derived" in found.limit.remark
    assert found.rows[-1].exponent == pytest.approx(-1, abs=0.01)


@pytest.mark.parametrize(
    "wrong", [S.One, 1 - exp(-2 * Symbol("c", positive=True)), oo, 1 - exp(-S.One), Rational(5, 8)]
)
def test_a_false_candidate_does_not_survive(wrong) -> None:
    """Among them one that is right at `c = 1` alone, and one that is off by 0.007."""
    formula = formula_named("descent-filter")
    limit = limit_along(formula, path_through(formula, {"k": oo}, {"x": c / k}))
    found = confirmed(replace(limit, candidate=wrong))
    assert found.value is None
    assert found.candidate is None
    assert found.how is How.UNDECIDED


def test_a_limit_of_the_even_numbers_alone_does_not_survive() -> None:
    formula = formula_named("descent-filter")
    limit = limit_along(formula, path_through(formula, {"k": oo}, {}, {"x": S(2)}))
    assert confirmed(replace(limit, candidate=S.Zero)).value is None
    found = approach(formula, limit.path, limit=limit)
    assert any("several behaviours" in note for note in found.notes)


def test_where_nothing_is_known_there_are_values_and_nothing_else() -> None:
    found = run("two-layer-full", {"t": oo}, {}, {"h": S(4), "eta1": S.One, "eta2": S.One}, count=1)
    assert found.limit_value is None
    assert all(row.value and row.distance is None and row.exponent is None and row.ratio is None for row in found.rows)


def test_thresholds_that_do_not_exist() -> None:
    assert {row.value for row in run("balance-threshold-signal", {"alpha": S(-10)}, count=2).rows} == {"none"}


def test_a_point_of_no_gaussians_is_refused() -> None:
    with pytest.raises(InvalidInput, match="these are no correlations"):
        run("orthant-3", {"r12": S.One}, {}, {"r13": S.Zero, "r23": S.Half})


@pytest.mark.parametrize(("option", "value"), [("count", 0), ("count", 13), ("count", True), ("digits", 0)])
def test_bad_options_are_refused(option: str, value) -> None:
    with pytest.raises(InvalidInput, match=option):
        run("ridge-filter", {"s": oo}, **{option: value})


def test_it_writes_itself_escaped() -> None:
    found = run("three-layer-signal-1", {"h": oo}, {"eta1": Symbol("<b>") * h, "eta2": h}, count=2)
    page = found._repr_html_()
    assert "<b>" not in page
    assert page.count("<tr>") == 3
    data = found.to_json()
    assert data["schema"] == 1
    assert data["rows"][0]["variable"] == "10"
    assert data["at"] == {"<b>": "1"}


MIDDLE = {"h": S(4), "n": S(5), "eta1": S.Half, "eta2": S.One / 3, "rho": Rational(3, 10), "L": S(3), "s": S.One}
MIDDLE |= {"x": S.Half, "k": S(5), "q": S.One, "D": S.Zero, "d": S(3), "depth": S(2), "mode": S.Zero, "alpha": S(-1)}
SLOW = ("two-layer-full", "three-layer-full", "two-layer-noise-2", "three-layer-noise-2", "balance-threshold")
SLOW += ("two-layer-gaussian", "three-layer-gaussian", "depth-crossover-correction")  # to derive or to expand


def ends():
    """Every formula that is quickly evaluated, every parameter, every end of its domain."""
    for name, formula in FORMULAS.items():
        for parameter in () if name.startswith(SLOW) else formula.parameters:
            for end in (parameter.domain.inf, parameter.domain.sup):
                if not parameter.words and (end.is_finite is False or not parameter.symbol.is_integer):
                    yield pytest.param(name, parameter.name, end, id=f"{name}-{parameter.name}-{end}")


@pytest.mark.parametrize(("name", "variable", "end"), list(ends()))
def test_no_limit_is_false(name: str, variable: str, end) -> None:
    """Where a limit is said, the values draw near, or are of the size of its leading terms."""
    others = [one.name for one in formula_named(name).parameters if one.name != variable]
    found = run(name, {variable: end}, {}, {other: MIDDLE.get(other, S.Zero) for other in others}, count=4, digits=8)
    assert found.rows
    if not found.limit.known:
        assert found.limit.remark
        return
    if found.limit_value is not None:
        sizes = [0.0 if row.distance.startswith("<") else abs(float(row.distance)) for row in found.rows]
        assert sizes[-1] <= 0.02 * max(1, abs(float(found.limit_value)))
        assert sizes[-1] <= sizes[-2]
    if found.rows[-1].ratio is not None:
        assert 0.8 < float(found.rows[-1].ratio) < 1.4  # (3/8) log L/L is slow
