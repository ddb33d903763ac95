"""A letter that a derivation prints and does not define is found; `tests/checks/test_latex.py` looks for them all."""

import pytest
from sympy import Function, IndexedBase, Integral, Interval, Symbol, cos, oo

from theory.derivation import Derivation
from theory.notation import Meaning, clashing, letters, meanings, undefined
from theory.reasons import Algebra

x, y = Symbol("x"), Symbol("y")
angle = IndexedBase("theta")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (r"\frac{x}{2} + \cos\theta_L", {"x", r"\theta"}),
        (r"W_{1\,t} + W_i'", {"W"}),
        (r"\operatorname{tr} A^{\top}", {"A"}),
        (r"\bar\Theta^{(L)}(x, x') \text{ words}", {r"\Theta", "L", "x"}),
        (r"\left(\Phi\right)", {r"\Phi"}),
        (r"\lim_{n\to\infty} a_n", {"a"}),
    ],
)
def test_letters(code: str, found: set[str]) -> None:
    assert letters(code) == found


def test_a_letter_is_defined_by_a_domain_a_bound_variable_a_name_or_a_meaning() -> None:
    start = Integral(y * cos(angle[1]) * Function("f")(x), (y, 0, 1))
    made = Derivation(start, "q(x)", {x: Interval(0, oo)})
    assert undefined([made]) == [r"\theta", "f"]
    given = Derivation(start, "q(x)", {x: Interval(0, oo)}, where=(Meaning(angle[1], "an angle"),))
    assert undefined([given]) == ["f"]
    assert undefined([given, Derivation(x, "f(x)")]) == []


def test_the_name_of_a_compound_defines_nothing() -> None:
    assert undefined([Derivation(x, r"\rho_{L+1} - \rho_L", {x: Interval(0, oo)})]) == [r"\rho"]


def test_letters_in_reasons_count() -> None:
    made = Derivation(x, "q", {x: Interval(0, oo)}).then(x, because=r"as $\kappa = 1$, not K", reason=Algebra())
    assert undefined([made]) == [r"\kappa"]


def test_only_meanings_of_what_is_printed_are_given_each_once() -> None:
    of_x, of_z = Meaning(x, "a number"), Meaning("z", "another")
    made = Derivation(x, "q", where=(of_x, of_z))
    assert meanings([made, made]) == [of_x]


def test_several_symbols_are() -> None:
    assert Meaning("u, v", "numbers").to_latex() == "$u, v$ are numbers."
    assert Meaning(r"\Theta(x, X)", "a row").to_latex() == r"$\Theta(x, X)$ is a row."


def test_a_wide_equation_is_a_display() -> None:
    wide = sum(Symbol(f"x_{i}") ** i for i in range(30))
    assert Meaning("y", "a sum", lambda: {y: wide}).to_latex().startswith("$y$ is a sum:\n\\[\ny = ")


def test_two_meanings_of_one_symbol_clash_and_those_of_other_indices_and_equal_words_do_not() -> None:
    angles, bias, indexed = Meaning("a, b", "angles"), Meaning("b", "a bias"), Meaning("b_i", "its parts")
    assert clashing([angles, bias, indexed]) == [angles, bias]
    assert clashing([bias, Meaning("b", "a bias"), indexed]) == []
