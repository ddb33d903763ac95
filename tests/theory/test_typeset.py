"""Whatever the names, the LaTeX compiles with amsmath alone; and it says what the expression says."""

import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy import (
    Abs,
    Basic,
    Expr,
    Function,
    Heaviside,
    IndexedBase,
    Integer,
    Integral,
    Limit,
    MatrixSymbol,
    Mul,
    Rational,
    Symbol,
    acos,
    cos,
    exp,
    log,
    nan,
    oo,
    pi,
    sin,
    symbols,
    zoo,
)

from tests.theory.latex_reader import read
from theory.layout import rows
from theory.typeset import latex, latex_text

x, y, L, theta = Symbol("x"), Symbol("y"), Symbol("L"), IndexedBase("theta")
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
    assert latex(kappa(x) ** 2) == r"(\kappa_1(x))^2"
    assert latex(kappa(kappa(x))) != latex(kappa(x) ** 2)
    assert latex(1 / kappa(x)) == r"\frac{1}{\kappa_1(x)}"
    assert latex(cos(x) ** 2) == r"\cos^2 x"  # the custom for functions of the school


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


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        (cos(theta[L]), r"\cos\theta_L"),
        (cos(2 * x), r"\cos(2 x)"),
        (log(L), r"\log L"),
        (log(2) * log(10), r"\log 2 \log 10"),
        (cos(x / 2), r"\cos\left(\frac{x}{2}\right)"),
        (x * cos(x) * (1 + x), r"x (x + 1) \cos x"),  # the function last
        (cos(x) * MatrixSymbol("A", 2, 2), r"\cos(x) A"),  # or in brackets
        (cos(x) * sin(y), r"\sin y \cos x"),
        (x ** cos(y) * y, r"x^{\cos y} y"),
        (Function("f")(x) * y, "y f(x)"),
        (1 - theta[L] / pi, r"1 - \frac{\theta_L}{\pi}"),
        (-x - y, "- x - y"),
        (y - x, "y - x"),
        (Limit(sin(x) / x, x, 0), r"\lim_{x \to 0^+} \frac{\sin x}{x}"),
        (Limit(x + y, x, oo), r"\lim_{x \to \infty}(x + y)"),
        (Integral(cos(x), x), r"\int \cos x\, dx"),
        (MatrixSymbol("A", 2, 2).T, r"A^\top"),
        (Abs(x), r"\left|x\right|"),
    ],
)
def test_it_is_written_as_one_writes_it(expression: Basic, code: str) -> None:
    assert latex(expression) == code


def test_another_factor_may_follow() -> None:
    assert latex(cos(x), before_factor=True) == r"\cos(x)"
    assert latex(x + 1, before_factor=True) == "x + 1"  # its brackets are the caller's affair


@pytest.mark.parametrize("code", [r"\cos x y", r"\cos x (y + 1)", r"\log x \frac{1}{y}"])
def test_the_reader_refuses_what_is_ambiguous(code: str) -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        read(code)


def test_the_reader_reads() -> None:
    assert read(r"- 2 x \cos^2\theta_L + \frac{1}{x - y}") == -2 * x * cos(Symbol("theta_L")) ** 2 + 1 / (x - y)
    assert read(r"\bigg(x + \cos\left(2 x\right)\bigg)^{3} \cdot e^{- y}") == (x + cos(2 * x)) ** 3 * exp(-y)


SIMPLE = [x, y, Symbol("theta_L"), Integer(2), Integer(3), Rational(1, 2), pi]
FACTORS = [*SIMPLE, cos(x), sin(y), log(x), cos(Symbol("theta_L")) ** 2, exp(x), x + y, (x - y) ** 2]
LEAVES = st.one_of(st.sampled_from(SIMPLE), st.builds(lambda some: Mul(*some), st.lists(st.sampled_from(FACTORS))))


def larger(smaller: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    functions = st.sampled_from([cos, sin, log, exp, acos])
    return st.one_of(
        st.builds(lambda a, b: a + b, smaller, smaller),
        st.builds(lambda a, b: a - b, smaller, smaller),
        st.builds(lambda a, b: a * b, smaller, smaller),
        st.builds(lambda a, b: a / (b + 7), smaller, smaller),
        st.builds(lambda function, a: function(a), functions, smaller),
        st.builds(lambda a, k: a**k, smaller, st.sampled_from([Integer(2), Rational(1, 2), Integer(-1), x])),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)
POINT = {x: 0.37, y: 1.13, Symbol("theta_L"): 0.71}


def same(one: Expr, other: Expr) -> bool:
    """Equal at a point where chance equalities do not occur."""
    first, second = (complex(number.subs(POINT).evalf(30)) for number in (one, other))
    return abs(first - second) <= 1e-9 * max(1, abs(first))


@settings(deadline=None, max_examples=100, derandomize=True)
@given(EXPRESSIONS)
def test_it_is_read_as_it_was_meant(expression: Expr) -> None:
    assume(not expression.has(zoo, oo, nan) and abs(complex(expression.subs(POINT).evalf(30))) < 1e6)
    assert same(read(latex(expression)), expression)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(EXPRESSIONS, st.sampled_from([3.0, 8.0, 15.0]))
def test_broken_into_rows_it_is_read_as_it_was_meant(expression: Expr, room: float) -> None:
    assume(not expression.has(zoo, oo, nan) and abs(complex(expression.subs(POINT).evalf(30))) < 1e6)
    assert same(read(" ".join(rows(expression, room))), expression)
