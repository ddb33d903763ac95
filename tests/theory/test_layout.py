r"""Broken lines: nothing is lost, nothing is wider than the page, and TeX agrees with the estimate of the breadth."""

import re
import shutil
import subprocess

import pytest
from sympy import Integral, Limit, Rational, Sum, acos, asin, cos, exp, expand, log, oo, pi, sin, sqrt, symbols

from theory.layout import PAGE, breadth, breadth_of_sentence, rows, sentence_rows, wrapped
from theory.typeset import latex

x, y, s = symbols("x y s")
n = symbols("n", integer=True)
LONG_SUM = expand((x + 2 * y + 3) ** 7)
EXPRESSIONS = [
    Rational(1, 4),
    3 * log(x) / (8 * x),
    acos(sin(x) / pi + (1 - x / pi) * cos(x)),
    Integral(3 * s * (s * x + 1) ** 2 * (3 * s * x * log(s + 1) - s * x) / (2 * (s + 1) ** 4), (x, 0, 1)) + sqrt(x) / 2,
    Limit(LONG_SUM, x, oo),
    LONG_SUM,
    LONG_SUM / (1 + x) ** 3,
    -LONG_SUM,
    Sum(LONG_SUM * n, (n, 0, oo)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda e: str(e)[:30])
def test_no_row_is_wider_than_the_room_and_short_lines_stay_whole(expression):
    for room in (PAGE, 60.0):
        broken = rows(expression, room)
        assert all(breadth(row) <= room + 1 for row in broken)  # + 1 for a bracket
        if breadth(latex(expression)) <= room:
            assert broken == [latex(expression)]
        else:
            assert len(broken) > 1


@pytest.mark.parametrize(
    "expression", [LONG_SUM, -LONG_SUM, Limit(LONG_SUM, x, oo), LONG_SUM / (1 + x)], ids=lambda e: str(e)[:30]
)
def test_every_term_is_there_once(expression):
    text = " ".join(rows(expression, 50))
    for term in LONG_SUM.as_ordered_terms():
        assert text.count(latex(term)) >= 1
    assert text.count(r"\bigg(") == text.count(r"\bigg)") == (0 if expression.is_Add else 1)


def test_signs_stand_before_their_terms():
    assert rows(x - y, 1) == ["x", "- y"]
    assert rows(-x - y, 1) == ["- x", "- y"]


def test_a_sentence_is_broken_between_words_and_never_in_mathematics():
    text = r"the row $\tfrac14 1^{\top}$ is constant, and $J$ is $n$ on the constants (see above)"
    for room in (20, 30, 1000):
        broken = sentence_rows(text, room)
        assert " ".join(broken) == text
        assert all(row.count("$") % 2 == 0 for row in broken)
        assert all(breadth_of_sentence(row) <= room for row in broken)
    assert sentence_rows("", 10) == [""]
    assert sentence_rows("costs 5$ only", 100) == ["costs 5$ only"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_the_estimate_is_not_smaller_than_what_tex_measures(tmp_path):
    codes = [row for expression in EXPRESSIONS for row in rows(expression)]
    codes += [r"\lim_{L\to\infty}\Big(\bar\Theta^{(L)} - \tfrac14\Big)\frac{L}{\log L}", r"\text{some words, and more}"]
    measure = "\n".join(rf"\setbox0\hbox{{$\displaystyle {code}$}}\typeout{{BREADTH \the\wd0}}" for code in codes)
    document = rf"\documentclass{{article}}\usepackage{{amsmath}}\begin{{document}}{measure}\end{{document}}"
    (tmp_path / "measure.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "measure.tex"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    points = [float(width) for width in re.findall(r"BREADTH ([\d.]+)pt", output)]
    assert len(points) == len(codes)
    for code, width in zip(codes, points, strict=True):
        assert width <= 5 * breadth(code) * 1.05, code  # a unit is 5 pt
        assert width >= 5 * breadth(code) * 0.6, code


def test_a_broken_product_keeps_its_functions_and_signs():
    long = asin((x + y) / (1 + x * y)) * cos(x) * sin(y) * exp(x * y)
    assert rows(long, 12)[0].startswith(r"e^{x y}")
    assert "".join(rows(-long / (2 * x), 12)).count(r"\arcsin") == 1
    assert rows(-long, 12)[0].startswith("- ")
    assert rows(-3 * cos(x) * sin(y), 6) == [r"- 3", r"\cdot \sin(y)", r"\cdot \cos(x)"]


def test_a_function_is_broken_inside():
    assert rows(asin(x + y), 6) == [r"\arcsin\bigg(x", r"+ y\bigg)"]


def test_a_power_is_broken_inside():
    assert rows((x + y) ** 2, 6) == [r"\bigg(x", r"+ y\bigg)^{2}"]
    assert rows(sqrt(x + y), 6)[0] == r"\bigg(x"


def test_what_stands_before_a_broken_sum_keeps_its_brackets():
    wide = expand((x + 2 * y + 3) ** 4)
    assert rows((x - y) * wide, 40)[0].startswith(r"\left(x - y\right) \bigg(")


def test_a_sum_goes_on_behind_a_short_beginning():
    assert rows(1 - LONG_SUM / s**2, 60)[0].startswith(r"1 - \frac{1}{s^2} \bigg(")


def test_a_formula_in_a_sentence_is_broken_at_an_equality_sign_if_no_row_holds_it():
    assert sentence_rows("$aaaaaaaa = bbbbbbbb$", 14) == ["$aaaaaaaa$", "$= bbbbbbbb$"]
    assert sentence_rows("$aaaaaaaa = bbbbbbbb$", 30) == ["$aaaaaaaa = bbbbbbbb$"]


def test_code_is_wrapped_at_spaces():
    code = "% " + "a comment " * 20 + "\n  &= " + " + ".join(["xxxx"] * 60)
    lines = wrapped(code).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert "".join(lines).replace("%", "").replace(" ", "") == code.replace("%", "").replace(" ", "").replace("\n", "")
    comment = [line for line in lines if "comment" in line]
    assert all(line.startswith("% ") for line in comment)
    assert wrapped("x" * 100) == "x" * 100
