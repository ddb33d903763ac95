"""Formulas typed in a sentence: what is one is set as one, and everything else stays as it was typed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.findings import DISCOVERIES
from checks.ledger import LEDGER
from checks.markup import element, write
from checks.typed_formulas import GREEK, notation


def written(text):
    return write(element("p", *notation(text))).removeprefix("<p>").removesuffix("</p>")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("size^-0.83,", "size<sup>−0.83</sup>,"),
        ("x^2 y", "x<sup>2</sup> y"),
        ("x**2*y", "x<sup>2</sup>*y"),
        ("h^-1/2", "h<sup>−1</sup>/2"),  # (h^-1)/2, as in Python
        ("h^(3/2)", "h<sup>3/2</sup>"),
        ("m^(−1/2)", "m<sup>−1/2</sup>"),
        ("(1 + 5/m)^L - 3", "(1 + 5/m)<sup>L</sup> - 3"),
        ("e^{-c lambda t}", "e<sup>−c λ t</sup>"),
        ("R^-k", "R<sup>−k</sup>"),
        ("n^(2 alpha - 1)", "n<sup>2 α − 1</sup>"),
        ("n^(-floor(d/2))", "n<sup>−floor(d/2)</sup>"),
        ("n^(1 + (-1)^n)", "n<sup>1 + (−1)<sup>n</sup></sup>"),
        ("||W^(l+1)||^2", "||W<sup>l+1</sup>||<sup>2</sup>"),
        ("h^alpha", "h<sup>α</sup>"),
        ("C_{0,2}^2", "C<sub>0,2</sub><sup>2</sup>"),
        ("C_(0,2) and He_2", "C<sub>0,2</sub> and He<sub>2</sub>"),
        ("Sigma'_l D_(l-1)", "Σ'<sub>l</sub> D<sub>l−1</sub>"),
        ("G'^3", "G'<sup>3</sup>"),
        ("2 eta1 eta2/h^5", "2 η<sub>1</sub> η<sub>2</sub>/h<sup>5</sup>"),
        ("theta_0, lambda_max", "θ<sub>0</sub>, λ<sub>max</sub>"),
        ("f_lin", "f<sub>lin</sub>"),
        ("L theta_0/(3 pi)", "L θ<sub>0</sub>/(3 π)"),
        ("phi^[k]", "φ<sup>[k]</sup>"),
        ("Gamma(k/2)", "Γ(k/2)"),
    ],
)
def test_formulas_are_set(typed, shown):
    assert written(typed) == shown


@pytest.mark.parametrize(
    "text",
    [
        "size^--0.00",
        "a ^ 2",
        "^2",
        "x^",
        "x^()",
        "x^(2",
        "x^(2}",
        "x^(a; b)",
        "x^(" + "1" * 100 + ")",
        "x^2^3",
        "x^2^3^4",
        "x^12^3",
        "x**2**3",
        "x^(2)^3",
        "x^{a}**b",
        "x^12ab",
        "x^1.2.3",
        "LIMES_DATA",
        "min_k",
        "x_train_1",
        "snake_case_name",
        "__init__",
        "alphabet, meta, theta-method, pipe",
        "alpha_mixing_x",
        "depth-pi",
        "lambda.py",
        r"\alpha",
        "5 ** 2",
        "**bold**",
        "1e-5",
    ],
)
def test_what_is_no_formula_stays_as_it_is(text):
    assert written(text) == text


@given(st.text(alphabet="xC1_^*(){}-−.' aλ<$", max_size=30) | st.text(max_size=30))
def test_nothing_but_signs_of_formulas_is_lost(text):
    """Letters and figures stay, in their order."""
    shown = "".join(element("p", *notation(text)).itertext())
    for name, letter in GREEK.items():
        text, shown = text.replace(name, letter), shown.replace(name, letter)
    assert re.sub(r"[\^*_(){}−-]", "", shown) == re.sub(r"[\^*_(){}−-]", "", text)


def test_no_power_of_the_ledger_is_left():
    sentences = [text for one in LEDGER.values() for text in (*one.hypotheses, *one.conditions, *one.findings)]
    sentences += [text for one in DISCOVERIES for text in (one.said, one.so)]
    left = [text for text in sentences if "^" in "".join(x for x in notation(text) if isinstance(x, str))]
    assert len(sentences) > 100
    assert left == []
