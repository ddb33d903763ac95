"""Whatever the names, the LaTeX compiles with amsmath alone; and it says what the expression says."""

import shutil
import string
import subprocess
from pathlib import Path

import pytest
from sympy import Function, Heaviside, IndexedBase, Integer, Symbol, cos, symbols

from theory.typeset import latex, latex_text

x = Symbol("x")
GREEK = "αβγδεζηθικλμνξοπρστυφχψωςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
NAMES = [
    "x",
    "alpha",
    "x_1",
    "beta_2_3",
    "50%",
    "a&b",
    "#1",
    "$y$",
    "p^q",
    "a b",
    "{z}",
    "back\\slash",
    "til~de",
    'say "no"',
    "under__score",
    "_",
    "\\input{x}",
    "naïve",
    "漢字",
    "ρ₀",
    "a'",
    "x|y",
    "<",
    *GREEK,
]
SENTENCES = [
    "plain words",
    "50% of $x_1$ & #2 in {braces} with under_score, a^b, a~b, \\command",
    "an odd $ sign",
    "two $x$ and $y$",
    "Greek θ ≤ π, √2 − 1 ≠ ½ · ∞ → ‖x‖ ∈ R … ± 1 × 2",
    "quotes ‘so’ and “so” – or — so",
    "naïve 漢字",
    string.printable.strip(),
]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_everything_compiles(tmp_path: Path) -> None:
    expressions = [Symbol(name) ** 2 + 1 for name in NAMES]
    expressions += [Function(name)(x) ** 2 for name in NAMES] + [IndexedBase(name)[1] for name in NAMES]
    lines = [rf"\[ {latex(expression)} \]" for expression in expressions]
    lines += [rf"\[ x \text{{{latex_text(sentence)}}} \]" for sentence in SENTENCES]
    body = "\n".join(lines)
    document = rf"\documentclass{{article}}\usepackage{{amsmath}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "all.tex").write_text(document, encoding="ascii")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]


def test_greek_by_name() -> None:
    assert latex(Symbol("theta")) == r"\theta"
    assert latex(Symbol("θ")) == r"\mathrm{\theta }"
    assert latex_text("θ") == r"$\theta$"
    assert latex(Symbol("Ρ")) == r"\mathrm{\mathrm{P}}"  # a capital rho, which LaTeX writes P


def test_special_characters_in_names() -> None:
    assert latex(Symbol("50%")) == r"\mathrm{50\%}"
    assert latex(Symbol("a_%")) == r"\mathrm{a\_\%}"


def test_powers_of_functions_are_not_compositions() -> None:
    kappa = Function("kappa_1")
    assert latex(kappa(x) ** 2) == r"\left(\kappa_{1}{\left(x \right)}\right)^{2}"
    assert latex(kappa(kappa(x))) != latex(kappa(x) ** 2)
    assert latex(1 / kappa(x)) == r"\frac{1}{\kappa_{1}{\left(x \right)}}"
    assert latex(cos(x) ** 2) == r"\cos^{2}{\left(x \right)}"  # the custom for functions of the school


def test_unit_step_is_not_an_angle() -> None:
    assert "theta" not in latex(Heaviside(x))


def test_ordinary_expressions() -> None:
    a, b = symbols("a b")
    assert latex(a / b + 1) == r"\frac{a}{b} + 1"
    assert latex(Integer(-1)) == "-1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at $x_1$, 50% & more", r"at $x_1$, 50\% \& more"),
        ("100 $", r"100 \$"),
        ("a_b {c} #1 ~ ^", r"a\_b \{c\} \#1 \textasciitilde{} \textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("$a$ and $b%$", "$a$ and $b%$"),
        ("x − 1 ≤ 2", r"x $-$ 1 $\le$ 2"),
    ],
)
def test_sentences(text: str, expected: str) -> None:
    assert latex_text(text) == expected
